/** An example of each webhook, for the reference. A test reads them with the schemas. */
import type { TallyhookWebhook, WebhookData, WebhookType } from '../../src/webhooks/webhooks.ts';

const AT = '2026-11-21T10:00:00.000Z';

type Order = WebhookData<'order.paid'>['order'];
type Part = Order['parts'][number];
type Totals = Order['totals'][number];
type Status = Totals['status'];
type Amounts = Partial<Omit<Totals, 'currency' | 'status'>>;

interface OrderExample {
  readonly before: Status | null;
  readonly amounts: Amounts;
  readonly payment: Partial<Part>;
  /** Refunds and disputes. */
  readonly others?: readonly Part[];
}

function partOf(kind: Part['kind'], id: string, status: string, fields: Partial<Part> = {}): Part {
  return {
    kind,
    id,
    status,
    stage: null,
    currency: 'USD',
    amount: 6540,
    amount_authorized: null,
    amount_captured: null,
    decline: null,
    reason: null,
    uncertainties: [],
    open_findings: [],
    created_at: '2026-11-21T09:59:00.000Z',
    deadline_at: null,
    ...fields,
  };
}

const refund = (id: string, amount: number) => partOf('refund', id, 'succeeded', { amount });
const dispute = (status: string) =>
  partOf('dispute', 'dp_1', status, {
    stage: 'dispute',
    ...(status === 'opened' && { deadline_at: '2026-12-01T00:00:00.000Z' }),
  });
const CAPTURED = { status: 'succeeded', amount_captured: 6540 };
const NOTHING = { amount_authorized: 0, amount_captured: 0 };

/** What differs between orders of each status. The order is over 65.40 USD. */
const ORDERS: Readonly<Record<Exclude<Status, 'registered'>, OrderExample>> = {
  charged_back: {
    before: 'disputed',
    amounts: { amount_captured: 6540, amount_charged_back: 6540 },
    payment: CAPTURED,
    others: [dispute('lost')],
  },
  disputed: {
    before: 'paid',
    amounts: { amount_captured: 6540, amount_disputed: 6540 },
    payment: CAPTURED,
    others: [dispute('opened')],
  },
  refunded: {
    before: 'paid',
    amounts: { amount_captured: 6540, amount_refunded: 6540 },
    payment: CAPTURED,
    others: [refund('ref_1', 6540)],
  },
  partially_refunded: {
    before: 'paid',
    amounts: { amount_captured: 6540, amount_refunded: 540 },
    payment: CAPTURED,
    others: [refund('ref_1', 540)],
  },
  paid: { before: 'authorized', amounts: { amount_captured: 6540 }, payment: CAPTURED },
  partially_captured: {
    before: 'authorized',
    amounts: { amount_captured: 6000 },
    payment: { status: 'partially_captured', amount_captured: 6000 },
  },
  authorized: {
    before: 'pending',
    amounts: { amount_authorized: 6540 },
    payment: { status: 'requires_capture', deadline_at: '2026-11-28T09:59:00.000Z' },
  },
  pending: {
    before: null,
    amounts: {},
    payment: { status: 'requires_customer_action', ...NOTHING },
  },
  expired: { before: 'authorized', amounts: {}, payment: { status: 'expired' } },
  cancelled: { before: 'authorized', amounts: {}, payment: { status: 'cancelled' } },
  failed: {
    before: 'pending',
    amounts: {},
    payment: {
      status: 'failed',
      ...NOTHING,
      decline: {
        unified_code: 'UE_1001',
        message: 'Insufficient funds',
        retry: 'never',
        may_retry: false,
        may_use_another_method: true,
        advice: 'The card or its issuer declined. Do not retry.',
      },
      reason: 'UE_1001: Insufficient funds',
    },
  },
  moved: { before: 'pending', amounts: {}, payment: {} },
};

function orderExample(status: Exclude<Status, 'registered'>, isUpdate: boolean): object {
  const { before, amounts, payment, others = [] } = ORDERS[status];
  const isMoved = status === 'moved';
  const money = {
    amount_authorized: 0,
    amount_captured: 0,
    amount_refunded: 0,
    amount_refund_pending: 0,
    amount_disputed: 0,
    amount_charged_back: 0,
    ...amounts,
  };
  const whole = partOf('payment', 'pay_1001', '', {
    amount_authorized: 6540,
    amount_captured: 0,
    ...payment,
  });
  const order: Order = {
    order_id: 'ord_1001',
    order_key: 'order:ord_1001',
    named_by: 'order',
    status,
    moved_to: isMoved ? ['order:ord_1002'] : [],
    totals: isMoved ? [] : [{ currency: 'USD', status, ...money }],
    expected: null,
    first_seen_at: '2026-11-21T09:59:00.000000Z',
    updated_at: '2026-11-21T10:00:00.000000Z',
    parts: isMoved ? [] : [whole, ...others],
    parts_complete: true,
  };
  const previous = isUpdate ? status : before;
  return { change: { number: 17, status, previous_status: previous, changed_at: AT }, order };
}

const ALERT = {
  alert_id: 41,
  rule: 'dispute_opened',
  subject: 'dispute:dp_1',
  severity: 'critical',
  sentence: 'A dispute of 65.40 USD on order ord_1001 was opened. Evidence is due 2026-12-01.',
  next_step: 'Submit evidence, or accept the dispute: npx tallyhook disputes show dp_1',
  order_id: 'ord_1001',
  payment_id: 'pay_1001',
  amount: 6540,
  currency: 'USD',
  deadline_at: '2026-12-01T00:00:00.000Z',
  opened_at: AT,
} as const;
const ORIGIN = { installation: 'Tallyhook', url: 'https://tallyhook.example/disputes/dp_1' };

const OTHERS: Readonly<Record<Exclude<WebhookType, `order.${string}`>, object>> = {
  'alert.opened': { ...ALERT, type: 'opened', resolved_at: null, ...ORIGIN },
  'alert.reminder': { ...ALERT, type: 'reminder', resolved_at: null, ...ORIGIN },
  'alert.resolved': { ...ALERT, type: 'resolved', resolved_at: AT, ...ORIGIN },
  'alert.opened_and_resolved': {
    ...ALERT,
    type: 'opened_and_resolved',
    resolved_at: AT,
    ...ORIGIN,
  },
  'alert.digest': {
    severity: 'warning',
    count: 12,
    groups: [
      {
        rule: 'refund_failed',
        type: 'opened',
        severity: 'warning',
        count: 12,
        sums: [{ currency: 'USD', amount: 78480 }],
      },
    ],
    urgent: [{ ...ALERT, type: 'opened', resolved_at: null, url: ORIGIN.url }],
    list: 'npx tallyhook alerts list',
    installation: 'Tallyhook',
    url: 'https://tallyhook.example/alerts',
  },
  'summary.daily': {
    day: '2026-11-20',
    currencies: [
      {
        currency: 'USD',
        amount_captured: 654000,
        amount_refunded: 6540,
        amount_disputed: 0,
        amount_paid_out: 0,
      },
    ],
    open_findings: 0,
    open_alerts: { info: 0, warning: 2, critical: 0 },
    chain_head: '1234:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae',
    installation: 'Tallyhook',
    url: 'https://tallyhook.example/',
  },
  test: { message: 'This is a test. No action is needed.', installation: 'Tallyhook', url: null },
};

/** An example of a type of webhook. */
export function exampleOf(type: WebhookType): Pick<TallyhookWebhook, 'type' | 'timestamp'> & {
  readonly data: object;
} {
  return { type, timestamp: AT, data: dataOf(type) };
}

function dataOf(type: WebhookType): object {
  if (type === 'order.updated') return orderExample('partially_refunded', true);
  const [, status] = /^order\.(.+)$/.exec(type) ?? [];
  if (status !== undefined) return orderExample(status as Exclude<Status, 'registered'>, false);
  return OTHERS[type as keyof typeof OTHERS];
}

/**
 * A model of the payment service, one resource at a time: valid lifecycles of all four kinds as the
 * bodies sent over the wire, with the balances in which each must end. It shares no rule with the ledger:
 * lifecycles and balances are written from the contract alone.
 */
import fc from 'fast-check';
import type { ResourceKind } from '../../src/contract/resources/index.ts';

/** An object as an event or a retrieve carries it. */
export type Wire = Readonly<Record<string, unknown>>;

/** Balances by account, in minor units; accounts at zero are left out. */
export type Balances = Readonly<Record<string, bigint>>;

export interface Lifecycle {
  readonly kind: ResourceKind;
  readonly id: string;
  readonly currency: string;
  /** The bodies that the service sends, in order. Some omit fields. */
  readonly bodies: readonly Wire[];
  /** The complete final state, as a retrieve returns it. */
  readonly finalBody: Wire;
  /** Payments: the amount captured at the end; otherwise 0. */
  readonly captured: number;
  readonly balances: Balances;
}

export interface LifecycleOptions {
  readonly id: string;
  readonly orderId?: string;
  /** The payment of a refund or dispute. */
  readonly paymentId?: string;
  readonly amounts?: readonly number[];
}

const AMOUNTS = [100, 1, 0, 6540, Number.MAX_SAFE_INTEGER];
const START_MS = Date.UTC(2026, 10, 1);

/** Turns numbers into choices. Without numbers left it picks the first option, so shrinking simplifies. */
function createChoices(numbers: readonly number[]) {
  let used = 0;
  const next = (below: number): number => {
    used += 1;
    return (numbers[used - 1] ?? 0) % below;
  };
  return {
    pick: <Item>(items: readonly [Item, ...Item[]]): Item => items[next(items.length)] ?? items[0],
    among: (items: readonly number[]): number => items[next(items.length)] ?? 0,
    flip: (): boolean => next(2) === 1,
    /** A part of a whole: at least 1 and, if the whole is greater, less than the whole. */
    part: (whole: number): number =>
      Math.min(whole, 1 + next(Math.max(1, Math.min(whole, 1000) - 1))),
  };
}
type Choices = ReturnType<typeof createChoices>;

/** Whether a service sends `modified_at`. */
type Dating = 'always' | 'never' | 'sometimes';

/** Records the bodies of a lifecycle: advances the clock, dates bodies and sometimes omits fields. */
function createBodyRecorder(choices: Choices, common: Wire) {
  const dating = choices.pick<Dating>(['always', 'never', 'sometimes']);
  const bodies: Wire[] = [];
  let clockMs = START_MS;
  let last: Wire = {};
  const dated = (fields: Wire): Wire => ({ ...common, ...fields, modified_at: instant(clockMs) });
  return {
    /** Whether no body has a date, so that the status alone must order them. */
    isUndated: dating === 'never',
    /** Advances the service's clock; negative where only the dispute's stage orders the bodies. */
    advance: (seconds: number) => {
      clockMs += seconds * 1000;
    },
    /**
     * Records the current state, sometimes as two bodies with the same date and different fields: two
     * events of one change.
     * @param optional fields that a body may omit
     */
    record: (fields: Wire, optional: readonly string[] = []) => {
      last = fields;
      const times = choices.pick([1, 1, 2]);
      for (let time = 0; time < times; time += 1) {
        const omitted = new Set(optional.filter(() => choices.flip()));
        const isDated = dating === 'always' || (dating === 'sometimes' && choices.flip());
        const body = Object.entries(dated(fields)).filter(
          ([name]) => !omitted.has(name) && (isDated || name !== 'modified_at'),
        );
        bodies.push(Object.fromEntries(body));
      }
    },
    end: () => {
      const finalBody = dated(last);
      const { modified_at: _date, ...undated } = finalBody;
      return { bodies, finalBody: dating === 'never' ? undated : finalBody };
    },
  };
}
type BodyRecorder = ReturnType<typeof createBodyRecorder>;

function instant(ms: number): string {
  return new Date(ms).toISOString();
}

/** The state of a payment at the service. */
interface PaymentState {
  readonly status: string;
  readonly held: number;
  readonly captured: number;
}

const PAYMENT_OPTIONAL = ['amount_received', 'amount_capturable', 'capture_method', 'metadata'];

function paymentLifecycle(options: LifecycleOptions, choices: Choices): Lifecycle {
  const currency = choices.pick(['USD', 'JPY', 'KWD']);
  const amount = choices.among(options.amounts ?? AMOUNTS);
  // The last one represents a method of a later version of the service.
  const method = choices.pick(['automatic', 'manual', 'manual_multiple', 'scheduled']);
  const recorder = createBodyRecorder(choices, {
    payment_id: options.id,
    amount,
    currency,
    capture_method: method,
    created: instant(START_MS),
    metadata: options.orderId === undefined ? {} : { order_id: options.orderId },
  });
  // Some services report the full amount as received too early, and correct it later.
  const isEarly = choices.flip();
  const early: Readonly<Record<string, Wire>> = isEarly
    ? {
        processing: { amount_received: amount },
        failed: { amount_received: null, amount_capturable: amount },
      }
    : {};
  const record = (state: PaymentState): PaymentState => {
    // A hold without amounts would be counted with the payment's amount. That is valid, but no service
    // omits the amounts of a hold only.
    const optional = state.held > 0 ? ['capture_method', 'metadata'] : PAYMENT_OPTIONAL;
    recorder.record(
      {
        status: state.status,
        amount_received: state.captured,
        amount_capturable: state.held,
        ...early[state.status],
      },
      optional,
    );
    return state;
  };
  const begun = beginPayment(record, recorder, choices);
  const done =
    begun ??
    (method === 'automatic' ? captureAtOnce : holdAndCapture)(record, recorder, {
      amount,
      isMultiple: method === 'manual_multiple',
      choices,
    });
  return {
    kind: 'payment',
    id: options.id,
    currency,
    ...recorder.end(),
    captured: done.captured,
    balances: paymentBalances(done),
  };
}

/** The states before money is held or captured; a lifecycle may end in one of them. */
function beginPayment(
  record: (state: PaymentState) => PaymentState,
  recorder: BodyRecorder,
  choices: Choices,
): PaymentState | undefined {
  let state = record({ status: 'requires_confirmation', held: 0, captured: 0 });
  recorder.advance(1);
  if (choices.flip()) state = record({ status: 'requires_customer_action', held: 0, captured: 0 });
  recorder.advance(1);
  state = record({ status: 'processing', held: 0, captured: 0 });
  recorder.advance(1);
  // Without dates, a second attempt cannot be distinguished from the first.
  const attempts = recorder.isUndated ? 0 : choices.pick([0, 1, 2]);
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    record({ status: 'failed', held: 0, captured: 0 });
    recorder.advance(60);
    state = record({ status: 'processing', held: 0, captured: 0 });
    recorder.advance(1);
  }
  return choices.pick([undefined, undefined, undefined, undefined, state]);
}

interface PaymentPlan {
  readonly amount: number;
  readonly isMultiple: boolean;
  readonly choices: Choices;
}

function captureAtOnce(
  record: (state: PaymentState) => PaymentState,
  recorder: BodyRecorder,
  { amount, choices }: PaymentPlan,
): PaymentState {
  const status = choices.pick(['succeeded', 'failed', 'cancelled']);
  if (status !== 'succeeded') return record({ status, held: 0, captured: 0 });
  const captured = choices.pick([amount, amount, Math.ceil(amount / 2)]);
  const paid = record({ status, held: 0, captured });
  return maybeVoid(paid, record, recorder, choices);
}

function maybeVoid(
  state: PaymentState,
  record: (state: PaymentState) => PaymentState,
  recorder: BodyRecorder,
  choices: Choices,
): PaymentState {
  if (choices.pick([false, false, true])) {
    recorder.advance(3600);
    return record({ ...state, status: 'cancelled_post_capture' });
  }
  return state;
}

function holdAndCapture(
  record: (state: PaymentState) => PaymentState,
  recorder: BodyRecorder,
  { amount, isMultiple, choices }: PaymentPlan,
): PaymentState {
  let state = record({ status: 'requires_capture', held: amount, captured: 0 });
  const captures = isMultiple ? choices.pick([0, 1, 2, 3]) : 0;
  for (let capture = 0; capture < captures && state.held > 1; capture += 1) {
    // Several captures may have the same time by the service's clock.
    recorder.advance(choices.pick([0, 60]));
    const taken = choices.part(state.held - 1);
    state = record({
      status: 'partially_captured_and_capturable',
      held: state.held - taken,
      captured: state.captured + taken,
    });
  }
  recorder.advance(60);
  const end = choices.pick(['open', 'all', 'some', 'expired', 'cancelled']);
  const { captured } = state;
  switch (end) {
    case 'open':
      return state;
    case 'all':
      return maybeVoid(
        record({ status: 'succeeded', held: 0, captured: amount }),
        record,
        recorder,
        choices,
      );
    case 'some': {
      const some = Math.max(captured, choices.part(amount));
      return maybeVoid(
        record({ status: 'partially_captured', held: 0, captured: some }),
        record,
        recorder,
        choices,
      );
    }
    default:
      return record({ status: end, held: 0, captured });
  }
}

function paymentBalances({ status, held, captured }: PaymentState): Balances {
  const kept = status === 'cancelled_post_capture' ? 0 : captured;
  return nonZero({
    'psp.clearing': kept,
    'order.due': -kept,
    'memo.auth_open': held,
    'memo.auth_contra': -held,
  });
}

function refundLifecycle(options: LifecycleOptions, choices: Choices): Lifecycle {
  const currency = choices.pick(['USD', 'JPY', 'KWD']);
  const amount = choices.among(options.amounts ?? AMOUNTS);
  const recorder = createBodyRecorder(choices, {
    refund_id: options.id,
    payment_id: options.paymentId ?? 'pay_of_refund',
    amount,
    currency,
    created: instant(START_MS),
  });
  const path = [...choices.pick(recorder.isUndated ? ADVANCING_REFUNDS : REFUNDS)];
  recordPath(path, recorder, choices);
  const end = path.at(-1);
  return {
    kind: 'refund',
    id: options.id,
    currency,
    ...recorder.end(),
    captured: 0,
    balances: nonZero({
      'order.refunds': end === 'failed' ? 0 : amount,
      'refund.in_flight': end === 'pending' || end === 'review' ? -amount : 0,
      'psp.clearing': end === 'succeeded' ? -amount : 0,
    }),
  };
}

type Paths = readonly [readonly string[], ...(readonly string[])[]];

const ADVANCING_REFUNDS: Paths = [
  ['pending', 'succeeded'],
  ['pending'],
  ['pending', 'review'],
  ['succeeded'],
  ['pending', 'failed'],
  // Reported as succeeded, and returned by the bank weeks later.
  ['pending', 'succeeded', 'failed'],
];
const REFUNDS: Paths = [
  ...ADVANCING_REFUNDS,
  ['pending', 'review', 'pending', 'succeeded'],
  ['pending', 'review', 'pending', 'failed'],
  ['pending', 'review', 'pending'],
];

const PAYOUTS: Paths = [
  ['initiated', 'success'],
  ['requires_creation', 'requires_payout_method_data', 'requires_confirmation'],
  ['requires_confirmation', 'requires_vendor_account_creation', 'requires_fulfillment'],
  ['requires_fulfillment', 'initiated', 'pending'],
  ['requires_confirmation', 'ineligible'],
  ['initiated', 'pending', 'success', 'reversed'],
  ['initiated', 'success', 'failed'],
  ['pending', 'failed'],
  ['requires_fulfillment', 'cancelled'],
  ['initiated', 'expired'],
];

function payoutLifecycle(options: LifecycleOptions, choices: Choices): Lifecycle {
  const currency = choices.pick(['USD', 'JPY', 'KWD']);
  const amount = choices.among(options.amounts ?? AMOUNTS);
  const recorder = createBodyRecorder(choices, {
    payout_id: options.id,
    amount,
    currency,
    created: instant(START_MS),
  });
  const path = choices.pick(PAYOUTS);
  recordPath(path, recorder, choices);
  const end = path.at(-1) ?? '';
  const isMoving = ['initiated', 'pending'].includes(end);
  const isSent = isMoving || end === 'success';
  return {
    kind: 'payout',
    id: options.id,
    currency,
    ...recorder.end(),
    captured: 0,
    balances: nonZero({
      'psp.clearing': isSent ? -amount : 0,
      'payout.in_transit': isMoving ? amount : 0,
      'payout.paid': end === 'success' ? amount : 0,
    }),
  };
}

function recordPath(path: readonly string[], recorder: BodyRecorder, choices: Choices): void {
  for (const status of path) {
    recorder.advance(choices.pick([1, 3600]));
    recorder.record({ status });
  }
}

const STAGES = ['pre_dispute', 'dispute', 'pre_arbitration', 'arbitration'];

function disputeLifecycle(options: LifecycleOptions, choices: Choices): Lifecycle {
  const currency = choices.pick(['USD', 'JPY', 'KWD']);
  const amount = choices.among(options.amounts ?? AMOUNTS);
  const recorder = createBodyRecorder(choices, {
    dispute_id: options.id,
    payment_id: options.paymentId ?? 'pay_of_dispute',
    amount: String(amount),
    currency,
  });
  let end = '';
  let stage = '';
  const first = choices.pick([1, 0]);
  const stages = choices.pick([1, 2, 3]);
  for (stage of STAGES.slice(first, first + stages)) {
    // The bank dates stages by its own clock.
    recorder.advance(choices.pick([3600, -30]));
    const path = choices.pick<readonly string[]>([
      ['opened', 'won'],
      ['opened'],
      ['opened', 'challenged', 'lost'],
      ['opened', 'challenged'],
      ['opened', 'accepted'],
      ['opened', 'expired'],
      ['opened', 'cancelled'],
      ['challenged', 'won'],
    ]);
    for (end of path) {
      recorder.advance(1);
      recorder.record({ dispute_status: `dispute_${end}`, dispute_stage: stage });
    }
  }
  const isQuestion = stage === 'pre_dispute';
  const isLost = !isQuestion && ['lost', 'accepted', 'expired'].includes(end);
  const isOpen = !isQuestion && ['opened', 'challenged'].includes(end);
  return {
    kind: 'dispute',
    id: options.id,
    currency,
    ...recorder.end(),
    captured: 0,
    balances: nonZero({
      'dispute.held': isOpen ? amount : 0,
      'loss.disputes': isLost ? amount : 0,
      'psp.clearing': isOpen || isLost ? -amount : 0,
    }),
  };
}

function nonZero(amounts: Readonly<Record<string, number>>): Balances {
  return Object.fromEntries(
    Object.entries(amounts)
      .filter(([, amount]) => amount !== 0)
      .map(([account, amount]) => [account, BigInt(amount)]),
  );
}

const LIFECYCLE_OF: Readonly<
  Record<ResourceKind, (options: LifecycleOptions, choices: Choices) => Lifecycle>
> = {
  payment: paymentLifecycle,
  refund: refundLifecycle,
  dispute: disputeLifecycle,
  payout: payoutLifecycle,
};

/** Any valid lifecycle of one resource. */
export function anyLifecycle(
  kind: ResourceKind,
  options: LifecycleOptions,
): fc.Arbitrary<Lifecycle> {
  return fc
    .array(fc.nat({ max: 0xffff }), { minLength: 0, maxLength: 60, size: 'max' })
    .map((numbers) => LIFECYCLE_OF[kind](options, createChoices(numbers)));
}

/** Sums balances by account and currency; accounts at zero are left out. */
export function sumBalances(
  all: readonly { readonly currency: string; readonly balances: Balances }[],
): Balances {
  const sums = new Map<string, bigint>();
  for (const { currency, balances } of all) {
    for (const [account, amount] of Object.entries(balances)) {
      const name = `${account} ${currency}`;
      sums.set(name, (sums.get(name) ?? 0n) + amount);
    }
  }
  return Object.fromEntries([...sums].filter(([, sum]) => sum !== 0n).sort());
}

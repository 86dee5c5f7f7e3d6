/** What a person can have happen in the sandbox: as the shop, its customer, the bank or the service. */
import type { ResourceKind } from '../contract/resources/index.ts';
import { type Purchase, paymentRequest, payOut, type Shop } from './shop.ts';

interface TestOutcome {
  readonly label: string;
  /** A test card of the sandbox (docs/reference/sandbox.md). */
  readonly card: string;
}

/** Test payments by what becomes of them; declines with a code of each family. */
export const OUTCOMES = {
  succeeds: { label: 'Succeeds', card: '4000000000000002' },
  customer_action: { label: 'Needs 3-D Secure by the customer', card: '4000000000300006' },
  review: { label: 'Needs a review by the shop', card: '4000000000700007' },
  processing: { label: 'Processing, then succeeds', card: '4000000000500001' },
  processing_declined: { label: 'Processing, then declined', card: '4000000000510018' },
  UE_1001: { label: 'Declined: insufficient funds (UE_1001)', card: '4000000000010019' },
  UE_1018: { label: 'Declined: may be paid already (UE_1018)', card: '4000000000010183' },
  UE_2001: { label: 'Declined: method unavailable (UE_2001)', card: '4000000000020018' },
  UE_2002: { label: 'Declined: needs authentication (UE_2002)', card: '4000000000020026' },
  UE_3001: { label: 'Declined: service unavailable (UE_3001)', card: '4000000000030017' },
  UE_4001: { label: 'Declined: data missing (UE_4001)', card: '4000000000040016' },
  UE_5001: { label: 'Declined: 3-D Secure failed (UE_5001)', card: '4000000000050015' },
  UE_5003: { label: 'Declined: 3-D Secure not completed (UE_5003)', card: '4000000000050031' },
  UE_9000: { label: 'Declined: unrecognized (UE_9000)', card: '4000000000090003' },
} as const satisfies Readonly<Record<string, TestOutcome>>;
export type OutcomeName = keyof typeof OUTCOMES;
export const OUTCOME_NAMES = Object.keys(OUTCOMES) as readonly OutcomeName[];

/** When the money is captured. */
export const CAPTURES = {
  automatic: 'At once',
  manual: 'Later, in one part',
  manual_multiple: 'Later, in several parts',
} as const satisfies Readonly<Record<string, string>>;
export type Capture = keyof typeof CAPTURES;
export const CAPTURE_NAMES = Object.keys(CAPTURES) as readonly Capture[];

export interface NewPayment extends Purchase {
  readonly outcome: OutcomeName;
  readonly capture: Capture;
}

/** Places a payment of an order. @param paymentId two payments of one order need different ids */
export async function placePayment(
  shop: Shop,
  { outcome, capture, ...purchase }: NewPayment,
  paymentId = `${purchase.orderId}-1`,
): Promise<string> {
  const captureMethod = capture === 'automatic' ? undefined : capture;
  const { card } = OUTCOMES[outcome];
  await shop.client.payments.create(
    paymentRequest(shop, purchase, { paymentId, card, ...(captureMethod && { captureMethod }) }),
  );
  return paymentId;
}

export const placePayout = payOut;

/** What the sandbox shows of a resource, as far as a move depends on it. */
export interface Movable {
  readonly kind: ResourceKind;
  readonly id: string;
  readonly status: string;
  /** Minor units. */
  readonly amountMinor: number;
}

interface Move {
  readonly label: string;
  readonly kind: ResourceKind;
  /** The statuses in which it is offered. */
  readonly from: readonly string[];
  readonly run: (shop: Shop, movable: Movable) => Promise<unknown>;
}

const CAPTURABLE = ['requires_capture', 'partially_captured_and_capturable'];
export const CAPTURED = ['succeeded', 'partially_captured', 'partially_captured_and_capturable'];
const IN_TRANSIT = ['pending', 'initiated', 'requires_fulfillment'];

const half = ({ amountMinor }: Movable): number => Math.max(1, Math.floor(amountMinor / 2));

/** What can happen to a resource next. */
export const MOVES = {
  complete: {
    label: 'Customer completes 3-D Secure',
    kind: 'payment',
    from: ['requires_action', 'requires_customer_action'],
    run: ({ control }, { id }) => control.actAsCustomer(id, 'complete'),
  },
  fail: {
    label: 'Customer fails 3-D Secure',
    kind: 'payment',
    from: ['requires_action', 'requires_customer_action'],
    run: ({ control }, { id }) => control.actAsCustomer(id, 'fail'),
  },
  abandon: {
    label: 'Customer abandons the page',
    kind: 'payment',
    from: ['requires_action', 'requires_customer_action'],
    run: ({ control }, { id }) => control.actAsCustomer(id, 'abandon'),
  },
  approve: {
    label: 'Shop approves it',
    kind: 'payment',
    from: ['requires_merchant_action'],
    run: ({ client }, { id }) => client.payments.approve(id),
  },
  reject: {
    label: 'Shop rejects it',
    kind: 'payment',
    from: ['requires_merchant_action'],
    run: ({ client }, { id }) => client.payments.reject(id),
  },
  capture: {
    label: 'Capture the rest',
    kind: 'payment',
    from: CAPTURABLE,
    run: ({ client }, { id }) => client.payments.capture(id),
  },
  capture_half: {
    label: 'Capture a half',
    kind: 'payment',
    from: CAPTURABLE,
    run: ({ client }, movable) =>
      client.payments.capture(movable.id, { amount_to_capture: half(movable) }),
  },
  cancel: {
    label: 'Release the hold',
    kind: 'payment',
    from: ['requires_capture'],
    run: ({ client }, { id }) => client.payments.cancel(id),
  },
  lapse: {
    label: 'Authorization lapses',
    kind: 'payment',
    from: CAPTURABLE,
    run: ({ control }, { id }) => control.lapse(id),
  },
  refund: {
    label: 'Refund everything',
    kind: 'payment',
    from: CAPTURED,
    run: ({ client }, { id }) => client.refunds.create({ payment_id: id }),
  },
  refund_half: {
    label: 'Refund a half',
    kind: 'payment',
    from: CAPTURED,
    run: ({ client }, movable) =>
      client.refunds.create({ payment_id: movable.id, amount: half(movable) }),
  },
  dispute: {
    label: 'Customer opens a dispute',
    kind: 'payment',
    from: CAPTURED,
    run: ({ control }, { id }) => control.openDispute(id),
  },
  refund_fails: {
    label: 'Refund fails',
    kind: 'refund',
    from: ['pending', 'review', 'succeeded'],
    run: ({ control }, { id }) => control.moveRefund(id, 'failed'),
  },
  refund_succeeds: {
    label: 'Refund succeeds',
    kind: 'refund',
    from: ['pending', 'review'],
    run: ({ control }, { id }) => control.moveRefund(id, 'succeeded'),
  },
  win: {
    label: 'Shop wins',
    kind: 'dispute',
    from: ['opened', 'challenged'],
    run: ({ control }, { id }) => control.moveDispute(id, 'won'),
  },
  lose: {
    label: 'Shop loses',
    kind: 'dispute',
    from: ['opened', 'challenged'],
    run: ({ control }, { id }) => control.moveDispute(id, 'lost'),
  },
  payout_fails: {
    label: 'Payout fails',
    kind: 'payout',
    from: ['success', ...IN_TRANSIT],
    run: ({ control }, { id }) => control.movePayout(id, 'failed'),
  },
  payout_reversed: {
    label: 'Bank sends it back',
    kind: 'payout',
    from: ['success'],
    run: ({ control }, { id }) => control.movePayout(id, 'reversed'),
  },
  payout_succeeds: {
    label: 'Payout succeeds',
    kind: 'payout',
    from: IN_TRANSIT,
    run: ({ control }, { id }) => control.movePayout(id, 'success'),
  },
} as const satisfies Readonly<Record<string, Move>>;
export type MoveName = keyof typeof MOVES;
export const MOVE_NAMES = Object.keys(MOVES) as readonly MoveName[];

/** What can happen to a resource in its status. */
export function movesOf({ kind, status }: Pick<Movable, 'kind' | 'status'>): readonly MoveName[] {
  return MOVE_NAMES.filter((name) => {
    const move: Move = MOVES[name];
    return move.kind === kind && move.from.includes(status);
  });
}

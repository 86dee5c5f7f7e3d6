/**
 * The lifecycle of a refund. service-interface.md §4.5; statuses other than `succeeded` and
 * `failed`, and the transitions between them, are those of services of this family.
 *
 *   (new) ─▶ succeeded | failed | pending | review      pending, review ─▶ succeeded | failed
 *   succeeded ─▶ failed: late, when the customer's bank returns the money
 *
 * 1. The sum of a payment's refunds that did not fail never exceeds what the payment received.
 * 2. A refund does not change its payment's status.
 */
import {
  MAX_REFUNDS_PER_PAYMENT,
  type REFUND_TYPES,
  type RefundStatus,
} from '../../contract/index.ts';
import { DAY_MS, HOUR_MS } from '../../platform/time.ts';
import { accept, type Decision, rejectState } from './decision.ts';
import type { PaymentState } from './payment.ts';
import { isoTime, nextModified } from './time.ts';

export type RefundType = (typeof REFUND_TYPES)[number];

export interface RefundState {
  readonly refund_id: string;
  readonly payment_id: string;
  readonly amount: number;
  readonly currency: string;
  readonly status: RefundStatus;
  readonly reason?: string | undefined;
  readonly refund_type: RefundType;
  readonly metadata?: object | undefined;
  readonly profile_id: string;
  readonly error_code?: string | undefined;
  readonly error_message?: string | undefined;
  readonly created: string;
  readonly modified_at: string;
  readonly hidden: {
    readonly due?: { readonly at: string; readonly what: 'settle' } | undefined;
    /** The status in which it settles. */
    readonly afterwards?: RefundStatus | undefined;
  };
}

/** The fields of Create Refund. service-interface.md §4.5. */
export interface RefundInput {
  readonly amount?: number | undefined;
  readonly reason?: string | undefined;
  readonly refund_type?: RefundType | undefined;
  readonly metadata?: object | undefined;
}

export interface NewRefund {
  readonly refundId: string;
  readonly nowMs: number;
  /** Sum of the payment's refunds that did not fail, minor units. */
  readonly refundedMinor: number;
  /** Refunds of the payment so far, failed ones included. */
  readonly refundCount: number;
  /** The processor leaves an instant refund `pending` and decides after this time. */
  readonly decidesAfterMs?: number | undefined;
}

/** Amounts, in minor units, that choose the outcome of an instant refund; docs/reference/sandbox.md. */
export const REFUND_AMOUNTS = { 7710: 'failed', 7720: 'pending', 7730: 'review' } as const;

/** A scheduled refund settles after a day, a pending one after an hour. */
const SCHEDULED_MS = DAY_MS;
const PENDING_MS = HOUR_MS;

/** Create Refund; the default is the whole captured amount. */
export function createRefund(
  payment: PaymentState,
  input: RefundInput,
  created: NewRefund,
): Decision<RefundState> {
  if (!REFUNDABLE.has(payment.status)) {
    const message = `You cannot refund this payment because it has status ${payment.status}`;
    return rejectState(400, 'IR_14', message);
  }
  if (created.refundCount >= MAX_REFUNDS_PER_PAYMENT) {
    return rejectState(400, 'IR_12', `This payment has ${MAX_REFUNDS_PER_PAYMENT} refunds already`);
  }
  const amountMinor = input.amount ?? payment.amount_received;
  const leftMinor = payment.amount_received - created.refundedMinor;
  if (amountMinor > leftMinor) {
    return rejectState(
      400,
      'IR_13',
      `amount ${amountMinor} is more than the ${leftMinor} of this payment that can still be refunded`,
    );
  }
  const type = input.refund_type ?? 'Instant';
  const decided = type === 'Scheduled' ? 'pending' : instantStatus(amountMinor);
  const status = created.decidesAfterMs === undefined ? decided : 'pending';
  const at = isoTime(created.nowMs);
  const afterMs = type === 'Scheduled' ? SCHEDULED_MS : (created.decidesAfterMs ?? PENDING_MS);
  return accept({
    refund_id: created.refundId,
    payment_id: payment.payment_id,
    amount: amountMinor,
    currency: payment.currency,
    status,
    reason: input.reason,
    refund_type: type,
    metadata: input.metadata,
    profile_id: payment.profile_id,
    ...(status === 'failed' ? FAILURE : {}),
    created: at,
    modified_at: at,
    hidden:
      status === 'pending'
        ? { due: { at: isoTime(created.nowMs + afterMs), what: 'settle' }, afterwards: decided }
        : {},
  });
}

const REFUNDABLE = new Set<string>(['succeeded', 'partially_captured']);

const FAILURE = {
  error_code: 'refund_failed',
  error_message: "The customer's bank rejected the refund",
} as const;

function instantStatus(amountMinor: number): RefundStatus {
  const table: Readonly<Record<number, RefundStatus>> = REFUND_AMOUNTS;
  return table[amountMinor] ?? 'succeeded';
}

/** Update Refund. service-interface.md §4.5. */
export function updateRefund(
  state: RefundState,
  update: { readonly reason?: string | undefined; readonly metadata?: object | undefined },
  nowMs: number,
): RefundState {
  return {
    ...state,
    reason: update.reason ?? state.reason,
    metadata: update.metadata ?? state.metadata,
    modified_at: nextModified(state.modified_at, nowMs),
  };
}

/** The statuses to which the processor can move a refund. */
export const REFUND_MOVES = ['succeeded', 'failed', 'review'] as const;
export type RefundMove = (typeof REFUND_MOVES)[number];

/** The processor reports. A failed refund is final; a succeeded one can still fail. */
export function moveRefund(
  state: RefundState,
  to: RefundMove,
  nowMs: number,
): Decision<RefundState> {
  const isOver = state.status === 'failed' || (state.status === 'succeeded' && to !== 'failed');
  if (isOver)
    return rejectState(409, 'IR_16', `A refund cannot move from ${state.status} to ${to}`);
  return accept({
    ...state,
    status: to,
    ...(to === 'failed' ? FAILURE : {}),
    modified_at: nextModified(state.modified_at, nowMs),
    hidden: {},
  });
}

/** Runs the timer. */
export function runRefundDue(state: RefundState, nowMs: number): RefundState {
  const { afterwards = 'succeeded' } = state.hidden;
  const to = afterwards === 'pending' ? 'succeeded' : afterwards;
  return moveRefund(state, to, nowMs).value ?? state;
}

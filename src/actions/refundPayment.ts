/**
 * Refunds a payment, or a part of it, for a person.
 *
 * 1. The person decides about an amount that can be refunded: `inspectRefundable` comes first, then
 *    `refundPaymentAs` with what it returned.
 * 2. The audit log has an entry before the request is sent, which is also the claim: while an attempt to
 *    refund the payment has no result, there is no second one.
 * 3. The payment and its refunds are retrieved after the claim. The request is sent only if the amount that
 *    can be refunded is still the one that the person saw, so that a second submission moves nothing.
 * 4. The id of the refund follows from what was seen. An attempt with an unknown outcome that is made again
 *    has the same id, and it is looked for before anything is sent.
 * 5. A lost request may still arrive. After an attempt with an unknown outcome, also one that a person closed as
 *    unknown, no refund of another amount is sent for an hour, unless what can be refunded has changed since: that
 *    one has an id of its own, so nothing would keep both from being carried out.
 */
import { hash } from 'node:crypto';
import type { Actor } from '../audit/domain/actor.ts';
import type { FinalResult } from '../audit/domain/entry.ts';
import {
  type Attempted,
  type ClaimedAttempt,
  recordExclusiveAttempt,
} from '../audit/recordAudit.ts';
import { readLastUnknown } from '../audit/store/audit.ts';
import {
  type ResourceDetail,
  readPaymentChildren,
  readPaymentDetail,
} from '../ledger/read/store/payments.ts';
import type { Database } from '../platform/db/database.ts';
import { HOUR_MS } from '../platform/time.ts';
import { isOpenOrLost, refundableMinor } from '../refunds/domain/refundable.ts';
import type { RefundService } from '../refunds/refundService.ts';

export interface RefundParts {
  readonly db: Database;
  readonly service: RefundService;
}

export interface Refundable {
  readonly orderKey: string | null;
  readonly currency: string;
  /** Minor units. */
  readonly refundableMinor: number;
  /** Refunds so far, failed ones included. */
  readonly refunds: number;
  readonly disputes: OpenOrLost;
}

/** The payment's disputes that are open or lost, as the ledger has them: they are not retrieved. */
type OpenOrLost = readonly ResourceDetail[];

export type InspectedRefund =
  | { readonly outcome: 'refundable'; readonly payment: Refundable }
  /** Nothing was learned from the service, so what the ledger knows may be out of date. */
  | { readonly outcome: 'not_retrieved'; readonly reason: string; readonly isUnavailable: boolean }
  /** Nothing is left to refund, or an amount is unknown. */
  | {
      readonly outcome: 'not_refundable';
      readonly status: string | null;
      readonly isCaptured: boolean;
      readonly disputes: OpenOrLost;
    };

/** A payment has fewer; beyond this nothing is decided. */
const MAX_PARTS = 500;

/** Retrieves a payment and its refunds, and returns what can be refunded. */
export async function inspectRefundable(
  { db, service }: RefundParts,
  paymentId: string,
): Promise<InspectedRefund> {
  const refreshed = await service.refresh(paymentId);
  if (refreshed.outcome === 'failed') return { ...refreshed, outcome: 'not_retrieved' };
  if (refreshed.outcome === 'stopped') {
    return { outcome: 'not_retrieved', reason: 'stopped', isUnavailable: true };
  }
  const payment = await readPaymentDetail(db, paymentId);
  const parts = await readPaymentChildren(db, { paymentId, limit: MAX_PARTS + 1 });
  const left = payment && refundableMinor(payment, parts);
  const disputes = parts.filter(isOpenOrLost);
  if (!payment || payment.currency === null || parts.length > MAX_PARTS || !left) {
    const isCaptured = (payment?.capturedMinor ?? 0) > 0;
    return { outcome: 'not_refundable', status: payment?.status ?? null, isCaptured, disputes };
  }
  return {
    outcome: 'refundable',
    payment: {
      orderKey: payment.orderKey,
      currency: payment.currency,
      refundableMinor: left,
      refunds: parts.filter(({ kind }) => kind === 'refund').length,
      disputes,
    },
  };
}

export interface RefundInput {
  readonly paymentId: string;
  /** What the person saw: minor units and their currency. */
  readonly expectedMinor: number;
  readonly currency: string;
  /** At most `expectedMinor`. */
  readonly amountMinor: number;
  /** Not empty. The service receives it, too. */
  readonly reason: string;
}

export type Refunded =
  | { readonly outcome: 'done'; readonly refundId: string; readonly status: string | null }
  /** Nothing happened: something else can be refunded now, or nothing. */
  | { readonly outcome: 'changed'; readonly now: InspectedRefund }
  /** Nothing happened now: the refund exists, from an attempt with an unknown outcome. */
  | { readonly outcome: 'existing'; readonly refundId: string }
  /** Nothing happened (rule 5). */
  | { readonly outcome: 'uncertain'; readonly until: Date }
  | { readonly outcome: 'failed' | 'refused' | 'unknown'; readonly reason: string };

const ACTION = 'payment.refund';
/** Rule 5: longer than any request of the service takes. */
const UNCERTAIN_MS = HOUR_MS;

export type RefundedAs = (Refunded & { readonly attempt: number }) | ClaimedAttempt;

export async function refundPaymentAs(
  parts: RefundParts,
  actor: Actor,
  input: RefundInput,
): Promise<RefundedAs> {
  const { paymentId, amountMinor, expectedMinor, currency, reason } = input;
  const known = await readPaymentDetail(parts.db, paymentId);
  const intent = {
    actor,
    action: ACTION,
    subject: { kind: 'payment', id: paymentId },
    orderKey: known?.orderKey ?? null,
    reason,
    detail: { amount: amountMinor, amount_refundable: expectedMinor, currency },
  } as const;
  return recordExclusiveAttempt(parts.db, intent, async (attempt) =>
    recordOf(attempt, await refund(parts, input)),
  );
}

const RESULTS: Readonly<Record<Refunded['outcome'], FinalResult>> = {
  done: 'done',
  existing: 'done',
  changed: 'refused',
  uncertain: 'refused',
  failed: 'failed',
  refused: 'refused',
  unknown: 'unknown',
};

function recordOf(
  attempt: number,
  refunded: Refunded,
): Attempted<Refunded & { readonly attempt: number }> {
  const value = { ...refunded, attempt };
  const result = RESULTS[refunded.outcome];
  if ('reason' in refunded) return { value, result, detail: { error: refunded.reason } };
  if ('refundId' in refunded) return { value, result, detail: { refund_id: refunded.refundId } };
  const error =
    refunded.outcome === 'uncertain'
      ? 'another refund may still arrive'
      : 'another amount can be refunded now';
  return { value, result, detail: { error } };
}

/** Rules 3 to 5. */
async function refund(parts: RefundParts, input: RefundInput): Promise<Refunded> {
  const { service } = parts;
  const now = await inspectRefundable(parts, input.paymentId);
  if (now.outcome === 'not_retrieved') return { outcome: 'failed', reason: now.reason };
  if (!isExpected(now, input)) return { outcome: 'changed', now };
  const refundId = refundIdOf(input, now.payment);
  const earlier = await service.find(refundId);
  if (earlier === 'found') {
    const isFailed = (await statusOf(parts.db, input.paymentId, refundId)) === 'failed';
    return isFailed ? FAILED : { outcome: 'existing', refundId };
  }
  if (earlier === 'not_retrieved') {
    return { outcome: 'failed', reason: 'the service does not show whether it was refunded' };
  }
  const until = await uncertainUntil(parts, input);
  if (until) return { outcome: 'uncertain', until };
  const { paymentId, amountMinor, reason } = input;
  const sent = await service.refund({ paymentId, refundId, amountMinor, reason });
  const isDone = sent.outcome === 'done';
  if (!isDone && sent.outcome !== 'unknown') return sent;
  const found = await service.find(refundId);
  if (!isDone && found !== 'found') return sent;
  await service.refresh(paymentId);
  const status = await statusOf(parts.db, paymentId, refundId);
  return status === 'failed' ? FAILED : { outcome: 'done', refundId, status };
}

/** A refund that exists, and refunded nothing. It counts, so that another attempt has another id. */
const FAILED = { outcome: 'refused', reason: 'the refund failed' } as const;

/** The status in the ledger, after a retrieve; null: it has none. */
async function statusOf(db: Database, paymentId: string, refundId: string): Promise<string | null> {
  const children = await readPaymentChildren(db, { paymentId, limit: MAX_PARTS });
  return children.find(({ id }) => id === refundId)?.status ?? null;
}

/** Rule 5. */
async function uncertainUntil(
  { db }: RefundParts,
  { paymentId, amountMinor, expectedMinor, currency }: RefundInput,
): Promise<Date | undefined> {
  const last = await readLastUnknown(db, {
    action: ACTION,
    subject: { kind: 'payment', id: paymentId },
    withinMs: UNCERTAIN_MS,
    seen: { amount_refundable: expectedMinor, currency },
    but: { amount: amountMinor },
  });
  return last && new Date(last.getTime() + UNCERTAIN_MS);
}

function isExpected(
  now: InspectedRefund,
  { expectedMinor, currency }: RefundInput,
): now is Extract<InspectedRefund, { outcome: 'refundable' }> {
  return (
    now.outcome === 'refundable' &&
    now.payment.refundableMinor === expectedMinor &&
    now.payment.currency === currency
  );
}

/** Rule 4. Services of this family allow 64 characters. */
function refundIdOf(
  { paymentId, amountMinor, currency }: RefundInput,
  { refundableMinor: left, refunds }: Refundable,
): string {
  const seen = JSON.stringify([paymentId, amountMinor, currency, left, refunds]);
  return `ref_${hash('sha256', seen, 'hex').slice(0, 32)}`;
}

/**
 * The findings about an order, derived from all of its parts. The ledger records facts, so it reports
 * problems and does not reject them.
 */
import { sumMinor } from '../../contract/money.ts';
import { FINAL_STATUSES } from '../../contract/statuses.ts';
import { groupBy } from '../../platform/collections.ts';
import type { Finding, FindingClass } from './findings.ts';
import { type OrderAmount, type OrderPart, PART_AMOUNTS } from './order.ts';

/** A part with its id and its payment. */
export interface NamedPart extends OrderPart {
  readonly id: string;
  readonly paymentId: string | null;
}

/** All that `orderFindings` can show. */
export const ORDER_FINDING_CLASSES = [
  'over_refund',
  'double_loss',
  'double_paid',
  'dispute_and_refund',
  'currency',
] as const satisfies readonly FindingClass[];
type OrderFindingClass = (typeof ORDER_FINDING_CLASSES)[number];

/** The subject of findings about an order. */
export function orderSubject(orderKey: string): string {
  return `order:${orderKey}`;
}

/**
 * The findings that the parts of an order show; at most one of each class.
 * @param parts of an order of which the amounts can be added up (order.ts)
 */
export function orderFindings(
  orderKey: string,
  parts: readonly NamedPart[],
): Finding<OrderFindingClass>[] {
  const returns = returnsOf(parts);
  const found: [OrderFindingClass, object][] = [
    ...excesses(returns, 'over_refund', overRefund),
    ...excesses(returns, 'double_loss', doubleLoss),
    ...doublePaid(parts),
    ...disputeAndRefund(parts),
    ...strangeCurrencies(parts),
  ];
  return found.map(([name, detail]) => ({
    class: name,
    subject: orderSubject(orderKey),
    detail: { ...detail },
  }));
}

/** What refunds and disputes return of one payment in one currency, in minor units. */
interface Returns {
  readonly currency: string;
  readonly capturedMinor: number;
  readonly refundMinor: number;
  readonly disputeMinor: number;
  /** How many refunds and disputes return or withhold something. */
  readonly parts: number;
}

/**
 * Returns are compared with the capture of their own payment: what another payment of the order captured is owed for
 * that one. And only once that capture is known: events arrive in any order, and a refund that arrives before its
 * capture is no loss.
 */
function returnsOf(parts: readonly NamedPart[]): readonly Returns[] {
  const refundsAndDisputes = parts.filter(({ kind }) => kind === 'refund' || kind === 'dispute');
  if (refundsAndDisputes.length === 0) return [];
  const byPayment = groupBy(refundsAndDisputes, ({ paymentId }) => paymentId);
  return parts.filter(isCaptureKnown).flatMap((payment) => {
    const byCurrency = groupBy(byPayment.get(payment.id) ?? [], ({ currency }) => currency);
    return [...byCurrency].flatMap(([currency, own]) =>
      currency === undefined ? [] : [returnsIn(currency, payment, own)],
    );
  });
}

function isCaptureKnown({ kind, status }: NamedPart): boolean {
  return kind === 'payment' && FINAL_STATUSES.payment.has(status ?? '');
}

const RETURNED = [
  'refundedMinor',
  'refundPendingMinor',
  'disputedMinor',
  'chargedBackMinor',
] as const satisfies readonly OrderAmount[];

function returnsIn(currency: string, payment: NamedPart, own: readonly NamedPart[]): Returns {
  const sum = (name: (typeof RETURNED)[number]) => sumMinor(own.map(PART_AMOUNTS[name]));
  return {
    currency,
    capturedMinor: payment.currency === currency ? PART_AMOUNTS.capturedMinor(payment) : 0,
    refundMinor: sum('refundedMinor') + sum('refundPendingMinor'),
    disputeMinor: sum('disputedMinor') + sum('chargedBackMinor'),
    parts: own.filter((part) => RETURNED.some((name) => PART_AMOUNTS[name](part) > 0)).length,
  };
}

/** An excess in one currency, in minor units. */
interface Excess {
  readonly currency: string;
  readonly excessMinor: number;
}

/**
 * The excesses of all payments, by currency. Nearly every order has one currency, so the first is in the detail
 * itself, as in findings that were accepted before there were others.
 */
function excesses(
  returns: readonly Returns[],
  name: OrderFindingClass,
  excessOf: (returns: Returns) => number,
): readonly [OrderFindingClass, object][] {
  const exceeding = returns.filter((one) => excessOf(one) > 0);
  const [first, ...others] = [...groupBy(exceeding, ({ currency }) => currency)]
    .map(([currency, own]): Excess => ({ currency, excessMinor: sumMinor(own.map(excessOf)) }))
    .sort((one, other) => (one.currency < other.currency ? -1 : 1));
  if (first === undefined) return [];
  return [[name, others.length === 0 ? first : { ...first, others }]];
}

function overRefund({ refundMinor, capturedMinor }: Returns): number {
  return refundMinor - capturedMinor;
}

/** A dispute alone may exceed the capture, by fees of the bank. Beside a refund or a second dispute it is a loss. */
function doubleLoss({ refundMinor, disputeMinor, capturedMinor, parts }: Returns): number {
  return disputeMinor > 0 && parts > 1 ? refundMinor + disputeMinor - capturedMinor : 0;
}

/** A payment that was returned is paid no longer: the customer may pay again, and is owed nothing for it. */
function doublePaid(parts: readonly NamedPart[]): readonly [OrderFindingClass, object][] {
  const succeeded = parts.filter(
    ({ kind, status }) => kind === 'payment' && status === 'succeeded',
  );
  // Most orders have one, and are derived with each event about them.
  if (succeeded.length < 2) return [];
  const byPayment = groupBy(parts, ({ paymentId }) => paymentId);
  const paid = succeeded.filter((part) => keptMinor(part, byPayment.get(part.id) ?? []) > 0);
  const payments = paid
    .map(({ id, capturedMinor, currency }) => ({ id, capturedMinor, currency }))
    .sort(byId);
  return payments.length > 1 ? [['double_paid', { payments }]] : [];
}

/**
 * What a payment captured, less its refunds that succeeded and disputes that were lost. What may not have left
 * subtracts nothing: a pending refund, an unknown amount, another currency.
 */
function keptMinor(
  { capturedMinor, currency }: NamedPart,
  refundsAndDisputes: readonly NamedPart[],
): number {
  return refundsAndDisputes
    .filter((part) => currency !== undefined && part.currency === currency)
    .reduce(
      (kept, part) => kept - PART_AMOUNTS.refundedMinor(part) - PART_AMOUNTS.chargedBackMinor(part),
      capturedMinor,
    );
}

/**
 * The customer may receive the money of one payment twice; which of the two came first does not matter. A refund
 * settles an inquiry by the bank, and prevents the dispute.
 */
function disputeAndRefund(parts: readonly NamedPart[]): readonly [OrderFindingClass, object][] {
  const byPayment = groupBy(parts.filter(isUndecided), ({ paymentId }) => paymentId);
  const both = [...byPayment.values()].filter(
    (own) =>
      own.some(({ kind }) => kind === 'dispute') && own.some(({ kind }) => kind === 'refund'),
  );
  const [disputes, refunds] = [amountsOf(both.flat(), 'dispute'), amountsOf(both.flat(), 'refund')];
  return both.length > 0 ? [['dispute_and_refund', { disputes, refunds }]] : [];
}

function isUndecided({ kind, status, stage }: NamedPart): boolean {
  const mayReturn = kind === 'refund' || (kind === 'dispute' && stage !== 'pre_dispute');
  return mayReturn && status !== undefined && !FINAL_STATUSES[kind].has(status);
}

/** Parts of a kind, by their ids. */
function amountsOf(parts: readonly NamedPart[], wanted: 'dispute' | 'refund'): readonly object[] {
  return parts
    .filter(({ kind }) => kind === wanted)
    .map(({ id, amountMinor, currency }) => ({ id, amountMinor, currency }))
    .sort(byId);
}

const byId = (one: Pick<NamedPart, 'id'>, other: Pick<NamedPart, 'id'>): number =>
  one.id < other.id ? -1 : 1;

/** A failed refund moved nothing, in any currency. */
function strangeCurrencies(parts: readonly NamedPart[]): readonly [OrderFindingClass, object][] {
  const payments = new Map(
    parts.flatMap(({ kind, id, currency }) =>
      kind === 'payment' ? [[id, currency] as const] : [],
    ),
  );
  const strange = parts.filter(({ kind, status, currency, paymentId }) => {
    const expected = paymentId === null ? undefined : payments.get(paymentId);
    const isVoid = kind === 'refund' && status === 'failed';
    return !isVoid && expected !== undefined && currency !== undefined && currency !== expected;
  });
  return strange.length > 0 ? [['currency', { parts: strange.map(({ id }) => id).sort() }]] : [];
}

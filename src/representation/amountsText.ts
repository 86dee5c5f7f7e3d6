/** The money of an order in one currency, as commands print it. */
import { formatMoney } from '../contract/money.ts';
import type { OrderTotals } from '../ledger/domain/order.ts';

/** Amounts of one order, or sums over several. */
type Amounts = {
  readonly [Name in keyof Omit<OrderTotals, 'status'>]: Name extends 'currency'
    ? string
    : number | bigint;
};

/** The amounts that are not zero, and always the captured one. */
export function amountsText(totals: Amounts): string {
  const amounts = [
    ['authorized', totals.authorizedMinor],
    ['captured', totals.capturedMinor],
    ['refunded', totals.refundedMinor],
    ['refund pending', totals.refundPendingMinor],
    ['disputed', totals.disputedMinor],
    ['charged back', totals.chargedBackMinor],
  ] as const;
  return amounts
    .filter(([name, amountMinor]) => amountMinor > 0 || name === 'captured')
    .map(([name, amountMinor]) => `${name} ${formatMoney(amountMinor, totals.currency)}`)
    .join(', ');
}

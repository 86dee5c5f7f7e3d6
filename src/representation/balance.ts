/** The balance of an account in one currency as JSON. */
import { toSafeInteger } from '../contract/money.ts';
import type { AccountBalance } from '../ledger/domain/balances.ts';
import type { CurrencyTotals } from '../ledger/read/store/balances.ts';

export function balanceJson(row: AccountBalance) {
  return {
    account: row.account,
    class: row.class,
    meaning: row.meaning,
    currency: row.currency,
    amount_debited: toSafeInteger(row.debitedMinor),
    amount_credited: toSafeInteger(row.creditedMinor),
    balance: toSafeInteger(row.balanceMinor),
  };
}

export function currencyTotalsJson(totals: CurrencyTotals) {
  return {
    currency: totals.currency,
    orders: totals.orders,
    amount_authorized: toSafeInteger(totals.authorizedMinor),
    amount_captured: toSafeInteger(totals.capturedMinor),
    amount_refunded: toSafeInteger(totals.refundedMinor),
    amount_refund_pending: toSafeInteger(totals.refundPendingMinor),
    amount_disputed: toSafeInteger(totals.disputedMinor),
    amount_charged_back: toSafeInteger(totals.chargedBackMinor),
  };
}

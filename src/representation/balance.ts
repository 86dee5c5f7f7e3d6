/** The balance of an account in one currency as JSON. */
import type { AccountBalance } from '../ledger/read/store/balances.ts';

export function balanceJson(row: AccountBalance) {
  return {
    account: row.account,
    class: row.class,
    meaning: row.meaning,
    currency: row.currency,
    amount_debited: row.debitedMinor,
    amount_credited: row.creditedMinor,
    balance: row.balanceMinor,
  };
}

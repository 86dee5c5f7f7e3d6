/** The balance of psp.clearing with what it consists of. */
import type { Queryable } from '../../platform/db/database.ts';
import type { CurrencyClearing } from '../domain/clearing.ts';
import { readClearingBalances, readClearingParts } from './store/clearing.ts';

/**
 * @param tx a transaction with one snapshot
 * @param beforeMicros as of this time; undefined: now
 */
export async function readClearing(
  tx: Queryable,
  beforeMicros?: number,
): Promise<readonly CurrencyClearing[]> {
  const parts = await readClearingParts(tx, beforeMicros);
  const balances = await readClearingBalances(tx, beforeMicros);
  return balances.map(({ currency, balanceMinor }) => ({
    currency,
    balanceMinor,
    parts: parts.flatMap(({ currency: of, ...part }) => (of === currency ? [part] : [])),
  }));
}

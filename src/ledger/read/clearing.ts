/** What is in psp.clearing: its balance, the parts of it, and the items of these. */
import type { Database, Queryable } from '../../platform/db/database.ts';
import {
  CLEARING_PART_NAMES,
  type ClearingItem,
  type ClearingPart,
  type CurrencyClearing,
} from '../domain/clearing.ts';
import type { Place } from '../domain/listPage.ts';
import { readConsistently } from '../store/readConsistently.ts';
import { readClearingBalances, readClearingItems, readClearingParts } from './store/clearing.ts';

/**
 * Each currency with transfers or parts: lines without a fee post nothing, and are items all the same.
 * @param tx a transaction with one snapshot
 * @param beforeMicros as of this time; undefined: now
 */
export async function readClearing(
  tx: Queryable,
  beforeMicros?: number,
): Promise<readonly CurrencyClearing[]> {
  const parts = await readClearingParts(tx, beforeMicros);
  const balances = await readClearingBalances(tx, beforeMicros);
  const byCurrency = new Map(balances.map((balance) => [balance.currency, balance.balanceMinor]));
  const currencies = new Set([...byCurrency.keys(), ...parts.map(({ currency }) => currency)]);
  return [...currencies].sort().map((currency) => ({
    currency,
    balanceMinor: byCurrency.get(currency) ?? 0n,
    parts: parts.flatMap(({ currency: of, ...part }) => (of === currency ? [part] : [])),
  }));
}

/** The same of one moment. */
export function readClearingAsOf(
  db: Database,
  beforeMicros: number | undefined,
): Promise<readonly CurrencyClearing[]> {
  return readConsistently(db, (tx) => readClearing(tx, beforeMicros));
}

export interface UnmatchedFilter {
  readonly part?: ClearingPart | undefined;
  readonly currency?: string | undefined;
  readonly after?: Place | undefined;
  readonly limit: number;
}

export interface Unmatched {
  readonly clearing: readonly CurrencyClearing[];
  readonly items: readonly ClearingItem[];
}

/** The balances with their parts, and a page of the items, oldest first, all of one moment. */
export function readUnmatched(
  db: Database,
  { part, currency, after, limit }: UnmatchedFilter,
): Promise<Unmatched> {
  return readConsistently(db, async (tx) => {
    const clearing = (await readClearing(tx)).filter(
      (one) => currency === undefined || one.currency === currency,
    );
    const parts = part === undefined ? CLEARING_PART_NAMES : [part];
    return { clearing, items: await readClearingItems(tx, { parts, currency, after, limit }) };
  });
}

/** What was under way at the end of a month: as it was closed, or by effective time while it is open. */
import type { Queryable } from '../../platform/db/database.ts';
import type { Closing } from '../domain/closings.ts';
import { openAtClosing } from '../domain/openAtClosing.ts';
import type { OpenItems } from '../domain/statement.ts';
import type { EffectiveSums } from './effectiveSums.ts';
import { readItemsWithLatePostings } from './store/latePostings.ts';

/** How many open items of a name and currency a statement lists. */
export const OLDEST = 20;

interface OpenItemsInput {
  readonly effective: EffectiveSums;
  /** The end of the month. */
  readonly toMicros: number;
  /** Undefined while the month is open. */
  readonly closing: Closing | undefined;
  readonly currency: string | undefined;
}

/** @param tx a transaction with one snapshot, in which `effective` reads, too */
export async function readOpenItemsAtEnd(
  tx: Queryable,
  { effective, toMicros, closing, currency }: OpenItemsInput,
): Promise<readonly OpenItems[]> {
  if (!closing) return await effective.openBefore(toMicros, OLDEST);
  const late = await readItemsWithLatePostings(tx, {
    fromMicros: undefined,
    toMicros,
    after: closing.lastTransfer,
    until: undefined,
    currency,
  });
  const now = await effective.openBefore(toMicros, OLDEST, late);
  return openAtClosing(now, late, OLDEST);
}

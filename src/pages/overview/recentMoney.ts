/**
 * The money of the last days, kept for a while: adding it up reads a month of the journal.
 *
 * What is kept may be as old as `AGE_PER_COST` times what reading it cost, so that pages that are opened
 * often cost the database little, however large the ledger is. An expensive sum is renewed in the
 * background, and the page shows the last one.
 */
import { type DatedTotals, readTotalsByDay } from '../../ledger/read/store/dayTotals.ts';
import { startStopwatch } from '../../platform/clock.ts';
import type { Database } from '../../platform/db/database.ts';

export const MONEY_DAYS = 30;

const AGE_PER_COST = 20;
/** Readers wait for a sum that costs less. */
const CHEAP_SECONDS = 0.05;

interface Kept {
  readonly totals: readonly DatedTotals[];
  readonly costSeconds: number;
  readonly ageSeconds: () => number;
}

interface Memory {
  kept: Kept | undefined;
  underWay: Promise<Kept> | undefined;
}

const memories = new WeakMap<Database, Memory>();

/** Totals by day and currency, up to today. */
export async function readMoney(db: Database): Promise<readonly DatedTotals[]> {
  const memory = memories.get(db) ?? { kept: undefined, underWay: undefined };
  memories.set(db, memory);
  const { kept } = memory;
  if (kept && kept.ageSeconds() <= kept.costSeconds * AGE_PER_COST) return kept.totals;
  const renewed = renew(db, memory);
  if (!kept || kept.costSeconds < CHEAP_SECONDS) return (await renewed).totals;
  // A failure keeps the last sum; the next reader tries again.
  renewed.catch(() => undefined);
  return kept.totals;
}

function renew(db: Database, memory: Memory): Promise<Kept> {
  memory.underWay ??= read(db)
    .then((kept) => {
      memory.kept = kept;
      return kept;
    })
    .finally(() => {
      memory.underWay = undefined;
    });
  return memory.underWay;
}

async function read(db: Database): Promise<Kept> {
  const elapsedSeconds = startStopwatch();
  const totals = await readTotalsByDay(db, MONEY_DAYS);
  const costSeconds = elapsedSeconds();
  return { totals, costSeconds, ageSeconds: () => elapsedSeconds() - costSeconds };
}

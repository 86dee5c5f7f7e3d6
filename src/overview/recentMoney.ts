/**
 * The money of the last days, kept for a while.
 *
 * 1. The sums of a closed day never change (ledger/read/closedDays.ts). A process reads each of them once;
 *    after that, it reads the days that are not closed. It reads all again after the clock of the database
 *    went back.
 * 2. What is kept may be as old as `AGE_PER_COST` times what reading it cost, so that pages that are opened
 *    often cost the database little, however many transfers a day has. An expensive sum is renewed in the
 *    background, and the page shows the last one.
 */
import {
  type ClosingTime,
  DAY_MICROS,
  dayOf,
  firstOpenDay,
  wasSetBack,
} from '../ledger/read/closedDays.ts';
import { readJournalTimes } from '../ledger/read/store/balances.ts';
import { type DatedTotals, readTotalsByDay } from '../ledger/read/store/dayTotals.ts';
import { startStopwatch } from '../platform/clock.ts';
import type { Database } from '../platform/db/database.ts';

const AGE_PER_COST = 20;
/** Readers wait for a sum that costs less. */
const CHEAP_SECONDS = 0.05;

interface Kept extends ClosingTime {
  /** Of all days, each as it was when it was read. */
  readonly totals: readonly DatedTotals[];
  /** Days before this are closed; microseconds since 1970. */
  readonly closedTo: number;
  readonly costSeconds: number;
}

interface Memory {
  kept: Kept | undefined;
  underWay: Promise<Kept> | undefined;
}

/** By database and number of days. */
const memories = new WeakMap<Database, Map<number, Memory>>();

function memoryOf(db: Database, days: number): Memory {
  const ofDatabase = memories.get(db) ?? new Map<number, Memory>();
  memories.set(db, ofDatabase);
  const memory = ofDatabase.get(days) ?? { kept: undefined, underWay: undefined };
  ofDatabase.set(days, memory);
  return memory;
}

/** Totals by day and currency, of so many days up to today. */
export async function readMoney(db: Database, days: number): Promise<readonly DatedTotals[]> {
  const memory = memoryOf(db, days);
  const { kept } = memory;
  if (kept && ageSeconds(kept) <= kept.costSeconds * AGE_PER_COST) return kept.totals;
  const renewed = renew(memory, () => read(db, days, memory.kept));
  if (!kept || kept.costSeconds < CHEAP_SECONDS) return (await renewed).totals;
  // A failure keeps the last sum; the next reader tries again.
  renewed.catch(() => undefined);
  return kept.totals;
}

function renew(memory: Memory, readAgain: () => Promise<Kept>): Promise<Kept> {
  memory.underWay ??= readAgain()
    .then((kept) => {
      memory.kept = kept;
      return kept;
    })
    .finally(() => {
      memory.underWay = undefined;
    });
  return memory.underWay;
}

/** Since it was read completely. */
function ageSeconds({ elapsedSeconds, costSeconds }: Kept): number {
  return elapsedSeconds() - costSeconds;
}

async function read(db: Database, days: number, last: Kept | undefined): Promise<Kept> {
  const elapsedSeconds = startStopwatch();
  const { nowMicros } = await readJournalTimes(db);
  const before = last && wasSetBack(last, nowMicros) ? undefined : last;
  const firstDay = dayOf(nowMicros) - (days - 1) * DAY_MICROS;
  const fromMicros = Math.max(firstDay, before?.closedTo ?? 0);
  const isKept = ({ day }: DatedTotals) => day >= nameOf(firstDay) && day < nameOf(fromMicros);
  const closed = before?.totals.filter(isKept) ?? [];
  const totals = [...closed, ...(await readTotalsByDay(db, fromMicros))];
  const closedTo = firstOpenDay(nowMicros);
  return { totals, closedTo, nowMicros, elapsedSeconds, costSeconds: elapsedSeconds() };
}

/** `YYYY-MM-DD` */
function nameOf(dayMicros: number): string {
  return new Date(dayMicros / 1000).toISOString().slice(0, 10);
}

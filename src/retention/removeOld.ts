/**
 * Removes what is past its retention, in small steps (domain/pace.ts).
 *
 * 1. Each step is one transaction: rows are gone if and only if they are counted in `retention_state`. A
 *    process that is killed between two steps leaves nothing half done, and the next run continues.
 * 2. Before rows are removed, `beforeRemoval` has finished with them. What it returns is part of the
 *    transaction that removes them. After a crash it may get the same rows again, or some of them.
 * 3. A run ends when nothing is left, or after `longestMs`. A class that a run leaves unfinished comes first
 *    in the next one.
 * 4. Nothing is removed while the database's clock is ahead of the machine's by more than an hour: by a clock that
 *    is ahead everything is old, and what is removed does not come back when it is set.
 */
import type { RetentionDays } from '../config/retentionSettings.ts';
import { readPendingAgeMs } from '../ledger/inbox/store/arrivals.ts';
import { type Clock, startStopwatch } from '../platform/clock.ts';
import type { Database, Queryable } from '../platform/db/database.ts';
import { readDatabaseTimeMs } from '../platform/db/databaseClock.ts';
import { isContended } from '../platform/db/failures.ts';
import { type ScanRequest, scanned } from '../platform/db/scannedRows.ts';
import { OperatorError } from '../platform/errors.ts';
import { HOUR_MS, SECOND_MS } from '../platform/time.ts';
import { type ClassName, type RetentionClass, retentionClasses } from './classes.ts';
import { FIRST_ROWS, mustWait, nextRows, restMs } from './domain/pace.ts';
import { addRemoved, keepStates, markCaughtUp, readCutoff, readStates } from './store/state.ts';

export interface RetentionParts {
  readonly db: Database;
  readonly days: RetentionDays;
  /** Ends early when the signal is aborted. */
  readonly sleep: (delayMs: number, signal: AbortSignal) => Promise<void>;
  /** Called with the rows of each step before they are removed (rule 2). */
  readonly beforeRemoval?: (name: ClassName, keys: readonly number[]) => Promise<RecordRemoval>;
  /** Called after each step with what was removed of its class so far. */
  readonly onProgress?: (name: ClassName, removed: number) => void;
  /** The machine's clock (rule 4). */
  readonly machine: Clock;
}

/** Part of the transaction that removes rows; it throws if more were removed than it knows of. */
export type RecordRemoval = (tx: Queryable, removed: number) => Promise<void>;

export interface RunLimits {
  readonly longestMs: number;
  readonly signal: AbortSignal;
}

export interface RemovedRows {
  readonly name: ClassName;
  readonly rows: number;
  /** What `rows` counts, where it is not rows. */
  readonly unit?: 'days' | undefined;
  /** Whether nothing is left that could be removed now. */
  readonly isDone: boolean;
}

/** How long retention waits before it checks again whether events wait. */
const WAIT_MS = 2 * SECOND_MS;

/** Every class is kept for a day at least. */
const MOST_AHEAD_MS = HOUR_MS;

/**
 * Removes old rows of every class that has a number of days.
 * @throws OperatorError while the clocks of database and machine disagree (rule 4)
 */
export async function removeOld(
  parts: RetentionParts,
  { longestMs, signal }: RunLimits,
): Promise<readonly RemovedRows[]> {
  await refuseClockAhead(parts);
  const elapsedSeconds = startStopwatch();
  const isOver = () => signal.aborted || elapsedSeconds() * SECOND_MS >= longestMs;
  const removed: RemovedRows[] = [];
  for (const one of await inTurn(parts)) {
    removed.push(await removeClass(parts, one, { isOver, signal }));
  }
  // Of a class that is never removed, nothing is left to remove either.
  const kept = retentionClasses().flatMap(({ name }) =>
    parts.days[name] === undefined ? [name] : [],
  );
  const done = removed.flatMap(({ name, isDone }) => (isDone ? [name] : []));
  await markCaughtUp(parts.db, [...done, ...kept]);
  return removed;
}

async function refuseClockAhead({ db, machine }: RetentionParts): Promise<void> {
  const aheadMs = (await readDatabaseTimeMs(db)) - machine.nowMs();
  if (aheadMs <= MOST_AHEAD_MS) return;
  throw new OperatorError(
    `retention removes nothing: the clock of the database is ${Math.round(aheadMs / HOUR_MS)} hours ahead of the clock of this machine. Correct the one that is wrong.`,
  );
}

/** The classes to work on, the one that has been behind for longest first (rule 3). */
async function inTurn({ db, days }: RetentionParts): Promise<readonly RetentionClass[]> {
  const classes = retentionClasses().filter(({ name }) => days[name] !== undefined);
  await keepStates(
    db,
    classes.map(({ name }) => name),
  );
  const states = new Map((await readStates(db)).map((state) => [state.name, state.behindMs]));
  return classes.toSorted((a, b) => (states.get(b.name) ?? 0) - (states.get(a.name) ?? 0));
}

interface Pace {
  readonly isOver: () => boolean;
  readonly signal: AbortSignal;
}

async function removeClass(
  parts: RetentionParts,
  one: RetentionClass,
  { isOver, signal }: Pace,
): Promise<RemovedRows> {
  const { name, unit } = one;
  const before = await readCutoff(parts.db, parts.days[name] ?? 0);
  let [rows, limit]: [number, number] = [0, FIRST_ROWS];
  const clamp = (most: number) => Math.min(most, one.mostRows ?? most);
  let after = 0;
  let isComplete = true;
  while (!isOver()) {
    if (mustWait(await readPendingAgeMs(parts.db))) {
      await parts.sleep(WAIT_MS, signal);
      continue;
    }
    const elapsedSeconds = startStopwatch();
    const step = await attemptStep(parts, one, { before, after, limit: clamp(limit) });
    if (step === 'contended') return { name, rows, unit, isDone: false };
    rows += step.removed;
    parts.onProgress?.(name, rows);
    isComplete &&= step.removed === step.picked;
    if (step.last === undefined) return { name, rows, unit, isDone: isComplete };
    if (step.picked > 0 && step.removed === 0) return { name, rows, unit, isDone: false };
    after = step.last;
    const tookMs = elapsedSeconds() * SECOND_MS;
    limit = nextRows(limit, tookMs);
    await parts.sleep(restMs(tookMs), signal);
  }
  return { name, rows, unit, isDone: false };
}

interface Step {
  readonly picked: number;
  /** Less than `picked` where something needs a row by now. */
  readonly removed: number;
  readonly last: number | undefined;
}

/** A lock that somebody else holds is no failure: the next run tries again. */
async function attemptStep(
  parts: RetentionParts,
  one: RetentionClass,
  request: ScanRequest,
): Promise<Step | 'contended'> {
  try {
    return await removeStep(parts, one, request);
  } catch (error) {
    if (isContended(error)) return 'contended';
    throw error;
  }
}

async function removeStep(
  { db, beforeRemoval }: RetentionParts,
  { name, scan, remove }: RetentionClass,
  request: ScanRequest,
): Promise<Step> {
  const { keys, last } = scanned(await scan(db, request), request);
  if (keys.length === 0) return { picked: 0, removed: 0, last };
  const recordRemoval = await beforeRemoval?.(name, keys);
  const removed = await db.transaction(async (tx) => {
    const rows = await remove(tx, keys, request.before);
    await recordRemoval?.(tx, rows);
    if (rows > 0) await addRemoved(tx, name, { rows, through: Math.max(...keys) });
    return rows;
  });
  return { picked: keys.length, removed, last };
}

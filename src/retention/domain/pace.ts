/**
 * How fast retention removes rows.
 *
 * 1. A step is a transaction over a bounded number of rows. The number follows how long the last step took,
 *    so that a step holds its locks, and what it writes holds up other commits, for tens of milliseconds on
 *    any machine.
 * 2. After a step, retention rests nine times as long as the step took: it uses at most a tenth of what one
 *    connection can. A day of a million events still takes minutes.
 * 3. While events wait to be applied, retention does nothing.
 */
import { SECOND_MS } from '../../platform/time.ts';

export const FIRST_ROWS = 500;
const MIN_ROWS = 50;
const MAX_ROWS = 2_000;

/** A receiver replies within tens of milliseconds, and its commit waits for what a step has written. */
const SHORT_STEP_MS = 15;
const LONG_STEP_MS = 50;

const RESTS_PER_STEP = 9;

/** Longer than a burst waits. */
const MAX_PENDING_MS = 10 * SECOND_MS;

/** The rows of the next step (rule 1). */
export function nextRows(rows: number, tookMs: number): number {
  if (tookMs > LONG_STEP_MS) return Math.max(MIN_ROWS, Math.floor(rows / 2));
  return tookMs < SHORT_STEP_MS ? Math.min(MAX_ROWS, rows * 2) : rows;
}

/** How long retention rests after a step (rule 2). */
export function restMs(tookMs: number): number {
  return RESTS_PER_STEP * tookMs;
}

/** Whether retention waits for the events worker (rule 3). */
export function mustWait(pendingAgeMs: number | undefined): boolean {
  return (pendingAgeMs ?? 0) > MAX_PENDING_MS;
}

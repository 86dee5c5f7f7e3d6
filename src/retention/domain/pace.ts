/**
 * How fast retention removes rows.
 *
 * 1. A step is a transaction over a bounded number of rows. The number follows how long the last step took,
 *    so that a step holds its locks for a fraction of a second on any machine.
 * 2. After a step, retention rests as long as the step took: it uses at most half of what one connection
 *    can.
 * 3. While events wait to be applied, retention does nothing.
 */
import { SECOND_MS } from '../../platform/time.ts';

export const FIRST_ROWS = 500;
const MIN_ROWS = 50;
const MAX_ROWS = 2_000;

/** A step of this length is not noticed by a sender; a receiver replies within tens of milliseconds. */
const SHORT_STEP_MS = 50;
const LONG_STEP_MS = 200;

/** Longer than a burst waits. */
const MAX_PENDING_MS = 10 * SECOND_MS;

/** The rows of the next step (rule 1). */
export function nextRows(rows: number, tookMs: number): number {
  if (tookMs > LONG_STEP_MS) return Math.max(MIN_ROWS, Math.floor(rows / 2));
  return tookMs < SHORT_STEP_MS ? Math.min(MAX_ROWS, rows * 2) : rows;
}

/** Whether retention waits for the events worker (rule 3). */
export function mustWait(pendingAgeMs: number | undefined): boolean {
  return (pendingAgeMs ?? 0) > MAX_PENDING_MS;
}

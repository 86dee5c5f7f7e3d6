/** Background work of the ledger, in steps that leave room for intake between them. */
import { monotonicMs } from '../platform/clock.ts';
import { sleep } from '../platform/sleep.ts';
import { SECOND_MS } from '../platform/time.ts';
import { restAfterMs } from './domain/rest.ts';

/** Of one run, which comes every minute. */
export const BUDGET_MS = 20 * SECOND_MS;

/**
 * A turn for each step, until the time is over or the process stops: whoever has nothing left to do breaks the
 * loop. After each other step it rests (domain/rest.ts).
 * @param endMs by the monotonic clock
 */
export async function* turnsUntil(endMs: number, signal: AbortSignal): AsyncGenerator<void, void> {
  while (!signal.aborted && monotonicMs() < endMs) {
    const startMs = monotonicMs();
    yield;
    await sleep(restAfterMs(monotonicMs() - startMs), signal);
  }
}

import { availableParallelism, loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

const SHORTEST_POLL_MS = 15;
/**
 * Most polls are queries, of 1.2 ms of processor time on both sides: at a fixed 15 ms, the waits of all tests took
 * minutes of it. A wait is limited by `POLL_SHARE`, so that only one of more than two seconds polls as rarely as this.
 */
const LONGEST_POLL_MS = 250;
/** Of the time waited so far, so that a wait is at most a tenth longer than it has to be. */
const POLL_SHARE = 0.1;

/** Of the tests themselves: as many as that wait for one processor without slowing each other down much. */
const OWN_LOAD = 4;

/**
 * Polls until `condition` holds. The deadline only ends a test that would wait forever. It is that of a
 * machine on which the tests run alone, and longer by as much as others slow this one down.
 * @param what named at the end of a message; one that states what was seen last is made then
 * @throws naming `what` after the deadline
 */
export async function waitFor(
  what: string | (() => string | Promise<string>),
  condition: () => boolean | Promise<boolean>,
  deadlineMs = 120_000,
): Promise<void> {
  const startMs = Date.now();
  for (;;) {
    if (await condition()) return;
    const waitedMs = Date.now() - startMs;
    if (waitedMs > deadlineMs * slowdown()) {
      const named = typeof what === 'string' ? what : await what();
      throw new Error(`timed out after ${waitedMs} ms waiting for ${named}`);
    }
    await sleep(Math.min(Math.max(waitedMs * POLL_SHARE, SHORTEST_POLL_MS), LONGEST_POLL_MS));
  }
}

/** By how much longer everything takes because of what else runs on this machine; at least 1. */
export function slowdown(): number {
  const [load = 0] = loadavg();
  return Math.max(1, load / availableParallelism() / OWN_LOAD);
}

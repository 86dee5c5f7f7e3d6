import { setTimeout as sleep } from 'node:timers/promises';

const SHORTEST_POLL_MS = 15;
/** Most polls are queries: at a fixed 15 ms, the waits of all tests took minutes of processor time. */
const LONGEST_POLL_MS = 50;
/** Of the time waited so far, so that a wait is at most a tenth longer than it has to be. */
const POLL_SHARE = 0.1;

/**
 * Polls until `condition` holds. The deadline only ends a test that would wait forever: a wait that
 * succeeds costs nothing, so it is long enough for a machine that does ten other things.
 * @throws naming `what` after `deadlineMs`
 */
export async function waitFor(
  what: string,
  condition: () => boolean | Promise<boolean>,
  deadlineMs = 120_000,
): Promise<void> {
  const startMs = Date.now();
  for (;;) {
    if (await condition()) return;
    const waitedMs = Date.now() - startMs;
    if (waitedMs > deadlineMs) {
      throw new Error(`timed out after ${deadlineMs} ms waiting for ${what}`);
    }
    await sleep(Math.min(Math.max(waitedMs * POLL_SHARE, SHORTEST_POLL_MS), LONGEST_POLL_MS));
  }
}

import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 15;

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
  const endMs = Date.now() + deadlineMs;
  for (;;) {
    if (await condition()) return;
    if (Date.now() > endMs) throw new Error(`timed out after ${deadlineMs} ms waiting for ${what}`);
    await sleep(POLL_MS);
  }
}

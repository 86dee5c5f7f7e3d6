import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 15;

/** Polls until `condition` holds. @throws naming `what` after `deadlineMs` */
export async function waitFor(
  what: string,
  condition: () => boolean | Promise<boolean>,
  deadlineMs = 30_000,
): Promise<void> {
  const endMs = Date.now() + deadlineMs;
  for (;;) {
    if (await condition()) return;
    if (Date.now() > endMs) throw new Error(`timed out after ${deadlineMs} ms waiting for ${what}`);
    await sleep(POLL_MS);
  }
}

import { setTimeout as pause } from 'node:timers/promises';

const POLL_MS = 15;

/** Waits until `condition` holds; fails with `what` if it does not within the deadline. */
export async function waitFor(
  what: string,
  condition: () => boolean | Promise<boolean>,
  deadlineMs = 30_000,
): Promise<void> {
  const endMs = Date.now() + deadlineMs;
  for (;;) {
    if (await condition()) return;
    if (Date.now() > endMs) throw new Error(`waited ${deadlineMs} ms in vain for ${what}`);
    await pause(POLL_MS);
  }
}

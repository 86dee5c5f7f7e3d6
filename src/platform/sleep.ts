import { setTimeout } from 'node:timers/promises';

/** Waits for `delayMs`, or until `signal` is aborted. Never rejects. */
export async function sleep(delayMs: number, signal: AbortSignal): Promise<void> {
  // The only rejection is that of an aborted signal.
  await setTimeout(delayMs, undefined, { signal }).catch(() => undefined);
}

import { setTimeout } from 'node:timers/promises';

/** Waits for `delayMs`, or until `signal` is aborted. Never rejects. */
export async function sleep(delayMs: number, signal: AbortSignal): Promise<void> {
  // The only rejection is that of an aborted signal.
  await setTimeout(delayMs, undefined, { signal }).catch(() => undefined);
}

/**
 * Waits for a promise that may never settle, for `limitMs` at most.
 * @throws what the promise rejects with within the limit
 */
export async function atMost(limitMs: number, promise: Promise<unknown>): Promise<void> {
  const done = new AbortController();
  try {
    await Promise.race([promise, sleep(limitMs, done.signal)]);
  } finally {
    done.abort();
  }
}

/**
 * Keeps the claim of a request for erasure while a process works on it.
 *
 * 1. One process at a time works on a request. Its claim is renewed until it ends; when the process dies,
 *    another one claims the request a minute later at most. Leases follow the database's clock.
 * 2. A process that was suspended and lost its claim stops. Should two work at once for a moment, nothing is
 *    lost: every step is idempotent.
 * 3. A try that did not finish is repeated by the scheduler after a pause.
 */
import type { Database } from '../platform/db/database.ts';
import { SECOND_MS } from '../platform/time.ts';
import type { Erased } from './erase.ts';
import {
  ERASURE_PAUSE_MS,
  type HeldErasure,
  releaseErasure,
  renewErasure,
} from './store/erasures.ts';

const RENEW_EVERY_MS = 10 * SECOND_MS;

export interface HoldParts {
  readonly db: Database;
  /** Stops the work, for a shutdown. */
  readonly signal?: AbortSignal | undefined;
}

/** @param held a claimed request */
export async function holdErasure(
  { db, signal }: HoldParts,
  held: HeldErasure,
  work: (signal: AbortSignal) => Promise<Erased>,
): Promise<Erased> {
  const lost = new AbortController();
  const renew = async (): Promise<void> => {
    const isHeld = await renewErasure(db, held);
    if (!isHeld) lost.abort(new Error(`another process has claimed the erasure ${held.id}`));
  };
  // The next renewal comes before the lease ends, unless the database is unavailable for longer.
  const timer = setInterval(() => void renew().catch(() => undefined), RENEW_EVERY_MS);
  let pauseMs = ERASURE_PAUSE_MS;
  try {
    return await work(signal ? AbortSignal.any([signal, lost.signal]) : lost.signal);
  } catch (error) {
    // After a shutdown the next process continues at once.
    if (signal?.aborted) pauseMs = 0;
    throw error;
  } finally {
    clearInterval(timer);
    // A claim that cannot be released ends by itself.
    await releaseErasure(db, held, pauseMs).catch(() => undefined);
  }
}

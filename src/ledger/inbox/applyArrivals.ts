/**
 * What a worker does after the batch of its job: it applies events as they arrive, straight from `pending`. A job
 * of their own would reach it later, and would cost a commit to add it, one to claim it and one to complete it.
 *
 * 1. It checks at once: what arrived during the batch waits for nothing more.
 * 2. The more events arrive, the longer the rest before the next transaction, so that it has more of them.
 * 3. It ends when nothing has arrived for a tenth of a second, so that an idle installation does nothing. Beside
 *    other jobs it ends as soon as it finds nothing: in a backlog these have the rest.
 * 4. It ends after a second in any case: the next job has its turn, such as that of a retried event or a replay.
 */
import { monotonicMs } from '../../platform/clock.ts';
import { toError } from '../../platform/errors.ts';
import type { Log } from '../../platform/log.ts';
import { sleep } from '../../platform/sleep.ts';
import type { EventApplier } from './applyEvents.ts';

export interface ArrivalParts {
  readonly applier: Pick<EventApplier, 'applyFrom'>;
  readonly log: Log;
  /** Ends a rest, and the work on arrivals. */
  readonly closing: AbortSignal;
}

/** The most events in one transaction. */
const MAX_ARRIVALS = 1_000;
const ARRIVALS_FOR_MS = 1_000;
const QUIET_FOR_MS = 100;
/** Between two checks that find nothing. */
const QUIET_REST_MS = 8;
const MAX_REST_MS = 150;
/** The rest at a rate of one event in a millisecond. */
const REST_MS = 10;

/**
 * How long to wait before the next transaction. One of 50 events costs nearly as much as one of 250, so
 * at a high rate a fuller one is worth a wait: 2.5 ms at 500 events a second, 40 ms at 2,000.
 */
function restMs(applied: number, spanMs: number): number {
  // A full one has a successor already.
  if (applied >= MAX_ARRIVALS) return 0;
  if (applied === 0) return QUIET_REST_MS;
  const eventsPerMs = applied / spanMs;
  return Math.min(MAX_REST_MS, REST_MS * eventsPerMs * eventsPerMs);
}

export interface ArrivalsWanted {
  readonly fromId: number;
  /** No other job waits or runs: whoever ends now would be started again by the next event. */
  readonly isOnlyJob: boolean;
}

/**
 * Applies events from `fromId` on. A failure is logged, and leaves them to their jobs.
 * @param pause a sleep that the signal ends
 */
export async function applyArrivals(
  { applier, closing, log }: ArrivalParts,
  { fromId, isOnlyJob }: ArrivalsWanted,
  pause: typeof sleep = sleep,
): Promise<void> {
  const quietForMs = isOnlyJob ? QUIET_FOR_MS : 0;
  const startMs = monotonicMs();
  let checkedMs = startMs;
  let foundMs = startMs;
  let pauseMs = 0;
  try {
    while (checkedMs - startMs < ARRIVALS_FOR_MS) {
      await pause(pauseMs, closing);
      if (closing.aborted) return;
      const applied = await applier.applyFrom(fromId, MAX_ARRIVALS);
      const spanMs = monotonicMs() - checkedMs;
      checkedMs += spanMs;
      if (applied > 0) foundMs = checkedMs;
      else if (checkedMs - foundMs >= quietForMs) return;
      pauseMs = restMs(applied, spanMs);
    }
  } catch (error) {
    log.warn({ error: toError(error) }, 'events.arrivals_left_to_their_jobs');
  }
}

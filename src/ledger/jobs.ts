/**
 * The queue `events`: what its jobs carry, and how they are tried.
 *
 * 1. A *batch* job carries the ids of newly committed inbox rows and is applied whole.
 * 2. If the database is away the batch is retried whole. If its data fails, or its process died, it
 *    is split: each event becomes a *single* job.
 * 3. A single job counts its attempt in `pending` before it tries, so that an event that kills the
 *    process is counted too; an attempt that failed for what passes by itself is taken back. After
 *    the last attempt the event is dead.
 */

import type { Database } from '../platform/db/database.ts';
import { isTransient } from '../platform/db/failures.ts';
import { toError } from '../platform/errors.ts';
import type { Log } from '../platform/log.ts';
import type { NewJob, Producer, RunningJob } from '../platform/queue/index.ts';
import type { EventApplier } from './applyEvents.ts';
import { OrdersMoved } from './ordersMoved.ts';
import { countAttempt, deferAnnouncement, readTried, takeBackAttempt } from './store/pending.ts';

export const EVENTS_QUEUE = 'events';

export interface EventsJob {
  readonly ids: readonly number[];
}

const BATCH = 'batch';
const SINGLE = 'single';
const BACKOFF_MS = 1_000;
/** A batch is tried for some ten seconds; the sweep comes back to what is then still pending. */
const BATCH_ATTEMPTS = 5;
/**
 * Longer than all tries of a single job take, so that the sweep leaves it to them: the pauses between
 * them double from a second, and of the ten that a setting may allow the last comes in the ninth minute.
 */
const SINGLE_ANNOUNCE_AFTER_MS = 10 * 60_000;

export function batchJob(ids: readonly number[]): NewJob<EventsJob> {
  return { name: BATCH, data: { ids }, attempts: BATCH_ATTEMPTS, backoffMs: BACKOFF_MS };
}

function singleJob(id: number, maxAttempts: number): NewJob<EventsJob> {
  return { name: SINGLE, data: { ids: [id] }, attempts: maxAttempts, backoffMs: BACKOFF_MS };
}

export interface EventsHandlerParts {
  readonly db: Database;
  readonly applier: EventApplier;
  readonly producer: Producer<EventsJob>;
  readonly maxAttempts: number;
  readonly log: Log;
}

/** Why an event is dead of which no attempt came to an end. */
const CUT_SHORT =
  'in each attempt the process, or its connection to the database, ended while it was being applied';

/** What a worker of the queue `events` does with a job. */
export function createEventsHandler(
  parts: EventsHandlerParts,
): (job: RunningJob<EventsJob>) => Promise<void> {
  return async (job) => {
    if (job.name === SINGLE) {
      for (const id of job.data.ids) await trySingle(parts, id);
      return;
    }
    if (job.wasAbandoned) {
      parts.log.warn({ events: job.data.ids.length }, 'events.batch_abandoned_splitting');
      await split(parts, job.data.ids);
      return;
    }
    await tryBatch(parts, job.data.ids);
  };
}

async function tryBatch(parts: EventsHandlerParts, ids: readonly number[]): Promise<void> {
  try {
    const applied = await parts.applier.applyBatch(ids);
    if (applied < ids.length) await split(parts, await readTried(parts.db, ids));
  } catch (error) {
    if (ids.length === 0 || isRetryable(error)) throw error;
    parts.log.warn({ error: toError(error), events: ids.length }, 'events.batch_failed_splitting');
    await split(parts, ids);
  }
}

/** Makes a job of each event that still waits. */
async function split(parts: EventsHandlerParts, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  const waiting = await deferAnnouncement(parts.db, ids, SINGLE_ANNOUNCE_AFTER_MS);
  await parts.producer.add(waiting.map((id) => singleJob(id, parts.maxAttempts)));
}

async function trySingle(parts: EventsHandlerParts, id: number): Promise<void> {
  const { applier, db, log, maxAttempts } = parts;
  const attempt = await countAttempt(db, id, SINGLE_ANNOUNCE_AFTER_MS);
  if (attempt === undefined) return;
  if (attempt > maxAttempts) {
    const isDead = await applier.giveUp(id, attempt - 1, CUT_SHORT);
    if (isDead) log.error({ webhookEventId: id, attempts: attempt - 1 }, 'events.dead');
    return;
  }
  try {
    await applier.applyOne(id);
  } catch (error) {
    if (isRetryable(error)) {
      // Where the database is away this fails, too, and the attempt stays counted.
      await takeBackAttempt(db, id).catch(() => undefined);
      throw error;
    }
    if (attempt < maxAttempts) throw error;
    if (await applier.giveUp(id, attempt, toError(error).message)) {
      log.error({ error: toError(error), webhookEventId: id, attempts: attempt }, 'events.dead');
    }
  }
}

function isRetryable(error: unknown): boolean {
  return isTransient(error) || error instanceof OrdersMoved;
}

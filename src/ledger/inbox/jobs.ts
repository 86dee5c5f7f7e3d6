/**
 * The queue `events`: what its jobs carry, and how they are tried.
 *
 * 1. A *batch* job carries the ids of newly committed inbox rows and is applied whole.
 * 2. A batch that fails for a reason outside its data is retried whole. It is split, so that each
 *    event becomes a *single* job, if its data fails, if its process died, and after its last attempt
 *    if the reason may concern one of its events only, as a lock on one order does.
 * 3. A single job counts its attempt in `pending` before it tries, so that an event that kills the
 *    process is counted too; after the last attempt the event is dead. An attempt that failed for a
 *    reason outside the data is taken back, if need be once the database is reachable again.
 */

import type { Database } from '../../platform/db/database.ts';
import { CommitNotReplicated, isContended, isTransient } from '../../platform/db/failures.ts';
import { toError } from '../../platform/errors.ts';
import type { Log } from '../../platform/log.ts';
import type { NewJob, Producer, RunningJob } from '../../platform/queue/index.ts';
import { LockSetChanged } from '../lockSetChanged.ts';
import type { EventApplier } from './applyEvents.ts';
import { countAttempt, deferEnqueue, readTried, uncountAttempts } from './store/pending.ts';

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
const SINGLE_ENQUEUE_AFTER_MS = 10 * 60_000;

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

interface Handling extends EventsHandlerParts {
  /** Events whose last attempt is still to be taken back. */
  readonly owed: Set<number>;
}

/** What a worker of the queue `events` does with a job. */
export function createEventsHandler(
  given: EventsHandlerParts,
): (job: RunningJob<EventsJob>) => Promise<void> {
  const parts: Handling = { ...given, owed: new Set() };
  return async (job) => {
    await uncountPending(parts);
    if (job.name === SINGLE) {
      for (const id of job.data.ids) await trySingle(parts, id);
      return;
    }
    if (job.wasAbandoned) {
      parts.log.warn({ events: job.data.ids.length }, 'events.batch_abandoned_splitting');
      await split(parts, job.data.ids);
      return;
    }
    await tryBatch(parts, job);
  };
}

async function tryBatch(
  parts: Handling,
  { data: { ids }, isLastAttempt }: RunningJob<EventsJob>,
): Promise<void> {
  try {
    const applied = await parts.applier.applyBatch(ids);
    if (applied < ids.length) await split(parts, await readTried(parts.db, ids));
  } catch (error) {
    const isWorthSplitting = isLastAttempt && mayConcernOneEvent(error);
    if (ids.length === 0 || (isRetryable(error) && !isWorthSplitting)) throw error;
    parts.log.warn({ error: toError(error), events: ids.length }, 'events.batch_failed_splitting');
    await split(parts, ids);
  }
}

/** Makes a job of each event that still waits. */
async function split(parts: EventsHandlerParts, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  const waiting = await deferEnqueue(parts.db, ids, SINGLE_ENQUEUE_AFTER_MS);
  await parts.producer.add(waiting.map((id) => singleJob(id, parts.maxAttempts)));
}

async function trySingle(parts: Handling, id: number): Promise<void> {
  const { applier, log, maxAttempts } = parts;
  const attempt = await count(parts, id);
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
      parts.owed.add(id);
      // Where this fails, too, the next job does it first.
      await uncountPending(parts).catch(() => undefined);
      throw error;
    }
    if (attempt < maxAttempts) throw error;
    if (await applier.giveUp(id, attempt, toError(error).message)) {
      log.error({ error: toError(error), webhookEventId: id, attempts: attempt }, 'events.dead');
    }
  }
}

async function count({ db, owed }: Handling, id: number): Promise<number | undefined> {
  try {
    return await countAttempt(db, id, SINGLE_ENQUEUE_AFTER_MS);
  } catch (error) {
    // Counted, and then not tried.
    if (error instanceof CommitNotReplicated) owed.add(id);
    throw error;
  }
}

async function uncountPending({ db, owed }: Handling): Promise<void> {
  if (owed.size === 0) return;
  const ids = [...owed];
  await uncountAttempts(db, ids);
  for (const id of ids) owed.delete(id);
}

function isRetryable(error: unknown): boolean {
  return isTransient(error) || error instanceof LockSetChanged;
}

function mayConcernOneEvent(error: unknown): boolean {
  return isContended(error) || error instanceof LockSetChanged;
}

/**
 * The queue `events`: its jobs, and how they are retried.
 *
 * 1. A *batch* job carries the ids of newly committed inbox rows and is applied as a whole.
 * 2. A batch that fails for a reason outside its data is retried as a whole. It is split into a *single*
 *    job for each event if the reason is in the data, if its process died, or, after its last attempt,
 *    if the reason may concern only one event, such as a lock on one order.
 * 3. A single job counts its attempt in `pending` before it applies the event, so that an event that
 *    kills the process is counted, too. After the last attempt the event is dead. An attempt that failed
 *    for a reason outside the data is not counted; the count is corrected when the database is reachable.
 * 4. After a batch, the worker applies what arrives without waiting for its job (applyArrivals.ts). These events keep
 *    their jobs, which find nothing left, or find what a failure here left pending. A job that finds nothing left
 *    ends at once where other workers are at it, or where jobs wait behind it, such as that of a retried event.
 * 5. A job ends when none of its events is pending, but for those that got a job of their own and those that a
 *    process that hangs holds. What another worker holds is left to the end of the job, and then waited for: if
 *    the other one fails, it is applied here. If the others work for long, the batch is retried.
 */

import type { Database } from '../../platform/db/database.ts';
import { CommitNotReplicated, isContended, isTransient } from '../../platform/db/failures.ts';
import { toError } from '../../platform/errors.ts';
import type { Log } from '../../platform/log.ts';
import type { NewJob, Producer, RunningJob } from '../../platform/queue/index.ts';
import { QUEUES } from '../../platform/queue/names.ts';
import { MINUTE_MS } from '../../platform/time.ts';
import { LockSetChanged } from '../lockSetChanged.ts';
import { applyArrivals } from './applyArrivals.ts';
import type { EventApplier } from './applyEvents.ts';
import { countAttempt, deferEnqueue, readPending, uncountAttempts } from './store/pending.ts';

export const EVENTS_QUEUE = QUEUES.events;

export interface EventsJob {
  readonly ids: readonly number[];
}

const BATCH = 'batch';
const SINGLE = 'single';
const BACKOFF_MS = 1_000;
/** A batch is retried for about ten seconds. The sweep enqueues what is still pending after that. */
const BATCH_ATTEMPTS = 5;
/**
 * Longer than all attempts of a single job, so that the sweep does not interfere. The backoff doubles
 * from one second; the tenth attempt, the most that the setting allows, is in the ninth minute.
 */
const SINGLE_ENQUEUE_AFTER_MS = 10 * MINUTE_MS;

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
  /** Ends a rest, and the work on arrivals. */
  readonly closing: AbortSignal;
}

/** The reason for a dead event that was never applied to the end. */
const CUT_SHORT =
  'in each attempt, the process or its database connection ended while the event was being applied';

interface Handling extends EventsHandlerParts {
  /** Events with an attempt that must be uncounted. */
  readonly toUncount: Set<number>;
}

/** Creates the handler of jobs in the queue `events`. */
export function createEventsHandler(
  given: EventsHandlerParts,
): (job: RunningJob<EventsJob>) => Promise<void> {
  const parts: Handling = { ...given, toUncount: new Set() };
  return async (job) => {
    await uncountFailedAttempts(parts);
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
  if (ids.length === 0) return;
  try {
    const applied = await parts.applier.applyBatch(ids);
    const isOnly = await isOnlyJob(parts);
    if (applied > 0 || isOnly) {
      await applyArrivals(parts, { fromId: Math.min(...ids), isOnlyJob: isOnly });
    }
    if (applied < ids.length) await applyRest(parts, ids);
  } catch (error) {
    const isWorthSplitting = isLastAttempt && mayConcernOneEvent(error);
    if (isRetryable(error) && !isWorthSplitting) throw error;
    parts.log.warn({ error: toError(error), events: ids.length }, 'events.batch_failed_splitting');
    await split(parts, ids);
  }
}

/** Applies what another worker held, and enqueues a job for each event that was tried alone (invariant 5). */
async function applyRest(parts: Handling, ids: readonly number[]): Promise<void> {
  const rest = await readPending(parts.db, ids);
  await split(
    parts,
    rest.flatMap(({ id, isTried }) => (isTried ? id : [])),
  );
  const held = rest.flatMap(({ id, isTried }) => (isTried ? [] : id));
  if (held.length > 0) await parts.applier.applyHeld(held);
}

/** A queue that cannot be examined has no more jobs to give. */
async function isOnlyJob({ producer }: EventsHandlerParts): Promise<boolean> {
  try {
    const { waiting, active } = await producer.countJobs();
    return waiting === 0 && active <= 1;
  } catch {
    return true;
  }
}

/** Enqueues a job for each event that is still pending. */
async function split(parts: EventsHandlerParts, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  const pending = await deferEnqueue(parts.db, ids, SINGLE_ENQUEUE_AFTER_MS);
  await parts.producer.add(pending.map((id) => singleJob(id, parts.maxAttempts)));
}

async function trySingle(parts: Handling, id: number): Promise<void> {
  const { applier, log, maxAttempts } = parts;
  const attempt = await count(parts, id);
  if (attempt === undefined) return;
  if (attempt > maxAttempts) {
    const isDead = await applier.markDead(id, attempt - 1, CUT_SHORT);
    if (isDead) log.error({ webhookEventId: id, attempts: attempt - 1 }, 'events.dead');
    return;
  }
  try {
    await applier.applyOne(id);
  } catch (error) {
    if (isRetryable(error)) {
      parts.toUncount.add(id);
      // If this fails, too, the next job repeats it first.
      await uncountFailedAttempts(parts).catch(() => undefined);
      throw error;
    }
    if (attempt < maxAttempts) throw error;
    if (await applier.markDead(id, attempt, toError(error).message)) {
      log.error({ error: toError(error), webhookEventId: id, attempts: attempt }, 'events.dead');
    }
  }
}

async function count({ db, toUncount }: Handling, id: number): Promise<number | undefined> {
  try {
    return await countAttempt(db, id, SINGLE_ENQUEUE_AFTER_MS);
  } catch (error) {
    // The attempt was counted, but will not be made.
    if (error instanceof CommitNotReplicated) toUncount.add(id);
    throw error;
  }
}

async function uncountFailedAttempts({ db, toUncount }: Handling): Promise<void> {
  if (toUncount.size === 0) return;
  const ids = [...toUncount];
  await uncountAttempts(db, ids);
  for (const id of ids) toUncount.delete(id);
}

function isRetryable(error: unknown): boolean {
  return isTransient(error) || error instanceof LockSetChanged;
}

function mayConcernOneEvent(error: unknown): boolean {
  return isContended(error) || error instanceof LockSetChanged;
}

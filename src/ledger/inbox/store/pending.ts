/** Statements on what is still to be applied. */
import type { Queryable } from '../../../platform/db/database.ts';

/**
 * The time by which the body of the event `e` is judged, in microseconds since 1970: of its last replay,
 * or of its receipt where it was never replayed.
 */
export const REFERENCE_MICROS = `(extract(epoch from coalesce(
    (select r.replayed_at from event_replays r where r.webhook_event_id = e.id), e.received_at))
  * 1000000)::bigint`;

export interface ClaimedEvent {
  readonly id: number;
  readonly eventId: string | null;
  readonly merchantId: string | null;
  readonly body: Buffer;
  readonly receivedMicros: number;
  readonly referenceMicros: number;
  readonly hasVariants: boolean;
}

const CLAIMED_COLUMNS = `
  e.id, e.event_id as "eventId", e.merchant_id as "merchantId", e.body,
  (extract(epoch from e.received_at) * 1000000)::bigint as "receivedMicros",
  ${REFERENCE_MICROS} as "referenceMicros",
  exists (select from event_variants v where v.webhook_event_id = e.id) as "hasVariants"`;

/**
 * Takes events that were never tried alone out of `pending` and returns them. Rows that another
 * transaction holds are left to it; if it fails they are still there. Locks the rows taken.
 */
export function claimUntried(
  tx: Queryable,
  ids: readonly number[],
): Promise<readonly ClaimedEvent[]> {
  return tx.query<ClaimedEvent>(
    `with taken as (
       delete from pending
        where webhook_event_id in (
                select webhook_event_id from pending
                 where webhook_event_id = any ($1::bigint[]) and attempts = 0
                 order by webhook_event_id
                   for update skip locked)
       returning webhook_event_id
     )
     select ${CLAIMED_COLUMNS}
       from taken
       join webhook_events e on e.id = taken.webhook_event_id
      order by e.id`,
    [ids],
  );
}

/** Takes one event out of `pending`, however often it was tried. Waits for whoever holds it. */
export async function claimOne(tx: Queryable, id: number): Promise<ClaimedEvent | undefined> {
  const rows = await tx.query<ClaimedEvent>(
    `with taken as (
       delete from pending where webhook_event_id = $1 returning webhook_event_id
     )
     select ${CLAIMED_COLUMNS}
       from taken
       join webhook_events e on e.id = taken.webhook_event_id`,
    [id],
  );
  return rows[0];
}

/**
 * Counts an attempt before it is made, so that an event that kills the process is counted too.
 * @returns the number of this attempt, or undefined when the event no longer waits
 */
export async function countAttempt(
  db: Queryable,
  id: number,
  enqueueAfterMs: number,
): Promise<number | undefined> {
  const rows = await db.query<{ attempts: number }>(
    `update pending
        set attempts = attempts + 1,
            enqueue_at = now() + $2 * interval '1 millisecond'
      where webhook_event_id = $1
      returning attempts`,
    [id, enqueueAfterMs],
  );
  return rows[0]?.attempts;
}

/** Takes back one attempt of each event, which says nothing about it. */
export async function uncountAttempts(db: Queryable, ids: readonly number[]): Promise<void> {
  await db.query(
    `update pending set attempts = attempts - 1
      where webhook_event_id = any ($1::bigint[]) and attempts > 0`,
    [ids],
  );
}

/** Of `ids`, those that still wait. Their next enqueue is postponed, since they are enqueued now. */
export async function deferEnqueue(
  db: Queryable,
  ids: readonly number[],
  enqueueAfterMs: number,
): Promise<readonly number[]> {
  const rows = await db.query<{ id: number }>(
    `update pending
        set enqueue_at = now() + $2 * interval '1 millisecond'
      where webhook_event_id = any ($1::bigint[])
      returning webhook_event_id as id`,
    [ids, enqueueAfterMs],
  );
  return rows.map(({ id }) => id);
}

/**
 * Until when a sweep takes what is due. Read once a sweep, from the clock that stamps the rows: by
 * the process's own clock it could meet again what it has stamped.
 */
export async function readDueBefore(db: Queryable, withinMs: number): Promise<Date> {
  const [row] = await db.query<{ dueBefore: Date }>(
    `select now() + $1 * interval '1 millisecond' as "dueBefore"`,
    [withinMs],
  );
  if (!row) throw new Error('a query that always has one row returned none');
  return row.dueBefore;
}

export interface OverdueRequest {
  readonly dueBefore: Date;
  /** Only events with a greater number; 0 begins with the first. */
  readonly afterId: number;
  readonly limit: number;
  readonly enqueueAfterMs: number;
}

/**
 * Claims events whose enqueue time is before `dueBefore`, in order of their ids. The claim moves that
 * time, so that only one of several sweeps enqueues an event. Rows that are being applied are skipped.
 */
export async function claimOverdue(
  db: Queryable,
  request: OverdueRequest,
): Promise<readonly number[]> {
  const rows = await db.query<{ id: number }>(
    `update pending
        set enqueue_at = now() + $3 * interval '1 millisecond'
      where webhook_event_id in (
              select webhook_event_id from pending
               where enqueue_at < $1 and webhook_event_id > $4
               order by webhook_event_id
               limit $2
                 for update skip locked)
      returning webhook_event_id as id`,
    [request.dueBefore.toISOString(), request.limit, request.enqueueAfterMs, request.afterId],
  );
  return rows.map(({ id }) => id).sort((a, b) => a - b);
}

/** Of `ids`, those that were tried alone before and still wait. */
export async function readTried(db: Queryable, ids: readonly number[]): Promise<readonly number[]> {
  const rows = await db.query<{ id: number }>(
    `select webhook_event_id as id from pending
      where webhook_event_id = any ($1::bigint[]) and attempts > 0
      limit $2`,
    [ids, ids.length],
  );
  return rows.map(({ id }) => id);
}

/**
 * Moves an event from `pending` to the dead, with what went wrong. Waits for whoever applies it.
 * @returns whether it is dead now; false when it no longer waited
 */
export async function moveToDead(
  tx: Queryable,
  id: number,
  attempts: number,
  error: string,
): Promise<boolean> {
  const rows = await tx.query<{ id: number }>(
    `with gone as (delete from pending where webhook_event_id = $1 returning webhook_event_id)
     insert into dead_events (webhook_event_id, attempts, error)
     select webhook_event_id, $2, $3 from gone
     on conflict (webhook_event_id)
     do update set attempts = excluded.attempts, error = excluded.error, died_at = now()
     returning webhook_event_id as id`,
    [id, attempts, error],
  );
  return rows.length > 0;
}

/** Takes events off the dead. @returns those that were dead */
export async function removeFromDead(
  tx: Queryable,
  ids: readonly number[],
): Promise<readonly number[]> {
  const rows = await tx.query<{ id: number }>(
    `delete from dead_events where webhook_event_id = any ($1::bigint[])
     returning webhook_event_id as id`,
    [ids],
  );
  return rows.map(({ id }) => id);
}

/** Notes that an event is replayed: its body is judged by this time from now on. */
export async function recordReplay(tx: Queryable, id: number): Promise<void> {
  await tx.query(
    `insert into event_replays (webhook_event_id) values ($1)
     on conflict (webhook_event_id) do update set replayed_at = statement_timestamp()`,
    [id],
  );
}

/**
 * Puts an event back to be applied, whether it is dead or was applied before.
 * @returns whether it is there to be applied; false when it waits already
 */
export async function returnToPending(tx: Queryable, id: number): Promise<boolean> {
  const rows = await tx.query<{ id: number }>(
    `with risen as (delete from dead_events where webhook_event_id = $1)
     insert into pending (webhook_event_id, enqueue_at)
     values ($1, now())
     on conflict do nothing
     returning webhook_event_id as id`,
    [id],
  );
  return rows.length > 0;
}

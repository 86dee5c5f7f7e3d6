/** Statements on pending and dead events. */
import type { Database, Queryable } from '../../../platform/db/database.ts';
import { oneRow } from '../../../platform/db/oneRow.ts';
import { LANES } from '../../../platform/lanes.ts';
import type { InboxEvent } from '../../domain/event.ts';

/** An event without its body, and the day under which its body is stored. */
export interface InboxHeader extends Omit<InboxEvent, 'body'> {
  readonly bodyDay: string | null;
}

/** What stays the same of an event. */
export type ClaimedHeader = Omit<InboxHeader, 'hasVariants' | 'referenceMicros'>;

const HEADER_COLUMNS = `
  e.id, e.event_id as "eventId", e.merchant_id as "merchantId",
  e.body_day::text as "bodyDay",
  (extract(epoch from e.received_at) * 1000000)::bigint as "receivedMicros"`;

/** The columns of the event `e` that reading it needs; its time of reference is its last replay. */
export const EVENT_COLUMNS = `${HEADER_COLUMNS},
  (extract(epoch from coalesce(
    (select r.replayed_at from event_replays r where r.webhook_event_id = e.id), e.received_at))
   * 1000000)::bigint as "referenceMicros"`;

const CLAIMED_COLUMNS = `${HEADER_COLUMNS},
  -- The first condition is evaluated once: while nothing was removed, no digest is computed. The limit
  -- keeps the planner from reading all digests into a hash table.
  (exists (select from removed_events)
   and coalesce((select true from removed_events r
                  where r.digest = event_digest(e.event_id, e.body_sha256) limit 1), false))
    as "isRepeated"`;

/** Reads the events that the statement deleted from `pending` as `claimed`, oldest first. */
const CLAIMED_EVENTS = `
  select ${CLAIMED_COLUMNS}
    from claimed
    join webhook_events e on e.id = claimed.webhook_event_id
   order by e.id`;

/** What arrived about an event after it was stored. */
export interface Additions {
  readonly id: number;
  readonly hasVariants: boolean;
  /** Its last replay; null if there was none. */
  readonly replayedMicros: number | null;
}

/**
 * Reads what was added to claimed events; those without additions are missing from the result. After the claim
 * and not in its statement: a claim also gets rows that changed since its statement began, and would not see
 * the body or the replay that changed them.
 *
 * `exists (select …)` beside the columns would do, but where the planner saw few other bodies, it reads all of
 * them into a hash table for each claim. Nothing is read beyond a limit.
 */
export function readAdditions(
  tx: Queryable,
  ids: readonly number[],
): Promise<readonly Additions[]> {
  return tx.query<Additions>(
    `select c.id, v.webhook_event_id is not null as "hasVariants",
            (extract(epoch from r.replayed_at) * 1000000)::bigint as "replayedMicros"
       from (select unnest($1::bigint[]) as id) c
       left join lateral (select replayed_at from event_replays
                           where webhook_event_id = c.id limit 1) r on true
       left join lateral (select webhook_event_id from event_variants
                           where webhook_event_id = c.id limit 1) v on true
      where v.webhook_event_id is not null or r.replayed_at is not null
      limit $2`,
    [ids, ids.length],
  );
}

/** Of more bodies under one id, the newest are read. */
const MAX_OTHER_BODIES = 1_000;

/** Another body that arrived under the id of an event: the event, its hash in hexadecimal, and its length. */
export interface OtherBody {
  readonly id: number;
  readonly sha256: string;
  readonly bytes: number;
}

/** Other bodies that arrived under the ids of events; those that were removed or erased are left out. */
export function findOtherBodies(
  tx: Queryable,
  ids: readonly number[],
): Promise<readonly OtherBody[]> {
  return tx.query<OtherBody>(
    `select c.id, encode(v.body_sha256, 'hex') as sha256, v.bytes
       from (select unnest($1::bigint[]) as id) c
      cross join lateral (
        select body_sha256, octet_length(body) as bytes from event_variants
         where webhook_event_id = c.id and body is not null
         order by received_at desc, body_sha256
         limit ${MAX_OTHER_BODIES}) v`,
    [ids],
  );
}

export function readOtherBodies(
  tx: Queryable,
  page: readonly OtherBody[],
): Promise<readonly { readonly id: number; readonly body: Buffer }[]> {
  return tx.query(
    `select c.id, v.body
       from (select unnest($1::bigint[]) as id, unnest($2::text[]) as sha256) c
      cross join lateral (
        select body from event_variants
         where webhook_event_id = c.id and body_sha256 = decode(c.sha256, 'hex') and body is not null
         limit 1) v`,
    [page.map(({ id }) => id), page.map(({ sha256 }) => sha256)],
  );
}

/**
 * The lock of a lane is held until the transaction ends. Two transactions on events of one payment would make
 * each other wait and repeat their work (docs/decisions/0164-lanes.md); correctness does not depend on it.
 */
const LANES_KEY = `hashtext('tallyhook events')`;
const LANE_LOCK = `${LANES_KEY}, lane`;
/** Which lanes are claimed: those that no other transaction holds, or any, without a lock of theirs. */
export type Lanes = 'free' | 'any';
const ARE_CLAIMED: Readonly<Record<Lanes, string>> = {
  free: `and pg_try_advisory_xact_lock(${LANE_LOCK})`,
  any: '',
};

/**
 * Claims events that were never tried alone, by deleting them from `pending`. Skips rows that another
 * transaction holds; if that transaction fails, they are still pending.
 *
 * The rows are chosen in an array, which is made once. `in (select …)` is a join, and where the planner saw an
 * empty `pending`, which is its usual state, it chooses the rows again for each row of the table.
 */
export function claimUntried(
  tx: Queryable,
  ids: readonly number[],
  lanes: Lanes,
): Promise<readonly ClaimedHeader[]> {
  return tx.query<ClaimedHeader>(
    `with claimed as (
       delete from pending
        where webhook_event_id = any (array(
                select webhook_event_id from pending
                 where webhook_event_id = any ($1::bigint[]) and attempts = 0 ${ARE_CLAIMED[lanes]}
                 order by webhook_event_id
                   for update skip locked))
       returning webhook_event_id
     )${CLAIMED_EVENTS}`,
    [ids],
  );
}

/**
 * Waits until no other transaction holds the lanes of these events, and holds them. Before any other lock of
 * the transaction, and in their order, so that two cannot wait for each other.
 */
export async function lockLanes(tx: Queryable, ids: readonly number[]): Promise<void> {
  await tx.query(
    `select pg_advisory_xact_lock(${LANE_LOCK})
       from (select distinct lane from pending
              where webhook_event_id = any ($1::bigint[]) and attempts = 0
              order by lane limit $2) l`,
    [ids, LANES],
  );
}

/** A connection with an open transaction, as `pg_stat_activity` shows it. */
export interface IdleHolder {
  readonly pid: number;
  readonly applicationName: string;
  readonly address: string | null;
  readonly idleSeconds: number;
}

/**
 * Finds a transaction that holds lanes while its server process has waited for its client for a time. Those of
 * other database users are not found, unless the user may read their activity.
 */
export async function findIdleHolder(
  db: Queryable,
  idleForMs: number,
): Promise<IdleHolder | undefined> {
  const rows = await db.query<IdleHolder>(
    `select a.pid, a.application_name as "applicationName", host(a.client_addr) as address,
            extract(epoch from now() - a.state_change)::integer as "idleSeconds"
       from pg_locks l
       join pg_stat_activity a on a.pid = l.pid
      where l.locktype = 'advisory' and l.granted and a.datname = current_database()
        and l.classid::bigint = ${LANES_KEY}::bigint & 4294967295
        and l.objsubid = 2  -- a lock by two numbers
        and a.wait_event_type = 'Client'
        and a.state_change < now() - $1 * interval '1 millisecond'
      limit 1`,
    [idleForMs],
  );
  return rows[0];
}

/** Whether there is an event from `fromId` on that was never tried alone. Most often there is none. */
export async function hasUntriedFrom(db: Database, fromId: number): Promise<boolean> {
  const found = await db.prepared<{ readonly id: number }>(
    `select webhook_event_id as id from pending
      where webhook_event_id >= $1 and attempts = 0
      order by webhook_event_id limit 1`,
    [fromId],
  );
  return found.length > 0;
}

/**
 * Claims events from `fromId` on that were never tried alone, oldest first. Skips rows that another
 * transaction holds. The caller begins at recent events: the index entries of older ones that were
 * deleted are read until vacuum removes them.
 */
export function claimUntriedFrom(
  tx: Queryable,
  { fromId, limit, lanes }: { fromId: number; limit: number; lanes: Lanes },
): Promise<readonly ClaimedHeader[]> {
  return tx.query<ClaimedHeader>(
    `with claimed as (
       delete from pending
        where webhook_event_id = any (array(
                select webhook_event_id from pending
                 where webhook_event_id >= $1 and attempts = 0 ${ARE_CLAIMED[lanes]}
                 order by webhook_event_id
                 limit $2
                   for update skip locked))
       returning webhook_event_id
     )${CLAIMED_EVENTS}`,
    [fromId, limit],
  );
}

/** Claims one event, regardless of its attempts. Waits for a transaction that holds it. */
export async function claimOne(tx: Queryable, id: number): Promise<ClaimedHeader | undefined> {
  const rows = await tx.query<ClaimedHeader>(
    `with claimed as (
       delete from pending where webhook_event_id = $1 returning webhook_event_id
     )${CLAIMED_EVENTS}`,
    [id],
  );
  return rows[0];
}

/**
 * Counts an attempt before it is made, so that an event that kills the process is counted, too.
 * @returns the number of this attempt, or undefined if the event is no longer pending
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

/** Subtracts one attempt of each event, because it failed for a reason outside the event. */
export async function uncountAttempts(db: Queryable, ids: readonly number[]): Promise<void> {
  await db.query(
    `update pending set attempts = attempts - 1
      where webhook_event_id in (
              select webhook_event_id from pending
               where webhook_event_id = any ($1::bigint[]) and attempts > 0
               order by webhook_event_id
                 for update)`,
    [ids],
  );
}

/** Postpones the enqueue time of events that the caller enqueues. @returns those still pending */
export async function deferEnqueue(
  db: Queryable,
  ids: readonly number[],
  enqueueAfterMs: number,
): Promise<readonly number[]> {
  const rows = await db.query<{ id: number }>(
    `update pending
        set enqueue_at = now() + $2 * interval '1 millisecond'
      where webhook_event_id in (
              select webhook_event_id from pending
               where webhook_event_id = any ($1::bigint[])
               order by webhook_event_id
                 for update)
      returning webhook_event_id as id`,
    [ids, enqueueAfterMs],
  );
  return rows.map(({ id }) => id).sort((a, b) => a - b);
}

/**
 * The enqueue time before which a sweep claims events. It is read once per sweep, from the database's
 * clock: with the clock of the process, a sweep could claim the same rows twice.
 */
export async function readDueBefore(db: Queryable, withinMs: number): Promise<Date> {
  const rows = await db.query<{ dueBefore: Date }>(
    `select now() + $1 * interval '1 millisecond' as "dueBefore"`,
    [withinMs],
  );
  return oneRow(rows).dueBefore;
}

export interface OverdueRequest {
  readonly dueBefore: Date;
  /** Only events with a greater number; 0 begins with the first. */
  readonly afterId: number;
  readonly limit: number;
  readonly enqueueAfterMs: number;
}

/**
 * Claims events that have an enqueue time before `dueBefore`, in order of their ids. The claim moves that
 * time, so that only one of several sweeps enqueues an event. Rows that are being applied are skipped.
 */
export async function claimOverdue(
  db: Queryable,
  request: OverdueRequest,
): Promise<readonly number[]> {
  const rows = await db.query<{ id: number }>(
    `update pending
        set enqueue_at = now() + $3 * interval '1 millisecond'
      where webhook_event_id = any (array(
              select webhook_event_id from pending
               where enqueue_at < $1 and webhook_event_id > $4
               order by webhook_event_id
               limit $2
                 for update skip locked))
      returning webhook_event_id as id`,
    [request.dueBefore.toISOString(), request.limit, request.enqueueAfterMs, request.afterId],
  );
  return rows.map(({ id }) => id).sort((a, b) => a - b);
}

/** Those of `ids` that are still pending, and whether each was tried alone before. */
export function readPending(
  db: Queryable,
  ids: readonly number[],
): Promise<readonly { readonly id: number; readonly isTried: boolean }[]> {
  return db.query(
    `select webhook_event_id as id, attempts > 0 as "isTried" from pending
      where webhook_event_id = any ($1::bigint[])
      limit $2`,
    [ids, ids.length],
  );
}

/**
 * Moves an event from `pending` to `dead_events`, with the error. Waits for a transaction that applies it.
 * @returns false if it is no longer pending
 */
export async function moveToDead(
  tx: Queryable,
  id: number,
  attempts: number,
  error: string,
): Promise<boolean> {
  const rows = await tx.query<{ id: number }>(
    `with moved as (delete from pending where webhook_event_id = $1 returning webhook_event_id)
     insert into dead_events (webhook_event_id, attempts, error)
     select webhook_event_id, $2, $3 from moved
     on conflict (webhook_event_id)
     do update set attempts = excluded.attempts, error = excluded.error, died_at = now(),
                   discarded_at = null, discarded_by = null, discarded_reason = null
     returning webhook_event_id as id`,
    [id, attempts, error],
  );
  return rows.length > 0;
}

/** @returns false if the event is not dead, or was discarded before */
export async function markDiscarded(
  tx: Queryable,
  id: number,
  { by, reason }: { readonly by: string; readonly reason: string },
): Promise<boolean> {
  const rows = await tx.query(
    `update dead_events
        set discarded_at = statement_timestamp(), discarded_by = $2, discarded_reason = $3
      where webhook_event_id = $1 and discarded_at is null
      returning webhook_event_id`,
    [id, by, reason],
  );
  return rows.length > 0;
}

/** Removes events from `dead_events`. @returns those that were dead */
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

/** Records the replay of events: its time is the new reference time for their versions. */
export async function recordReplays(tx: Queryable, ids: readonly number[]): Promise<void> {
  await tx.query(
    `insert into event_replays (webhook_event_id)
     select distinct id from unnest($1::bigint[]) as u (id) order by id
     on conflict (webhook_event_id) do update set replayed_at = statement_timestamp()`,
    [ids],
  );
}

/**
 * Makes events pending again, whether they are dead or applied. Those that are pending stay so, and are not
 * claimed until this transaction ends: a claim before it would not see why they are to be applied again.
 */
export async function returnToPending(tx: Queryable, ids: readonly number[]): Promise<void> {
  await tx.query(
    `with revived as (delete from dead_events where webhook_event_id = any ($1::bigint[]))
     insert into pending (webhook_event_id, enqueue_at, lane)
     select distinct id, now(), id % ${LANES} from unnest($1::bigint[]) as u (id) order by id
     on conflict (webhook_event_id) do update set enqueue_at = pending.enqueue_at`,
    [ids],
  );
}

/** Statements on the change feed; docs/decisions/0008-change-feed.md explains the two tables. */
import { tryLockByName } from '../../platform/db/advisoryLocks.ts';
import type { Queryable } from '../../platform/db/database.ts';
import {
  COUNTED_ROWS,
  type MeasuredRows,
  NO_ROWS,
  type ScannedRow,
  type ScanRequest,
} from '../../platform/db/scannedRows.ts';
import type { NumberedChange, RecordedChange } from '../domain/changes.ts';
import type { FeedEpoch } from '../domain/feedEpochs.ts';

/** Records changes, in the transaction that makes them. */
export async function insertChanges(
  tx: Queryable,
  changes: readonly RecordedChange[],
): Promise<void> {
  await tx.query(
    `insert into change_log (kind, subject, change, status, previous_status, webhook_event_id, is_history)
     select kind, subject, change, status, previous, event, history
       from (select unnest($1::text[]) as kind, unnest($2::text[]) as subject,
                    unnest($3::text[]) as change, unnest($4::text[]) as status,
                    unnest($5::text[]) as previous, unnest($6::bigint[]) as event,
                    unnest($7::boolean[]) as history) u`,
    [
      changes.map(({ kind }) => kind),
      changes.map(({ subject }) => subject),
      changes.map(({ change }) => change),
      changes.map(({ status }) => status),
      changes.map(({ previousStatus }) => previousStatus),
      changes.map(({ webhookEventId }) => webhookEventId ?? null),
      changes.map(({ isHistory }) => isHistory),
    ],
  );
}

/** Records that the shop registered an expectation for an order. */
export async function insertRegistered(tx: Queryable, orderKey: string): Promise<void> {
  await tx.query(
    `insert into change_log (kind, subject, change) values ('order', $1, 'registered')`,
    [orderKey],
  );
}

/**
 * Takes the publisher's lock until the transaction ends. PostgreSQL releases it after the commit is
 * visible, so the next publisher sees every assigned number.
 * @returns false if another publisher holds it
 */
export function tryLockFeed(tx: Queryable): Promise<boolean> {
  return tryLockByName(tx, 'tallyhook change feed');
}

/**
 * Numbers up to `limit` committed changes, oldest first. The caller took the publisher's lock in an
 * earlier statement: this statement must not see the feed as it was before the lock. On a server with
 * another history than the last publisher's, or that started after the last epoch began, it begins an epoch
 * (domain/feedEpochs.ts): a copy of the files of a server has its timeline. `began_at` is at least the start of
 * the server, also where its clock was set back since, so that a start begins one epoch.
 *
 * A dump that is restored into a server that goes on has the server's timeline and start, and not the object ids of
 * the database and the table. The epoch that a migration began has none; the first publisher adds them.
 * @returns the number of changes
 */
export async function publishChanges(tx: Queryable, limit: number): Promise<number> {
  const rows = await tx.query<{ published: number }>(
    `with latest as (
       select first_number, inbox_after, timeline, system_identifier, objects, began_at
         from feed_epochs order by first_number desc limit 1
     ), server as (
       select database_timeline() as timeline, database_system() as system_identifier,
              database_objects() as objects, pg_postmaster_start_time() as started_at
     ), begun as (
       insert into feed_epochs (first_number, continues_after, inbox_after, timeline, system_identifier,
                                objects, began_at)
       select greatest(extract(epoch from statement_timestamp())::bigint * 1000000,
                       last.number + 1, l.first_number + 1),
              last.number,
              greatest((select max(webhook_event_id)
                          from (select webhook_event_id from changes
                                 order by number desc limit 1000) newest), l.inbox_after),
              s.timeline, s.system_identifier, s.objects, greatest(statement_timestamp(), s.started_at)
         from latest l
        cross join server s
        cross join (select coalesce(max(number), 0) as number from changes) last
        where coalesce(s.timeline <> l.timeline, false)
           or coalesce(s.system_identifier <> l.system_identifier, false)
           or coalesce(s.objects <> l.objects, false)
           or s.started_at > l.began_at
       returning first_number
     ), completed as (
       update feed_epochs e
          set objects = s.objects
         from latest l
        cross join server s
        where e.first_number = l.first_number and l.objects is null
          and not exists (select from begun)
     ), taken as (
       delete from change_log
        where id = any (array(select id from change_log order by id limit $1))
       returning id, kind, subject, change, status, previous_status, webhook_event_id, changed_at,
                is_history
     ), known as (
       update order_expectations e
          set is_awaited = false
         from taken t
        where t.kind = 'order' and t.change <> 'registered'
          and e.order_key = t.subject and e.replaced_at is null and e.is_awaited
     ), published as (
       insert into changes (number, kind, id, order_key, change, status, previous_status,
                            webhook_event_id, changed_at, is_history)
       select last.number + row_number() over (order by t.id), t.kind,
              case when t.kind = 'order' then substring(t.subject from position(':' in t.subject) + 1)
                   else t.subject end,
              case when t.kind = 'order' then t.subject end,
              t.change, t.status, t.previous_status, t.webhook_event_id, t.changed_at,
              t.is_history
         from taken t
        cross join (
          select greatest((select max(number) from changes),
                          (select first_number - 1 from latest),
                          (select first_number - 1 from begun)) as number) last
       returning number
     )
     select count(*) as published from published`,
    [limit],
  );
  return rows[0]?.published ?? 0;
}

/**
 * Whether there are changes with a number after `after`, and the greatest id above `seenId` of those
 * without one. Rows up to `seenId` are not read: while a transaction elsewhere keeps vacuum from removing
 * them, those that got their numbers lie there by the million.
 */
export async function readNews(
  db: Queryable,
  { after, seenId }: { readonly after: number; readonly seenId: number },
): Promise<{ readonly isNumbered: boolean; readonly newestId: number | null }> {
  const [row] = await db.query<{ isNumbered: boolean; newestId: number | null }>(
    `select exists (select from changes where number > $1) as "isNumbered",
            (select max(id) from change_log where id > $2) as "newestId"`,
    [after, seenId],
  );
  return row ?? { isNumbered: false, newestId: null };
}

/**
 * Changes after a number, in order, and the epochs that begin after it, by one server at one time. Of the epochs, which
 * may be thousands, those that decide about the position (domain/feedEpochs.ts).
 */
export async function readChanges(
  db: Queryable,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<{
  readonly changes: readonly NumberedChange[];
  readonly laterEpochs: readonly FeedEpoch[];
}> {
  const rows = await db.query<NumberedChange & { readonly laterEpochs: readonly FeedEpoch[] }>(
    `select later.epochs as "laterEpochs", number, kind, id, order_key as "orderKey", change, status,
            previous_status as "previousStatus", webhook_event_id as "webhookEventId",
            changed_at as "changedAt", is_history as "isHistory"
       from (select coalesce(json_agg(json_build_object('firstNumber', first_number,
                                                        'continuesAfter', continues_after)), '[]')
                    as epochs
               from (select min(continues_after) over () as least,
                            max(first_number) over (partition by continues_after) as greatest,
                            first_number, continues_after
                       from feed_epochs where first_number > $1) e
              where first_number = greatest and continues_after in (least, $1)) later
       left join lateral (select * from changes where number > $1 order by number limit $2) c on true
      order by number
      limit $2`,
    [after, limit],
  );
  const changes = rows.filter(({ number }) => number !== null);
  return {
    changes: changes.map(({ laterEpochs: _, ...change }) => change),
    laterEpochs: rows[0]?.laterEpochs ?? [],
  };
}

/** More than an installation has failovers and starts of its database. */
const MAX_EPOCHS = 10_000;

/** The epochs of the feed, by first number. */
export function readEpochs(db: Queryable): Promise<readonly FeedEpoch[]> {
  return db.query<FeedEpoch>(
    `select first_number as "firstNumber", continues_after as "continuesAfter"
       from (select first_number, continues_after from feed_epochs
              order by first_number desc limit $1) newest
      order by first_number`,
    [MAX_EPOCHS],
  );
}

/**
 * The number of the last change of each order, by key. An order with a committed change that has no
 * number yet is left out.
 */
export async function readLastNumbersOf(
  db: Queryable,
  orderKeys: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await db.query<{ orderKey: string; number: number }>(
    `select wanted.order_key as "orderKey", last.number
       from unnest($1::text[]) as wanted (order_key)
      cross join lateral (
        select number from changes
         where order_key = wanted.order_key
         order by number desc
         limit 1) as last
      where not exists (
        select from change_log l where l.kind = 'order' and l.subject = wanted.order_key)
      limit $2`,
    [orderKeys, orderKeys.length],
  );
  return new Map(rows.map(({ orderKey, number }) => [orderKey, number]));
}

/**
 * Those of the orders that have a change which is not imported history, numbered or not. What the shop registered
 * itself is none.
 */
export async function readWithNews(
  tx: Queryable,
  orderKeys: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await tx.query<{ orderKey: string }>(
    `select order_key as "orderKey" from changes
      where order_key = any ($1::text[]) and not is_history and change <> 'registered'
      union
     select subject from change_log
      where kind = 'order' and subject = any ($1::text[]) and not is_history
        and change <> 'registered'
      limit $2`,
    [orderKeys, orderKeys.length],
  );
  return new Set(rows.map(({ orderKey }) => orderKey));
}

/** The greatest number so far; 0 if there is none. */
export async function readLastNumber(db: Queryable): Promise<number> {
  const rows = await db.query<{ last: number }>(
    'select coalesce(max(number), 0) as last from changes',
  );
  return rows[0]?.last ?? 0;
}

/**
 * The next changes by number. Only those before the first that is too new are removable, so that the
 * feed has no gap; the newest one stays, because numbers continue after it.
 */
const NEXT_CHANGES = `
  select key, is_past as "isPast",
         is_past and key < (select max(number) from changes) as "isRemovable"
    from (select key,
                 key < coalesce(min(key) filter (where is_new) over (), 9223372036854775807) as is_past
            from (select number as key, changed_at >= $1 as is_new
                    from changes
                   where number > $2 order by number limit $3) next) n`;

export async function scanOldChanges(
  db: Queryable,
  { before, after, limit }: ScanRequest,
): Promise<readonly ScannedRow[]> {
  return await db.query<ScannedRow>(`${NEXT_CHANGES} order by key`, [before, after, limit]);
}

/** Removes changes up to a number, except those that order webhooks have not processed. */
export async function removeChanges(tx: Queryable, through: number): Promise<number> {
  const [row] = await tx.query<{ removed: number }>(`select remove_changes($1) as removed`, [
    through,
  ]);
  return row?.removed ?? 0;
}

/** The removable ones are counted among the oldest. */
export async function measureChanges(db: Queryable, before: Date): Promise<MeasuredRows> {
  const [row] = await db.query<MeasuredRows>(
    `select (select count(*) from (select from changes limit $3) c) as rows,
            (select changed_at from changes order by number limit 1) as oldest,
            (select count(*) from (${NEXT_CHANGES}) c where "isRemovable") as removable`,
    [before, 0, COUNTED_ROWS],
  );
  return row ?? NO_ROWS;
}

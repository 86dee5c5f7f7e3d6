/** Statements that read the inbox in the order of its numbers, as it grows. */
import type { Queryable } from '../../../platform/db/database.ts';
import { EVENT_SELECT, type EventSummary } from './parts.ts';

export interface InboxEnd {
  /** The greatest number of a committed event; 0 if there is none. */
  readonly newest: number;
  /** The epoch of the change feed, which differs after a failover. */
  readonly epoch: number;
  /** A number through which the epoch has the events of the one before. */
  readonly inboxAfter: number;
}

export async function readInboxEnd(db: Queryable): Promise<InboxEnd> {
  const [row] = await db.query<InboxEnd>(
    `select (select coalesce(max(id), 0) from webhook_events) as newest,
            first_number as epoch, inbox_after as "inboxAfter"
       from feed_epochs order by first_number desc limit 1`,
  );
  return row ?? { newest: 0, epoch: 0, inboxAfter: 0 };
}

/**
 * The transactions that write to the inbox now. Each has its lock on the table before it is assigned a
 * number, and releases it after its rows are visible.
 */
export async function readInboxWriters(db: Queryable): Promise<readonly string[]> {
  const rows = await db.query<{ writer: string }>(
    `select distinct l.virtualtransaction as writer
       from pg_locks l
       join pg_database d on d.oid = l.database and d.datname = current_database()
      where l.locktype = 'relation' and l.relation = 'webhook_events'::regclass
        and l.mode = 'RowExclusiveLock'
      limit 10000`,
  );
  return rows.map(({ writer }) => writer);
}

/** Committed events after a number and through another, by number. */
export function readEventsBetween(
  db: Queryable,
  page: { readonly after: number; readonly through: number; readonly limit: number },
): Promise<readonly EventSummary[]> {
  return db.query<EventSummary>(
    `${EVENT_SELECT} where e.id > $1 and e.id <= $2 order by e.id limit $3`,
    [page.after, page.through, page.limit],
  );
}

/** The first event after a number that workers have yet to apply; dead events are not. */
export async function readFirstPending(db: Queryable, after: number): Promise<number | undefined> {
  const [row] = await db.query<{ id: number }>(
    `select p.webhook_event_id as id
       from pending p
      where p.webhook_event_id > $1
        and not exists (select from dead_events d where d.webhook_event_id = p.webhook_event_id)
      order by p.webhook_event_id
      limit 1`,
    [after],
  );
  return row?.id;
}

/** Which of these events brought something new about an order, by its keys. */
export async function readNumbersOfOrder(
  db: Queryable,
  orderKeys: readonly string[],
  numbers: readonly number[],
): Promise<readonly number[]> {
  const rows = await db.query<{ id: number }>(
    `select distinct s.webhook_event_id as id
       from snapshots s
       join resources r on r.kind = s.kind and r.id = s.resource_id
      where s.webhook_event_id = any ($1::bigint[]) and r.order_key = any ($2::text[])
      limit $3`,
    [numbers, orderKeys, numbers.length],
  );
  return rows.map(({ id }) => id);
}

/** Statements that remove old rows of the inbox, after their bodies. */
import type { Queryable } from '../../../platform/db/database.ts';
import {
  COUNTED_ROWS,
  type MeasuredRows,
  NO_ROWS,
  type ScannedRow,
  type ScanRequest,
} from '../../../platform/db/scannedRows.ts';

/** Undecided disputes are few, and each has few snapshots. */
const MAX_DISPUTED = 100_000;

/** What undecided disputes and their payments follow from. */
export interface DisputedEvents {
  /** Inbox numbers. */
  readonly ids: readonly number[];
  /** Up to this number they are all known; later events are not removed. */
  readonly knownUpTo: number;
}

/** @param limit how many are read, the oldest first */
export async function readDisputedEvents(
  db: Queryable,
  limit = MAX_DISPUTED,
): Promise<DisputedEvents> {
  const rows = await db.query<{ id: number }>(
    `with undecided as (
       select id, payment_id from resources
        where next_check_at is not null and kind = 'dispute' and status in ('opened', 'challenged')
     )
     select s.webhook_event_id as id
       from undecided u
       join snapshots s on s.kind = 'dispute' and s.resource_id = u.id
      where s.webhook_event_id is not null
     union
     select s.webhook_event_id
       from undecided u
       join snapshots s on s.kind = 'payment' and s.resource_id = u.payment_id
      where s.webhook_event_id is not null
      order by id
      limit $1`,
    [limit],
  );
  const ids = rows.map(({ id }) => id);
  const isCut = ids.length >= limit;
  return { ids, knownUpTo: isCut ? (ids.at(-1) ?? 0) : Number.MAX_SAFE_INTEGER };
}

/**
 * The next events by number, and whether each row is no longer needed. Days of bodies are removed in their order, and
 * numbers follow the days: a scan ends behind the last day that was removed. Where bodies stay for longer than
 * rows, or for good, it would read all older rows in every run, and take the time of the classes after it.
 */
const NEXT_EVENTS = `
  select e.id as key,
         e.received_at < $1
           and coalesce(e.body_day <= coalesce((select max(day) from body_days where state = 'removed'),
                                               '-infinity'), true) as "isPast",
         e.received_at < $1
           and e.body is null
           and exists (select from body_days d where d.day = e.body_day and d.state = 'removed')
           and not exists (select from kept_bodies k where k.webhook_event_id = e.id)
           and not exists (select from pending p where p.webhook_event_id = e.id)
           and not exists (select from dead_events d where d.webhook_event_id = e.id)
           and not exists (select from findings f where f.subject = 'event:' || e.id and f.state = 'open')
           and e.id <= $5 and e.id <> all ($4::bigint[]) as "isRemovable"
    from (select id, received_at, body_day, body from webhook_events
           where id > $2 order by id limit $3) e`;

/** @param needed numbers of events that stay */
export async function scanOldEvents(
  db: Queryable,
  { before, after, limit }: ScanRequest,
  { ids, knownUpTo }: DisputedEvents,
): Promise<readonly ScannedRow[]> {
  return await db.query<ScannedRow>(`${NEXT_EVENTS} order by key`, [
    before,
    after,
    limit,
    ids,
    knownUpTo,
  ]);
}

/** Removes rows that are still unneeded, and keeps the digests of their event ids. */
export async function removeEvents(tx: Queryable, ids: readonly number[]): Promise<number> {
  const [row] = await tx.query<{ removed: number }>(`select remove_events($1) as removed`, [ids]);
  return row?.removed ?? 0;
}

/**
 * The removable ones are counted among the oldest.
 * @param readDisputed is not called if no event is old enough
 */
export async function measureEvents(
  db: Queryable,
  before: Date,
  readDisputed: () => Promise<DisputedEvents>,
): Promise<MeasuredRows> {
  const [known] = await db.query<Omit<MeasuredRows, 'removable'>>(
    `select (select count(*) from (select from webhook_events limit $1) e) as rows,
            (select received_at from webhook_events order by id limit 1) as oldest`,
    [COUNTED_ROWS],
  );
  if (!known?.oldest) return NO_ROWS;
  if (known.oldest >= before) return { ...known, removable: 0 };
  const { ids, knownUpTo } = await readDisputed();
  const [row] = await db.query<{ removable: number }>(
    `select count(*) as removable from (${NEXT_EVENTS}) e where "isRemovable"`,
    [before, 0, COUNTED_ROWS, ids, knownUpTo],
  );
  return { ...known, removable: row?.removable ?? 0 };
}

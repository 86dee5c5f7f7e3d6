/**
 * Statements that read bodies one after the other, wherever they are stored. Each returns a page in the
 * order of its key. A body that is moved meanwhile may be missed in one place and found in the other:
 * read the open ones first, because bodies are moved from there.
 */
import type { Queryable } from '../../../platform/db/database.ts';
import type { PackedBodies } from './bodies.ts';

/** A body with the number of its event. */
export interface ScannedBody {
  readonly id: number;
  readonly body: Buffer;
}

/** Days with bodies that are not removed, from a day on. @param from as in 2026-11-22 */
export async function readBodyDays(db: Queryable, from: string): Promise<readonly string[]> {
  const rows = await db.query<{ day: string }>(
    `select to_char(day, 'YYYY-MM-DD') as day
       from body_days
      where state <> 'removed' and day >= $1::date
      order by day
      limit 100000`,
    [from],
  );
  return rows.map(({ day }) => day);
}

export interface BodyPage {
  readonly after: number;
  readonly limit: number;
}

export function readOpenBodies(
  db: Queryable,
  { day, after, limit }: BodyPage & { readonly day: string },
): Promise<readonly ScannedBody[]> {
  return db.query<ScannedBody>(
    `select webhook_event_id as id, body
       from webhook_bodies
      where day = $1::date and webhook_event_id > $2
      order by webhook_event_id
      limit $3`,
    [day, after, limit],
  );
}

export interface Pack extends PackedBodies {
  readonly firstId: number;
}

export function readPacks(
  db: Queryable,
  { day, after, limit }: BodyPage & { readonly day: string },
): Promise<readonly Pack[]> {
  return db.query<Pack>(
    `select first_event_id as "firstId", event_ids as "eventIds", lengths, bodies
       from packed_bodies
      where day = $1::date and first_event_id > $2
      order by first_event_id
      limit $3`,
    [day, after, limit],
  );
}

export function readKeptBodies(
  db: Queryable,
  { after, limit }: BodyPage,
): Promise<readonly ScannedBody[]> {
  return db.query<ScannedBody>(
    `select webhook_event_id as id, body
       from kept_bodies
      where webhook_event_id > $1
      order by webhook_event_id
      limit $2`,
    [after, limit],
  );
}

/** Bodies of an older version, which are in the row of their event. */
export function readBodiesInRows(
  db: Queryable,
  { after, limit }: BodyPage,
): Promise<readonly ScannedBody[]> {
  return db.query<ScannedBody>(
    `select id, body
       from webhook_events
      where id > $1 and body is not null
      order by id
      limit $2`,
    [after, limit],
  );
}

/** Further bodies under an event's id. A page has all those of its events. */
export function readVariants(
  db: Queryable,
  { after, limit }: BodyPage,
): Promise<readonly ScannedBody[]> {
  return db.query<ScannedBody>(
    `select v.webhook_event_id as id, v.body
       from event_variants v
       join (select distinct webhook_event_id
               from event_variants
              where webhook_event_id > $1 and body is not null
              order by webhook_event_id
              limit $2) page using (webhook_event_id)
      where v.body is not null
      order by v.webhook_event_id`,
    [after, limit],
  );
}

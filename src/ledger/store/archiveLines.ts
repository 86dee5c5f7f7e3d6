/**
 * Rows for the archive, in the order of their keys. All columns, so that one that a migration adds is
 * archived, too; numbers of 64 bits become strings and hashes hexadecimal digits.
 */
import type { Queryable } from '../../platform/db/database.ts';
import type { RowLine } from '../../platform/db/rowLine.ts';

/** Rows of the inbox without their bodies, and what is removed with them: variants and replays. */
export function readEventLines(
  tx: Queryable,
  numbers: readonly number[],
): Promise<readonly RowLine[]> {
  return tx.query<RowLine>(
    `select e.id as key,
            (to_jsonb(e) - 'body' || jsonb_build_object(
               'key', e.id::text, 'id', e.id::text,
               'body_sha256', encode(e.body_sha256, 'hex'),
               'variants', (select coalesce(jsonb_agg(jsonb_build_object(
                                     'body', translate(encode(v.body, 'base64'), E'\\n', ''),
                                     'body_sha256', encode(v.body_sha256, 'hex'),
                                     'received_at', v.received_at) order by v.body_sha256), '[]')
                              from event_variants v where v.webhook_event_id = e.id),
               'replays', (select coalesce(jsonb_agg(to_jsonb(r) - 'webhook_event_id'), '[]')
                             from event_replays r where r.webhook_event_id = e.id)))::text as line
       from webhook_events e
      where e.id = any ($1::bigint[])
      order by e.id
      limit $2`,
    [numbers, numbers.length],
  );
}

export function readChangeLines(
  tx: Queryable,
  numbers: readonly number[],
): Promise<readonly RowLine[]> {
  return tx.query<RowLine>(
    `select c.number as key,
            (to_jsonb(c) || jsonb_build_object(
               'key', c.number::text, 'number', c.number::text,
               'webhook_event_id', c.webhook_event_id::text))::text as line
       from changes c
      where c.number = any ($1::bigint[])
      order by c.number
      limit $2`,
    [numbers, numbers.length],
  );
}

export function readFindingLines(
  tx: Queryable,
  ids: readonly number[],
): Promise<readonly RowLine[]> {
  return tx.query<RowLine>(
    `select f.id as key,
            (to_jsonb(f) || jsonb_build_object('key', f.id::text, 'id', f.id::text))::text as line
       from findings f
      where f.id = any ($1::bigint[])
      order by f.id
      limit $2`,
    [ids, ids.length],
  );
}

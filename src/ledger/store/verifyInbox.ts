/** Statements that read the inbox for verify. */
import type { Queryable } from '../../platform/db/database.ts';
import type { ResourceRef } from '../domain/snapshot.ts';
import { EVENT_COLUMNS, type InboxHeader } from '../inbox/store/pending.ts';

/** An event as stored, without its body. */
export interface StoredHeader extends Omit<InboxHeader, 'hasVariants' | 'isRepeated'> {
  /** SHA-256 of the body that was received. */
  readonly bodyHash: Buffer;
}

const STORED_COLUMNS = `${EVENT_COLUMNS}, e.body_sha256 as "bodyHash"`;

export interface InboxRow extends StoredHeader {
  readonly isPending: boolean;
  readonly isDead: boolean;
}

/** Where to continue in the inbox and how much to read, because bodies may be large. */
export interface InboxChunk {
  readonly afterId: number;
  /** The last event to read; undefined: to the end. */
  readonly untilId: number | undefined;
  readonly maxEvents: number;
  readonly maxBytes: number;
}

/** The next events in the order of their numbers; at least one, unless none is left. */
export function readInbox(tx: Queryable, chunk: InboxChunk): Promise<readonly InboxRow[]> {
  return tx.query<InboxRow>(
    `with next as (
       select id, coalesce(body_bytes, octet_length(body), 0) as bytes
         from webhook_events
        where id > $1 and id <= coalesce($4::bigint, 9223372036854775807)
        order by id
        limit $2
     ), sized as (
       select id, row_number() over (order by id) as place, sum(bytes) over (order by id) as bytes
         from next
     )
     select ${STORED_COLUMNS},
            p.webhook_event_id is not null as "isPending",
            d.webhook_event_id is not null as "isDead"
       from sized s
       join webhook_events e on e.id = s.id
       left join pending p on p.webhook_event_id = e.id
       left join dead_events d on d.webhook_event_id = e.id
      where s.place = 1 or s.bytes <= $3
      order by e.id`,
    [chunk.afterId, chunk.maxEvents, chunk.maxBytes, chunk.untilId ?? null],
  );
}

/** Named events, in no particular order; those that do not exist are missing. */
export function readHeaders(
  tx: Queryable,
  ids: readonly number[],
): Promise<readonly StoredHeader[]> {
  return tx.query<StoredHeader>(
    `select ${STORED_COLUMNS} from webhook_events e where e.id = any ($1::bigint[]) limit $2`,
    [ids, ids.length],
  );
}

/** The content of an event for its resource. */
export interface EventContent {
  readonly eventId: number;
  readonly ref: ResourceRef;
  readonly contentHash: string;
}

/** The events that have a snapshot of their content, or one that names them. */
export async function readEventsWithSnapshot(
  tx: Queryable,
  contents: readonly EventContent[],
): Promise<ReadonlySet<number>> {
  const rows = await tx.query<{ id: number }>(
    `select w.event as id
       from unnest($1::bigint[], $2::text[], $3::text[], $4::text[]) as w (event, kind, id, hash)
      where exists (select from snapshots s
                     where s.kind = w.kind and s.resource_id = w.id
                       and (s.content_hash = decode(w.hash, 'hex') or s.webhook_event_id = w.event))`,
    [
      contents.map(({ eventId }) => eventId),
      contents.map(({ ref }) => ref.kind),
      contents.map(({ ref }) => ref.id),
      contents.map(({ contentHash }) => contentHash),
    ],
  );
  return new Set(rows.map(({ id }) => id));
}

export interface SubjectFinding {
  readonly subject: string;
  readonly class: string;
  readonly isOpen: boolean;
}

const MAX_FINDINGS_EACH = 100;

/** Findings about subjects, including closed ones, newest first. */
export function readFindings(
  tx: Queryable,
  subjects: readonly string[],
): Promise<readonly SubjectFinding[]> {
  return tx.query<SubjectFinding>(
    `select f.subject, f.class, f.state = 'open' as "isOpen"
       from unnest($1::text[]) as wanted (subject)
      cross join lateral (select subject, class, state from findings f
                           where f.subject = wanted.subject order by id desc limit $2) f`,
    [subjects, MAX_FINDINGS_EACH],
  );
}

/** The first rows of `pending` with an event that is not in the inbox. */
export async function readUnboundPending(tx: Queryable, limit: number): Promise<readonly number[]> {
  const rows = await tx.query<{ id: number }>(
    `select p.webhook_event_id as id
       from pending p
      where not exists (select from webhook_events e where e.id = p.webhook_event_id)
      order by 1
      limit $1`,
    [limit],
  );
  return rows.map(({ id }) => id);
}

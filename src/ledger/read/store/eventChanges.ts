/** Statements that read what one event changed, each by its inbox number. */
import type { Queryable } from '../../../platform/db/database.ts';
import type { NumberedChange } from '../../domain/changes.ts';
import type { JournalRow } from '../../domain/journalFormats.ts';
import type { ResourceRef, SnapshotSource } from '../../domain/snapshot.ts';
import { micros } from './instants.ts';
import { JOURNAL_COLUMNS, type StoredJournalRow, toJournalRow } from './journalRow.ts';

export interface OfEvent {
  /** Inbox number. */
  readonly event: number;
  readonly limit: number;
}

/** The resources of which an event brought a snapshot. */
export function readResourcesOfEvent(
  db: Queryable,
  { event, limit }: OfEvent,
): Promise<readonly ResourceRef[]> {
  return db.query<ResourceRef>(
    `select distinct kind, resource_id as id
       from snapshots
      where webhook_event_id = $1
      order by kind, id
      limit $2`,
    [event, limit],
  );
}

/** The transfers that an event caused in resources, in the order in which they were posted. */
export async function readTransfersOfEvent(
  db: Queryable,
  refs: readonly ResourceRef[],
  { event, limit }: OfEvent,
): Promise<readonly JournalRow[]> {
  const rows = await db.query<StoredJournalRow>(
    `select ${JOURNAL_COLUMNS}
       from unnest($1::text[], $2::text[]) as wanted (kind, id)
      cross join lateral (select * from transfers o
                           where o.kind = wanted.kind and o.resource_id = wanted.id
                             and o.webhook_event_id = $3 offset 0) t
       left join webhook_events e on e.id = t.webhook_event_id
       left join resources r on r.kind = t.kind and r.id = t.resource_id
      order by t.id
      limit $4`,
    [refs.map(({ kind }) => kind), refs.map(({ id }) => id), event, limit],
  );
  return rows.map(toJournalRow);
}

/** The changes of the feed that an event caused, in their order. */
export function readChangesOfEvent(
  db: Queryable,
  { event, limit }: OfEvent,
): Promise<readonly NumberedChange[]> {
  return db.query<NumberedChange>(
    `select number, kind, id, order_key as "orderKey", change, status,
            previous_status as "previousStatus", webhook_event_id as "webhookEventId",
            changed_at as "changedAt", is_history as "isHistory"
       from changes
      where webhook_event_id = $1
      order by number
      limit $2`,
    [event, limit],
  );
}

/** Where a content of a resource comes from. */
export interface KnownSnapshot {
  readonly source: SnapshotSource;
  /** The event that brought it, if one did. */
  readonly inboxId: number | null;
  readonly recordedMicros: number;
}

/** The last recorded snapshot of a resource with a content. @param contentHash hexadecimal */
export async function findSnapshot(
  db: Queryable,
  { kind, id }: ResourceRef,
  contentHash: string,
): Promise<KnownSnapshot | undefined> {
  const rows = await db.query<KnownSnapshot>(
    `select source, webhook_event_id as "inboxId", ${micros('recorded_at')} as "recordedMicros"
       from snapshots
      where kind = $1 and resource_id = $2 and content_hash = decode($3, 'hex')
      order by epoch desc
      limit 1`,
    [kind, id, contentHash],
  );
  return rows[0];
}

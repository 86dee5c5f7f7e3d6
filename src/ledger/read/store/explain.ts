/** Statements that read everything stored about resources, for explanations and timelines. All are bounded. */
import type { Queryable } from '../../../platform/db/database.ts';
import type { Contradiction } from '../../domain/epochs.ts';
import type { Evidence, JournalEntry, OpenFinding } from '../../domain/explanation.ts';
import type { ResourceRef, SnapshotContent, SnapshotSource } from '../../domain/snapshot.ts';
import { refColumns } from '../../store/resources.ts';

/** What is stored of a resource beside its snapshots. */
export interface PartRow extends ResourceRef {
  readonly headHash: string | null;
  readonly epoch: number;
  readonly contradiction: Contradiction | null;
  readonly nextCheckMicros: number | null;
}

const PART_COLUMNS = `
  kind, id, encode(head_hash, 'hex') as "headHash", epoch, contradiction,
  case when is_check_wanted
       then (extract(epoch from next_check_at) * 1000000)::bigint end as "nextCheckMicros"`;

/** The parts of an order, payments first. */
export function readPartRows(
  db: Queryable,
  orderKey: string,
  limit: number,
): Promise<readonly PartRow[]> {
  return db.query<PartRow>(
    `select ${PART_COLUMNS}
       from resources
      where order_key = $1
      order by case kind when 'payment' then 0 when 'refund' then 1 else 2 end, created_at, id
      limit $2`,
    [orderKey, limit],
  );
}

/** One resource. */
export async function readPartRow(
  db: Queryable,
  { kind, id }: ResourceRef,
): Promise<PartRow | undefined> {
  const rows = await db.query<PartRow>(
    `select ${PART_COLUMNS} from resources where kind = $1 and id = $2`,
    [kind, id],
  );
  return rows[0];
}

/** The resources of this id that belong to no order: payouts, and children without a parent. */
export function readUnfiledRows(db: Queryable, id: string): Promise<readonly PartRow[]> {
  return db.query<PartRow>(
    `select ${PART_COLUMNS}
       from resources
      where kind in ('payment', 'refund', 'dispute', 'payout') and id = $1 and order_key is null
      order by kind
      limit 4`,
    [id],
  );
}

/** Evidence with the fields of its event. */
export interface StoredEvidence extends Evidence {
  readonly eventType: string | undefined;
  readonly eventReceivedMicros: number | undefined;
}

interface EvidenceRow extends ResourceRef {
  readonly epoch: number;
  readonly contentHash: string;
  readonly content: SnapshotContent;
  readonly source: SnapshotSource;
  readonly observedMicros: number;
  readonly recordedMicros: number;
  readonly inboxId: number | null;
  readonly eventId: string | null;
  readonly eventType: string | null;
  readonly eventReceivedMicros: number | null;
}

/** The latest snapshots of the named resources, newest first, with the events that brought them. */
export async function readEvidence(
  db: Queryable,
  refs: readonly ResourceRef[],
  limit: number,
): Promise<readonly StoredEvidence[]> {
  const rows = await db.query<EvidenceRow>(
    `select s.kind, s.resource_id as id, s.epoch, encode(s.content_hash, 'hex') as "contentHash",
            s.content, s.source, s.observed_micros as "observedMicros",
            (extract(epoch from s.recorded_at) * 1000000)::bigint as "recordedMicros",
            s.webhook_event_id as "inboxId", e.event_id as "eventId", e.event_type as "eventType",
            (extract(epoch from e.received_at) * 1000000)::bigint as "eventReceivedMicros"
       from unnest($1::text[], $2::text[]) as wanted (kind, id)
      cross join lateral (select s.kind, s.resource_id, s.epoch, s.content_hash, s.content, s.source,
                                 s.observed_micros, s.recorded_at, s.webhook_event_id
                            from snapshots s
                           where s.kind = wanted.kind and s.resource_id = wanted.id offset 0) s
       left join webhook_events e on e.id = s.webhook_event_id
      order by s.recorded_at desc, s.webhook_event_id desc nulls first, s.content_hash
      limit $3`,
    [...refColumns(refs), limit],
  );
  return rows.map(({ kind, id, inboxId, eventId, eventType, eventReceivedMicros, ...rest }) => ({
    ref: { kind, id },
    inboxId: inboxId ?? undefined,
    eventId: eventId ?? undefined,
    eventType: eventType ?? undefined,
    eventReceivedMicros: eventReceivedMicros ?? undefined,
    ...rest,
  }));
}

export interface PostedEntry extends JournalEntry {
  readonly ref: ResourceRef;
}

interface EntryRow extends Omit<JournalEntry, 'inboxId' | 'eventId' | 'effectiveMicros'> {
  readonly effectiveMicros: number | null;
  readonly kind: ResourceRef['kind'];
  readonly resourceId: string;
  readonly inboxId: number | null;
  readonly eventId: string | null;
}

/** The latest transfers of the named resources, the one that was posted last first. */
export async function readEntries(
  db: Queryable,
  refs: readonly ResourceRef[],
  limit: number,
): Promise<readonly PostedEntry[]> {
  const rows = await db.query<EntryRow>(
    `select t.id, t.kind, t.resource_id as "resourceId", t.leg, t.currency, t.leg_seq as seq,
            t.debit, t.credit, t.amount_minor as "amountMinor",
            t.previous_minor as "previousMinor", t.cumulative_minor as "cumulativeMinor",
            encode(t.head_hash, 'hex') as "headHash",
            (extract(epoch from t.recorded_at) * 1000000)::bigint as "recordedMicros",
            (extract(epoch from t.effective_at) * 1000000)::bigint as "effectiveMicros",
            t.webhook_event_id as "inboxId", e.event_id as "eventId"
       from unnest($1::text[], $2::text[]) as wanted (kind, id)
      cross join lateral (select t.id, t.kind, t.resource_id, t.leg, t.currency, t.leg_seq, t.debit,
                                 t.credit, t.amount_minor, t.previous_minor, t.cumulative_minor,
                                 t.head_hash, t.recorded_at, t.effective_at, t.webhook_event_id
                            from transfers t
                           where t.kind = wanted.kind and t.resource_id = wanted.id offset 0) t
       left join webhook_events e on e.id = t.webhook_event_id
      order by t.id desc
      limit $3`,
    [...refColumns(refs), limit],
  );
  return rows.map(({ kind, resourceId, inboxId, eventId, effectiveMicros, ...rest }) => ({
    ref: { kind, id: resourceId },
    effectiveMicros: effectiveMicros ?? undefined,
    inboxId: inboxId ?? undefined,
    eventId: eventId ?? undefined,
    ...rest,
  }));
}

export interface SubjectFinding extends OpenFinding {
  readonly subject: string;
}

/** Everything that is open about these subjects. */
export function readOpenFindings(
  db: Queryable,
  subjects: readonly string[],
  limit: number,
): Promise<readonly SubjectFinding[]> {
  return db.query<SubjectFinding>(
    `select subject, class, detail, (extract(epoch from opened_at) * 1000000)::bigint as "openedMicros"
       from findings
      where subject = any ($1::text[]) and state = 'open'
      order by id
      limit $2`,
    [subjects, limit],
  );
}

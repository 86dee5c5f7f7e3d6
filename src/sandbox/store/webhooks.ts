/** Statements on webhook events and their sendings. */
import type { ResourceKind } from '../../contract/index.ts';
import type { Queryable } from '../../platform/db/database.ts';

export interface NewEvent {
  readonly eventId: string;
  readonly kind: ResourceKind;
  readonly objectId: string;
  readonly eventType: string;
  /** What there can be one event of. */
  readonly onceKey: string;
  readonly body: string;
  readonly signature: string;
  readonly createdAt: string;
}

/** Stores an event. @returns its number, or undefined when there was one of its kind already */
export async function insertEvent(tx: Queryable, event: NewEvent): Promise<number | undefined> {
  const rows = await tx.query<{ seq: number }>(
    `insert into sandbox.events
       (event_id, kind, object_id, event_type, once_key, body, signature, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8)
     on conflict (once_key) do nothing
     returning seq`,
    [
      event.eventId,
      event.kind,
      event.objectId,
      event.eventType,
      event.onceKey,
      event.body,
      event.signature,
      event.createdAt,
    ],
  );
  return rows[0]?.seq;
}

/** Events of an object and type so far. */
export async function countEvents(
  tx: Queryable,
  objectId: string,
  eventType: string,
): Promise<number> {
  const rows = await tx.query<{ count: number }>(
    'select count(*) as count from sandbox.events where object_id = $1 and event_type = $2',
    [objectId, eventType],
  );
  return rows[0]?.count ?? 0;
}

export interface NewSending {
  readonly eventSeq: number;
  readonly reason: string;
  /** Of the retry schedule; undefined outside of it. */
  readonly attempt?: number | undefined;
  readonly otherBody?: string | undefined;
  readonly otherSignature?: string | undefined;
  readonly dueAt: string;
}

export async function insertSendings(
  tx: Queryable,
  sendings: readonly NewSending[],
): Promise<void> {
  await tx.query(
    `insert into sandbox.sendings (event_seq, reason, attempt, other_body, other_signature, due_at)
     select event_seq, reason, attempt, other_body, other_signature, due_at
       from unnest($1::bigint[], $2::text[], $3::int[], $4::text[], $5::text[], $6::timestamptz[])
         as u (event_seq, reason, attempt, other_body, other_signature, due_at)`,
    [
      sendings.map(({ eventSeq }) => eventSeq),
      sendings.map(({ reason }) => reason),
      sendings.map(({ attempt }) => attempt ?? null),
      sendings.map(({ otherBody }) => otherBody ?? null),
      sendings.map(({ otherSignature }) => otherSignature ?? null),
      sendings.map(({ dueAt }) => dueAt),
    ],
  );
}

/** A request to be made. */
export interface DueSending {
  readonly id: number;
  readonly eventSeq: number;
  readonly objectId: string;
  readonly attempt: number | null;
  readonly body: string;
  readonly signature: string;
}

export interface DueQuery {
  readonly until: Date;
  /** Ids of objects. */
  readonly except: readonly string[];
  readonly limit: number;
}

/** Requests that are due and were not made, about other objects than `except`, earliest first. */
export function readDueSendings(
  db: Queryable,
  { until, except, limit }: DueQuery,
): Promise<DueSending[]> {
  return db.query(
    `select s.id, s.event_seq as "eventSeq", e.object_id as "objectId", s.attempt,
            coalesce(s.other_body, e.body) as body,
            coalesce(s.other_signature, e.signature) as signature
       from sandbox.sendings s
       join sandbox.events e on e.seq = s.event_seq
      where s.sent_at is null and s.due_at <= $1 and e.object_id <> all($2)
      order by s.due_at, s.id
      limit $3`,
    [until, except, limit],
  );
}

export interface SendingResult {
  readonly id: number;
  readonly sentAt: string;
  /** Undefined when no answer came. */
  readonly httpStatus: number | undefined;
  readonly error: string | undefined;
}

export async function recordSending(db: Queryable, result: SendingResult): Promise<void> {
  await db.query(
    'update sandbox.sendings set sent_at = $2, http_status = $3, error = $4 where id = $1',
    [result.id, result.sentAt, result.httpStatus ?? null, result.error ?? null],
  );
}

/** An event as the control routes list it. */
export interface EventRow {
  readonly seq: number;
  readonly event_id: string;
  readonly kind: ResourceKind;
  readonly object_id: string;
  readonly event_type: string;
  readonly created: Date;
  /** Requests made, and how many of them were answered with a 2xx. */
  readonly sent: number;
  readonly taken: number;
  /** Requests still to be made. */
  readonly waiting: number;
}

export interface EventFilter {
  readonly objectId?: string | undefined;
  readonly eventType?: string | undefined;
  /** Events after this number. */
  readonly after: number;
  readonly limit: number;
}

/** Events in the order in which they were made. */
export function listEvents(db: Queryable, filter: EventFilter): Promise<EventRow[]> {
  return db.query(
    `select e.seq, e.event_id, e.kind, e.object_id, e.event_type, e.created_at as created,
            count(s.sent_at) as sent,
            count(*) filter (where s.http_status between 200 and 299) as taken,
            count(*) filter (where s.id is not null and s.sent_at is null) as waiting
       from (select seq, event_id, kind, object_id, event_type, created_at
               from sandbox.events
              where seq > $1
                and ($2::text is null or object_id = $2)
                and ($3::text is null or event_type = $3)
              order by seq
              limit $4) e
       left join sandbox.sendings s on s.event_seq = e.seq
      group by e.seq, e.event_id, e.kind, e.object_id, e.event_type, e.created_at
      order by e.seq`,
    [filter.after, filter.objectId ?? null, filter.eventType ?? null, filter.limit],
  );
}

export interface StoredEvent {
  readonly seq: number;
  readonly event_id: string;
  readonly event_type: string;
  readonly object_id: string;
  readonly body: string;
  readonly signature: string;
  readonly created: Date;
}

export async function readEvent(db: Queryable, eventId: string): Promise<StoredEvent | undefined> {
  const rows = await db.query<StoredEvent>(
    `select seq, event_id, event_type, object_id, body, signature, created_at as created
       from sandbox.events
      where event_id = $1`,
    [eventId],
  );
  return rows[0];
}

export interface SendingRow {
  readonly id: number;
  readonly reason: string;
  readonly attempt: number | null;
  readonly due: Date;
  readonly sent: Date | null;
  readonly http_status: number | null;
  readonly error: string | null;
}

/** Every request of an event, made or still to be made. */
export function readSendings(db: Queryable, eventSeq: number): Promise<SendingRow[]> {
  return db.query(
    `select id, reason, attempt, due_at as due, sent_at as sent, http_status, error
       from sandbox.sendings
      where event_seq = $1
      order by id
      limit 1000`,
    [eventSeq],
  );
}

/** Statements on webhook events and their deliveries. */
import type { Queryable } from '../../../platform/db/database.ts';
import type {
  DeliveryResult,
  DeliveryRow,
  DueDelivery,
  DueQuery,
  EventFilter,
  EventRow,
  EventWithDeliveries,
  NewDelivery,
  NewEvent,
  StoredEvent,
} from '../webhooks.ts';

/** Stores an event. @returns its number, or undefined when there is one with its `onceKey` already */
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

export async function insertDeliveries(
  tx: Queryable,
  deliveries: readonly NewDelivery[],
): Promise<void> {
  await tx.query(
    `insert into sandbox.deliveries (event_seq, reason, attempt, other_body, other_signature, due_at)
     select event_seq, reason, attempt, other_body, other_signature, due_at
       from unnest($1::bigint[], $2::text[], $3::int[], $4::text[], $5::text[], $6::timestamptz[])
         as u (event_seq, reason, attempt, other_body, other_signature, due_at)`,
    [
      deliveries.map(({ eventSeq }) => eventSeq),
      deliveries.map(({ reason }) => reason),
      deliveries.map(({ attempt }) => attempt ?? null),
      deliveries.map(({ otherBody }) => otherBody ?? null),
      deliveries.map(({ otherSignature }) => otherSignature ?? null),
      deliveries.map(({ dueAt }) => dueAt),
    ],
  );
}

/** Unsent deliveries that are due, about other objects than `except`, earliest first. */
export function readDueDeliveries(
  db: Queryable,
  { until, except, limit }: DueQuery,
): Promise<DueDelivery[]> {
  return db.query(
    `select d.id, d.event_seq as "eventSeq", e.object_id as "objectId", d.attempt,
            coalesce(d.other_body, e.body) as body,
            coalesce(d.other_signature, e.signature) as signature
       from sandbox.deliveries d
       join sandbox.events e on e.seq = d.event_seq
      where d.sent_at is null and d.due_at <= $1 and e.object_id <> all($2)
      order by d.due_at, d.id
      limit $3`,
    [until, except, limit],
  );
}

export async function recordDelivery(db: Queryable, result: DeliveryResult): Promise<void> {
  await db.query(
    'update sandbox.deliveries set sent_at = $2, http_status = $3, error = $4 where id = $1',
    [result.id, result.sentAt, result.httpStatus ?? null, result.error ?? null],
  );
}

/** Events in the order of their creation. */
export function listEvents(db: Queryable, filter: EventFilter): Promise<EventRow[]> {
  return db.query(
    `select e.seq, e.event_id, e.kind, e.object_id, e.event_type, e.created_at as created,
            count(d.sent_at) as sent,
            count(*) filter (where d.http_status between 200 and 299) as acknowledged,
            count(*) filter (where d.id is not null and d.sent_at is null) as waiting
       from (select seq, event_id, kind, object_id, event_type, created_at
               from sandbox.events
              where seq > $1
                and ($2::text is null or object_id = $2)
                and ($3::text is null or event_type = $3)
              order by seq
              limit $4) e
       left join sandbox.deliveries d on d.event_seq = e.seq
      group by e.seq, e.event_id, e.kind, e.object_id, e.event_type, e.created_at
      order by e.seq`,
    [filter.after, filter.objectId ?? null, filter.eventType ?? null, filter.limit],
  );
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

/** The events of objects, oldest first, each with its deliveries. */
export function readEventsOf(
  db: Queryable,
  objectIds: readonly string[],
): Promise<EventWithDeliveries[]> {
  return db.query(
    `select e.event_id, e.event_type, e.object_id, e.created_at as created,
            coalesce(json_agg(json_build_object('reason', d.reason, 'due', d.due_at, 'sent', d.sent_at,
                                                'http_status', d.http_status)
                              order by d.id) filter (where d.id is not null), '[]') as deliveries
       from (select seq, event_id, event_type, object_id, created_at
               from sandbox.events
              where object_id = any ($1::text[])
              order by seq desc
              limit 1000) e
       left join sandbox.deliveries d on d.event_seq = e.seq
      group by e.seq, e.event_id, e.event_type, e.object_id, e.created_at
      order by e.seq`,
    [objectIds],
  );
}

/** All deliveries of an event, sent or still to be sent. */
export function readDeliveries(db: Queryable, eventSeq: number): Promise<DeliveryRow[]> {
  return db.query(
    `select id, reason, attempt, due_at as due, sent_at as sent, http_status, error
       from sandbox.deliveries
      where event_seq = $1
      order by id
      limit 1000`,
    [eventSeq],
  );
}

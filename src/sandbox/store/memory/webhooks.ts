/** Webhook events and their deliveries, in memory. */
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
import { type StoredDelivery, type StoredEventRow, type Tables, YES } from './tables.ts';
import { sortedBy } from './values.ts';

const MAX_EVENTS_OF_OBJECTS = 1_000;

export function insertEvent(tables: Tables, event: NewEvent): number | undefined {
  if ([...tables.events.find('once', event.onceKey)].length > 0) return undefined;
  const seq = tables.nextNumber();
  tables.events.put({ ...event, seq });
  return seq;
}

export function countEvents({ events }: Tables, objectId: string, eventType: string): number {
  return [...events.find('object', objectId)].filter((event) => event.eventType === eventType)
    .length;
}

/** @throws Error for a delivery of an event that does not exist */
export function insertDeliveries(tables: Tables, deliveries: readonly NewDelivery[]): void {
  for (const delivery of deliveries) {
    const event = tables.events.get(String(delivery.eventSeq));
    if (event === undefined) throw new Error(`there is no event ${delivery.eventSeq}`);
    tables.deliveries.put({ ...delivery, id: tables.nextNumber(), objectId: event.objectId });
  }
}

export function readDueDeliveries(
  tables: Tables,
  { until, except, limit }: DueQuery,
): readonly DueDelivery[] {
  const due = [...tables.deliveries.find('waiting', YES)]
    .map((row) => ({ row, dueMs: Date.parse(row.dueAt) }))
    .filter(({ row, dueMs }) => dueMs <= until.getTime() && !except.includes(row.objectId));
  return sortedBy(due, ({ row, dueMs }) => [dueMs, row.id])
    .slice(0, limit)
    .flatMap(({ row }) => {
      const event = tables.events.get(String(row.eventSeq));
      return event ? [dueDelivery(row, event)] : [];
    });
}

function dueDelivery(row: StoredDelivery, event: StoredEventRow): DueDelivery {
  const { id, eventSeq, objectId, attempt = null } = row;
  const { otherBody: body = event.body, otherSignature: signature = event.signature } = row;
  return { id, eventSeq, objectId, attempt, body, signature };
}

export function recordDelivery({ deliveries }: Tables, { id, ...result }: DeliveryResult): void {
  const row = deliveries.get(String(id));
  if (row) deliveries.put({ ...row, ...result });
}

export function listEvents(
  tables: Tables,
  { objectId, eventType, after, limit }: EventFilter,
): readonly EventRow[] {
  const { events } = tables;
  const candidates = objectId === undefined ? events.all() : events.find('object', objectId);
  return [...candidates]
    .filter((event) => event.seq > after)
    .filter((event) => eventType === undefined || event.eventType === eventType)
    .slice(0, limit)
    .map((event) => eventRow(event, deliveriesOf(tables, event.seq)));
}

function eventRow(event: StoredEventRow, deliveries: readonly StoredDelivery[]): EventRow {
  return {
    seq: event.seq,
    event_id: event.eventId,
    kind: event.kind,
    object_id: event.objectId,
    event_type: event.eventType,
    created: new Date(event.createdAt),
    sent: deliveries.filter(({ sentAt }) => sentAt !== undefined).length,
    acknowledged: deliveries.filter(isAcknowledged).length,
    waiting: deliveries.filter(({ sentAt }) => sentAt === undefined).length,
  };
}

function isAcknowledged({ httpStatus = 0 }: StoredDelivery): boolean {
  return httpStatus >= 200 && httpStatus <= 299;
}

export function readEvent({ events }: Tables, eventId: string): StoredEvent | undefined {
  const [event] = events.find('id', eventId);
  return event && storedEvent(event);
}

function storedEvent(event: StoredEventRow): StoredEvent {
  return {
    seq: event.seq,
    event_id: event.eventId,
    event_type: event.eventType,
    object_id: event.objectId,
    body: event.body,
    signature: event.signature,
    created: new Date(event.createdAt),
  };
}

export function readEventsOf(
  tables: Tables,
  objectIds: readonly string[],
): readonly EventWithDeliveries[] {
  const found = objectIds.flatMap((id) => [...tables.events.find('object', id)]);
  return sortedBy(found, ({ seq }) => [seq])
    .slice(-MAX_EVENTS_OF_OBJECTS)
    .map((event) => ({
      event_id: event.eventId,
      event_type: event.eventType,
      object_id: event.objectId,
      created: new Date(event.createdAt),
      deliveries: deliveriesOf(tables, event.seq).map((row) => ({
        reason: row.reason,
        due: row.dueAt,
        sent: row.sentAt ?? null,
        http_status: row.httpStatus ?? null,
      })),
    }));
}

export function readDeliveries(tables: Tables, eventSeq: number): readonly DeliveryRow[] {
  return deliveriesOf(tables, eventSeq).map((row) => ({
    id: row.id,
    reason: row.reason,
    attempt: row.attempt ?? null,
    due: new Date(row.dueAt),
    sent: row.sentAt === undefined ? null : new Date(row.sentAt),
    http_status: row.httpStatus ?? null,
    error: row.error ?? null,
  }));
}

function deliveriesOf({ deliveries }: Tables, eventSeq: number): readonly StoredDelivery[] {
  return [...deliveries.find('event', String(eventSeq))];
}

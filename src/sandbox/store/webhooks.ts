/** What is stored of webhook events and their deliveries. */
import type { ResourceKind } from '../../contract/index.ts';

export interface WebhookStatements {
  /** Stores an event. @returns its number, or undefined when there is one with its `onceKey` already */
  insertEvent(event: NewEvent): Promise<number | undefined>;
  /** Events of an object and type so far. */
  countEvents(objectId: string, eventType: string): Promise<number>;
  insertDeliveries(deliveries: readonly NewDelivery[]): Promise<void>;
  /** Unsent deliveries that are due, about other objects than `except`, earliest first. */
  readDueDeliveries(due: DueQuery): Promise<readonly DueDelivery[]>;
  recordDelivery(result: DeliveryResult): Promise<void>;
  /** Events in the order of their creation. */
  listEvents(filter: EventFilter): Promise<readonly EventRow[]>;
  readEvent(eventId: string): Promise<StoredEvent | undefined>;
  /** The newest 1,000 events of objects, oldest first, each with its deliveries. */
  readEventsOf(objectIds: readonly string[]): Promise<readonly EventWithDeliveries[]>;
  /** All deliveries of an event, sent or still to be sent. */
  readDeliveries(eventSeq: number): Promise<readonly DeliveryRow[]>;
}

export interface NewEvent {
  readonly eventId: string;
  readonly kind: ResourceKind;
  readonly objectId: string;
  readonly eventType: string;
  /** Unique: a second event with this key is not stored. */
  readonly onceKey: string;
  readonly body: string;
  readonly signature: string;
  readonly createdAt: string;
}

export interface NewDelivery {
  readonly eventSeq: number;
  readonly reason: string;
  /** Number in the retry schedule; undefined outside of it. */
  readonly attempt?: number | undefined;
  readonly otherBody?: string | undefined;
  readonly otherSignature?: string | undefined;
  readonly dueAt: string;
}

/** A delivery to be sent. */
export interface DueDelivery {
  readonly id: number;
  readonly eventSeq: number;
  readonly objectId: string;
  readonly attempt: number | null;
  readonly body: string;
  /** Null: the body was redacted, and is signed when it is sent. */
  readonly signature: string | null;
}

export interface DueQuery {
  readonly until: Date;
  /** Ids of objects. */
  readonly except: readonly string[];
  readonly limit: number;
}

export interface DeliveryResult {
  readonly id: number;
  readonly sentAt: string;
  /** Undefined when there was no response. */
  readonly httpStatus: number | undefined;
  readonly error: string | undefined;
}

/** An event as the control routes list it. */
export interface EventRow {
  readonly seq: number;
  readonly event_id: string;
  readonly kind: ResourceKind;
  readonly object_id: string;
  readonly event_type: string;
  readonly created: Date;
  /** Deliveries sent, and how many of them were acknowledged with a 2xx. */
  readonly sent: number;
  readonly acknowledged: number;
  /** Deliveries still to be sent. */
  readonly waiting: number;
}

export interface EventFilter {
  readonly objectId?: string | undefined;
  readonly eventType?: string | undefined;
  /** Events after this number. */
  readonly after: number;
  readonly limit: number;
}

export interface StoredEvent {
  readonly seq: number;
  readonly event_id: string;
  readonly event_type: string;
  readonly object_id: string;
  readonly body: string;
  readonly signature: string | null;
  readonly created: Date;
}

export interface DeliveryRow {
  readonly id: number;
  readonly reason: string;
  readonly attempt: number | null;
  readonly due: Date;
  readonly sent: Date | null;
  readonly http_status: number | null;
  readonly error: string | null;
}

export interface EventWithDeliveries {
  readonly event_id: string;
  readonly event_type: string;
  readonly object_id: string;
  readonly created: Date;
  /** In the order in which they were planned; none if the event was lost. */
  readonly deliveries: readonly {
    readonly reason: string;
    readonly due: string;
    readonly sent: string | null;
    readonly http_status: number | null;
  }[];
}

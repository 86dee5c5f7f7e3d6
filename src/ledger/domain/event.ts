/**
 * Reads one inbox row: which resource it speaks of, or why it speaks of none.
 *
 * 1. Reading never throws and loses nothing: the row stays whatever the reading says.
 * 2. The ids in the body decide the kind; `event_type` and `content.type` are only checked.
 */
import { CONTENT_TYPES, EVENT_REPORTS } from '../../contract/events.ts';
import type { ResourceKind } from '../../contract/resources/index.ts';
import {
  isJsonObject,
  type ResourceRef,
  readResource,
  readText,
  type SnapshotContent,
} from './snapshot.ts';
import { parseInstantMicros } from './time.ts';

/** What an inbox row holds that reading needs. */
export interface InboxEvent {
  readonly id: number;
  /** Null when the body has no usable envelope. */
  readonly eventId: string | null;
  readonly merchantId: string | null;
  readonly body: Buffer;
  readonly receivedMicros: number;
  /** Of the last replay, else of the receipt: a version further ahead of it is from the future. */
  readonly judgedMicros: number;
  /** Other bodies came under the same event id. */
  readonly hasVariants: boolean;
}

export type EventReading =
  | {
      readonly outcome: 'snapshot';
      readonly ref: ResourceRef;
      readonly content: SnapshotContent;
      readonly observedMicros: number;
      readonly versionAhead: boolean;
      /** A label of the event that names another kind than its ids do. */
      readonly labelMismatch: string | undefined;
    }
  | { readonly outcome: 'unreadable_money'; readonly ref: ResourceRef; readonly field: string }
  | { readonly outcome: 'foreign_merchant'; readonly merchantId: string | null }
  | { readonly outcome: 'no_envelope' }
  | { readonly outcome: 'ignored'; readonly contentType: string };

/**
 * Reads an inbox row.
 * @param merchantId the one account that this ledger serves
 */
export function readEvent(
  event: Omit<InboxEvent, 'id' | 'hasVariants'>,
  merchantId: string,
): EventReading {
  if (event.eventId === null) return { outcome: 'no_envelope' };
  if (event.merchantId !== merchantId) {
    return { outcome: 'foreign_merchant', merchantId: event.merchantId };
  }
  const envelope = parseBody(event.body);
  const content = isJsonObject(envelope) ? envelope.content : undefined;
  const contentType = (isJsonObject(content) ? readText(content.type) : undefined) ?? 'none';
  const eventType = (isJsonObject(envelope) ? readText(envelope.event_type) : undefined) ?? 'none';
  const reading = readResource(
    isJsonObject(content) ? content.object : undefined,
    event.judgedMicros,
  );
  switch (reading.outcome) {
    case 'unknown_resource':
      return { outcome: 'ignored', contentType };
    case 'unreadable':
      return { outcome: 'unreadable_money', ref: reading.ref, field: reading.field };
    case 'read': {
      const timestamp = isJsonObject(envelope) ? envelope.timestamp : undefined;
      return {
        outcome: 'snapshot',
        ref: reading.ref,
        content: reading.content,
        observedMicros: parseInstantMicros(timestamp) ?? event.receivedMicros,
        versionAhead: reading.versionAhead,
        labelMismatch: mismatchOf(reading.ref.kind, { contentType, eventType }),
      };
    }
  }
}

/** The label that names another kind than the ids do. Labels we do not know name none. */
function mismatchOf(
  kind: ResourceKind,
  { contentType, eventType }: { readonly contentType: string; readonly eventType: string },
): string | undefined {
  const contentKind = isIn(CONTENT_TYPES, contentType) ? CONTENT_TYPES[contentType] : undefined;
  if (contentKind !== undefined && contentKind !== kind) return contentType;
  const eventKind = isIn(EVENT_REPORTS, eventType) ? EVENT_REPORTS[eventType]?.kind : undefined;
  return eventKind !== undefined && eventKind !== kind ? eventType : undefined;
}

function isIn<Table extends object>(table: Table, name: PropertyKey): name is keyof Table {
  return Object.hasOwn(table, name);
}

/** Drops a byte order mark, which JSON.parse would refuse. */
const utf8 = new TextDecoder();

/** The receiver parsed the body before it gave the row an event id, so it parses again. */
function parseBody(body: Buffer): unknown {
  return JSON.parse(utf8.decode(body));
}

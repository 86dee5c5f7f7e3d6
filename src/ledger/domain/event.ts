/**
 * Reads one inbox row: which resource it speaks of, or why it speaks of none.
 *
 * 1. Reading never throws and loses nothing: the row stays whatever the reading says.
 * 2. The ids in the body decide the kind, and the labels (`event_type`, `content.type`) are checked
 *    against them. Where no label that names a kind supports the ids, the body is not applied: a
 *    refund that lost its `refund_id` reads like a payment that was paid.
 * 3. An event whose labels name nothing that moves money is not read as a resource.
 */
import { labeledKind } from '../../contract/events.ts';
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
  readonly referenceMicros: number;
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
  /** Its labels name another kind than its ids do. */
  | { readonly outcome: 'label_conflict'; readonly ref: ResourceRef; readonly label: string }
  | { readonly outcome: 'unreadable_money'; readonly ref: ResourceRef; readonly field: string }
  | { readonly outcome: 'foreign_merchant'; readonly merchantId: string | null }
  | { readonly outcome: 'no_envelope' }
  /** Known, and about something that moves no money. */
  | { readonly outcome: 'moneyless' }
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
  return readEnvelope(parseBody(event.body), event);
}

function readEnvelope(
  body: unknown,
  { receivedMicros, referenceMicros }: Pick<InboxEvent, 'receivedMicros' | 'referenceMicros'>,
): EventReading {
  const envelope = isJsonObject(body) ? body : {};
  const content = isJsonObject(envelope.content) ? envelope.content : {};
  const contentType = readText(content.type) ?? 'none';
  const labels = readLabels([contentType, readText(envelope.event_type) ?? 'none']);
  if (labels.areMoneyless) return { outcome: 'moneyless' };
  const reading = readResource(content.object, referenceMicros, labels.agreed);
  if (reading.outcome === 'unknown_resource') return { outcome: 'ignored', contentType };
  const { ref } = reading;
  const opposed = labels.named.find(({ kind }) => kind !== ref.kind)?.label;
  const isSupported = labels.named.some(({ kind }) => kind === ref.kind);
  if (opposed !== undefined && !isSupported) {
    return { outcome: 'label_conflict', ref, label: opposed };
  }
  switch (reading.outcome) {
    case 'unreadable':
      return { outcome: 'unreadable_money', ref, field: reading.field };
    case 'read':
      return {
        outcome: 'snapshot',
        ref,
        content: reading.content,
        observedMicros: parseInstantMicros(envelope.timestamp) ?? receivedMicros,
        versionAhead: reading.versionAhead,
        labelMismatch: opposed,
      };
  }
}

interface Labels {
  /** Labels that name a kind of resource. */
  readonly named: readonly { readonly label: string; readonly kind: ResourceKind }[];
  /** The one kind that they name; undefined for none and for several. */
  readonly agreed: ResourceKind | undefined;
  /** All labels that are known are about resources that move no money. */
  readonly areMoneyless: boolean;
}

function readLabels(labels: readonly string[]): Labels {
  const named: { readonly label: string; readonly kind: ResourceKind }[] = [];
  let isKnown = false;
  for (const label of labels) {
    const kind = labeledKind(label);
    isKnown ||= kind !== undefined;
    if (kind !== undefined && kind !== 'none') named.push({ label, kind });
  }
  const first = named[0]?.kind;
  return {
    named,
    agreed: named.every(({ kind }) => kind === first) ? first : undefined,
    areMoneyless: isKnown && named.length === 0,
  };
}

/** Drops a byte order mark, which JSON.parse would refuse. */
const utf8 = new TextDecoder();

/** The receiver parsed the body before it gave the row an event id, so it parses again. */
function parseBody(body: Buffer): unknown {
  return JSON.parse(utf8.decode(body));
}

/**
 * Reads one inbox row: the resource that it describes, or why it describes none.
 *
 * 1. Reading never throws and loses nothing: the inbox row stays, regardless of the outcome.
 * 2. The ids in the body determine the kind; the labels (`event_type`, `content.type`) must not
 *    contradict them. If labels name other kinds only, the body is not applied: a refund without its
 *    `refund_id` looks like a paid payment.
 * 3. An event with labels of things that move no money is not read as a resource.
 * 4. An event is not applied if it, or the object in it, names another merchant account.
 */
import { labeledKind } from '../../contract/events.ts';
import { parseId } from '../../contract/identifiers.ts';
import type { ResourceKind } from '../../contract/resources/index.ts';
import { foreignMerchantOf, profileOf } from './account.ts';
import {
  type ForeignTextReader,
  isJsonObject,
  type JsonObject,
  type ResourceRef,
  readForeignText,
  readResource,
  type SnapshotContent,
} from './snapshot.ts';
import { parseInstantMicros } from './time.ts';

/** The fields of an inbox row that reading needs. */
export interface InboxEvent {
  readonly id: number;
  /** Null when the body has no usable envelope. */
  readonly eventId: string | null;
  readonly merchantId: string | null;
  readonly body: Buffer;
  readonly receivedMicros: number;
  /** The time of the last replay, or else of the receipt. A version too far ahead of it is not used. */
  readonly referenceMicros: number;
  /** Other bodies arrived under the same event id. */
  readonly hasVariants: boolean;
  /** An event of this id was received before, and retention removed its row. */
  readonly isRepeated: boolean;
}

export type EventReading =
  | {
      readonly outcome: 'snapshot';
      readonly ref: ResourceRef;
      readonly content: SnapshotContent;
      readonly observedMicros: number;
      readonly versionAhead: boolean;
      /** A label that names a different kind than the ids do. */
      readonly labelMismatch: string | undefined;
      /** The profile that the object names. */
      readonly profileId: string | undefined;
    }
  /** The labels name a different kind than the ids do. */
  | {
      readonly outcome: 'label_conflict';
      readonly ref: ResourceRef;
      readonly label: string;
      readonly versionMicros: number | undefined;
    }
  | {
      readonly outcome: 'unreadable_money';
      readonly ref: ResourceRef;
      readonly field: string;
      readonly versionMicros: number | undefined;
    }
  | {
      readonly outcome: 'foreign_merchant';
      /** Null when it is not a usable id. */
      readonly merchantId: string | null;
      readonly namedIn: 'envelope' | 'object';
    }
  | { readonly outcome: 'no_envelope' }
  /** The event is about something that moves no money. */
  | { readonly outcome: 'moneyless' }
  | { readonly outcome: 'ignored'; readonly contentType: string };

/**
 * Reads an inbox row.
 * @param merchantId the installation account
 * @param readForeign how this version reads free text, unless it is to be read like another did
 */
export function readEvent(
  event: Omit<InboxEvent, 'id' | 'hasVariants' | 'isRepeated'>,
  merchantId: string,
  readForeign: ForeignTextReader = readForeignText,
): EventReading {
  if (event.eventId === null) return { outcome: 'no_envelope' };
  if (event.merchantId !== merchantId) {
    return { outcome: 'foreign_merchant', merchantId: event.merchantId, namedIn: 'envelope' };
  }
  const body = parseBody(event.body);
  const envelope = isJsonObject(body) ? body : {};
  const content = isJsonObject(envelope.content) ? envelope.content : {};
  const foreign = foreignMerchantOf(content.object, { merchantId });
  if (foreign !== undefined) {
    return { outcome: 'foreign_merchant', merchantId: foreign, namedIn: 'object' };
  }
  return readContent({ envelope, content }, event, readForeign);
}

/** What a body is about that is not applied. */
export interface UnappliedRef extends ResourceRef {
  /** The version of the object in the body. */
  readonly versionMicros: number | undefined;
}

/**
 * What another body is about that arrived under the id of an event.
 * @param merchantId the installation account
 * @returns undefined if it names nothing of this account
 */
export function readOtherBody(
  body: Buffer,
  event: Pick<InboxEvent, 'eventId' | 'receivedMicros' | 'referenceMicros'>,
  merchantId: string,
): UnappliedRef | undefined {
  const envelope = parseBody(body);
  const named = isJsonObject(envelope) ? parseId(envelope.merchant_id) : undefined;
  const reading = readEvent({ ...event, body, merchantId: named ?? null }, merchantId);
  if (!('ref' in reading)) return undefined;
  const { versionMicros } = reading.outcome === 'snapshot' ? reading.content : reading;
  return { ...reading.ref, versionMicros };
}

interface Parsed {
  readonly envelope: JsonObject;
  readonly content: JsonObject;
}

function readContent(
  { envelope, content }: Parsed,
  { receivedMicros, referenceMicros }: Pick<InboxEvent, 'receivedMicros' | 'referenceMicros'>,
  readForeign: ForeignTextReader,
): EventReading {
  const contentType = readForeignText(content.type) ?? 'none';
  const labels = readLabels([contentType, readForeignText(envelope.event_type) ?? 'none']);
  if (labels.areMoneyless) return { outcome: 'moneyless' };
  const reading = readResource(content.object, referenceMicros, {
    labeledKind: labels.agreed,
    readForeign,
  });
  if (reading.outcome === 'unknown_resource') return { outcome: 'ignored', contentType };
  const { ref } = reading;
  const opposed = labels.named.find(({ kind }) => kind !== ref.kind)?.label;
  const isSupported = labels.named.some(({ kind }) => kind === ref.kind);
  if (opposed !== undefined && !isSupported) {
    const versionMicros =
      reading.outcome === 'read' ? reading.content.versionMicros : reading.versionMicros;
    return { outcome: 'label_conflict', ref, label: opposed, versionMicros };
  }
  switch (reading.outcome) {
    case 'unreadable':
      return {
        outcome: 'unreadable_money',
        ref,
        field: reading.field,
        versionMicros: reading.versionMicros,
      };
    case 'read':
      return {
        outcome: 'snapshot',
        ref,
        content: reading.content,
        observedMicros: parseInstantMicros(envelope.timestamp) ?? receivedMicros,
        versionAhead: reading.versionAhead,
        labelMismatch: opposed,
        profileId: profileOf(content.object),
      };
  }
}

interface Labels {
  /** Labels that name a kind of resource. */
  readonly named: readonly { readonly label: string; readonly kind: ResourceKind }[];
  /** The kind, if the labels name exactly one. */
  readonly agreed: ResourceKind | undefined;
  /** All known labels are about things that move no money. */
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

/** Drops a byte order mark, which JSON.parse would reject. */
const utf8 = new TextDecoder();

/** Cannot fail: the receiver parsed the body to read its event id. */
function parseBody(body: Buffer): unknown {
  return JSON.parse(utf8.decode(body));
}

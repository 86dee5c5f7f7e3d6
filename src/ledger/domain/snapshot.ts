/**
 * A snapshot is the content of one resource as observed, normalized and without personal data.
 *
 * 1. A field that the body did not carry (absent, null, empty) is undefined, never a default: the
 *    merge takes it from another snapshot, and a default would hide that one.
 * 2. An amount or currency that cannot be read makes the whole body unusable: a body with damaged money
 *    fields must not move money.
 * 3. The ids that the body carries determine the kind. Labels decide only if the body names its own id
 *    `id`, as bodies of the service's second API version do.
 */
import { redactCardNumbers } from '../../contract/cardNumbers.ts';
import { parseId } from '../../contract/identifiers.ts';
import { parseAmountMinor, parseCurrency } from '../../contract/money.ts';
import { redactPersonalData } from '../../contract/personalData.ts';
import type { ResourceKind } from '../../contract/resources/index.ts';
import { captureClaim, FINAL_STATUSES, normalizeStatus } from '../../contract/statuses.ts';
import { parseInstantMicros } from './time.ts';

/** Names one resource. */
export interface ResourceRef {
  readonly kind: ResourceKind;
  readonly id: string;
}

/** The text that names a resource: in keys of maps, and as the subject of findings. */
export function refKey({ kind, id }: ResourceRef): string {
  return `${kind}:${id}`;
}

/** The resources, each once. */
export function distinctRefs<Ref extends ResourceRef>(refs: readonly Ref[]): readonly Ref[] {
  return [...new Map(refs.map((ref) => [refKey(ref), ref])).values()];
}

/** The normalized content of a resource. The hash covers its fields in this order. */
export interface SnapshotContent {
  readonly status?: string;
  /** Disputes only. */
  readonly stage?: string;
  readonly amountMinor?: number;
  readonly currency?: string;
  /** The object's own `modified_at`, `updated` or `updated_at`. */
  readonly versionMicros?: number;
  readonly createdMicros?: number;
  /** Refunds and disputes: the payment they belong to. */
  readonly paymentId?: string;
  /** Payments: `metadata.order_id`. Payouts: `merchant_order_reference_id`. */
  readonly orderId?: string;
  readonly captureMethod?: string;
  readonly amountReceivedMinor?: number;
  readonly amountCapturableMinor?: number;
  /** Payments: `capture_before`. Disputes: `challenge_required_by`. */
  readonly deadlineMicros?: number;
  /** Why it failed or was opened; see contract/reasons.ts. */
  readonly unifiedCode?: string;
  readonly unifiedMessage?: string;
  readonly errorCode?: string;
  /** Payments: what the customer pays, with surcharge, tax and shipping. */
  readonly netAmountMinor?: number;
  readonly errorMessage?: string;
  readonly reason?: string;
  readonly reasonCode?: string;
}

/**
 * The fields of a content in the order in which they are hashed. New fields are added at the end, so
 * that a content without them keeps its hash.
 */
const HASH_ORDER = {
  status: true,
  stage: true,
  amountMinor: true,
  currency: true,
  versionMicros: true,
  createdMicros: true,
  paymentId: true,
  orderId: true,
  captureMethod: true,
  amountReceivedMinor: true,
  amountCapturableMinor: true,
  deadlineMicros: true,
  unifiedCode: true,
  unifiedMessage: true,
  errorCode: true,
  netAmountMinor: true,
  errorMessage: true,
  reason: true,
  reasonCode: true,
} as const satisfies Record<keyof SnapshotContent, true>;

/** Fields that the first version did not read. */
const ADDED_FIELDS: readonly string[] = [
  'netAmountMinor',
  'errorMessage',
  'reason',
  'reasonCode',
] satisfies (keyof SnapshotContent)[];

/** The content that the first version reads from the same body. */
export function withoutAddedFields(content: SnapshotContent): SnapshotContent {
  return Object.fromEntries(
    Object.entries(content).filter(([field]) => !ADDED_FIELDS.includes(field)),
  );
}

/** Whether text was removed from a content, so that an earlier version may have removed less. */
export function isRedacted(content: SnapshotContent): boolean {
  return Object.values(content).some((value) => typeof value === 'string' && value.includes('['));
}

/** A content with its fields in the order of the hash; `jsonb` does not keep their order. */
export function inHashOrder(content: SnapshotContent): SnapshotContent {
  const fields = Object.keys(HASH_ORDER) as (keyof SnapshotContent)[];
  return compact<SnapshotContent>(
    Object.fromEntries(fields.map((field) => [field, content[field]])) as Required<SnapshotContent>,
  );
}

/**
 * The captured amount that a payment's body carries: `amount_received` counts only beside a status
 * that means that money was captured, or where it is a part of a hold. Some services send it long before.
 */
export function capturedOf(content: SnapshotContent): number | undefined {
  const claim = captureClaim(content.status);
  const counts = claim === 'captured' || claim === 'kept' || isPartOfHold(content);
  return counts ? content.amountReceivedMinor : undefined;
}

/**
 * Whether a part was captured of a payment that still requires a capture: the contract has no status of its
 * own for that. Then what was received and what can still be captured are not more than the payment. A
 * service that sends `amount_received` too early sends all of it, beside all or nothing to capture: of a payment
 * that was authorized in part, twice the hold. Two equal amounts are a part where they are halves of the payment.
 */
function isPartOfHold(content: SnapshotContent): boolean {
  const { status, amountReceivedMinor = 0, amountCapturableMinor = 0 } = content;
  const { amountMinor = 0, netAmountMinor = amountMinor } = content;
  const sumMinor = amountReceivedMinor + amountCapturableMinor;
  return (
    status === 'requires_capture' &&
    amountReceivedMinor > 0 &&
    amountCapturableMinor > 0 &&
    (sumMinor === netAmountMinor ||
      (sumMinor < netAmountMinor && amountReceivedMinor !== amountCapturableMinor))
  );
}

/** Partly captured; more may be captured without a change of status. */
const CAPTURING: ReadonlySet<string> = new Set([
  'partially_captured_and_capturable',
  'partially_captured_and_processing',
]);

/**
 * Whether a payment's body lacks the captured amount, while more may be captured without a change of status.
 * What was received of a hold may be a captured part: only what can still be captured shows whether it is.
 */
export function hidesCapture(content: SnapshotContent): boolean {
  const { status = '', amountReceivedMinor, amountCapturableMinor, amountMinor } = content;
  if (CAPTURING.has(status)) return amountReceivedMinor === undefined;
  const { netAmountMinor = amountMinor ?? Infinity } = content;
  const receivedMinor = amountReceivedMinor ?? 0;
  const mayBePart = receivedMinor > 0 && receivedMinor < netAmountMinor;
  return status === 'requires_capture' && mayBePart && amountCapturableMinor === undefined;
}

/** Where a snapshot comes from. */
export type SnapshotSource = 'webhook' | 'retrieve' | 'list';

/** A content with its identity in the set that the merge folds. */
export interface Snapshot {
  readonly ref: ResourceRef;
  readonly content: SnapshotContent;
  /** Hash of `content`, in hexadecimal; the last field of the key. */
  readonly contentHash: string;
  readonly source: SnapshotSource;
  /** The epoch it was recorded in; see epochs.ts. */
  readonly epoch: number;
  /** Webhook: the envelope's time. Retrieve and list: the response's `Date`. Never compared as a version. */
  readonly observedMicros: number;
}

/** When the service made the change that a snapshot shows: its version, else when it was observed. */
export function changedMicros({
  content,
  observedMicros,
}: Pick<Snapshot, 'content' | 'observedMicros'>): number {
  return content.versionMicros ?? observedMicros;
}

/** A snapshot before its epoch is decided. */
export interface Observation extends Omit<Snapshot, 'epoch'> {
  /** The inbox row that brought it, if one did. */
  readonly webhookEventId: number | undefined;
  /** A person had the inbox row applied again; the service reports nothing by it. */
  readonly isReplayed?: boolean;
}

/** The result of reading a body as a resource. */
export type ResourceReading =
  | {
      readonly outcome: 'read';
      readonly ref: ResourceRef;
      readonly content: SnapshotContent;
      /** The version is too far ahead of the reference time and was not used. */
      readonly versionAhead: boolean;
    }
  /** It names a resource, but its money cannot be read. */
  | {
      readonly outcome: 'unreadable';
      readonly ref: ResourceRef;
      readonly field: string;
      /** Undefined also where it is too far ahead. */
      readonly versionMicros: number | undefined;
    }
  | { readonly outcome: 'unknown_resource' };

/** A version further ahead of the reference time comes from a wrong clock. */
const MAX_VERSION_AHEAD_MICROS = 5 * 60 * 1_000_000;

export type JsonObject = Readonly<Record<string, unknown>>;

/** In order of precedence: a refund also carries the id of its payment. */
const ID_FIELDS: readonly (readonly [ResourceKind, string])[] = [
  ['dispute', 'dispute_id'],
  ['refund', 'refund_id'],
  ['payout', 'payout_id'],
  ['payment', 'payment_id'],
];

export interface ReadingOptions {
  /** The kind that every label of the event names, if they agree on one. */
  readonly labeledKind?: ResourceKind | undefined;
  readonly readForeign?: ForeignTextReader | undefined;
}

/**
 * Reads a resource from a parsed body. Never throws.
 * @param referenceMicros the time that the version must not be far ahead of
 */
export function readResource(
  object: unknown,
  referenceMicros: number,
  { labeledKind, readForeign = readForeignText }: ReadingOptions = {},
): ResourceReading {
  if (!isJsonObject(object)) return { outcome: 'unknown_resource' };
  const ref = readLabeledRef(object, labeledKind) ?? readRef(object);
  if (!ref) return { outcome: 'unknown_resource' };
  const unreadable = MONEY_FIELDS.find(({ name, parse }) => {
    const value = own(object, name);
    return isCarried(value) && parse(value) === undefined;
  });
  const carriedMicros = readVersion(object);
  const versionAhead =
    carriedMicros !== undefined && carriedMicros > referenceMicros + MAX_VERSION_AHEAD_MICROS;
  const versionMicros = versionAhead ? undefined : carriedMicros;
  if (unreadable) return { outcome: 'unreadable', ref, field: unreadable.name, versionMicros };
  const content = readContent(ref.kind, object, versionMicros, readForeign);
  return { outcome: 'read', ref, content, versionAhead };
}

/**
 * Whether a list row carries too little to be a snapshot. Short rows have no version, or do not show what was
 * captured: they may make a retrieve due, but never post.
 */
export function isHint(ref: ResourceRef, content: SnapshotContent): boolean {
  if (content.versionMicros === undefined) return true;
  if (ref.kind !== 'payment') return false;
  return content.amountReceivedMinor === undefined || hidesCapture(content);
}

/**
 * Whether a row lacks a field that can change while the status stays the same: the captured amount of a
 * payment that may be captured further, or the stage of a dispute that is not final.
 */
export function hidesChange(
  { kind }: Pick<ResourceRef, 'kind'>,
  content: SnapshotContent,
): boolean {
  if (kind === 'payment') return hidesCapture(content);
  const { status = '', stage } = content;
  return kind === 'dispute' && stage === undefined && !FINAL_STATUSES.dispute.has(status);
}

/**
 * The part of a short list row that can be added to a resource: its time of creation, which affects
 * neither state nor money. Without a status or version it never becomes the head. A dispute also needs
 * its stage, which precedes them in the key.
 * @returns undefined if there is nothing to add
 */
export function supplementOf(
  { kind }: Pick<ResourceRef, 'kind'>,
  { createdMicros, stage }: SnapshotContent,
): SnapshotContent | undefined {
  if (createdMicros === undefined) return undefined;
  if (kind !== 'dispute') return { createdMicros };
  return stage === undefined ? undefined : { stage, createdMicros };
}

/** Whether a content has only what a short list row may add. */
function isSupplement(content: SnapshotContent): boolean {
  const { createdMicros, stage, ...rest } = content;
  return createdMicros !== undefined && Object.keys(rest).length === 0;
}

/** Whether an observation carries too little to become a snapshot; see `isHint`. */
export function isHintObservation({ source, ref, content }: Observation): boolean {
  return source === 'list' && isHint(ref, content) && !isSupplement(content);
}

const MONEY_FIELDS = [
  { name: 'amount', parse: parseAmountMinor },
  { name: 'net_amount', parse: parseAmountMinor },
  { name: 'amount_received', parse: parseAmountMinor },
  { name: 'amount_capturable', parse: parseAmountMinor },
  { name: 'currency', parse: parseCurrency },
] as const;

function readRef(object: JsonObject): ResourceRef | undefined {
  for (const [kind, field] of ID_FIELDS) {
    const value = own(object, field);
    if (!isCarried(value)) continue;
    const id = parseId(value);
    return id === undefined ? undefined : { kind, id };
  }
  return undefined;
}

/**
 * The resource of a body that names its own id `id`. A refund or dispute also names its payment; any
 * other id contradicts the labels.
 */
function readLabeledRef(
  object: JsonObject,
  kind: ResourceKind | undefined,
): ResourceRef | undefined {
  if (kind === undefined) return undefined;
  const hasParent = kind === 'refund' || kind === 'dispute';
  const isNamed = ID_FIELDS.some(
    ([named, field]) => !(hasParent && named === 'payment') && isCarried(own(object, field)),
  );
  const id = isNamed ? undefined : parseId(own(object, 'id'));
  return id === undefined ? undefined : { kind, id };
}

function readVersion(object: JsonObject): number | undefined {
  return (
    parseInstantMicros(own(object, 'modified_at')) ??
    parseInstantMicros(own(object, 'updated')) ??
    parseInstantMicros(own(object, 'updated_at'))
  );
}

function readContent(
  kind: ResourceKind,
  object: JsonObject,
  versionMicros: number | undefined,
  readForeign: ForeignTextReader,
): SnapshotContent {
  const text = (field: string) => readText(own(object, field));
  const status = (kind === 'dispute' ? text('dispute_status') : undefined) ?? text('status');
  const paymentId =
    kind === 'refund' || kind === 'dispute' ? parseId(own(object, 'payment_id')) : undefined;
  return compact<SnapshotContent>({
    status: status === undefined ? undefined : normalizeStatus(kind, status),
    stage: kind === 'dispute' ? text('dispute_stage') : undefined,
    amountMinor: parseAmountMinor(own(object, 'amount')),
    currency: parseCurrency(own(object, 'currency')),
    versionMicros,
    createdMicros:
      parseInstantMicros(own(object, 'created')) ?? parseInstantMicros(own(object, 'created_at')),
    paymentId,
    orderId: readOrderId(kind, object),
    captureMethod: kind === 'payment' ? text('capture_method') : undefined,
    amountReceivedMinor:
      kind === 'payment' ? parseAmountMinor(own(object, 'amount_received')) : undefined,
    amountCapturableMinor:
      kind === 'payment' ? parseAmountMinor(own(object, 'amount_capturable')) : undefined,
    deadlineMicros: parseInstantMicros(
      own(object, kind === 'dispute' ? 'challenge_required_by' : 'capture_before'),
    ),
    unifiedCode: readForeign(own(object, 'unified_code')),
    unifiedMessage: readForeign(own(object, 'unified_message')),
    errorCode: readForeign(own(object, 'error_code')),
    netAmountMinor: kind === 'payment' ? parseAmountMinor(own(object, 'net_amount')) : undefined,
    errorMessage: readForeign(own(object, 'error_message')),
    reason: readForeign(readReason(kind, object)),
    reasonCode: kind === 'dispute' ? readForeign(own(object, 'connector_reason_code')) : undefined,
  });
}

/** The field with the reason, by kind of resource. */
function readReason(kind: ResourceKind, object: JsonObject): unknown {
  switch (kind) {
    case 'payment':
      return own(object, 'cancellation_reason') ?? connectorReason(object);
    case 'refund':
      return own(object, 'reason');
    case 'dispute':
      return own(object, 'connector_reason');
    case 'payout':
      return undefined;
  }
}

function connectorReason(payment: JsonObject): unknown {
  const details = own(payment, 'error_details');
  const connector = isJsonObject(details) ? own(details, 'connector_details') : undefined;
  return isJsonObject(connector) ? own(connector, 'reason') : undefined;
}

/** Shops send order ids as text or as integers; other values name no order. */
function readOrderId(kind: ResourceKind, object: JsonObject): string | undefined {
  if (kind === 'payout') return parseId(own(object, 'merchant_order_reference_id'));
  if (kind !== 'payment') return undefined;
  const metadata = own(object, 'metadata');
  const orderId = isJsonObject(metadata) ? own(metadata, 'order_id') : undefined;
  return parseId(Number.isSafeInteger(orderId) ? String(orderId) : orderId);
}

const MAX_TEXT_LENGTH = 500;

/**
 * Free text from outside that PostgreSQL can store, without NUL and lone surrogates.
 * Empty text counts as not carried.
 */
function readText(value: unknown): string | undefined {
  if (typeof value !== 'string' || value === '') return undefined;
  return value.slice(0, MAX_TEXT_LENGTH).toWellFormed().replaceAll('\u0000', '\uFFFD');
}

/** The most text searched for personal data. */
const MAX_SEARCHED_LENGTH = 2_000;

/** Reads a field that an acquirer, a bank or a customer may have written. */
export type ForeignTextReader = (value: unknown) => string | undefined;

/** Free text without personal data that its form gives away. */
export function readForeignText(value: unknown): string | undefined {
  return typeof value === 'string'
    ? readText(redactPersonalData(value, MAX_SEARCHED_LENGTH))
    : undefined;
}

/**
 * Free text as versions that removed card numbers only have stored it. A stored snapshot never
 * changes, so `verify` needs it to find the snapshots of those versions.
 */
export function readTextWithoutCardNumbers(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const isCut = value.length > MAX_SEARCHED_LENGTH;
  const searched = value.slice(0, MAX_SEARCHED_LENGTH);
  // Digits at the cut may be the first part of a card number, which would not be recognized.
  return readText(redactCardNumbers(isCut ? searched.replace(/\d[\d -]*$/, '[digits]') : searched));
}

/** Absent, null and empty fields carry nothing. */
export function isCarried(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Reads own properties only: a body must not reach its prototype. */
function own(object: JsonObject, field: string): unknown {
  return Object.hasOwn(object, field) ? object[field] : undefined;
}

function compact<T extends object>(fields: { [K in keyof T]: T[K] | undefined }): T {
  const carried: Partial<T> = {};
  for (const field in fields) {
    const value = fields[field];
    if (value !== undefined) carried[field] = value;
  }
  return carried as T;
}

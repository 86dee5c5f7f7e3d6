/**
 * The merge rule: the state of a resource is a join over the *set* of its snapshots.
 *
 * Terms. *Key*: what orders the snapshots of one resource. *Head*: the snapshot with the greatest
 * key. *Carried*: a field that a snapshot has; the others are undefined.
 *
 * 1. State is a function of a set: arrival order and duplicates cannot matter.
 * 2. The key compares, field by field: epoch, dispute stage, object version (none is lowest), rank
 *    of the status, carried captured amount, content hash. It is a total order, so there are no ties.
 *    The time of the envelope and the time of receipt do not take part: a retried webhook carries an
 *    old body with new times.
 * 3. Fields come from the head. A field that the head does not carry comes from the greatest snapshot
 *    that does, unless what it belonged to is over (`withoutEnded`).
 * 4. Cumulative amounts are maxima over carried values of the head's epoch and currency: amounts
 *    captured and authorized only grow within an epoch. A captured amount counts only beside a status
 *    that claims a capture (CAPTURE_CLAIMS), and a `failed` snapshot voids the captures below it and ends
 *    their hold: a later attempt starts from zero.
 * 5. A `succeeded` payment without a captured amount counts its net amount provisionally if it was
 *    never held for capture. If money was held, the captured amount is unknown and nothing more is posted,
 *    unless no part is known and a body with that status leaves nothing to capture: then the hold counts
 *    provisionally, or else the net amount. The provisional value is never stored, so the first carried value replaces it.
 * 6. The merge reports uncertainties and does not resolve them: each makes a retrieve due.
 * 7. A state with an unknown status posts nothing, because its effect on money is unknown.
 *
 * Rejected: last write wins by time (of two events with one timestamp, one is lost), and arrival order
 * (of a reordered pair, the later state is lost).
 */
import type { ResourceKind } from '../../contract/resources/index.ts';
import { captureClaim, FINAL_STATUSES, isKnownStatus } from '../../contract/statuses.ts';
import { termSinceMicros } from './overdue.ts';
import { DEFAULT_DISPUTE_STAGE, stageRank, statusRank } from './ranks.ts';
import {
  capturedOf,
  hidesCapture,
  type ResourceRef,
  type Snapshot,
  type SnapshotContent,
} from './snapshot.ts';
import { stageSinceMicros } from './stageSince.ts';
import { isReachable } from './transitions.ts';

/** Why a state needs a retrieve before it can be trusted. */
export type Uncertainty =
  /** The head carries no status, amount or currency, and no body of its version and status does. */
  | 'incomplete'
  | 'unknown_status'
  /** A body without a version ranks above the versioned head. */
  | 'unversioned_ahead'
  /** The captured or authorized amount is assumed, because no body carries it. */
  | 'provisional_amount'
  /** Money was captured from a hold, and no body carries the amount or leaves nothing to capture. */
  | 'unknown_amount'
  /**
   * The payment ended without success after a possible capture, and no final body carries the amount; or the newest
   * body shows a partial capture without it.
   */
  | 'unstated_capture'
  /** Bodies that have no order in time carry different amounts. */
  | 'conflicting_amounts';

export interface IllegalStep {
  readonly from: string;
  readonly to: string;
}

/** The fields of contents, joined; those that no content carries are undefined. */
export type StateFields = {
  readonly [Field in keyof SnapshotContent]?: SnapshotContent[Field] | undefined;
};

/** The merged state of one resource. The fields of SnapshotContent are joined over the set. */
export interface ResourceState extends StateFields {
  readonly ref: ResourceRef;
  readonly epoch: number;
  readonly headHash: string;
  /** Payments held for capture: the largest hold; otherwise 0. */
  readonly authorizedMinor: number;
  /** Payments: the captured amount; otherwise 0. */
  readonly capturedMinor: number;
  /** Failed payments: the captured amount that an older body carries; otherwise 0. */
  readonly revokedMinor: number;
  /** When the term of its status began (overdue.ts), in microseconds since 1970; undefined for no term. */
  readonly termSinceMicros: number | undefined;
  /** Disputes: when the stage began (stageSince.ts), in microseconds since 1970; otherwise undefined. */
  readonly stageSinceMicros: number | undefined;
  /** Refunds and disputes: the payments that bodies name, if they name several; otherwise empty. */
  readonly namedPayments: readonly string[];
  /** Whether enough is known to post money for this resource. */
  readonly posts: boolean;
  readonly uncertainties: readonly Uncertainty[];
  /**
   * The furthest status that a body without a version reports beyond the head, at its stage; undefined for none.
   * Once a dispute was seen at another stage, a body that names none may be of any, and does not count.
   */
  readonly statusAhead: string | undefined;
  readonly illegalSteps: readonly IllegalStep[];
}

/** The fields of the key, in the order in which they decide (invariant 2). */
export const KEY_FIELDS = ['epoch', 'stage', 'version', 'rank', 'captured', 'hash'] as const;
export type KeyField = (typeof KEY_FIELDS)[number];

const COMPARE: Readonly<Record<KeyField, (a: Snapshot, b: Snapshot) => number>> = {
  epoch: (a, b) => a.epoch - b.epoch,
  stage: (a, b) => stageRank(a.ref.kind, a.content.stage) - stageRank(b.ref.kind, b.content.stage),
  version: (a, b) => (a.content.versionMicros ?? -1) - (b.content.versionMicros ?? -1),
  rank: (a, b) =>
    statusRank(a.ref.kind, a.content.status) - statusRank(b.ref.kind, b.content.status),
  captured: (a, b) => (a.content.amountReceivedMinor ?? -1) - (b.content.amountReceivedMinor ?? -1),
  hash: (a, b) => compareText(a.contentHash, b.contentHash),
};

/** Total order of the snapshots of one resource: negative when `a` is below `b`. */
export function compareSnapshots(a: Snapshot, b: Snapshot): number {
  for (const field of KEY_FIELDS) {
    const order = COMPARE[field](a, b);
    if (order !== 0) return order;
  }
  return 0;
}

/** The field that decides between two snapshots; undefined when their keys are equal. */
export function decidingField(a: Snapshot, b: Snapshot): KeyField | undefined {
  return KEY_FIELDS.find((field) => COMPARE[field](a, b) !== 0);
}

/**
 * Folds the snapshots of one resource into its state.
 * @param snapshots in any order, duplicates allowed; at least one
 */
export function foldSnapshots(snapshots: readonly Snapshot[]): ResourceState {
  const ascending = [...snapshots].sort(compareSnapshots);
  const head = ascending.at(-1);
  if (!head) throw new RangeError('a resource without snapshots has no state to fold');
  const fields = joinFields(ascending);
  const current = currentSnapshots(ascending, { epoch: head.epoch, currency: fields.currency });
  const amounts =
    head.ref.kind === 'payment' ? paymentAmounts(fields, current) : NO_PAYMENT_AMOUNTS;
  const ahead = snapshotsAhead(head, current);
  return {
    // Each by name, so that all states have one shape, which V8 reads faster than a copy of each content's.
    status: fields.status,
    stage: fields.stage,
    amountMinor: fields.amountMinor,
    currency: fields.currency,
    versionMicros: fields.versionMicros,
    createdMicros: fields.createdMicros,
    paymentId: fields.paymentId,
    orderId: fields.orderId,
    captureMethod: fields.captureMethod,
    amountReceivedMinor: fields.amountReceivedMinor,
    amountCapturableMinor: fields.amountCapturableMinor,
    deadlineMicros: fields.deadlineMicros,
    unifiedCode: fields.unifiedCode,
    unifiedMessage: fields.unifiedMessage,
    errorCode: fields.errorCode,
    netAmountMinor: fields.netAmountMinor,
    errorMessage: fields.errorMessage,
    reason: fields.reason,
    reasonCode: fields.reasonCode,
    ref: head.ref,
    epoch: head.epoch,
    headHash: head.contentHash,
    authorizedMinor: amounts.authorizedMinor,
    capturedMinor: amounts.capturedMinor,
    revokedMinor: amounts.revokedMinor,
    termSinceMicros: termSinceMicros(head.ref.kind, fields, ascending),
    stageSinceMicros: head.ref.kind === 'dispute' ? stageSinceMicros(fields, ascending) : undefined,
    namedPayments: hasParent(head.ref.kind) ? namedPayments(ascending) : [],
    posts:
      fields.amountMinor !== undefined &&
      fields.currency !== undefined &&
      isKnownStatus(head.ref.kind, fields.status ?? '') &&
      !amounts.uncertainties.includes('unknown_amount'),
    uncertainties: [
      ...headUncertainties(head, fields, { current, ahead }),
      ...amounts.uncertainties,
    ],
    statusAhead: furthestStatus(ahead, ascending),
    illegalSteps: findIllegalSteps(ascending),
  };
}

/** Fields of the greatest snapshot that carries them (invariant 3). */
function joinFields(ascending: readonly Snapshot[]): SnapshotContent {
  const [first, ...others] = ascending.map(({ content }) => content);
  return others.reduce(joinContent, first ?? {});
}

function joinContent(below: SnapshotContent, content: SnapshotContent): SnapshotContent {
  return { ...withoutEnded(below, content), ...content };
}

/**
 * Fields without those that a content above them ends. A net amount belongs to the amount beside it: an update
 * of the payment changes both. A deadline belongs to its stage of a dispute, or to its hold: a failure ends that,
 * and another attempt has its own.
 */
function withoutEnded(below: SnapshotContent, content: SnapshotContent): SnapshotContent {
  const isChanged = (field: 'amountMinor' | 'currency') =>
    content[field] !== undefined && content[field] !== below[field];
  const isNewStage =
    content.stage !== undefined && content.stage !== (below.stage ?? DEFAULT_DISPUTE_STAGE);
  const isNewAttempt =
    content.status !== undefined &&
    captureClaim(below.status) === 'failed' &&
    captureClaim(content.status) !== 'failed';
  const kept = isChanged('amountMinor') || isChanged('currency') ? withoutNetAmount(below) : below;
  return isNewStage || isNewAttempt ? withoutDeadline(kept) : kept;
}

function withoutNetAmount({ netAmountMinor, ...fields }: SnapshotContent): SnapshotContent {
  return fields;
}

function withoutDeadline({ deadlineMicros, ...fields }: SnapshotContent): SnapshotContent {
  return fields;
}

/** The snapshot that a field of the state comes from (invariant 3). */
export function carrierOf<One extends Snapshot>(
  ascending: readonly One[],
  field: keyof SnapshotContent,
): One | undefined {
  return ascending.findLast(({ content }) => content[field] !== undefined);
}

/** The snapshots that amounts are taken from: those of the head's epoch and currency (invariant 4). */
function currentSnapshots<One extends Snapshot>(
  ascending: readonly One[],
  { epoch, currency }: { readonly epoch: number; readonly currency?: string | undefined },
): readonly One[] {
  return ascending.filter(
    (snapshot) => snapshot.epoch === epoch && (snapshot.content.currency ?? currency) === currency,
  );
}

function hasParent(kind: ResourceKind): boolean {
  return kind === 'refund' || kind === 'dispute';
}

/** A refund or dispute never changes its payment, so bodies that name several contradict each other. */
function namedPayments(snapshots: readonly Snapshot[]): readonly string[] {
  const named = new Set(snapshots.flatMap(({ content }) => content.paymentId ?? []));
  return named.size > 1 ? [...named].sort() : [];
}

interface PaymentAmounts {
  readonly authorizedMinor: number;
  readonly capturedMinor: number;
  readonly revokedMinor: number;
  readonly uncertainties: readonly Uncertainty[];
}

const NO_PAYMENT_AMOUNTS: PaymentAmounts = {
  authorizedMinor: 0,
  capturedMinor: 0,
  revokedMinor: 0,
  uncertainties: [],
};

/** Statuses that mean that money is held for capture, or was captured from a hold. */
export const HELD: ReadonlySet<string> = new Set([
  'requires_capture',
  'partially_authorized_and_requires_capture',
  'partially_captured_and_processing',
  'partially_captured_and_capturable',
]);

/** Statuses in which a carried captured amount is final. */
const SETTLED: ReadonlySet<string> = new Set([
  'succeeded',
  'partially_captured',
  'cancelled_post_capture',
]);

function paymentAmounts(fields: StateFields, current: readonly Snapshot[]): PaymentAmounts {
  const isHeld = isHeldForCapture(fields, current);
  const captured = capturedAmount(fields, latestAttempt(current), isHeld);
  const held = isHeld ? authorizedAmount(fields, heldAttempt(current)) : NO_PAYMENT_AMOUNTS;
  return {
    authorizedMinor: held.authorizedMinor,
    capturedMinor: captured.capturedMinor,
    revokedMinor: revokedAmount(fields, current),
    uncertainties: [...new Set<Uncertainty>([...captured.uncertainties, ...held.uncertainties])],
  };
}

/**
 * The source of a payment's amount. `carried`: `from` carries it, or no body carries one and it is zero.
 * `provisional`: it is assumed, because no body carries one. `unknown`: money was captured and no body
 * carries the final amount; `from` carries the known part.
 */
export interface AmountSource<One extends Snapshot> {
  readonly basis: 'carried' | 'provisional' | 'unknown';
  readonly from: One | undefined;
}

/**
 * The sources of the amounts in a payment's state, by the rules of the fold. Only explanations need
 * them, so they are not part of the fold, which runs for every event.
 */
export function amountSources<One extends Snapshot>(
  ascending: readonly One[],
  state: ResourceState,
): { readonly captured: AmountSource<One>; readonly authorized: AmountSource<One> } {
  const current = currentSnapshots(ascending, state);
  const attempt = latestAttempt(current);
  const isHeld = isHeldForCapture(state, current);
  const captured = capturedAmount(state, attempt, isHeld);
  const holding = heldAttempt(current);
  const held = isHeld ? authorizedAmount(state, holding) : NO_PAYMENT_AMOUNTS;
  return {
    captured: sourceOf(captured.uncertainties, () =>
      attempt.findLast(({ content }) => capturedOf(content) === captured.capturedMinor),
    ),
    authorized: sourceOf(held.uncertainties, () =>
      holding.findLast(({ content }) => holdOf(content) === held.authorizedMinor),
    ),
  };
}

function sourceOf<One extends Snapshot>(
  uncertainties: readonly Uncertainty[],
  find: () => One | undefined,
): AmountSource<One> {
  if (uncertainties.includes('provisional_amount'))
    return { basis: 'provisional', from: undefined };
  return { basis: uncertainties.includes('unknown_amount') ? 'unknown' : 'carried', from: find() };
}

function isFailure({ content }: Snapshot): boolean {
  return captureClaim(content.status) === 'failed';
}

/** The snapshots above the last failed one (invariant 4). */
function latestAttempt<One extends Snapshot>(ascending: readonly One[]): readonly One[] {
  return ascending.slice(ascending.findLastIndex(isFailure) + 1);
}

/** The same, but for a failed payment those of the attempt that failed: its hold is what was released. */
function heldAttempt<One extends Snapshot>(ascending: readonly One[]): readonly One[] {
  const last = ascending.findLastIndex((snapshot) => !isFailure(snapshot));
  const failure = ascending.findLastIndex((snapshot, at) => at < last && isFailure(snapshot));
  return ascending.slice(failure + 1);
}

/** A body may carry no capture method, or an unknown one. Then a status that holds money shows it. */
function isHeldForCapture(fields: StateFields, current: readonly Snapshot[]): boolean {
  return (
    fields.captureMethod?.startsWith('manual') === true ||
    current.some(({ content }) => HELD.has(content.status ?? ''))
  );
}

function capturedAmount(
  fields: StateFields,
  attempt: readonly Snapshot[],
  isHeld: boolean,
): { readonly capturedMinor: number; readonly uncertainties: readonly Uncertainty[] } {
  const capturedMinor = maxCarried(attempt, capturedOf) ?? 0;
  const isFinal = fields.status === 'succeeded' || fields.status === 'partially_captured';
  const settledCarries = attempt.some(
    ({ content }) => SETTLED.has(content.status ?? '') && capturedOf(content) !== undefined,
  );
  if (!isFinal || settledCarries) {
    return {
      capturedMinor,
      uncertainties: [...carriedLess(attempt), ...unstatedCapture(fields, attempt, isHeld)],
    };
  }
  // A part that is known leaves open whether the rest was captured or released.
  const isPart = fields.status === 'partially_captured' || (isHeld && capturedMinor > 0);
  const assumedMinor = isPart ? undefined : provisionalMinor(fields, attempt, isHeld);
  return assumedMinor === undefined
    ? { capturedMinor, uncertainties: ['unknown_amount'] }
    : { capturedMinor: assumedMinor, uncertainties: ['provisional_amount'] };
}

/** What is assumed of a `succeeded` payment, if no body carries the amount (invariant 5); undefined: unknown. */
function provisionalMinor(
  fields: StateFields,
  attempt: readonly Snapshot[],
  isHeld: boolean,
): number | undefined {
  if (isHeld && !leavesNothing(attempt)) return undefined;
  const holdMinor = isHeld ? maxCarried(attempt, holdOf) : undefined;
  return holdMinor || (dueMinor(fields) ?? 0);
}

/**
 * Whether a body shows that everything was captured. A payment that was captured in part and released the
 * rest has a status of its own; a body of few fields does not carry what can still be captured.
 */
function leavesNothing(attempt: readonly Snapshot[]): boolean {
  return attempt.some(
    ({ content }) => content.status === 'succeeded' && content.amountCapturableMinor === 0,
  );
}

/** A final body carries less than an earlier one, which is impossible within an epoch. */
function carriedLess(attempt: readonly Snapshot[]): readonly Uncertainty[] {
  const last = attempt.at(-1)?.content;
  if (!last || !FINAL_STATUSES.payment.has(last.status ?? '')) return [];
  // A void may report the remaining captured amount.
  if (last.status === 'cancelled_post_capture') return [];
  const carriedMinor = capturedOf(last);
  const mostMinor = maxCarried(attempt, capturedOf) ?? 0;
  return carriedMinor !== undefined && carriedMinor < mostMinor ? ['conflicting_amounts'] : [];
}

/** Capture methods that capture only if the payment succeeds. */
const CAPTURES_BY_SUCCESS: ReadonlySet<string> = new Set(['automatic', 'sequential_automatic']);

/**
 * A payment that was cancelled or expired keeps its captures. An amount from before the end may have
 * grown since, so only a final body can carry the amount.
 */
function unstatedCapture(
  { status, captureMethod = '' }: StateFields,
  attempt: readonly Snapshot[],
  isHeld: boolean,
): readonly Uncertainty[] {
  if (hidesPart(attempt)) return ['unstated_capture'];
  const mayHaveCaptured = isHeld || !CAPTURES_BY_SUCCESS.has(captureMethod);
  if (captureClaim(status) !== 'kept' || !mayHaveCaptured) return [];
  const isCarried = attempt.some(
    ({ content }) =>
      FINAL_STATUSES.payment.has(content.status ?? '') && capturedOf(content) !== undefined,
  );
  return isCarried ? [] : ['unstated_capture'];
}

/** Whether the newest body shows that a part was captured, and not how much: earlier ones carry what it was before. */
function hidesPart(attempt: readonly Snapshot[]): boolean {
  const { content } = attempt.at(-1) ?? {};
  return (
    content !== undefined && captureClaim(content.status) === 'captured' && hidesCapture(content)
  );
}

/** The amount due for a payment, with surcharge, tax and shipping if the service sends them. */
export function dueMinor({
  netAmountMinor,
  amountMinor,
}: Pick<StateFields, 'netAmountMinor' | 'amountMinor'>): number | undefined {
  return netAmountMinor ?? amountMinor;
}

/**
 * The amount that earlier snapshots of a failed payment show as captured. Only snapshots with a version
 * count, because only they are known to be older than the failure.
 */
function revokedAmount(fields: StateFields, current: readonly Snapshot[]): number {
  if (captureClaim(fields.status) !== 'failed') return 0;
  const dated = current.filter(({ content }) => content.versionMicros !== undefined);
  const carriedMinor = maxCarried(dated, capturedOf);
  if (carriedMinor !== undefined) return carriedMinor;
  const hasSucceeded = dated.some(({ content }) => content.status === 'succeeded');
  const isHeld = isHeldForCapture(fields, dated);
  return hasSucceeded ? (provisionalMinor(fields, dated, isHeld) ?? 0) : 0;
}

/**
 * The largest hold. Only bodies with a status that holds or captures money count: some services report
 * the full amount as capturable long before anything is authorized.
 */
function authorizedAmount(
  fields: StateFields,
  attempt: readonly Snapshot[],
): { readonly authorizedMinor: number; readonly uncertainties: readonly Uncertainty[] } {
  const carriedMinor = maxCarried(attempt, holdOf);
  if (carriedMinor !== undefined) return { authorizedMinor: carriedMinor, uncertainties: [] };
  const isHeld = attempt.some(({ content: { status } }) => HELD.has(status ?? ''));
  return isHeld
    ? { authorizedMinor: dueMinor(fields) ?? 0, uncertainties: ['provisional_amount'] }
    : { authorizedMinor: 0, uncertainties: [] };
}

/** The hold that a body carries: its capturable and its captured amount. */
function holdOf(content: SnapshotContent): number | undefined {
  const { status = '', amountCapturableMinor } = content;
  if (!HELD.has(status) && !SETTLED.has(status)) return undefined;
  const capturedMinor = capturedOf(content);
  return amountCapturableMinor === undefined && capturedMinor === undefined
    ? undefined
    : (amountCapturableMinor ?? 0) + (capturedMinor ?? 0);
}

function maxCarried(
  snapshots: readonly Snapshot[],
  read: (content: SnapshotContent) => number | undefined,
): number | undefined {
  let max: number | undefined;
  for (const { content } of snapshots) {
    const value = read(content);
    if (value !== undefined && (max === undefined || value > max)) max = value;
  }
  return max;
}

/** The snapshots without a version that rank above the head, at its stage; a head without one has the highest rank. */
function snapshotsAhead(head: Snapshot, current: readonly Snapshot[]): readonly Snapshot[] {
  const { kind } = head.ref;
  return current.filter(
    ({ content }) =>
      content.versionMicros === undefined &&
      stageRank(kind, content.stage) === stageRank(kind, head.content.stage) &&
      statusRank(kind, content.status) > statusRank(kind, head.content.status),
  );
}

/** @param ahead as `ascending`: without a version and at one stage, so that the last has the highest rank */
function furthestStatus(
  ahead: readonly Snapshot[],
  ascending: readonly Snapshot[],
): string | undefined {
  return ahead.findLast(
    ({ content }) => content.stage !== undefined || !isSeenAtOtherStage(ascending),
  )?.content.status;
}

interface Compared {
  readonly current: readonly Snapshot[];
  /** Those of them that rank above the head and have no version. */
  readonly ahead: readonly Snapshot[];
}

function headUncertainties(
  head: Snapshot,
  fields: StateFields,
  { current, ahead }: Compared,
): readonly Uncertainty[] {
  const { kind } = head.ref;
  const uncertainties: Uncertainty[] = [];
  if (isIncomplete(head, current)) uncertainties.push('incomplete');
  if (fields.status !== undefined && !isKnownStatus(kind, fields.status)) {
    uncertainties.push('unknown_status');
  }
  if (ahead.length > 0) uncertainties.push('unversioned_ahead');
  if (current.some((snapshot) => contradictsMoney(snapshot, head))) {
    uncertainties.push('conflicting_amounts');
  }
  return uncertainties;
}

/**
 * Whether the money of the head is unknown. Events have fewer fields than responses: of bodies with one version and
 * status any may be the head, so those that carry an amount complete it, unless they differ.
 */
function isIncomplete(head: Snapshot, current: readonly Snapshot[]): boolean {
  const { status, amountMinor, currency, versionMicros } = head.content;
  if (status === undefined) return true;
  if (amountMinor !== undefined && currency !== undefined) return false;
  if (versionMicros === undefined) return true;
  const alike = current.filter((snapshot) => isSameMoment(snapshot, head));
  const amounts = new Set(alike.flatMap(({ content }) => content.amountMinor ?? []));
  const currencies = new Set(alike.flatMap(({ content }) => content.currency ?? []));
  return amounts.size !== 1 || currencies.size !== 1;
}

/** Whether a snapshot is neither older nor newer than another, nor of another rank. */
function isSameMoment({ ref: { kind }, content }: Snapshot, other: Snapshot): boolean {
  return (
    stageRank(kind, content.stage) === stageRank(kind, other.content.stage) &&
    content.versionMicros === other.content.versionMicros &&
    statusRank(kind, content.status) === statusRank(kind, other.content.status)
  );
}

/**
 * Whether a snapshot that is neither older nor lower in rank than the head carries other money terms.
 * Captured amounts may differ while captures continue: two of them can have one timestamp.
 */
function contradictsMoney(snapshot: Snapshot, head: Snapshot): boolean {
  const { kind } = head.ref;
  if (!isSameMoment(snapshot, head)) return false;
  const differs = <T>(read: (content: SnapshotContent) => T | undefined) =>
    read(snapshot.content) !== undefined &&
    read(head.content) !== undefined &&
    read(snapshot.content) !== read(head.content);
  const isFinal = FINAL_STATUSES[kind].has(head.content.status ?? '');
  return (
    differs(({ amountMinor }) => amountMinor) ||
    (isFinal && (differs(capturedOf) || differs(({ status }) => status)))
  );
}

/**
 * Impossible status transitions, in key order. Snapshots without a version have no position among those
 * with one, so the two groups are checked separately. An epoch or dispute stage starts a new history. Once a
 * dispute was seen at another stage, a snapshot that names none may be of any, and belongs to no history.
 */
function findIllegalSteps(ascending: readonly Snapshot[]): readonly IllegalStep[] {
  const steps: IllegalStep[] = [];
  const hasStages = isSeenAtOtherStage(ascending);
  let previous: Snapshot | undefined;
  for (const snapshot of ascending) {
    if (snapshot.content.status === undefined) continue;
    if (hasStages && snapshot.content.stage === undefined) continue;
    if (previous && isSameHistory(previous, snapshot)) {
      const from = previous.content.status ?? '';
      const to = snapshot.content.status;
      if (!isReachable(snapshot.ref.kind, from, to)) steps.push({ from, to });
    }
    previous = snapshot;
  }
  return steps;
}

/** Whether a body names a stage other than the one that a body without a stage is taken to be of. */
function isSeenAtOtherStage(snapshots: readonly Snapshot[]): boolean {
  return snapshots.some(
    ({ ref: { kind }, content: { stage } }) =>
      stageRank(kind, stage) !== stageRank(kind, undefined),
  );
}

function isSameHistory(a: Snapshot, b: Snapshot): boolean {
  const { kind }: { kind: ResourceKind } = a.ref;
  return (
    a.epoch === b.epoch &&
    stageRank(kind, a.content.stage) === stageRank(kind, b.content.stage) &&
    (a.content.versionMicros === undefined) === (b.content.versionMicros === undefined)
  );
}

function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

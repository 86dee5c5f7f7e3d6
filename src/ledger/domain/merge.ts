/**
 * The merge rule: the state of a resource is a join over the *set* of its snapshots.
 *
 * Terms. *Key*: what orders the snapshots of one resource. *Head*: the snapshot with the greatest
 * key. *Carried*: a field that a snapshot has; fields it lacks are undefined.
 *
 * 1. State is a function of a set: arrival order and duplicates cannot matter.
 * 2. The key compares, field by field: epoch, dispute stage, object version (none is lowest), rank
 *    of the status, carried captured amount, content hash. It is a total order, so no tie is left
 *    to luck. Neither the envelope's time nor the time of receipt takes part: a retried webhook
 *    carries an old body under any of them.
 * 3. The head gives the fields. What the head does not carry comes from the greatest snapshot that
 *    does.
 * 4. Cumulative amounts are maxima over carried values of the head's epoch and currency: amounts
 *    captured and authorized only grow within an epoch. A captured amount counts only beside a status
 *    that claims a capture (CAPTURE_CLAIMS), and a `failed` snapshot voids what lies below it: a later
 *    attempt starts from zero.
 * 5. A `succeeded` payment without a captured amount counts its net amount provisionally if it was
 *    never held for capture. The provisional value is never stored, so the first carried value
 *    replaces it instead of competing with it. Of what was held the amount is unknown and nothing is
 *    posted.
 * 6. Doubts are stated, not resolved here: each of them makes a retrieve due.
 * 7. A state with an unknown status posts nothing: what it means for money is not known.
 *
 * Rejected: last write wins by time (two events of one tick lose one), and arrival order (a
 * reordered pair loses the later state). The small models beside the design show both failing.
 */
import type { ResourceKind } from '../../contract/resources/index.ts';
import { captureClaim, FINAL_STATUSES, isKnownStatus } from '../../contract/statuses.ts';
import { stageRank, statusRank } from './ranks.ts';
import { capturedOf, type ResourceRef, type Snapshot, type SnapshotContent } from './snapshot.ts';
import { isReachable } from './transitions.ts';

/** Why the state cannot be trusted without asking the service again. */
export type Doubt =
  /** Status, amount or currency is known from nowhere, or the head did not carry it. */
  | 'incomplete'
  | 'unknown_status'
  /** A body without a version says more than the versioned head. */
  | 'unversioned_ahead'
  /** The captured or authorized amount stands in for one that no body carried. */
  | 'provisional_amount'
  /** Captured from a hold, and no body says how much. */
  | 'unknown_amount'
  /** Ended without success, may have captured before, and no final body says how much. */
  | 'unstated_capture'
  /** Bodies that nothing tells apart in time say different money. */
  | 'conflicting_amounts';

export interface IllegalStep {
  readonly from: string;
  readonly to: string;
}

/** The merged state of one resource. Fields as in SnapshotContent, joined over the set. */
export interface ResourceState extends SnapshotContent {
  readonly ref: ResourceRef;
  readonly epoch: number;
  readonly headHash: string;
  /** Payments held for capture: the largest hold that was seen; otherwise 0. */
  readonly authorizedMinor: number;
  /** Payments: what was captured; otherwise 0. */
  readonly capturedMinor: number;
  /** Payments that are failed now: what an older body reported as captured; otherwise 0. */
  readonly revokedMinor: number;
  /** Refunds and disputes: every payment that a body names, where they name several; otherwise none. */
  readonly namedPayments: readonly string[];
  /** Whether enough is known to post money for this resource. */
  readonly posts: boolean;
  readonly doubts: readonly Doubt[];
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
  const complete =
    fields.status !== undefined &&
    fields.amountMinor !== undefined &&
    fields.currency !== undefined;
  return {
    ...fields,
    ref: head.ref,
    epoch: head.epoch,
    headHash: head.contentHash,
    authorizedMinor: amounts.authorizedMinor,
    capturedMinor: amounts.capturedMinor,
    revokedMinor: amounts.revokedMinor,
    namedPayments: hasParent(head.ref.kind) ? namedPayments(ascending) : [],
    posts:
      complete &&
      isKnownStatus(head.ref.kind, fields.status ?? '') &&
      !amounts.doubts.includes('unknown_amount'),
    doubts: [...headDoubts(head, fields, current), ...amounts.doubts],
    illegalSteps: findIllegalSteps(ascending),
  };
}

/** Fields of the greatest snapshot that carries them (invariant 3). */
function joinFields(ascending: readonly Snapshot[]): SnapshotContent {
  let fields: SnapshotContent = {};
  for (const { content } of ascending) {
    // A net amount belongs to the amount beside it: an update of the payment changes both.
    const isNetReplaced =
      fields.netAmountMinor !== undefined &&
      content.amountMinor !== undefined &&
      content.amountMinor !== fields.amountMinor;
    fields = { ...(isNetReplaced ? withoutNetAmount(fields) : fields), ...content };
  }
  return fields;
}

function withoutNetAmount({ netAmountMinor, ...fields }: SnapshotContent): SnapshotContent {
  return fields;
}

/** The snapshot that a field of the state comes from (invariant 3). */
export function carrierOf<One extends Snapshot>(
  ascending: readonly One[],
  field: keyof SnapshotContent,
): One | undefined {
  return ascending.findLast(({ content }) => content[field] !== undefined);
}

/** The snapshots whose amounts count: those of the head's epoch and currency (invariant 4). */
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

/** A refund or dispute never changes its payment: bodies that name several contradict each other. */
function namedPayments(snapshots: readonly Snapshot[]): readonly string[] {
  const named = new Set(snapshots.flatMap(({ content }) => content.paymentId ?? []));
  return named.size > 1 ? [...named].sort() : [];
}

interface PaymentAmounts {
  readonly authorizedMinor: number;
  readonly capturedMinor: number;
  readonly revokedMinor: number;
  readonly doubts: readonly Doubt[];
}

const NO_PAYMENT_AMOUNTS: PaymentAmounts = {
  authorizedMinor: 0,
  capturedMinor: 0,
  revokedMinor: 0,
  doubts: [],
};

/** Statuses that say money is held for capture, or was taken from such a hold. */
export const HELD: ReadonlySet<string> = new Set([
  'requires_capture',
  'partially_authorized_and_requires_capture',
  'partially_captured_and_processing',
  'partially_captured_and_capturable',
]);

/** Statuses whose body states the final captured amount when it carries one. */
const SETTLED: ReadonlySet<string> = new Set([
  'succeeded',
  'partially_captured',
  'cancelled_post_capture',
]);

function paymentAmounts(fields: SnapshotContent, current: readonly Snapshot[]): PaymentAmounts {
  const isHeld = isHeldForCapture(fields, current);
  const captured = capturedAmount(fields, latestAttempt(current), isHeld);
  const held = isHeld ? authorizedAmount(fields, current) : NO_PAYMENT_AMOUNTS;
  return {
    authorizedMinor: held.authorizedMinor,
    capturedMinor: captured.capturedMinor,
    revokedMinor: revokedAmount(fields, current),
    doubts: [...new Set<Doubt>([...captured.doubts, ...held.doubts])],
  };
}

/**
 * Where an amount of a payment comes from. `carried`: `from` carries it, or nothing carries any and it
 * is zero. `provisional`: it stands in for an amount that no body carries. `unknown`: money was
 * captured and no body says how much; `from` carries what is known of it.
 */
export interface AmountSource<One extends Snapshot> {
  readonly basis: 'carried' | 'provisional' | 'unknown';
  readonly from: One | undefined;
}

/**
 * Where the amounts of a payment's state come from, by the rules that made them. Apart from the fold,
 * which runs for every event: only an explanation needs it.
 */
export function amountSources<One extends Snapshot>(
  ascending: readonly One[],
  state: ResourceState,
): { readonly captured: AmountSource<One>; readonly authorized: AmountSource<One> } {
  const current = currentSnapshots(ascending, state);
  const attempt = latestAttempt(current);
  const isHeld = isHeldForCapture(state, current);
  const captured = capturedAmount(state, attempt, isHeld);
  const held = isHeld ? authorizedAmount(state, current) : NO_PAYMENT_AMOUNTS;
  return {
    captured: sourceOf(captured.doubts, () =>
      attempt.findLast(({ content }) => capturedOf(content) === captured.capturedMinor),
    ),
    authorized: sourceOf(held.doubts, () =>
      current.findLast(({ content }) => holdOf(content) === held.authorizedMinor),
    ),
  };
}

function sourceOf<One extends Snapshot>(
  doubts: readonly Doubt[],
  find: () => One | undefined,
): AmountSource<One> {
  if (doubts.includes('provisional_amount')) return { basis: 'provisional', from: undefined };
  return { basis: doubts.includes('unknown_amount') ? 'unknown' : 'carried', from: find() };
}

/** The snapshots above the last one that says the payment failed (invariant 4). */
function latestAttempt<One extends Snapshot>(ascending: readonly One[]): readonly One[] {
  const failure = ascending.findLastIndex(
    ({ content }) => captureClaim(content.status) === 'failed',
  );
  return ascending.slice(failure + 1);
}

/** Bodies may lack the capture method, or name one that is not known: a hold that was seen is one. */
function isHeldForCapture(fields: SnapshotContent, current: readonly Snapshot[]): boolean {
  return (
    fields.captureMethod?.startsWith('manual') === true ||
    current.some(({ content }) => HELD.has(content.status ?? ''))
  );
}

function capturedAmount(
  fields: SnapshotContent,
  attempt: readonly Snapshot[],
  isHeld: boolean,
): { readonly capturedMinor: number; readonly doubts: readonly Doubt[] } {
  const capturedMinor = maxCarried(attempt, capturedOf) ?? 0;
  const isFinal = fields.status === 'succeeded' || fields.status === 'partially_captured';
  const settledCarries = attempt.some(
    ({ content }) => SETTLED.has(content.status ?? '') && capturedOf(content) !== undefined,
  );
  if (!isFinal || settledCarries) {
    return {
      capturedMinor,
      doubts: [...carriedLess(attempt), ...unstatedCapture(fields, attempt, isHeld)],
    };
  }
  if (isHeld || fields.status === 'partially_captured') {
    return { capturedMinor, doubts: ['unknown_amount'] };
  }
  return { capturedMinor: provisionalMinor(fields), doubts: ['provisional_amount'] };
}

/** The last word on a payment carries less than an earlier body: within an epoch that cannot be. */
function carriedLess(attempt: readonly Snapshot[]): readonly Doubt[] {
  const last = attempt.at(-1)?.content;
  if (!last || !FINAL_STATUSES.payment.has(last.status ?? '')) return [];
  // A void may report what is left of the capture.
  if (last.status === 'cancelled_post_capture') return [];
  const carriedMinor = capturedOf(last);
  const mostMinor = maxCarried(attempt, capturedOf) ?? 0;
  return carriedMinor !== undefined && carriedMinor < mostMinor ? ['conflicting_amounts'] : [];
}

/** Capture methods that capture only by succeeding. */
const CAPTURES_BY_SUCCESS: ReadonlySet<string> = new Set(['automatic', 'sequential_automatic']);

/**
 * A payment that was cancelled or expired keeps what it had captured. An amount that was carried before
 * the end may have grown since, so only a final body can state it.
 */
function unstatedCapture(
  { status, captureMethod = '' }: SnapshotContent,
  attempt: readonly Snapshot[],
  isHeld: boolean,
): readonly Doubt[] {
  const mayHaveCaptured = isHeld || !CAPTURES_BY_SUCCESS.has(captureMethod);
  if (captureClaim(status) !== 'kept' || !mayHaveCaptured) return [];
  const isStated = attempt.some(
    ({ content }) =>
      FINAL_STATUSES.payment.has(content.status ?? '') && capturedOf(content) !== undefined,
  );
  return isStated ? [] : ['unstated_capture'];
}

/** What stands in for an amount that no body carries. */
function provisionalMinor(fields: SnapshotContent): number {
  return dueMinor(fields) ?? 0;
}

/** What a payment is to bring: with surcharge, tax and shipping where the service names them. */
export function dueMinor({
  netAmountMinor,
  amountMinor,
}: Pick<SnapshotContent, 'netAmountMinor' | 'amountMinor'>): number | undefined {
  return netAmountMinor ?? amountMinor;
}

/**
 * What older bodies reported as captured, of a payment that is failed now. Only dated bodies tell
 * that the failure came later: an undated one may be of an earlier attempt.
 */
function revokedAmount(fields: SnapshotContent, current: readonly Snapshot[]): number {
  if (captureClaim(fields.status) !== 'failed') return 0;
  const dated = current.filter(({ content }) => content.versionMicros !== undefined);
  const revokedMinor = maxCarried(dated, (content) => {
    const isProvisional =
      content.status === 'succeeded' && content.amountReceivedMinor === undefined;
    return isProvisional ? provisionalMinor(fields) : capturedOf(content);
  });
  return revokedMinor ?? 0;
}

/**
 * The largest hold. Only bodies that say money is held, or was captured, count: some services
 * report the whole amount as capturable long before anything is authorized.
 */
function authorizedAmount(
  fields: SnapshotContent,
  current: readonly Snapshot[],
): { readonly authorizedMinor: number; readonly doubts: readonly Doubt[] } {
  const carriedMinor = maxCarried(current, holdOf);
  if (carriedMinor !== undefined) return { authorizedMinor: carriedMinor, doubts: [] };
  const isHeld = current.some(({ content: { status } }) => HELD.has(status ?? ''));
  return isHeld
    ? { authorizedMinor: provisionalMinor(fields), doubts: ['provisional_amount'] }
    : { authorizedMinor: 0, doubts: [] };
}

/** The hold that a body carries: what can still be captured of it and what was captured. */
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

function headDoubts(
  head: Snapshot,
  fields: SnapshotContent,
  current: readonly Snapshot[],
): readonly Doubt[] {
  const { kind } = head.ref;
  const doubts: Doubt[] = [];
  const { status, amountMinor, currency } = head.content;
  if (status === undefined || amountMinor === undefined || currency === undefined) {
    doubts.push('incomplete');
  }
  if (fields.status !== undefined && !isKnownStatus(kind, fields.status)) {
    doubts.push('unknown_status');
  }
  const outranks = ({ content }: Snapshot) =>
    content.versionMicros === undefined &&
    stageRank(kind, content.stage) === stageRank(kind, head.content.stage) &&
    statusRank(kind, content.status) > statusRank(kind, head.content.status);
  if (head.content.versionMicros !== undefined && current.some(outranks)) {
    doubts.push('unversioned_ahead');
  }
  if (current.some((snapshot) => contradictsMoney(snapshot, head))) {
    doubts.push('conflicting_amounts');
  }
  return doubts;
}

/**
 * Whether a snapshot that is neither older nor earlier in life than the head says other money.
 * Captured amounts may differ while captures go on: two of them can fall into one tick.
 */
function contradictsMoney(snapshot: Snapshot, head: Snapshot): boolean {
  const { kind } = head.ref;
  const isSameMoment =
    stageRank(kind, snapshot.content.stage) === stageRank(kind, head.content.stage) &&
    snapshot.content.versionMicros === head.content.versionMicros &&
    statusRank(kind, snapshot.content.status) === statusRank(kind, head.content.status);
  if (!isSameMoment) return false;
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
 * Steps that no life can take, judged in key order. Snapshots without a version have no place among
 * those with one, so the two are judged apart; a new epoch or dispute stage begins a new life.
 */
function findIllegalSteps(ascending: readonly Snapshot[]): readonly IllegalStep[] {
  const steps: IllegalStep[] = [];
  let previous: Snapshot | undefined;
  for (const snapshot of ascending) {
    if (snapshot.content.status === undefined) continue;
    if (previous && isSameLife(previous, snapshot)) {
      const from = previous.content.status ?? '';
      const to = snapshot.content.status;
      if (!isReachable(snapshot.ref.kind, from, to)) steps.push({ from, to });
    }
    previous = snapshot;
  }
  return steps;
}

function isSameLife(a: Snapshot, b: Snapshot): boolean {
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

/**
 * Epochs. Within an epoch the merge only moves forward. If the service corrects a state backward, for
 * instance because an amount was never captured, the resource's history needs a new beginning.
 *
 * 1. Only a retrieve can open an epoch, because it returns the present state. A webhook or a list row
 *    may be arbitrarily old.
 * 2. A retrieve *contradicts* the merged state if the state still has different money terms with the
 *    retrieve in the set.
 * 3. A single contradiction may come from a stale replica. Two contradictions with equal money terms,
 *    at least 60 s apart, open epoch + 1 with the content of the second.
 * 4. A retrieve with an older version than the state may come from a replica that lags, and shows nothing:
 *    it neither contradicts nor agrees. No replica lags by MAX_LAG_MICROS. A service that still responds with
 *    the older version then has set a clock back, or has several that differ: what it changed last has not the
 *    greatest version, so the retrieve counts like any other. It also contradicts a state with the same terms that
 *    is not complete enough to post: what it shows counts in a new epoch only.
 * 5. An epoch has a floor: the version of the confirming retrieve, or else the time of its response, and
 *    above every contradicted version, or above the time of a contradicted webhook without one. A retrieve joins the
 *    newest epoch of its time. Other snapshots join it only from the floor upward.
 * 6. A retrieve that agrees settles what other bodies leave uncertain, and not what is uncertain by itself, such as an
 *    amount that the service never sends: it opens an epoch at once if no replica could lag behind any of them.
 *    Without that, bodies that the service has left behind, such as one without a version of a higher rank or with an
 *    earlier amount, would leave the state uncertain for good.
 * 7. Epochs are stored, so a rebuild repeats them.
 */
import { isCapturable, isSameCapture } from '../../contract/statuses.ts';
import { foldSnapshots, type ResourceState } from './merge.ts';
import {
  capturedOf,
  changedMicros,
  hidesCapture,
  type Snapshot,
  type SnapshotContent,
} from './snapshot.ts';

export interface Epoch {
  readonly epoch: number;
  readonly floorMicros: number;
}

/** The money terms of a retrieve that contradicted the state, kept until the next retrieve. */
export interface Contradiction {
  readonly terms: MoneyTerms;
  readonly observedMicros: number;
}

/** The fields that must be equal for two responses to agree about money, and about what it belongs to. */
export interface MoneyTerms {
  readonly status?: string | undefined;
  readonly stage?: string | undefined;
  readonly amountMinor?: number | undefined;
  readonly currency?: string | undefined;
  readonly amountReceivedMinor?: number | undefined;
  /** Payments that can be captured: how much of them, above zero, unless a captured part is not carried. */
  readonly amountCapturableMinor?: number | undefined;
  /** Refunds and disputes: the payment that the money is of. */
  readonly paymentId?: string | undefined;
  /** The order that it is of, if the resource names one. */
  readonly orderId?: string | undefined;
}

const TERMS = [
  'status',
  'stage',
  'amountMinor',
  'currency',
  'amountReceivedMinor',
  'amountCapturableMinor',
  'paymentId',
  'orderId',
] as const satisfies readonly (keyof MoneyTerms)[];

/** The effect of a retrieve on the epoch of its resource. */
export type RetrieveOutcome =
  | { readonly outcome: 'agrees' }
  /** It shows nothing (invariant 4). */
  | { readonly outcome: 'lags' }
  | { readonly outcome: 'contradicts'; readonly contradiction: Contradiction }
  | { readonly outcome: 'opens_epoch'; readonly epoch: Epoch };

const CONFIRM_AFTER_MICROS = 60 * 1_000_000;
const MAX_LAG_MICROS = 60 * 60 * 1_000_000;

/** The epoch that a webhook or list snapshot belongs to (invariant 5). */
export function epochFor(
  snapshot: Pick<Snapshot, 'content' | 'observedMicros'>,
  epochs: readonly Epoch[],
): number {
  const timeMicros = changedMicros(snapshot);
  let epoch = 0;
  for (const candidate of epochs) {
    if (timeMicros >= candidate.floorMicros) epoch = Math.max(epoch, candidate.epoch);
  }
  return epoch;
}

/**
 * Assigns stored snapshots to epochs. A retrieve keeps the epoch it was recorded in. The others are
 * assigned again, so that it does not matter whether they arrived before or after the epoch was opened.
 */
export function placeInEpochs(
  snapshots: readonly Snapshot[],
  epochs: readonly Epoch[],
): readonly Snapshot[] {
  if (epochs.length === 0) return snapshots;
  return snapshots.map((snapshot) =>
    snapshot.source === 'retrieve' ? snapshot : { ...snapshot, epoch: epochFor(snapshot, epochs) },
  );
}

/** A response, and when the service sent it. */
interface DatedResponse {
  readonly versionMicros: number | undefined;
  readonly observedMicros: number;
}

/**
 * In how many microseconds a response counts that shows an older version than a state, and may come from a replica that
 * lags (invariant 4).
 * @param stateMicros the version of the state
 * @returns undefined for one that counts now
 */
export function countsInMicros(
  { versionMicros, observedMicros }: DatedResponse,
  stateMicros: number | null | undefined,
): number | undefined {
  if (versionMicros === undefined || stateMicros === undefined || stateMicros === null) {
    return undefined;
  }
  const leftMicros = stateMicros + MAX_LAG_MICROS - observedMicros;
  return versionMicros < stateMicros && leftMicros > 0 ? leftMicros : undefined;
}

/** Whether a response may come from a replica that lags. */
export function mayLag(response: DatedResponse, stateMicros: number | null | undefined): boolean {
  return countsInMicros(response, stateMicros) !== undefined;
}

/**
 * Compares a retrieve with the state that was merged with it (invariants 2 to 4, and 6).
 * @param earlier the stored contradiction of an earlier retrieve, if any
 * @param known every snapshot of the resource, including this retrieve
 */
export function compareRetrieve(
  retrieve: Snapshot,
  merged: ResourceState,
  earlier: Contradiction | undefined,
  known: readonly Snapshot[],
): RetrieveOutcome {
  const { content, observedMicros } = retrieve;
  const { versionMicros } = content;
  if (mayLag({ versionMicros, observedMicros }, merged.versionMicros)) return { outcome: 'lags' };
  const terms = moneyTerms(content);
  const isOlder = (versionMicros ?? Infinity) < (merged.versionMicros ?? -Infinity);
  if (sameTerms(terms, merged) && (merged.posts || !isOlder)) {
    return settles(retrieve, merged, known) ? newEpoch(retrieve, merged, known) : AGREES;
  }
  if (!earlier || !equalTerms(earlier.terms, terms)) {
    return { outcome: 'contradicts', contradiction: { terms, observedMicros } };
  }
  if (observedMicros - earlier.observedMicros < CONFIRM_AFTER_MICROS) {
    return { outcome: 'contradicts', contradiction: earlier };
  }
  return newEpoch(retrieve, merged, known);
}

const AGREES: RetrieveOutcome = { outcome: 'agrees' };

function newEpoch(
  retrieve: Snapshot,
  { epoch }: ResourceState,
  known: readonly Snapshot[],
): RetrieveOutcome {
  const floorMicros = floorFor(retrieve, known);
  return { outcome: 'opens_epoch', epoch: { epoch: epoch + 1, floorMicros } };
}

/** Invariant 6. */
function settles(retrieve: Snapshot, merged: ResourceState, known: readonly Snapshot[]): boolean {
  if (merged.uncertainties.length === 0) return false;
  const isLast = known.every(
    ({ contentHash, observedMicros }) =>
      contentHash === retrieve.contentHash ||
      observedMicros + MAX_LAG_MICROS <= retrieve.observedMicros,
  );
  return isLast && leavesLess(foldSnapshots([retrieve]), merged);
}

/** Whether a retrieve alone leaves less uncertain than all bodies do. If it lacks an amount, it may not change one. */
function leavesLess(alone: ResourceState, merged: ResourceState): boolean {
  const { uncertainties } = alone;
  if (uncertainties.length === 0) return true;
  return (
    uncertainties.length < merged.uncertainties.length &&
    uncertainties.every((name) => merged.uncertainties.includes(name)) &&
    alone.posts === merged.posts &&
    alone.capturedMinor === merged.capturedMinor &&
    alone.authorizedMinor === merged.authorizedMinor
  );
}

/**
 * A webhook may carry the version that the retrieve contradicts, or have none and show something else before it. If
 * the floor admitted it to the new epoch, it would win again, and every two retrieves would open another epoch.
 */
function floorFor(retrieve: Snapshot, known: readonly Snapshot[]): number {
  const terms = moneyTerms(retrieve.content);
  const others = known.filter(
    ({ content, contentHash, observedMicros }) =>
      contentHash !== retrieve.contentHash &&
      (content.versionMicros !== undefined ||
        (observedMicros <= retrieve.observedMicros && differ(terms, moneyTerms(content)))),
  );
  return others.reduce(
    (floor, other) => Math.max(floor, changedMicros(other) + 1),
    changedMicros(retrieve),
  );
}

/** Whether the state has the money terms of the retrieve. A field that it does not carry cannot contradict. */
function sameTerms(terms: MoneyTerms, merged: ResourceState): boolean {
  return hasSameMoney(terms, merged) && hasSameOwner(terms, merged);
}

function hasSameMoney(terms: MoneyTerms, merged: ResourceState): boolean {
  const openMinor = merged.authorizedMinor - merged.capturedMinor;
  return (
    (terms.status ?? merged.status) === merged.status &&
    (terms.stage ?? merged.stage) === merged.stage &&
    (terms.amountMinor ?? merged.amountMinor) === merged.amountMinor &&
    (terms.currency ?? merged.currency) === merged.currency &&
    isSameCapture(terms.amountReceivedMinor ?? merged.capturedMinor, merged) &&
    (!showsHold(terms, merged) || (terms.amountCapturableMinor ?? openMinor) === openMinor)
  );
}

/**
 * Whether less that can be captured shows that less is held. Once a part was captured, more of it may have been
 * captured instead: an epoch of a retrieve that does not carry how much would take the captured part back.
 */
function showsHold(terms: MoneyTerms, merged: ResourceState): boolean {
  return terms.amountReceivedMinor !== undefined || merged.capturedMinor === 0;
}

function hasSameOwner(terms: MoneyTerms, merged: ResourceState): boolean {
  return (
    (terms.paymentId ?? merged.paymentId) === merged.paymentId &&
    (terms.orderId ?? merged.orderId) === merged.orderId
  );
}

/** Whether a retrieve contradicts only to which payment or order the money belongs, and no amount. */
export function isOwnerContradicted({ terms }: Contradiction, merged: ResourceState): boolean {
  return hasSameMoney(terms, merged) && !hasSameOwner(terms, merged);
}

function moneyTerms(content: SnapshotContent): MoneyTerms {
  const { status, stage, amountMinor, currency, paymentId, orderId } = content;
  return {
    status,
    stage,
    amountMinor,
    currency,
    amountReceivedMinor: capturedOf(content),
    amountCapturableMinor: capturableOf(content),
    paymentId,
    orderId,
  };
}

/** Holds only grow within an epoch, so one of which the service released a part has to open another. */
function capturableOf(content: SnapshotContent): number | undefined {
  const isStated = isCapturable(content.status) && !hidesCapture(content);
  return isStated ? content.amountCapturableMinor || undefined : undefined;
}

/** Whether both carry a field with different values. */
function differ(a: MoneyTerms, b: MoneyTerms): boolean {
  return TERMS.some(
    (field) => a[field] !== undefined && b[field] !== undefined && a[field] !== b[field],
  );
}

function equalTerms(a: MoneyTerms, b: MoneyTerms): boolean {
  return TERMS.every((field) => a[field] === b[field]);
}

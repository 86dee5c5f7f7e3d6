/**
 * Epochs: the only way down. Within an epoch the merge only climbs, so a service that corrects
 * itself downwards (an amount that was never captured after all) needs a recorded new beginning.
 *
 * 1. Only a retrieve can open an epoch: it is the service's answer of now. A webhook or list row
 *    may be arbitrarily old.
 * 2. A retrieve *contradicts* the merged state when, with itself in the set, the state still says
 *    other money than it does, and it is not merely an older version.
 * 3. One contradiction may be a stale replica. Two that agree in money terms, at least 60 s apart,
 *    open epoch + 1 with the second one's content.
 * 4. An epoch has a floor: the confirming retrieve's version, else the time of its answer, and above
 *    every version that was contradicted. Retrieves join the newest epoch of their time; other
 *    snapshots join it only from the floor upwards.
 * 5. Epochs are recorded facts, so a rebuild repeats them.
 */
import { isSameCapture } from '../../contract/statuses.ts';
import type { ResourceState } from './merge.ts';
import { capturedOf, type Snapshot, type SnapshotContent } from './snapshot.ts';

export interface Epoch {
  readonly epoch: number;
  readonly floorMicros: number;
}

/** The money of a retrieve that contradicted, kept until the next one agrees or does not. */
export interface Contradiction {
  readonly terms: MoneyTerms;
  readonly observedMicros: number;
}

/** What two answers must share to say the same about money. */
export interface MoneyTerms {
  readonly status?: string;
  readonly stage?: string;
  readonly amountMinor?: number;
  readonly currency?: string;
  readonly amountReceivedMinor?: number;
}

/** What a retrieve means for the epoch of its resource. */
export type RetrieveOutcome =
  | { readonly outcome: 'agrees' }
  | { readonly outcome: 'contradicts'; readonly contradiction: Contradiction }
  | { readonly outcome: 'opens_epoch'; readonly epoch: Epoch };

const CONFIRM_AFTER_MICROS = 60 * 1_000_000;

/** The epoch that a webhook or list snapshot belongs to (invariant 4). */
export function epochFor(
  snapshot: Pick<Snapshot, 'content' | 'observedMicros'>,
  epochs: readonly Epoch[],
): number {
  const timeMicros = snapshot.content.versionMicros ?? snapshot.observedMicros;
  let epoch = 0;
  for (const candidate of epochs) {
    if (timeMicros >= candidate.floorMicros && candidate.epoch > epoch) epoch = candidate.epoch;
  }
  return epoch;
}

/**
 * Places stored snapshots in their epochs. Retrieves keep the one they were recorded in. The others
 * are placed anew, so that one which came before its epoch was opened counts like one that came after.
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

/**
 * Judges a retrieve against the state that was merged with it (invariants 2 and 3).
 * @param earlier the contradiction that an earlier retrieve left, if any
 * @param known every snapshot of the resource, with this retrieve
 */
export function compareRetrieve(
  retrieve: Snapshot,
  merged: ResourceState,
  earlier: Contradiction | undefined,
  known: readonly Snapshot[],
): RetrieveOutcome {
  if (isMerelyOld(retrieve.content, merged) || sameTerms(moneyTerms(retrieve.content), merged)) {
    return { outcome: 'agrees' };
  }
  const terms = moneyTerms(retrieve.content);
  if (!earlier || !equalTerms(earlier.terms, terms)) {
    return {
      outcome: 'contradicts',
      contradiction: { terms, observedMicros: retrieve.observedMicros },
    };
  }
  if (retrieve.observedMicros - earlier.observedMicros < CONFIRM_AFTER_MICROS) {
    return { outcome: 'contradicts', contradiction: earlier };
  }
  const epoch = { epoch: merged.epoch + 1, floorMicros: floorFor(retrieve, known) };
  return { outcome: 'opens_epoch', epoch };
}

/**
 * A webhook may carry the very version that the retrieve contradicts. At the floor it would join the
 * new epoch, win again, and every two retrieves would open another.
 */
function floorFor(
  { content, observedMicros, contentHash }: Snapshot,
  known: readonly Snapshot[],
): number {
  const others = known.filter((snapshot) => snapshot.contentHash !== contentHash);
  return others.reduce(
    (floor, other) => Math.max(floor, (other.content.versionMicros ?? -1) + 1),
    content.versionMicros ?? observedMicros,
  );
}

function isMerelyOld(content: SnapshotContent, merged: ResourceState): boolean {
  return (
    content.versionMicros !== undefined &&
    merged.versionMicros !== undefined &&
    content.versionMicros < merged.versionMicros
  );
}

/** Whether the merged state says what the retrieve carried; what it did not carry cannot contradict. */
function sameTerms(terms: MoneyTerms, merged: ResourceState): boolean {
  return (
    (terms.status ?? merged.status) === merged.status &&
    (terms.stage ?? merged.stage) === merged.stage &&
    (terms.amountMinor ?? merged.amountMinor) === merged.amountMinor &&
    (terms.currency ?? merged.currency) === merged.currency &&
    isSameCapture(terms.amountReceivedMinor ?? merged.capturedMinor, merged)
  );
}

function moneyTerms(content: SnapshotContent): MoneyTerms {
  const { status, stage, amountMinor, currency } = content;
  const amountReceivedMinor = capturedOf(content);
  return {
    ...(status !== undefined && { status }),
    ...(stage !== undefined && { stage }),
    ...(amountMinor !== undefined && { amountMinor }),
    ...(currency !== undefined && { currency }),
    ...(amountReceivedMinor !== undefined && { amountReceivedMinor }),
  };
}

function equalTerms(a: MoneyTerms, b: MoneyTerms): boolean {
  return (
    a.status === b.status &&
    a.stage === b.stage &&
    a.amountMinor === b.amountMinor &&
    a.currency === b.currency &&
    a.amountReceivedMinor === b.amountReceivedMinor
  );
}

/**
 * When money moved, as the service states it. Terms: the *effective time* of a transfer is the time at
 * which the service made the change; its recorded time is when Tallyhook posted it. A *movement* is the
 * change of a leg's target by one snapshot. The *history* of a resource is all of its movements.
 *
 * 1. The history is a function of the set of snapshots: the snapshots are folded one after the other in
 *    the order of their keys, and what the targets change by is the movement of the last snapshot. So
 *    the order of arrival cannot matter.
 * 2. A movement has the version of its snapshot. A snapshot without a version has the time at which it
 *    was observed.
 * 3. A status can show that a leg began earlier (`beganEarlier`). The beginning then has the latest time
 *    that is known to be before it: the version of the snapshot below, or the time of creation.
 * 4. The transfers of a leg with one effective time add up to the movements with that time. If a late
 *    snapshot changes the history, transfers take back what has another time now, and post it again:
 *    they correct the journal by adding to it.
 * 5. A snapshot with which the state is not complete enough to post (`posts`) moves nothing.
 */
import type { ResourceKind } from '../../contract/resources/index.ts';
import {
  LEGS,
  type Leg,
  type Posted,
  postedAfter,
  type Transfer,
  targetsIn,
  transferBy,
} from './legs.ts';
import { compareSnapshots, foldSnapshots, type ResourceState } from './merge.ts';
import { changedMicros, type Snapshot, type SnapshotContent } from './snapshot.ts';

/**
 * Where an effective time comes from. `version`: the object's own time of the change. `previous`: the
 * version of the snapshot below, and `created`: the time of creation, where no snapshot shows the change
 * itself. `observed`: the time of the webhook or response, because the object has no time of its own.
 * `stated`: the day that a line of a settlement report or bank statement states (lines.ts).
 */
export const TIME_SOURCES = ['version', 'previous', 'created', 'observed', 'stated'] as const;
export type TimeSource = (typeof TIME_SOURCES)[number];

/** The letter by which a source is stored. */
export function letterOf(source: TimeSource): string {
  return source.charAt(0);
}

/** The source that a letter means; undefined for none. */
export function sourceOf(letter: string | null): TimeSource | undefined {
  return TIME_SOURCES.find((source) => letterOf(source) === letter);
}

/** Which of its two times selects and orders a transfer: when the service moved the money, or when it was posted. */
export type TimeBasis = 'effective' | 'recorded';

/** By effective time unless the reader chose the other. */
export function timeBasis({ isRecorded }: { readonly isRecorded: boolean }): TimeBasis {
  return isRecorded ? 'recorded' : 'effective';
}

export interface EffectiveTime {
  /** Microseconds since 1970. */
  readonly effectiveMicros: number;
  readonly source: TimeSource;
}

/** What one snapshot moves on a leg. */
export interface Movement extends EffectiveTime {
  readonly currency: string;
  readonly leg: string;
  /** Negative: taken back. In minor units, never 0. */
  readonly movedMinor: number;
  /** The content hash of the snapshot. */
  readonly headHash: string;
}

/** A transfer with its effective time and the snapshot that it follows from. */
export interface DatedTransfer extends Transfer, EffectiveTime {
  readonly headHash: string;
}

/** What is posted on a leg with one effective time; undefined: without one, by an earlier version. */
export interface PostedMovement {
  readonly currency: string;
  readonly leg: string;
  readonly movedMinor: bigint;
  readonly effectiveMicros: number | undefined;
}

/** The snapshots of a resource in the order of their keys, and how many of the last ones are new. */
export interface SnapshotOrder {
  readonly ascending: readonly Snapshot[];
  /** Undefined: a new one is below one that was known, or an epoch was opened. */
  readonly newest: number | undefined;
}

/** @param isNew whether a snapshot was not known before */
export function orderSnapshots(
  snapshots: readonly Snapshot[],
  isNew: (snapshot: Snapshot) => boolean,
): SnapshotOrder {
  const ascending = [...snapshots].sort(compareSnapshots);
  const lastKnown = ascending.findLastIndex((snapshot) => !isNew(snapshot));
  const isAppended = ascending.slice(0, lastKnown + 1).every((snapshot) => !isNew(snapshot));
  return { ascending, newest: isAppended ? ascending.length - lastKnown - 1 : undefined };
}

/** The history of a resource (invariant 1). */
export function movementsOf(ascending: readonly Snapshot[]): readonly Movement[] {
  return movementsFrom({ ascending, first: 0, posted: {} });
}

interface MovementInput {
  readonly ascending: readonly Snapshot[];
  /** The position of the first snapshot of which movements are wanted. */
  readonly first: number;
  /** What is posted for the snapshots before it. */
  readonly posted: Posted;
  /** The fold of all snapshots, if the caller has it. */
  readonly state?: ResourceState | undefined;
}

function movementsFrom({ ascending, first, posted, state }: MovementInput): readonly Movement[] {
  const movements: Movement[] = [];
  let reached = posted;
  for (const [position, snapshot] of ascending.entries()) {
    if (position < first) continue;
    const isLast = position === ascending.length - 1;
    const folded =
      isLast && state !== undefined ? state : foldSnapshots(ascending.slice(0, position + 1));
    const below = ascending[position - 1]?.content;
    const moved = movementsBy({ snapshot, below, state: folded }, reached);
    movements.push(...moved);
    if (!isLast) reached = postedAfter(reached, transfersBy(folded.ref.kind, moved, reached));
  }
  return movements;
}

interface Step {
  readonly snapshot: Snapshot;
  /** The content of the snapshot below. */
  readonly below: SnapshotContent | undefined;
  /** The fold of the snapshots up to this one. */
  readonly state: ResourceState;
}

function movementsBy(step: Step, posted: Posted): readonly Movement[] {
  const { snapshot, state } = step;
  return targetsIn(state, posted).flatMap(({ currency, leg, targetMinor }) => {
    const beforeMinor = posted[currency]?.[leg]?.cumulativeMinor ?? 0;
    if (targetMinor === beforeMinor) return [];
    const begins = beforeMinor === 0 && beganEarlier(state.ref.kind, leg, state.status ?? '');
    const { effectiveMicros, source } = begins ? beginningOf(step) : timeOf(snapshot);
    const { contentHash: headHash } = snapshot;
    const movedMinor = targetMinor - beforeMinor;
    return [{ currency, leg, movedMinor, headHash, effectiveMicros, source }];
  });
}

/** When the service made the change that a snapshot shows, and by which time it is known (invariant 2). */
export function timeOf(snapshot: Pick<Snapshot, 'content' | 'observedMicros'>): EffectiveTime {
  const source = snapshot.content.versionMicros === undefined ? 'observed' : 'version';
  return { effectiveMicros: changedMicros(snapshot), source };
}

function beginningOf({ snapshot, below, state }: Step): EffectiveTime {
  const own = timeOf(snapshot);
  const { createdMicros = 0 } = state;
  const belowMicros = below?.versionMicros ?? 0;
  const effectiveMicros = Math.max(createdMicros, belowMicros);
  if (effectiveMicros === 0 || effectiveMicros > own.effectiveMicros) return own;
  return { effectiveMicros, source: belowMicros > createdMicros ? 'previous' : 'created' };
}

const BEGIN_HOLD: ReadonlySet<string> = new Set([
  'requires_capture',
  'partially_authorized_and_requires_capture',
]);

/**
 * Whether a leg that has moved by the time of a status began before it: a captured payment was
 * authorized earlier, and every refund was requested when it was created. A payout that ended unpaid
 * may never have been under way, so one that was not seen under way began when it ended.
 */
function beganEarlier(kind: ResourceKind, leg: string, status: string): boolean {
  switch (kind) {
    case 'payment':
      if (leg === 'auth_opened') return !BEGIN_HOLD.has(status);
      return ['captured', 'auth_consumed'].includes(leg) && status === 'cancelled_post_capture';
    case 'refund':
      return leg === 'requested';
    case 'dispute':
      return leg === 'held' && status !== 'opened';
    case 'payout':
      if (leg === 'initiated') return status === 'success' || status === 'reversed';
      return leg === 'delivered' && status === 'reversed';
  }
}

/** Posts movements in their order. */
function transfersBy(
  kind: ResourceKind,
  movements: readonly Movement[],
  posted: Posted,
): readonly DatedTransfer[] {
  const legs: Readonly<Record<string, Leg>> = LEGS[kind];
  const transfers: DatedTransfer[] = [];
  let reached = posted;
  for (const { currency, leg, movedMinor, effectiveMicros, source, headHash } of movements) {
    const accounts = legs[leg];
    if (!accounts) throw new Error(`a ${kind} has no leg ${leg}`);
    const last = reached[currency]?.[leg] ?? { seq: 0, cumulativeMinor: 0 };
    const transfer = transferBy(movedMinor, { leg, currency, accounts, last });
    transfers.push({ ...transfer, effectiveMicros, source, headHash });
    reached = postedAfter(reached, [transfer]);
  }
  return transfers;
}

/**
 * Whether the transfers to post depend on the effective times of those that are posted. If nothing is
 * new, they do, so that applying an event again corrects a damaged journal.
 */
export function needsPostedTimes({ newest = 0 }: SnapshotOrder): boolean {
  return newest === 0;
}

export interface DatingInput {
  readonly state: ResourceState;
  readonly order: SnapshotOrder;
  readonly posted: Posted;
  /** What the journal has, if `needsPostedTimes`. */
  readonly movements: readonly PostedMovement[];
}

/** The transfers that bring the journal of a resource to its history (invariant 4). */
export function transfersFor({
  state,
  order,
  posted,
  movements,
}: DatingInput): readonly DatedTransfer[] {
  const { ascending, newest } = order;
  const { kind } = state.ref;
  const isCorrected =
    needsPostedTimes(order) &&
    // Transfers without a time get theirs later, and corrections with it.
    movements.every(({ effectiveMicros }) => effectiveMicros !== undefined);
  const wanted = isCorrected
    ? corrections(movementsOf(ascending), movements, state.headHash)
    : movementsFrom({ ascending, first: ascending.length - (newest || 1), posted, state });
  return transfersBy(kind, wanted, posted);
}

/** What is missing on a leg with one effective time. A sum of movements may exceed a safe integer. */
interface TimeSum {
  readonly movement: Movement;
  readonly missingMinor: bigint;
}

const MAX_MINOR = BigInt(Number.MAX_SAFE_INTEGER);

/** An amount in portions that are safe integers; none for 0. */
function portionsOf(minor: bigint): readonly number[] {
  if (minor === 0n) return [];
  const magnitude = minor < 0n ? -minor : minor;
  if (magnitude <= MAX_MINOR) return [Number(minor)];
  const portion = minor < 0n ? -MAX_MINOR : MAX_MINOR;
  return [Number(portion), ...portionsOf(minor - portion)];
}

/**
 * The differences in an order in which no total becomes negative, or larger than it must.
 */
export function corrections(
  history: readonly Movement[],
  posted: readonly PostedMovement[],
  headHash: string,
): readonly Movement[] {
  const totals = new Map<string, bigint>();
  for (const { currency, leg, movedMinor } of posted) {
    const key = `${currency} ${leg}`;
    totals.set(key, (totals.get(key) ?? 0n) + movedMinor);
  }
  const ordered: Movement[] = [];
  let rest = differences(history, posted, headHash);
  while (rest.length > 0) {
    const totalOf = ({ currency, leg }: Movement) => totals.get(`${currency} ${leg}`) ?? 0n;
    const next = nextPortion(rest, totalOf);
    if (!next) break;
    const { of, movedMinor } = next;
    totals.set(`${of.currency} ${of.leg}`, totalOf(of) + BigInt(movedMinor));
    ordered.push({ ...of, movedMinor });
    const leftMinor = of.movedMinor - movedMinor;
    rest = rest.flatMap((movement) => {
      if (movement !== of) return [movement];
      return leftMinor === 0 ? [] : [{ ...of, movedMinor: leftMinor }];
    });
  }
  return ordered;
}

interface Portion {
  readonly of: Movement;
  /** All of it, unless a total has no room for it. */
  readonly movedMinor: number;
}

function nextPortion(
  rest: readonly Movement[],
  totalOf: (movement: Movement) => bigint,
): Portion | undefined {
  const fits = (movement: Movement) => {
    const after = totalOf(movement) + BigInt(movement.movedMinor);
    return after >= 0n && after <= MAX_MINOR;
  };
  const isBack = ({ movedMinor }: Movement) => movedMinor < 0;
  const whole = rest.find((movement) => isBack(movement) && fits(movement)) ?? rest.find(fits);
  if (whole) return { of: whole, movedMinor: whole.movedMinor };
  // What is posted would become too large, so all of it is taken back first.
  const back = rest.find((movement) => isBack(movement) && totalOf(movement) > 0n);
  if (back) return { of: back, movedMinor: -Number(totalOf(back)) };
  const damaged = rest.find((movement) => !isBack(movement)) ?? rest[0];
  return damaged && { of: damaged, movedMinor: damaged.movedMinor };
}

/**
 * The movements that are missing in the journal, by time. Negative: too much is posted.
 * @param headHash of the state that takes back what no snapshot states
 */
export function differences(
  history: readonly Movement[],
  posted: readonly PostedMovement[],
  headHash: string,
): readonly Movement[] {
  const sums = new Map<string, TimeSum>();
  const add = (movement: Movement, minor: bigint): void => {
    const key = `${movement.currency} ${movement.leg} ${movement.effectiveMicros}`;
    sums.set(key, { movement, missingMinor: (sums.get(key)?.missingMinor ?? 0n) + minor });
  };
  for (const { movedMinor, effectiveMicros = 0, currency, leg } of posted) {
    const time = { effectiveMicros, source: 'observed' } as const;
    add({ currency, leg, movedMinor: 0, headHash, ...time }, -movedMinor);
  }
  for (const movement of history) add(movement, BigInt(movement.movedMinor));
  const missing = [...sums.values()].flatMap(({ movement, missingMinor }) =>
    portionsOf(missingMinor).map((movedMinor) => ({ ...movement, movedMinor })),
  );
  return missing.toSorted((a, b) => a.effectiveMicros - b.effectiveMicros);
}

/** A transfer of an earlier version, which has no effective time. */
export interface UndatedTransfer {
  readonly id: number;
  readonly currency: string;
  readonly leg: string;
  readonly recordedMicros: number;
}

/**
 * Times for transfers without one: those of the movements of their leg, in order. Where the history has
 * no movement of a leg, the time of recording is the best that is known.
 * @param undated of one resource, each leg in sequence
 */
export function datesOf(
  undated: readonly UndatedTransfer[],
  history: readonly Movement[],
): readonly (EffectiveTime & { readonly id: number })[] {
  const used = new Map<string, number>();
  return undated.map(({ id, currency, leg, recordedMicros }) => {
    const key = `${currency} ${leg}`;
    const position = used.get(key) ?? 0;
    used.set(key, position + 1);
    const ofLeg = history.filter((one) => one.currency === currency && one.leg === leg);
    const movement = ofLeg[position] ?? ofLeg.at(-1);
    return movement === undefined
      ? { id, effectiveMicros: recordedMicros, source: 'observed' }
      : { id, effectiveMicros: movement.effectiveMicros, source: movement.source };
  });
}

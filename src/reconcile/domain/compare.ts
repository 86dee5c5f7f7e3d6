/**
 * Compares a resource at the service with the ledger.
 *
 * 1. A field that a row lacks cannot differ: rows of lists may be short.
 * 2. A row that is older than the ledger is no difference: lists are read from replicas, and a webhook may
 *    have been faster. One that still contradicts the ledger when no replica lags that long shows that the list is at
 *    fault, or that the service's versions do not have the order of its changes (ledger/domain/epochs.ts).
 * 3. A difference decides what to retrieve, never what is true: the ledger changes by the response.
 */

import type { ResourceKind } from '../../contract/resources/index.ts';
import { isSameCapture } from '../../contract/statuses.ts';
import { mayLag } from '../../ledger/domain/epochs.ts';
import { DAY_MS, MINUTE_MS } from '../../platform/time.ts';

/** A resource as a list row or a response has it. Amounts in minor units of `currency`. */
export interface Remote {
  readonly kind: ResourceKind;
  readonly id: string;
  readonly status: string | undefined;
  readonly stage: string | undefined;
  readonly currency: string | undefined;
  readonly amountMinor: number | undefined;
  readonly capturedMinor: number | undefined;
  readonly versionMicros: number | undefined;
  readonly createdMs: number | undefined;
  /** Refunds and disputes: the payment they belong to. */
  readonly paymentId: string | undefined;
  /** Payments that carry an order's id: the ledger's key of that order. */
  readonly orderKey: string | undefined;
}

/** A resource in the ledger. `status` is null for a stub. */
export interface Local {
  readonly status: string | null;
  readonly stage: string | null;
  readonly currency: string | null;
  readonly amountMinor: number | null;
  readonly capturedMinor: number;
  readonly versionMicros: number | null;
  readonly paymentId: string | null;
  readonly orderKey: string | null;
}

const MONEY_FIELDS = ['status', 'stage', 'currency', 'amountMinor', 'capturedMinor'] as const;

/** What the ledger has of the money of a resource. */
type MoneyFacts = Pick<Local, (typeof MONEY_FIELDS)[number]>;

/** Whether a response changed what the ledger has of money. @param before undefined if it was new */
export function isMoneyChanged(before: MoneyFacts | undefined, after: MoneyFacts): boolean {
  return MONEY_FIELDS.some((field) => before?.[field] !== after[field]);
}

/** The kinds of differences. */
export type Difference =
  | 'missing_local'
  | 'stale_local'
  | 'status_conflict'
  | 'amount'
  | 'currency'
  | 'link';

/** @returns undefined where both agree (rules 1 and 2) */
export function compare(remote: Remote, local: Local | undefined): Difference | undefined {
  if (!local || local.status === null) return 'missing_local';
  if (isOlder(remote, local)) return undefined;
  const field = differingField(remote, local);
  if (field === undefined) return undefined;
  return remote.versionMicros === local.versionMicros ? field : 'stale_local';
}

/**
 * Whether a row contradicts the ledger by a version that is older for longer than a replica lags (rule 2).
 * @param observedMicros the service's time of the row
 */
export function contradictsLate(remote: Remote, local: Local, observedMicros: number): boolean {
  return (
    isOlder(remote, local) &&
    !mayLag({ versionMicros: remote.versionMicros, observedMicros }, local.versionMicros) &&
    differingField(remote, local) !== undefined
  );
}

function isOlder(remote: Remote, local: Local): boolean {
  return (remote.versionMicros ?? Infinity) < (local.versionMicros ?? -Infinity);
}

function differingField(remote: Remote, local: Local): Difference | undefined {
  const differs = <T>(theirs: T | undefined, ours: T | null): boolean =>
    theirs !== undefined && theirs !== ours;
  if (differs(remote.currency, local.currency)) return 'currency';
  if (differs(remote.amountMinor, local.amountMinor)) return 'amount';
  const { capturedMinor = local.capturedMinor } = remote;
  if (!isSameCapture(capturedMinor, local)) return 'amount';
  if (differs(remote.status, local.status) || differs(remote.stage, local.stage)) {
    return 'status_conflict';
  }
  const isElsewhere =
    differs(remote.paymentId, local.paymentId) || differs(remote.orderKey, local.orderKey);
  return isElsewhere ? 'link' : undefined;
}

/** The webhook of a change younger than this may still arrive. */
const GRACE_MS = 2 * MINUTE_MS;

/** What is older when a person runs a comparison is history: no schedule would have covered it. */
const HISTORY_MS = DAY_MS;

/**
 * The age of a change when the service reported it. Both times are the service's: its clock may differ
 * from the local one by more than the grace, and every webhook under way would count as missed.
 */
export function ageOfChangeMs(versionMicros: number, observedMicros: number): number {
  return Math.max(0, (observedMicros - versionMicros) / 1000);
}

/**
 * Whether the service's clock was set since an earlier comparison with the local one. Ages across that
 * moment mean nothing: a clock that is set forward by a day makes every change look a day old.
 */
export function isClockSet(skewMs: number, earlierSkewMs: number | undefined): boolean {
  return earlierSkewMs !== undefined && Math.abs(skewMs - earlierSkewMs) >= MINUTE_MS;
}

/**
 * Whether a repaired change counts as missed at once, or its webhook is awaited first. It may still
 * arrive; and what a person repairs is counted by the scheduled runs, since no Prometheus scrapes the
 * process of a command. While events wait to be applied, one of them may have reported the change in time.
 */
export function judgeRepaired(
  ageMs: number,
  of: { readonly isManual: boolean; readonly pendingAgeMs: number | undefined },
): { readonly isMissed: boolean; readonly isAwaited: boolean } {
  const isOld = isPastGrace(ageMs);
  const isReported = mayBeReported(ageMs, of.pendingAgeMs);
  const isAwaited = !isOld || (of.isManual ? ageMs < HISTORY_MS : isReported);
  return { isMissed: isOld && !isReported, isAwaited };
}

/** Whether an event that arrived in time to report a change waits, by the age of the oldest that waits. */
function mayBeReported(ageMs: number, pendingAgeMs: number | undefined): boolean {
  return pendingAgeMs !== undefined && reportedWithinMs(pendingAgeMs) >= ageMs;
}

/** How old a change may be of which the webhook waits to be applied. One event that stays for good hides no loss for longer. */
export function reportedWithinMs(pendingAgeMs: number | undefined): number {
  return GRACE_MS + Math.min(pendingAgeMs ?? 0, DAY_MS);
}

/** Whether a change is so old that its webhook counts as missed. */
export function isPastGrace(ageMs: number): boolean {
  return ageMs >= GRACE_MS;
}

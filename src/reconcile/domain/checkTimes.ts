/**
 * When a resource is checked next, by its age since its last change.
 *
 * 1. What is not final is checked 2, 5 and 15 minutes, 1 and 6 hours after its last change, each counted
 *    from the one before, and daily from then on, without end.
 * 2. What is final is checked once more after a day and after a week: refunds fail late, payouts are
 *    returned, disputes are reversed. Final payments are left to the nightly list of eight days, which
 *    covers both ages with a hundredth of the requests.
 * 3. A contradiction is confirmed or dropped after a minute, and so is an excess of an order, for
 *    which every part of the order is retrieved.
 * 4. The next check follows from the age alone, so checks that were missed, repeated or aborted cannot
 *    disturb it. A stored counter would need a repair after each of those.
 * 5. Two checks are at least MIN_WAIT_MS apart.
 */

import type { ResourceKind } from '../../contract/resources/index.ts';
import { FINAL_STATUSES } from '../../contract/statuses.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../platform/time.ts';

/** Waits between checks (rule 1); after the last of them, a day each. */
const WAITS_MS = [2 * MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS, HOUR_MS, 6 * HOUR_MS];

/** Ages at which what is final is checked again (rule 2). */
const SETTLED_AGE_MS = 7 * DAY_MS;
const LATE_AGES_MS = [DAY_MS, SETTLED_AGE_MS];

const SETTLED_AT_ONCE: readonly string[] = ['unstated_capture'];

/** The merge accepts a contradiction only when a second retrieve, a minute later, confirms it. */
const CONFIRM_MS = MINUTE_MS + SECOND_MS;

const MIN_WAIT_MS = 30 * SECOND_MS;

/** What is known of a resource after a check. */
export interface CheckedResource {
  readonly kind: ResourceKind;
  /** Null for one that was only mentioned. */
  readonly status: string | null;
  /** A retrieve contradicted the merged state and waits for a second one. */
  readonly isContradicted: boolean;
  /** Something about it is uncertain: it is checked like what is not final. */
  readonly isUncertain: boolean;
  /** Its order shows an excess that awaits confirmation by a retrieve of every part. */
  readonly isAwaitingConfirmation: boolean;
  /** When it last changed, by the service; when it was first observed where that is not known. */
  readonly changedMs: number;
}

/** When a resource last changed, as in CheckedResource. */
export function lastChangedMs(row: {
  readonly versionMicros: number | null;
  readonly firstSeenAt: Date;
}): number {
  return row.versionMicros === null ? row.firstSeenAt.getTime() : row.versionMicros / 1000;
}

/** What a retrieve showed, and what the ledger has with it. */
interface Shown {
  readonly ledgerStatus: string | null;
  readonly retrievedStatus: string | undefined;
  /** Since the last change. */
  readonly ageMs: number;
}

/**
 * Whether something stays uncertain after a retrieve. A response with the status of the ledger and
 * without a captured amount settles that uncertainty: tomorrow's will have none, either. It settles an assumed amount,
 * too, a week after the last change: a service may add the amount late, or never sends it.
 * @param uncertainties the ledger's, with the retrieve applied
 */
export function staysUncertain(
  uncertainties: readonly string[],
  { ledgerStatus, retrievedStatus, ageMs }: Shown,
): boolean {
  if (retrievedStatus !== ledgerStatus) return uncertainties.length > 0;
  const settled =
    ageMs < SETTLED_AGE_MS ? SETTLED_AT_ONCE : [...SETTLED_AT_ONCE, 'provisional_amount'];
  return uncertainties.some((name) => !settled.includes(name));
}

/** Whether a resource is settled, and checked only late (rule 2). */
export function isSettled(resource: CheckedResource): boolean {
  const { kind, status, isUncertain, isContradicted, isAwaitingConfirmation } = resource;
  const isFinal = status !== null && FINAL_STATUSES[kind].has(status);
  return isFinal && !isUncertain && !isContradicted && !isAwaitingConfirmation;
}

/** Whether a settled resource has reached one of its late ages (rule 2). */
export function isLateCheck({ changedMs }: CheckedResource, nowMs: number): boolean {
  return nowMs - changedMs >= DAY_MS;
}

/** @returns when to check again, in milliseconds since 1970; undefined for never */
export function nextCheckMs(resource: CheckedResource, nowMs: number): number | undefined {
  if (resource.isContradicted || resource.isAwaitingConfirmation) return nowMs + CONFIRM_MS;
  if (!isSettled(resource)) return nextCheckByAgeMs(resource.changedMs, nowMs);
  if (resource.kind === 'payment') return undefined;
  return LATE_AGES_MS.map((ageMs) => resource.changedMs + ageMs).find(
    (atMs) => atMs >= nowMs + MIN_WAIT_MS,
  );
}

/** When to check again what is not final (rule 1). */
export function nextCheckByAgeMs(changedMs: number, nowMs: number): number {
  const earliestMs = nowMs + MIN_WAIT_MS;
  // A change in the future comes from a wrong clock; it must not postpone the check indefinitely.
  let atMs = Math.min(changedMs, nowMs);
  for (const waitMs of WAITS_MS) {
    atMs += waitMs;
    if (atMs >= earliestMs) return atMs;
  }
  return atMs + Math.max(1, Math.ceil((earliestMs - atMs) / DAY_MS)) * DAY_MS;
}

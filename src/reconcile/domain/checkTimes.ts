/**
 * When a resource is retrieved next: a ladder of ages, counted from its last change.
 *
 * 1. What is not final is looked at 2, 5 and 15 minutes, 1 and 6 hours after its last change, each
 *    counted from the one before, and daily from then on. It is never given up.
 * 2. What is final is looked at once more after a day and after a week: refunds fail late, payouts
 *    come back, disputes turn. Final payments are left to the nightly list of eight days, which
 *    covers both ages at a hundredth of the requests.
 * 3. A contradiction is confirmed or dropped after a minute, and so is an excess of an order, for
 *    which every part of the order is retrieved.
 * 4. The ladder has no memory: a rung follows from the age alone, so runs that were missed, made
 *    twice or cut off cannot derail it. A stored counter would need repair after each of those.
 * 5. No look follows another within MIN_WAIT_MS.
 */

import type { ResourceKind } from '../../contract/resources/index.ts';
import { FINAL_STATUSES } from '../../contract/statuses.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../platform/time.ts';

/** Waits between looks (rule 1); after the last of them come days. */
const WAITS_MS = [2 * MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS, HOUR_MS, 6 * HOUR_MS];

/** Ages at which what is final is looked at again (rule 2). */
const LATE_AGES_MS = [DAY_MS, 7 * DAY_MS];

/** The service needs a minute to be believed when it contradicts itself; see the ledger's epochs. */
const CONFIRM_MS = MINUTE_MS + SECOND_MS;

const MIN_WAIT_MS = 30 * SECOND_MS;

/** What is known of a resource after a look at it. */
export interface CheckedResource {
  readonly kind: ResourceKind;
  /** Null for one that was only mentioned. */
  readonly status: string | null;
  /** A retrieve disagreed with the merged state and waits for a second one. */
  readonly isContradicted: boolean;
  /** Something about it stays unclear: it is looked at like what is not final. */
  readonly isDoubtful: boolean;
  /** Its order shows an excess that awaits confirmation by a retrieve of every part. */
  readonly isAwaitingConfirmation: boolean;
  /** When it last changed, by the service; when it was first heard of where that is not known. */
  readonly changedMs: number;
}

/**
 * Whether something stays unclear after a retrieve. One that shows the very status of the ledger and
 * carries no captured amount has answered that doubt: it will not carry one tomorrow.
 * @param doubts the ledger's, with the retrieve applied
 */
export function staysDoubtful(
  doubts: readonly string[],
  status: { readonly ledger: string | null; readonly retrieved: string | undefined },
): boolean {
  const isAnswered = status.retrieved === status.ledger;
  return doubts.some((doubt) => doubt !== 'unstated_capture' || !isAnswered);
}

/** Whether the next look is one to make now: settled ones are only looked at late. */
export function isSettled(resource: CheckedResource): boolean {
  const { kind, status, isDoubtful, isContradicted, isAwaitingConfirmation } = resource;
  const isFinal = status !== null && FINAL_STATUSES[kind].has(status);
  return isFinal && !isDoubtful && !isContradicted && !isAwaitingConfirmation;
}

/** Whether a settled resource has reached one of its late ages (rule 2). */
export function isLateLook({ changedMs }: CheckedResource, nowMs: number): boolean {
  return nowMs - changedMs >= DAY_MS;
}

/** @returns when to look again, in milliseconds since 1970; undefined for never. */
export function nextCheckMs(resource: CheckedResource, nowMs: number): number | undefined {
  if (resource.isContradicted || resource.isAwaitingConfirmation) return nowMs + CONFIRM_MS;
  if (!isSettled(resource)) return nextRungMs(resource.changedMs, nowMs);
  if (resource.kind === 'payment') return undefined;
  return LATE_AGES_MS.map((ageMs) => resource.changedMs + ageMs).find(
    (atMs) => atMs >= nowMs + MIN_WAIT_MS,
  );
}

/** When to look again at what is not final (rule 1). */
export function nextRungMs(changedMs: number, nowMs: number): number {
  const earliestMs = nowMs + MIN_WAIT_MS;
  // A change in the future is a clock that is off; it must not put the look off for ever.
  let atMs = Math.min(changedMs, nowMs);
  for (const waitMs of WAITS_MS) {
    atMs += waitMs;
    if (atMs >= earliestMs) return atMs;
  }
  return atMs + Math.max(1, Math.ceil((earliestMs - atMs) / DAY_MS)) * DAY_MS;
}

/**
 * When a policy tries to capture or cancel a hold, and when it tries again.
 *
 * Terms. *Attempt*: one request, claimed in a commit of its own before it is sent. *Failed*: the
 * request did not reach the service, or the service responded that it could not process it. *Refused*:
 * the service will not do it. *Unknown*: no response shows the outcome; a process that ended between its
 * claim and the response leaves the same.
 *
 * 1. Attempts are made from the policy's threshold up to the deadline, and only while a retrieve has
 *    just shown that something can be captured.
 * 2. A failed attempt is repeated after a wait that doubles from 1 to 15 minutes: the service's errors
 *    mean that nothing was attempted.
 * 3. An unknown attempt is repeated after UNKNOWN_WAIT_MS, which is longer than a call takes and than a
 *    retrieve lags behind, and only while as much can be captured as before it. If the request had been
 *    carried out, the service would show that, and respond to a second one with 409.
 *    For as long, an attempt without an outcome may be in progress, and a person does not act on the hold.
 * 4. No attempt follows a success or a refusal: 409 means that the hold was captured or cancelled
 *    already, and any other refusal needs a person.
 * 5. An attempt counts only for the hold that it was made for. A failure of the payment ends that hold, and the
 *    customer may confirm the payment again: no attempt before the failure was made for the new hold. The first one on
 *    it waits UNKNOWN_WAIT_MS nevertheless, so that no request for the earlier hold is still under way.
 *
 * service-interface.md §Errors (error envelope, errors of each endpoint, retries). All times are
 * milliseconds since 1970.
 */
import { MINUTE_MS } from '../../platform/time.ts';
import { type Policy, type PolicyAction, policyActs } from './reminders.ts';

const FIRST_WAIT_MS = MINUTE_MS;
const MAX_WAIT_MS = 15 * MINUTE_MS;
export const UNKNOWN_WAIT_MS = 10 * MINUTE_MS;

export type AttemptOutcome = 'done' | 'failed' | 'refused' | 'unknown';

/** The latest attempt to capture or cancel a payment by the policy. */
export interface Attempt {
  /** Counted from 1 for each payment. */
  readonly number: number;
  /** Counted from 1 for each hold; 0 for an attempt on an earlier hold (rule 5). */
  readonly numberOnHold: number;
  readonly action: PolicyAction;
  readonly atMs: number;
  readonly outcome: AttemptOutcome;
  /** The message of the service or of the client; undefined where there is none. */
  readonly reason: string | undefined;
  /** What could be captured before it, in minor units. */
  readonly capturableMinor: number;
}

export type PolicyStep =
  | { readonly step: 'none' }
  | { readonly step: 'wait'; readonly untilMs: number }
  /** `number`: of the attempt to make. */
  | { readonly step: 'try'; readonly number: number };

const NONE = { step: 'none' } as const;

export interface PolicySituation {
  readonly policy: Policy | undefined;
  readonly deadlineMs: number;
  /** What can be captured now, in minor units. */
  readonly capturableMinor: number;
  readonly last: Attempt | undefined;
}

/** What the policy does at `nowMs` (rules 1 to 5). */
export function policyStep(situation: PolicySituation, nowMs: number): PolicyStep {
  const { policy, deadlineMs, capturableMinor, last } = situation;
  if (policy === undefined || !policyActs(policy, deadlineMs, nowMs)) return NONE;
  if (last === undefined) return { step: 'try', number: 1 };
  const untilMs = retryAtMs(last, capturableMinor);
  if (untilMs === undefined || untilMs >= deadlineMs) return NONE;
  return nowMs < untilMs ? { step: 'wait', untilMs } : { step: 'try', number: last.number + 1 };
}

/** When another attempt may follow; undefined for never. */
function retryAtMs(last: Attempt, capturableMinor: number): number | undefined {
  if (last.numberOnHold === 0) return last.atMs + UNKNOWN_WAIT_MS;
  switch (last.outcome) {
    case 'done':
    case 'refused':
      return undefined;
    case 'failed':
      return last.atMs + Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** (last.numberOnHold - 1));
    case 'unknown':
      return capturableMinor === last.capturableMinor ? last.atMs + UNKNOWN_WAIT_MS : undefined;
  }
}

/** An attempt as it is stored: its outcome is text, null until it is known. */
export interface StoredAttempt extends Omit<Attempt, 'outcome' | 'reason'> {
  readonly outcome: string | null;
}

/** Whether the request of an attempt may still be under way (rule 3). */
export function isInProgress({ outcome, atMs }: StoredAttempt, nowMs: number): boolean {
  return outcome === null && Math.abs(nowMs - atMs) < UNKNOWN_WAIT_MS;
}

/** Reads a stored outcome such as `refused: reason`. An attempt without a known one may have been carried out. */
export function toAttempt({ outcome: text, ...stored }: StoredAttempt): Attempt {
  const [name = '', ...reason] = text?.split(': ') ?? [];
  const outcome = OUTCOMES.find((known) => known === name) ?? 'unknown';
  return { ...stored, outcome, reason: reason.length > 0 ? reason.join(': ') : undefined };
}

const OUTCOMES: readonly AttemptOutcome[] = ['done', 'failed', 'refused', 'unknown'];

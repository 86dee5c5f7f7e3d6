/**
 * When a policy tries to capture or cancel a hold, and when it tries again.
 *
 * Terms. *Attempt*: one request, claimed in a commit of its own before it is sent. *Failed*: the
 * request did not reach the service, or the service answered that it could not work on it. *Refused*:
 * the service will not do it. *Unknown*: no answer tells; a process that ended between its claim and
 * the answer leaves the same.
 *
 * 1. Attempts are made from the policy's threshold up to the deadline, and only on what the service has
 *    just shown to be capturable.
 * 2. A failed attempt is repeated after a wait that doubles from 1 to 15 minutes: the service's errors
 *    mean that nothing was attempted.
 * 3. An unknown attempt is repeated after UNKNOWN_WAIT_MS, which is longer than a call takes and than
 *    a retrieve lags behind, and only while everything can be captured that could be before it. Had the
 *    request been carried out, the service would show that, and answer a second one with 409.
 * 4. After a success or a refusal no attempt follows: 409 says that it was captured or cancelled
 *    already, and any other refusal needs a person.
 *
 * service-interface.md §7.1, §7.5 and §7.7.
 * All times are milliseconds since 1970.
 */
import { MINUTE_MS } from '../../platform/time.ts';
import { type Policy, type PolicyAction, policyActs } from './authorization.ts';

const FIRST_WAIT_MS = MINUTE_MS;
const MAX_WAIT_MS = 15 * MINUTE_MS;
const UNKNOWN_WAIT_MS = 10 * MINUTE_MS;

export type AttemptOutcome = 'done' | 'failed' | 'refused' | 'unknown';

/** The last attempt on a payment. */
export interface Attempt {
  /** Counted from 1. */
  readonly number: number;
  readonly action: PolicyAction;
  readonly atMs: number;
  readonly outcome: AttemptOutcome;
  /** The service's words, or the client's; undefined where none came. */
  readonly reason: string | undefined;
  /** What could be captured before it, in minor units. */
  readonly capturableMinor: number;
}

export type PolicyStep =
  | { readonly step: 'none' }
  | { readonly step: 'wait'; readonly untilMs: number }
  /** `number` is that of the attempt to be made. */
  | { readonly step: 'try'; readonly number: number };

const NONE = { step: 'none' } as const;

export interface PolicySituation {
  readonly policy: Policy | undefined;
  readonly deadlineMs: number;
  /** What can be captured now, in minor units. */
  readonly leftMinor: number;
  readonly last: Attempt | undefined;
}

/** What the policy does at `nowMs` (rules 1 to 4). */
export function policyStep(situation: PolicySituation, nowMs: number): PolicyStep {
  const { policy, deadlineMs, leftMinor, last } = situation;
  if (policy === undefined || !policyActs(policy, deadlineMs, nowMs)) return NONE;
  if (last === undefined) return { step: 'try', number: 1 };
  const untilMs = retryAtMs(last, leftMinor);
  if (untilMs === undefined || untilMs >= deadlineMs) return NONE;
  return nowMs < untilMs ? { step: 'wait', untilMs } : { step: 'try', number: last.number + 1 };
}

/** When another attempt may follow; undefined for never. */
function retryAtMs(last: Attempt, leftMinor: number): number | undefined {
  switch (last.outcome) {
    case 'done':
    case 'refused':
      return undefined;
    case 'failed':
      return last.atMs + Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** (last.number - 1));
    case 'unknown':
      return leftMinor === last.capturableMinor ? last.atMs + UNKNOWN_WAIT_MS : undefined;
  }
}

/** An attempt as it is stored: its outcome is text, null until an answer came. */
export interface StoredAttempt extends Omit<Attempt, 'outcome' | 'reason'> {
  readonly outcome: string | null;
}

export function toAttempt({ outcome: text, ...stored }: StoredAttempt): Attempt {
  const [name = '', ...reason] = text?.split(': ') ?? [];
  const outcome = OUTCOMES.find((known) => known === name) ?? 'unknown';
  return { ...stored, outcome, reason: reason.length > 0 ? reason.join(': ') : undefined };
}

const OUTCOMES: readonly AttemptOutcome[] = ['done', 'failed', 'refused', 'unknown'];

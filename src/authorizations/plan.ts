/** What an authorization comes to at an instant: its deadline, what is to be said, what is to be done. */
import { MINUTE_MS } from '../platform/time.ts';
import { type Attempt, type PolicyStep, policyStep, toAttempt } from './domain/attempts.ts';
import { type Decision, deadlineOf, decide, type Policy } from './domain/authorization.ts';
import { capturableMinor } from './domain/capturable.ts';
import type { AuthorizationRow } from './store/authorizations.ts';

export interface Plan {
  readonly row: AuthorizationRow;
  readonly leftMinor: number;
  readonly startMs: number;
  readonly deadlineMs: number;
  readonly decision: Decision;
  /** What the policy does, if there is one. */
  readonly policy: PolicyStep;
  readonly lastAttempt: Attempt | undefined;
  /** The service is to be asked: before anything is said or done, and past the deadline. */
  readonly asks: boolean;
}

export interface Rules {
  /** Hours before the deadline. */
  readonly thresholds: readonly number[];
  /** Undefined: nothing is done, only said. */
  readonly policy: Policy | undefined;
}

/** Undefined when nothing can be captured. */
export function planFor(
  row: AuthorizationRow,
  { thresholds, policy }: Rules,
  nowMs: number,
): Plan | undefined {
  const leftMinor = capturableMinor(row);
  if (leftMinor === 0) return undefined;
  const { startMs, deadlineMs } = deadlineOf({
    authorizedMs: row.authorizedMicros === null ? undefined : row.authorizedMicros / 1000,
    createdMs: row.createdAt?.getTime(),
    firstSeenMs: row.firstSeenAt.getTime(),
    captureBeforeMs: row.captureBefore?.getTime(),
  });
  const said =
    row.saidHours === null || row.saidDeadlineAt === null
      ? undefined
      : { hours: row.saidHours, deadlineMs: row.saidDeadlineAt.getTime() };
  const decision = decide({ deadlineMs, said, thresholds }, nowMs);
  const lastAttempt = row.lastAttempt === null ? undefined : toAttempt(row.lastAttempt);
  const step = policyStep({ policy, deadlineMs, leftMinor, last: lastAttempt }, nowMs);
  const asks = decision.speak !== undefined || step.step === 'try' || nowMs >= deadlineMs;
  return { row, leftMinor, startMs, deadlineMs, decision, policy: step, lastAttempt, asks };
}

/** What must be confirmed by the service, and was not. */
const ASK_AGAIN_MS = 5 * MINUTE_MS;

/** When to look at it next, after a look at `nowMs`. */
export function nextLookMs(plan: Plan, isConfirmed: boolean, nowMs: number): number {
  const { policy, decision, deadlineMs } = plan;
  switch (policy.step) {
    case 'try':
      return Math.min(nowMs + ASK_AGAIN_MS, decision.nextLookMs);
    case 'wait':
      return Math.min(policy.untilMs, decision.nextLookMs);
    case 'none': {
      const isOpen = nowMs >= deadlineMs && !isConfirmed;
      return isOpen ? Math.min(nowMs + ASK_AGAIN_MS, decision.nextLookMs) : decision.nextLookMs;
    }
  }
}

/**
 * Rules of authorizations: money that is held until it is captured.
 *
 * 1. Near the deadline an alert is active, with a reminder at each threshold; critical from 6 hours on.
 * 2. After the deadline, while the service still reports the authorization as capturable, another alert
 *    replaces it.
 * 3. Both include a failed attempt of the policy and its next one, which make them critical.
 * 4. Both are resolved when nothing is held anymore. An expired authorization is a one-time alert:
 *    nothing can be done about it.
 * 5. While a part is being captured, nothing can be captured, and the rest is held still. Both alerts stay: what
 *    the check of authorizations remembers would not raise them again for the rest before its next threshold. If it
 *    finds the payment in that state, it resolves them and forgets its reminders.
 */
import { FINAL_STATUSES, isCapturable } from '../../../contract/statuses.ts';
import type { Alert, SubjectAlerts } from '../alert.ts';
import type { ResourceFacts } from '../facts.ts';
import { belonging, history, instant, money, quote, resourceDetail, subjectOf } from '../format.ts';
import { shellWord } from '../shellWord.ts';

/** A hold that can still be captured, at a threshold. */
export interface HoldFacts {
  readonly paymentId: string;
  readonly orderId: string | undefined;
  readonly status: string | undefined;
  readonly currency: string | undefined;
  /** Minor units. */
  readonly capturableMinor: number;
  readonly deadlineMs: number;
  /** The threshold that was reached last, in hours before the deadline; 0 for the deadline itself. */
  readonly thresholdHours: number;
  /** A retrieve has just confirmed it. */
  readonly isConfirmed: boolean;
  /** The last attempt of the policy to capture or cancel it. */
  readonly attempt: AttemptFacts | undefined;
}

export interface AttemptFacts {
  readonly number: number;
  readonly action: 'capture' | 'cancel';
  readonly atMs: number;
  readonly outcome: 'done' | 'failed' | 'refused' | 'unknown';
  readonly reason: string | undefined;
  /** The time of the next attempt; undefined for none. */
  readonly nextMs: number | undefined;
}

const RULES = ['authorization_expiring', 'authorization_expired'] as const;
const CRITICAL_HOURS = 6;

/** @param hold undefined if nothing can be captured or no threshold is reached */
export function holdAlerts(paymentId: string, hold: HoldFacts | undefined): SubjectAlerts {
  return {
    subject: subjectOf({ kind: 'payment', id: paymentId }),
    rules: RULES,
    active: hold === undefined ? [] : [holdAlert(hold)],
    isReminderDue: true,
  };
}

function holdAlert(hold: HoldFacts): Alert {
  const { paymentId, orderId, deadlineMs, thresholdHours } = hold;
  const ref = { kind: 'payment' as const, id: paymentId, orderId, paymentId };
  const hasExpired = thresholdHours === 0;
  const amount = money(hold.capturableMinor, hold.currency);
  const until = hasExpired
    ? `expired at ${instant(deadlineMs)}. The service still lists it as capturable, but may refuse a capture.`
    : `expires at ${instant(deadlineMs)}. Capture it before then, or the money is released.`;
  const unconfirmed = hold.isConfirmed
    ? ''
    : ' The service did not respond, so this may be out of date.';
  const id = shellWord(paymentId);
  const { attempt } = hold;
  const hasFailedAttempt = attempt !== undefined && attempt.outcome !== 'done';
  return {
    rule: hasExpired ? 'authorization_expired' : 'authorization_expiring',
    subject: subjectOf(ref),
    variant: new Date(deadlineMs).toISOString(),
    severity: hasFailedAttempt || thresholdHours <= CRITICAL_HOURS ? 'critical' : 'warning',
    sentence: `The authorization of ${amount} on payment ${paymentId}${belonging(ref)} ${until}${attemptSentence(attempt)}${unconfirmed}`,
    nextStep: `npx tallyhook authorizations capture ${id}; or, to release it: npx tallyhook authorizations cancel ${id}`,
    detail: {
      id: paymentId,
      status: hold.status,
      capturableMinor: hold.capturableMinor,
      currency: hold.currency,
      deadline: new Date(deadlineMs).toISOString(),
      thresholdHours,
      isConfirmed: hold.isConfirmed,
      ...(attempt && {
        attempts: attempt.number,
        lastAttempt: new Date(attempt.atMs).toISOString(),
        lastOutcome: attempt.outcome,
      }),
    },
    orderId,
    paymentId,
    deadlineAt: new Date(deadlineMs),
  };
}

/** Rule 3. */
function attemptSentence(attempt: AttemptFacts | undefined): string {
  if (attempt === undefined) return '';
  const { number, action, outcome, reason, atMs, nextMs } = attempt;
  const times = number === 1 ? '' : ` for the ${ordinal(number)} time`;
  const tried = ` The policy tried to ${action} it${times} at ${instant(atMs)}`;
  const next =
    nextMs === undefined
      ? 'It does not try again: act by hand.'
      : `It tries again at ${instant(nextMs)} if the full amount is still capturable.`;
  switch (outcome) {
    case 'done':
      return `${tried}, and the service accepted it.`;
    case 'failed':
      return `${tried} and failed without effect: ${quote(reason)}. ${next}`;
    case 'refused':
      return `${tried}, and the service refused it: ${quote(reason)}. ${next}`;
    case 'unknown':
      return `${tried}, and the result is unknown: no response arrived. ${next}`;
  }
}

function ordinal(number: number): string {
  const isTeen = number % 100 >= 11 && number % 100 <= 13;
  const ending = isTeen ? undefined : ['st', 'nd', 'rd'][(number % 10) - 1];
  return `${number}${ending ?? 'th'}`;
}

/** Rules 4 and 5: for a payment that was held and has ended. */
export function holdEndAlerts(facts: ResourceFacts): SubjectAlerts | undefined {
  const { isHistory, status } = facts;
  if (!FINAL_STATUSES.payment.has(status ?? '') || !wasHeld(facts)) return undefined;
  const hasExpired = status === 'expired' && !isHistory;
  return {
    subject: subjectOf(facts),
    rules: RULES,
    active: [],
    oneTime: hasExpired ? [expiredAlert(facts)] : [],
  };
}

/** A hold may be `processing` before it ends. The ledger has no authorized amount of payments that were never held. */
function wasHeld({ before, authorizedMinor }: ResourceFacts): boolean {
  if (before === undefined || FINAL_STATUSES.payment.has(before.status)) return false;
  return isHeld(before.status) || authorizedMinor > 0;
}

function isHeld(status: string): boolean {
  return isCapturable(status) || status === 'partially_captured_and_processing';
}

function expiredAlert(facts: ResourceFacts): Alert {
  const leftMinor = Math.max(0, facts.authorizedMinor - facts.capturedMinor);
  const amount = money(leftMinor, facts.currency);
  return {
    rule: 'authorization_expired',
    subject: subjectOf(facts),
    variant: '',
    severity: 'warning',
    sentence: `The authorization of ${amount} on payment ${facts.id}${belonging(facts)} expired: it was not captured in time, and the money is released.`,
    nextStep: `Do not ship the order; request a new payment from the customer. History: ${history(facts)}`,
    detail: { ...resourceDetail(facts), expiredMinor: leftMinor },
    orderId: facts.orderId,
    paymentId: facts.paymentId,
  };
}

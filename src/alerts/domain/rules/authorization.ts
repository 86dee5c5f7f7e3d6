/**
 * Rules of authorizations: money that is held until somebody captures it.
 *
 * 1. Near the deadline an alert stands, and is said at each threshold; critical from 6 hours on.
 * 2. Past the deadline, while the service still shows it as capturable, another takes its place.
 * 3. What the policy tried without success is in both, with what it does next; it makes them critical.
 * 4. When nothing is held any more, both end with what was heard of it. That a hold lapsed is news:
 *    nothing can be done about it.
 */
import { isCapturable } from '../../../contract/statuses.ts';
import type { Alert, Settled } from '../alert.ts';
import type { ResourceFacts } from '../facts.ts';
import { shellWord } from '../shellWord.ts';
import { belonging, history, instant, money, quote, resourceDetail, subjectOf } from '../words.ts';

/** A hold that can still be captured, at a threshold. */
export interface HoldFacts {
  readonly paymentId: string;
  readonly orderId: string | undefined;
  readonly status: string | undefined;
  readonly currency: string | undefined;
  /** Minor units. */
  readonly capturableMinor: number;
  readonly deadlineMs: number;
  /** The threshold that was reached last, in hours before the deadline; 0 is the deadline itself. */
  readonly thresholdHours: number;
  /** The service has just said so itself. */
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
  /** When it is tried again; undefined for never. */
  readonly nextMs: number | undefined;
}

const RULES = ['authorization_expiring', 'authorization_expired'] as const;
const CRITICAL_HOURS = 6;

/** What stands of a hold; `hold` is undefined when nothing can be captured, or all time is left. */
export function holdAlerts(paymentId: string, hold: HoldFacts | undefined): Settled {
  return {
    subject: subjectOf({ kind: 'payment', id: paymentId }),
    rules: RULES,
    standing: hold === undefined ? [] : [holdAlert(hold)],
    isAtThreshold: true,
  };
}

function holdAlert(hold: HoldFacts): Alert {
  const { paymentId, orderId, deadlineMs, thresholdHours } = hold;
  const ref = { kind: 'payment' as const, id: paymentId, orderId, paymentId };
  const isOver = thresholdHours === 0;
  const amount = money(hold.capturableMinor, hold.currency);
  const until = isOver
    ? `was to be captured by ${instant(deadlineMs)}; the service still shows it, and may refuse now.`
    : `must be captured by ${instant(deadlineMs)}, or it lapses.`;
  const doubt = hold.isConfirmed ? '' : ' The service could not be asked whether this still holds.';
  const id = shellWord(paymentId);
  const { attempt } = hold;
  const isTroubled = attempt !== undefined && attempt.outcome !== 'done';
  return {
    rule: isOver ? 'authorization_expired' : 'authorization_expiring',
    subject: subjectOf(ref),
    variant: new Date(deadlineMs).toISOString(),
    severity: isTroubled || thresholdHours <= CRITICAL_HOURS ? 'critical' : 'warning',
    sentence: `The authorization of ${amount} on payment ${paymentId}${belonging(ref)} ${until}${attemptWords(attempt)}${doubt}`,
    nextStep: `npx tallyhook authorizations capture ${id}, or npx tallyhook authorizations cancel ${id}`,
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
function attemptWords(attempt: AttemptFacts | undefined): string {
  if (attempt === undefined) return '';
  const { number, action, outcome, reason, atMs, nextMs } = attempt;
  const times = number === 1 ? '' : ` for the ${ordinal(number)} time`;
  const tried = ` The policy tried to ${action} it${times} at ${instant(atMs)}`;
  const next =
    nextMs === undefined
      ? 'It does not try again: do it by hand.'
      : `It tries again at ${instant(nextMs)} if all of it can still be captured then.`;
  switch (outcome) {
    case 'done':
      return `${tried}, and the service took it.`;
    case 'failed':
      return `${tried}, and nothing was done: ${quote(reason)}. ${next}`;
    case 'refused':
      return `${tried}, and the service refused: ${quote(reason)}. ${next}`;
    case 'unknown':
      return `${tried}, and no answer tells whether it was done. ${next}`;
  }
}

function ordinal(number: number): string {
  const isTeen = number % 100 >= 11 && number % 100 <= 13;
  const ending = isTeen ? undefined : ['st', 'nd', 'rd'][(number % 10) - 1];
  return `${number}${ending ?? 'th'}`;
}

/** Rule 4: of a payment that was capturable and is not any more. */
export function holdEndAlerts(facts: ResourceFacts): Settled | undefined {
  const { before, isHistory, status } = facts;
  if (!isCapturable(before?.status) || isCapturable(status)) return undefined;
  const isNews = status === 'expired' && !isHistory;
  return {
    subject: subjectOf(facts),
    rules: RULES,
    standing: [],
    news: isNews ? [lapsedAlert(facts)] : [],
  };
}

function lapsedAlert(facts: ResourceFacts): Alert {
  const leftMinor = Math.max(0, facts.authorizedMinor - facts.capturedMinor);
  const amount = money(leftMinor, facts.currency);
  return {
    rule: 'authorization_expired',
    subject: subjectOf(facts),
    variant: '',
    severity: 'warning',
    sentence: `The authorization of ${amount} on payment ${facts.id}${belonging(facts)} lapsed: it was not captured in time, and the money is not held any more.`,
    nextStep: `Do not deliver against it; a new payment is needed. History: ${history(facts)}`,
    detail: { ...resourceDetail(facts), lapsedMinor: leftMinor },
    orderId: facts.orderId,
    paymentId: facts.paymentId,
  };
}

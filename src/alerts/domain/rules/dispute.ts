/**
 * Rules of disputes.
 *
 * 1. `opened` needs a response at every stage: critical, with the deadline. A later stage is another
 *    alert, which replaces the earlier one.
 * 2. `won`, `cancelled`, and changes that need no action raise one-time alerts.
 * 3. `lost`, `expired` and `accepted` open an alert when they happen, and keep it open until the dispute
 *    returns.
 * 4. While the status is unknown to this version, open alerts stay open.
 * 5. The alert about the deadline is resolved when no response is needed, and when the deadline moves.
 *    If a threshold of the new deadline is reached, another alert replaces it.
 * 6. A status that has fallen back (fallenBack.ts) changes nothing. If the dispute is open after all, the alert
 *    about the deadline is raised in time.
 */
import { isFirstStage } from '../../../contract/statuses.ts';
import { HOUR_MS } from '../../../platform/time.ts';
import type { Alert, Rule, Severity, SubjectAlerts } from '../alert.ts';
import type { Described, ResourceFacts } from '../facts.ts';
import {
  belonging,
  history,
  instant,
  money,
  reasonSentence,
  resourceDetail,
  subjectOf,
} from '../format.ts';
import { shellWord } from '../shellWord.ts';
import { evidenceDeadline, reachedThreshold } from './evidence.ts';
import { hasFallenBack } from './fallenBack.ts';

/** The status in which a dispute waits for the merchant's response. */
export const NEEDS_RESPONSE = 'opened';

/** The statuses before a decision, in their order. */
const UNDECIDED: readonly string[] = [NEEDS_RESPONSE, 'challenged'];

export function disputeAlerts(facts: ResourceFacts, nowMs: number): SubjectAlerts | undefined {
  const { status } = facts;
  if (status === undefined || hasFallenBack(facts, progressOf)) return undefined;
  const subject = subjectOf(facts);
  const hasChanged = isChanged(facts);
  const notifies = hasChanged && !facts.isHistory;
  const opening: readonly Rule[] = ['dispute_opened', 'dispute_deadline'];
  const oneTime = (alert: Alert): SubjectAlerts => ({
    subject,
    rules: [...opening, 'dispute_lost'],
    active: [],
    oneTime: notifies ? [alert] : [],
  });
  switch (status) {
    case NEEDS_RESPONSE:
      return waitingAlerts(facts, nowMs);
    case 'challenged':
      return oneTime(challengedAlert(facts));
    case 'won':
      return oneTime(wonAlert(facts));
    case 'cancelled':
      return oneTime(cancelledAlert(facts));
    case 'lost':
    case 'expired':
    case 'accepted':
      // Evaluated only when it happens, so that nobody is notified of the past.
      return hasChanged
        ? {
            subject,
            rules: [...opening, 'dispute_lost'],
            active: facts.isHistory ? [] : [lostAlert(facts, status)],
          }
        : { subject, rules: opening, active: [] };
    default:
      return notifies
        ? { subject, rules: [], active: [], oneTime: [unknownAlert(facts, status)] }
        : undefined;
  }
}

/** Rules 1 and 5, for a dispute that needs a response. */
function waitingAlerts(facts: ResourceFacts, nowMs: number): SubjectAlerts {
  const subject = subjectOf(facts);
  const opened = openedAlert(facts, nowMs);
  const rules: readonly Rule[] = ['dispute_opened', 'dispute_lost'];
  const hasChanged = isChanged(facts);
  if (!hasChanged && !isDeadlineMoved(facts, nowMs)) return { subject, rules, active: [opened] };
  const { deadlineMs } = evidenceDeadline(facts, nowMs);
  // The alert that opens names the deadline itself.
  const near = hasChanged
    ? undefined
    : deadlineAlert(facts, deadlineMs, { isConfirmed: true, nowMs });
  const active = near === undefined ? [opened] : [opened, near];
  return { subject, rules: [...rules, 'dispute_deadline'], active };
}

function isChanged({ before, status, stage }: ResourceFacts): boolean {
  return before === undefined || before.status !== status || before.stage !== stage;
}

/** A decision follows all other statuses. */
function progressOf(status: string | undefined): number {
  const place = UNDECIDED.indexOf(status ?? '');
  return place === -1 ? UNDECIDED.length : place;
}

/** Whether the opening named another deadline. It named an assumed one that the service then confirms. */
function isDeadlineMoved(facts: ResourceFacts, nowMs: number): boolean {
  const { before, deadlineMs } = facts;
  if (before?.deadlineMs === deadlineMs) return false;
  if (before?.deadlineMs !== undefined || deadlineMs === undefined) return true;
  const assumed = evidenceDeadline({ ...facts, deadlineMs: undefined }, nowMs);
  return Math.abs(deadlineMs - assumed.deadlineMs) >= HOUR_MS;
}

type AlertText = Pick<Alert, 'rule' | 'severity' | 'sentence' | 'nextStep'> & Partial<Alert>;

function alertOf(facts: Described, text: AlertText): Alert {
  const { orderId, paymentId } = facts;
  return {
    subject: subjectOf(facts),
    variant: '',
    detail: resourceDetail(facts),
    orderId,
    paymentId,
    ...text,
  };
}

/** For example `Dispute dp_1 about 65.40 USD (order 1001, payment pay_1)`. */
function named(facts: Described): string {
  return `Dispute ${facts.id} about ${money(facts.amountMinor, facts.currency)}${belonging(facts)}`;
}

/** At this stage the dispute is an inquiry by the bank, and no money is withheld. */
function isInquiry({ stage }: Described): boolean {
  return stage === 'pre_dispute';
}

function responseStep(facts: Described, when = 'Before the deadline'): string {
  const id = shellWord(facts.id);
  return (
    `${when}, submit evidence or accept the dispute: on its page in the console, or by ` +
    `npx tallyhook disputes submit ${id} or npx tallyhook disputes accept ${id}. History: ${history(facts)}`
  );
}

function openedAlert(facts: ResourceFacts, nowMs: number): Alert {
  const { deadlineMs, isAssumed } = evidenceDeadline(facts, nowMs);
  const { stage } = facts;
  let what = 'was opened';
  if (isInquiry(facts)) what = 'is an inquiry by the bank; no money is withheld yet. It';
  else if (!isFirstStage(stage)) what = `moved to the stage ${stage}`;
  const joint = isInquiry(facts) ? '' : ' and';
  const until = isAssumed
    ? `needs a response. The service gives no deadline; Tallyhook assumes 7 days, until ${instant(deadlineMs)}.`
    : `needs a response by ${instant(deadlineMs)}.`;
  return alertOf(facts, {
    rule: 'dispute_opened',
    variant: stage ?? '',
    severity: 'critical',
    sentence: `${named(facts)} ${what}${joint} ${until}${reasonSentence(facts)}`,
    nextStep: responseStep(facts),
    detail: {
      ...resourceDetail(facts),
      deadline: new Date(deadlineMs).toISOString(),
      isDeadlineAssumed: isAssumed,
    },
    deadlineAt: new Date(deadlineMs),
  });
}

/**
 * For a dispute that needs a response; undefined before the first threshold of its deadline.
 * @param isConfirmed the service has just reported that it needs one
 */
export function deadlineAlert(
  facts: Described,
  deadlineMs: number,
  { isConfirmed, nowMs }: { readonly isConfirmed: boolean; readonly nowMs: number },
): Alert | undefined {
  const hours = reachedThreshold(deadlineMs, nowMs);
  if (hours === undefined) return undefined;
  const isOver = nowMs >= deadlineMs;
  const until = isOver
    ? `needed a response by ${instant(deadlineMs)}${isConfirmed ? '; the service still reports none' : ''}.`
    : `needs a response by ${instant(deadlineMs)}, in less than ${hours} hours.`;
  const left = isConfirmed
    ? until
    : `${until} Tallyhook could not confirm this with the service, so it may be out of date.`;
  return alertOf(facts, {
    rule: 'dispute_deadline',
    variant: new Date(deadlineMs).toISOString(),
    severity: hours <= 24 ? 'critical' : 'warning',
    sentence: `${named(facts)} ${left}${reasonSentence(facts)}`,
    nextStep: isOver
      ? responseStep(facts, 'If the service still accepts a response')
      : responseStep(facts),
    detail: {
      ...resourceDetail(facts),
      deadline: new Date(deadlineMs).toISOString(),
      thresholdHours: hours,
    },
    deadlineAt: new Date(deadlineMs),
  });
}

function challengedAlert(facts: ResourceFacts): Alert {
  const severity: Severity = facts.before === undefined ? 'warning' : 'info';
  const stage = facts.stage === undefined ? '' : ` at stage ${facts.stage}`;
  return alertOf(facts, {
    rule: 'dispute_changed',
    variant: `${facts.stage ?? ''}/${facts.status ?? ''}`,
    severity,
    sentence: `${named(facts)} is challenged${stage}: evidence was sent, and the bank decides.`,
    nextStep: `No action needed. History: ${history(facts)}`,
  });
}

function unknownAlert(facts: ResourceFacts, status: string): Alert {
  return alertOf(facts, {
    rule: 'dispute_changed',
    variant: `${facts.stage ?? ''}/${status}`,
    severity: 'warning',
    sentence: `${named(facts)} has the status ${status}, which this version of Tallyhook does not know.`,
    nextStep: `Contact the service's support to find out what it means. History: ${history(facts)}`,
  });
}

function wonAlert(facts: ResourceFacts): Alert {
  const money = isInquiry(facts) ? '' : ' The amount is released to you.';
  return alertOf(facts, {
    rule: 'dispute_won',
    variant: facts.stage ?? '',
    severity: 'info',
    sentence: `${named(facts)} was won.${money}`,
    nextStep: `No action needed. History: ${history(facts)}`,
  });
}

function cancelledAlert(facts: ResourceFacts): Alert {
  const money = isInquiry(facts) ? '' : ' The amount is released to you.';
  return alertOf(facts, {
    rule: 'dispute_cancelled',
    variant: facts.stage ?? '',
    severity: 'info',
    sentence: `${named(facts)} was canceled by the customer or the bank.${money}`,
    nextStep: `No action needed. History: ${history(facts)}`,
  });
}

const LOST_WORDS = {
  lost: 'was lost',
  expired: 'expired without a response',
  accepted: 'was accepted',
} as const;

function lostAlert(facts: ResourceFacts, status: keyof typeof LOST_WORDS): Alert {
  const cost = isInquiry(facts) ? ' No money moved; a dispute may follow.' : ' The amount is lost.';
  return alertOf(facts, {
    rule: 'dispute_lost',
    variant: `${facts.stage ?? ''}/${status}`,
    // The merchant chose to accept it.
    severity: status === 'accepted' ? 'info' : 'warning',
    sentence: `${named(facts)} ${LOST_WORDS[status]}.${cost}${reasonSentence(facts)}`,
    nextStep: `Do not refund the payment as well. Then acknowledge this alert. History: ${history(facts)}`,
  });
}

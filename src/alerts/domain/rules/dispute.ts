/**
 * Rules of disputes.
 *
 * 1. `opened` needs an answer, at every stage: critical, with the deadline. A later stage is another
 *    alert, which takes the place of the earlier one.
 * 2. `won`, `cancelled`, and changes that call for nothing, are news: said when they happen.
 * 3. `lost`, `expired` and `accepted` stand until the dispute comes back; they open when they happen.
 * 4. While the status is one that this version does not know, what stood goes on standing.
 * 5. The deadline's own alert ends with the need for an answer, and when the deadline moves: then
 *    another takes its place if a threshold of the new one is reached.
 */
import type { Alert, Rule, Settled, Severity } from '../alert.ts';
import type { Described, ResourceFacts } from '../facts.ts';
import {
  belonging,
  history,
  instant,
  money,
  reasonSentence,
  resourceDetail,
  subjectOf,
} from '../words.ts';
import { evidenceDeadline, isFirstStage, reachedThreshold } from './evidence.ts';

/** The status in which a dispute waits for the merchant's answer. */
export const NEEDS_ANSWER = 'opened';

export function disputeAlerts(facts: ResourceFacts, nowMs: number): Settled | undefined {
  const { status } = facts;
  if (status === undefined) return undefined;
  const subject = subjectOf(facts);
  const hasChanged = isChanged(facts);
  const isNews = hasChanged && !facts.isHistory;
  const over: readonly Rule[] = ['dispute_opened', 'dispute_deadline'];
  const news = (alert: Alert): Settled => ({
    subject,
    rules: [...over, 'dispute_lost'],
    standing: [],
    news: isNews ? [alert] : [],
  });
  switch (status) {
    case NEEDS_ANSWER:
      return waitingAlerts(facts, nowMs);
    case 'challenged':
      return news(challengedAlert(facts));
    case 'won':
      return news(wonAlert(facts));
    case 'cancelled':
      return news(cancelledAlert(facts));
    case 'lost':
    case 'expired':
    case 'accepted':
      // Judged when it happens and left alone afterwards, so that nobody hears of what is past.
      return hasChanged
        ? {
            subject,
            rules: [...over, 'dispute_lost'],
            standing: facts.isHistory ? [] : [lostAlert(facts, status)],
          }
        : { subject, rules: over, standing: [] };
    default:
      return isNews
        ? { subject, rules: [], standing: [], news: [unknownAlert(facts, status)] }
        : undefined;
  }
}

/** Rules 1 and 5, for what needs an answer. */
function waitingAlerts(facts: ResourceFacts, nowMs: number): Settled {
  const subject = subjectOf(facts);
  const opened = openedAlert(facts, nowMs);
  const rules: readonly Rule[] = ['dispute_opened', 'dispute_lost'];
  const hasChanged = isChanged(facts);
  if (!hasChanged && !isDeadlineMoved(facts)) return { subject, rules, standing: [opened] };
  const { deadlineMs } = evidenceDeadline(facts, nowMs);
  // What opens the alert names the deadline itself.
  const near = hasChanged ? undefined : deadlineAlert(facts, deadlineMs, nowMs);
  const standing = near === undefined ? [opened] : [opened, near];
  return { subject, rules: [...rules, 'dispute_deadline'], standing };
}

function isChanged({ before, status, stage }: ResourceFacts): boolean {
  return before === undefined || before.status !== status || before.stage !== stage;
}

function isDeadlineMoved({ before, deadlineMs }: ResourceFacts): boolean {
  return before?.deadlineMs !== deadlineMs;
}

type Words = Pick<Alert, 'rule' | 'severity' | 'sentence' | 'nextStep'> & Partial<Alert>;

function alertOf(facts: Described, words: Words): Alert {
  const { orderId, paymentId } = facts;
  return {
    subject: subjectOf(facts),
    variant: '',
    detail: resourceDetail(facts),
    orderId,
    paymentId,
    ...words,
  };
}

/** For example `Dispute dp_1 about 65.40 USD (order 1001, payment pay_1)`. */
function named(facts: Described): string {
  return `Dispute ${facts.id} about ${money(facts.amountMinor, facts.currency)}${belonging(facts)}`;
}

/** A dispute at this stage is a question of the bank. */
function isQuestion({ stage }: Described): boolean {
  return stage === 'pre_dispute';
}

function answerStep(facts: Described): string {
  return (
    `Send evidence to the service (POST /disputes/evidence with dispute_id ${facts.id}), or accept ` +
    `the dispute there. What led to it: ${history(facts)}`
  );
}

function openedAlert(facts: ResourceFacts, nowMs: number): Alert {
  const { deadlineMs, isAssumed } = evidenceDeadline(facts, nowMs);
  const { stage } = facts;
  let what = 'was opened';
  if (isQuestion(facts)) what = 'is a question of the bank so far; no money is withheld. It';
  else if (!isFirstStage(stage)) what = `went on to ${stage}`;
  const joint = isQuestion(facts) ? '' : ' and';
  const until = isAssumed
    ? `needs an answer. The service names no deadline; 7 days are assumed: ${instant(deadlineMs)}.`
    : `needs an answer by ${instant(deadlineMs)}.`;
  return alertOf(facts, {
    rule: 'dispute_opened',
    variant: stage ?? '',
    severity: 'critical',
    sentence: `${named(facts)} ${what}${joint} ${until}${reasonSentence(facts)}`,
    nextStep: answerStep(facts),
    detail: {
      ...resourceDetail(facts),
      deadline: new Date(deadlineMs).toISOString(),
      isDeadlineAssumed: isAssumed,
    },
    deadlineAt: new Date(deadlineMs),
  });
}

/** Of a dispute that needs an answer; undefined before the first threshold of its deadline. */
export function deadlineAlert(
  facts: Described,
  deadlineMs: number,
  nowMs: number,
): Alert | undefined {
  const hours = reachedThreshold(deadlineMs, nowMs);
  if (hours === undefined) return undefined;
  const left =
    nowMs >= deadlineMs
      ? `was to be answered by ${instant(deadlineMs)}, and no answer has been seen.`
      : `must be answered by ${instant(deadlineMs)}: less than ${hours} h are left.`;
  return alertOf(facts, {
    rule: 'dispute_deadline',
    variant: new Date(deadlineMs).toISOString(),
    severity: hours <= 24 ? 'critical' : 'warning',
    sentence: `${named(facts)} ${left}${reasonSentence(facts)}`,
    nextStep: answerStep(facts),
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
    nextStep: `Nothing to do but wait. History: ${history(facts)}`,
  });
}

function unknownAlert(facts: ResourceFacts, status: string): Alert {
  return alertOf(facts, {
    rule: 'dispute_changed',
    variant: `${facts.stage ?? ''}/${status}`,
    severity: 'warning',
    sentence: `${named(facts)} has the status ${status}, which this version does not know.`,
    nextStep: `Ask the service what it means. History: ${history(facts)}`,
  });
}

function wonAlert(facts: ResourceFacts): Alert {
  const money = isQuestion(facts) ? '' : ' The amount is released.';
  return alertOf(facts, {
    rule: 'dispute_won',
    variant: facts.stage ?? '',
    severity: 'info',
    sentence: `${named(facts)} was won.${money}`,
    nextStep: `Nothing to do. History: ${history(facts)}`,
  });
}

function cancelledAlert(facts: ResourceFacts): Alert {
  const money = isQuestion(facts) ? '' : ' The amount is released.';
  return alertOf(facts, {
    rule: 'dispute_cancelled',
    variant: facts.stage ?? '',
    severity: 'info',
    sentence: `${named(facts)} was cancelled by the other side.${money}`,
    nextStep: `Nothing to do. History: ${history(facts)}`,
  });
}

const LOST_WORDS = {
  lost: 'was lost',
  expired: 'expired without an answer',
  accepted: 'was accepted',
} as const;

function lostAlert(facts: ResourceFacts, status: keyof typeof LOST_WORDS): Alert {
  const cost = isQuestion(facts)
    ? ' No money has moved; a dispute may follow.'
    : ' The amount is lost.';
  return alertOf(facts, {
    rule: 'dispute_lost',
    variant: `${facts.stage ?? ''}/${status}`,
    // Accepting is what the merchant chose.
    severity: status === 'accepted' ? 'info' : 'warning',
    sentence: `${named(facts)} ${LOST_WORDS[status]}.${cost}${reasonSentence(facts)}`,
    nextStep: `Do not refund the payment as well. Then acknowledge this alert. History: ${history(facts)}`,
  });
}

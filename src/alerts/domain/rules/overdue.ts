/**
 * Resources that stay in a status for too long. The alert is active from the end of the status's term. The ledger
 * defines it for each status, and when it began: a payment link may be paid long after it was created.
 */
import type { ResourceKind } from '../../../contract/resources/index.ts';
import { DAY_MS } from '../../../platform/time.ts';
import type { Alert, Rule, SubjectAlerts } from '../alert.ts';
import type { Described, ResourceFacts } from '../facts.ts';
import { belonging, history, instant, money, resourceDetail, subjectOf } from '../format.ts';
import { shellWord } from '../shellWord.ts';

const RULE_OF = {
  payment: 'payment_stuck',
  refund: 'refund_stuck',
  payout: 'payout_stuck',
  dispute: 'dispute_stuck',
} as const satisfies Record<ResourceKind, Rule>;

/** The input of this rule. */
export type TermFacts = Described &
  Pick<ResourceFacts, 'before' | 'createdMs' | 'termDays' | 'termSinceMs' | 'isOverdue'>;

/** Undefined if neither the current nor the previous status can have exceeded its term. */
export function overdueAlerts(facts: TermFacts, nowMs: number): SubjectAlerts | undefined {
  const { before, createdMs, termDays, termSinceMs } = facts;
  const only = (active: readonly Alert[]): SubjectAlerts => ({
    subject: subjectOf(facts),
    rules: [RULE_OF[facts.kind]],
    active,
  });
  const isPast = (sinceMs: number, days: number) => nowMs - sinceMs > days * DAY_MS;
  const hasTerm = termDays !== undefined && termSinceMs !== undefined;
  if (hasTerm && (facts.isOverdue || isPast(termSinceMs, termDays))) {
    return only([overdueAlert(facts, termSinceMs)]);
  }
  if (before?.termDays === undefined) return undefined;
  // The term before may have begun later: then there is no alert to resolve.
  return createdMs === undefined || isPast(createdMs, before.termDays) ? only([]) : undefined;
}

/** Resolves the alert once a person has accepted that the resource takes long. */
export function acceptedOverdue(subject: string): SubjectAlerts {
  return { subject, rules: Object.values(RULE_OF), active: [] };
}

function overdueAlert(facts: TermFacts, sinceMs: number): Alert {
  const { kind, id, status, termDays } = facts;
  const name = `${KIND_WORDS[kind]} ${id} of ${money(facts.amountMinor, facts.currency)}`;
  return {
    rule: RULE_OF[kind],
    subject: subjectOf(facts),
    variant: '',
    severity: 'warning',
    sentence: `${name}${belonging(facts)} has been ${status} since ${instant(sinceMs)}; it usually takes ${termDays} days at most.`,
    nextStep: `npx tallyhook refresh ${shellWord(id)}; if nothing changes, contact the service's support. History: ${history(facts)}`,
    detail: { ...resourceDetail(facts), termDays },
    orderId: facts.orderId,
    paymentId: facts.paymentId,
  };
}

const KIND_WORDS = {
  payment: 'Payment',
  refund: 'Refund',
  payout: 'Payout',
  dispute: 'Dispute',
} as const satisfies Record<ResourceKind, string>;

/**
 * What stays longer in a status than it should. It stands from the end of its term on, for as long as
 * the status allows no more; how long that is, the ledger says for each status.
 */
import type { ResourceKind } from '../../../contract/resources/index.ts';
import type { Alert, Rule, Settled } from '../alert.ts';
import type { Described, ResourceFacts } from '../facts.ts';
import { shellWord } from '../shellWord.ts';
import { belonging, history, instant, money, resourceDetail, subjectOf } from '../words.ts';

const DAY_MS = 24 * 60 * 60_000;

const RULE_OF = {
  payment: 'payment_stuck',
  refund: 'refund_stuck',
  payout: 'payout_stuck',
  dispute: 'dispute_stuck',
} as const satisfies Record<ResourceKind, Rule>;

/** What this rule goes by. */
export type TermFacts = Described & Pick<ResourceFacts, 'before' | 'createdMs' | 'termDays'>;

/** Undefined while neither the status now nor the one before can have outlasted its term. */
export function overdueAlerts(facts: TermFacts, nowMs: number): Settled | undefined {
  const { before, createdMs, termDays } = facts;
  const isPast = (days: number | undefined) =>
    days !== undefined && createdMs !== undefined && nowMs - createdMs > days * DAY_MS;
  const isOverdue = isPast(termDays);
  // Without a creation time the ledger's own check went by when it first heard of it, which is not
  // known here: then what stands is left to it until the status has no term at all.
  const mayHaveStood =
    createdMs === undefined
      ? before?.termDays !== undefined && termDays === undefined
      : isPast(before?.termDays);
  if (!isOverdue && !mayHaveStood) return undefined;
  return {
    subject: subjectOf(facts),
    rules: [RULE_OF[facts.kind]],
    standing: isOverdue ? [overdueAlert(facts)] : [],
  };
}

/** What stands of a resource by this rule once a person accepted that it takes long: nothing. */
export function acceptedOverdue(subject: string): Settled {
  return { subject, rules: Object.values(RULE_OF), standing: [] };
}

function overdueAlert(facts: TermFacts): Alert {
  const { kind, id, status, createdMs, termDays } = facts;
  const name = `${KIND_WORDS[kind]} ${id} of ${money(facts.amountMinor, facts.currency)}`;
  const since = createdMs === undefined ? '' : ` since ${instant(createdMs)}`;
  return {
    rule: RULE_OF[kind],
    subject: subjectOf(facts),
    variant: '',
    severity: 'warning',
    sentence: `${name}${belonging(facts)} is on its way${since} and still ${status}; ${termDays} days are usual at most.`,
    nextStep: `Ask the service: npx tallyhook refresh ${shellWord(id)}. Then: ${history(facts)}`,
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

/**
 * Alerts: what a person must know, with a state.
 *
 * Terms. *Rule*: what kind of thing is known. *Subject*: what it is about. *Variant*: what tells two
 * alerts of one rule on one subject apart. *Key*: the three together. *Standing*: the condition holds
 * now. *News*: something that happened and calls for nothing more. *Said*: handed to the channels.
 *
 * 1. What stands is a function of the state of things, so duplicates and order cannot matter.
 * 2. For each key one alert is not resolved; when the condition comes back, a new one is opened.
 * 3. What stands is said when it opens, and again only when it grows more severe, at a threshold of
 *    its rule, or when a snooze ends.
 * 4. Its end is said, too, unless something new is said of the same subject with it: that says it.
 * 5. Acknowledged: somebody deals with it. It stays so while the condition holds, is snoozed no
 *    longer, and is said again only when it grows more severe, or when it is snoozed again.
 * 6. Snoozed: nothing is said of it. When the snooze ends and it still stands, it is said once.
 * 7. An end of a life is no condition that could cease. It stands until the thing comes back, or
 *    until somebody acknowledges it, which resolves it.
 */

/** Every rule. What a rule knows stands beside its function in `rules/`. */
export const RULES = [
  // Disputes: rules/dispute.ts
  'dispute_opened',
  'dispute_changed',
  'dispute_deadline',
  'dispute_won',
  'dispute_lost',
  'dispute_cancelled',
  // Payouts: rules/payout.ts
  'payout_failed',
  // Refunds: rules/refund.ts
  'refund_failed',
  // Authorizations: rules/authorization.ts
  'authorization_expiring',
  'authorization_expired',
  // What stands longer than it should: rules/overdue.ts
  'payment_stuck',
  'refund_stuck',
  'payout_stuck',
  'dispute_stuck',
  // Findings, by the names of their classes: rules/findings.ts
  'double_paid',
  'double_loss',
  'dispute_and_refund',
  'over_refund',
  'over_capture',
  'capture_revoked',
  'currency',
  'amount',
  'status_conflict',
  'unknown_status',
  'missing_local',
  'stale_local',
  'missing_remote',
  'orphan',
  'totals',
  'list_unstable',
  'filter_ignored',
  'watermark_ahead',
  'event_dead',
  'unreadable_event',
  'payment_conflict',
  'label_conflict',
  'event_id_reused',
  'foreign_merchant',
  // The system itself: rules/system.ts
  'signature_failures',
  'silence',
  'missed_webhooks',
  'backlog',
  'dead_events',
  'watermark',
  'reconciliation_paused',
  'rate_exhausted',
  'service_unreachable',
  'clock_skew',
  // What goes out: channel.ts
  'channel_dead',
  'order_notice_given_up',
] as const;
export type Rule = (typeof RULES)[number];

/** Invariant 7. */
export const ENDS_OF_LIFE: readonly Rule[] = ['dispute_lost', 'payout_failed', 'refund_failed'];

/** From the least to the most severe. */
export const SEVERITIES = ['info', 'warning', 'critical'] as const;
export type Severity = (typeof SEVERITIES)[number];

/** One alert as a rule states it. */
export interface Alert {
  readonly rule: Rule;
  /** As in findings: `dispute:dp_1`, `order:…`, `event:12`, `system:webhooks`. */
  readonly subject: string;
  /** Empty, or a stage, a status, or a deadline in ISO form. */
  readonly variant: string;
  readonly severity: Severity;
  /** Plain, with amounts as people read them, ids and absolute times with their zone. */
  readonly sentence: string;
  /** The exact command or page. */
  readonly nextStep: string;
  /** The facts of the sentence, for machines. No personal data, no secrets. */
  readonly detail: Readonly<Record<string, unknown>>;
  /** The shop's order. */
  readonly orderId?: string | undefined;
  readonly paymentId?: string | undefined;
  readonly deadlineAt?: Date | undefined;
}

export type AlertKey = Pick<Alert, 'rule' | 'subject' | 'variant'>;

/** What some rules say about one subject now. */
export interface Settled {
  readonly subject: string;
  /** The rules that were asked: of these, what is not in `standing` stands no longer. */
  readonly rules: readonly Rule[];
  readonly standing: readonly Alert[];
  /** A threshold was reached: what stands is said again, unless somebody deals with it already. */
  readonly isAtThreshold?: boolean;
  /** It is not certain yet: an alert that stands is kept up to date, and none is opened. */
  readonly isHeldBack?: boolean;
  /** What else has just happened to the subject. */
  readonly news?: readonly Alert[];
}

/** An alert that is not resolved. */
export interface Current extends AlertKey {
  readonly id: number;
  readonly severity: Severity;
  readonly isAcknowledged: boolean;
  readonly isSnoozed: boolean;
}

/** What follows from what stands now and what stood. */
export interface Settlement {
  readonly opened: readonly Alert[];
  readonly kept: readonly Kept[];
  readonly resolved: readonly Resolved[];
  readonly news: readonly Alert[];
}

/** One that goes on standing. */
export interface Kept {
  readonly id: number;
  readonly alert: Alert;
  /** Said again. */
  readonly isSaid: boolean;
}

export interface Resolved {
  readonly id: number;
  readonly isSaid: boolean;
}

/** Tells alerts that are not resolved apart. */
function keyOf({ rule, subject, variant }: AlertKey): string {
  return JSON.stringify([subject, rule, variant]);
}

/** Invariants 2 to 6. `current` holds what is not resolved of the subjects and rules in `settled`. */
export function settle(settled: readonly Settled[], current: readonly Current[]): Settlement {
  const stood = new Map(current.map((one) => [keyOf(one), one]));
  const opened = new Map<string, Alert>();
  const kept = new Map<string, Kept>();
  for (const { standing, isAtThreshold = false, isHeldBack = false } of settled) {
    for (const alert of standing) {
      const key = keyOf(alert);
      const before = stood.get(key);
      if (before)
        kept.set(key, { id: before.id, alert, isSaid: isSaid(alert, before, isAtThreshold) });
      else if (!isHeldBack) opened.set(key, alert);
    }
  }
  const news = settled.flatMap((one) => one.news ?? []);
  const told = new Set([...opened.values(), ...news].map(({ subject }) => subject));
  const asked = new Set(
    settled.flatMap(({ subject, rules }) => rules.map((rule) => ruleOn(subject, rule))),
  );
  const resolved = current
    .filter((one) => !kept.has(keyOf(one)) && asked.has(ruleOn(one.subject, one.rule)))
    .map(({ id, subject, isSnoozed }) => ({ id, isSaid: !isSnoozed && !told.has(subject) }));
  return { opened: [...opened.values()], kept: [...kept.values()], resolved, news };
}

/** Invariants 3, 5 and 6. */
function isSaid(alert: Alert, before: Current, isAtThreshold: boolean): boolean {
  if (before.isSnoozed) return false;
  const isLouder = SEVERITIES.indexOf(alert.severity) > SEVERITIES.indexOf(before.severity);
  return isLouder || (isAtThreshold && !before.isAcknowledged);
}

function ruleOn(subject: string, rule: Rule): string {
  return JSON.stringify([subject, rule]);
}

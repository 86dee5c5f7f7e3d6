/**
 * Alerts: conditions that a person must handle, with a state.
 *
 * Terms. *Rule*: the kind of condition. *Subject*: what it is about. *Variant*: distinguishes alerts of
 * one rule on one subject. *Key*: the three together. *Active*: the condition holds now. *One-time*: an
 * alert about something that happened and has no condition. *Notify*: enqueue for the channels.
 *
 * 1. Which alerts are active follows from the current state alone: duplicates and order do not matter.
 * 2. Each key has at most one unresolved alert. When the condition returns, a new alert is opened.
 * 3. An alert notifies when it opens, and again only when it becomes more severe, when a reminder of
 *    its rule is due, or when a snooze ends.
 * 4. Its resolution notifies, too, unless another alert about the same subject that is at least as severe
 *    notifies with it. A channel may not get a less severe one.
 * 5. Acknowledged: a person handles it. It stays acknowledged while the condition holds, its snooze
 *    ends, and it notifies again only when it becomes more severe or its next snooze ends.
 * 6. Snoozed: it does not notify. If it is active when the snooze ends, it notifies once.
 * 7. Terminal rules have no condition that could end. Their alerts are open until the resource returns
 *    to another status, or until a person acknowledges them, which resolves them.
 * 8. A one-time alert about a state is written once for each key: a resource that seems to return and
 *    arrives there again has no news.
 */

/** Every rule. Each is documented where it is implemented, mostly in `rules/`. */
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
  // Statuses that take too long: rules/overdue.ts
  'payment_stuck',
  'refund_stuck',
  'payout_stuck',
  'dispute_stuck',
  // Findings, by class: rules/findings.ts
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
  'event_repeated',
  'foreign_merchant',
  'foreign_profile',
  // The system: monitor/domain/rules
  'signature_failures',
  'webhooks_stopped',
  'missed_webhooks',
  'backlog',
  'dead_events',
  'reconciliation_lag',
  'reconciliation_paused',
  'rate_limit_exhausted',
  'service_unreachable',
  'clock_skew',
  'queue_unusable',
  'role_not_running',
  'retention_behind',
  'body_days_short',
  'body_damaged',
  'verify_failed',
  'acknowledged_lost',
  'chain_behind',
  'erasure_unfinished',
  // Channels: notify/domain/channel.ts
  'channel_down',
  'order_webhook_failed',
] as const;
export type Rule = (typeof RULES)[number];

/** Invariant 7. */
export const TERMINAL_RULES: readonly Rule[] = ['dispute_lost', 'payout_failed', 'refund_failed'];

/** From the least to the most severe. */
export const SEVERITIES = ['info', 'warning', 'critical'] as const;
export type Severity = (typeof SEVERITIES)[number];

/** One alert as its rule states it. */
export interface Alert {
  readonly rule: Rule;
  /** As in findings: `dispute:dp_1`, `order:…`, `event:12`, `system:webhooks`. */
  readonly subject: string;
  /** Empty, or a stage, a status, or a deadline in ISO form. */
  readonly variant: string;
  readonly severity: Severity;
  /** What happened: plain text with formatted amounts, ids, and absolute times with their zone. */
  readonly sentence: string;
  /** What to do next: the exact command or request. */
  readonly nextStep: string;
  /** The facts of the sentence, for programs. No personal data, no secrets. */
  readonly detail: Readonly<Record<string, unknown>>;
  /** The shop's order. */
  readonly orderId?: string | undefined;
  readonly paymentId?: string | undefined;
  readonly deadlineAt?: Date | undefined;
}

export type AlertKey = Pick<Alert, 'rule' | 'subject' | 'variant'>;

export interface Money {
  readonly currency: string;
  readonly amountMinor: number;
}

/** The money that an alert is about, by its facts; of a hold, what can be captured. Null if there is none. */
export function moneyOf({ detail }: Pick<Alert, 'detail'>): Money | null {
  const { currency } = detail;
  const amountMinor = detail.amountMinor ?? detail.capturableMinor;
  return typeof amountMinor === 'number' && typeof currency === 'string'
    ? { currency, amountMinor }
    : null;
}

/** The result of some rules for one subject. */
export interface SubjectAlerts {
  readonly subject: string;
  /** The rules that were evaluated: their alerts that are not in `active` are resolved. */
  readonly rules: readonly Rule[];
  readonly active: readonly Alert[];
  /** A reminder is due: active alerts notify again, unless a person handles them. */
  readonly isReminderDue?: boolean;
  /** The condition is not confirmed yet: an open alert is updated, and none is opened. */
  readonly isOpeningDeferred?: boolean;
  /** What else has just happened to the subject. */
  readonly oneTime?: readonly Alert[];
  /** Inbox number of the event by which it is evaluated, if one is. */
  readonly causedBy?: number | null | undefined;
}

/** An alert to be written, with the inbox number of the event that causes it. */
export interface NewAlert extends Alert {
  readonly causedBy: number | null;
}

export interface UnresolvedAlert extends AlertKey {
  readonly id: number;
  readonly severity: Severity;
  readonly isAcknowledged: boolean;
  readonly isSnoozed: boolean;
}

/** What of the stored alerts decides what changes. */
export interface StoredAlerts {
  readonly unresolved: readonly UnresolvedAlert[];
  readonly written: readonly AlertKey[];
}

/** What to change so that the stored alerts match the active ones. */
export interface AlertChanges {
  readonly opened: readonly NewAlert[];
  readonly kept: readonly KeptAlert[];
  readonly resolved: readonly ResolvedAlert[];
  readonly oneTime: readonly NewAlert[];
}

/** An alert that stays active. */
export interface KeptAlert {
  readonly id: number;
  readonly alert: Alert;
  readonly notifies: boolean;
}

export interface ResolvedAlert {
  readonly id: number;
  readonly notifies: boolean;
  /** As in NewAlert. */
  readonly causedBy: number | null;
}

function keyOf({ rule, subject, variant }: AlertKey): string {
  return JSON.stringify([subject, rule, variant]);
}

/**
 * Invariants 2 to 6 and 8.
 * @param stored all unresolved alerts of the subjects and rules in `evaluated`, and the keys of its one-time
 * alerts that were written before
 */
export function diffAlerts(
  evaluated: readonly SubjectAlerts[],
  { unresolved, written }: StoredAlerts,
): AlertChanges {
  const before = new Map(unresolved.map((alert) => [keyOf(alert), alert]));
  const opened = new Map<string, NewAlert>();
  const kept = new Map<string, KeptAlert>();
  for (const { active, isReminderDue = false, isOpeningDeferred = false, ...one } of evaluated) {
    const causedBy = one.causedBy ?? null;
    for (const alert of active) {
      const key = keyOf(alert);
      const known = before.get(key);
      if (known) {
        const notifies = notifiesAgain(alert, known, isReminderDue);
        kept.set(key, { id: known.id, alert, notifies });
      } else if (!isOpeningDeferred) opened.set(key, { ...alert, causedBy });
    }
  }
  const past = new Set(written.map(keyOf));
  const oneTime = evaluated.flatMap(({ oneTime: alerts = [], causedBy = null }) =>
    alerts.filter((alert) => !past.has(keyOf(alert))).map((alert) => ({ ...alert, causedBy })),
  );
  const reported = mostSevere([...opened.values(), ...oneTime]);
  const checked = new Map(
    evaluated.flatMap(({ subject, rules, causedBy = null }) =>
      rules.map((rule) => [ruleOn(subject, rule), causedBy]),
    ),
  );
  const resolved = unresolved.flatMap((one): readonly ResolvedAlert[] => {
    const causedBy = checked.get(ruleOn(one.subject, one.rule));
    if (causedBy === undefined || kept.has(keyOf(one))) return [];
    const isReplaced = rankOf(one.severity) <= (reported.get(one.subject) ?? -1);
    return [{ id: one.id, notifies: !one.isSnoozed && !isReplaced, causedBy }];
  });
  return { opened: [...opened.values()], kept: [...kept.values()], resolved, oneTime };
}

/** Invariants 3, 5 and 6. */
function notifiesAgain(alert: Alert, known: UnresolvedAlert, isReminderDue: boolean): boolean {
  if (known.isSnoozed) return false;
  const isMoreSevere = rankOf(alert.severity) > rankOf(known.severity);
  return isMoreSevere || (isReminderDue && !known.isAcknowledged);
}

function ruleOn(subject: string, rule: Rule): string {
  return JSON.stringify([subject, rule]);
}

/** A more severe alert has a greater rank. */
export function rankOf(severity: Severity): number {
  return SEVERITIES.indexOf(severity);
}

/** The rank of the most severe alert about each subject. */
function mostSevere(alerts: readonly Alert[]): ReadonlyMap<string, number> {
  const ranks = new Map<string, number>();
  for (const { subject, severity } of alerts) {
    ranks.set(subject, Math.max(rankOf(severity), ranks.get(subject) ?? -1));
  }
  return ranks;
}

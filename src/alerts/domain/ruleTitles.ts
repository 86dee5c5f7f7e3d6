/** What a rule reports, in a few words: the subject of a message and the name of an alert on a page. */
import type { Rule } from './alert.ts';

const RULE_TITLES: Readonly<Record<Rule, string>> = {
  dispute_opened: 'Dispute opened',
  dispute_changed: 'Dispute changed',
  dispute_deadline: 'Dispute needs evidence',
  dispute_won: 'Dispute won',
  dispute_lost: 'Dispute lost',
  dispute_cancelled: 'Dispute canceled',
  payout_failed: 'Payout failed',
  refund_failed: 'Refund failed',
  authorization_expiring: 'Authorization expires soon',
  authorization_expired: 'Authorization expired',
  payment_stuck: 'Payment takes too long',
  refund_stuck: 'Refund takes too long',
  payout_stuck: 'Payout takes too long',
  dispute_stuck: 'Dispute takes too long',
  double_paid: 'Paid more than once',
  double_loss: 'Refunds and disputes exceed the captured amount',
  dispute_and_refund: 'Dispute and refund at the same time',
  over_refund: 'Refunds exceed the captured amount',
  over_capture: 'More captured than requested',
  capture_revoked: 'Capture revoked',
  currency: 'Currencies differ',
  amount: 'Amount unreadable or contradictory',
  status_conflict: 'Statuses contradict each other',
  unknown_status: 'Unknown status',
  missing_local: 'Missing in the ledger',
  stale_local: 'Ledger out of date',
  missing_remote: 'Missing remotely',
  orphan: 'Unknown to the service',
  totals: 'Totals differ',
  list_unstable: 'List changes while it is read',
  filter_ignored: 'Filter of a list ignored',
  watermark_ahead: "Watermark ahead of the service's clock",
  event_dead: 'Event could not be applied',
  unreadable_event: 'Event unreadable',
  payment_conflict: 'Bodies name different payments',
  label_conflict: 'Labels and ids of an event contradict each other',
  event_id_reused: 'Event id used twice',
  event_repeated: 'Old event received again',
  foreign_merchant: 'Event of another merchant account',
  foreign_profile: 'Object of another business profile',
  signature_failures: 'Deliveries without a valid signature',
  webhooks_stopped: 'Webhooks stopped',
  missed_webhooks: 'Webhooks missed',
  backlog: 'Events wait to be applied',
  dead_events: 'Many dead events',
  reconciliation_lag: 'Reconciliation lags',
  reconciliation_paused: 'Reconciliation paused',
  rate_limit_exhausted: 'Rate limit exhausted',
  service_unreachable: 'Payment service unreachable',
  clock_skew: 'Clock differs',
  queue_unusable: 'Queue unusable',
  role_not_running: 'Role not running',
  retention_behind: 'Retention behind',
  body_days_short: 'Partitions for bodies end soon',
  body_damaged: 'Stored bodies damaged',
  verify_failed: 'Verification failed',
  acknowledged_lost: 'Acknowledged events lost in a failover',
  erasure_unfinished: 'Erasure not finished',
  channel_down: 'Channel down',
  order_webhook_failed: 'Order webhook not delivered',
};

/** @param rule a rule, or one of another version of Tallyhook */
export function ruleTitle(rule: string): string {
  return isRule(rule) ? RULE_TITLES[rule] : rule.replaceAll('_', ' ');
}

function isRule(rule: string): rule is Rule {
  return Object.hasOwn(RULE_TITLES, rule);
}

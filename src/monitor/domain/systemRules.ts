/**
 * Alerts about the system: whether webhooks arrive, are applied, and are reconciled with the service.
 * Evaluated every minute from stored facts, so that a restart loses nothing.
 *
 * 1. The current facts decide whether an alert is active. Some rules stay active below the limit that
 *    opens them, so that they do not open and resolve repeatedly.
 * 2. A process that has just started is not late: until an alert is open, ages count from when this
 *    process began to watch.
 * 3. One cause, one alert: if one rule explains another, only the former alerts.
 * 4. Missing webhooks need evidence. A quiet night has no webhooks and no changes; webhooks have stopped
 *    only if the service has changes that no webhook reported.
 */
import type { Rule, SubjectAlerts } from '../../alerts/domain/alert.ts';
import type { SystemFacts } from './facts.ts';
import { backlog, deadEvents } from './rules/events.ts';
import { acknowledgedLost } from './rules/failover.ts';
import { clockSkew, queueUnusable, roleNotRunning } from './rules/processes.ts';
import {
  rateExhausted,
  reconciliationLag,
  reconciliationPaused,
  serviceUnreachable,
} from './rules/reconciliation.ts';
import {
  bodyDamaged,
  bodyDaysShort,
  chainBehind,
  erasureUnfinished,
  retentionBehind,
  verifyFailed,
} from './rules/storedData.ts';
import { missedWebhooks, signatureFailures, webhooksStopped } from './rules/webhooks.ts';
import type { SystemAlert } from './systemAlert.ts';

/** The subjects and their rules. */
const RULES_ABOUT = {
  'system:webhooks': ['signature_failures', 'webhooks_stopped', 'missed_webhooks'],
  'system:events': ['backlog', 'dead_events'],
  'system:reconciliation': ['reconciliation_lag', 'reconciliation_paused'],
  'system:service': ['service_unreachable', 'rate_limit_exhausted'],
  'system:clock': ['clock_skew'],
  'system:queue': ['queue_unusable'],
  'system:processes': ['role_not_running'],
  'system:retention': ['retention_behind'],
  'system:bodies': ['body_days_short', 'body_damaged'],
  'system:ledger': ['verify_failed', 'chain_behind'],
  'system:database': ['acknowledged_lost'],
  'system:erasures': ['erasure_unfinished'],
} as const satisfies Readonly<Record<string, readonly Rule[]>>;
type SystemSubject = keyof typeof RULES_ABOUT;
export const SYSTEM_SUBJECTS: readonly string[] = Object.keys(RULES_ABOUT);

/** Evaluates every subject, including those without an alert. */
export function evaluateSystem(facts: SystemFacts): readonly SubjectAlerts[] {
  const rejected = signatureFailures(facts);
  const isExplained = explanationOf(facts);
  const stopped =
    rejected?.severity === 'critical' || isExplained('receiver', 'webhooks_stopped')
      ? undefined
      : webhooksStopped(facts);
  const late = isExplained('events', 'backlog') ? undefined : backlog(facts);
  // Pending events arrived and are not missed; stopped webhooks explain missed ones (rule 3).
  const missed = late || stopped ? undefined : missedWebhooks(facts);
  const unreachable = serviceUnreachable(facts);
  const paused = reconciliationPaused(facts);
  const isHeldUp = facts.reconciliation?.paused || isExplained('reconcile', 'reconciliation_lag');
  return [
    subjectAlerts('system:webhooks', [rejected, stopped, missed]),
    subjectAlerts('system:events', [late, deadEvents(facts)]),
    subjectAlerts('system:reconciliation', [
      isHeldUp ? undefined : reconciliationLag(facts),
      paused,
    ]),
    subjectAlerts('system:service', [unreachable, rateExhausted(facts)]),
    subjectAlerts('system:clock', [clockSkew(facts)]),
    subjectAlerts('system:queue', [queueUnusable(facts)]),
    subjectAlerts('system:processes', [roleNotRunning(facts)]),
    subjectAlerts('system:retention', [retentionBehind(facts)]),
    subjectAlerts('system:bodies', [bodyDaysShort(facts), bodyDamaged(facts)]),
    subjectAlerts('system:ledger', [
      verifyFailed(facts),
      isExplained('scheduler', 'chain_behind') ? undefined : chainBehind(facts),
    ]),
    subjectAlerts('system:database', [acknowledgedLost(facts)]),
    subjectAlerts('system:erasures', [erasureUnfinished(facts)]),
  ];
}

/**
 * Whether a missing role explains a rule (rule 3). An alert that is open already stays open: to resolve it
 * would state that its condition ended.
 */
function explanationOf({ missingRoles, openRules }: SystemFacts) {
  const missing = new Set(missingRoles.map(({ role }) => role));
  return (role: string, rule: Rule): boolean => missing.has(role) && !openRules.has(rule);
}

function subjectAlerts(
  subject: SystemSubject,
  alerts: readonly (SystemAlert | undefined)[],
): SubjectAlerts {
  const active = alerts.flatMap((alert) => (alert ? [{ variant: '', ...alert, subject }] : []));
  return { subject, rules: RULES_ABOUT[subject], active };
}

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
import type { Rule, Severity, SubjectAlerts } from '../../alerts/domain/alert.ts';
import { counted, instant, span } from '../../alerts/domain/format.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Changes that no webhook reported, and the webhooks of the same period. */
export interface Missed {
  readonly periodMs: number;
  readonly changes: number;
  /** Counted up to MAX_COUNTED. */
  readonly webhooks: number;
}

/** A process on a machine with a wrong clock. */
export interface SkewedClock {
  readonly process: string;
  readonly roles: string;
  /** The machine's clock less the database's. */
  readonly skewMs: number;
}

/** A process for which the queue refuses work. */
export interface UnusableQueue {
  readonly process: string;
  readonly roles: string;
  readonly reason: string;
  readonly remedy: string;
  readonly sinceMs: number;
}

/** The input of all rules. Times are milliseconds since 1970, counts are integers. */
export interface SystemFacts {
  readonly nowMs: number;
  /** When this process began to watch (rule 2). */
  readonly watchingSinceMs: number;
  /** Rules with an open alert (rule 1). */
  readonly openRules: ReadonlySet<Rule>;
  /** Deliveries rejected within SIGNATURE_WINDOW_MS, by reason. */
  readonly rejected: { readonly mismatched: number; readonly unsigned: number };
  /** Undefined if no webhook ever arrived. */
  readonly lastWebhookMs: number | undefined;
  /** The 99th percentile of the gaps between the newest webhooks; undefined if there are too few. */
  readonly usualGapMs: number | undefined;
  /** Changes in the newest window of the lists since the last webhook, repaired or not. */
  readonly missedSinceLastWebhook: number;
  readonly missed: readonly Missed[];
  /** The receipt of the oldest pending event. */
  readonly oldestPendingMs: number | undefined;
  readonly deadEvents: number;
  /** Undefined without an API key: nothing is reconciled. */
  readonly reconciliation:
    | {
        /** The watermarks of the lists that have one. */
        readonly watermarks: readonly { readonly stream: string; readonly atMs: number }[];
        readonly paused: { readonly sinceMs: number; readonly by: string } | undefined;
        /** Since when the service is unreachable. */
        readonly unusableSinceMs: number | undefined;
      }
    | undefined;
  /** Minutes within RATE_WINDOW_MS in which the rate limit was exhausted. */
  readonly exhaustedMinutes: number;
  /** Processes with a clock that differs from the database's, the largest difference first. */
  readonly clocks: readonly SkewedClock[];
  /** Processes for which the queue refuses work, the longest first. */
  readonly queues: readonly UnusableQueue[];
  /** Classes of data, and how long ago retention had nothing left to remove of each. */
  readonly retention: readonly { readonly name: string; readonly behindMs: number }[];
  /** For how many days after today bodies have a partition; -1 if today has none. */
  readonly bodyDaysAhead: number;
  /** Events with a body that stops the packing of its day, up to MAX_NAMED_BODIES, oldest first. */
  readonly damagedBodies: readonly { readonly eventId: number; readonly day: string }[];
  readonly proof: ProofFacts;
  /** The oldest request for erasure that is not done. */
  readonly openErasure: { readonly id: number; readonly requestedMs: number } | undefined;
}

/** What `tallyhook verify` found. */
export interface ProofFacts {
  /** Resources, orders and events that failed a check and have not passed since. */
  readonly failures: number;
  /** Ranges that are checked again, or were never checked; 0 between two runs. */
  readonly due: number;
}

/** A sender retries after 1, 6, 11, 21 and 31 minutes: an hour contains all retries of an event. */
export const SIGNATURE_WINDOW_MS = HOUR_MS;
/** One event with a wrong secret is rejected this often within the window. */
const MISMATCHES_ALONE = 5;
/** While other webhooks verify: a second sender, or forged events. */
const MISMATCHES_BESIDE = 50;
/** Requests without a signature are mostly internet scans; only a flood alerts. */
const UNSIGNED_FLOOD = 500;

/** A shorter gap is explained by one slow delivery and its first retry. */
const MIN_GAP_MS = 15 * MINUTE_MS;
/** While the usual gap is unknown. */
const DEFAULT_GAP_MS = HOUR_MS;
/** Also for a shop with one webhook a week: the service has changes that it missed. */
const MAX_GAP_MS = DAY_MS;
const USUAL_GAP_FACTOR = 3;
/** One lost webhook does not mean that webhooks have stopped. */
const MIN_MISSED_CHANGES = 2;

/**
 * A few missed webhooks are repaired and alert nobody. The limits: within an hour, 1 % of the changes;
 * within a day, 10 %, for small shops.
 */
const MISSED_LIMITS = [
  { periodMs: HOUR_MS, changes: 5, share: 0.01 },
  { periodMs: DAY_MS, changes: 3, share: 0.1 },
] as const;
export const MISSED_PERIODS_MS: readonly number[] = MISSED_LIMITS.map(({ periodMs }) => periodMs);
/** The count of webhooks stops here; it only serves to compute the share. */
export const MAX_COUNTED = 10_000;

/** An event is retried for two or three minutes before it is dead; a burst takes less. */
const BACKLOG_MS = 5 * MINUTE_MS;
const CRITICAL_BACKLOG_MS = 30 * MINUTE_MS;
const BACKLOG_RESOLVED_MS = MINUTE_MS;

/** Each dead event has an alert of its own; this many have a common cause. */
const MANY_DEAD = 10;

/** The newest window is compared every 5 minutes: six runs have failed. */
const LAG_MS = 35 * MINUTE_MS;
const CRITICAL_LAG_MS = 6 * HOUR_MS;

/** Longer than an attended maintenance. */
const PAUSE_MS = 4 * HOUR_MS;

/** Two reconciliation runs failed. */
const UNUSABLE_MS = 10 * MINUTE_MS;
const CRITICAL_UNUSABLE_MS = HOUR_MS;

/** The rate limit counts requests per minute; a burst exhausts a minute or two. */
export const RATE_WINDOW_MS = 15 * MINUTE_MS;
const EXHAUSTED_MINUTES = 10;

/** A single slow measurement on a busy machine is no clock skew. */
export const SKEWED_FOR_MS = 30_000;
/** Processes report every few seconds. */
export const SKEW_REPORTED_WITHIN_MS = MINUTE_MS;
/** From here on, a process is not ready. */
const CRITICAL_SKEW_MS = MINUTE_MS;

/** Two checks of a process failed: a restart of Redis is no alert. */
export const QUEUE_UNUSABLE_FOR_MS = 8_000;
/** Processes check every ten seconds. */
export const QUEUE_REPORTED_WITHIN_MS = MINUTE_MS;
/** Jobs wait as long as pending events may. */
const CRITICAL_QUEUE_MS = 5 * MINUTE_MS;

/** Retention runs every hour; what a day brings takes it minutes. */
const RETENTION_BEHIND_MS = 2 * DAY_MS;
/** Two runs after a stop (rule 2). */
const RETENTION_STARTS_MS = 2 * HOUR_MS;
/** Partitions are made every hour for a week ahead, so making them has failed for days. */
const MIN_BODY_DAYS_AHEAD = 3;
/** From here on, only the receivers themselves can make the next one. */
const CRITICAL_BODY_DAYS_AHEAD = 1;

/** A request waits for events that are not applied, which takes minutes as a rule. */
const ERASURE_UNFINISHED_MS = 2 * DAY_MS;
/** The law of many countries gives a month (GDPR, article 12): a week and a half is left. */
const CRITICAL_ERASURE_MS = 20 * DAY_MS;

/** An alert names this many damaged bodies; `tallyhook verify` names all. */
export const MAX_NAMED_BODIES = 10;

/** The subjects and their rules. */
const RULES_ABOUT = {
  'system:webhooks': ['signature_failures', 'webhooks_stopped', 'missed_webhooks'],
  'system:events': ['backlog', 'dead_events'],
  'system:reconciliation': ['reconciliation_lag', 'reconciliation_paused'],
  'system:service': ['service_unreachable', 'rate_limit_exhausted'],
  'system:clock': ['clock_skew'],
  'system:queue': ['queue_unusable'],
  'system:retention': ['retention_behind'],
  'system:bodies': ['body_days_short', 'body_damaged'],
  'system:ledger': ['verify_failed'],
  'system:erasures': ['erasure_unfinished'],
} as const satisfies Readonly<Record<string, readonly Rule[]>>;
type SystemSubject = keyof typeof RULES_ABOUT;
export const SYSTEM_SUBJECTS: readonly string[] = Object.keys(RULES_ABOUT);

/** Evaluates every subject, including those without an alert. */
export function evaluateSystem(facts: SystemFacts): readonly SubjectAlerts[] {
  const rejected = signatureFailures(facts);
  const stopped = rejected?.severity === 'critical' ? undefined : webhooksStopped(facts);
  const late = backlog(facts);
  // Pending events arrived and are not missed; stopped webhooks explain missed ones (rule 3).
  const missed = late || stopped ? undefined : missedWebhooks(facts);
  const unreachable = serviceUnreachable(facts);
  const paused = reconciliationPaused(facts);
  const isExplained = unreachable || facts.reconciliation?.paused;
  return [
    subjectAlerts('system:webhooks', [rejected, stopped, missed]),
    subjectAlerts('system:events', [late, deadEvents(facts)]),
    subjectAlerts('system:reconciliation', [
      isExplained ? undefined : reconciliationLag(facts),
      paused,
    ]),
    subjectAlerts('system:service', [unreachable, rateExhausted(facts)]),
    subjectAlerts('system:clock', [clockSkew(facts)]),
    subjectAlerts('system:queue', [queueUnusable(facts)]),
    subjectAlerts('system:retention', [retentionBehind(facts)]),
    subjectAlerts('system:bodies', [bodyDaysShort(facts), bodyDamaged(facts)]),
    subjectAlerts('system:ledger', [verifyFailed(facts)]),
    subjectAlerts('system:erasures', [erasureUnfinished(facts)]),
  ];
}

interface SystemAlert {
  readonly rule: Rule;
  readonly severity: Severity;
  readonly sentence: string;
  readonly nextStep: string;
  readonly detail: Readonly<Record<string, unknown>>;
}

function subjectAlerts(
  subject: SystemSubject,
  alerts: readonly (SystemAlert | undefined)[],
): SubjectAlerts {
  const active = alerts.flatMap((one) => (one ? [{ ...one, subject, variant: '' }] : []));
  return { subject, rules: RULES_ABOUT[subject], active };
}

function signatureFailures(facts: SystemFacts): SystemAlert | undefined {
  const { mismatched, unsigned } = facts.rejected;
  const isOpen = facts.openRules.has('signature_failures');
  const lastMs = facts.lastWebhookMs;
  const hasVerified = lastMs !== undefined && lastMs > facts.nowMs - SIGNATURE_WINDOW_MS;
  const atLeast = (limit: number) => (isOpen ? 1 : limit);
  const rule = 'signature_failures';
  const detail = { ...facts.rejected, windowMinutes: SIGNATURE_WINDOW_MS / MINUTE_MS };
  const hour = span(SIGNATURE_WINDOW_MS);
  if (!hasVerified && mismatched >= atLeast(MISMATCHES_ALONE)) {
    const last = lastMs === undefined ? 'none ever did' : `the last one arrived ${instant(lastMs)}`;
    return {
      rule,
      severity: 'critical',
      sentence: `${counted(mismatched, 'webhook')} in the last ${hour} had a signature that matches no secret in WEBHOOK_SECRETS, and no webhook verified (${last}). The service probably signs with another secret. These events are rejected; the service retries them for a day.`,
      nextStep:
        'Within a day, add the signing secret of your business profile to WEBHOOK_SECRETS and restart; npx tallyhook doctor checks it',
      detail,
    };
  }
  if (hasVerified && mismatched >= atLeast(MISMATCHES_BESIDE)) {
    return {
      rule,
      severity: 'warning',
      sentence: `${counted(mismatched, 'webhook')} in the last ${hour} had a signature that matches no secret in WEBHOOK_SECRETS, while others verified: a second sender has another secret, or someone tries to forge events.`,
      nextStep:
        'If a second sender is intended, add its secret to WEBHOOK_SECRETS; otherwise allow only the service to reach the receiver',
      detail,
    };
  }
  if (unsigned >= atLeast(UNSIGNED_FLOOD)) {
    return {
      rule,
      severity: 'warning',
      sentence: `${counted(unsigned, 'request')} in the last ${hour} reached the receiver without a usable signature. They were rejected and not stored.`,
      nextStep: 'Allow only the addresses of the service to reach the receiver',
      detail,
    };
  }
  return undefined;
}

/** Rule 4. */
function webhooksStopped(facts: SystemFacts): SystemAlert | undefined {
  const { lastWebhookMs, usualGapMs, missedSinceLastWebhook: changes, nowMs } = facts;
  if (!facts.reconciliation || changes < MIN_MISSED_CHANGES) return undefined;
  const limitMs = gapLimitMs(usualGapMs);
  if (lastWebhookMs !== undefined && nowMs - lastWebhookMs <= limitMs) return undefined;
  const found = `the service has ${counted(changes, 'change')} that no webhook reported`;
  const usual = usualGapMs === undefined ? '' : `; 99 % usually arrive within ${span(usualGapMs)}`;
  return {
    rule: 'webhooks_stopped',
    severity: 'critical',
    sentence:
      lastWebhookMs === undefined
        ? `No webhook has ever arrived, but ${found}.`
        : `No webhook has arrived for ${span(nowMs - lastWebhookMs)} (the last one ${instant(lastWebhookMs)}${usual}), but ${found}. Reconciliation repairs the ledger meanwhile.`,
    nextStep:
      "npx tallyhook doctor compares the business profile's webhook address with this receiver",
    detail: {
      lastWebhook: lastWebhookMs === undefined ? null : new Date(lastWebhookMs).toISOString(),
      usualGapSeconds: usualGapMs === undefined ? null : Math.round(usualGapMs / 1000),
      missedChanges: changes,
    },
  };
}

function gapLimitMs(usualGapMs: number | undefined): number {
  if (usualGapMs === undefined) return DEFAULT_GAP_MS;
  return Math.min(MAX_GAP_MS, Math.max(MIN_GAP_MS, USUAL_GAP_FACTOR * usualGapMs));
}

function missedWebhooks({ missed }: SystemFacts): SystemAlert | undefined {
  const exceeded = MISSED_LIMITS.flatMap(({ periodMs, changes, share }) => {
    const found = missed.find((one) => one.periodMs === periodMs);
    if (!found || found.changes < changes) return [];
    return found.changes >= share * (found.changes + found.webhooks) ? [found] : [];
  });
  const [worst] = exceeded;
  if (!worst) return undefined;
  const { periodMs, changes, webhooks } = worst;
  const arrived = webhooks >= MAX_COUNTED ? `more than ${MAX_COUNTED}` : String(webhooks);
  return {
    rule: 'missed_webhooks',
    severity: 'warning',
    sentence: `In the last ${span(periodMs)} reconciliation found ${counted(changes, 'change')} that no webhook reported in time; ${arrived} webhooks arrived. The ledger is repaired; the delivery of webhooks is not.`,
    nextStep:
      "npx tallyhook doctor compares the business profile's webhook address and events with this receiver",
    detail: { periodHours: periodMs / HOUR_MS, changes, webhooks },
  };
}

function backlog({ nowMs, oldestPendingMs, openRules }: SystemFacts): SystemAlert | undefined {
  if (oldestPendingMs === undefined) return undefined;
  const ageMs = nowMs - oldestPendingMs;
  if (ageMs < (openRules.has('backlog') ? BACKLOG_RESOLVED_MS : BACKLOG_MS)) return undefined;
  return {
    rule: 'backlog',
    severity: ageMs >= CRITICAL_BACKLOG_MS ? 'critical' : 'warning',
    sentence: `Events are not applied; the oldest has been pending for ${span(ageMs)} (since ${instant(oldestPendingMs)}). Orders may show a state of that age.`,
    nextStep:
      'Check that a process with the role events runs, then npx tallyhook events list --state pending',
    detail: { oldestPending: new Date(oldestPendingMs).toISOString() },
  };
}

function deadEvents({ deadEvents: count }: SystemFacts): SystemAlert | undefined {
  if (count < MANY_DEAD) return undefined;
  return {
    rule: 'dead_events',
    severity: 'critical',
    sentence: `${counted(count, 'event')} could not be applied and are dead; so many probably have a common cause.`,
    nextStep:
      'npx tallyhook events list --state dead; when the cause is fixed: npx tallyhook events replay --dead',
    detail: { deadEvents: count },
  };
}

/** Lists without a watermark are still in their first import, which may take long. */
function reconciliationLag(facts: SystemFacts): SystemAlert | undefined {
  const [oldest] = (facts.reconciliation?.watermarks ?? []).toSorted((a, b) => a.atMs - b.atMs);
  if (!oldest) return undefined;
  const isOpen = facts.openRules.has('reconciliation_lag');
  const sinceMs = isOpen ? oldest.atMs : Math.max(oldest.atMs, facts.watchingSinceMs);
  if (facts.nowMs - sinceMs < LAG_MS) return undefined;
  const ageMs = facts.nowMs - oldest.atMs;
  return {
    rule: 'reconciliation_lag',
    severity: ageMs >= CRITICAL_LAG_MS ? 'critical' : 'warning',
    sentence: `The list of ${oldest.stream} is reconciled up to ${instant(oldest.atMs)} only, ${span(ageMs)} ago. Changes since then that webhooks missed are not in the ledger.`,
    nextStep:
      'Check that a process with the role reconcile runs; npx tallyhook reconcile shows why runs fail',
    detail: { stream: oldest.stream, watermark: new Date(oldest.atMs).toISOString() },
  };
}

function reconciliationPaused({ nowMs, reconciliation }: SystemFacts): SystemAlert | undefined {
  const paused = reconciliation?.paused;
  if (!paused || nowMs - paused.sinceMs < PAUSE_MS) return undefined;
  return {
    rule: 'reconciliation_paused',
    severity: 'warning',
    sentence: `Reconciliation has been paused since ${instant(paused.sinceMs)}. Changes that webhooks miss are not found, and authorizations are not confirmed.`,
    nextStep: 'npx tallyhook resume',
    detail: { pausedAt: new Date(paused.sinceMs).toISOString(), pausedBy: paused.by },
  };
}

function serviceUnreachable({ nowMs, reconciliation }: SystemFacts): SystemAlert | undefined {
  const sinceMs = reconciliation?.unusableSinceMs;
  if (sinceMs === undefined || nowMs - sinceMs < UNUSABLE_MS) return undefined;
  return {
    rule: 'service_unreachable',
    severity: nowMs - sinceMs >= CRITICAL_UNUSABLE_MS ? 'critical' : 'warning',
    sentence: `The payment service has been unreachable since ${instant(sinceMs)}. Nothing is reconciled: changes that webhooks miss are not found.`,
    nextStep: 'npx tallyhook doctor shows whether the address, the key or the service is the cause',
    detail: { since: new Date(sinceMs).toISOString() },
  };
}

function rateExhausted({ exhaustedMinutes, openRules }: SystemFacts): SystemAlert | undefined {
  if (exhaustedMinutes < (openRules.has('rate_limit_exhausted') ? 1 : EXHAUSTED_MINUTES))
    return undefined;
  return {
    rule: 'rate_limit_exhausted',
    severity: 'warning',
    sentence: `In ${counted(exhaustedMinutes, 'minute')} of the last ${RATE_WINDOW_MS / MINUTE_MS} the rate limit of the payment service was exhausted. The service rejects requests of the shop, too, and reconciliation waits.`,
    nextStep:
      'Find the program that uses the API key so often, or request a higher limit from the service',
    detail: { exhaustedMinutes },
  };
}

function clockSkew({ clocks }: SystemFacts): SystemAlert | undefined {
  const [worst] = clocks;
  if (!worst) return undefined;
  const { process, roles, skewMs } = worst;
  const offMs = Math.abs(skewMs);
  const others = clocks.length === 1 ? '' : ` (and ${clocks.length - 1} more)`;
  const side = skewMs > 0 ? 'ahead of' : 'behind';
  return {
    rule: 'clock_skew',
    severity: offMs > CRITICAL_SKEW_MS ? 'critical' : 'warning',
    sentence: `The clock of the machine of ${process} (${roles})${others} is ${span(offMs)} ${side} the database's clock. Stored times follow the database; logs, timers and certificates on that machine do not. Above one minute its receiver is not ready.`,
    nextStep: 'Run npx tallyhook doctor on that machine, then synchronize its clock with NTP',
    detail: { process, roles, skewMs, processes: clocks.length },
  };
}

function queueUnusable({ nowMs, queues }: SystemFacts): SystemAlert | undefined {
  const [longest] = queues;
  if (!longest) return undefined;
  const { process, roles, reason, remedy, sinceMs } = longest;
  const lastedMs = nowMs - sinceMs;
  const others = queues.length === 1 ? '' : ` (and ${queues.length - 1} more)`;
  return {
    rule: 'queue_unusable',
    severity: lastedMs >= CRITICAL_QUEUE_MS ? 'critical' : 'warning',
    sentence: `The queue has refused the work of ${process} (${roles})${others} since ${instant(sinceMs)}: ${reason}. Webhooks are persisted, and are applied when the queue works again. No event is lost.`,
    nextStep: `${remedy} npx tallyhook doctor checks it`,
    detail: { process, roles, reason, processes: queues.length },
  };
}

function retentionBehind(facts: SystemFacts): SystemAlert | undefined {
  const { retention, openRules, nowMs, watchingSinceMs } = facts;
  const hasJustStarted = nowMs - watchingSinceMs < RETENTION_STARTS_MS;
  if (hasJustStarted && !openRules.has('retention_behind')) return undefined;
  const behind = retention.filter(({ behindMs }) => behindMs > RETENTION_BEHIND_MS);
  if (behind.length === 0) return undefined;
  const names = behind.map(({ name }) => name);
  const longestMs = Math.max(...behind.map(({ behindMs }) => behindMs));
  return {
    rule: 'retention_behind',
    severity: 'warning',
    sentence: `Retention has not removed everything that is past its days for ${span(longestMs)}: ${names.join(', ')}. The disk grows. Nothing is lost, and webhooks continue.`,
    nextStep:
      'Run npx tallyhook retention show, then npx tallyhook retention run at a quiet time; the runbook has the causes',
    detail: { classes: names, behindMs: longestMs },
  };
}

function bodyDaysShort({ bodyDaysAhead: days }: SystemFacts): SystemAlert | undefined {
  if (days >= MIN_BODY_DAYS_AHEAD) return undefined;
  const existing =
    days < 0
      ? 'Today has no partition for bodies'
      : `Bodies have partitions for ${counted(days, 'day')} after today`;
  return {
    rule: 'body_days_short',
    severity: days < CRITICAL_BODY_DAYS_AHEAD ? 'critical' : 'warning',
    sentence: `${existing}; Tallyhook makes them a week ahead, every hour. Events of a day without one are refused with 503, unless the receiver can make it.`,
    nextStep:
      'Check that a process with the role scheduler runs; npx tallyhook doctor shows missing rights, and the log shows why body_days failed',
    detail: { bodyDaysAhead: days },
  };
}

/** Resolved when the days are packed, which proves every body of them. */
function bodyDamaged({ damagedBodies }: SystemFacts): SystemAlert | undefined {
  if (damagedBodies.length === 0) return undefined;
  const named = damagedBodies.map(({ eventId, day }) => `event ${eventId} (${day})`).join(', ');
  return {
    rule: 'body_damaged',
    severity: 'critical',
    sentence: `Stored bodies differ from what was received: ${named}; there may be more. Their days are neither packed nor removed. Do not replay these events. Webhooks and other days continue.`,
    nextStep:
      'Run npx tallyhook verify --full, which names every damaged row; then restore the bodies from a backup, or erase them, as the runbook describes under body_damaged',
    detail: {
      eventIds: damagedBodies.map(({ eventId }) => eventId),
      days: [...new Set(damagedBodies.map(({ day }) => day))],
    },
  };
}

/** While a run is under way, what failed may be due and not checked yet, so an open alert stays. */
function verifyFailed({ proof, openRules }: SystemFacts): SystemAlert | undefined {
  const { failures, due } = proof;
  const isUndecided = due > 0 && openRules.has('verify_failed');
  if (failures === 0 && !isUndecided) return undefined;
  const named = failures === 0 ? 'Some rows' : counted(failures, 'row');
  return {
    rule: 'verify_failed',
    severity: 'critical',
    sentence: `${named} of the ledger (resources, orders or events) failed the last run of verify: the stored amounts or states do not follow from what was received. Tallyhook never repairs the ledger by itself after such a failure.`,
    nextStep: 'npx tallyhook verify names each of them, and the command to run next',
    detail: { failures, due },
  };
}

function erasureUnfinished({ openErasure, nowMs }: SystemFacts): SystemAlert | undefined {
  if (!openErasure) return undefined;
  const { id, requestedMs } = openErasure;
  const openMs = nowMs - requestedMs;
  if (openMs < ERASURE_UNFINISHED_MS) return undefined;
  return {
    rule: 'erasure_unfinished',
    severity: openMs < CRITICAL_ERASURE_MS ? 'warning' : 'critical',
    sentence: `Erasure ${id} was requested ${span(openMs)} ago and is not done: personal data is still stored.`,
    nextStep:
      'Run npx tallyhook events list --state pending: the erasure waits for these events; npx tallyhook doctor checks what applies and erases them',
    detail: { erasure: id, openMs },
  };
}

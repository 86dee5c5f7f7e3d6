/**
 * Alerts about the system itself: whether webhooks arrive, are applied, and are checked against the
 * service. Judged every minute from facts that are stored, so that a restart forgets nothing.
 *
 * 1. A rule stands or not by the facts of now. Some need less to stand on than to begin, so that they
 *    do not come and go with every figure.
 * 2. What has only just started is not late: ages count from when this process began to watch, until
 *    a rule stands.
 * 3. One cause, one alert: where a rule explains another, only the one that explains is said.
 * 4. Silence needs a witness. A quiet night has no webhooks and no news; only where the service has
 *    news that no webhook told of is the silence wrong.
 */
import type { Rule, Settled, Severity } from '../../alerts/domain/alert.ts';
import { counted, instant, span } from '../../alerts/domain/words.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Changes of the service that no webhook had told of, and the webhooks of the same time. */
export interface Missed {
  readonly periodMs: number;
  readonly changes: number;
  /** Counted up to MOST_COUNTED. */
  readonly webhooks: number;
}

/** A process whose machine's clock is off. */
export interface ClockOff {
  readonly process: string;
  readonly roles: string;
  /** The machine's clock less the database's. */
  readonly skewMs: number;
}

/** Everything that is judged. Times are milliseconds since 1970, counts whole numbers. */
export interface SystemFacts {
  readonly nowMs: number;
  /** When this process began to watch (rule 2). */
  readonly watchingSinceMs: number;
  /** Rules that stand already (rule 1). */
  readonly standing: ReadonlySet<Rule>;
  /** Deliveries refused in SIGNATURE_WINDOW_MS, by what was wrong. */
  readonly refused: { readonly mismatched: number; readonly unsigned: number };
  /** Undefined when no webhook ever came. */
  readonly lastWebhookMs: number | undefined;
  /** Of 100 gaps between the newest webhooks, 99 are no longer; undefined while there are too few. */
  readonly usualGapMs: number | undefined;
  /** News that the newest span of the lists brought since the last webhook, settled or not. */
  readonly newsSinceLastWebhook: number;
  readonly missed: readonly Missed[];
  /** The oldest event that waits to be applied. */
  readonly oldestPendingMs: number | undefined;
  readonly deadEvents: number;
  /** Undefined where no key is set, so that nothing is compared. */
  readonly reconciliation:
    | {
        /** Lists that were read to a point once, each with that point. */
        readonly watermarks: readonly { readonly stream: string; readonly atMs: number }[];
        readonly paused: { readonly sinceMs: number; readonly by: string } | undefined;
        /** Since when the service cannot be asked. */
        readonly unusableSinceMs: number | undefined;
      }
    | undefined;
  /** Minutes of the last RATE_WINDOW_MS in which no request was left. */
  readonly exhaustedMinutes: number;
  /** Processes whose machine's clock differs from the database's, the worst first. */
  readonly clocks: readonly ClockOff[];
}

/** A sender repeats after 1, 6, 11, 21 and 31 minutes: an hour shows the same event several times. */
export const SIGNATURE_WINDOW_MS = HOUR_MS;
/** One event under a wrong secret is refused so often within the window. */
const MISMATCHES_IN_SILENCE = 5;
/** Beside webhooks that verify: a second sender, or somebody who tries. */
const MISMATCHES_BESIDE = 50;
/** Without any signature: what scans the internet sends by the way, only a flood is said. */
const UNSIGNED_FLOOD = 500;

/** Shorter silences are those of one slow delivery and its first repetition. */
const LEAST_SILENCE_MS = 15 * MINUTE_MS;
/** What is waited for where the rhythm is not known yet. */
const UNKNOWN_RHYTHM_SILENCE_MS = HOUR_MS;
/** A shop with a webhook a week is told after a day all the same: there is news it did not hear. */
const MOST_SILENCE_MS = DAY_MS;
const RHYTHM_FACTOR = 3;
/** One lost webhook is not silence. */
const LEAST_NEWS = 2;

/**
 * What is lost now and then is healed and not worth a call. In an hour, many and one of a hundred; in
 * a day, a tenth of a small shop's.
 */
const MISSED_LIMITS = [
  { periodMs: HOUR_MS, changes: 5, share: 0.01 },
  { periodMs: DAY_MS, changes: 3, share: 0.1 },
] as const;
export const MISSED_PERIODS_MS: readonly number[] = MISSED_LIMITS.map(({ periodMs }) => periodMs);
/** Webhooks counted for the share; with more than this, what is missed is many anyhow. */
export const MOST_COUNTED = 10_000;

/** An event that fails is tried for two or three minutes before it is dead; a burst takes less. */
const BACKLOG_MS = 5 * MINUTE_MS;
const GRAVE_BACKLOG_MS = 30 * MINUTE_MS;
const BACKLOG_OVER_MS = MINUTE_MS;

/** Each dead event has an alert of its own; so many have one cause. */
const MANY_DEAD = 10;

/** The newest span is compared every 5 minutes: six rounds that did not end. */
const WATERMARK_MS = 35 * MINUTE_MS;
const GRAVE_WATERMARK_MS = 6 * HOUR_MS;

/** Longer than any maintenance that somebody sits beside. */
const PAUSE_MS = 4 * HOUR_MS;

/** Two rounds of reconciliation failed. */
const UNUSABLE_MS = 10 * MINUTE_MS;
const GRAVE_UNUSABLE_MS = HOUR_MS;

/** The limit is one of requests a minute; a burst empties a minute or two of them. */
export const RATE_WINDOW_MS = 15 * MINUTE_MS;
const EXHAUSTED_MINUTES = 10;

/** A single slow measurement on a busy machine is not a wrong clock. */
export const CLOCK_OFF_FOR_MS = 30_000;
/** Processes report every few seconds. */
export const CLOCK_REPORTED_WITHIN_MS = MINUTE_MS;
/** From here on a process is not ready. */
const GRAVE_SKEW_MS = MINUTE_MS;

/** The parts of the system, and the rules about each. */
const RULES_ABOUT = {
  'system:webhooks': ['signature_failures', 'silence', 'missed_webhooks'],
  'system:events': ['backlog', 'dead_events'],
  'system:reconciliation': ['watermark', 'reconciliation_paused'],
  'system:service': ['service_unreachable', 'rate_exhausted'],
  'system:clock': ['clock_skew'],
} as const satisfies Readonly<Record<string, readonly Rule[]>>;
type SystemSubject = keyof typeof RULES_ABOUT;
export const SYSTEM_SUBJECTS: readonly string[] = Object.keys(RULES_ABOUT);

/** Judges the facts: every subject, also those about which nothing stands. */
export function judgeSystem(facts: SystemFacts): readonly Settled[] {
  const refused = signatureFailures(facts);
  const silent = refused?.severity === 'critical' ? undefined : silence(facts);
  const late = backlog(facts);
  // What waits here arrived and is not missed; silence says more than the missed ones (rule 3).
  const missed = late || silent ? undefined : missedWebhooks(facts);
  const unreachable = serviceUnreachable(facts);
  const paused = reconciliationPaused(facts);
  const isExplained = unreachable || facts.reconciliation?.paused;
  return [
    verdict('system:webhooks', [refused, silent, missed]),
    verdict('system:events', [late, deadEvents(facts)]),
    verdict('system:reconciliation', [isExplained ? undefined : watermark(facts), paused]),
    verdict('system:service', [unreachable, rateExhausted(facts)]),
    verdict('system:clock', [clockSkew(facts)]),
  ];
}

interface Judged {
  readonly rule: Rule;
  readonly severity: Severity;
  readonly sentence: string;
  readonly nextStep: string;
  readonly detail: Readonly<Record<string, unknown>>;
}

function verdict(subject: SystemSubject, judged: readonly (Judged | undefined)[]): Settled {
  const standing = judged.flatMap((one) => (one ? [{ ...one, subject, variant: '' }] : []));
  return { subject, rules: RULES_ABOUT[subject], standing };
}

function signatureFailures(facts: SystemFacts): Judged | undefined {
  const { mismatched, unsigned } = facts.refused;
  const isStanding = facts.standing.has('signature_failures');
  const lastMs = facts.lastWebhookMs;
  const hasVerified = lastMs !== undefined && lastMs > facts.nowMs - SIGNATURE_WINDOW_MS;
  const atLeast = (limit: number) => (isStanding ? 1 : limit);
  const rule = 'signature_failures';
  const detail = { ...facts.refused, windowMinutes: SIGNATURE_WINDOW_MS / MINUTE_MS };
  const hour = span(SIGNATURE_WINDOW_MS);
  if (!hasVerified && mismatched >= atLeast(MISMATCHES_IN_SILENCE)) {
    const last = lastMs === undefined ? 'none ever did' : `the last came ${instant(lastMs)}`;
    return {
      rule,
      severity: 'critical',
      sentence: `${counted(mismatched, 'webhook')} in the last ${hour} carried a signature that no secret of WEBHOOK_SECRETS makes, and none verified (${last}): the service most likely signs with another secret.`,
      nextStep:
        'add the signing secret of your business profile to WEBHOOK_SECRETS and restart; npx tallyhook doctor checks it',
      detail,
    };
  }
  if (hasVerified && mismatched >= atLeast(MISMATCHES_BESIDE)) {
    return {
      rule,
      severity: 'warning',
      sentence: `${counted(mismatched, 'webhook')} in the last ${hour} carried a signature that no secret of WEBHOOK_SECRETS makes, beside others that verified: a second sender has another secret, or somebody tries to forge events.`,
      nextStep:
        'if a second sender is meant, add its secret to WEBHOOK_SECRETS; otherwise let only the service reach the receiver',
      detail,
    };
  }
  if (unsigned >= atLeast(UNSIGNED_FLOOD)) {
    return {
      rule,
      severity: 'warning',
      sentence: `${counted(unsigned, 'request')} in the last ${hour} reached the receiver without a usable signature; nothing of them was kept.`,
      nextStep: 'let only the addresses of the service reach the receiver',
      detail,
    };
  }
  return undefined;
}

/** Rule 4. */
function silence(facts: SystemFacts): Judged | undefined {
  const { lastWebhookMs, usualGapMs, newsSinceLastWebhook: news, nowMs } = facts;
  if (!facts.reconciliation || news < LEAST_NEWS) return undefined;
  const limitMs = silenceLimitMs(usualGapMs);
  if (lastWebhookMs !== undefined && nowMs - lastWebhookMs <= limitMs) return undefined;
  const found = `asking the service found ${counted(news, 'change')} that no webhook told of`;
  const rhythm =
    usualGapMs === undefined ? '' : `, where 99 of 100 come within ${span(usualGapMs)}`;
  return {
    rule: 'silence',
    severity: 'critical',
    sentence:
      lastWebhookMs === undefined
        ? `No webhook ever arrived, while ${found}.`
        : `No webhook for ${span(nowMs - lastWebhookMs)} (the last came ${instant(lastWebhookMs)})${rhythm}, while ${found}.`,
    nextStep:
      "npx tallyhook doctor compares the business profile's webhook address with this receiver",
    detail: {
      lastWebhook: lastWebhookMs === undefined ? null : new Date(lastWebhookMs).toISOString(),
      usualGapSeconds: usualGapMs === undefined ? null : Math.round(usualGapMs / 1000),
      news,
    },
  };
}

function silenceLimitMs(usualGapMs: number | undefined): number {
  if (usualGapMs === undefined) return UNKNOWN_RHYTHM_SILENCE_MS;
  return Math.min(MOST_SILENCE_MS, Math.max(LEAST_SILENCE_MS, RHYTHM_FACTOR * usualGapMs));
}

function missedWebhooks({ missed }: SystemFacts): Judged | undefined {
  const exceeded = MISSED_LIMITS.flatMap(({ periodMs, changes, share }) => {
    const found = missed.find((one) => one.periodMs === periodMs);
    if (!found || found.changes < changes) return [];
    return found.changes >= share * (found.changes + found.webhooks) ? [found] : [];
  });
  const [worst] = exceeded;
  if (!worst) return undefined;
  const { periodMs, changes, webhooks } = worst;
  const beside = webhooks >= MOST_COUNTED ? `more than ${MOST_COUNTED}` : String(webhooks);
  return {
    rule: 'missed_webhooks',
    severity: 'warning',
    sentence: `In the last ${span(periodMs)} asking the service found ${counted(changes, 'change')} that no webhook told of in time, beside ${beside} webhooks that arrived. The ledger is healed; the channel is not.`,
    nextStep:
      "npx tallyhook doctor compares the business profile's webhook address and events with this receiver",
    detail: { periodHours: periodMs / HOUR_MS, changes, webhooks },
  };
}

function backlog({ nowMs, oldestPendingMs, standing }: SystemFacts): Judged | undefined {
  if (oldestPendingMs === undefined) return undefined;
  const ageMs = nowMs - oldestPendingMs;
  if (ageMs < (standing.has('backlog') ? BACKLOG_OVER_MS : BACKLOG_MS)) return undefined;
  return {
    rule: 'backlog',
    severity: ageMs >= GRAVE_BACKLOG_MS ? 'critical' : 'warning',
    sentence: `Events wait to be applied, the oldest for ${span(ageMs)} (since ${instant(oldestPendingMs)}): orders show a state that is so old.`,
    nextStep:
      'check that a process with the role events runs, then npx tallyhook events list --state pending',
    detail: { oldestPending: new Date(oldestPendingMs).toISOString() },
  };
}

function deadEvents({ deadEvents: count }: SystemFacts): Judged | undefined {
  if (count < MANY_DEAD) return undefined;
  return {
    rule: 'dead_events',
    severity: 'critical',
    sentence: `${counted(count, 'event')} could not be applied and were set aside; so many have a common cause.`,
    nextStep:
      'npx tallyhook events list --state dead; when the cause is gone: npx tallyhook events replay --dead',
    detail: { deadEvents: count },
  };
}

/** Lists that were never read whole belong to a first import, which takes the time it takes. */
function watermark(facts: SystemFacts): Judged | undefined {
  const [oldest] = (facts.reconciliation?.watermarks ?? []).toSorted((a, b) => a.atMs - b.atMs);
  if (!oldest) return undefined;
  const isStanding = facts.standing.has('watermark');
  const sinceMs = isStanding ? oldest.atMs : Math.max(oldest.atMs, facts.watchingSinceMs);
  if (facts.nowMs - sinceMs < WATERMARK_MS) return undefined;
  const ageMs = facts.nowMs - oldest.atMs;
  return {
    rule: 'watermark',
    severity: ageMs >= GRAVE_WATERMARK_MS ? 'critical' : 'warning',
    sentence: `The service's list of ${oldest.stream} was last read whole up to ${instant(oldest.atMs)}, ${span(ageMs)} ago: what webhooks lost since then is not found.`,
    nextStep:
      'check that a process with the role reconcile runs, then npx tallyhook reconcile shows what stops it',
    detail: { stream: oldest.stream, watermark: new Date(oldest.atMs).toISOString() },
  };
}

function reconciliationPaused({ nowMs, reconciliation }: SystemFacts): Judged | undefined {
  const paused = reconciliation?.paused;
  if (!paused || nowMs - paused.sinceMs < PAUSE_MS) return undefined;
  return {
    rule: 'reconciliation_paused',
    severity: 'warning',
    sentence: `Reconciliation has been paused since ${instant(paused.sinceMs)}: what webhooks lose is not found, and authorizations are not confirmed.`,
    nextStep: 'npx tallyhook resume',
    detail: { pausedAt: new Date(paused.sinceMs).toISOString(), pausedBy: paused.by },
  };
}

function serviceUnreachable({ nowMs, reconciliation }: SystemFacts): Judged | undefined {
  const sinceMs = reconciliation?.unusableSinceMs;
  if (sinceMs === undefined || nowMs - sinceMs < UNUSABLE_MS) return undefined;
  return {
    rule: 'service_unreachable',
    severity: nowMs - sinceMs >= GRAVE_UNUSABLE_MS ? 'critical' : 'warning',
    sentence: `The payment service cannot be asked since ${instant(sinceMs)}: nothing is compared, and what webhooks lose is not found until it can.`,
    nextStep: 'npx tallyhook doctor finds out whether it is the address, the key or the service',
    detail: { since: new Date(sinceMs).toISOString() },
  };
}

function rateExhausted({ exhaustedMinutes, standing }: SystemFacts): Judged | undefined {
  if (exhaustedMinutes < (standing.has('rate_exhausted') ? 1 : EXHAUSTED_MINUTES)) return undefined;
  return {
    rule: 'rate_exhausted',
    severity: 'warning',
    sentence: `In ${counted(exhaustedMinutes, 'minute')} of the last ${RATE_WINDOW_MS / MINUTE_MS} no request to the payment service was left: the shop is refused, too, and reconciliation stands still.`,
    nextStep: 'find what else uses the key so much, or ask the service for a higher limit',
    detail: { exhaustedMinutes },
  };
}

function clockSkew({ clocks }: SystemFacts): Judged | undefined {
  const [worst] = clocks;
  if (!worst) return undefined;
  const { process, roles, skewMs } = worst;
  const offMs = Math.abs(skewMs);
  const others = clocks.length === 1 ? '' : ` (and ${clocks.length - 1} more)`;
  const side = skewMs > 0 ? 'ahead of' : 'behind';
  return {
    rule: 'clock_skew',
    severity: offMs > GRAVE_SKEW_MS ? 'critical' : 'warning',
    sentence: `The clock of the machine of ${process} (${roles})${others} is ${span(offMs)} ${side} the database's: what is stored follows the database, but logs, timers and certificates there do not. Beyond a minute its receiver is not ready.`,
    nextStep: 'npx tallyhook doctor on that machine; then let it keep its time by NTP',
    detail: { process, roles, skewMs, processes: clocks.length },
  };
}

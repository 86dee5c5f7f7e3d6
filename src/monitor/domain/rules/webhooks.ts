/** Whether webhooks arrive, and whether their signatures verify. */
import { instant, span } from '../../../alerts/domain/format.ts';
import { counted } from '../../../platform/counted.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../platform/time.ts';
import type { SystemFacts } from '../facts.ts';
import type { SystemAlert } from '../systemAlert.ts';

/** A sender retries after 1, 6, 11, 21 and 31 minutes: an hour contains all retries of an event. */
export const SIGNATURE_WINDOW_MS = HOUR_MS;
/**
 * Since the last verified webhook: what one event with a wrong secret and its first two retries cause. A
 * scan is over sooner.
 */
const MISMATCHES_ALONE = 3;
const MISMATCHED_FOR_MS = 5 * MINUTE_MS;
/** Critical without evidence from the service: all retries of one event, and an hour without a verified one. */
const MISMATCHES_LASTING = 5;
const LASTING_MS = HOUR_MS;
/** While other webhooks verify: a second sender, or forged events. */
const MISMATCHES_BESIDE = 50;
/** Those before a wrong secret was corrected are no second sender: one that sends 50 in an hour is not quiet for longer. */
const BESIDE_WITHIN_MS = 15 * MINUTE_MS;
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

export function signatureFailures(facts: SystemFacts): SystemAlert | undefined {
  return nothingVerifies(facts) ?? manyRejected(facts);
}

/** Webhooks are rejected, and none has verified since. */
function nothingVerifies(facts: SystemFacts): SystemAlert | undefined {
  const { lastWebhookMs, mismatchedSinceWebhook: since, missedSinceLastWebhook: changes } = facts;
  const isEnough =
    since.recent >= MISMATCHES_ALONE && since.lastMs - since.firstMs >= MISMATCHED_FOR_MS;
  const isActive = facts.openRules.has('signature_failures') ? since.recent > 0 : isEnough;
  if (!isActive) return undefined;
  const isLasting = since.total >= MISMATCHES_LASTING && facts.nowMs - since.firstMs >= LASTING_MS;
  const last =
    lastWebhookMs === undefined
      ? 'none ever did'
      : `the last one arrived ${instant(lastWebhookMs)}`;
  const rejected = `Since ${instant(since.firstMs)}, ${counted(since.total, 'webhook')} had a signature that matches no secret in WEBHOOK_SECRETS, and no webhook verified (${last}).`;
  const common = {
    rule: 'signature_failures',
    detail: {
      ...facts.rejected,
      windowMinutes: SIGNATURE_WINDOW_MS / MINUTE_MS,
      mismatchedSinceWebhook: since.total,
      missedChanges: changes,
    },
  } as const;
  if (isLasting || changes > 0) {
    return {
      ...common,
      severity: 'critical',
      sentence: `${rejected} The service probably signs with another secret. These events are rejected; the service retries them for a day.`,
      nextStep:
        'Within a day, add the signing secret of your business profile to WEBHOOK_SECRETS and restart; npx tallyhook doctor checks it',
    };
  }
  return {
    ...common,
    severity: 'warning',
    sentence: `${rejected} The service signs with another secret, or someone tries to forge events.`,
    nextStep:
      'Run npx tallyhook doctor; if the service signs with another secret, add the signing secret of your business profile to WEBHOOK_SECRETS within a day and restart',
  };
}

/** Beside webhooks that verify, or without a signature. */
function manyRejected(facts: SystemFacts): SystemAlert | undefined {
  const { rejected, lastMismatchedMs: lastMs, nowMs, openRules } = facts;
  // Half, and not any: scans never end, and one wrong secret for some minutes is over when webhooks verify.
  const atLeast = (limit: number) => (openRules.has('signature_failures') ? limit / 2 : limit);
  const rule = 'signature_failures';
  const severity = 'warning';
  const detail = { ...rejected, windowMinutes: SIGNATURE_WINDOW_MS / MINUTE_MS };
  const hour = span(SIGNATURE_WINDOW_MS);
  if (rejected.mismatched >= atLeast(MISMATCHES_BESIDE) && nowMs - lastMs <= BESIDE_WITHIN_MS) {
    return {
      rule,
      severity,
      sentence: `${counted(rejected.mismatched, 'webhook')} in the last ${hour}, the last one ${instant(lastMs)}, had a signature that matches no secret in WEBHOOK_SECRETS: a second sender has another secret, or someone tries to forge events.`,
      nextStep:
        'If a second sender is intended, add its secret to WEBHOOK_SECRETS; otherwise allow only the service to reach the receiver',
      detail,
    };
  }
  if (rejected.unsigned >= atLeast(UNSIGNED_FLOOD)) {
    return {
      rule,
      severity,
      sentence: `${counted(rejected.unsigned, 'request')} in the last ${hour} reached the receiver without a usable signature. They were rejected and not stored.`,
      nextStep: 'Allow only the addresses of the service to reach the receiver',
      detail,
    };
  }
  return undefined;
}

/** Rule 4. */
export function webhooksStopped(facts: SystemFacts): SystemAlert | undefined {
  const { lastWebhookMs, usualGapMs, missedSinceLastWebhook: changes, nowMs, receiver } = facts;
  if (!facts.reconciliation || changes < MIN_MISSED_CHANGES) return undefined;
  // No webhook can arrive while no receiver runs; afterwards, the service sends them again only by and by.
  const waitedMs = nowMs - Math.max(lastWebhookMs ?? 0, receiver.sinceMs ?? 0);
  if (lastWebhookMs !== undefined && waitedMs <= gapLimitMs(usualGapMs)) return undefined;
  const found = `the service has ${counted(changes, 'change')} that no webhook reported`;
  const usual = usualGapMs === undefined ? '' : `; 99 % usually arrive within ${span(usualGapMs)}`;
  return {
    rule: 'webhooks_stopped',
    severity: 'critical',
    sentence:
      lastWebhookMs === undefined
        ? `No webhook has ever arrived, but ${found}.`
        : `No webhook has arrived for ${span(nowMs - lastWebhookMs)} (the last one ${instant(lastWebhookMs)}${usual}), but ${found}. Reconciliation repairs the ledger meanwhile.`,
    nextStep: receiver.isRunning
      ? "npx tallyhook doctor compares the business profile's webhook address with this receiver"
      : 'No receiver runs: start a process with the role receiver; npx tallyhook processes lists what runs',
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

export function missedWebhooks({ missed }: SystemFacts): SystemAlert | undefined {
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

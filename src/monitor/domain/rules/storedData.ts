/** Whether what is stored is proven, and removed in time. */
import { span } from '../../../alerts/domain/format.ts';
import { counted } from '../../../platform/counted.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../platform/time.ts';
import type { SystemFacts } from '../facts.ts';
import type { SystemAlert } from '../systemAlert.ts';

/** Retention runs every hour; what a day brings takes it minutes. */
const RETENTION_BEHIND_MS = 2 * DAY_MS;
/** Two runs after a stop (rule 2). */
const RETENTION_STARTS_MS = 2 * HOUR_MS;
/** Partitions are made every hour for a week ahead, so making them has failed for days. */
const MIN_BODY_DAYS_AHEAD = 3;
/** From here on, only the receivers themselves can make the next one. */
const CRITICAL_BODY_DAYS_AHEAD = 1;

/** Transfers are chained every minute. */
const CHAIN_BEHIND_MS = 15 * MINUTE_MS;

/** A request waits for events that are not applied, which takes minutes as a rule. */
const ERASURE_UNFINISHED_MS = 2 * DAY_MS;
/** The law of many countries gives a month (GDPR, article 12): a week and a half is left. */
const CRITICAL_ERASURE_MS = 20 * DAY_MS;

/** An alert names this many damaged bodies; `tallyhook verify` names all. */
export const MAX_NAMED_BODIES = 10;

export function retentionBehind(facts: SystemFacts): SystemAlert | undefined {
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

export function bodyDaysShort({ bodyDaysAhead: days }: SystemFacts): SystemAlert | undefined {
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
export function bodyDamaged({ damagedBodies }: SystemFacts): SystemAlert | undefined {
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
export function verifyFailed({ proof, openRules }: SystemFacts): SystemAlert | undefined {
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

/** A backlog of an earlier version is not late while blocks are appended. */
export function chainBehind({
  chain,
  nowMs,
  watchingSinceMs,
}: SystemFacts): SystemAlert | undefined {
  const { unchained, isCountComplete, oldestAgeSeconds, lastBlockAgeSeconds, isWaiting } = chain;
  const idleMs = Math.min(
    oldestAgeSeconds * SECOND_MS,
    lastBlockAgeSeconds === null ? nowMs - watchingSinceMs : lastBlockAgeSeconds * SECOND_MS,
  );
  if (isWaiting || unchained === 0 || idleMs < CHAIN_BEHIND_MS) return undefined;
  return {
    rule: 'chain_behind',
    severity: 'warning',
    sentence: `${isCountComplete ? '' : 'At least '}${counted(unchained, 'transfer')} of the journal ${unchained === 1 ? 'is' : 'are'} not chained, and no block was appended for ${span(idleMs)}. A change of these transfers in the database would not be found by the chain. Webhooks and the ledger continue.`,
    nextStep:
      'Run npx tallyhook schedule list and read the log of the scheduler for the schedule chain; a transaction that stays open in the database holds it up, too',
    detail: { unchained, idleMs },
  };
}

export function erasureUnfinished({ openErasure, nowMs }: SystemFacts): SystemAlert | undefined {
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

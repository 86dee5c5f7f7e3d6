/** Facts as the rules about the system receive them. */
import type { Alert } from '../../../src/alerts/domain/alert.ts';
import type { SystemFacts } from '../../../src/monitor/domain/facts.ts';
import { evaluateSystem } from '../../../src/monitor/domain/systemRules.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/platform/time.ts';
import { STREAMS } from '../../../src/reconcile/streams.ts';

export const NOW_MS = Date.UTC(2026, 10, 21, 12);

export const ago = (ms: number): number => NOW_MS - ms;

export const RECONCILIATION = {
  lists: STREAMS,
  watermarks: [
    { stream: 'payments', atMs: ago(4 * MINUTE_MS) },
    { stream: 'payouts', atMs: ago(5 * MINUTE_MS) },
  ],
  unread: [],
  paused: undefined,
  unusable: [],
};

/** A shop during the day: webhooks every few seconds, everything reconciled. */
export const HEALTHY: SystemFacts = {
  nowMs: NOW_MS,
  watchingSinceMs: ago(DAY_MS),
  openRules: new Set(),
  rejected: { mismatched: 0, unsigned: 0 },
  lastMismatchedMs: 0,
  mismatchedSinceWebhook: { recent: 0, total: 0, firstMs: 0, lastMs: 0 },
  lastWebhookMs: ago(10_000),
  usualGapMs: 2 * MINUTE_MS,
  receiver: { isRunning: true, sinceMs: ago(2 * DAY_MS) },
  missedSinceLastWebhook: 0,
  missed: [
    { periodMs: HOUR_MS, changes: 0, webhooks: 500 },
    { periodMs: DAY_MS, changes: 0, webhooks: 9_000 },
  ],
  oldestPendingMs: undefined,
  deadEvents: 0,
  reconciliation: RECONCILIATION,
  exhaustedMinutes: 0,
  clocks: [],
  queues: [],
  missingRoles: [],
  retention: [],
  openErasure: undefined,
  bodyDaysAhead: 7,
  damagedBodies: [],
  proof: { failures: 0, due: 0 },
  losses: undefined,
  chain: {
    unchained: 0,
    isCountComplete: true,
    oldestAgeSeconds: 0,
    lastBlockAgeSeconds: 5,
    isWaiting: false,
  },
};

export function alertsOf(changes: Partial<SystemFacts>): readonly Alert[] {
  return evaluateSystem({ ...HEALTHY, ...changes }).flatMap((one) => one.active);
}

export const reconciliation = (changes: Partial<NonNullable<SystemFacts['reconciliation']>>) => ({
  reconciliation: { ...RECONCILIATION, ...changes },
});
export const unusable = (sinceMs: number, ...sources: readonly string[]) =>
  reconciliation({
    watermarks: STREAMS.map((stream) => ({ stream, atMs: sinceMs - DAY_MS })),
    unusable: sources.map((source) => ({ source, sinceMs, isOpen: true, isAccepted: false })),
  });
export const missed = (hour: number, webhooks: number, day = hour, dayWebhooks = webhooks) => ({
  missed: [
    { periodMs: HOUR_MS, changes: hour, webhooks },
    { periodMs: DAY_MS, changes: day, webhooks: dayWebhooks },
  ],
});
/** Rejected since the last verified webhook, beginning so long ago, during so many minutes. */
export const mismatched = (total: number, agoMs: number, minutes: number, recent = total) => ({
  rejected: { mismatched: recent, unsigned: 0 },
  mismatchedSinceWebhook: {
    recent,
    total,
    firstMs: ago(agoMs),
    lastMs: ago(agoMs) + minutes * MINUTE_MS,
  },
});
/** Rejected within an hour beside webhooks that verify, the last one so long ago. */
export const beside = (count: number, lastAgoMs: number) => ({
  rejected: { mismatched: count, unsigned: 0 },
  lastMismatchedMs: ago(lastAgoMs),
});

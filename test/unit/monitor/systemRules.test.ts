/** Alerts about the system. Numbers are the rules of src/monitor/domain/systemRules.ts. */
import { describe, expect, test } from 'vitest';
import type { Rule } from '../../../src/alerts/domain/alert.ts';
import type { SystemFacts } from '../../../src/monitor/domain/facts.ts';
import { evaluateSystem } from '../../../src/monitor/domain/systemRules.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/platform/time.ts';
import { STREAMS } from '../../../src/reconcile/streams.ts';
import {
  ago,
  alertsOf,
  beside,
  HEALTHY,
  mismatched,
  missed,
  NOW_MS,
  RECONCILIATION,
  reconciliation,
  unusable,
} from './facts.ts';

function rulesOf(changes: Partial<SystemFacts>): readonly [Rule, string][] {
  return alertsOf(changes).map(({ rule, severity }) => [rule, severity]);
}

const FRESH: Partial<SystemFacts> = {
  watchingSinceMs: NOW_MS,
  lastWebhookMs: undefined,
  usualGapMs: undefined,
  ...missed(0, 0),
};

describe('no alert is active', () => {
  test.each<[string, Partial<SystemFacts>]>([
    ['in a healthy shop', {}],
    ['in a fresh installation', { ...FRESH, ...reconciliation({ watermarks: [] }) }],
    ['in one without a key', { ...FRESH, reconciliation: undefined }],
    [
      'in a first import, which takes hours',
      { ...FRESH, watchingSinceMs: ago(9 * HOUR_MS), ...reconciliation({ watermarks: [] }) },
    ],
    ['in a quiet night without changes', { lastWebhookMs: ago(11 * HOUR_MS) }],
    [
      'for one lost webhook in a quiet night',
      { lastWebhookMs: ago(HOUR_MS), missedSinceLastWebhook: 1 },
    ],
    [
      'for changes within the usual gap between webhooks',
      { lastWebhookMs: ago(5 * HOUR_MS), usualGapMs: 2 * HOUR_MS, missedSinceLastWebhook: 3 },
    ],
    ['for a few lost webhooks among many', missed(9, 1_000)],
    ['for a few lost in an hour', missed(4, 10, 4, 200)],
    ['for a burst that is being applied', { oldestPendingMs: ago(4 * MINUTE_MS) }],
    ['for a few dead events, which have alerts of their own', { deadEvents: 9 }],
    ['for what scans the internet', { rejected: { mismatched: 0, unsigned: 300 } }],
    [
      'for a delivery with a wrong signature and its first retry',
      { ...mismatched(2, 6 * MINUTE_MS, 5), lastWebhookMs: ago(DAY_MS) },
    ],
    [
      'for a stranger who forges some in a quiet night and is gone after minutes',
      { ...mismatched(40, 6 * MINUTE_MS, 4), lastWebhookMs: ago(DAY_MS) },
    ],
    ['for some forged ones beside good ones', beside(49, MINUTE_MS)],
    ['for a wrong secret that was corrected: webhooks verify again', beside(800, 16 * MINUTE_MS)],
    [
      'after a long stop: a process that has just started is not late (rule 2)',
      {
        watchingSinceMs: ago(2 * MINUTE_MS),
        ...reconciliation({ watermarks: [{ stream: 'payments', atMs: ago(3 * DAY_MS) }] }),
      },
    ],
    [
      'for a pause during an attended maintenance',
      reconciliation({ paused: { sinceMs: ago(3 * HOUR_MS), by: 'ada', reason: 'tests' } }),
    ],
    [
      'for a first import that goes on',
      reconciliation({ unread: [{ stream: 'payments', sinceMs: ago(5 * MINUTE_MS) }] }),
    ],
    ['for a service that is unreachable for a moment', unusable(ago(9 * MINUTE_MS), ...STREAMS)],
    ['for a few minutes without requests left', { exhaustedMinutes: 9 }],
  ])('%s', (_name, changes) => {
    expect(alertsOf(changes)).toEqual([]);
  });
});

describe('many signature failures', () => {
  const first = mismatched(3, 6 * MINUTE_MS, 5);
  test.each<[string, Partial<SystemFacts>, string]>([
    [
      'warn with the second retry of one event, when none has verified since',
      { ...first, lastWebhookMs: ago(8 * MINUTE_MS) },
      'warning',
    ],
    ['warn in the first minutes when nothing ever verified', { ...first, ...FRESH }, 'warning'],
    [
      'are critical with a change at the service that no webhook reported since',
      { ...first, lastWebhookMs: ago(20 * MINUTE_MS), missedSinceLastWebhook: 1 },
      'critical',
    ],
    [
      'are critical after an hour in which none verified',
      { ...mismatched(5, HOUR_MS, 31), lastWebhookMs: ago(2 * HOUR_MS) },
      'critical',
    ],
    [
      'only warn after an hour with fewer than one event and its retries cause',
      { ...mismatched(4, HOUR_MS, 31), lastWebhookMs: ago(2 * HOUR_MS) },
      'warning',
    ],
    ['warn beside webhooks that verify', beside(50, MINUTE_MS), 'warning'],
    [
      'warn as a flood without signatures',
      { rejected: { mismatched: 0, unsigned: 500 } },
      'warning',
    ],
  ])('%s', (_name, changes, severity) => {
    expect(rulesOf(changes)).toEqual([['signature_failures', severity]]);
  });

  test('are active until an hour has none, so that they do not open and resolve repeatedly (rule 1)', () => {
    const open = { openRules: new Set<Rule>(['signature_failures']), lastWebhookMs: ago(DAY_MS) };
    expect(rulesOf({ ...open, ...mismatched(6, 3 * HOUR_MS, 170, 1) })).toEqual([
      ['signature_failures', 'critical'],
    ]);
    expect(rulesOf({ ...open, ...mismatched(6, 3 * HOUR_MS, 31, 0) })).toEqual([]);
  });

  test('end when webhooks verify again, although scans go on', () => {
    const open = { openRules: new Set<Rule>(['signature_failures']) };
    expect(rulesOf({ ...open, ...beside(24, MINUTE_MS) })).toEqual([]);
    expect(rulesOf({ ...open, rejected: { mismatched: 0, unsigned: 249 } })).toEqual([]);
    const [alert] = alertsOf({ ...open, ...beside(25, 15 * MINUTE_MS) });
    expect(alert?.sentence).toBe(
      '25 webhooks in the last 60 min, the last one 2026-11-21 11:45 UTC, had a signature that matches no secret in WEBHOOK_SECRETS: a second sender has another secret, or someone tries to forge events.',
    );
  });

  test('explain stopped webhooks, which then do not alert (rule 3)', () => {
    const rules = rulesOf({
      ...first,
      lastWebhookMs: ago(5 * HOUR_MS),
      missedSinceLastWebhook: 40,
    });
    expect(rules).toEqual([['signature_failures', 'critical']]);
  });
});

describe('stopped webhooks', () => {
  test('name the gap and the usual gap', () => {
    const [alert] = alertsOf({ lastWebhookMs: ago(47 * MINUTE_MS), missedSinceLastWebhook: 12 });
    expect(alert).toMatchObject({
      rule: 'webhooks_stopped',
      severity: 'critical',
      subject: 'system:webhooks',
      sentence:
        'No webhook has arrived for 47 min (the last one 2026-11-21 11:13 UTC; 99 % usually arrive within 2 min), but the service has 12 changes that no webhook reported. Reconciliation repairs the ledger meanwhile.',
    });
  });

  test('alert if no webhook ever arrived, because the address was never configured', () => {
    const [alert] = alertsOf({ ...FRESH, missedSinceLastWebhook: 2 });
    expect(alert?.sentence).toBe(
      'No webhook has ever arrived, but the service has 2 changes that no webhook reported.',
    );
  });

  test.each<[string, number | undefined, number]>([
    ['a busy shop', 1_000, 15 * MINUTE_MS],
    ['a shop with an unknown rate of webhooks', undefined, HOUR_MS],
    ['a small shop', 2 * HOUR_MS, 6 * HOUR_MS],
    ['a shop with an order a week', 6 * DAY_MS, DAY_MS],
  ])('alert after a limit that depends on %s', (_name, usualGapMs, limitMs) => {
    const facts = { usualGapMs, missedSinceLastWebhook: 2 };
    expect(alertsOf({ ...facts, lastWebhookMs: ago(limitMs) })).toEqual([]);
    expect(rulesOf({ ...facts, lastWebhookMs: ago(limitMs + 1) })).toEqual([
      ['webhooks_stopped', 'critical'],
    ]);
  });

  test('alert after the limit from when a receiver runs again, because none could arrive before', () => {
    const facts = { usualGapMs: 1_000, missedSinceLastWebhook: 2, lastWebhookMs: ago(DAY_MS) };
    const receiverSince = (ms: number) => ({ receiver: { isRunning: true, sinceMs: ago(ms) } });
    expect(alertsOf({ ...facts, ...receiverSince(15 * MINUTE_MS) })).toEqual([]);
    expect(rulesOf({ ...facts, ...receiverSince(15 * MINUTE_MS + 1) })).toEqual([
      ['webhooks_stopped', 'critical'],
    ]);
  });

  test('explain missed webhooks, which then do not alert (rule 3)', () => {
    const facts = { lastWebhookMs: ago(HOUR_MS), missedSinceLastWebhook: 12, ...missed(12, 0) };
    expect(rulesOf(facts)).toEqual([['webhooks_stopped', 'critical']]);
  });
});

describe('missed webhooks', () => {
  test.each<[string, Partial<SystemFacts>]>([
    ['many in an hour, and one of a hundred', missed(5, 495)],
    ['a tenth of a small shop in a day', missed(1, 2, 3, 27)],
    ['many beside more than are counted', missed(200, 10_000, 200, 10_000)],
  ])('warn for %s', (_name, changes) => {
    expect(rulesOf(changes)).toEqual([['missed_webhooks', 'warning']]);
  });

  test('name both counts', () => {
    expect(alertsOf(missed(5, 95))[0]?.sentence).toBe(
      'In the last 60 min reconciliation found 5 changes that no webhook reported in time; 95 webhooks arrived. The ledger is repaired; the delivery of webhooks is not.',
    );
  });

  test('are not missed while they are pending (rule 3)', () => {
    const rules = rulesOf({ ...missed(50, 50), oldestPendingMs: ago(6 * MINUTE_MS) });
    expect(rules).toEqual([['backlog', 'warning']]);
  });
});

describe('conditions that last too long', () => {
  const paused = { sinceMs: ago(4 * HOUR_MS), by: 'ada', reason: 'tests' };
  const old = [{ stream: 'refunds', atMs: ago(35 * MINUTE_MS) }, ...RECONCILIATION.watermarks];
  test.each<[string, Partial<SystemFacts>, readonly [Rule, string][]]>([
    ['a backlog', { oldestPendingMs: ago(5 * MINUTE_MS) }, [['backlog', 'warning']]],
    ['a long backlog', { oldestPendingMs: ago(30 * MINUTE_MS) }, [['backlog', 'critical']]],
    ['many dead events', { deadEvents: 10 }, [['dead_events', 'critical']]],
    [
      'a list that is not read',
      reconciliation({ watermarks: old }),
      [['reconciliation_lag', 'warning']],
    ],
    [
      'a list that is not reconciled for long',
      reconciliation({ watermarks: [{ stream: 'refunds', atMs: ago(6 * HOUR_MS) }] }),
      [['reconciliation_lag', 'critical']],
    ],
    [
      'a list that was never read',
      reconciliation({ unread: [{ stream: 'disputes', sinceMs: ago(35 * MINUTE_MS) }] }),
      [['reconciliation_lag', 'warning']],
    ],
    [
      'a pause, which explains the lists',
      reconciliation({ paused, watermarks: old }),
      [['reconciliation_paused', 'warning']],
    ],
    [
      'an unreachable service, which explains the lists',
      unusable(ago(10 * MINUTE_MS), ...STREAMS),
      [['service_unreachable', 'warning']],
    ],
    [
      'a service that is unreachable for an hour',
      unusable(ago(HOUR_MS), ...STREAMS),
      [['service_unreachable', 'critical']],
    ],
    [
      'a rate budget that is used up',
      { exhaustedMinutes: 10 },
      [['rate_limit_exhausted', 'warning']],
    ],
  ])('alert: %s', (_name, changes, rules) => {
    expect(rulesOf(changes)).toEqual(rules);
  });

  test.each([
    [['disputes'], 'the list of disputes'],
    [['payouts', 'refresh:payouts'], 'the list of payouts, retrieves of payouts'],
    [['refresh'], 'retrieves'],
  ])('requests that the service alone refuses are named: %j', (sources, named) => {
    const facts = {
      ...unusable(ago(10 * MINUTE_MS), ...sources),
      openRules: new Set<Rule>(['service_unreachable']),
    };
    const [alert] = evaluateSystem({ ...HEALTHY, ...facts }).flatMap(({ active }) =>
      active.filter(({ rule }) => rule === 'service_unreachable'),
    );
    expect(alert?.sentence).toMatch(`: ${named}. Changes there`);
    expect(alert?.sentence).not.toMatch('unreachable');
    // An outage is another alert, so that it notifies.
    const [outage] = alertsOf(unusable(ago(10 * MINUTE_MS), ...STREAMS));
    expect(outage?.variant).not.toBe(alert?.variant);
  });

  test('an outage is one also where somebody accepted that a list is refused', () => {
    const facts = unusable(ago(10 * MINUTE_MS), ...STREAMS).reconciliation;
    const [first, ...others] = facts.unusable;
    if (!first) throw new Error('no list');
    const accepted = { ...facts, unusable: [{ ...first, isAccepted: true }, ...others] };
    const [alert] = alertsOf({ reconciliation: accepted });
    expect(alert?.sentence).toMatch('has been unreachable');
  });

  test('an outage ends list by list, and no refusal of the last ones is reported meanwhile', () => {
    const facts = unusable(ago(2 * HOUR_MS), ...STREAMS).reconciliation;
    const ended = (count: number) => ({
      ...RECONCILIATION,
      unusable: facts.unusable.map((one, n) => ({ ...one, isOpen: n >= count })),
    });
    for (const count of [1, 2, 3]) {
      const [alert] = alertsOf({ reconciliation: ended(count) });
      expect(alert?.sentence).toMatch('has been unreachable');
    }
    expect(alertsOf({ reconciliation: ended(4) })).toEqual([]);
  });

  test('a refused list does not hide that another one is not read', () => {
    const watermarks = [
      { stream: 'payouts', atMs: ago(DAY_MS) },
      { stream: 'payments', atMs: ago(HOUR_MS) },
    ];
    for (const isAccepted of [false, true]) {
      const refused = [{ source: 'payouts', sinceMs: ago(DAY_MS), isOpen: true, isAccepted }];
      const alerts = alertsOf(reconciliation({ watermarks, unusable: refused }));
      const lag = alerts.find(({ rule }) => rule === 'reconciliation_lag');
      expect(lag?.sentence).toMatch(/^The list of payments /);
      expect(alerts).toHaveLength(isAccepted ? 1 : 2);
    }
  });

  test('a pause is reported with who paused it, and why', () => {
    const [alert] = alertsOf(
      reconciliation({ paused: { ...paused, reason: 'maintenance at\nthe service.' } }),
    );
    expect(alert?.sentence).toMatch(
      /^ada paused reconciliation at \d{4}-\d\d-\d\d \d\d:\d\d UTC\. Reason: maintenance at the service\. Changes that webhooks miss/,
    );
    expect(alert?.nextStep).toBe('When the reason is gone: npx tallyhook resume');
    expect(alert?.detail).toMatchObject({
      pausedBy: 'ada',
      reason: 'maintenance at\nthe service.',
    });
  });

  test('a list that lagged before a restart still alerts after it (rule 2)', () => {
    const facts = {
      ...reconciliation({ watermarks: old }),
      watchingSinceMs: NOW_MS,
    };
    expect(alertsOf(facts)).toEqual([]);
    expect(rulesOf({ ...facts, openRules: new Set(['reconciliation_lag']) })).toHaveLength(1);
  });

  test('a backlog is resolved at an age of a minute, not just below its limit (rule 1)', () => {
    const open = { openRules: new Set<Rule>(['backlog']) };
    expect(rulesOf({ ...open, oldestPendingMs: ago(4 * MINUTE_MS) })).toHaveLength(1);
    expect(rulesOf({ ...open, oldestPendingMs: ago(MINUTE_MS - 1) })).toEqual([]);
  });
});

test('every subject is evaluated each time, so that open alerts are resolved', () => {
  const evaluated = evaluateSystem(HEALTHY).map(({ subject, rules }) => [subject, ...rules]);
  expect(evaluated).toEqual([
    ['system:webhooks', 'signature_failures', 'webhooks_stopped', 'missed_webhooks'],
    ['system:events', 'backlog', 'dead_events'],
    ['system:reconciliation', 'reconciliation_lag', 'reconciliation_paused'],
    ['system:service', 'service_unreachable', 'rate_limit_exhausted'],
    ['system:clock', 'clock_skew'],
    ['system:queue', 'queue_unusable'],
    ['system:processes', 'role_not_running'],
    ['system:retention', 'retention_behind'],
    ['system:bodies', 'body_days_short', 'body_damaged'],
    ['system:ledger', 'verify_failed', 'chain_behind'],
    ['system:database', 'acknowledged_lost'],
    ['system:erasures', 'erasure_unfinished'],
  ]);
});

test.each([
  [3, undefined],
  [2, 'warning'],
  [1, 'warning'],
  [0, 'critical'],
  [-1, 'critical'],
])('partitions for %i days after today: %s', (bodyDaysAhead, severity) => {
  expect(rulesOf({ bodyDaysAhead })).toEqual(severity ? [['body_days_short', severity]] : []);
});

test('damaged bodies raise one critical alert that names their events and days', () => {
  const damagedBodies = [
    { eventId: 12, day: '2026-11-20' },
    { eventId: 15, day: '2026-11-20' },
  ];
  const [alert] = alertsOf({ damagedBodies });
  expect(alert).toMatchObject({
    rule: 'body_damaged',
    severity: 'critical',
    detail: { eventIds: [12, 15], days: ['2026-11-20'] },
  });
  expect(alert?.sentence).toContain('event 12 (2026-11-20), event 15 (2026-11-20)');
});

test('rows that fail verify raise a critical alert, which stays while they are checked again', () => {
  expect(rulesOf({ proof: { failures: 2, due: 0 } })).toEqual([['verify_failed', 'critical']]);
  expect(rulesOf({ proof: { failures: 0, due: 9 } })).toEqual([]);
  const openRules = new Set<Rule>(['verify_failed']);
  expect(rulesOf({ openRules, proof: { failures: 0, due: 9 } })).toHaveLength(1);
  expect(rulesOf({ openRules, proof: { failures: 0, due: 0 } })).toEqual([]);
});

test('transfers that are not chained raise an alert after a quarter of an hour without a block', () => {
  const chain = {
    unchained: 3,
    isCountComplete: true,
    oldestAgeSeconds: 1_000,
    lastBlockAgeSeconds: 1_000,
    isWaiting: false,
  };
  expect(rulesOf({ chain })).toEqual([['chain_behind', 'warning']]);
  const [most] = alertsOf({ chain: { ...chain, unchained: 10_000, isCountComplete: false } });
  expect(most?.sentence).toMatch(/^At least 10000 transfers of the journal are not chained/);
  // A backlog that blocks are appended for, transfers of a moment ago, and times that are still missing.
  expect(rulesOf({ chain: { ...chain, lastBlockAgeSeconds: 30 } })).toEqual([]);
  expect(rulesOf({ chain: { ...chain, oldestAgeSeconds: 30 } })).toEqual([]);
  expect(rulesOf({ chain: { ...chain, isWaiting: true } })).toEqual([]);
  expect(rulesOf({ chain: { ...chain, unchained: 0 } })).toEqual([]);
});

test('skewed clocks raise one alert about the largest skew, critical if its process is not ready', () => {
  const late = { process: 'web-1:17', roles: 'receiver', skewMs: -30_000 };
  const [alert, ...others] = alertsOf({ clocks: [late] });
  expect(others).toEqual([]);
  expect(alert).toMatchObject({ rule: 'clock_skew', severity: 'warning', subject: 'system:clock' });
  expect(alert?.sentence).toMatch(
    /^The clock of the machine of web-1:17 \(receiver\) is 30 s behind the database's/,
  );
  const days = { process: 'web-2:9', roles: 'alerts', skewMs: 3 * DAY_MS };
  const [worst] = alertsOf({ clocks: [days, late] });
  expect(worst).toMatchObject({ severity: 'critical' });
  expect(worst?.sentence).toMatch(/web-2:9 \(alerts\) \(and 1 more\) is 3 d ahead of/);
});

test('a queue that refuses work raises one alert with its reason, critical after five minutes', () => {
  const queue = {
    process: 'web-1:17',
    roles: 'events',
    reason: 'REDIS_URL names a Sentinel, which stores no jobs',
    remedy: 'Set REDIS_URL to the Redis server that the Sentinel watches.',
    sinceMs: ago(5 * MINUTE_MS - 1),
  };
  const [alert, ...others] = alertsOf({ queues: [queue] });
  expect(others).toEqual([]);
  expect(alert).toMatchObject({
    rule: 'queue_unusable',
    severity: 'warning',
    subject: 'system:queue',
    nextStep: `${queue.remedy} npx tallyhook doctor checks it`,
  });
  expect(alert?.sentence).toContain(
    `web-1:17 (events) since 2026-11-21 11:55 UTC: ${queue.reason}.`,
  );
  const longer = { ...queue, sinceMs: ago(5 * MINUTE_MS) };
  const [worst] = alertsOf({ queues: [longer, queue] });
  expect(worst).toMatchObject({ severity: 'critical' });
  expect(worst?.sentence).toContain('web-1:17 (events) (and 1 more) since');
});

describe('a role that no process has', () => {
  const missing = (...roles: readonly string[]) => ({
    missingRoles: roles.map((role) => ({ role, process: 'web-1:17', seenMs: ago(3 * MINUTE_MS) })),
  });

  test('raises one alert with what stays undone, critical where money or people wait for it', () => {
    const [alert, ...others] = alertsOf(missing('events', 'reconcile'));
    expect(others).toEqual([]);
    expect(alert).toMatchObject({
      rule: 'role_not_running',
      severity: 'critical',
      subject: 'system:processes',
      detail: { roles: ['events', 'reconcile'], process: 'web-1:17' },
    });
    expect(alert?.sentence).toMatch(
      /^No process has the roles events, reconcile\. web-1:17, the last one, has not reported since 2026-11-21 11:57 UTC/,
    );
    expect(alert?.sentence).toContain('not applied');
    expect(rulesOf(missing('console'))).toEqual([['role_not_running', 'warning']]);
  });

  test('explains events that wait, unless their alert is open already (rule 3)', () => {
    const waiting = { oldestPendingMs: ago(HOUR_MS) };
    expect(rulesOf(waiting)).toEqual([['backlog', 'critical']]);
    expect(rulesOf({ ...waiting, ...missing('events') })).toEqual([
      ['role_not_running', 'critical'],
    ]);
    expect(rulesOf({ ...waiting, ...missing('console') })).toHaveLength(2);
    const openRules = new Set<Rule>(['backlog']);
    expect(rulesOf({ ...waiting, ...missing('events'), openRules })).toHaveLength(2);
  });
});

test('retention that is behind for two days alerts, but not in the first two hours of a process (rule 2)', () => {
  const retention = [
    { name: 'events', behindMs: 2 * DAY_MS + 1 },
    { name: 'changes', behindMs: 2 * DAY_MS },
  ];
  const since = (startedMs: number) => ({ retention, watchingSinceMs: ago(startedMs) });
  expect(rulesOf(since(2 * HOUR_MS - 1))).toEqual([]);
  const [alert, ...others] = alertsOf(since(2 * HOUR_MS));
  expect(others).toEqual([]);
  expect(alert).toMatchObject({ rule: 'retention_behind', severity: 'warning' });
  expect(alert?.sentence).toContain('for 2 d: events.');
  const open = { openRules: new Set<Rule>(['retention_behind']) };
  expect(rulesOf({ ...since(0), ...open })).toEqual([['retention_behind', 'warning']]);
});

test.each([
  [2 * DAY_MS - 1, undefined],
  [2 * DAY_MS, 'warning'],
  [20 * DAY_MS - 1, 'warning'],
  [20 * DAY_MS, 'critical'],
])('an erasure that has been open for %i ms: %s', (openMs, severity) => {
  const openErasure = { id: 7, requestedMs: ago(openMs) };
  expect(rulesOf({ openErasure })).toEqual(severity ? [['erasure_unfinished', severity]] : []);
});

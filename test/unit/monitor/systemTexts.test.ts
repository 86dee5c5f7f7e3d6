/** What a person reads about the system, and does next. */
import { describe, expect, test } from 'vitest';
import type { Alert, Rule } from '../../../src/alerts/domain/alert.ts';
import type { SystemFacts } from '../../../src/monitor/domain/facts.ts';
import { missingRoles } from '../../../src/monitor/domain/missingRoles.ts';
import { ROLE_MISSING_FOR_MS } from '../../../src/monitor/domain/rules/processes.ts';
import { MAX_COUNTED } from '../../../src/monitor/domain/rules/webhooks.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../src/platform/time.ts';
import { ago, alertsOf, HEALTHY, mismatched, missed, reconciliation } from './facts.ts';

type Text = Pick<Alert, 'sentence' | 'nextStep'> & Partial<Alert>;
type Row = readonly [name: string, changes: Partial<SystemFacts>, text: Text];

const open = (...rules: readonly Rule[]) => ({ openRules: new Set(rules) });
const lost = (fields: Partial<NonNullable<SystemFacts['losses']>>) => ({
  losses: {
    events: 0,
    refused: 0,
    firstReceivedMs: ago(MINUTE_MS),
    lastReceivedMs: ago(MINUTE_MS),
    ...fields,
  },
});
const LOST_BESIDE =
  'What others wrote in the same seconds may be missing: registered amounts, actions of operators, events of a receiver that ended with the database.';
const COMPARED =
  'Reconciliation compares the last eight days with the service now; this alert resolves itself when it has.';

const WEBHOOKS: readonly Row[] = [
  [
    'a wrong secret for an hour',
    { ...mismatched(5, HOUR_MS, 31), lastWebhookMs: ago(2 * HOUR_MS) },
    {
      severity: 'critical',
      sentence:
        'Since 2026-11-21 11:00 UTC, 5 webhooks had a signature that matches no secret in WEBHOOK_SECRETS, and no webhook verified (the last one arrived 2026-11-21 10:00 UTC). The service probably signs with another secret. These events are rejected; the service retries them for a day.',
      nextStep:
        'Within a day, add the signing secret of your business profile to WEBHOOK_SECRETS and restart; npx tallyhook doctor checks it',
      detail: {
        mismatched: 5,
        unsigned: 0,
        windowMinutes: 60,
        mismatchedSinceWebhook: 5,
        missedChanges: 0,
      },
    },
  ],
  [
    'a wrong secret, just before an hour has passed',
    { ...mismatched(5, HOUR_MS - 1, 31), lastWebhookMs: undefined },
    {
      severity: 'warning',
      sentence:
        'Since 2026-11-21 11:00 UTC, 5 webhooks had a signature that matches no secret in WEBHOOK_SECRETS, and no webhook verified (none ever did). The service signs with another secret, or someone tries to forge events.',
      nextStep:
        'Run npx tallyhook doctor; if the service signs with another secret, add the signing secret of your business profile to WEBHOOK_SECRETS within a day and restart',
    },
  ],
  [
    'a second sender',
    { rejected: { mismatched: 50, unsigned: 2 }, lastMismatchedMs: ago(MINUTE_MS) },
    {
      sentence:
        '50 webhooks in the last 60 min, the last one 2026-11-21 11:59 UTC, had a signature that matches no secret in WEBHOOK_SECRETS: a second sender has another secret, or someone tries to forge events.',
      nextStep:
        'If a second sender is intended, add its secret to WEBHOOK_SECRETS; otherwise allow only the service to reach the receiver',
      detail: { mismatched: 50, unsigned: 2, windowMinutes: 60 },
    },
  ],
  [
    'a flood without signatures',
    { rejected: { mismatched: 0, unsigned: 500 } },
    {
      sentence:
        '500 requests in the last 60 min reached the receiver without a usable signature. They were rejected and not stored.',
      nextStep: 'Allow only the addresses of the service to reach the receiver',
    },
  ],
  [
    'webhooks that have stopped, with an unknown rate',
    { lastWebhookMs: ago(2 * HOUR_MS), usualGapMs: undefined, missedSinceLastWebhook: 2 },
    {
      sentence:
        'No webhook has arrived for 2 h (the last one 2026-11-21 10:00 UTC), but the service has 2 changes that no webhook reported. Reconciliation repairs the ledger meanwhile.',
      nextStep:
        "npx tallyhook doctor compares the business profile's webhook address with this receiver",
      detail: {
        lastWebhook: '2026-11-21T10:00:00.000Z',
        usualGapSeconds: null,
        missedChanges: 2,
      },
    },
  ],
  [
    'webhooks that have stopped, with their rate',
    { lastWebhookMs: ago(2 * HOUR_MS), missedSinceLastWebhook: 2 },
    {
      sentence:
        'No webhook has arrived for 2 h (the last one 2026-11-21 10:00 UTC; 99 % usually arrive within 2 min), but the service has 2 changes that no webhook reported. Reconciliation repairs the ledger meanwhile.',
      nextStep:
        "npx tallyhook doctor compares the business profile's webhook address with this receiver",
      detail: { lastWebhook: '2026-11-21T10:00:00.000Z', usualGapSeconds: 120, missedChanges: 2 },
    },
  ],
  [
    'webhooks that have stopped, while no receiver runs',
    {
      lastWebhookMs: ago(2 * HOUR_MS),
      missedSinceLastWebhook: 2,
      receiver: { isRunning: false, sinceMs: ago(DAY_MS) },
    },
    {
      sentence: expect.stringContaining('but the service has 2 changes that no webhook reported'),
      nextStep:
        'No receiver runs: start a process with the role receiver; npx tallyhook processes lists what runs',
    },
  ],
  [
    'missed ones beside more than are counted',
    missed(200, MAX_COUNTED),
    {
      sentence:
        'In the last 60 min reconciliation found 200 changes that no webhook reported in time; more than 10000 webhooks arrived. The ledger is repaired; the delivery of webhooks is not.',
      nextStep:
        "npx tallyhook doctor compares the business profile's webhook address and events with this receiver",
      detail: { periodHours: 1, changes: 200, webhooks: 10_000 },
    },
  ],
];

const EVENTS: readonly Row[] = [
  [
    'events that wait',
    { oldestPendingMs: ago(6 * MINUTE_MS) },
    {
      sentence:
        'Events are not applied; the oldest has been pending for 6 min (since 2026-11-21 11:54 UTC). Orders may show a state of that age.',
      nextStep:
        'Check that a process with the role events runs, then npx tallyhook events list --state pending',
      detail: { oldestPending: '2026-11-21T11:54:00.000Z' },
    },
  ],
  [
    'dead events',
    { deadEvents: 10 },
    {
      sentence:
        '10 events could not be applied and are dead; so many probably have a common cause.',
      nextStep:
        'npx tallyhook events list --state dead; when the cause is fixed: npx tallyhook events replay --dead',
    },
  ],
  [
    'events that a failover lost and a receiver persisted again',
    lost({ events: 2 }),
    {
      rule: 'acknowledged_lost',
      severity: 'critical',
      subject: 'system:database',
      sentence: `A failover of the database lost 2 events that Tallyhook had acknowledged, received at 2026-11-21 11:59 UTC: the standby that took over did not have them. The receiver still had these and has persisted them again. ${LOST_BESIDE} ${COMPARED}`,
      nextStep:
        'Read the section acknowledged_lost of the runbook: repeat what people and the shop did in these seconds, and make replication synchronous, so that it does not happen again',
      detail: {
        events: 2,
        refused: 0,
        firstReceivedAt: '2026-11-21T11:59:00.000Z',
        lastReceivedAt: '2026-11-21T11:59:00.000Z',
      },
    },
  ],
  [
    'events that the database refuses, without a key',
    {
      ...lost({ events: 1, refused: 2, firstReceivedMs: ago(2 * MINUTE_MS) }),
      reconciliation: undefined,
    },
    {
      sentence: `A failover of the database lost 3 events that Tallyhook had acknowledged, received between 2026-11-21 11:58 UTC and 2026-11-21 11:59 UTC: the standby that took over did not have them. Receivers have persisted 1 event again. The database refuses 2 events, so that only the memory of a receiver has them: it tries each again every minute, and forgets them when it stops. ${LOST_BESIDE} No API key is set, so the ledger cannot be compared with the service.`,
      nextStep:
        'Correct what refuses these events before a receiver restarts: its log has receiver.acknowledged_event_refused with the id and the reason of each. The section acknowledged_lost of the runbook has the rest',
    },
  ],
  [
    'events that the database refuses alone',
    lost({ refused: 1 }),
    {
      sentence: `A failover of the database lost 1 event that Tallyhook had acknowledged, received at 2026-11-21 11:59 UTC: the standby that took over did not have them. The database refuses 1 event, so that only the memory of a receiver has them: it tries each again every minute, and forgets them when it stops. ${LOST_BESIDE} ${COMPARED}`,
      nextStep: expect.stringMatching(/^Correct what refuses these events/),
    },
  ],
];

const role = (name: string) => ({ role: name, process: 'web-1:17', seenMs: ago(3 * MINUTE_MS) });
const start = (named: string) =>
  `Start a process with ${named}, and read why the last one ended: the end of its log, and the log of its machine. npx tallyhook processes shows what runs`;
const clock = (skewMs: number) => ({
  clocks: [{ process: 'web-1:17', roles: 'receiver', skewMs }],
});
const clockText = (difference: string) =>
  `The clock of the machine of web-1:17 (receiver) is ${difference} the database's clock. Stored times follow the database; logs, timers and certificates on that machine do not. Above one minute its receiver is not ready.`;
const NTP = 'Run npx tallyhook doctor on that machine, then synchronize its clock with NTP';

const PROCESSES: readonly Row[] = [
  [
    'a clock that is a minute ahead',
    clock(MINUTE_MS),
    { severity: 'warning', sentence: clockText('60 s ahead of'), nextStep: NTP },
  ],
  [
    'a clock that is more than a minute behind',
    clock(-MINUTE_MS - 1),
    { severity: 'critical', sentence: clockText('60 s behind'), nextStep: NTP },
  ],
  ...(
    [
      ['receiver', 'critical', 'Webhooks are not accepted; the service retries each for a day.'],
      [
        'alerts',
        'critical',
        'Nobody is notified: alerts are only in the console and in npx tallyhook alerts list.',
      ],
      ['console', 'warning', 'The console and the admin API do not respond.'],
      [
        'reconcile',
        'warning',
        'The ledger is not compared with the service, and lost webhooks are not repaired.',
      ],
    ] as const
  ).map(
    ([name, severity, undone]): Row => [
      `no process with the role ${name}`,
      { missingRoles: [role(name)] },
      {
        severity,
        sentence: `No process has the role ${name}. web-1:17, the last one, has not reported since 2026-11-21 11:57 UTC and did not stop cleanly. ${undone}`,
        nextStep: start(`the role ${name}`),
      },
    ],
  ),
  [
    'no process with a role of another version',
    { missingRoles: [role('painter')] },
    {
      sentence:
        'No process has the role painter. web-1:17, the last one, has not reported since 2026-11-21 11:57 UTC and did not stop cleanly.',
      nextStep: start('the role painter'),
    },
  ],
];

const LAG_STEP =
  'Check that a process with the role reconcile runs; npx tallyhook reconcile shows why runs fail';
const RECONCILING: readonly Row[] = [
  [
    'a list that is read late',
    reconciliation({
      watermarks: [{ stream: 'refunds', atMs: ago(2 * HOUR_MS) }],
      // Requests of it failed, and do not any more.
      unusable: [
        { source: 'refunds', sinceMs: ago(2 * HOUR_MS), isOpen: false, isAccepted: false },
      ],
    }),
    {
      sentence:
        'The list of refunds is reconciled up to 2026-11-21 10:00 UTC only, 2 h ago. Changes since then that webhooks missed are not in the ledger.',
      nextStep: LAG_STEP,
      detail: { stream: 'refunds', watermark: '2026-11-21T10:00:00.000Z' },
    },
  ],
  [
    'a list that was never read to its end',
    reconciliation({ unread: [{ stream: 'disputes', sinceMs: ago(2 * HOUR_MS) }] }),
    {
      sentence:
        'The list of disputes was never read to its end, and nothing has been read of it since 2026-11-21 10:00 UTC, 2 h ago. What webhooks missed is not in the ledger.',
      nextStep: LAG_STEP,
      detail: { stream: 'disputes', watermark: null },
    },
  ],
  [
    'requests that fail, the longest first',
    reconciliation({
      unusable: [
        { source: 'refresh', sinceMs: ago(20 * MINUTE_MS), isOpen: true, isAccepted: false },
        { source: 'disputes', sinceMs: ago(HOUR_MS), isOpen: true, isAccepted: false },
      ],
    }),
    {
      severity: 'critical',
      sentence:
        'The payment service has failed or refused some requests since 2026-11-21 11:00 UTC: the list of disputes, retrieves. Changes there that webhooks miss are not found; the rest is reconciled.',
      nextStep:
        'npx tallyhook doctor shows whether the address, the key or the service is the cause; npx tallyhook findings list --class service_unusable shows the reasons',
      detail: { since: '2026-11-21T11:00:00.000Z', requests: ['disputes', 'refresh'] },
    },
  ],
  [
    'a rate limit that is used up, until a window without one (rule 1)',
    { exhaustedMinutes: 1, ...open('rate_limit_exhausted') },
    {
      sentence:
        'In 1 minute of the last 15 the rate limit of the payment service was exhausted. The service rejects requests of the shop, too, and reconciliation waits.',
      nextStep:
        'Find the program that uses the API key so often, or request a higher limit from the service',
    },
  ],
];

const days = (existing: string): Text => ({
  sentence: `${existing}; Tallyhook makes them a week ahead, every hour. Events of a day without one are refused with 503, unless the receiver can make it.`,
  nextStep:
    'Check that a process with the role scheduler runs; npx tallyhook doctor shows missing rights, and the log shows why body_days failed',
});
const unproven = (named: string): Text => ({
  sentence: `${named} of the ledger (resources, orders or events) failed the last run of verify: the stored amounts or states do not follow from what was received. Tallyhook never repairs the ledger by itself after such a failure.`,
  nextStep: 'npx tallyhook verify names each of them, and the command to run next',
});
const CHAIN = { ...HEALTHY.chain, unchained: 1, oldestAgeSeconds: 3_600 };

const STORED: readonly Row[] = [
  [
    'retention that is behind, by the longest',
    {
      retention: [
        { name: 'events', behindMs: 3 * DAY_MS },
        { name: 'changes', behindMs: 5 * DAY_MS },
      ],
    },
    {
      sentence:
        'Retention has not removed everything that is past its days for 5 d: events, changes. The disk grows. Nothing is lost, and webhooks continue.',
      nextStep:
        'Run npx tallyhook retention show, then npx tallyhook retention run at a quiet time; the runbook has the causes',
    },
  ],
  ['no partition today', { bodyDaysAhead: -1 }, days('Today has no partition for bodies')],
  ['none tomorrow', { bodyDaysAhead: 0 }, days('Bodies have partitions for 0 days after today')],
  ['one day', { bodyDaysAhead: 1 }, days('Bodies have partitions for 1 day after today')],
  [
    'damaged bodies',
    { damagedBodies: [{ eventId: 12, day: '2026-11-20' }] },
    {
      sentence:
        'Stored bodies differ from what was received: event 12 (2026-11-20); there may be more. Their days are neither packed nor removed. Do not replay these events. Webhooks and other days continue.',
      nextStep:
        'Run npx tallyhook verify --full, which names every damaged row; then restore the bodies from a backup, or erase them, as the runbook describes under body_damaged',
    },
  ],
  ['one row that fails verify', { proof: { failures: 1, due: 0 } }, unproven('1 row')],
  [
    'rows that are checked again',
    { proof: { failures: 0, due: 9 }, ...open('verify_failed') },
    unproven('Some rows'),
  ],
  [
    'a transfer that is not chained',
    { chain: { ...CHAIN, lastBlockAgeSeconds: 900 } },
    {
      sentence:
        '1 transfer of the journal is not chained, and no block was appended for 15 min. A change of these transfers in the database would not be found by the chain. Webhooks and the ledger continue.',
      nextStep:
        'Run npx tallyhook schedule list and read the log of the scheduler for the schedule chain; a transaction that stays open in the database holds it up, too',
      detail: { unchained: 1, idleMs: 15 * MINUTE_MS },
    },
  ],
  [
    'transfers without a first block since a process began to watch (rule 2)',
    {
      chain: { ...CHAIN, unchained: 2, lastBlockAgeSeconds: null },
      watchingSinceMs: ago(20 * MINUTE_MS),
    },
    {
      sentence: expect.stringMatching(
        /^2 transfers of the journal are not chained, and no block was appended for 20 min\./,
      ),
      nextStep: expect.stringContaining('npx tallyhook schedule list'),
    },
  ],
  [
    'an erasure that is not done',
    { openErasure: { id: 7, requestedMs: ago(3 * DAY_MS) } },
    {
      sentence: 'Erasure 7 was requested 3 d ago and is not done: personal data is still stored.',
      nextStep:
        'Run npx tallyhook events list --state pending: the erasure waits for these events; npx tallyhook doctor checks what applies and erases them',
    },
  ],
];

describe.each([
  ['webhooks', WEBHOOKS],
  ['events', EVENTS],
  ['processes', PROCESSES],
  ['reconciliation', RECONCILING],
  ['stored data', STORED],
])('an alert about %s states what happened and what to do', (_about, rows) => {
  test.each(rows)('%s', (_name, changes, text) => {
    expect(alertsOf(changes)).toMatchObject([text]);
  });
});

test('a transfer is not late while no process has watched for a quarter of an hour (rule 2)', () => {
  const chain = { ...CHAIN, lastBlockAgeSeconds: null };
  expect(alertsOf({ chain, watchingSinceMs: ago(15 * MINUTE_MS - SECOND_MS) })).toEqual([]);
});

test('without a key nothing is known of changes, so webhooks have not stopped (rule 4)', () => {
  const facts = { missedSinceLastWebhook: 9, lastWebhookMs: ago(DAY_MS) };
  expect(alertsOf({ ...facts, reconciliation: undefined })).toEqual([]);
});

test.each<[string, Rule, Partial<SystemFacts>]>([
  ['receiver', 'webhooks_stopped', { lastWebhookMs: ago(DAY_MS), missedSinceLastWebhook: 9 }],
  [
    'reconcile',
    'reconciliation_lag',
    reconciliation({ watermarks: [{ stream: 'refunds', atMs: ago(2 * HOUR_MS) }] }),
  ],
  ['scheduler', 'chain_behind', { chain: { ...CHAIN, lastBlockAgeSeconds: 3_600 } }],
])(
  'the missing role %s explains %s, unless its alert is open already (rule 3)',
  (name, rule, changes) => {
    const rules = (facts: Partial<SystemFacts>) =>
      alertsOf({ ...changes, ...facts }).map((alert) => alert.rule);
    const missing = { missingRoles: [role(name)] };
    expect(rules({})).toEqual([rule]);
    expect(rules(missing)).toEqual(['role_not_running']);
    expect(rules({ ...missing, ...open(rule) }).toSorted()).toEqual(
      [rule, 'role_not_running'].toSorted(),
    );
  },
);

test('a role is missing if a process had it and none that reports has it for two minutes', () => {
  const seen = (...roles: readonly string[]) => ({ roles, isSeen: true });
  const gone = (...roles: readonly string[]) => ({ roles, isSeen: false });
  expect(missingRoles([gone('receiver', 'events', 'alerts'), seen('events', 'console')])).toEqual([
    'alerts',
    'receiver',
  ]);
  expect(missingRoles([seen('events')])).toEqual([]);
  expect(ROLE_MISSING_FOR_MS).toBe(2 * MINUTE_MS);
});

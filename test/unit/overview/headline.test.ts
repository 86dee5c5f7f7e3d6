/** The sentence at the top of the overview. */
import { expect, test } from 'vitest';
import { type FlowFacts, headlineOf } from '../../../src/overview/domain/headline.ts';
import { roughly } from '../../../src/representation/roughly.ts';

const CALM: FlowFacts = {
  secondsSinceEvent: 30,
  isSilent: false,
  rejected: 0,
  newest: { events: 3, foreign: 0, unapplied: 2 },
  pending: 0,
  oldestPendingSeconds: 0,
  applier: 'ready',
  dead: 0,
  isPaused: false,
  hasProcess: true,
  missingRoles: [],
  critical: 0,
  warnings: 0,
};

const FLOWING = 'Money is flowing: webhooks arrive and are applied.';
const START = '`npx tallyhook start --roles events` starts a process that applies them.';

test.each<[string, Partial<FlowFacts>, string, string]>([
  ['all is well', {}, 'good', `${FLOWING} Nothing waits for a person.`],
  ['no event yet', { secondsSinceEvent: undefined }, 'plain', 'No webhook has arrived yet.'],
  ['warnings are open', { warnings: 2 }, 'warn', `${FLOWING} 2 warnings.`],
  [
    'several things are wrong',
    { critical: 1, warnings: 1, dead: 3, isPaused: true },
    'bad',
    `1 critical alert, 1 warning, 3 dead events and reconciliation is paused. ${FLOWING}`,
  ],
  [
    'roles that no process has',
    { missingRoles: ['reconcile', 'scheduler'], warnings: 1 },
    'bad',
    `No process has the roles reconcile, scheduler and 1 warning. ${FLOWING}`,
  ],
  [
    'nothing applies events, however short they have waited',
    { missingRoles: ['events'], applier: 'none', pending: 4, oldestPendingSeconds: 9 },
    'bad',
    `No process has the role events. Webhooks arrive and are not applied: 4 pending, the oldest for 9 seconds. ${START}`,
  ],
  [
    'nothing applies events, and none has arrived since',
    { missingRoles: ['events'], applier: 'none' },
    'bad',
    `No process has the role events. Webhooks arrive and are not applied: none is pending yet. ${START}`,
  ],
  [
    'webhooks wait, and what applied them was stopped',
    { applier: 'none', pending: 4, oldestPendingSeconds: 31 },
    'bad',
    `Webhooks arrive and are not applied: 4 pending, the oldest for 31 seconds. ${START}`,
  ],
  [
    'webhooks wait for a restart',
    { applier: 'none', pending: 4, oldestPendingSeconds: 30 },
    'good',
    `${FLOWING} Nothing waits for a person.`,
  ],
  [
    'what applies webhooks was stopped, and none waits',
    { applier: 'none' },
    'good',
    `${FLOWING} Nothing waits for a person.`,
  ],
  [
    'webhooks wait, and what applies them is not ready',
    { applier: 'not_ready', pending: 1, oldestPendingSeconds: 31 },
    'bad',
    'Webhooks arrive and are not applied: 1 pending, the oldest for 31 seconds. No process with the role events is ready: `npx tallyhook processes` has the reason.',
  ],
  [
    'nothing receives or applies webhooks',
    { missingRoles: ['events', 'receiver'], applier: 'none', pending: 1, oldestPendingSeconds: 1 },
    'bad',
    `No process has the roles events, receiver. Webhooks are not received. 1 webhook waits to be applied, the oldest for 1 second. ${START}`,
  ],
  [
    'deliveries are rejected, and others wait',
    { rejected: 9, applier: 'none', pending: 2, oldestPendingSeconds: 60 },
    'warn',
    `No webhook has verified for 30 seconds: 9 in the last hour had a signature that matches no secret. 2 webhooks wait to be applied, the oldest for 60 seconds. ${START}`,
  ],
  [
    'every process was stopped while webhooks wait',
    { hasProcess: false, applier: 'none', pending: 2, oldestPendingSeconds: 60 },
    'bad',
    'Webhooks are not received: no process runs. The last one arrived 30 seconds ago. 2 webhooks wait to be applied, the oldest for 60 seconds. `npx tallyhook start` starts one with all roles.',
  ],
  [
    'nothing receives webhooks, shortly after the last one',
    { missingRoles: ['receiver'] },
    'bad',
    'No process has the role receiver. Webhooks are not received.',
  ],
  [
    'every process was stopped',
    { hasProcess: false, secondsSinceEvent: 864_000, critical: 1 },
    'bad',
    '1 critical alert. Webhooks are not received: no process runs. The last one arrived 10 days ago. `npx tallyhook start` starts one with all roles.',
  ],
  [
    'no process has ever run',
    { hasProcess: false, secondsSinceEvent: undefined },
    'plain',
    'No webhook has arrived yet.',
  ],
  [
    'events are not applied',
    { pending: 7, oldestPendingSeconds: 900 },
    'bad',
    'Webhooks arrive and are not applied: 7 pending, the oldest for 15 minutes.',
  ],
  [
    'every process was stopped, and nothing alerts yet',
    { hasProcess: false, secondsSinceEvent: 60 },
    'bad',
    'Webhooks are not received: no process runs. The last one arrived 60 seconds ago. `npx tallyhook start` starts one with all roles.',
  ],
  [
    'events wait for five minutes',
    { pending: 7, oldestPendingSeconds: 300 },
    'good',
    `${FLOWING} Nothing waits for a person.`,
  ],
  [
    'six quiet hours',
    { secondsSinceEvent: 6 * 3600 },
    'good',
    `${FLOWING} Nothing waits for a person.`,
  ],
  ['silence', { secondsSinceEvent: 7 * 3600 }, 'warn', 'No webhook for 7 hours.'],
  [
    'the last events are of another account',
    { newest: { events: 3, foreign: 3, unapplied: 3 }, warnings: 1 },
    'bad',
    'Webhooks arrive and are not applied: the last 3 belong to another merchant account. 1 warning.',
  ],
  [
    'the only event is of another account',
    { newest: { events: 1, foreign: 1, unapplied: 1 } },
    'bad',
    'Webhooks arrive and are not applied: the last one belongs to another merchant account.',
  ],
  [
    'the last events are dead, unreadable or of another account',
    { newest: { events: 3, foreign: 1, unapplied: 3 }, dead: 2 },
    'bad',
    'Webhooks arrive and are not applied: the last 3 could not be. 2 dead events.',
  ],
  [
    'no event is processed yet',
    { newest: { events: 0, foreign: 0, unapplied: 0 } },
    'good',
    `${FLOWING} Nothing waits for a person.`,
  ],
  [
    'all deliveries since the last verified one are rejected',
    { secondsSinceEvent: 16 * 60, rejected: 9 },
    'warn',
    'No webhook has verified for 16 minutes: 9 in the last hour had a signature that matches no secret.',
  ],
  [
    'all deliveries are rejected, and an alert reports it',
    { secondsSinceEvent: undefined, rejected: 1, critical: 1 },
    'bad',
    '1 critical alert. No webhook has verified yet: 1 in the last hour had a signature that matches no secret.',
  ],
  [
    'silence that an alert reports',
    { secondsSinceEvent: 1200, isSilent: true, critical: 1 },
    'bad',
    '1 critical alert. No webhook for 20 minutes.',
  ],
  [
    'silence with a critical alert',
    { secondsSinceEvent: 7 * 3600, critical: 1 },
    'bad',
    '1 critical alert. No webhook for 7 hours.',
  ],
])('%s', (_name, facts, tone, text) => {
  expect(headlineOf({ ...CALM, ...facts })).toEqual({ tone, text });
});

test.each([
  [0.2, 'less than a second'],
  [1, '1 second'],
  [90, '90 seconds'],
  [119 * 60, '119 minutes'],
  [3 * 86_400, '3 days'],
])('%d seconds are written as %s', (seconds, text) => {
  expect(roughly(seconds)).toBe(text);
});

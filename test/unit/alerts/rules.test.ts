/** Each rule as a table: the facts before and now, and the alerts that are active, resolved or sent once. */
import { describe, expect, test } from 'vitest';
import type { SubjectAlerts } from '../../../src/alerts/domain/alert.ts';
import type { ResourceFacts } from '../../../src/alerts/domain/facts.ts';
import { holdAlerts } from '../../../src/alerts/domain/rules/authorization.ts';
import { resourceAlerts } from '../../../src/alerts/domain/rules/resource.ts';
import { DAY_MS, HOUR_MS } from '../../../src/platform/time.ts';
import { facts, NOW_MS } from './facts.ts';

/** Short forms: `rule variant severity` of active and one-time alerts, and the rules that resolve alerts. */
interface Expected {
  readonly active?: readonly string[];
  readonly resolved?: readonly string[];
  readonly oneTime?: readonly string[];
}

function short(settled: readonly SubjectAlerts[]): Expected {
  const words = (alerts: SubjectAlerts['active'] = []) =>
    alerts.map(({ rule, variant, severity }) => `${rule} ${variant} ${severity}`);
  const active = settled.flatMap((one) => words(one.active));
  const oneTime = settled.flatMap((one) => words(one.oneTime));
  const resolved = settled
    .flatMap((one) => one.rules.filter((rule) => !one.active.some((alert) => alert.rule === rule)))
    .toSorted();
  return {
    ...(active.length > 0 && { active }),
    ...(resolved.length > 0 && { resolved }),
    ...(oneTime.length > 0 && { oneTime }),
  };
}

const NOTHING: Expected = {};
type Row = readonly [name: string, facts: ResourceFacts, expected: Expected];

const D = { kind: 'dispute' } as const;
const at = (status: string, stage = 'dispute') => ({ status, stage });
const NO_DEADLINE = ['dispute_deadline', 'dispute_lost'];
/** Seven days after the beginning of the stage. */
const ASSUMED_MS = NOW_MS + 6 * DAY_MS;
const ALL_OVER = ['dispute_deadline', 'dispute_lost', 'dispute_opened'];

const DISPUTES: readonly Row[] = [
  [
    'opened',
    facts({ ...D, ...at('opened') }),
    { active: ['dispute_opened dispute critical'], resolved: NO_DEADLINE },
  ],
  [
    'opened without a stage',
    facts({ ...D, status: 'opened' }),
    { active: ['dispute_opened  critical'], resolved: NO_DEADLINE },
  ],
  [
    'opened, imported',
    facts({ ...D, ...at('opened'), isHistory: true }),
    { active: ['dispute_opened dispute critical'], resolved: NO_DEADLINE },
  ],
  [
    'an inquiry by the bank',
    facts({ ...D, ...at('opened', 'pre_dispute') }),
    { active: ['dispute_opened pre_dispute critical'], resolved: NO_DEADLINE },
  ],
  [
    'still opened',
    facts({ ...D, ...at('opened'), before: at('opened') }),
    { active: ['dispute_opened dispute critical'], resolved: ['dispute_lost'] },
  ],
  [
    'still opened, the deadline moved away from all thresholds',
    facts({
      ...D,
      ...at('opened'),
      deadlineMs: NOW_MS + 8 * DAY_MS,
      before: { ...at('opened'), deadlineMs: NOW_MS + DAY_MS },
    }),
    { active: ['dispute_opened dispute critical'], resolved: NO_DEADLINE },
  ],
  [
    'still opened, the deadline moved within a threshold',
    facts({
      ...D,
      ...at('opened'),
      deadlineMs: NOW_MS + 2 * DAY_MS,
      before: { ...at('opened'), deadlineMs: NOW_MS + 10 * DAY_MS },
    }),
    {
      active: [
        'dispute_opened dispute critical',
        'dispute_deadline 2026-11-23T12:00:00.000Z warning',
      ],
      resolved: ['dispute_lost'],
    },
  ],
  [
    'still opened, the service confirms the assumed deadline within an hour',
    facts({ ...D, ...at('opened'), deadlineMs: ASSUMED_MS + HOUR_MS - 1, before: at('opened') }),
    { active: ['dispute_opened dispute critical'], resolved: ['dispute_lost'] },
  ],
  [
    'still opened, the service names another deadline than the assumed one',
    facts({ ...D, ...at('opened'), deadlineMs: ASSUMED_MS + HOUR_MS, before: at('opened') }),
    {
      active: [
        'dispute_opened dispute critical',
        'dispute_deadline 2026-11-27T13:00:00.000Z warning',
      ],
      resolved: ['dispute_lost'],
    },
  ],
  ...[ASSUMED_MS, undefined].map(
    (deadlineMs): Row => [
      `still opened, and the deadline of the service is replaced by ${deadlineMs === undefined ? 'none' : 'the one that would be assumed'}`,
      facts({
        ...D,
        ...at('opened'),
        deadlineMs,
        before: { ...at('opened'), deadlineMs: NOW_MS + 10 * DAY_MS },
      }),
      {
        active: [
          'dispute_opened dispute critical',
          'dispute_deadline 2026-11-27T12:00:00.000Z warning',
        ],
        resolved: ['dispute_lost'],
      },
    ],
  ),
  [
    'at a later stage, with a deadline within a threshold: the opening alert has it',
    facts({
      ...D,
      ...at('opened', 'arbitration'),
      deadlineMs: NOW_MS + DAY_MS,
      before: { ...at('opened'), deadlineMs: NOW_MS + 10 * DAY_MS },
    }),
    { active: ['dispute_opened arbitration critical'], resolved: NO_DEADLINE },
  ],
  [
    'at a later stage',
    facts({ ...D, ...at('opened', 'arbitration'), before: at('opened') }),
    { active: ['dispute_opened arbitration critical'], resolved: NO_DEADLINE },
  ],
  [
    'lost, and back at a later stage',
    facts({ ...D, ...at('opened', 'pre_arbitration'), before: at('lost') }),
    { active: ['dispute_opened pre_arbitration critical'], resolved: NO_DEADLINE },
  ],
  [
    'challenged',
    facts({ ...D, ...at('challenged'), before: at('opened') }),
    { oneTime: ['dispute_changed dispute/challenged info'], resolved: ALL_OVER },
  ],
  [
    'first observed as challenged',
    facts({ ...D, ...at('challenged') }),
    { oneTime: ['dispute_changed dispute/challenged warning'], resolved: ALL_OVER },
  ],
  [
    'challenged, at a later stage',
    facts({ ...D, ...at('challenged', 'arbitration'), before: at('challenged') }),
    { oneTime: ['dispute_changed arbitration/challenged info'], resolved: ALL_OVER },
  ],
  [
    'still challenged',
    facts({ ...D, ...at('challenged'), before: at('challenged') }),
    { resolved: ALL_OVER },
  ],
  [
    'won',
    facts({ ...D, ...at('won'), before: at('challenged') }),
    { oneTime: ['dispute_won dispute info'], resolved: ALL_OVER },
  ],
  [
    'won after it was lost',
    facts({ ...D, ...at('won'), before: at('lost') }),
    { oneTime: ['dispute_won dispute info'], resolved: ALL_OVER },
  ],
  ['still won', facts({ ...D, ...at('won'), before: at('won') }), { resolved: ALL_OVER }],
  ['won, imported', facts({ ...D, ...at('won'), isHistory: true }), { resolved: ALL_OVER }],
  [
    'cancelled',
    facts({ ...D, ...at('cancelled'), before: at('opened') }),
    { oneTime: ['dispute_cancelled dispute info'], resolved: ALL_OVER },
  ],
  [
    'lost',
    facts({ ...D, ...at('lost'), before: at('challenged') }),
    {
      active: ['dispute_lost dispute/lost warning'],
      resolved: ['dispute_deadline', 'dispute_opened'],
    },
  ],
  [
    'expired',
    facts({ ...D, ...at('expired'), before: at('opened') }),
    {
      active: ['dispute_lost dispute/expired warning'],
      resolved: ['dispute_deadline', 'dispute_opened'],
    },
  ],
  [
    'accepted',
    facts({ ...D, ...at('accepted'), before: at('opened') }),
    {
      active: ['dispute_lost dispute/accepted info'],
      resolved: ['dispute_deadline', 'dispute_opened'],
    },
  ],
  [
    'lost, first observed within days',
    facts({ ...D, ...at('lost') }),
    {
      active: ['dispute_lost dispute/lost warning'],
      resolved: ['dispute_deadline', 'dispute_opened'],
    },
  ],
  ['lost, imported', facts({ ...D, ...at('lost'), isHistory: true }), { resolved: ALL_OVER }],
  [
    'still lost: no change',
    facts({ ...D, ...at('lost'), before: at('lost') }),
    { resolved: ['dispute_deadline', 'dispute_opened'] },
  ],
  [
    'an unknown status: active alerts stay',
    facts({ ...D, ...at('pondered'), before: at('opened') }),
    { oneTime: ['dispute_changed dispute/pondered warning'] },
  ],
  [
    'opened again, while a body without a version reports that it was won: alerts stay',
    facts({ ...D, ...at('opened'), before: at('won'), statusAhead: 'won' }),
    NOTHING,
  ],
  [
    'challenged again, while a body without a version reports that it was lost: alerts stay',
    facts({ ...D, ...at('challenged'), before: at('lost'), statusAhead: 'lost' }),
    NOTHING,
  ],
  [
    'opened again, and no body contradicts',
    facts({ ...D, ...at('opened'), before: at('won') }),
    { active: ['dispute_opened dispute critical'], resolved: NO_DEADLINE },
  ],
  [
    'still opened, while a body without a version reports that it was lost: alerts stay',
    facts({ ...D, ...at('opened'), before: at('opened'), statusAhead: 'lost' }),
    NOTHING,
  ],
  [
    'challenged, while a body without a version reports that it was won: alerts stay',
    facts({ ...D, ...at('challenged'), before: at('opened'), statusAhead: 'won' }),
    NOTHING,
  ],
  [
    'lost after it was won, while a body without a version reports that: one decision replaces the other',
    facts({ ...D, ...at('lost'), before: at('won'), statusAhead: 'won' }),
    {
      active: ['dispute_lost dispute/lost warning'],
      resolved: ['dispute_deadline', 'dispute_opened'],
    },
  ],
  [
    'opened at a later stage, where a body without a version reports that it was lost',
    facts({ ...D, ...at('opened', 'arbitration'), before: at('won'), statusAhead: 'lost' }),
    { active: ['dispute_opened arbitration critical'], resolved: NO_DEADLINE },
  ],
  [
    'first observed, without a stage, while a body without a version reports a decision',
    facts({ ...D, status: 'opened', statusAhead: 'won' }),
    { active: ['dispute_opened  critical'], resolved: NO_DEADLINE },
  ],
  ['no status yet', facts({ ...D }), NOTHING],
];

const P = { kind: 'payout' } as const;
const PAYOUTS: readonly Row[] = [
  ['under way', facts({ ...P, status: 'initiated' }), NOTHING],
  ['paid', facts({ ...P, status: 'success', before: { status: 'initiated' } }), NOTHING],
  ...['failed', 'cancelled', 'expired', 'ineligible'].map(
    (status): Row => [
      status,
      facts({ ...P, status, before: { status: 'pending' } }),
      { active: [`payout_failed ${status} warning`] },
    ],
  ),
  [
    'first observed as failed',
    facts({ ...P, status: 'failed' }),
    { active: ['payout_failed failed warning'] },
  ],
  [
    'paid according to a response that may lag behind a body that reports the failure: no change',
    facts({ ...P, status: 'success', before: { status: 'failed' }, statusAhead: 'failed' }),
    NOTHING,
  ],
  [
    'reversed',
    facts({ ...P, status: 'reversed', before: { status: 'success' } }),
    { active: ['payout_failed reversed critical'] },
  ],
  [
    'first observed as reversed',
    facts({ ...P, status: 'reversed' }),
    { active: ['payout_failed reversed critical'] },
  ],
  [
    'failed after success',
    facts({ ...P, status: 'failed', before: { status: 'success' } }),
    { active: ['payout_failed failed critical'] },
  ],
  [
    'still failed: no change',
    facts({ ...P, status: 'failed', before: { status: 'failed' } }),
    NOTHING,
  ],
  [
    'failed, imported',
    facts({ ...P, status: 'failed', isHistory: true }),
    { resolved: ['payout_failed'] },
  ],
  [
    'in transit again',
    facts({ ...P, status: 'initiated', before: { status: 'failed' } }),
    { resolved: ['payout_failed'] },
  ],
];

const R = { kind: 'refund' } as const;
const REFUNDS: readonly Row[] = [
  ['under way', facts({ ...R, status: 'pending' }), NOTHING],
  ['done', facts({ ...R, status: 'succeeded', before: { status: 'pending' } }), NOTHING],
  [
    'failed',
    facts({ ...R, status: 'failed', before: { status: 'pending' } }),
    { active: ['refund_failed  warning'] },
  ],
  [
    'failed after it succeeded',
    facts({ ...R, status: 'failed', before: { status: 'succeeded' } }),
    { active: ['refund_failed  critical'] },
  ],
  [
    'still failed: no change',
    facts({ ...R, status: 'failed', before: { status: 'failed' } }),
    NOTHING,
  ],
  [
    'succeeded after it failed',
    facts({ ...R, status: 'succeeded', before: { status: 'failed' } }),
    { resolved: ['refund_failed'] },
  ],
  [
    'succeeded according to a response that may lag behind a body that reports the failure: no change',
    facts({ ...R, status: 'succeeded', before: { status: 'failed' }, statusAhead: 'failed' }),
    NOTHING,
  ],
  [
    'failed, imported',
    facts({ ...R, status: 'failed', isHistory: true }),
    { resolved: ['refund_failed'] },
  ],
];

const M = { kind: 'payment' } as const;
const late = (days: number) => ({ createdMs: NOW_MS - days * DAY_MS - 1 });
const PAYMENTS: readonly Row[] = [
  ['paid at once', facts({ ...M, status: 'succeeded' }), NOTHING],
  [
    'paid after processing',
    facts({ ...M, status: 'succeeded', before: { status: 'processing', termDays: 7 } }),
    NOTHING,
  ],
  [
    'within its term',
    facts({ ...M, status: 'processing', termDays: 7, createdMs: NOW_MS - 7 * DAY_MS }),
    NOTHING,
  ],
  [
    'past its term',
    facts({ ...M, status: 'processing', termDays: 7, ...late(7) }),
    { active: ['payment_stuck  warning'] },
  ],
  [
    'past its term, imported',
    facts({ ...M, status: 'processing', termDays: 7, ...late(7), isHistory: true }),
    { active: ['payment_stuck  warning'] },
  ],
  [
    'past its term, then in a status with a longer one',
    facts({
      ...M,
      status: 'processing',
      termDays: 7,
      ...late(4),
      before: { status: 'review', termDays: 3 },
    }),
    { resolved: ['payment_stuck'] },
  ],
  [
    'final after it was overdue',
    facts({ ...M, status: 'succeeded', ...late(7), before: { status: 'processing', termDays: 7 } }),
    { resolved: ['payment_stuck'] },
  ],
  [
    'final, created at an unknown time',
    facts({
      ...M,
      status: 'succeeded',
      createdMs: undefined,
      before: { status: 'processing', termDays: 7 },
    }),
    { resolved: ['payment_stuck'] },
  ],
  [
    'within its term, created at an unknown time',
    facts({
      ...M,
      status: 'processing',
      termDays: 7,
      createdMs: undefined,
      before: { status: 'processing', termDays: 7 },
    }),
    { resolved: ['payment_stuck'] },
  ],
  [
    'past its term, created at an unknown time',
    facts({
      ...M,
      status: 'processing',
      termDays: 7,
      createdMs: undefined,
      termSinceMs: NOW_MS - 7 * DAY_MS - 1,
    }),
    { active: ['payment_stuck  warning'] },
  ],
  [
    'created long before its term',
    facts({ ...M, status: 'processing', termDays: 7, ...late(30), termSinceMs: NOW_MS }),
    NOTHING,
  ],
  [
    'within a term that a late body moved, with a finding that is open',
    facts({ ...M, status: 'processing', termDays: 7, isOverdue: true }),
    { active: ['payment_stuck  warning'] },
  ],
  [
    'a payout past its term',
    facts({
      ...P,
      status: 'pending',
      termDays: 7,
      ...late(7),
      before: { status: 'initiated', termDays: 7 },
    }),
    { active: ['payout_stuck  warning'] },
  ],
  [
    'a refund past its term',
    facts({ ...R, status: 'review', termDays: 14, ...late(14) }),
    { active: ['refund_stuck  warning'] },
  ],
  [
    'a hold that lapsed',
    facts({
      ...M,
      status: 'expired',
      authorizedMinor: 6540,
      before: { status: 'requires_capture' },
    }),
    {
      oneTime: ['authorization_expired  warning'],
      resolved: ['authorization_expired', 'authorization_expiring'],
    },
  ],
  [
    'captured in part, without a readable amount of the hold',
    facts({
      ...M,
      status: 'partially_captured',
      before: { status: 'partially_captured_and_processing' },
    }),
    { resolved: ['authorization_expired', 'authorization_expiring'] },
  ],
  [
    'expired without a hold',
    facts({ ...M, status: 'expired', before: { status: 'requires_customer_action' } }),
    NOTHING,
  ],
  [
    'a hold that was captured',
    facts({ ...M, status: 'succeeded', before: { status: 'requires_capture' } }),
    { resolved: ['authorization_expired', 'authorization_expiring'] },
  ],
  [
    'a hold that was partially captured',
    facts({
      ...M,
      status: 'partially_captured_and_capturable',
      before: { status: 'requires_capture' },
    }),
    NOTHING,
  ],
];

describe.each([
  ['disputes', DISPUTES],
  ['payouts', PAYOUTS],
  ['refunds', REFUNDS],
  ['payments, and terms of all kinds', PAYMENTS],
])('%s', (_, rows) => {
  test.each(rows)('%s', (_name, changed, expected) => {
    expect(short(resourceAlerts(changed, NOW_MS))).toEqual(expected);
  });
});

test.each([
  [48, 'authorization_expiring', 'warning'],
  [24, 'authorization_expiring', 'warning'],
  [6, 'authorization_expiring', 'critical'],
  [1, 'authorization_expiring', 'critical'],
  [0, 'authorization_expired', 'critical'],
] as const)('a hold %i h before its deadline raises %s, %s', (thresholdHours, rule, severity) => {
  const hold = {
    paymentId: 'pay_1',
    orderId: '1001',
    status: 'requires_capture',
    currency: 'USD',
    capturableMinor: 6540,
    deadlineMs: NOW_MS,
    thresholdHours,
    isConfirmed: true,
    attempt: undefined,
  };
  const { active, rules } = holdAlerts('pay_1', hold);
  expect(active).toMatchObject([{ rule, severity, variant: '2026-11-21T12:00:00.000Z' }]);
  expect(rules).toEqual(['authorization_expiring', 'authorization_expired']);
  expect(holdAlerts('pay_1', undefined)).toMatchObject({ rules, active: [] });
});

/** Each rule as a table: what was and is, and what stands, ends and is told because of it. */
import { describe, expect, test } from 'vitest';
import type { SubjectAlerts } from '../../../src/alerts/domain/alert.ts';
import type { ResourceFacts } from '../../../src/alerts/domain/facts.ts';
import { holdAlerts } from '../../../src/alerts/domain/rules/authorization.ts';
import { resourceAlerts } from '../../../src/alerts/domain/rules/resource.ts';
import { DAY_MS, facts, NOW_MS } from './facts.ts';

/** In short: `rule variant severity`, for what stands and what is news; rules that end something. */
interface Told {
  readonly stands?: readonly string[];
  readonly ends?: readonly string[];
  readonly oneTime?: readonly string[];
}

function short(settled: readonly SubjectAlerts[]): Told {
  const words = (alerts: SubjectAlerts['active'] = []) =>
    alerts.map(({ rule, variant, severity }) => `${rule} ${variant} ${severity}`);
  const stands = settled.flatMap(({ active }) => words(active));
  const oneTime = settled.flatMap((one) => words(one.oneTime));
  const ends = settled
    .flatMap(({ rules, active }) =>
      rules.filter((rule) => !active.some((alert) => alert.rule === rule)),
    )
    .toSorted();
  return {
    ...(stands.length > 0 && { stands }),
    ...(ends.length > 0 && { ends }),
    ...(oneTime.length > 0 && { oneTime }),
  };
}

const NOTHING: Told = {};
type Row = readonly [name: string, facts: ResourceFacts, told: Told];

const D = { kind: 'dispute' } as const;
const at = (status: string, stage = 'dispute') => ({ status, stage });
const NO_DEADLINE = ['dispute_deadline', 'dispute_lost'];
const ALL_OVER = ['dispute_deadline', 'dispute_lost', 'dispute_opened'];

const DISPUTES: readonly Row[] = [
  [
    'opened',
    facts({ ...D, ...at('opened') }),
    { stands: ['dispute_opened dispute critical'], ends: NO_DEADLINE },
  ],
  [
    'opened without a stage',
    facts({ ...D, status: 'opened' }),
    { stands: ['dispute_opened  critical'], ends: NO_DEADLINE },
  ],
  [
    'opened, imported',
    facts({ ...D, ...at('opened'), isHistory: true }),
    { stands: ['dispute_opened dispute critical'], ends: NO_DEADLINE },
  ],
  [
    'opened long ago, first heard of now',
    facts({ ...D, ...at('opened'), versionMs: NOW_MS - 90 * DAY_MS }),
    { stands: ['dispute_opened dispute critical'], ends: NO_DEADLINE },
  ],
  [
    'a question of the bank',
    facts({ ...D, ...at('opened', 'pre_dispute') }),
    { stands: ['dispute_opened pre_dispute critical'], ends: NO_DEADLINE },
  ],
  [
    'still opened',
    facts({ ...D, ...at('opened'), before: at('opened') }),
    { stands: ['dispute_opened dispute critical'], ends: ['dispute_lost'] },
  ],
  [
    'still opened, the deadline moved away from all thresholds',
    facts({
      ...D,
      ...at('opened'),
      deadlineMs: NOW_MS + 8 * DAY_MS,
      before: { ...at('opened'), deadlineMs: NOW_MS + DAY_MS },
    }),
    { stands: ['dispute_opened dispute critical'], ends: NO_DEADLINE },
  ],
  [
    'still opened, the deadline moved behind a threshold',
    facts({
      ...D,
      ...at('opened'),
      deadlineMs: NOW_MS + 2 * DAY_MS,
      before: { ...at('opened'), deadlineMs: NOW_MS + 10 * DAY_MS },
    }),
    {
      stands: [
        'dispute_opened dispute critical',
        'dispute_deadline 2026-11-23T12:00:00.000Z warning',
      ],
      ends: ['dispute_lost'],
    },
  ],
  [
    'on to a later stage, with a deadline behind a threshold: its opening says it',
    facts({
      ...D,
      ...at('opened', 'arbitration'),
      deadlineMs: NOW_MS + DAY_MS,
      before: { ...at('opened'), deadlineMs: NOW_MS + 10 * DAY_MS },
    }),
    { stands: ['dispute_opened arbitration critical'], ends: NO_DEADLINE },
  ],
  [
    'on to a later stage',
    facts({ ...D, ...at('opened', 'arbitration'), before: at('opened') }),
    { stands: ['dispute_opened arbitration critical'], ends: NO_DEADLINE },
  ],
  [
    'lost, and back at a later stage',
    facts({ ...D, ...at('opened', 'pre_arbitration'), before: at('lost') }),
    { stands: ['dispute_opened pre_arbitration critical'], ends: NO_DEADLINE },
  ],
  [
    'challenged',
    facts({ ...D, ...at('challenged'), before: at('opened') }),
    { oneTime: ['dispute_changed dispute/challenged info'], ends: ALL_OVER },
  ],
  [
    'first heard of as challenged',
    facts({ ...D, ...at('challenged') }),
    { oneTime: ['dispute_changed dispute/challenged warning'], ends: ALL_OVER },
  ],
  [
    'challenged, at a later stage',
    facts({ ...D, ...at('challenged', 'arbitration'), before: at('challenged') }),
    { oneTime: ['dispute_changed arbitration/challenged info'], ends: ALL_OVER },
  ],
  [
    'still challenged',
    facts({ ...D, ...at('challenged'), before: at('challenged') }),
    { ends: ALL_OVER },
  ],
  [
    'won',
    facts({ ...D, ...at('won'), before: at('challenged') }),
    { oneTime: ['dispute_won dispute info'], ends: ALL_OVER },
  ],
  [
    'won after it was lost',
    facts({ ...D, ...at('won'), before: at('lost') }),
    { oneTime: ['dispute_won dispute info'], ends: ALL_OVER },
  ],
  ['still won', facts({ ...D, ...at('won'), before: at('won') }), { ends: ALL_OVER }],
  ['won, imported', facts({ ...D, ...at('won'), isHistory: true }), { ends: ALL_OVER }],
  [
    'cancelled',
    facts({ ...D, ...at('cancelled'), before: at('opened') }),
    { oneTime: ['dispute_cancelled dispute info'], ends: ALL_OVER },
  ],
  [
    'lost',
    facts({ ...D, ...at('lost'), before: at('challenged') }),
    { stands: ['dispute_lost dispute/lost warning'], ends: ['dispute_deadline', 'dispute_opened'] },
  ],
  [
    'expired',
    facts({ ...D, ...at('expired'), before: at('opened') }),
    {
      stands: ['dispute_lost dispute/expired warning'],
      ends: ['dispute_deadline', 'dispute_opened'],
    },
  ],
  [
    'accepted',
    facts({ ...D, ...at('accepted'), before: at('opened') }),
    {
      stands: ['dispute_lost dispute/accepted info'],
      ends: ['dispute_deadline', 'dispute_opened'],
    },
  ],
  [
    'lost, first heard of within days',
    facts({ ...D, ...at('lost') }),
    { stands: ['dispute_lost dispute/lost warning'], ends: ['dispute_deadline', 'dispute_opened'] },
  ],
  [
    'lost long ago, first heard of now',
    facts({ ...D, ...at('lost'), versionMs: NOW_MS - 9 * DAY_MS }),
    { ends: ALL_OVER },
  ],
  ['lost, imported', facts({ ...D, ...at('lost'), isHistory: true }), { ends: ALL_OVER }],
  [
    'still lost: left alone',
    facts({ ...D, ...at('lost'), before: at('lost') }),
    { ends: ['dispute_deadline', 'dispute_opened'] },
  ],
  [
    'a status nobody knows: what stands goes on',
    facts({ ...D, ...at('pondered'), before: at('opened') }),
    { oneTime: ['dispute_changed dispute/pondered warning'] },
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
      { stands: [`payout_failed ${status} warning`] },
    ],
  ),
  [
    'first heard of as failed',
    facts({ ...P, status: 'failed' }),
    { stands: ['payout_failed failed warning'] },
  ],
  [
    'paid by an answer that may lag behind a body that reports the failure: left alone',
    facts({ ...P, status: 'success', before: { status: 'failed' }, isUncertain: true }),
    NOTHING,
  ],
  [
    'reversed',
    facts({ ...P, status: 'reversed', before: { status: 'success' } }),
    { stands: ['payout_failed reversed critical'] },
  ],
  [
    'first heard of as reversed',
    facts({ ...P, status: 'reversed' }),
    { stands: ['payout_failed reversed critical'] },
  ],
  [
    'failed after success',
    facts({ ...P, status: 'failed', before: { status: 'success' } }),
    { stands: ['payout_failed failed critical'] },
  ],
  [
    'still failed: left alone',
    facts({ ...P, status: 'failed', before: { status: 'failed' } }),
    NOTHING,
  ],
  [
    'failed, imported',
    facts({ ...P, status: 'failed', isHistory: true }),
    { ends: ['payout_failed'] },
  ],
  [
    'under way again',
    facts({ ...P, status: 'initiated', before: { status: 'failed' } }),
    { ends: ['payout_failed'] },
  ],
];

const R = { kind: 'refund' } as const;
const REFUNDS: readonly Row[] = [
  ['under way', facts({ ...R, status: 'pending' }), NOTHING],
  ['done', facts({ ...R, status: 'succeeded', before: { status: 'pending' } }), NOTHING],
  [
    'failed',
    facts({ ...R, status: 'failed', before: { status: 'pending' } }),
    { stands: ['refund_failed  warning'] },
  ],
  [
    'failed after it was done',
    facts({ ...R, status: 'failed', before: { status: 'succeeded' } }),
    { stands: ['refund_failed  critical'] },
  ],
  [
    'still failed: left alone',
    facts({ ...R, status: 'failed', before: { status: 'failed' } }),
    NOTHING,
  ],
  [
    'done after it failed',
    facts({ ...R, status: 'succeeded', before: { status: 'failed' } }),
    { ends: ['refund_failed'] },
  ],
  [
    'done by an answer that may lag behind a body that reports the failure: left alone',
    facts({ ...R, status: 'succeeded', before: { status: 'failed' }, isUncertain: true }),
    NOTHING,
  ],
  [
    'failed, imported',
    facts({ ...R, status: 'failed', isHistory: true }),
    { ends: ['refund_failed'] },
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
    { stands: ['payment_stuck  warning'] },
  ],
  [
    'past its term, imported',
    facts({ ...M, status: 'processing', termDays: 7, ...late(7), isHistory: true }),
    { stands: ['payment_stuck  warning'] },
  ],
  [
    'past its term, and on to a status that allows more',
    facts({
      ...M,
      status: 'processing',
      termDays: 7,
      ...late(4),
      before: { status: 'review', termDays: 3 },
    }),
    { ends: ['payment_stuck'] },
  ],
  [
    'over at last',
    facts({ ...M, status: 'succeeded', ...late(7), before: { status: 'processing', termDays: 7 } }),
    { ends: ['payment_stuck'] },
  ],
  [
    'over, created at an unknown time',
    facts({
      ...M,
      status: 'succeeded',
      createdMs: undefined,
      before: { status: 'processing', termDays: 7 },
    }),
    { ends: ['payment_stuck'] },
  ],
  [
    'looked at, created at an unknown time: what the hourly check says goes on',
    facts({
      ...M,
      status: 'processing',
      termDays: 7,
      createdMs: undefined,
      before: { status: 'processing', termDays: 7 },
    }),
    NOTHING,
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
    { stands: ['payout_stuck  warning'] },
  ],
  [
    'a refund past its term',
    facts({ ...R, status: 'review', termDays: 14, ...late(14) }),
    { stands: ['refund_stuck  warning'] },
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
      ends: ['authorization_expired', 'authorization_expiring'],
    },
  ],
  [
    'expired without a hold',
    facts({ ...M, status: 'expired', before: { status: 'requires_customer_action' } }),
    NOTHING,
  ],
  [
    'a hold that was captured',
    facts({ ...M, status: 'succeeded', before: { status: 'requires_capture' } }),
    { ends: ['authorization_expired', 'authorization_expiring'] },
  ],
  [
    'a hold of which a part was captured',
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
  test.each(rows)('%s', (_name, told, expected) => {
    expect(short(resourceAlerts(told, NOW_MS))).toEqual(expected);
  });
});

test.each([
  [48, 'authorization_expiring', 'warning'],
  [24, 'authorization_expiring', 'warning'],
  [6, 'authorization_expiring', 'critical'],
  [1, 'authorization_expiring', 'critical'],
  [0, 'authorization_expired', 'critical'],
] as const)(
  'a hold %i h before its deadline stands as %s, %s',
  (thresholdHours, rule, severity) => {
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
  },
);

/** The oracle of alerts: which alerts about watermarks and double payments it accepts as correct. */
import { describe, expect, test } from 'vitest';
import { HOUR_MS } from '../../../src/platform/time.ts';
import { evaluateAlerts, type State } from '../../support/alarmOracle.ts';

const alert = { rule: 'watermark_ahead', subject: 'list:refunds', variant: '' };
/** Set back by two hours at 10 h. */
const setBack = [
  { setMs: 0, shownMs: 0 },
  { setMs: 10 * HOUR_MS, shownMs: 8 * HOUR_MS },
];
const run = (stream: string, hours: number) => ({
  stream,
  startedMs: hours * HOUR_MS,
  watermarkMs: hours * HOUR_MS - 60_000,
});
const judge = (runs: readonly ReturnType<typeof run>[], alerts = [alert], clock = setBack) =>
  evaluateAlerts({ states: [], faults: {}, clock, runs, alerts });

test('a watermark is ahead once the clock was set to a time before it', () => {
  expect(judge([run('refunds', 9)])).toMatchObject({ falseAlerts: [], duplicates: [] });
});

test('a watermark is not ahead if the clock was set to a later time, or never set back', () => {
  const falseAlerts = [alert];
  expect(judge([run('refunds', 7)])).toMatchObject({ falseAlerts });
  expect(judge([run('refunds', 9)], [alert], setBack.slice(0, 1))).toMatchObject({ falseAlerts });
});

test('a watermark of another list, or of a run after the clock was set, justifies no alert', () => {
  expect(judge([run('payouts', 9)])).toMatchObject({ falseAlerts: [alert] });
  expect(judge([{ ...run('refunds', 9), startedMs: 11 * HOUR_MS }])).toMatchObject({
    falseAlerts: [alert],
  });
});

test('a watermark that is ahead once justifies one alert', () => {
  const { duplicates } = judge([run('refunds', 9), run('refunds', 9.5)], [alert, alert]);
  expect(duplicates).toEqual(['watermark_ahead list:refunds : opened 2 times in 1 episodes']);
});

describe('a second payment of an order', () => {
  const FIRST: State = {
    kind: 'payment',
    id: 'pay_1',
    paymentId: 'pay_1',
    orderId: 'ord_1',
    status: 'succeeded',
    stage: null,
    currency: 'USD',
    amount: 100,
    received: 100,
    fromMs: 0,
    untilMs: Number.POSITIVE_INFINITY,
  };
  const SECOND: State = { ...FIRST, id: 'pay_2', paymentId: 'pay_2', fromMs: 10 };
  const part = (fields: Partial<State>): State => ({
    ...FIRST,
    kind: 'refund',
    id: 'ref_1',
    paymentId: 'pay_1',
    orderId: null,
    amount: 100,
    received: 0,
    fromMs: 5,
    ...fields,
  });
  const lost = { kind: 'dispute', id: 'dp_1', status: 'lost', stage: 'dispute' } as const;
  const twice = { rule: 'double_paid', subject: 'order:order:ord_1', variant: '' };
  const evaluate = (states: readonly State[], alerts = [twice]) =>
    evaluateAlerts({ states, faults: {}, clock: [], runs: [], alerts });

  test.each<[string, Partial<State>]>([
    ['a refund', {}],
    ['a lost dispute', lost],
  ])('justifies no alert once %s returned the first', (_what, fields) => {
    expect(evaluate([FIRST, SECOND, part(fields)])).toMatchObject({ falseAlerts: [twice] });
    expect(evaluate([FIRST, SECOND, part(fields)], []).missing).not.toContain(
      'double_paid order:order:ord_1',
    );
  });

  test.each<[string, Partial<State>]>([
    ['a refund of a part', { amount: 99 }],
    ['a pending refund', { status: 'pending' }],
    ['a failed refund', { status: 'failed' }],
    ['a refund in another currency', { currency: 'EUR' }],
    ['an undecided dispute', { ...lost, status: 'opened' }],
    ['an inquiry that was lost', { ...lost, stage: 'pre_dispute' }],
    ['a refund of neither', { paymentId: 'pay_3' }],
  ])('needs an alert despite %s', (_what, fields) => {
    const states = [FIRST, SECOND, part(fields)];
    expect(evaluate(states)).toMatchObject({ falseAlerts: [], duplicates: [] });
    expect(evaluate(states, []).missing).toContain('double_paid order:order:ord_1');
  });

  test('justifies a second alert if its refund fails after it had succeeded', () => {
    const succeeded = part({ fromMs: 20, untilMs: 30 });
    const failed = part({ status: 'failed', fromMs: 30 });
    expect(evaluate([FIRST, SECOND, succeeded, failed], [twice, twice]).duplicates).toEqual([]);
    expect(evaluate([FIRST, SECOND, failed], [twice, twice]).duplicates).toHaveLength(1);
  });
});

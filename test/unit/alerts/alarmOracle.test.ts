/** The oracle of alerts: which alerts about a watermark it accepts as correct. */
import { expect, test } from 'vitest';
import { HOUR_MS } from '../../../src/platform/time.ts';
import { evaluateAlerts } from '../../support/alarmOracle.ts';

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

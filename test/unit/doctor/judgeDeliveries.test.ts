/** Rules are those of src/doctor/domain/judgeDeliveries.ts. */
import { expect, test } from 'vitest';
import { judgeDeliveries, type SentDelivery } from '../../../src/doctor/domain/judgeDeliveries.ts';

const sent = (httpStatus: number | null): SentDelivery => ({
  eventId: 'evt_1',
  sentAt: '2026-11-29T06:00:00.000Z',
  httpStatus,
});

test.each([
  [[], undefined, 'not_checked', /has sent no webhook yet/],
  [[sent(200)], true, 'ok', /evt_1.* is in the inbox$/],
  [[sent(202), sent(401), sent(null)], true, 'ok', /is in the inbox$/],
  [[sent(200)], false, 'failed', /is not in the inbox: another program/],
  [[sent(200)], undefined, 'not_checked', /the inbox cannot be read/],
  [[sent(401)], true, 'failed', /HTTP 401\)$/],
  [[sent(401), sent(200)], true, 'warning', /1 of the last 2 were acknowledged$/],
  [[sent(null), sent(503)], true, 'failed', /no response; 0 of the last 2 were acknowledged$/],
  [[sent(404)], true, 'failed', /HTTP 404/],
  [[sent(503)], true, 'failed', /HTTP 503$/],
] as const)('%j, in the inbox: %s: %s', (last, isInInbox, state, result) => {
  const judgment = judgeDeliveries(last, isInInbox);
  expect(judgment.state).toBe(state);
  expect(judgment.result).toMatch(result);
  expect(judgment.remedy === null).toBe(state === 'ok');
});

/** Rules are those of src/doctor/domain/judgeDeliveries.ts. */
import { expect, test } from 'vitest';
import { judgeDeliveries, type SentDelivery } from '../../../src/doctor/domain/judgeDeliveries.ts';

const sent = (httpStatus: number | null, isInInbox = true): SentDelivery => ({
  eventId: 'evt_1',
  sentAt: '2026-11-29T06:00:00.000Z',
  httpStatus,
  isInInbox,
});

test.each([
  [[], 'not_checked', /has sent no webhook yet/],
  [[sent(200)], 'ok', /evt_1.* is in the inbox$/],
  [[sent(202), sent(401), sent(null)], 'ok', /is in the inbox$/],
  [[sent(200, false)], 'failed', /is not in the inbox: another program/],
  [[{ ...sent(200), isInInbox: undefined }], 'not_checked', /the inbox cannot be read/],
  [[sent(401)], 'failed', /HTTP 401\)$/],
  [[sent(401), sent(200)], 'warning', /1 of the last 2 were acknowledged$/],
  [[sent(null), sent(503)], 'failed', /no response; 0 of the last 2 were acknowledged$/],
  [[sent(404)], 'failed', /HTTP 404/],
  [[sent(503)], 'failed', /HTTP 503$/],
] as const)('%j: %s', (last, state, result) => {
  const judgment = judgeDeliveries(last);
  expect(judgment.state).toBe(state);
  expect(judgment.result).toMatch(result);
  expect(judgment.remedy === null).toBe(state === 'ok');
});

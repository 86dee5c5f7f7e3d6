/** The error of a statement on a connection that was lost states why. */
import { expect, test } from 'vitest';
import { isDatabaseUnavailable } from '../../../src/platform/db/failures.ts';
import { explainLoss, noteLoss } from '../../../src/platform/db/lostConnection.ts';
import { toError } from '../../../src/platform/errors.ts';

const OF_THE_DRIVER = new Error('Client has encountered a connection error and is not queryable');
const SILENCE = Object.assign(
  new Error('terminating connection due to idle-in-transaction timeout'),
  { code: '25P03' },
);
const RESET = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
const ENDED = new Error('Connection terminated unexpectedly');
const OTHER = Object.assign(new Error('duplicate key'), { code: '23505' });

test.each([
  [
    'between two statements',
    OF_THE_DRIVER,
    [SILENCE, ENDED],
    /did nothing for 60 seconds.*look for/,
  ],
  ['while a statement was on its way', SILENCE, [], /did nothing for 60 seconds.*look for/],
  ['for another reason', OF_THE_DRIVER, [RESET], /was lost within a transaction: read ECONNRESET/],
])('that was lost %s', (_, error, reported, expected) => {
  const connection = {};
  for (const one of reported) noteLoss(connection, one);
  const explained = explainLoss(error, connection);
  expect(toError(explained).message).toMatch(expected);
  expect(isDatabaseUnavailable(explained)).toBe(true);
});

test('other errors stay as they are', () => {
  const connection = {};
  expect(explainLoss(OF_THE_DRIVER, connection)).toBe(OF_THE_DRIVER);
  noteLoss(connection, RESET);
  expect(explainLoss(OTHER, connection)).toBe(OTHER);
});

/** Times for people. */
import { expect, test } from 'vitest';
import { timeLeftText } from '../../../src/representation/time.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

test.each([
  [-1, undefined],
  [0, undefined],
  [MINUTE - 1, 'less than 1 minute'],
  [MINUTE, '1 minute'],
  [59 * MINUTE, '59 minutes'],
  [2 * HOUR - 1, '119 minutes'],
  [2 * HOUR, '2 hours'],
  [48 * HOUR - 1, '47 hours'],
  [48 * HOUR, '2 days'],
])('the time until a deadline in %i ms is never 0 hours, and never too long', (leftMs, text) => {
  expect(timeLeftText(leftMs)).toBe(text);
});

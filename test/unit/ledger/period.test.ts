import { expect, test } from 'vitest';
import { isTimeZone } from '../../../src/ledger/domain/period.ts';

test.each([
  'UTC',
  'Europe/Berlin',
  'America/Argentina/Buenos_Aires',
  'America/Port-au-Prince',
  'Asia/Calcutta',
  'Asia/Kolkata',
  'Europe/Kiev',
  'Europe/Kyiv',
])('%s is a time zone by its present and its former name', (name) => {
  expect(isTimeZone(name)).toBe(true);
});

test.each(['', 'europe/berlin', 'Asia/KOLKATA', 'Europe/Atlantis', 'Europe/', '+01:00', 'EST'])(
  '%j is no time zone: an offset, an abbreviation, another spelling or no place',
  (name) => {
    expect(isTimeZone(name)).toBe(false);
  },
);

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatInstant, parseInstantMicros } from '../../../src/ledger/domain/time.ts';

const TEN = Date.UTC(2026, 10, 1, 10) * 1000;
const HOUR = 3600 * 1_000_000;

describe('an instant', () => {
  test.each([
    ['2026-11-01T10:00:00Z', TEN],
    ['2026-11-01t10:00:00z', TEN],
    ['2026-11-01 10:00:00', TEN],
    ['2026-11-01T10:00:00.1Z', TEN + 100_000],
    ['2026-11-01T10:00:00.123456Z', TEN + 123_456],
    ['2026-11-01T10:00:00.123456999Z', TEN + 123_456],
    // East of Greenwich it is later than in UTC.
    ['2026-11-01T10:00:00+02:00', TEN - 2 * HOUR],
    ['2026-11-01T10:00:00-0530', TEN + 5.5 * HOUR],
    ['2026-11-01T10:00:00+00:00', TEN],
    ['2026-11-01T10:00:00+00', TEN],
    ['2026-11-01 10:00:00.123456-03', TEN + 3 * HOUR + 123_456],
    ['2024-02-29T10:00:00Z', Date.UTC(2024, 1, 29, 10) * 1000],
    ['1970-01-01T00:00:00Z', 0],
  ])('%s is read with its zone and its microseconds', (text, micros) => {
    expect(parseInstantMicros(text)).toBe(micros);
  });

  test.each([
    '2026-02-29T10:00:00Z',
    '2026-04-31T10:00:00Z',
    '2026-13-01T10:00:00Z',
    '2026-00-10T10:00:00Z',
    '2026-11-00T10:00:00Z',
    '2026-11-01T24:00:00Z',
    '2026-11-01T10:60:00Z',
    '2026-11-01T10:00:60Z',
    '1969-12-31T23:59:59Z',
    '2026-11-01',
    '2026-11-01T10:00Z',
    '2026-11-01T10:00:00.Z',
    '2026-11-01T10:00:00.1234567891Z',
    ' 2026-11-01T10:00:00Z',
    '',
    1_793_527_200,
    null,
  ])('%j is none, rather than another day', (value) => {
    expect(parseInstantMicros(value)).toBeUndefined();
  });

  test('is unchanged after formatting and parsing', () => {
    const latest = Date.UTC(2200, 0, 1) * 1000;
    fc.assert(
      fc.property(fc.integer({ min: 0, max: latest }), (micros) => {
        const text = formatInstant(micros);
        expect(text).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
        expect(parseInstantMicros(text)).toBe(micros);
      }),
    );
  });
});

/** The rules of src/ledger/domain/closings.ts; what closings contain is in test/ledger/closings.test.ts. */
import { describe, expect, test } from 'vitest';
import {
  bookedAfter,
  type Closing,
  closingsInForce,
  EXCEPTION_KINDS,
  EXCEPTIONS,
  mayClose,
  mayReopen,
  nextMonth,
  zoneOf,
} from '../../../src/ledger/domain/closings.ts';

// October in Berlin ends an hour before that of UTC.
const TO_MICROS = Date.UTC(2026, 9, 31, 23) * 1000;
const OCTOBER = {
  month: '2026-10',
  timeZone: 'Europe/Berlin',
  fromMicros: Date.UTC(2026, 8, 30, 22) * 1000,
  toMicros: TO_MICROS,
};

function closing(fields: Partial<Closing>): Closing {
  return {
    ...OCTOBER,
    id: 1,
    version: 1,
    previousId: null,
    lastTransfer: 100,
    closedMicros: TO_MICROS,
    closedBy: 'erika',
    reason: null,
    exceptions: [],
    seal: null,
    reopenedMicros: null,
    reopenedBy: null,
    reopenedReason: null,
    ...fields,
  };
}

const AUGUST = closing({ month: '2026-08', fromMicros: 20, toMicros: 30, lastTransfer: 5 });
const SEPTEMBER = closing({ month: '2026-09', fromMicros: 30, toMicros: 40, lastTransfer: 9 });

describe('2: a month may be closed', () => {
  const closed = (nowMicros: number, inForce: readonly Closing[] = []) =>
    mayClose(OCTOBER, { inForce, nowMicros });

  test.each([
    ['a microsecond before its end', -1, 'refused'],
    ['at its end', 0, 'ok'],
  ])('once it is over in its time zone: %s', (_, offset, outcome) => {
    expect(closed(TO_MICROS + offset).outcome).toBe(outcome);
  });

  test('first of all, with everything before it', () => {
    expect(closed(TO_MICROS)).toEqual({ outcome: 'ok', previous: undefined });
  });

  test('after the month before it', () => {
    const may = closed(TO_MICROS, [AUGUST, SEPTEMBER]);
    expect(may).toEqual({ outcome: 'ok', previous: SEPTEMBER });
  });

  test.each<[string, readonly Closing[], RegExp]>([
    [
      'in another time zone',
      [{ ...SEPTEMBER, timeZone: 'UTC' }],
      /in the time zone UTC, and Europe\/Berlin has other ones\. Close 2026-10 in UTC/,
    ],
    ['again', [SEPTEMBER, closing({})], /2026-10 is closed already, by erika/],
    ['again, below a later one', [closing({}), closing({ month: '2026-11' })], /closed already/],
    ['and leave one out', [AUGUST], /2026-08 is the last closed one, so 2026-09 is next/],
    ['before one that is closed', [closing({ month: '2026-11' })], /so 2026-12 is next/],
  ])('but not %s', (_what, inForce, message) => {
    const may = closed(TO_MICROS, inForce);
    expect(may).toMatchObject({ outcome: 'refused', message: expect.stringMatching(message) });
  });

  test('and not before its end, with the reason', () => {
    expect(closed(0)).toMatchObject({
      message: '2026-10 is not over in Europe/Berlin. Close it after its last day.',
    });
  });
});

describe('5: a month may be reopened', () => {
  test('if it is the last closed one', () => {
    expect(mayReopen('2026-09', [AUGUST, SEPTEMBER])).toEqual({
      outcome: 'ok',
      closing: SEPTEMBER,
    });
    expect(mayReopen('2026-08', [AUGUST])).toEqual({ outcome: 'ok', closing: AUGUST });
  });

  test.each([
    ['one before it', '2026-08', [AUGUST, SEPTEMBER], 'refused', /reopen 2026-09 first/],
    [
      'one between others',
      '2026-09',
      [AUGUST, SEPTEMBER, closing({})],
      'refused',
      /reopen 2026-10 first, which was closed after 2026-09/,
    ],
    ['one that is not closed', '2026-10', [SEPTEMBER], 'not_closed', /2026-10 is not closed/],
    ['one while none is closed', '2026-10', [], 'not_closed', /2026-10 is not closed/],
  ])('but not %s', (...[, month, inForce, outcome, message]) => {
    const may = mayReopen(month, inForce);
    expect(may).toMatchObject({ outcome, message: expect.stringMatching(message) });
  });
});

describe('3, 4: a late posting is booked after', () => {
  const inForce = [AUGUST, SEPTEMBER];
  test.each<[string, number, number, Closing | undefined]>([
    ['none, if its month is open', 40, 99, undefined],
    ['none, if it was there when its month was closed', 29, 5, undefined],
    ['its month, if it came after that was closed', 29, 6, AUGUST],
    ['its month, if that ends a microsecond later', 39, 10, SEPTEMBER],
    ['the last month that was closed when it came', 29, 10, SEPTEMBER],
    ['its month, if the next was closed with it', 29, 9, AUGUST],
    ['none, in the first instant of the next month that has it', 30, 9, undefined],
    ['the first closing, from any time before it', -1_000, 6, AUGUST],
  ])('%s', (_what, effectiveMicros, number, missed) => {
    expect(bookedAfter({ number, effectiveMicros }, inForce)).toBe(missed);
  });
});

test('closings in force are those that were not reopened, by month', () => {
  const reopened = { ...AUGUST, reopenedMicros: 0 };
  expect(closingsInForce([SEPTEMBER, reopened, closing({}), AUGUST])).toEqual([
    AUGUST,
    SEPTEMBER,
    closing({}),
  ]);
});

test('the time zone of months is that of the last closed one, and UTC without one', () => {
  expect(zoneOf([{ ...AUGUST, timeZone: 'Asia/Tokyo' }, SEPTEMBER])).toBe('Europe/Berlin');
  expect(zoneOf([SEPTEMBER])).toBe('Europe/Berlin');
  expect(zoneOf([])).toBe('UTC');
});

test('each exception of a closing is explained, by a text of its own', () => {
  const meanings = EXCEPTION_KINDS.map((kind) => EXCEPTIONS[kind]);
  expect(new Set(meanings).size).toBe(EXCEPTION_KINDS.length);
  for (const meaning of meanings) expect(meaning).toMatch(/^[A-Z].*\w$/);
});

test('the month after December is in the next year', () => {
  expect(nextMonth({ month: '2026-12' })).toBe('2027-01');
  expect(nextMonth({ month: '2026-08' })).toBe('2026-09');
});

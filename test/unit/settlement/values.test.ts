/** Amounts, days and texts as files have them (amounts.ts, days.ts, fileProblem.ts). */
import { describe, expect, test } from 'vitest';
import { parseSignedAmount } from '../../../src/settlement/domain/amounts.ts';
import { parseDay } from '../../../src/settlement/domain/days.ts';
import { FileProblem, hasControl, quoted } from '../../../src/settlement/domain/fileProblem.ts';
import { parseSource } from '../../../src/settlement/sourceFile.ts';

describe('an amount', () => {
  test.each([
    ['with spaces around it', ' 5.00 ', 500],
    ['with a plus', '+5', 500],
    ['with a minus behind it', '5.00-', -500],
    ['of zero with a minus, which is no negative zero', '-0.00', 0],
    ['with a plus behind it', '5+', undefined],
    ['with text before it', '(5', undefined],
    ['with text behind it', '5)', undefined],
    ['below zero with too many decimals', '-1.234', undefined],
  ])('%s is read exactly or not at all', (_name, text, amountMinor) => {
    expect(parseSignedAmount(text, '.', 'EUR')).toBe(amountMinor);
    expect(parseSignedAmount(text.replace('.', ','), ',', 'EUR')).toBe(amountMinor);
  });

  test.each([
    ['JPY', 500],
    ['EUR', 50_000],
    ['KWD', 500_000],
  ])('in %s may have two zeros behind the mark', (currency, amountMinor) => {
    expect(parseSignedAmount('500.00', '.', currency)).toBe(amountMinor);
  });
});

describe('a day', () => {
  test.each([
    ['iso', '2026-10-05'],
    ['iso', '2026-10-05 08:00'],
    ['iso', '2026-10-05T08:00:00.123Z'],
    ['iso', ' 2026-10-05 '],
    ['DD.MM.YYYY', '05.10.2026'],
    ['DD/MM/YYYY', '5/10/2026'],
    ['MM/DD/YYYY', '10/5/2026'],
    ['YYYYMMDD', '20261005'],
  ] as const)('written as %s is read from "%s"', (format, text) => {
    expect(parseDay(text, format)).toBe('2026-10-05');
  });

  test.each([
    ['behind which is other text', '2026-10-05x'],
    ['before which is other text', 'x2026-10-05'],
    ['of a month that does not exist', '2026-13-05'],
    ['with the date 0', '2026-01-00'],
    ['with the date 99', '2026-02-99'],
    ['in another form', '5.10.2026'],
    ['that is empty', ''],
  ])('%s is none', (_name, text) => {
    expect(parseDay(text, 'iso')).toBeUndefined();
  });

  test.each([
    ['1969-12-31', undefined],
    ['1970-01-01', '1970-01-01'],
    ['2199-12-31', '2199-12-31'],
    ['2200-01-01', undefined],
  ])('is of 1970 to 2199: %s is %s', (text, day) => {
    expect(parseDay(text, 'iso')).toBe(day);
  });

  test.each([
    ['iso', 'read'],
    ['DD.MM.YYYY', 'read'],
    ['DD/MM/YYYY', 'read'],
    ['MM/DD/YYYY', 'read'],
    ['YYYYMMDD', 'read'],
    ['YYYY/MM/DD', 'refused'],
  ])('may be declared as %s in a source file: %s', (days, outcome) => {
    const source = {
      name: 'reports',
      format: 'csv',
      days,
      currency: 'EUR',
      columns: { settlement: 'Batch', type: 'Type', day: 'Date', gross: 'Gross' },
      types: { Charge: 'payment' },
    };
    expect(parseSource(JSON.stringify(source))).toMatchObject({ outcome });
  });
});

describe('a problem of a file', () => {
  test('begins with its place', () => {
    expect(new FileProblem({ line: 3, column: 14 }, 'a control character').message).toBe(
      'line 3, column 14: a control character',
    );
  });

  test.each([
    ['60 characters as they are', 'x'.repeat(60), `"${'x'.repeat(60)}"`],
    ['the first 60 of more', `${'x'.repeat(60)}y`, `"${'x'.repeat(60)}…"`],
    ['quotes and ends of lines visibly', 'a"b\n', '"a\\"b\\n"'],
  ])('quotes %s', (_name, text, expected) => {
    expect(quoted(text)).toBe(expected);
  });
});

test.each([
  ['letters', 'Müller 🙂', false],
  ['a tab', '\t', false],
  ['ends of lines', '\r\n', false],
  ['a space', ' ', false],
  ['a zero byte', 'a\0', true],
  ['the last control character before a space', '\u001F', true],
  ['a delete character', '\u007F', true],
])('%s have no control characters, or are some', (_name, text, has) => {
  expect(hasControl(text)).toBe(has);
});

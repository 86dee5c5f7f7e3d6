/** What the text of a search may mean. */
import { describe, expect, test } from 'vitest';
import { readAmount, readSearch } from '../../../src/search/domain/query.ts';

describe('amounts', () => {
  test.each([
    ['EUR 54.00', 5400, 'EUR'],
    ['54.00 EUR', 5400, 'EUR'],
    ['54,00 eur', 5400, 'EUR'],
    ['54EUR', 5400, 'EUR'],
    ['5.4 EUR', 540, 'EUR'],
    ['1,234.50 EUR', 123_450, 'EUR'],
    ['1.234,50 EUR', 123_450, 'EUR'],
    ["1'234.50 CHF", 123_450, 'CHF'],
    ['1 234,50 EUR', 123_450, 'EUR'],
    ['1,234 EUR', 123_400, 'EUR'],
    ['1,234,567 EUR', 123_456_700, 'EUR'],
    ['1.234.567 EUR', 123_456_700, 'EUR'],
    ['1,234,567 KWD', 1_234_567_000, 'KWD'],
    ['900 JPY', 900, 'JPY'],
    ['1,234 JPY', 1234, 'JPY'],
    ['6.540 KWD', 6540, 'KWD'],
    ['1,234.540 KWD', 1_234_540, 'KWD'],
    ['9007199254740991 JPY', Number.MAX_SAFE_INTEGER, 'JPY'],
  ])('%s', (text, amountMinor, currency) => {
    expect(readAmount(text)).toEqual({ amountMinor, currency });
  });

  test.each([
    '54.00',
    'EUR',
    '54.001 EUR EUR',
    '54.5.6 EUR',
    '9.5 JPY',
    '54.0012 EUR',
    '54 QQQ',
    '12,34,567 EUR',
    '-5 EUR',
    '99999999999999999999 EUR',
    '9007199254740992 JPY',
    '9007199254740991 EUR',
    '. EUR',
    'EUR .5',
    'xEUR 54.00',
    'EUR 54.00x',
    "'54 EUR",
  ])('%s is none', (text) => {
    expect(readAmount(text)).toBeUndefined();
  });
});

test.each([
  ['alert 12', 'alert', 12],
  ['Alerts #12', 'alert', 12],
  ['finding:3', 'finding', 3],
  ['message 7', 'message', 7],
  ['run 4', 'run', 4],
])('%s is a number of ours', (text, kind, number) => {
  expect(readSearch(text)?.numbered).toEqual({ kind, number });
});

test.each(['alert', 'alert 0', 'alert 1.5', 'alert 99999999999999999', 'alerting 5', 'order 5'])(
  '%s is none',
  (text) => {
    expect(readSearch(text)?.numbered).toBeUndefined();
  },
);

test('the whole text is an id, and so is what follows the word of its kind', () => {
  expect(readSearch(' payment:pay_1 ')?.ids).toEqual(['payment:pay_1', 'pay_1']);
  expect(readSearch('order 5')?.ids).toEqual(['order 5', '5']);
  expect(readSearch('event evt_1')?.ids).toEqual(['event evt_1', 'evt_1']);
  expect(readSearch('customer cus_1')?.ids).toEqual(['customer cus_1', 'cus_1']);
  expect(readSearch('alert 12')?.ids).toEqual(['alert 12']);
  expect(readSearch('order 5\u20286')?.ids).toEqual(['order 5\u20286']);
  expect(readSearch('my order 5')?.ids).toEqual(['my order 5']);
  expect(readSearch('a\u0000b')).toBeUndefined();
  expect(readSearch(' ')).toBeUndefined();
});

test('hostile lengths and repetitions are read in linear time', () => {
  for (const text of ['1'.repeat(255), '1,'.repeat(127), `${' '.repeat(200)}5`, "1'".repeat(127)]) {
    const startMs = performance.now();
    readSearch(`EUR ${text}`);
    readSearch(`${text} EUR`);
    expect(performance.now() - startMs).toBeLessThan(50);
  }
});

test.each([
  ['pay_1\u200B', 'pay_1'],
  ['\uFEFF\u202Apay_1\u202C', 'pay_1'],
  ['pay\u00AD_1', 'pay_1'],
])('characters that nobody sees are no part of an id: %j', (text, id) => {
  expect(readSearch(text)?.ids).toEqual([id]);
});

import { expect, test } from 'vitest';
import { parseId } from '../../../src/contract/identifiers.ts';
import {
  currencyExponent,
  formatMoney,
  parseAmountMinor,
  parseCurrency,
  parseDecimal,
  sumMinor,
} from '../../../src/contract/money.ts';

test.each([
  [6540, 'USD', '65.40 USD'],
  [5, 'USD', '0.05 USD'],
  [0, 'USD', '0.00 USD'],
  [-150, 'EUR', '-1.50 EUR'],
  [6540, 'JPY', '6540 JPY'],
  [6540, 'KWD', '6.540 KWD'],
  [Number.MAX_SAFE_INTEGER, 'USD', '90071992547409.91 USD'],
])('%d %s is shown as %s', (amountMinor, currency, text) => {
  expect(formatMoney(amountMinor, currency)).toBe(text);
});

// ISO 4217, list one: every active currency with a minor unit other than a hundredth.
test.each([
  [0, 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'],
  [2, 'AUD BRL CHF CNY EUR GBP HUF IDR INR MGA MXN TRY USD ZAR'],
  [3, 'BHD IQD JOD KWD LYD OMR TND'],
  [4, 'CLF UYW'],
])('%i decimals: %s', (exponent, currencies) => {
  for (const currency of currencies.split(' ')) {
    expect(currencyExponent(currency), currency).toBe(exponent);
  }
});

test('an amount is an integer that JSON represents exactly, or a string of its digits', () => {
  expect([0, 1, '007', Number.MAX_SAFE_INTEGER].map(parseAmountMinor)).toEqual([
    0,
    1,
    7,
    Number.MAX_SAFE_INTEGER,
  ]);
  for (const odd of [1.5, -1, 2 ** 53, '1.0', ' 1', '', null, '99999999999999999']) {
    expect(parseAmountMinor(odd)).toBeUndefined();
  }
});

test('a currency is three letters', () => {
  expect(['usd', 'EUR'].map(parseCurrency)).toEqual(['USD', 'EUR']);
  for (const odd of ['US', 'USDT', 'U5D', 978, null]) expect(parseCurrency(odd)).toBeUndefined();
});

test('a sum beyond the exact integers is an error', () => {
  expect(sumMinor([1, 2, 3])).toBe(6);
  expect(() => sumMinor([Number.MAX_SAFE_INTEGER, 1])).toThrow(RangeError);
});

test('an id is 1 to 255 printable characters', () => {
  for (const id of ['a', 'evt_1', 'with space', 'größe', 'x'.repeat(255)])
    expect(parseId(id)).toBe(id);
  for (const odd of ['', ' a', 'a ', 'a\nb', 'a\u0000', '\ud800', 'x'.repeat(256), 1, null]) {
    expect(parseId(odd)).toBeUndefined();
  }
});

test.each([
  ['54.00', 'EUR', 5400],
  ['54', 'EUR', 5400],
  ['54.5', 'EUR', 5450],
  ['0.05', 'EUR', 5],
  ['0', 'EUR', 0],
  ['007', 'JPY', 7],
  ['5.4', 'JPY', undefined],
  ['5.400', 'KWD', 5400],
  ['5.401', 'EUR', undefined],
  ['54.00', undefined, 5400],
  ['90071992547409.91', 'USD', 9_007_199_254_740_991],
  ['90071992547409.92', 'USD', undefined],
  ['-1', 'USD', undefined],
  ['1e3', 'USD', undefined],
  ['', 'USD', undefined],
  [undefined, 'USD', undefined],
])('the decimal text %j of %s is %s minor units', (text, currency, minor) => {
  expect(parseDecimal(text, currency)).toBe(minor);
});

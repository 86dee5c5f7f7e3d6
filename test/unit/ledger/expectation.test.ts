import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compareExpected } from '../../../src/ledger/domain/expectation.ts';

const MAX = Number.MAX_SAFE_INTEGER;
const usd = (capturedMinor: number) => ({ currency: 'USD', capturedMinor });

test.each([
  ['nothing came', 6540, [], 'unpaid', -6540],
  ['nothing was captured', 6540, [usd(0)], 'unpaid', -6540],
  ['less came', 6540, [usd(6539)], 'underpaid', -1],
  ['as much came', 6540, [usd(6540)], 'paid', 0],
  ['more came', 6540, [usd(6541)], 'overpaid', 1],
  ['nothing was to come', 0, [], 'paid', 0],
  ['something came where nothing was to', 0, [usd(1)], 'overpaid', 1],
  [
    'paid in another currency',
    6540,
    [{ currency: 'EUR', capturedMinor: 6540 }],
    'other_currency',
    -6540,
  ],
  [
    'paid in full, with another currency in addition',
    6540,
    [usd(6540), { currency: 'EUR', capturedMinor: 1 }],
    'paid',
    0,
  ],
  ['the greatest amount is missing', MAX, [], 'unpaid', -MAX],
  ['the greatest amount came for nothing', 0, [usd(MAX)], 'overpaid', MAX],
] as const)('%s', (...[, amountMinor, captured, comparison, differenceMinor]) => {
  expect(compareExpected({ currency: 'USD', amountMinor }, captured)).toEqual({
    comparison,
    differenceMinor,
  });
});

test('the outcome and the difference never contradict each other', () => {
  const amount = fc.integer({ min: 0, max: MAX });
  fc.assert(
    fc.property(amount, amount, (expected, captured) => {
      const { comparison, differenceMinor } = compareExpected(
        { currency: 'USD', amountMinor: expected },
        [usd(captured)],
      );
      expect(Number.isSafeInteger(differenceMinor)).toBe(true);
      const sign = { unpaid: -1, underpaid: -1, paid: 0, overpaid: 1, other_currency: -1 };
      expect(Math.sign(differenceMinor)).toBe(sign[comparison]);
    }),
  );
});

/** Test cards and amounts (src/sandbox/domain/outcomes.ts, rules 1 to 3), and their documentation. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DECLINE_CODES, LEGACY_DECLINE_CODES } from '../../../src/contract/index.ts';
import { packageRoot } from '../../../src/platform/packageRoot.ts';
import {
  AMOUNT_BASES,
  amountOutcome,
  CARD_PREFIXES,
  type CardFamily,
  cardOutcome,
  testAmount,
  testCard,
  type UnifiedCode,
} from '../../../src/sandbox/domain/outcomes.ts';
import { INELIGIBLE_AMOUNT, PAYOUT_AMOUNTS } from '../../../src/sandbox/domain/payout.ts';
import { REFUND_AMOUNTS } from '../../../src/sandbox/domain/refund.ts';

const NOW_MS = Date.UTC(2026, 10, 21);
const codes = Object.keys({ ...DECLINE_CODES, ...LEGACY_DECLINE_CODES }) as UnifiedCode[];
const families = Object.keys(CARD_PREFIXES) as CardFamily[];

const card = (number: string, fields: object = {}) => ({
  number,
  expMonth: '12',
  expYear: '2039',
  cvc: '123',
  ...fields,
});

test.each(codes)('rule 3: %s has a card and an amount in every family', (code) => {
  const declined = { kind: 'declined', code };
  for (const family of families) {
    const expected = family === 'final' ? declined : { kind: family, afterwards: declined };
    expect(cardOutcome(card(testCard(family, code)), NOW_MS)).toEqual(expected);
    expect(amountOutcome(testAmount(family, code))).toEqual(expected);
  }
});

test.each(families)('%s without a code ends in approval', (family) => {
  const expected =
    family === 'final' ? { kind: 'approved' } : { kind: family, afterwards: { kind: 'approved' } };
  expect(cardOutcome(card(testCard(family)), NOW_MS)).toEqual(expected);
  expect(amountOutcome(testAmount(family))).toEqual(expected);
});

test('rule 2: with an ordinary card the amount decides, and an ordinary amount is approved', () => {
  expect(cardOutcome(card('4242424242424242'), NOW_MS)).toBeUndefined();
  for (const amount of [1, 6540, 729_999, 780_000, 10 ** 12]) {
    expect(amountOutcome(amount)).toEqual({ kind: 'approved' });
  }
});

test('a card is valid until the end of its month, with a year of two or four digits', () => {
  const expires = (expMonth: string, expYear: string) =>
    cardOutcome(card('4242424242424242', { expMonth, expYear }), NOW_MS);
  expect(expires('11', '2026')).toBeUndefined();
  expect(expires('11', '26')).toBeUndefined();
  expect(expires('10', '26')).toEqual({ kind: 'declined', code: 'UE_1002' });
});

test('the documentation has the prefixes and amounts of the code', () => {
  const text = readFileSync(join(packageRoot(), 'docs/reference/sandbox.md'), 'utf8');
  for (const family of families) {
    expect(text).toContain(`\`${CARD_PREFIXES[family]}\``);
    expect(text).toContain(`\`${AMOUNT_BASES[family]}\``);
    expect(text).toContain(`\`${testCard(family)}\``);
  }
  expect(text).toContain(`\`${testCard('final', 'UE_1001')}\``);
  const amounts = { ...REFUND_AMOUNTS, ...PAYOUT_AMOUNTS, [INELIGIBLE_AMOUNT]: 'ineligible' };
  for (const amount of Object.keys(amounts)) expect(text).toContain(`\`${amount}\``);
});

import { expect, test } from 'vitest';
import { moneyOf } from '../../../src/alerts/domain/alert.ts';

test.each([
  ['its amount', { amountMinor: 6540, capturableMinor: 40, currency: 'USD' }, 6540],
  ['what can be captured of a hold', { capturableMinor: 40, currency: 'USD' }, 40],
])('the money of an alert is %s', (_, detail, amountMinor) => {
  expect(moneyOf({ detail })).toEqual({ currency: 'USD', amountMinor });
});

test.each([{ amountMinor: 6540 }, { currency: 'USD' }, { amountMinor: '1', currency: 'USD' }])(
  'an alert with the facts %j is about no money',
  (detail) => {
    expect(moneyOf({ detail })).toBeNull();
  },
);

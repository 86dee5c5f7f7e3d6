/** What of a body is a person's. */
import { expect, test } from 'vitest';
import { personalValues } from '../../../src/erasure/domain/personalValues.ts';
import { carriedIds } from '../../../src/erasure/domain/subjects.ts';

const BODY = {
  merchant_id: 'merchant_1',
  event_id: 'evt_1',
  event_type: 'payment_succeeded',
  content: {
    type: 'payment_details',
    object: {
      payment_id: 'pay_1',
      status: 'succeeded',
      amount: 6540,
      currency: 'USD',
      customer_id: 'cus_1',
      customer: { id: 'cus_1', name: 'Ann Lee', email: 'ann@example.org', phone: '5550100' },
      email: 'ann@example.org',
      client_secret: 'pay_1_secret_abcdefgh',
      description: 'Order 1001',
      metadata: { order_id: 1001, note: 'Leave it with Mr Smith', mail: 'other@example.org' },
      payment_method_data: { card: { last4: '4242', brand: 'Visa', card_holder_name: 'A Lee' } },
      billing: {
        address: {
          line1: '12 High Street',
          line2: 'Floor 3',
          city: 'New York',
          state: 'NY',
          zip: '10001',
          country: 'US',
          first_name: 'Ann',
          last_name: 'Lee',
        },
        phone: { number: '5550100123', country_code: '+1' },
      },
      order_details: [{ product_name: 'Blue Shirt', amount: 6540 }],
      refunds: [{ refund_id: 'ref_1', reason: 'too small' }],
    },
  },
};

test('values that name a person are distinguished from those that many texts contain', () => {
  const values = new Map(personalValues(BODY).map((one) => [one.value, one.isDistinctive]));
  const of = (isDistinctive: boolean) =>
    [...values]
      .flatMap(([value, distinctive]) => (distinctive === isDistinctive ? [value] : []))
      .toSorted();
  expect(of(true)).toEqual([
    '12 High Street',
    '5550100',
    '5550100123',
    'Ann Lee',
    'Lee, Ann',
    'ann@example.org',
    'other@example.org',
    'pay_1_secret_abcdefgh',
  ]);
  // Amounts, statuses, ids, goods and short codes are nobody's.
  expect(of(false)).toEqual([
    'A Lee',
    'Ann',
    'Floor 3',
    'Leave it with Mr Smith',
    'Lee',
    'New York',
  ]);
});

test.each([
  ['account_holder_name', 'Ann Lee'],
  ['bank_account_number', '000123456789'],
  ['card_holder_name', 'Ann Lee'],
  ['card_number', '4242424242424242'],
  ['full_name', 'Ann Lee'],
  ['iban', 'DE02100100109307118603'],
  ['name_on_card', 'Ann Lee'],
  ['phone_number', '5550100123'],
  ['tax_registration_id', '12345678901'],
  ['vpa_id', 'ann.lee.1987.bank'],
])('the field %s of a payout or payment names a person', (field, value) => {
  const body = { content: { object: { payout_method_data: { bank: { [field]: value } } } } };
  expect(personalValues(body)).toEqual([{ value, isDistinctive: true }]);
});

test('the ids of a body are found at any depth, integers as well', () => {
  expect(carriedIds(BODY)).toEqual({
    resources: new Set(['pay_1', 'ref_1']),
    orders: new Set(['1001']),
    customers: new Set(['cus_1']),
  });
});

test('a body that is nested deeper than the stack is read like any other', () => {
  const depth = 20_000;
  const inner = '{"customer":{"id":"cus_2","name":"Bob Ray"}}';
  for (const [open, close] of [
    ['{"metadata":', '}'],
    ['[', ']'],
  ] as const) {
    const body: unknown = JSON.parse(open.repeat(depth) + inner + close.repeat(depth));
    expect(carriedIds(body).customers).toEqual(new Set(['cus_2']));
    // In metadata it is a text of the shop, which is too short to name a person.
    const values = open === '[' ? [{ value: 'Bob Ray', isDistinctive: true }] : [];
    expect(personalValues(body)).toEqual(values);
  }
});

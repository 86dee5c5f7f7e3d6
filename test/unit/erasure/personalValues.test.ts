/** What of a body is a person's. */
import { describe, expect, test } from 'vitest';
import { bodyObjects, parseBody } from '../../../src/erasure/domain/bodyObjects.ts';
import { personalValues } from '../../../src/erasure/domain/personalValues.ts';
import {
  carriedIds,
  readSubject,
  SUBJECT_KINDS,
  subjectText,
} from '../../../src/erasure/domain/subjects.ts';

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

/** Each value with its kind, as `d: Ann Lee` and `c: Ann`. */
const kinds = (body: unknown) =>
  personalValues(body).map(({ value, isDistinctive }) => `${isDistinctive ? 'd' : 'c'}: ${value}`);

describe("values that are distinctive (d), that many people share (c), or that are nobody's", () => {
  test.each<[string, unknown, readonly string[]]>([
    ['a name as mail address', { email: 'Ann Lee' }, ['d: Ann Lee']],
    ['an address on the network', { ip_address: '203.0.113.7' }, ['c: 203.0.113.7']],
    ['a line of an address', { line3: 'Floor 3' }, ['c: Floor 3']],
    ['a state', { state: 'Bavaria' }, ['c: Bavaria']],
    ['a postcode', { zip: 'EC1A 1BB' }, ['c: EC1A 1BB']],
    ['a postcode of a number', { zip: ' 123456 ' }, []],
    ['a postcode of a long number', { zip: '1234567' }, ['c: 1234567']],
    ['several names', { nick_name: ['Annie', 'Nan', 7] }, ['c: Annie', 'c: Nan']],
    ['a name with spaces around it', { first_name: ' Ann ' }, ['c: Ann']],
    ['a word', { city: 'new' }, []],
    ['a name that begins small', { first_name: 'annE' }, ['c: annE']],
    ['a code', { city: 'NYC' }, []],
    ['more than a code', { city: 'NYCX' }, ['c: NYCX']],
    ['what is too short', { city: 'Ul' }, []],
    ['a short full name', { customer: { name: 'Al Lee' } }, ['d: Al Lee']],
    ['a shorter one', { customer: { name: 'A Lee' } }, ['c: A Lee']],
    ['a name of one word', { customer: { name: 'AnnLee' } }, ['c: AnnLee']],
    ['an account of letters', { iban: 'ABCDEFGHIJKL' }, ['d: ABCDEFGHIJKL']],
    ['a shorter one of letters', { iban: 'ABCDEFGHIJK' }, ['c: ABCDEFGHIJK']],
    ['a street with a number', { line1: '12 Hills' }, ['d: 12 Hills']],
    ['a shorter one', { line1: '12 Hill' }, ['c: 12 Hill']],
    ['a street', { line1: 'High Street' }, ['c: High Street']],
    ['a phone number', { phone: { number: '555010' } }, ['d: 555010']],
    ['a shorter one', { phone: { number: '55501' } }, []],
    ['another number', { card: { number: '5550100123' } }, []],
    ['a mail address anywhere', { reference: ' ann@example.org ' }, ['d: ann@example.org']],
    ['a text that ends with one', { reference: 'see ann@example.org' }, []],
    ['a text that begins with one', { reference: 'ann@example.org, too' }, []],
    ['a phone number anywhere', { reference: '+1 555 0100' }, ['d: +1 555 0100']],
    ['a text that ends with one', { reference: 'call +1 555 0100' }, []],
    ['a text that begins with one', { reference: '+1 555 0100 now' }, []],
    ['a sentence of the shop', { description: 'for Ann Lee!' }, ['c: for Ann Lee!']],
    ['a shorter one', { description: 'for Ann Lee' }, []],
    ['a word of the shop', { description: 'ForAnnLeeToday' }, []],
    ['a text in an address', { return_url: 'see Ann Lee at home' }, ['c: see Ann Lee at home']],
  ])('%s: %j', (_what, object, expected) => {
    expect(kinds({ content: { object } })).toEqual(expected);
  });

  test.each(['object', 'customer', 'customer_details', 'payer', 'bank'])(
    "a name in the field %s is a person's",
    (holder) => {
      expect(kinds([{ [holder]: { name: 'Ann Lee' } }])).toEqual(['d: Ann Lee']);
    },
  );

  test('a name in another field is that of a product', () => {
    expect(kinds({ product: { name: 'Blue Shirt' } })).toEqual([]);
  });

  test('a value stays distinctive wherever else it is', () => {
    expect(kinds([{ customer: { name: 'Ann Lee' } }, { city: 'Ann Lee' }])).toEqual(['d: Ann Lee']);
  });
});

describe('a first and a last name', () => {
  test.each<[unknown, unknown, readonly string[]]>([
    [' Ann ', ' Lee ', ['d: Ann Lee', 'd: Lee, Ann', 'c: Ann', 'c: Lee']],
    [' ', 'Lee', ['c: Lee']],
    ['Ann', ' ', ['c: Ann']],
    [null, 'Lee', ['c: Lee']],
    ['Ann', 7, ['c: Ann']],
  ])('are a full name if both are there: %j and %j', (first_name, last_name, expected) => {
    expect(kinds({ first_name, last_name })).toEqual(expected);
  });
});

test('ids are found by the field that holds them, and what is no id is none', () => {
  const body = {
    dispute_id: 'dp_1',
    payout_id: 7,
    payment_id: null,
    refund_id: true,
    customer_id: 'cus_2',
    customer_details: { id: 'cus_3' },
    refund: { id: 'ref_2' },
  };
  expect(carriedIds(body)).toEqual({
    resources: new Set(['dp_1', '7', 'ref_2']),
    orders: new Set(),
    customers: new Set(['cus_2', 'cus_3']),
  });
});

describe('what a request for erasure names', () => {
  test.each([
    ['order', 'a:b'],
    ['payment', 'pay_1'],
    ['customer', 'cus_1'],
  ] as const)('is written and read back: %s %s', (kind, id) => {
    expect(subjectText({ kind, id })).toBe(`${kind}:${id}`);
    expect(readSubject(`${kind}:${id}`)).toEqual({ kind, id });
    expect(SUBJECT_KINDS).toContain(kind);
  });

  test.each(['', 'order', 'order:', ':a', 'payout:po_1', 'orders:a', 'a'])(
    'is refused if it names none, so that nobody else is erased: %j',
    (text) => {
      expect(() => readSubject(text)).toThrow(`not a subject: ${text}`);
    },
  );
});

describe('a body', () => {
  test('is read with a byte order mark, and is nothing if it is no JSON', () => {
    expect(parseBody('\uFEFF{"a":"x\uFEFFy"}')).toEqual({ a: 'x\uFEFFy' });
    expect(parseBody('{"a":"x\uFEFFy"}')).toEqual({ a: 'x\uFEFFy' });
    expect(parseBody('{')).toBeUndefined();
  });

  test.each(['text', null, 7])('without an object has none: %j', (body) => {
    expect([...bodyObjects(body)]).toEqual([]);
  });

  test('has its objects in their order, those of a list by the field of the list', () => {
    const body = { refunds: [{ id: 1 }, null, { id: 2 }], metadata: { card: { id: 3 } } };
    expect(
      [...bodyObjects(body)].map(({ fields, ...place }) => ({ ...place, id: fields.id })),
    ).toEqual([
      { name: '', isOfShop: false, id: undefined },
      { name: 'refunds', isOfShop: false, id: 1 },
      { name: 'refunds', isOfShop: false, id: 2 },
      { name: 'metadata', isOfShop: true, id: undefined },
      { name: 'card', isOfShop: true, id: 3 },
    ]);
  });
});

/** Whether a response is about what was requested. Numbers are the rules of src/client/domain/correspondence.ts. */
import { describe, expect, test } from 'vitest';
import { contradictedFields, differingFields } from '../../../src/client/domain/correspondence.ts';
import type { Payment } from '../../../src/contract/resources/payment.ts';

const REQUEST = {
  params: { payment_id: 'pay_1' },
  body: { amount: 6540, currency: 'USD', customer_id: 'cus_1', description: 'a book' },
};

describe('a response is of another resource', () => {
  test.each<[string, unknown, readonly string[]]>([
    ['all equal', { payment_id: 'pay_1', amount: 6540, currency: 'USD', customer_id: 'cus_1' }, []],
    ['another id', { payment_id: 'pay_2' }, ['payment_id']],
    ['an id in other letters', { payment_id: 'PAY_1' }, ['payment_id']],
    ['another amount and customer', { amount: 1, customer_id: 'c' }, ['amount', 'customer_id']],
    ['an amount as text', { amount: '6540' }, []],
    ['another currency', { currency: 'EUR' }, ['currency']],
    ['the currency in other letters', { currency: 'usd' }, []],
    ['other texts, which the service may change', { description: 'a new book' }, []],
    ['null or nothing (2)', { payment_id: null }, []],
    ['no object', null, []],
  ])('by the fields that differ (1): %s', (_what, resource, fields) => {
    expect(differingFields(REQUEST, resource)).toEqual(fields);
  });

  test.each([undefined, null, 'text', { customer_id: null }, { customer_id: { id: 'c' } }])(
    'and a request without a value is about any (2): %j',
    (body) => {
      expect(differingFields({ body }, { customer_id: 'cus_1' })).toEqual([]);
    },
  );
});

function payment(fields: Partial<Payment>): Payment {
  return { payment_id: 'pay_1', status: 'succeeded', currency: 'USD', ...fields } as Payment;
}

interface Capture {
  readonly requested: number | undefined;
  readonly before: Payment | undefined;
  readonly response: Partial<Payment>;
}

describe('the response to a capture (4)', () => {
  const held = payment({ status: 'requires_capture', amount_capturable: 1000, amount_received: 0 });
  const partly = payment({ amount_capturable: 500, amount_received: 500 });
  const manual = { capture_method: 'manual' } as const;

  test.each<[string, Capture, boolean]>([
    [
      'the only capture',
      { requested: 1000, before: held, response: { amount_received: 1000 } },
      true,
    ],
    [
      'less than requested',
      { requested: 1000, before: held, response: { amount_received: 999 } },
      false,
    ],
    [
      'more than requested of the only capture',
      { requested: 1000, before: held, response: { amount_received: 1001 } },
      false,
    ],
    [
      'the whole hold',
      { requested: undefined, before: held, response: { amount_received: 1000 } },
      true,
    ],
    [
      'less than the whole hold',
      { requested: undefined, before: held, response: { amount_received: 999 } },
      false,
    ],
    [
      'the sum with an earlier capture',
      { requested: 300, before: partly, response: { amount_received: 800 } },
      true,
    ],
    [
      'less than what was requested again',
      { requested: 300, before: partly, response: { amount_received: 299 } },
      false,
    ],
    [
      'manual, as requested',
      { requested: 1000, before: undefined, response: { ...manual, amount_received: 1000 } },
      true,
    ],
    [
      'manual, more than requested',
      { requested: 1000, before: undefined, response: { ...manual, amount_received: 1001 } },
      false,
    ],
    [
      'perhaps not the only one, as requested',
      { requested: 1000, before: undefined, response: { amount_received: 1000 } },
      true,
    ],
    [
      'perhaps not the only one, more',
      { requested: 1000, before: undefined, response: { amount_received: 1500 } },
      true,
    ],
    [
      'perhaps not the only one, less',
      { requested: 1000, before: undefined, response: { amount_received: 999 } },
      false,
    ],
    [
      'of an unknown hold',
      { requested: undefined, before: undefined, response: { ...manual, amount_received: 7 } },
      true,
    ],
    ['without a sum', { requested: 1000, before: held, response: {} }, true],
    [
      'not captured yet',
      { requested: 1000, before: held, response: { status: 'processing', amount_received: 0 } },
      true,
    ],
  ])('%s', (_what, { requested, before, response }, isPossible) => {
    const request = requested === undefined ? {} : { amount_to_capture: requested };
    expect(contradictedFields(request, { before, response: payment(response) })).toEqual(
      isPossible ? [] : ['amount_received'],
    );
  });

  test('without an amount that was captured before, is the only one', () => {
    const { amount_received: _, ...before } = held;
    const response = payment({ amount_received: 1001 });
    expect(contradictedFields({ amount_to_capture: 1000 }, { before, response })).toEqual([
      'amount_received',
    ]);
  });

  test('states the currency of the payment, in any letters', () => {
    const lower = payment({ currency: 'usd', amount_received: 1000 });
    expect(contradictedFields({}, { before: held, response: lower })).toEqual([]);
    const response = payment({ currency: 'EUR', amount_received: 1000 });
    expect(contradictedFields({}, { before: held, response })).toEqual(['currency']);
    expect(contradictedFields({}, { before: undefined, response })).toEqual([]);
  });
});

import { describe, expect, it } from 'vitest';
import {
  capturePaymentRequest,
  confirmPaymentRequest,
  createPaymentRequest,
  listPaymentsRequest,
  problemsOf,
  updatePaymentRequest,
} from '../../../src/contract/index.ts';
import { BILLING, CARD, CARD_PAYMENT } from './requestBuilders.ts';

const problems = (input: unknown) =>
  problemsOf(createPaymentRequest, input).map(({ code, field }) => `${code} ${field}`);
const without = (field: keyof typeof CARD_PAYMENT) => {
  const { [field]: _, ...rest } = CARD_PAYMENT;
  return rest;
};

describe('creating a payment', () => {
  it('accepts a card payment with every field of the contract', () => {
    const full = {
      ...CARD_PAYMENT,
      customer_id: 'cus_1',
      capture_method: 'manual_multiple',
      authentication_type: 'three_ds',
      description: 'Order 1',
      email: 'ada@example.com',
      name: 'Ada',
      phone: '5550100',
      phone_country_code: '+1',
      return_url: 'https://shop.example/back',
      order_details: [{ name: 'Tea', quantity: 2, amount: 3270, currency: 'USD' }],
      browser_info: { ip_address: '192.0.2.1', time_zone: -60, java_enabled: false },
      metadata: { order_id: '1', nested: { a: [1, null] } },
      customer_acceptance: {
        acceptance_type: 'online',
        accepted_at: '2026-01-01T00:00:00Z',
        online: { ip_address: '192.0.2.1' },
      },
    };
    expect(problems(full)).toEqual([]);
  });

  it.each(['amount', 'currency', 'profile_id'] as const)('requires %s', (field) => {
    expect(problems(without(field))).toEqual([`IR_01 ${field}`]);
  });

  it.each([65.4, '6540'])('names the unit where the amount is %j', (amount) => {
    const [problem] = problemsOf(createPaymentRequest, { ...CARD_PAYMENT, amount });
    expect(problem?.message).toBe(
      'amount: expected a whole number of minor units, such as 6540 for 65.40 USD',
    );
  });

  it.each(['items', 'line_items', 'cart_items'])(
    'rejects %s and names the field to send',
    (name) => {
      const [problem, ...rest] = problemsOf(createPaymentRequest, { ...CARD_PAYMENT, [name]: [] });
      expect(rest).toEqual([]);
      expect(problem).toMatchObject({ code: 'IR_04', field: name });
      expect(problem?.message).toContain('order_details');
    },
  );

  it.each([
    ['billing', 'billing'],
    ['payment_method', 'payment_method'],
  ] as const)('needs %s to be confirmed with details', (field, named) => {
    expect(problems(without(field))).toEqual([`IR_01 ${named}`]);
  });

  it('requires billing on the request with the details, confirmed or not', () => {
    expect(problems({ ...without('billing'), confirm: false })).toEqual(['IR_01 billing']);
  });

  it.each([
    ['3-D Secure', { authentication_type: 'three_ds' }],
    ['a wallet', { payment_method: 'wallet', payment_method_data: undefined }],
    ['a hosted page', { payment_method_data: undefined }],
  ])('needs a way back for the customer with %s', (_, change) => {
    const leaving = { ...CARD_PAYMENT, ...change };
    expect(problems(leaving)).toEqual(['IR_01 return_url']);
    expect(problems({ ...leaving, return_url: 'https://shop.example/' })).toEqual([]);
    expect(problems({ ...leaving, confirm: false })).toEqual([]);
  });

  it('accepts crypto, and rejects details of another method than the one named', () => {
    const crypto = { pay_currency: 'BTC', wallet_address: 'bc1q' };
    const request = { ...CARD_PAYMENT, payment_method: 'crypto', payment_method_data: { crypto } };
    expect(problems(request)).toEqual([]);
    expect(problems({ ...request, payment_method: 'card' })).toEqual(['IR_04 payment_method_data']);
  });

  it('treats undefined details of another method as absent', () => {
    const data = { card: CARD, crypto: undefined };
    expect(problems({ ...CARD_PAYMENT, payment_method_data: data })).toEqual([]);
    const crypto = { ...CARD_PAYMENT, payment_method: 'crypto', payment_method_data: data };
    expect(problems(crypto)).toEqual(['IR_04 payment_method_data']);
  });

  it.each([
    ['none', {}],
    ['two', { card: CARD, crypto: { pay_currency: 'BTC', wallet_address: 'bc1q' } }],
  ])('refuses %s of the details where one is due', (_, data) => {
    expect(problems({ ...CARD_PAYMENT, payment_method_data: data })).toContain(
      'IR_04 payment_method_data',
    );
  });

  it.each([
    ['amount', 0],
    ['amount', 10.5],
    ['amount', '6540'],
    ['amount', 2 ** 53],
    ['currency', 'usd'],
    ['payment_id', ''],
    ['payment_id', 'a b'],
    ['payment_id', 'x'.repeat(65)],
    ['description', ''],
    ['return_url', 'javascript:alert(1)'],
    ['capture_method', 'later'],
    ['customer_id', 'x'.repeat(65)],
    ['order_details', [{ name: 'Tea', quantity: 0, amount: 1 }]],
    ['browser_info', { colour_depth: 24 }],
  ])('refuses %s: %j', (field, value) => {
    const [problem] = problemsOf(createPaymentRequest, { ...CARD_PAYMENT, [field]: value });
    expect(problem?.code).toBe('IR_04');
    expect(problem?.field.startsWith(field)).toBe(true);
  });

  it('accepts a payment_id of 64 characters', () => {
    expect(problems({ ...CARD_PAYMENT, payment_id: `${'x'.repeat(62)}_-` })).toEqual([]);
  });
});

describe('other requests about payments', () => {
  it('update changes five fields and no other', () => {
    const known = { amount: 1, currency: 'EUR', description: 'x', metadata: {}, customer_id: 'c' };
    expect(problemsOf(updatePaymentRequest, known)).toEqual([]);
    expect(problemsOf(updatePaymentRequest, { ...known, capture_method: 'manual' })).toHaveLength(
      1,
    );
  });

  it('confirm leaves billing to the service, which knows the address of the customer', () => {
    expect(problemsOf(confirmPaymentRequest, {})).toEqual([]);
    const details = { payment_method: 'card', payment_method_data: { card: CARD } };
    expect(problemsOf(confirmPaymentRequest, details)).toEqual([]);
    expect(problemsOf(confirmPaymentRequest, { ...details, billing: BILLING })).toEqual([]);
  });

  it('capture accepts a descriptor of 22 characters in both parts together', () => {
    const parts = (prefix: number, suffix: number) => ({
      statement_descriptor_prefix: 'p'.repeat(prefix),
      statement_descriptor_suffix: 's'.repeat(suffix),
    });
    expect(problemsOf(capturePaymentRequest, parts(11, 11))).toEqual([]);
    expect(problemsOf(capturePaymentRequest, parts(11, 12))).toHaveLength(1);
    expect(problemsOf(capturePaymentRequest, { amount_to_capture: 0 })).toHaveLength(1);
  });

  it.each([
    ['limit', 1, true],
    ['limit', 100, true],
    ['limit', 0, false],
    ['limit', 101, false],
    ['offset', 0, true],
    ['offset', -1, false],
    ['status', 'succeeded', true],
    ['status', 'expired', false],
    ['created_gte', '2026-01-01', true],
    ['created_gte', '2026-01-01T00:00:00.000Z', true],
    ['created_lte', 'yesterday', false],
    ['connector', 'x', false],
  ])('list with %s = %j: %s', (field, value, right) => {
    expect(problemsOf(listPaymentsRequest, { [field]: value }).length === 0).toBe(right);
  });
});

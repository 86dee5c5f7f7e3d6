/** What is sent to pay a payout again. */
import { describe, expect, test } from 'vitest';
import { type Payout, payoutSchema } from '../../../src/contract/resources/payout.ts';
import {
  againReference,
  isCancellable,
  isFulfillable,
  isSent,
  replacedBy,
  requestOf,
} from '../../../src/payouts/domain/payAgain.ts';

const STORED = { kind: 'stored', id: 'pm_1' } as const;
const SEPA = {
  kind: 'typed',
  details: { bank_transfer: { payout_method_type: 'sepa', iban: 'DE1', bic: 'X' } },
} as const;

function payoutWith(fields: object = {}): Payout {
  const own = { payout_id: 'po_1', amount: 6540, currency: 'EUR', payout_type: 'bank' };
  return payoutSchema.parse({ ...own, ...fields });
}

describe('the reference (rule 1)', () => {
  test('it names the payout that is replaced, and differs from it', () => {
    expect(againReference('po_1')).not.toBe('po_1');
    expect(replacedBy(againReference('po_1'))).toBe('po_1');
  });

  test.each([null, 'order-1', 'order_again_1', 'order_again_'])('%s names none', (reference) => {
    expect(replacedBy(reference)).toBeUndefined();
  });

  test('the first reference is kept in the metadata, if there is one', () => {
    const request = requestOf(payoutWith({ merchant_order_reference_id: 'order-1' }), STORED);
    expect(request).toMatchObject({
      merchant_order_reference_id: againReference('po_1'),
      metadata: { pays_again: 'po_1', first_reference: 'order-1' },
    });
    expect(requestOf(payoutWith(), STORED)?.metadata).toEqual({ pays_again: 'po_1' });
  });
});

describe('the method (rule 2)', () => {
  test('a stored method is sent by its id, and the payout is confirmed', () => {
    expect(requestOf(payoutWith(), STORED)).toEqual({
      payout_type: 'bank',
      payout_method_id: 'pm_1',
      metadata: { pays_again: 'po_1' },
      amount: 6540,
      currency: 'EUR',
      merchant_order_reference_id: againReference('po_1'),
      confirm: true,
    });
  });

  test('typed details are sent with their type, also where the service did not return one', () => {
    const expected = { payout_type: 'bank', payout_method_data: SEPA.details };
    for (const payout of [payoutWith(), payoutWith({ payout_type: null })]) {
      const request = requestOf(payout, SEPA);
      expect(request).toMatchObject(expected);
      expect(request).not.toHaveProperty('payout_method_id');
    }
  });

  test('details of another type than the payout are refused', () => {
    expect(requestOf(payoutWith({ payout_type: 'wallet' }), SEPA)).toBeUndefined();
    expect(requestOf(payoutWith({ payout_type: 'wallet' }), STORED)).toBeDefined();
  });

  test('without a type, only typed details can be paid to', () => {
    expect(requestOf(payoutWith({ payout_type: null }), STORED)).toBeUndefined();
  });

  test('details that the service would refuse are refused', () => {
    const details = { bank_transfer: { payout_method_type: 'sepa', iban: 'DE1', bic: 7 } };
    // @ts-expect-error A form could send anything.
    expect(requestOf(payoutWith(), { kind: 'typed', details })).toBeUndefined();
  });
});

describe('everything else (rule 3)', () => {
  const COPIED = {
    payout_type: 'bank',
    billing: { address: { city: 'Berlin' } },
    auto_fulfill: false,
    recurring: true,
    entity_type: 'Individual',
    priority: 'instant',
    business_country: 'DE',
    description: 'Wages',
    profile_id: 'pro_1',
  };

  test('fields of the payout are as they were, and its metadata stays', () => {
    const payout = payoutWith({ ...COPIED, customer_id: 'cus_1', metadata: { run: '10' } });
    expect(requestOf(payout, STORED)).toMatchObject({
      ...COPIED,
      customer: { id: 'cus_1' },
      metadata: { run: '10', pays_again: 'po_1' },
    });
  });

  test('a field that is empty or that a request cannot have is left out', () => {
    const request = requestOf(payoutWith({ priority: 'tomorrow', description: null }), STORED);
    expect(request).toBeDefined();
    expect(Object.keys(request ?? {})).not.toContain('priority');
    expect(Object.keys(request ?? {})).not.toContain('description');
    expect(Object.keys(request ?? {})).not.toContain('customer');
  });

  test('metadata that leaves no room for the origin is left out, and the origin is sent', () => {
    const full = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`key${at}`, 'x']));
    const request = requestOf(payoutWith({ metadata: full }), STORED);
    expect(request?.metadata).toEqual({ pays_again: 'po_1' });
  });
});

describe('by its status', () => {
  test.each([
    ['requires_fulfillment', true],
    ['requires_creation', true],
    ['initiated', true],
    ['pending', true],
    ['success', false],
    ['failed', false],
    ['cancelled', false],
    [null, false],
  ])('a payout that is %s can be cancelled: %s', (status, expected) => {
    expect(isCancellable(status)).toBe(expected);
  });

  test.each([
    ['requires_fulfillment', true],
    ['requires_creation', false],
    ['success', false],
    [null, false],
  ])('a payout that is %s waits to be sent: %s', (status, expected) => {
    expect(isFulfillable(status)).toBe(expected);
  });

  test.each([
    ['success', true],
    ['initiated', true],
    ['pending', true],
    ['failed', true],
    ['reversed', true],
    ['requires_fulfillment', false],
    ['requires_creation', false],
    ['cancelled', false],
    ['expired', false],
    ['ineligible', false],
  ])('the money of a payout that is %s was sent: %s', (status, expected) => {
    expect(isSent(status)).toBe(expected);
  });
});

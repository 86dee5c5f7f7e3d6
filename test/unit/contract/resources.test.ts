import { describe, expect, expectTypeOf, it } from 'vitest';
import {
  type Dispute,
  type Payment,
  RESOURCE_KINDS,
  RESOURCES,
  type ResourceKind,
} from '../../../src/contract/resources/index.ts';

const BILLING = {
  address: {
    line1: '1 Main Street',
    city: 'Springfield',
    state: 'IL',
    zip: '62701',
    country: 'US',
    first_name: 'Jo',
    last_name: 'Doe',
  },
  phone: { number: '5550100', country_code: '+1' },
};

/** One body of each kind with every field of the contract, and fields of the family where it names none. */
const SAMPLES = {
  payment: {
    payment_id: 'pay_1',
    merchant_id: 'merchant_1',
    status: 'failed',
    amount: 6540,
    amount_received: 0,
    amount_capturable: 0,
    currency: 'USD',
    capture_method: 'manual',
    payment_method: 'card',
    payment_method_data: {
      card: { last4: '4242', brand: 'Visa', exp_month: '03', exp_year: '2030' },
    },
    customer_id: 'cus_1',
    email: 'jo@example.com',
    description: 'Two shirts',
    statement_descriptor: 'SHIRTS',
    metadata: { order_id: 'order_1', size: 'L' },
    client_secret: 'pay_1_secret_x',
    created: '2026-11-01T10:00:00.000Z',
    modified_at: '2026-11-01T10:00:05.000Z',
    captured_at: '2026-11-01T10:00:05.000Z',
    cancelled_at: '2026-11-01T10:00:05.000Z',
    cancellation_reason: 'changed their mind',
    unified_code: 'UE_1001',
    unified_message: 'Insufficient funds',
    error_code: '51',
    error_message: 'NSF',
    error_details: {
      unified_details: { category: 'UE_1xxx', message: 'Insufficient funds' },
      issuer_details: { code: '51', message: 'NSF', network_details: { name: 'Visa' } },
      connector_details: { code: 'card_declined', message: 'Declined', reason: 'nsf' },
    },
    billing: BILLING,
    order_details: [{ name: 'Shirt', quantity: 2, amount: 3270, currency: 'USD' }],
    next_action: { type: 'redirect_to_url', redirect_to_url: 'https://example.com/3ds' },
    updated: '2026-11-01T10:00:05.000Z',
    capture_before: '2026-11-08T10:00:00.000Z',
    expires_on: '2026-11-01T10:15:00.000Z',
    attempt_count: 2,
    merchant_order_reference_id: 'order_1',
    captures: [{ capture_id: 'cap_1', status: 'charged', amount: 100, currency: 'USD' }],
    refunds: [{ refund_id: 'ref_1', amount: 100, status: 'succeeded' }],
    disputes: [{ dispute_id: 'dp_1', dispute_status: 'dispute_opened' }],
  },
  refund: {
    refund_id: 'ref_1',
    payment_id: 'pay_1',
    amount: 100,
    currency: 'USD',
    status: 'succeeded',
    reason: 'too small',
    refund_type: 'Instant',
    metadata: { ticket: 'T-1' },
    created: '2026-11-02T10:00:00.000Z',
    modified_at: '2026-11-02T10:00:05.000Z',
    created_at: '2026-11-02T10:00:00.000Z',
    updated_at: '2026-11-02T10:00:05.000Z',
  },
  dispute: {
    dispute_id: 'dp_1',
    status: 'submitted',
    evidence_submitted_at: '2026-11-03T10:00:00.000Z',
    payment_id: 'pay_1',
    attempt_id: 'pay_1_1',
    amount: '6540',
    currency: 'USD',
    dispute_stage: 'dispute',
    dispute_status: 'dispute_opened',
    connector: 'acquirer',
    connector_status: 'needs_response',
    connector_dispute_id: 'dp_at_acquirer',
    connector_reason: 'fraudulent',
    connector_reason_code: '10.4',
    challenge_required_by: '2026-11-12T23:59:59.000Z',
    created_at: '2026-11-03T09:00:00.000Z',
    is_already_refunded: false,
  },
  payout: {
    payout_id: 'po_1',
    merchant_id: 'merchant_1',
    merchant_order_reference_id: 'order_1',
    amount: 5000,
    currency: 'EUR',
    payout_type: 'bank',
    payout_method_data: {
      bank: {
        bank_account_number: '****6789',
        bank_routing_number: '110000000',
        account_holder_name: 'Jo Doe',
      },
    },
    billing: null,
    auto_fulfill: true,
    customer_id: 'cus_1',
    customer: {
      id: 'cus_1',
      name: 'Jo Doe',
      email: 'jo@example.com',
      phone: '5550100',
      phone_country_code: '+1',
    },
    client_secret: 'po_1_secret_x',
    return_url: 'https://example.com/back',
    business_country: 'US',
    description: 'Commission',
    entity_type: 'Individual',
    recurring: false,
    metadata: null,
    status: 'requires_fulfillment',
    error_message: null,
    error_code: null,
    profile_id: 'pro_1',
    created: '2026-11-04T10:00:00.000Z',
    connector_transaction_id: null,
    priority: null,
    attempts: null,
    payout_link: null,
    unified_code: null,
    unified_message: null,
    payout_method_id: null,
  },
} as const satisfies Record<ResourceKind, Readonly<Record<string, unknown>>>;

const MONEY_FIELDS = ['amount', 'amount_received', 'amount_capturable', 'net_amount', 'currency'];

describe.each(RESOURCE_KINDS)('a %s', (kind) => {
  const { idField, schema } = RESOURCES[kind];
  const sample: Readonly<Record<string, unknown>> = SAMPLES[kind];

  it('is read completely when it has every documented field', () => {
    expect(schema.parse(sample)).toEqual(sample);
  });

  it('requires only its own id', () => {
    const bare = { [idField]: 'id_1' };
    expect(schema.parse(bare)).toEqual(bare);
    const { [idField]: _, ...rest } = sample;
    expect(schema.safeParse(rest).success).toBe(false);
    expect(schema.safeParse({ ...sample, [idField]: '' }).success).toBe(false);
  });

  it('may have null wherever a field may be absent', () => {
    const nulls = Object.fromEntries(
      Object.keys(schema.shape).map((field) => [field, field === idField ? 'id_1' : null]),
    );
    expect(schema.parse(nulls)).toEqual(nulls);
  });

  it('keeps unknown fields and statuses', () => {
    const later = { ...sample, status: 'teleported', split: { parts: [1, 2] } };
    expect(schema.parse(later)).toEqual(later);
  });

  // Beyond 2^53 - 1 JSON.parse has already changed the number; a fraction is no minor unit.
  it.each([65.4, 2 ** 53, true, {}])('is rejected with the amount %s', (amount) => {
    expect(schema.safeParse({ ...sample, amount }).success).toBe(false);
  });

  // One field of another type once prevented the reconciliation of a whole list.
  it('treats any field of another type as absent, except id and money', () => {
    const strict = new Set([idField, ...MONEY_FIELDS]);
    for (const field of Object.keys(schema.shape).filter((name) => !strict.has(name))) {
      for (const odd of [1.5, -3, 'x', true, [], [1], [{ amount: 0.5 }], {}, { a: [] }]) {
        const body = { ...sample, [field]: odd };
        const read: Readonly<Record<string, unknown>> = schema.parse(body);
        expect([odd, undefined], field).toContainEqual(read[field]);
        expect({ ...read, [field]: 0 }, field).toEqual({ ...body, [field]: 0 });
      }
    }
  });

  it('has a sample with fields of its schema only', () => {
    expect(Object.keys(sample).filter((field) => !(field in schema.shape))).toEqual([]);
  });
});

describe('the forms of an amount', () => {
  it('are integers for payments, refunds and payouts, never text', () => {
    for (const kind of ['payment', 'refund', 'payout'] as const) {
      const body = { ...SAMPLES[kind], amount: '6540' };
      expect(RESOURCES[kind].schema.safeParse(body).success, kind).toBe(false);
    }
    expectTypeOf<Payment['amount']>().toEqualTypeOf<number | null | undefined>();
  });

  it('are text or an integer for disputes', () => {
    for (const amount of ['6540', 6540]) {
      const body = { ...SAMPLES.dispute, amount };
      expect(RESOURCES.dispute.schema.parse(body).amount).toBe(amount);
    }
    expectTypeOf<Dispute['amount']>().toEqualTypeOf<string | number | null | undefined>();
  });
});

describe('a payment', () => {
  it('is read from the five fields of a list row', () => {
    const row = {
      payment_id: 'pay_1',
      status: 'succeeded',
      amount: 6540,
      currency: 'USD',
      created: '2026-11-01T10:00:00.000Z',
    };
    expect(RESOURCES.payment.schema.parse(row)).toEqual(row);
  });
});

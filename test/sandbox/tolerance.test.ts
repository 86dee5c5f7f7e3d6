/**
 * Requests as shops send them to services of the family: such a shop runs on the sandbox with another
 * base URL, key, profile and billing. The shapes are those of public requests, in our words.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ENDPOINTS, type Endpoint } from '../../src/contract/index.ts';
import { nearestName } from '../../src/sandbox/http/tolerate.ts';
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts';
import { BILLING, card, cardPayment } from '../support/sandboxRequests.ts';
import type { Body, Reply } from '../support/serviceApi.ts';

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox();
});
afterAll(() => sandbox.close());

const post = (path: string, body: object): Promise<Reply> => sandbox.call('POST', path, body);

async function accepted(path: string, body: object): Promise<Body> {
  const reply = await post(path, body);
  expect({ status: reply.status, body: reply.body }).toMatchObject({ status: 200 });
  return reply.body;
}

async function ignored(): Promise<readonly string[]> {
  const { data } = await sandbox.control('GET', '/ignored_fields');
  return data.map(({ method, path, field }: Body) => `${method} ${path} ${field}`);
}

/** What a shop of the family sends to create a payment, beyond what the contract names. */
const FAMILY_PAYMENT = {
  setup_future_usage: 'off_session',
  amount_to_capture: 6540,
  statement_descriptor_name: 'Shirts',
  statement_descriptor_suffix: '1001',
  shipping: { address: BILLING.address, phone: BILLING.phone },
  capture_on: '2026-09-10T10:11:12Z',
  connector_metadata: { noon: { order_category: 'applepay' } },
  mandate_data: null,
  surcharge_details: null,
  routing: { type: 'single', data: 'processor' },
  merchant_order_reference_id: 'ord_1',
  test_mode: true,
  payment_link: false,
};

describe('a shop that was written against the family', () => {
  test('creates and confirms, captures and refunds with its own requests', async () => {
    const made = await accepted('/payments?force_sync=true&expand=all', {
      ...cardPayment(FAMILY_PAYMENT),
      capture_method: 'Manual',
      currency: 'usd',
      authentication_type: 'NO_THREE_DS',
      payment_method: 'CARD',
      payment_method_type: 'debit',
      customer_id: null,
      description: null,
      metadata: null,
      order_details: null,
      browser_info: {
        user_agent: 'Browser',
        color_depth: 24,
        java_enabled: true,
        ip_address: null,
        device_fingerprint: 'x',
      },
      billing: {
        ...BILLING,
        address: { ...BILLING.address, line2: null, line3: 'Door 3' },
        email: 'ada@example.com',
      },
    });
    expect(made).toMatchObject({
      status: 'requires_capture',
      currency: 'USD',
      capture_method: 'manual',
      payment_method: 'card',
      authentication_type: 'no_three_ds',
    });
    for (const field of ['shipping', 'setup_future_usage', 'amount_to_capture']) {
      expect(made, field).not.toHaveProperty(field);
    }
    await accepted(`/payments/${made.payment_id}/capture`, {
      amount_to_capture: 6540,
      statement_descriptor_name: 'Shirts',
      statement_descriptor_suffix: '1001',
      refund_uncaptured_amount: false,
      merchant_id: null,
    });
    const refund = await accepted('/refunds', {
      payment_id: made.payment_id,
      amount: 100,
      reason: 'Customer returned product',
      refund_type: 'instant',
      merchant_connector_details: null,
    });
    expect(refund).toMatchObject({ status: 'succeeded', refund_type: 'Instant' });
    expect(await ignored()).toEqual(
      expect.arrayContaining([
        'POST /payments shipping',
        'POST /payments setup_future_usage',
        'POST /payments billing.address.line3',
        'POST /payments browser_info.device_fingerprint',
        'POST /payments/:payment_id/capture refund_uncaptured_amount',
        'POST /refunds merchant_connector_details',
      ]),
    );
  });

  test('names the items of an order as the family does', async () => {
    const item = { product_name: 'Tea', quantity: 1, amount: 6540, product_img_link: 'x' };
    const made = await accepted('/payments', cardPayment({ order_details: [item] }));
    expect(made.order_details).toEqual([{ name: 'Tea', quantity: 1, amount: 6540 }]);
    const both = { ...item, name: 'Green tea' };
    const { order_details } = await accepted('/payments', cardPayment({ order_details: [both] }));
    expect(order_details).toEqual([{ name: 'Green tea', quantity: 1, amount: 6540 }]);
  });

  test('confirms later, with the client secret in the body', async () => {
    const { payment_id, client_secret } = await accepted('/payments', {
      amount: 6540,
      currency: 'USD',
      profile_id: sandbox.profileId,
      confirm: false,
      ...FAMILY_PAYMENT,
    });
    const confirmed = await accepted(`/payments/${payment_id}/confirm`, {
      client_secret,
      payment_method: 'card',
      payment_method_data: {
        card: {
          ...(card() as { card: object }).card,
          card_issuer: null,
          card_network: null,
          nick_name: 'Mine',
        },
      },
      billing: BILLING,
      customer_acceptance: { acceptance_type: 'offline', online: { ip_address: '127.0.0.1' } },
      payment_type: 'normal',
    });
    expect(confirmed).toMatchObject({ status: 'succeeded' });
  });

  test('keeps customers and pays out with its own requests', async () => {
    const customer = await accepted('/customers', {
      name: 'Ada Lovelace',
      email: null,
      tax_registration_id: '1',
      document_details: { document_type: 'cpf', document_number: '1' },
      address: { line1: '1 Main Street', line3: 'Door 3', country: 'us' },
    });
    await accepted('/payouts/create', {
      amount: 100,
      currency: 'eur',
      customer_id: customer.customer_id,
      payout_type: 'BANK',
      payout_method_data: {
        bank_transfer: { payout_method_type: 'SEPA', iban: 'DE00', bic: 'B', bank_name: null },
      },
      entity_type: 'individual',
      priority: 'Regular',
      connector: ['processor'],
      business_label: 'default',
      phone: null,
    });
  });

  test('reads lists with undocumented parameters', async () => {
    const query = 'limit=2&status=SUCCEEDED&created.gte=2026-01-01T00:00:00Z&expand_attempts=true';
    const reply = await sandbox.call('GET', `/payments/list?${query}`);
    expect(reply.status).toBe(200);
    expect((await sandbox.call('GET', '/payments/list?limit=101&any=1')).status).toBe(400);
  });
});

describe('requests that are still rejected', () => {
  test.each([
    ['paymentId', 'payment_id'],
    ['payment-id', 'payment_id'],
    ['paymnet_id', 'payment_id'],
    ['payment_Id', 'payment_id'],
    ['payment_ids', 'payment_id'],
    ['amuont', 'amount'],
    ['captureMethod', 'capture_method'],
    ['meta_data', 'metadata'],
  ])('the near miss %s is rejected, with the hint %s', async (name, meant) => {
    const reply = await post('/payments', cardPayment({ [name]: 'x' }));
    expect(reply).toMatchObject({ status: 400, body: { error: { code: 'IR_04' } } });
    expect(reply.body.error.message).toBe(
      `${name}: not a field of this request; did you mean ${meant}?`,
    );
  });

  test('a near miss inside an object is rejected with its path', async () => {
    const billing = { ...BILLING, address: { ...BILLING.address, zipp: '62701' } };
    const reply = await post('/payments', cardPayment({ billing }));
    expect(reply.status).toBe(200);
    const misspelled = { ...BILLING, address: { ...BILLING.address, first_nam: 'Ada' } };
    const rejected = await post('/payments', cardPayment({ billing: misspelled }));
    expect(rejected.body.error.message).toContain('billing.address.first_nam: not a field');
  });

  test.each(['items', 'line_items', 'cart_items'])('%s, which is forbidden', async (name) => {
    const reply = await post('/payments', cardPayment({ [name]: [] }));
    expect(reply).toMatchObject({ status: 400, body: { error: { code: 'IR_04' } } });
  });

  test.each([
    ['a required field that is null', { amount: null }],
    ['a value that the enumeration does not have', { capture_method: 'scheduled' }],
    ['a field of another type', { description: 17 }],
  ])('%s', async (_what, fields) => {
    expect((await post('/payments', cardPayment(fields))).status).toBe(400);
  });

  test.each([
    ['an unknown field', { shipping: {} }],
    ['a null', { description: null }],
    ['another case', { capture_method: 'MANUAL' }],
    [
      "the family's name of a field",
      { order_details: [{ product_name: 'Tea', quantity: 1, amount: 1 }] },
    ],
  ])('in strict mode also %s', async (_what, fields) => {
    expect((await post('/payments', cardPayment(fields))).status).toBe(200);
    await sandbox.control('PUT', '/faults', { strict_requests: true });
    const reply = await post('/payments', cardPayment(fields));
    await sandbox.control('DELETE', '/faults');
    expect(reply).toMatchObject({ status: 400, body: { error: { type: 'invalid_request' } } });
  });
});

/** Field names of the family that the contract does not have, by endpoint. */
const FAMILY_NAMES: readonly (readonly [keyof typeof ENDPOINTS, readonly string[]])[] = [
  [
    'createPayment',
    `${Object.keys(FAMILY_PAYMENT).join(' ')} business_country business_label client_secret connector
    customer mandate_id off_session payment_experience payment_token payment_type recurring_details
    session_expiry frm_metadata allowed_payment_method_types retry_action merchant_connector_details
    payment_link_config payment_link_config_id request_incremental_authorization split_payments
    order_tax_amount skip_external_tax_calculation psd2_sca_exemption_type platform_merchant_id
    all_keys_required force_3ds_challenge threeds_method_comp_ind is_payment_id_from_merchant
    order_category shipping_cost tax_details net_amount feature_metadata customer_present`.split(
      /\s+/,
    ),
  ],
  [
    'confirmPayment',
    `client_secret connector setup_future_usage mandate_data mandate_id payment_token shipping email
    payment_type off_session recurring_details all_keys_required`.split(/\s+/),
  ],
  ['capturePayment', ['refund_uncaptured_amount', 'merchant_id', 'statement_descriptor_name']],
  ['createRefund', ['merchant_id', 'merchant_connector_details', 'split_refunds']],
  ['createCustomer', ['tax_registration_id', 'document_details', 'connector_customer', 'shipping']],
  [
    'createPayout',
    `connector routing business_label client_secret merchant_connector_id payout_link_id
    custom_payout_link_config additional_payout_method_data`.split(/\s+/),
  ],
];

test.each(FAMILY_NAMES)('no field name of the family is a near miss for %s', (endpoint, names) => {
  const { body }: Endpoint = ENDPOINTS[endpoint];
  const known = Object.keys((body as unknown as { shape: object }).shape);
  const unknown = names.filter((name) => !known.includes(name));
  const missed = unknown.flatMap((name) => {
    const meant = nearestName(name, known);
    return meant === undefined ? [] : [`${name}: ${meant}`];
  });
  expect(missed).toEqual([]);
});

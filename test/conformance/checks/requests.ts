/**
 * Valid requests with every optional field, of which a check changes one field.
 * The names are those that statements use; what follows a colon names a variant.
 */
import type { EndpointName } from '../../../src/contract/index.ts';
import { card } from '../../support/sandboxRequests.ts';
import type { Reply } from '../../support/serviceApi.ts';
import { ACH, ADDRESS, BILLING, chosenId, ok, type Service } from './service.ts';

export interface Prepared {
  readonly endpoint: EndpointName;
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly path: string;
  readonly body: object;
  readonly admin?: boolean;
}

type Prepare = (service: Service) => Promise<Prepared> | Prepared;

const BROWSER_INFO = {
  ip_address: '192.0.2.1',
  user_agent: 'Browser',
  accept_header: '*/*',
  accept_language: 'en',
  language: 'en',
  color_depth: 24,
  screen_height: 900,
  screen_width: 1440,
  time_zone: 0,
  java_enabled: false,
  java_script_enabled: true,
  os_type: 'Linux',
  os_version: '6',
  device_model: 'Phone',
  referer: 'https://shop.example/',
};

const METHOD = {
  payment_method: 'card',
  payment_method_type: 'credit',
  payment_method_data: {
    card: { ...(card() as { card: object }).card, card_holder_name: 'Ada Lovelace' },
  },
  billing: BILLING,
  return_url: 'https://shop.example/return',
  browser_info: BROWSER_INFO,
  customer_acceptance: { acceptance_type: 'online' },
};

const customerId = (service: Service): Promise<string> =>
  service.once(
    'customer',
    async () => (await service.customer({ address: undefined })).customer_id,
  );

/** An unconfirmed payment without a method. */
const blank = async (service: Service): Promise<string> =>
  ok(await service.post('/payments', { amount: 6540, currency: 'USD', profile_id: 'pro_local' }))
    .payment_id;

const createPayment = (body: object): Prepared => ({
  endpoint: 'createPayment',
  method: 'POST',
  path: '/payments',
  body,
});

const createPayout = (body: object): Prepared => ({
  endpoint: 'createPayout',
  method: 'POST',
  path: '/payouts/create',
  body: { amount: 5000, currency: 'EUR', ...body },
});

const transfers = {
  ach: { bank_account_number: '000123456789', bank_routing_number: '110000000' },
  bacs: { bank_account_number: '12345678', bank_sort_code: '108800' },
  sepa: { iban: 'DE89370400440532013000', bic: 'COBADEFFXXX' },
  pix: {
    bank_account_number: '123456',
    bank_name: 'Bank',
    bank_branch: '1',
    tax_id: '1',
    ispb: '1',
  },
  pix_key: { pix_key: 'ada@example.com' },
  pix_emv: { emv: '000201' },
  trustly: {
    iban: 'DE89370400440532013000',
    bank_country_code: 'DE',
    bank_account_number: '1234567890',
    bank_number: '37040044',
  },
  open_banking: { account_holder_name: 'Ada Lovelace', iban: 'DE89370400440532013000' },
};
const FOUR = {
  bank_name: 'Bank',
  bank_country_code: 'US',
  bank_city: 'Springfield',
  account_holder_name: 'Ada Lovelace',
};
const WITH_FOUR = new Set(['ach', 'bacs', 'sepa']);

const PAYOUT_CARD = {
  expiry_month: '12',
  expiry_year: '2039',
  card_holder_name: 'Ada Lovelace',
  card_network: 'Visa',
};

const transferVariants = Object.fromEntries(
  Object.entries(transfers).flatMap(([type, fields]): [string, Prepare][] => {
    const transfer = { payout_method_type: type, ...fields, ...(WITH_FOUR.has(type) && FOUR) };
    const method = { payout_type: 'bank', payout_method_data: { bank_transfer: transfer } };
    return [
      [`createPayout:${type}`, () => createPayout(method)],
      [`createPayout:source:${type}`, () => createPayout({ source_bank_data: transfer })],
    ];
  }),
);

const otherMethods: Readonly<Record<string, object>> = {
  card: {
    payout_type: 'card',
    payout_method_data: { card: { card_number: '4242424242424242', ...PAYOUT_CARD } },
  },
  apple_pay_decrypt: {
    payout_type: 'wallet',
    payout_method_data: {
      wallet: { apple_pay_decrypt: { dpan: '4242424242424242', ...PAYOUT_CARD } },
    },
  },
  google_pay_decrypt: {
    payout_type: 'wallet',
    payout_method_data: {
      wallet: {
        google_pay_decrypt: {
          application_primary_account_number: '4242424242424242',
          ...PAYOUT_CARD,
        },
      },
    },
  },
  paypal: {
    payout_type: 'wallet',
    payout_method_data: {
      wallet: {
        paypal: { email: 'ada@example.com', telephone_number: '5550100', paypal_id: 'pp_1' },
      },
    },
  },
  venmo: {
    payout_type: 'wallet',
    payout_method_data: { wallet: { venmo: { telephone_number: '5550100' } } },
  },
  interac: {
    payout_type: 'bank_redirect',
    payout_method_data: { bank_redirect: { interac: { email: 'ada@example.com' } } },
  },
  open_banking_uk: {
    payout_type: 'bank_redirect',
    payout_method_data: {
      bank_redirect: {
        open_banking_uk: { account_holder_name: 'Ada Lovelace', iban: 'GB29NWBK60161331926819' },
      },
    },
  },
  passthrough: {
    payout_method_data: {
      passthrough: { psp_token: 'tok_1', psp_customer_id: 'cus_1', token_type: 'credit' },
    },
  },
};

const methodVariants = Object.fromEntries(
  Object.entries(otherMethods).map(([name, fields]): [string, Prepare] => [
    `createPayout:${name}`,
    () => createPayout(fields),
  ]),
);

const listOf = (endpoint: EndpointName, path: string, body: object = {}): Prepared => ({
  endpoint,
  method: 'POST',
  path,
  body: { limit: 10, offset: 0, ...body },
});
const queryOf = (endpoint: EndpointName, path: string): Prepared => ({
  ...listOf(endpoint, path),
  method: 'GET',
});

const METRICS_QUERY = {
  timeRange: { startTime: '2020-01-01T00:00:00Z', endTime: '2039-01-01T00:00:00Z' },
  source: 'BATCH',
  delta: true,
  timeSeries: { granularity: 'G_ONE_DAY' },
  groupByNames: ['currency'],
};

const metrics = (
  kind: 'payments' | 'refunds',
  names: readonly string[],
  filters: object,
): Prepared => ({
  endpoint: kind === 'payments' ? 'retrievePaymentMetrics' : 'retrieveRefundMetrics',
  method: 'POST',
  path: `/analytics/v1/merchant/metrics/${kind}`,
  body: [{ ...METRICS_QUERY, metrics: names, filters }],
});

const REQUESTS: Readonly<Record<string, Prepare>> = {
  createApiKey: () => ({
    endpoint: 'createApiKey',
    method: 'POST',
    path: '/api_keys/merchant_local',
    body: { name: 'Back office', description: 'Refunds by hand', expiration: 'never' },
    admin: true,
  }),
  createPayment: async (service) =>
    createPayment({
      amount: 6540,
      currency: 'USD',
      profile_id: 'pro_local',
      payment_id: chosenId(),
      customer_id: await customerId(service),
      confirm: true,
      capture_method: 'automatic',
      authentication_type: 'no_three_ds',
      description: 'Two shirts',
      email: 'ada@example.com',
      name: 'Ada Lovelace',
      phone: '5550100',
      phone_country_code: '+1',
      ...METHOD,
      order_details: [{ name: 'Shirt', quantity: 2, amount: 3270, currency: 'USD' }],
      metadata: { order_id: 'ord_1' },
    }),
  'createPayment:crypto': () =>
    createPayment({
      amount: 6540,
      currency: 'USD',
      profile_id: 'pro_local',
      confirm: true,
      payment_method: 'crypto',
      payment_method_type: 'crypto_currency',
      payment_method_data: {
        crypto: {
          pay_currency: 'BTC',
          wallet_address: 'bc1example',
          network: 'bitcoin',
          wallet_address_tag: '7',
          payment_method_id: 'pm_1',
          external_customer_id: 'ext_1',
        },
      },
      billing: BILLING,
      return_url: 'https://shop.example/return',
    }),
  /** Names its method and sends no details of it. */
  'createPayment:method': () =>
    createPayment({
      amount: 6540,
      currency: 'USD',
      profile_id: 'pro_local',
      confirm: true,
      payment_method: 'card',
      return_url: 'https://shop.example/return',
    }),
  updatePayment: async (service) => ({
    endpoint: 'updatePayment',
    method: 'POST',
    path: `/payments/${await blank(service)}`,
    body: {
      amount: 6000,
      currency: 'USD',
      description: 'One book',
      metadata: { order_id: 'ord_2' },
      customer_id: await customerId(service),
    },
  }),
  confirmPayment: async (service) => ({
    endpoint: 'confirmPayment',
    method: 'POST',
    path: `/payments/${await blank(service)}/confirm`,
    body: METHOD,
  }),
  listPayments: () => listOf('listPayments', '/payments/list', { currency: 'USD' }),
  listPaymentsByQuery: () => queryOf('listPaymentsByQuery', '/payments/list'),
  capturePayment: async (service) => ({
    endpoint: 'capturePayment',
    method: 'POST',
    path: `/payments/${(await service.hold()).payment_id}/capture`,
    body: {
      amount_to_capture: 6540,
      statement_descriptor_prefix: 'SHIRTS',
      statement_descriptor_suffix: '1001',
    },
  }),
  cancelPayment: async (service) => ({
    endpoint: 'cancelPayment',
    method: 'POST',
    path: `/payments/${(await service.hold()).payment_id}/cancel`,
    body: { cancellation_reason: 'Out of stock' },
  }),
  createCustomer: () => ({
    endpoint: 'createCustomer',
    method: 'POST',
    path: '/customers',
    body: {
      customer_id: chosenId(),
      email: 'ada@example.com',
      name: 'Ada Lovelace',
      phone: '5550100',
      phone_country_code: '+1',
      description: 'Buys shirts',
      address: ADDRESS,
      metadata: { tier: 'gold' },
    },
  }),
  createRefund: async (service) => ({
    endpoint: 'createRefund',
    method: 'POST',
    path: '/refunds',
    body: {
      payment_id: (await service.payment()).payment_id,
      refund_id: chosenId(),
      amount: 1000,
      reason: 'Damaged',
      refund_type: 'Instant',
      metadata: { return_id: 'rma_1' },
    },
  }),
  updateRefund: async (service) => ({
    endpoint: 'updateRefund',
    method: 'POST',
    path: `/refunds/${(await service.refund()).refund_id}`,
    body: { reason: 'Late', metadata: { return_id: 'rma_2' } },
  }),
  submitEvidence: async (service) => ({
    endpoint: 'submitEvidence',
    method: 'POST',
    path: '/disputes/evidence',
    body: {
      dispute_id: (await service.dispute()).dispute_id,
      uncategorized_text: 'See the receipt',
    },
  }),
  createPaymentLink: () => ({
    endpoint: 'createPaymentLink',
    method: 'POST',
    path: '/payment_link',
    body: {
      amount: 6540,
      currency: 'USD',
      description: 'Two shirts',
      link_type: 'one_time',
      expiry: '2039-01-01T00:00:00Z',
      send_email: false,
      email: 'ada@example.com',
      capture_method: 'automatic',
      authentication_type: 'three_ds',
      require_customer_info: true,
      payment_link_config: {
        seller_name: 'Shirts',
        sdk_layout: 'tabs',
        allowed_payment_method_types: ['credit'],
      },
    },
  }),
  createPayout: () =>
    createPayout({
      merchant_order_reference_id: chosenId(),
      payout_type: 'bank',
      payout_method_data: ACH,
      source_bank_data: { payout_method_type: 'sepa', ...transfers.sepa },
      payout_method_id: 'pm_1',
      customer: {
        id: chosenId(),
        name: 'Ada Lovelace',
        email: 'ada@example.com',
        phone: '5550100',
        phone_country_code: '+1',
        tax_registration_id: 'tax_1',
        document_details: { document_type: 'other', document_number: '1' },
      },
      billing: { ...BILLING, email: 'ada@example.com' },
      confirm: false,
      auto_fulfill: false,
      recurring: false,
      entity_type: 'Individual',
      priority: 'regular',
      business_country: 'US',
      profile_id: 'pro_local',
      description: 'Royalties',
      return_url: 'https://shop.example/return',
      metadata: { author: 'a_1' },
      session_expiry: 600,
      payout_link: false,
      payout_link_config: { merchant_name: 'Shirts' },
      browser_info: BROWSER_INFO,
    }),
  'createPayout:bare': () => createPayout({}),
  ...transferVariants,
  ...methodVariants,
  updatePayout: async (service) => {
    const body = { amount: 4000, currency: 'EUR', payout_type: 'bank', payout_method_data: ACH };
    const { payout_id } = await service.payout();
    return { endpoint: 'updatePayout', method: 'PUT', path: `/payouts/${payout_id}`, body };
  },
  refundMetrics: () =>
    metrics('refunds', ['refund_count'], {
      currency: ['USD'],
      refund_status: ['succeeded'],
      profile_id: ['pro_local'],
    }),
  paymentMetrics: () => metrics('payments', ['payment_count'], { currency: ['USD'] }),
  listRefunds: () => listOf('listRefunds', '/refunds/list'),
  listPayouts: () => listOf('listPayouts', '/payouts/list'),
  listPaymentLinks: () => listOf('listPaymentLinks', '/payment_link/list'),
  listCustomers: () => queryOf('listCustomers', '/customers/list'),
  listDisputes: () => queryOf('listDisputes', '/disputes/list'),
  listApiKeys: () => ({ ...queryOf('listApiKeys', '/api_keys/merchant_local/list'), admin: true }),
};

export async function prepare(service: Service, name: string): Promise<Prepared> {
  const make = REQUESTS[name];
  if (make === undefined) throw new Error(`no request is called ${name}`);
  return await make(service);
}

export function sendPrepared(service: Service, request: Prepared): Promise<Reply> {
  const { method, path, body, admin } = request;
  const send = admin ? service.asAdmin : service.call;
  if (method !== 'GET') return send(method, path, body);
  const query = new URLSearchParams(
    Object.entries(body).map(([name, value]): [string, string] => [name, String(value)]),
  );
  return send(method, `${path}?${query}`);
}

/** Values that must be created first: an unused id, an existing customer, a file, long text. */
export async function resolveValue(
  service: Service,
  value: unknown,
  request: Prepared,
): Promise<unknown> {
  switch (value) {
    case '$fresh':
      return chosenId();
    case '$customer':
      return (await service.customer()).customer_id;
    case '$billing':
      return BILLING;
    case '$succeeded':
      return (await service.payment()).payment_id;
    case '$file':
      return service.uploadFile((request.body as { dispute_id: string }).dispute_id);
    case '$255':
      return 'x'.repeat(255);
    case '$256':
      return 'x'.repeat(256);
    default:
      return value;
  }
}

/** Conventions that hold for every endpoint. */
import { expect } from 'vitest';
import { ENDPOINTS } from '../../../../src/contract/index.ts';
import { cardPayment } from '../../../support/sandboxRequests.ts';
import type { Body } from '../../../support/serviceApi.ts';
import { withValue } from '../paths.ts';
import { prepare, sendPrepared } from '../requests.ts';
import { sample } from '../samples.ts';
import { BILLING, ok, refused, type Service } from '../service.ts';
import type { Scenarios } from './scenario.ts';

/** ISO 4217, list one, written a second time so that a mistake in the contract shows. */
const CURRENCIES = `AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BHD BIF BMD BND BOB BRL BSD BTN
  BWP BYN BZD CAD CDF CHF CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP
  GEL GHS GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF
  KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR
  MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG
  SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD UYU
  UZS VED VES VND VUV WST XAF XCD XCG XOF XPF YER ZAR ZMW ZWG`
  .trim()
  .split(/\s+/);

/** Every sample with amounts or times. */
const SAMPLES = [
  'payment',
  'payment.created',
  'payment.captured',
  'payment.cancelled',
  'payment.failed',
  'capture',
  'cancel',
  'approve',
  'list.payments',
  'list.refunds',
  'list.disputes',
  'list.payouts',
  'list.payment_links',
  'customer',
  'refund',
  'dispute',
  'evidence',
  'payout',
  'payout.failed',
  'apiKey.created',
  'event',
];

const ISO_8601 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/;

/** Every field of a response at any depth, by its name. */
function fieldsOf(value: unknown): readonly (readonly [string, unknown])[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [
    [name, inner] as const,
    ...(name === 'metadata' ? [] : fieldsOf(inner)),
  ]);
}

async function namedFields(
  service: Service,
  pattern: RegExp,
): Promise<readonly (readonly [string, unknown])[]> {
  const bodies: Body[] = [];
  for (const name of SAMPLES) bodies.push(await sample(service, name));
  return bodies
    .flatMap(fieldsOf)
    .filter(([name, value]) => pattern.test(name) && value !== null && value !== undefined);
}

async function refusesCurrency(service: Service, request: string): Promise<void> {
  const base = await prepare(service, request);
  for (const currency of ['ZZZ', 'QQQ', 'XYZ']) {
    const bent = { ...base, body: withValue(base.body, 'currency', currency) };
    const error = refused(await sendPrepared(service, bent), 400, 'IR_04');
    expect(error.message).toContain('currency');
  }
}

const AMOUNT_PATHS = [
  ['createPayment', 'amount'],
  ['updatePayment', 'amount'],
  ['capturePayment', 'amount_to_capture'],
  ['createRefund', 'amount'],
  ['createPaymentLink', 'amount'],
  ['createPayout', 'amount'],
] as const;

export const CONVENTIONS: Scenarios = {
  respondsInJson: async (service) => {
    const response = await fetch(`${service.baseUrl}/payments/nobody`, {
      headers: { 'api-key': service.apiKey },
    });
    expect(response.headers.get('content-type')).toMatch(/^application\/json\b/);
    await response.json();
  },
  paysByCard: async (service) => {
    expect(await service.payment()).toMatchObject({ status: 'succeeded', payment_method: 'card' });
  },
  paysWithCrypto: async (service) => {
    const made = ok(await sendPrepared(service, await prepare(service, 'createPayment:crypto')));
    await service.control('POST', `/payments/${made.payment_id}/action`, { action: 'complete' });
    await service.advance(600_000);
    expect(await service.read('payments', made.payment_id)).toMatchObject({ status: 'succeeded' });
  },
  paysWithWallet: (service) => paysElsewhere(service, 'wallet'),
  paysByBank: (service) => paysElsewhere(service, 'bank_redirect'),
  acceptsSandboxKeyHere: async (service) => {
    expect(service.apiKey).toMatch(/^snd_/);
    ok(await service.get('/health'));
  },
  refusesProductionKeyHere: async (service) => {
    const headers = { 'api-key': `prd_${service.apiKey.slice(4)}` };
    refused(await service.call('GET', '/health', undefined, headers), 401, 'AU_01');
  },
  refusesOtherThanJson: async (service) => {
    refused(await service.post('/payments', 'amount=100&currency=USD'), 400);
    refused(await service.post('/payments', '{"amount":'), 400);
  },
  keepsAmountsInMinorUnits: async (service) => {
    for (const [currency, amount] of [
      ['USD', 1],
      ['JPY', 1],
      ['KWD', 1234],
    ]) {
      expect(await service.payment({ currency, amount })).toMatchObject({
        amount,
        amount_received: amount,
      });
    }
  },
  refusesFractionsEverywhere: async (service) => {
    for (const [request, path] of AMOUNT_PATHS) {
      for (const amount of [10.5, '1050', '10.50']) {
        const base = await prepare(service, request);
        const bent = { ...base, body: withValue(base.body, path, amount) };
        const error = refused(await sendPrepared(service, bent), 400, 'IR_04');
        expect(error.message).toContain(path);
      }
    }
  },
  returnsAmountsAsIntegers: async (service) => {
    const amounts = await namedFields(service, /^amount(_|$)/);
    expect(amounts.length).toBeGreaterThan(20);
    for (const [name, value] of amounts) {
      expect(Number.isInteger(value), `${name}: ${JSON.stringify(value)}`).toBe(true);
    }
  },
  returnsTimesInIso8601: async (service) => {
    const times = await namedFields(
      service,
      /^(created|modified_at|captured_at|cancelled_at|timestamp|expiry|expiration|evidence_submitted_at|capture_before|challenge_required_by)$/,
    );
    expect(times.length).toBeGreaterThan(20);
    for (const [name, value] of times) expect(value, name).toMatch(ISO_8601);
  },
  refusesOtherThanThreeLetters: async (service) => {
    for (const currency of ['US', 'USDT', 'U5D', '', '$']) {
      refused(await service.post('/payments', cardPayment({ currency })), 400, 'IR_04');
    }
  },
  refusesUnknownCurrencyOnPayments: (service) => refusesCurrency(service, 'createPayment'),
  refusesUnknownCurrencyOnPayouts: (service) => refusesCurrency(service, 'createPayout'),
  refusesUnknownCurrencyOnLinks: (service) => refusesCurrency(service, 'createPaymentLink'),
  acceptsEveryCurrency: async (service) => {
    for (const currency of CURRENCIES) {
      const body = { amount: 100, currency, profile_id: service.profileId };
      expect(ok(await service.post('/payments', body))).toMatchObject({ currency });
    }
  },
  getChangesNothing: async (service) => {
    const { payment_id } = await service.payment();
    const first = await service.read('payments', payment_id);
    expect(await service.read('payments', payment_id)).toEqual(first);
  },
  postUpdates: async (service) => {
    const made = await service.payment({ confirm: false, description: 'Two shirts' });
    const updated = ok(await service.post(`/payments/${made.payment_id}`, { amount: 4711 }));
    expect(updated).toMatchObject({ amount: 4711, description: 'Two shirts', currency: 'USD' });
    const { customer_id } = await service.customer();
    await service.post(`/customers/${customer_id}`, { name: 'Countess' });
    expect(await service.read('customers', customer_id)).toMatchObject({
      name: 'Countess',
      email: 'ada@example.com',
    });
  },
  putReplaces: async (service) => {
    const fields = {
      description: 'Royalties',
      metadata: { a: '1' },
      priority: 'fast',
      recurring: true,
    };
    const { payout_id } = await service.payout({
      ...fields,
      entity_type: 'Individual',
      billing: BILLING,
    });
    const body = { amount: 4000, currency: 'USD', description: 'Fees' };
    const replaced = ok(await service.put(`/payouts/${payout_id}`, body));
    expect(replaced).toMatchObject({ ...body, metadata: null, priority: null, billing: null });
    expect(replaced).toMatchObject({ recurring: false, status: 'requires_payout_method_data' });
    for (const field of ['entity_type', 'payout_type', 'payout_method_data']) {
      expect(replaced[field] ?? null, field).toBeNull();
    }
    expect(await service.read('payouts', payout_id)).toMatchObject(body);
    refused(await service.put(`/payouts/${payout_id}`, { description: 'No amount' }), 400, 'IR_01');
  },
  deleteDeletes: async (service) => {
    const { customer_id } = await service.customer();
    ok(await service.delete(`/customers/${customer_id}`));
    refused(await service.get(`/customers/${customer_id}`), 404);
  },
  fillsPathParameters: async (service) => {
    const { payment_id } = await service.payment();
    expect(await service.read('payments', payment_id)).toMatchObject({ payment_id });
    refused(await service.get('/payments/:payment_id'), 404);
  },
  eventHasFinalState: async (service) => {
    const { payment_id } = await service.payment();
    const sent = await service.eventsOf(payment_id);
    expect(sent.at(-1)?.event.content.object).toMatchObject({ payment_id, status: 'succeeded' });
  },
  retrievalHasFinalState: async (service) => {
    const { payment_id } = await service.payment();
    expect(await service.read('payments', payment_id)).toMatchObject({ status: 'succeeded' });
  },
  healthReturns200: async (service) => {
    ok(await service.get('/health'));
  },
  hasNoOtherRoutes: () => {
    const routes = Object.values(ENDPOINTS).map(({ method, path }) => `${method} ${path}`);
    const presupposed = ['POST /files', 'POST /payouts/:payout_id/confirm'];
    expect(routes.toSorted()).toEqual([...DOCUMENTED, ...presupposed].toSorted());
  },
};

async function paysElsewhere(service: Service, method: string): Promise<void> {
  const made = ok(
    await service.post('/payments', {
      ...cardPayment({ payment_method: method }),
      payment_method_data: undefined,
      billing: undefined,
    }),
  );
  expect(made).toMatchObject({ status: 'requires_action', payment_method: method });
  await service.control('POST', `/payments/${made.payment_id}/action`, { action: 'complete' });
  expect(await service.read('payments', made.payment_id)).toMatchObject({ status: 'succeeded' });
}

/** Every route of the contract. */
const DOCUMENTED = `
  GET /health
  POST /api_keys/:merchant_id
  GET /api_keys/:merchant_id/list
  GET /api_keys/:merchant_id/:key_id
  POST /api_keys/:merchant_id/:key_id
  DELETE /api_keys/:merchant_id/:key_id
  POST /payments
  POST /payments/:payment_id
  POST /payments/:payment_id/confirm
  GET /payments/:payment_id
  POST /payments/list
  GET /payments/list
  POST /payments/:payment_id/capture
  POST /payments/:payment_id/cancel
  POST /payments/:payment_id/approve
  POST /payments/:payment_id/reject
  POST /customers
  GET /customers/list
  GET /customers/:customer_id
  POST /customers/:customer_id
  DELETE /customers/:customer_id
  POST /refunds
  POST /refunds/:refund_id
  POST /refunds/list
  GET /refunds/:refund_id
  GET /disputes/list
  GET /disputes/:dispute_id
  POST /disputes/accept/:dispute_id
  POST /disputes/evidence
  GET /disputes/evidence/:dispute_id
  DELETE /disputes/evidence
  POST /analytics/v1/merchant/metrics/payments
  POST /analytics/v1/merchant/metrics/refunds
  POST /analytics/v1/merchant/metrics/disputes
  GET /account/:merchant_id/business_profile
  POST /payment_link
  POST /payment_link/list
  GET /payment_link/:payment_link_id
  POST /payouts/create
  POST /payouts/list
  GET /payouts/:payout_id
  PUT /payouts/:payout_id
  POST /payouts/:payout_id/cancel
  POST /payouts/:payout_id/fulfill
`
  .trim()
  .split(/\s*\n\s*/);

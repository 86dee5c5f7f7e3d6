/** The JSON that the service returns, requested once for each run. */
import { testCard } from '../../../src/sandbox/domain/outcomes.ts';
import { card } from '../../support/sandboxRequests.ts';
import type { Body } from '../../support/serviceApi.ts';
import { prepare, sendPrepared } from './requests.ts';
import { ADDRESS, BILLING, ok, refused, type Service } from './service.ts';

type Make = (service: Service) => Promise<Body>;

const made = async (service: Service, request: string): Promise<Body> =>
  ok(await sendPrepared(service, await prepare(service, request)));

const createdPayment: Make = (service) =>
  service.once('payment.created', () => made(service, 'createPayment'));

const held: Make = async (service) => service.read('payments', (await service.hold()).payment_id);

const evidence = async (service: Service): Promise<{ result: Body; whole: Body }> =>
  service.once('evidence', async () => {
    const { dispute_id } = await service.dispute();
    const result = ok(
      await service.post('/disputes/evidence', {
        dispute_id,
        customer_name: 'Ada Lovelace',
        product_description: 'Two shirts',
        shipping_carrier: 'Post',
      }),
    );
    return { result, whole: ok(await service.get(`/disputes/evidence/${dispute_id}`)) };
  });

const LISTS: Readonly<Record<string, (service: Service) => Promise<Body>>> = {
  'list.payments': async (service) => {
    await createdPayment(service);
    return ok(await service.post('/payments/list', { limit: 1 }));
  },
  'list.customers': async (service) => ok(await service.get('/customers/list')),
  'list.refunds': async (service) => ok(await service.post('/refunds/list', {})),
  'list.disputes': async (service) => ok(await service.get('/disputes/list')),
  'list.payouts': async (service) => ok(await service.post('/payouts/list', {})),
  'list.payment_links': async (service) => ok(await service.post('/payment_link/list', {})),
  'list.api_keys': async (service) =>
    ok(await service.asAdmin('GET', '/api_keys/merchant_local/list')),
};

const PAYMENTS: Readonly<Record<string, Make>> = {
  payment: async (service) => service.read('payments', (await createdPayment(service)).payment_id),
  'payment.created': createdPayment,
  'payment.captured': async (service) => {
    const { payment_id } = await held(service);
    ok(
      await service.post(`/payments/${payment_id}/capture`, {
        statement_descriptor_prefix: 'SHIRTS',
        statement_descriptor_suffix: '1001',
      }),
    );
    return service.read('payments', payment_id);
  },
  'payment.cancelled': async (service) => {
    const { payment_id } = await held(service);
    ok(
      await service.post(`/payments/${payment_id}/cancel`, { cancellation_reason: 'Out of stock' }),
    );
    return service.read('payments', payment_id);
  },
  'payment.failed': async (service) =>
    service.payment({ payment_method_data: card(testCard('final', 'UE_1001')) }),
  capture: async (service) =>
    ok(await service.post(`/payments/${(await held(service)).payment_id}/capture`, {})),
  cancel: async (service) =>
    ok(
      await service.post(`/payments/${(await held(service)).payment_id}/cancel`, {
        cancellation_reason: 'Out of stock',
      }),
    ),
  approve: async (service) => {
    const { payment_id } = await service.paymentOf('review');
    return ok(await service.post(`/payments/${payment_id}/approve`));
  },
};

const PAYOUTS: Readonly<Record<string, Make>> = {
  payout: (service) =>
    service.payout({
      merchant_order_reference_id: 'payout-1',
      customer: {
        id: 'author_1',
        name: 'Ada Lovelace',
        email: 'ada@example.com',
        phone: '5550100',
        phone_country_code: '+1',
      },
      billing: { address: ADDRESS, phone: BILLING.phone },
      auto_fulfill: true,
      recurring: true,
      entity_type: 'Individual',
      priority: 'fast',
      business_country: 'DE',
      description: 'Royalties',
      return_url: 'https://shop.example/return',
      metadata: { author: 'a_1' },
    }),
  'payout.bare': async (service) =>
    ok(await service.post('/payouts/create', { amount: 5000, currency: 'EUR' })),
  'payout.failed': async (service) => {
    const { payout_id } = await service.payout({ amount: 7710, confirm: true });
    ok(await service.post(`/payouts/${payout_id}/fulfill`));
    return service.read('payouts', payout_id);
  },
};

const SAMPLES: Readonly<Record<string, Make>> = {
  ...LISTS,
  ...PAYMENTS,
  ...PAYOUTS,
  customer: async (service) => service.read('customers', (await service.customer()).customer_id),
  'customer.created': (service) => service.customer(),
  refund: async (service) => {
    const made = await service.refund({
      reason: 'Damaged',
      refund_type: 'Instant',
      metadata: { return_id: 'rma_1' },
    });
    return service.read('refunds', made.refund_id);
  },
  dispute: async (service) => service.read('disputes', (await service.dispute()).dispute_id),
  'evidence.result': async (service) => (await evidence(service)).result,
  evidence: async (service) => (await evidence(service)).whole,
  'apiKey.created': async (service) =>
    ok(
      await service.asAdmin('POST', '/api_keys/merchant_local', {
        name: 'Back office',
        description: 'Refunds by hand',
        expiration: '2039-01-01T00:00:00Z',
      }),
    ),
  profiles: async (service) => ok(await service.get('/account/merchant_local/business_profile')),
  metrics: (service) => made(service, 'refundMetrics'),
  event: async (service) => {
    const { payment_id } = await service.payment({ metadata: { order_id: 'ord_1' } });
    const [sent] = await service.eventsOf(payment_id);
    return sent?.event;
  },
  error: async (service) => {
    const reply = await service.get('/payments/nobody');
    refused(reply, 404);
    return reply.body;
  },
};

export function sample(service: Service, name: string): Promise<Body> {
  const make = SAMPLES[name];
  if (make === undefined) throw new Error(`no sample is called ${name}`);
  return service.once(`sample ${name}`, () => make(service));
}

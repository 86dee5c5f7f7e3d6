/** Lists, customers, refunds, evidence, payouts. */
import { expect } from 'vitest';
import { isKnownStatus } from '../../../../src/contract/index.ts';
import { card, cardPayment } from '../../../support/sandboxRequests.ts';
import type { Body, Reply } from '../../../support/serviceApi.ts';
import { prepare, sendPrepared } from '../requests.ts';
import { ACH, ADDRESS, BILLING, chosenId, ok, refused, type Service } from '../service.ts';
import type { Scenario, Scenarios } from './scenario.ts';

const listed = async (service: Service, filter: object = {}): Promise<Body> =>
  ok(await service.post('/payments/list', filter));

/** Payments of a separate customer, so that those of other checks are not among them. */
async function payments(
  service: Service,
  count: number,
): Promise<{ customer_id: string; ids: string[] }> {
  const { customer_id } = await service.customer();
  const ids: string[] = [];
  for (let made = 0; made < count; made += 1) {
    ids.push((await service.payment({ customer_id, payment_id: chosenId() })).payment_id);
  }
  return { customer_id, ids };
}

const eleven = (service: Service) => service.once('eleven payments', () => payments(service, 11));

const LISTS: Scenarios = {
  countIsOfThePage: async (service) => {
    const { customer_id } = await eleven(service);
    const page = await listed(service, { customer_id, limit: 4 });
    expect([page.count, page.data.length]).toEqual([4, 4]);
  },
  totalIsOfAllPages: async (service) => {
    const { customer_id } = await eleven(service);
    expect((await listed(service, { customer_id, limit: 4 })).total_count).toBe(11);
  },
  hasMoreMarksTheLastPage: async (service) => {
    const { payment_id } = await service.payment();
    for (let made = 0; made < 3; made += 1) {
      ok(await service.post('/refunds', { payment_id, amount: 10 }));
    }
    const page = async (offset: number) =>
      ok(await service.post('/refunds/list', { payment_id, limit: 2, offset })).has_more;
    expect([await page(0), await page(2)]).toEqual([true, false]);
  },
  newestFirst: async (service) => {
    const { customer_id, ids } = await eleven(service);
    const { data } = await listed(service, { customer_id, limit: 100 });
    expect(data.map((row: Body) => row.payment_id)).toEqual(ids.toReversed());
  },
  newestFirstByGet: async (service) => {
    const { customer_id, ids } = await eleven(service);
    const { data } = ok(await service.get(`/payments/list?customer_id=${customer_id}&limit=100`));
    expect(data.map((row: Body) => row.payment_id)).toEqual(ids.toReversed());
  },
  pageOf10: async (service) => {
    const { customer_id } = await eleven(service);
    expect((await listed(service, { customer_id })).data).toHaveLength(10);
  },
  pageOf10Refunds: async (service) => {
    const [one, two] = [await service.payment(), await service.payment()];
    for (let made = 0; made < 6; made += 1) {
      for (const { payment_id } of [one, two]) {
        ok(await service.post('/refunds', { payment_id, amount: 10 }));
      }
    }
    expect(ok(await service.post('/refunds/list', {})).data).toHaveLength(10);
  },
  pageOf10Customers: async (service) => {
    for (let made = 0; made < 11; made += 1) await service.customer();
    expect(ok(await service.get('/customers/list')).data).toHaveLength(10);
  },
  pageOf10Payouts: async (service) => {
    for (let made = 0; made < 11; made += 1) await service.payout();
    expect(ok(await service.post('/payouts/list', {})).data).toHaveLength(10);
  },
  offsetIs0: async (service) => {
    const { customer_id } = await eleven(service);
    const [without, at0] = [
      await listed(service, { customer_id, limit: 3 }),
      await listed(service, { customer_id, limit: 3, offset: 0 }),
    ];
    expect(without.data).toEqual(at0.data);
  },
  offsetSkips: async (service) => {
    const { customer_id, ids } = await eleven(service);
    const { data } = await listed(service, { customer_id, limit: 2, offset: 3 });
    expect(data.map((row: Body) => row.payment_id)).toEqual(ids.toReversed().slice(3, 5));
  },
  filtersByStatus: async (service) => {
    const { customer_id } = await service.customer();
    const hold = await service.hold({ customer_id });
    await service.payment({ customer_id });
    const { data } = await listed(service, { customer_id, status: 'requires_capture' });
    expect(data.map((row: Body) => row.payment_id)).toEqual([hold.payment_id]);
  },
  filtersByCustomer: async (service) => {
    const { customer_id, ids } = await payments(service, 2);
    const { data } = await listed(service, { customer_id });
    expect(data.map((row: Body) => row.payment_id)).toEqual(ids.toReversed());
  },
  filtersFrom: async (service) => {
    const { customer_id, created } = await spread(service);
    expect(await createdOf(service, { customer_id, created_gte: created[1] })).toEqual([
      created[2],
      created[1],
    ]);
  },
  filtersTo: async (service) => {
    const { customer_id, created } = await spread(service);
    expect(await createdOf(service, { customer_id, created_lte: created[1] })).toEqual([
      created[1],
      created[0],
    ]);
  },
  filtersByCurrency: async (service) => {
    const { customer_id } = await service.customer();
    await service.payment({ customer_id });
    const euro = await service.payment({ customer_id, currency: 'EUR' });
    const { data } = await listed(service, { customer_id, currency: 'EUR' });
    expect(data.map((row: Body) => row.payment_id)).toEqual([euro.payment_id]);
  },
  listsInPaymentEnvelope: async (service) => {
    expect(Object.keys(await listed(service)).toSorted()).toEqual(['count', 'data', 'total_count']);
  },
  listsCustomersByQuery: async (service) => {
    const { customer_id } = await service.customer();
    const { data } = ok(await service.get(`/customers/list?customer_id=${customer_id}`));
    expect(data.map((row: Body) => row.customer_id)).toEqual([customer_id]);
  },
  listsRefundsByBody: async (service) => {
    const { refund_id, payment_id } = await service.refund();
    const { data } = ok(await service.post('/refunds/list', { payment_id }));
    expect(data.map((row: Body) => row.refund_id)).toEqual([refund_id]);
  },
  listsLinksByBody: async (service) => {
    const made = ok(await sendPrepared(service, await prepare(service, 'createPaymentLink')));
    const { data } = ok(await service.post('/payment_link/list', { limit: 1 }));
    expect(data.map((row: Body) => row.payment_link_id)).toEqual([made.payment_link_id]);
  },
  listsPayoutsByBody: async (service) => {
    const { payout_id } = await service.payout();
    const { data } = ok(await service.post('/payouts/list', { payout_id }));
    expect(data.map((row: Body) => row.payout_id)).toEqual([payout_id]);
  },
};

const createdOf = async (service: Service, filter: object): Promise<readonly string[]> =>
  (await listed(service, filter)).data.map((row: Body) => row.created);

/** Three payments of one customer, a minute apart. */
const spread = (service: Service) =>
  service.once('spread payments', async () => {
    const { customer_id } = await service.customer();
    const created: string[] = [];
    for (let made = 0; made < 3; made += 1) {
      created.push((await service.payment({ customer_id })).created);
      await service.advance(60_000);
    }
    return { customer_id, created };
  });

type Send = (service: Service, metadata: object) => Promise<Reply>;
const asCustomer: Send = (service, metadata) => service.post('/customers', { metadata });
const asPayout: Send = (service, metadata) =>
  service.post('/payouts/create', { amount: 1, currency: 'EUR', metadata });
const pairs = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_none, index) => [`key${index}`, 'v']));

const accepted =
  (send: Send, metadata: object): Scenario =>
  async (service) => {
    ok(await send(service, metadata));
  };
/** A value at the limit is accepted, so the rejection is about the limit. */
const limited =
  (send: Send, within: object, beyond: object): Scenario =>
  async (service) => {
    ok(await send(service, within));
    refused(await send(service, beyond), 400, 'IR_04');
  };
const key = (length: number) => ({ ['k'.repeat(length)]: 'v' });
const value = (length: number) => ({ key: 'v'.repeat(length) });

const METADATA: Scenarios = Object.fromEntries(
  (
    [
      ['customer', asCustomer],
      ['payout', asPayout],
    ] as const
  ).flatMap(([name, send]) => [
    [`${name}MetadataOf50`, accepted(send, pairs(50))],
    [`${name}MetadataOf51`, limited(send, pairs(50), pairs(51))],
    [`${name}MetadataKeyOf40`, accepted(send, key(40))],
    [`${name}MetadataKeyOf41`, limited(send, key(40), key(41))],
    [`${name}MetadataValueOf500`, accepted(send, value(500))],
    [`${name}MetadataValueOf501`, limited(send, value(500), value(501))],
  ]),
);

const CUSTOMERS: Scenarios = {
  generatesCustomerId: async (service) => {
    const { customer_id } = ok(await service.post('/customers', {}));
    expect(customer_id).toEqual(expect.stringMatching(/^.{1,64}$/));
  },
  acceptsCustomerIdOf64: async (service) => {
    const customer_id = (chosenId() + chosenId()).slice(0, 64);
    expect(ok(await service.post('/customers', { customer_id }))).toMatchObject({ customer_id });
  },
  refusesCustomerIdOf65: async (service) => {
    refused(await service.post('/customers', { customer_id: 'x'.repeat(65) }), 400, 'IR_04');
  },
  defaultBillingWithoutDetails: async (service) => {
    const { customer_id } = await service.customer();
    const request = { amount: 1, currency: 'USD', profile_id: service.profileId, customer_id };
    expect(ok(await service.post('/payments', request)).billing).toMatchObject({
      address: ADDRESS,
    });
  },
  defaultBillingWithCard: async (service) => {
    const { customer_id } = await service.customer();
    const made = ok(
      await service.post('/payments', cardPayment({ customer_id, billing: undefined })),
    );
    expect(made).toMatchObject({ status: 'succeeded', billing: { address: ADDRESS } });
    const { payment_id } = ok(
      await service.post('/payments', {
        amount: 1,
        currency: 'USD',
        profile_id: service.profileId,
        customer_id,
      }),
    );
    const method = { payment_method: 'card', payment_method_data: card() };
    const confirmed = ok(await service.post(`/payments/${payment_id}/confirm`, method));
    expect(confirmed).toMatchObject({ status: 'succeeded', billing: { address: ADDRESS } });
  },
  sentBillingGoesFirst: async (service) => {
    const { customer_id } = await service.customer();
    const billing = { ...BILLING, address: { ...ADDRESS, city: 'Shelbyville' } };
    expect((await service.payment({ customer_id, billing })).billing).toMatchObject(billing);
  },
  customerOfNothing: async (service) => {
    ok(await service.post('/customers', {}));
  },
};

const REFUNDS: Scenarios = {
  refundSucceeds: async (service) => {
    const { refund_id } = await service.refund();
    expect(await service.read('refunds', refund_id)).toMatchObject({ status: 'succeeded' });
  },
  refundFails: async (service) => {
    const { payment_id } = await service.payment({ amount: 10_000 });
    const made = ok(await service.post('/refunds', { payment_id, amount: 7710 }));
    expect(await service.read('refunds', made.refund_id)).toMatchObject({ status: 'failed' });
  },
  keepsChosenRefundId: async (service) => {
    const refund_id = chosenId();
    expect(await service.refund({ refund_id })).toMatchObject({ refund_id });
    expect(await service.read('refunds', refund_id)).toMatchObject({ refund_id });
  },
  openRefundId: async (service) => {
    const refund_id = `RMA 2026.7 / ${chosenId()}${chosenId()}`;
    expect(await service.refund({ refund_id })).toMatchObject({ refund_id });
    const found = await service.get(`/refunds/${encodeURIComponent(refund_id)}`);
    expect(ok(found)).toMatchObject({ refund_id });
  },
  refundsAllByDefault: async (service) => {
    expect(await service.refund({ amount: undefined })).toMatchObject({ amount: 6540 });
  },
  refundsInPart: async (service) => {
    expect(await service.refund({ amount: 1 })).toMatchObject({ amount: 1 });
  },
  updateReturnsRefund: async (service) => {
    const { refund_id } = await service.refund();
    const updated = ok(await service.post(`/refunds/${refund_id}`, { reason: 'Late' }));
    expect(await service.read('refunds', refund_id)).toEqual(updated);
  },
};

const submit = (service: Service, dispute_id: string, fields: object): Promise<Reply> =>
  service.post('/disputes/evidence', { dispute_id, ...fields });

const evidenceOf = async (service: Service, id: string): Promise<Body> =>
  ok(await service.get(`/disputes/evidence/${id}`)).evidence;

const EVIDENCE: Scenarios = {
  evidenceShowsSubmitted: async (service) => {
    const { dispute_id } = await service.dispute();
    expect(ok(await submit(service, dispute_id, { customer_name: 'Ada' }))).toMatchObject({
      status: 'submitted',
    });
  },
  evidenceAddsUp: async (service) => {
    const { dispute_id } = await service.dispute();
    ok(await submit(service, dispute_id, { customer_name: 'Ada' }));
    ok(await submit(service, dispute_id, { billing_address: '1 Main Street' }));
    expect(await evidenceOf(service, dispute_id)).toEqual({
      customer_information: { customer_name: 'Ada', billing_address: '1 Main Street' },
    });
  },
  evidenceReplaces: async (service) => {
    const { dispute_id } = await service.dispute();
    ok(await submit(service, dispute_id, { customer_name: 'Ada' }));
    ok(await submit(service, dispute_id, { customer_name: 'Countess' }));
    expect(await evidenceOf(service, dispute_id)).toEqual({
      customer_information: { customer_name: 'Countess' },
    });
  },
  evidenceClears: async (service) => {
    const { dispute_id } = await service.dispute();
    ok(await submit(service, dispute_id, { customer_name: 'Ada', product_description: 'Shirts' }));
    ok(await submit(service, dispute_id, { customer_name: '' }));
    expect(await evidenceOf(service, dispute_id)).toEqual({
      product_information: { product_description: 'Shirts' },
    });
  },
  evidenceAfterDeadlineIs400: async (service) => {
    const { dispute_id, challenge_required_by } = await service.dispute();
    const { now } = await service.control('GET', '/clock');
    await service.advance(Date.parse(challenge_required_by) - Date.parse(now));
    refused(await submit(service, dispute_id, { customer_name: 'Ada' }), 400);
  },
  evidenceTakesUploadedFile: async (service) => {
    const { dispute_id } = await service.dispute();
    const receipt = await service.uploadFile(dispute_id);
    ok(await submit(service, dispute_id, { receipt }));
    expect(await evidenceOf(service, dispute_id)).toEqual({ product_information: { receipt } });
  },
  evidenceOmitsEmptyGroups: async (service) => {
    const { dispute_id } = await service.dispute();
    ok(await submit(service, dispute_id, { shipping_carrier: 'Post' }));
    expect(Object.keys(await evidenceOf(service, dispute_id))).toEqual(['shipping_information']);
  },
  evidenceIsWhatWasSubmitted: async (service) => {
    const { dispute_id } = await service.dispute();
    const fields = {
      customer_name: 'Ada',
      cancellation_rebuttal: 'None was requested',
      refund_policy_disclosure: 'On the receipt',
      shipping_tracking_number: '1Z',
      uncategorized_text: 'See above',
    };
    ok(await submit(service, dispute_id, fields));
    const groups = Object.values(await evidenceOf(service, dispute_id));
    expect(Object.assign({}, ...groups)).toEqual(fields);
  },
  evidenceUnknownFileIs400: async (service) => {
    const { dispute_id } = await service.dispute();
    refused(await submit(service, dispute_id, { receipt: 'file_of_nobody' }), 400);
  },
  submitEvidenceUnknownIs404: async (service) => {
    refused(await submit(service, 'nobody', { customer_name: 'Ada' }), 404);
  },
  getEvidenceUnknownIs404: async (service) => {
    refused(await service.get('/disputes/evidence/nobody'), 404);
  },
};

const moveTo =
  (status: string): Scenario =>
  async (service) => {
    const { payout_id } = await service.payout({ confirm: true });
    await service.control('POST', `/payouts/${payout_id}/move`, { status });
    expect(await service.read('payouts', payout_id)).toMatchObject({ status });
  };

const fulfilledAt =
  (amount: number, status: string): Scenario =>
  async (service) => {
    const { payout_id } = await service.payout({ amount, confirm: true });
    ok(await service.post(`/payouts/${payout_id}/fulfill`));
    expect(await service.read('payouts', payout_id)).toMatchObject({ status });
  };

const bare = async (service: Service, fields: object = {}): Promise<Body> =>
  ok(await service.post('/payouts/create', { amount: 5000, currency: 'EUR', ...fields }));

const isStatus =
  (status: string): Scenario =>
  async (service) => {
    expect(isKnownStatus('payout', status)).toBe(true);
    ok(await service.post('/payouts/list', { status: [status] }));
  };

const PAYOUT_STATES: Scenarios = {
  payoutSuccess: fulfilledAt(5000, 'success'),
  payoutFailed: fulfilledAt(7710, 'failed'),
  payoutInitiated: fulfilledAt(7720, 'initiated'),
  payoutPending: fulfilledAt(7730, 'pending'),
  payoutCancelled: async (service) => {
    const { payout_id } = await service.payout();
    ok(await service.post(`/payouts/${payout_id}/cancel`));
    expect(await service.read('payouts', payout_id)).toMatchObject({ status: 'cancelled' });
  },
  payoutExpired: moveTo('expired'),
  payoutReversed: async (service) => {
    const { payout_id } = await service.payout({ confirm: true });
    ok(await service.post(`/payouts/${payout_id}/fulfill`));
    await service.control('POST', `/payouts/${payout_id}/move`, { status: 'reversed' });
    expect(await service.read('payouts', payout_id)).toMatchObject({ status: 'reversed' });
  },
  payoutIneligible: async (service) => {
    const { payout_id } = await service.payout({ amount: 7740, confirm: true });
    expect(await service.read('payouts', payout_id)).toMatchObject({ status: 'ineligible' });
  },
  payoutRequiresCreation: isStatus('requires_creation'),
  payoutRequiresVendor: isStatus('requires_vendor_account_creation'),
  payoutRequiresConfirmation: async (service) => {
    expect(await service.payout()).toMatchObject({ status: 'requires_confirmation' });
  },
  payoutRequiresMethod: async (service) => {
    expect(await bare(service)).toMatchObject({ status: 'requires_payout_method_data' });
  },
  payoutRequiresFulfillment: async (service) => {
    expect(await service.payout({ confirm: true })).toMatchObject({
      status: 'requires_fulfillment',
    });
  },
  autoFulfillShowsFulfillment: async (service) => {
    const made = await service.payout({ auto_fulfill: true });
    expect(made).toMatchObject({ status: 'requires_fulfillment' });
    await service.advance(5_000);
    expect(await service.read('payouts', made.payout_id)).toMatchObject({ status: 'success' });
  },
  createsUpdatesConfirms: async (service) => {
    const { payout_id } = await bare(service);
    const whole = { amount: 5000, currency: 'EUR', payout_type: 'bank', payout_method_data: ACH };
    expect(ok(await service.put(`/payouts/${payout_id}`, whole))).toMatchObject({
      status: 'requires_confirmation',
    });
    expect(ok(await service.post(`/payouts/${payout_id}/confirm`, {}))).toMatchObject({
      status: 'requires_fulfillment',
    });
  },
};

const PAYOUTS: Scenarios = {
  masksAccountNumbers: async (service) => {
    const { payout_id } = await service.payout();
    const shown = await service.read('payouts', payout_id);
    const { bank } = shown.payout_method_data;
    expect(bank.bank_account_number).toMatch(/^[*x]+6789$/i);
    expect(JSON.stringify(shown)).not.toMatch(/000123456789|110000000/);
  },
  payoutOfTwoFields: async (service) => {
    await bare(service);
  },
  payoutTypeBeforeConfirmation: async (service) => {
    const { payout_id } = await service.payout({ payout_type: undefined });
    refused(await service.post(`/payouts/${payout_id}/confirm`, {}), 400, 'IR_01');
    const withoutType = { amount: 1, currency: 'EUR', payout_method_data: ACH, confirm: true };
    refused(await service.post('/payouts/create', withoutType), 400, 'IR_01');
  },
  payoutTypeOnUpdate: async (service) => {
    const { payout_id } = await bare(service);
    const body = { amount: 5000, currency: 'EUR', payout_type: 'bank' };
    expect(ok(await service.put(`/payouts/${payout_id}`, body))).toMatchObject({
      payout_type: 'bank',
    });
  },
  tokenInsteadOfData: async (service) => {
    expect(await bare(service, { payout_type: 'bank', payout_token: 'token_1' })).toMatchObject({
      status: 'requires_confirmation',
    });
    const both = { amount: 1, currency: 'EUR', payout_token: 'token_1', payout_method_data: ACH };
    refused(await service.post('/payouts/create', both), 400, 'IR_04');
  },
  payoutCreatesCustomer: async (service) => {
    const id = chosenId();
    await service.payout({ customer: { id, name: 'Ada Lovelace' } });
    expect(await service.read('customers', id)).toMatchObject({ name: 'Ada Lovelace' });
  },
  payoutAttachesCustomer: async (service) => {
    const { customer_id } = await service.customer();
    const made = await service.payout({ customer: { id: customer_id } });
    expect(made).toMatchObject({ customer_id, customer: { id: customer_id } });
  },
  payoutGeneratesCustomer: async (service) => {
    const { customer_id } = await bare(service);
    expect(await service.read('customers', customer_id)).toMatchObject({ customer_id });
  },
  payoutIsNotConfirmedByDefault: async (service) => {
    expect(await service.payout()).toMatchObject({ status: 'requires_confirmation' });
  },
  payoutUsesDefaultProfile: async (service) => {
    const [profile] = ok(await service.get('/account/merchant_local/business_profile'));
    expect((await bare(service)).profile_id).toBe(profile.profile_id);
  },
  payoutSessionExpires: async (service) => {
    const link = { payout_link: true, session_expiry: 600 };
    const made = await bare(service, link);
    expect(made.session_expiry).toBe(600);
    expect((await fetch(made.payout_link.link)).status).toBe(200);
    await service.advance(601_000);
    expect((await fetch(made.payout_link.link)).status).not.toBe(200);
  },
  payoutLinkAtCreation: async (service) => {
    expect(await bare(service, { payout_link: true })).toMatchObject({
      payout_link: { link: expect.stringMatching(/^http/) },
    });
  },
  createReturnsPayout: async (service) => {
    const { client_secret, ...shown } = await service.payout();
    expect(await service.read('payouts', shown.payout_id)).toEqual(shown);
  },
  payoutMissingIs400: async (service) => {
    refused(await service.post('/payouts/create', { currency: 'EUR' }), 400, 'IR_01');
    refused(await service.post('/payouts/create', { amount: 1 }), 400, 'IR_01');
  },
  transferNeedsType: async (service) => {
    const { payout_method_type, ...fields } = ACH.bank_transfer;
    const body = { amount: 1, currency: 'EUR', payout_method_data: { bank_transfer: fields } };
    refused(await service.post('/payouts/create', body), 400);
  },
  customerObjectComesFirst: async (service) => {
    const made = await service.payout({ customer: { name: 'Ada', email: 'ada@example.com' } });
    expect(made.customer).toMatchObject({ name: 'Ada', email: 'ada@example.com' });
  },
};

export const RESOURCES: Scenarios = {
  ...LISTS,
  ...METADATA,
  ...CUSTOMERS,
  ...REFUNDS,
  ...EVIDENCE,
  ...PAYOUT_STATES,
  ...PAYOUTS,
};

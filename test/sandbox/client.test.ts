/**
 * The client against the sandbox, over HTTP and under faults. Both are written from the contract and
 * share no code. The sandbox counts what was charged.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
  createAdminClient,
  createClient,
  type PaymentServiceClient,
} from '../../src/client/index.ts';
import type { CreatePaymentRequest } from '../../src/contract/index.ts';
import { SANDBOX_SECRET, startTestSandbox, type TestSandbox } from '../support/sandbox.ts';
import { cardPayment, cardPaymentOf } from '../support/sandboxRequests.ts';

let sandbox: TestSandbox;
let client: PaymentServiceClient;
beforeAll(async () => {
  sandbox = await startTestSandbox();
  client = createClient({
    ...sandbox,
    retry: { baseDelayMs: 1, maxDelayMs: 5, attemptTimeoutMs: 5_000, totalTimeoutMs: 30_000 },
  });
});
afterEach(async () => {
  await sandbox.control('DELETE', '/faults');
});
afterAll(() => sandbox.close());

const request = (fields: object) => cardPayment(fields) as CreatePaymentRequest;

const charges = async (paymentId: string): Promise<number> => {
  const { data } = await sandbox.control('GET', '/resources/payment?limit=1000');
  return data
    .filter(({ payment_id: id }: { payment_id: string }) => id === paymentId)
    .reduce(
      (sum: number, { attempt_count: attempts }: { attempt_count: number }) => sum + attempts,
      0,
    );
};

test('the sandbox accepts every call of the client, and the client its responses', async () => {
  await client.health();
  const { payment } = await client.payments.create(
    request({ payment_id: 'all', capture_method: 'manual_multiple' }),
  );
  expect(payment.status).toBe('requires_capture');
  await client.payments.capture('all', { amount_to_capture: 1000 });
  await client.payments.capture('all', { amount_to_capture: 5540 });
  const { refund } = await client.refunds.create({
    payment_id: 'all',
    amount: 100,
    refund_id: 'r',
  });
  expect(await client.refunds.update('r', { reason: 'x' })).toMatchObject({ reason: 'x' });
  expect(refund.status).toBe('succeeded');
  const opened = await sandbox.control('POST', '/disputes', { payment_id: 'all' });
  expect((await client.disputes.list({ payment_id: 'all' })).items).toHaveLength(1);
  expect(await client.disputes.accept(opened.dispute_id)).toMatchObject({
    dispute_status: 'dispute_accepted',
  });
  const payout = await client.payouts.create({ amount: 1, currency: 'EUR' });
  await client.payouts.update(payout.payout_id, {
    amount: 1,
    currency: 'EUR',
    payout_type: 'card',
    payout_token: 'tok',
  });
  await client.payouts.confirm(payout.payout_id, {});
  await client.payouts.fulfill(payout.payout_id);
  expect(await client.payouts.retrieve(payout.payout_id)).toMatchObject({ status: 'success' });
  expect((await client.payments.list({ currency: 'USD' })).totalCount).toBe(1);
  expect((await client.payments.listByQuery({ currency: 'USD' })).items).toHaveLength(1);
  expect((await client.refunds.list({ payment_id: 'all' })).items).toHaveLength(1);
  expect((await client.payouts.list({ status: ['success'] })).items).toHaveLength(1);
});

test('the sandbox accepts every call about customers', async () => {
  const { customer_id: id } = await client.customers.create({ email: 'ada@example.com' });
  await client.customers.update(id, { name: 'Ada', metadata: { tier: 1 } });
  expect(await client.customers.retrieve(id)).toMatchObject({
    email: 'ada@example.com',
    name: 'Ada',
    metadata: { tier: 1 },
  });
  const ids: string[] = [];
  for await (const { customer_id } of client.customers.iterate({ limit: 1 })) ids.push(customer_id);
  expect(ids).toContain(id);
  expect(await client.customers.delete(id)).toMatchObject({ customer_deleted: true });
});

test('the sandbox accepts every call about API keys from an administrator', async () => {
  const { api_key: adminKey } = await sandbox.control('POST', '/api_keys', { kind: 'admin' });
  const { baseUrl, merchantId } = sandbox;
  const { apiKeys } = createAdminClient({ baseUrl, apiKey: adminKey });
  const { key_id: keyId, api_key: apiKey } = await apiKeys.create(merchantId, { name: 'shop' });
  await createClient({ baseUrl, apiKey }).health();
  expect((await apiKeys.list(merchantId)).items).toMatchObject([{ key_id: keyId }]);
  await apiKeys.update({ merchantId, keyId }, { description: 'at the door' });
  expect(await apiKeys.retrieve(merchantId, keyId)).toMatchObject({ description: 'at the door' });
  expect(await apiKeys.revoke(merchantId, keyId)).toMatchObject({ revoked: true });
  await expect(createClient({ baseUrl, apiKey }).health()).rejects.toMatchObject({ code: 'AU_02' });
  expect(() => createAdminClient({ baseUrl, apiKey })).toThrow(TypeError);
});

test('the sandbox accepts every call about evidence, file uploads included', async () => {
  await client.payments.create(request({ payment_id: 'contested' }));
  const dispute = await sandbox.control('POST', '/disputes', { payment_id: 'contested' });
  const dispute_id: string = dispute.dispute_id;
  const file = new File(['signed'], 'receipt.pdf', { type: 'application/pdf' });
  const { file_id } = await client.disputes.uploadEvidenceFile({ dispute_id, file });
  const result = await client.disputes.submitEvidence({ dispute_id, receipt: file_id });
  expect(result).toMatchObject({ status: 'submitted', evidence_submitted_at: expect.any(String) });
  expect((await client.disputes.retrieveEvidence(dispute_id)).evidence).toEqual({
    product_information: { receipt: file_id },
  });
  await client.disputes.deleteEvidence({ dispute_id, evidence_type: 'receipt' });
  expect((await client.disputes.retrieveEvidence(dispute_id)).evidence).toEqual({});
});

test('the client reads analytics and business profiles', async () => {
  const timeRange = { startTime: '2001-01-01' };
  const counted = await client.analytics.payments([{ timeRange, metrics: ['payment_count'] }]);
  expect(counted.metaData).toEqual(
    counted.queryData.map(({ payment_count }) => ({ total_payment_count: payment_count })),
  );
  const refunds = await client.analytics.refunds([{ timeRange, metrics: ['refund_count'] }]);
  expect(refunds.queryData).toHaveLength(1);
  const metrics = ['dispute_status_metric'] as const;
  const disputes = await client.analytics.disputes([{ timeRange, metrics: [...metrics] }]);
  expect(disputes.queryData).toMatchObject([{ total_dispute: expect.any(Number) }]);
  expect(await client.businessProfiles.list(sandbox.merchantId)).toMatchObject([
    { profile_id: sandbox.profileId, payment_response_hash_key: SANDBOX_SECRET },
  ]);
});

test('the sandbox accepts every call about payment links', async () => {
  const link = await client.paymentLinks.create({ amount: 1, currency: 'EUR' });
  expect(await client.paymentLinks.retrieve(link.payment_link_id)).toEqual(link);
  expect((await client.paymentLinks.list({ limit: 1 })).items).toEqual([link]);
  const ids: string[] = [];
  for await (const { payment_link_id } of client.paymentLinks.iterate()) ids.push(payment_link_id);
  expect(ids).toContain(link.payment_link_id);
});

test('a decline is a result, not an error', async () => {
  const declined = cardPaymentOf('final', 'UE_1001', { payment_id: 'declined' });
  const { payment } = await client.payments.create(declined as CreatePaymentRequest);
  expect(payment).toMatchObject({ status: 'failed', unified_code: 'UE_1001' });
});

describe('a create with a payment_id ends in one charge', () => {
  test.each([
    ['the connection is cut after the commit', { fault: 'cut_after', times: 1 }],
    ['the connection is cut before any effect', { fault: 'cut_before', times: 2 }],
    ['the service is down for a while', { fault: 'server_error', status: 503, times: 3 }],
    ['the response is an HTML page', { fault: 'garbage', times: 1 }],
  ])('when %s', async (what, fault) => {
    const id = what.replaceAll(' ', '-');
    await sandbox.control('PUT', '/faults', { requests: [{ ...fault, path: '/payments' }] });
    const { payment } = await client.payments.create(request({ payment_id: id }));
    expect(payment).toMatchObject({ payment_id: id, status: 'succeeded', amount: 6540 });
    expect(await charges(id)).toBe(1);
  });

  test.each([400, 409, 422] as const)(
    'and HE_01 with %i is read as "it exists"',
    async (status) => {
      const id = `existing-${status}`;
      await client.payments.create(request({ payment_id: id }));
      await sandbox.control('PUT', '/faults', { he_01_status: status });
      const again = await client.payments.create(request({ payment_id: id }));
      expect(again).toMatchObject({ origin: 'existing', payment: { status: 'succeeded' } });
      expect(await charges(id)).toBe(1);
    },
  );
});

test.each(['count', 'has_more', 'size', 'array'])(
  'a list in the envelope "%s" is read',
  async (envelope) => {
    const id = `list-${envelope}`;
    await client.customers.create({ customer_id: id });
    await client.payments.create(request({ payment_id: id, customer_id: id }));
    await sandbox.control('PUT', '/faults', { lists: { envelope } });
    const { items } = await client.payments.list({ customer_id: id });
    expect(items.map(({ payment_id }) => payment_id)).toEqual([id]);
  },
);

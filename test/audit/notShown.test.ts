/** What a person decided about and the service no longer shows, or does not show in full: nothing is sent. */
import { Readable } from 'node:stream';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { acceptDisputeAs } from '../../src/actions/actOnDispute.ts';
import { actOnPayoutAs } from '../../src/actions/actOnPayout.ts';
import { inspectRefundable, refundPaymentAs } from '../../src/actions/refundPayment.ts';
import { retryPayoutAs } from '../../src/actions/retryPayout.ts';
import { createClient } from '../../src/client/index.ts';
import { createDisputeService } from '../../src/disputes/disputeService.ts';
import { createPayoutService } from '../../src/payouts/payoutService.ts';
import type { RetrieveParts } from '../../src/reconcile/retrieve.ts';
import { createRefundService } from '../../src/refunds/refundService.ts';
import { type AuthorizationTestSetup, setUpAuthorizations } from '../support/authorizations.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type RecordingProxy, startRecordingProxy } from '../support/recordingProxy.ts';
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts';
import type { Body } from '../support/serviceApi.ts';

const ADA = { kind: 'cli', name: 'ada', role: 'admin', origin: 'ada@till' } as const;

let db: TestDatabase;
let sandbox: TestSandbox;
let setup: AuthorizationTestSetup;
let proxy: RecordingProxy;
let parts: RetrieveParts;

beforeAll(async () => {
  [db, sandbox] = await Promise.all([createTestDatabase(), startTestSandbox()]);
  setup = await setUpAuthorizations(sandbox, db);
});
afterAll(async () => {
  await sandbox.close();
  await db.drop();
});
beforeEach(async () => {
  proxy = await startRecordingProxy(sandbox.baseUrl);
  const client = createClient({
    baseUrl: proxy.baseUrl,
    apiKey: sandbox.apiKey,
    retry: { maxAttempts: 1 },
  });
  const account = { merchantId: sandbox.merchantId, profileId: undefined };
  parts = { db, client, clock: setup.clock, account };
});
afterEach(() => proxy.close());

const call = async (path: string, body: object = {}): Promise<Body> =>
  (await sandbox.call('POST', path, body)).body;

/** Requests that moved money, or would have. */
const sent = (): readonly string[] =>
  proxy.requests
    .filter(({ method, path }) => method === 'POST' && !/\/list\b/.test(path))
    .map(({ path }) => path);

describe('a refund is not sent', () => {
  const UNAVAILABLE = { status: 503, body: 'unavailable' };
  const pay = () => setup.authorize({ capture_method: 'automatic' });
  const refund = (paymentId: string, service = createRefundService(parts)) => {
    const seen = { expectedMinor: 6540, currency: 'USD', reason: 'returned' };
    return refundPaymentAs({ db, service }, ADA, { ...seen, paymentId, amountMinor: 6540 });
  };

  test('while an earlier refund of the payment cannot be retrieved', async () => {
    const paymentId = await pay();
    // The ledger does not have it yet.
    const { refund_id: id } = await call('/refunds', { payment_id: paymentId, amount: 1000 });
    proxy.standIns.set(`/refunds/${id}`, UNAVAILABLE);
    expect(await refund(paymentId)).toMatchObject({ outcome: 'failed' });
    expect(sent()).toEqual([]);
  });

  test('while the service does not show whether it exists', async () => {
    const paymentId = await pay();
    const service = createRefundService(parts);
    const hidden = { ...service, find: () => Promise.resolve('not_retrieved' as const) };
    expect(await refund(paymentId, hidden)).toMatchObject({ outcome: 'failed' });
    expect(sent()).toEqual([]);
  });

  test('where a payment has more refunds than are read', async () => {
    const paymentId = await pay();
    await db.query(
      `insert into resources (kind, id, payment_id, status, currency, amount_minor)
       select 'refund', 'ref_many_' || n, $1, 'succeeded', 'USD', 1 from generate_series(1, 502) n`,
      [paymentId],
    );
    const refresh = () => Promise.resolve({ outcome: 'applied' } as const);
    const service = { ...createRefundService(parts), refresh };
    const inspected = await inspectRefundable({ db, service }, paymentId);
    expect(inspected).toMatchObject({ outcome: 'not_refundable' });
  });
});

describe('a payout is not', () => {
  const createPayout = async (): Promise<string> => {
    const method = { payout_type: 'bank', payout_method_id: 'pm_stored', confirm: true };
    const request = { amount: 2500, currency: 'EUR', customer: { id: 'cus_1' }, ...method };
    return (await call('/payouts/create', request)).payout_id;
  };
  const createFailed = async (): Promise<string> => {
    const id = await createPayout();
    await sandbox.control('POST', `/payouts/${id}/move`, { status: 'failed' });
    return id;
  };
  const seen = { amountMinor: 2500, currency: 'EUR', reason: 'fixed' };
  const retry = (payoutId: string, fields: object = {}, service = createPayoutService(parts)) =>
    retryPayoutAs({ db, service }, ADA, { ...seen, ...fields, payoutId, details: undefined });
  const OTHERS = [
    ['amount', { amountMinor: 2501 }],
    ['currency', { currency: 'USD' }],
  ] as const;

  test.each(OTHERS)('paid again for another %s than the person saw', async (_what, other) => {
    const payoutId = await createFailed();
    expect(await retry(payoutId, other)).toMatchObject({ outcome: 'changed' });
    expect(sent()).toEqual([]);
  });

  test('paid again where the list is too long to show whether it was', async () => {
    const payoutId = await createFailed();
    const { payouts } = parts.client;
    const others = Array.from({ length: 2_000 }, (_, n) => {
      return { payout_id: `po_${n}`, merchant_order_reference_id: `other_${n}` };
    });
    const iterate: typeof payouts.iterate = () => Readable.from(others);
    const client = { ...parts.client, payouts: { ...payouts, iterate } };
    const retried = await retry(payoutId, {}, createPayoutService({ ...parts, client }));
    expect(retried).toMatchObject({ outcome: 'failed' });
    expect(sent()).toEqual([]);
  });

  test.each(OTHERS)('sent with another %s than the person saw', async (_what, other) => {
    const payoutId = await createPayout();
    const wanted = { ...seen, ...other, payoutId, status: 'requires_fulfillment' };
    const service = createPayoutService(parts);
    const acted = await actOnPayoutAs({ db, service }, ADA, { ...wanted, action: 'fulfill' });
    expect(acted).toMatchObject({ outcome: 'changed' });
    expect(sent()).toEqual([]);
  });
});

test.each([
  ['amount', { amountMinor: 5401 }],
  ['currency', { currency: 'EUR' }],
  ['stage', { stage: 'pre_arbitration' }],
])('a dispute with another %s than the person saw is not accepted', async (_what, other) => {
  const paymentId = await setup.authorize({ capture_method: 'automatic' });
  const opened = { payment_id: paymentId, amount: 5400, reason_code: '13.1' };
  const disputeId = (await sandbox.control('POST', '/disputes', opened)).dispute_id;
  await setup.applyWebhooks();
  const seen = { amountMinor: 5400, currency: 'USD', stage: 'dispute', reason: 'lost', ...other };
  const service = createDisputeService(parts);
  const accepted = await acceptDisputeAs({ db, service }, ADA, { ...seen, disputeId });
  expect(accepted).toMatchObject({ outcome: 'changed' });
  expect(sent()).toEqual([]);
});

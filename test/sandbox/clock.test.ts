/** What runs without a request when the sandbox's clock is advanced. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/platform/time.ts';
import { type RunningSandbox, startSandbox } from '../../src/sandbox/startSandbox.ts';
import { createTestDatabase, silentLog, type TestDatabase } from '../support/database.ts';
import { isInMemory, startTestSandbox, type TestSandbox } from '../support/sandbox.ts';
import { cardPayment, cardPaymentOf } from '../support/sandboxRequests.ts';
import { createServiceApi, type ServiceApi } from '../support/serviceApi.ts';
import { waitFor } from '../support/waitFor.ts';
import { startWebhookListener, type WebhookListener } from '../support/webhookListener.ts';

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox();
});
afterAll(() => sandbox.close());

const create = async (request: object) => (await sandbox.call('POST', '/payments', request)).body;
const retrieve = async (path: string) => (await sandbox.call('GET', path)).body;

test('a manual authorization expires after 7 days, at that time, and can then not be captured', async () => {
  const { payment_id: id } = await create(cardPayment({ capture_method: 'manual' }));
  await sandbox.advance(7 * DAY_MS - HOUR_MS);
  const before = await retrieve(`/payments/${id}`);
  expect(before).toMatchObject({ status: 'requires_capture', amount_capturable: 6540 });
  // An hour later than due: the change has the time at which it was due.
  await sandbox.advance(2 * HOUR_MS);
  const after = await retrieve(`/payments/${id}`);
  expect(after).toMatchObject({ status: 'expired', amount_capturable: 0, amount_received: 0 });
  expect(after.modified_at).toBe(before.capture_before);
  const captured = await sandbox.call('POST', `/payments/${id}/capture`);
  expect(captured).toMatchObject({ status: 400, body: { error: { code: 'IR_14' } } });
});

test('a change that was due while the machine slept has the time at which it was due', async () => {
  let machineMs = Date.UTC(2026, 10, 21);
  const asleep = await startTestSandbox({ clock: { nowMs: () => machineMs } });
  const { body } = await asleep.call(
    'POST',
    '/payments',
    cardPayment({ capture_method: 'manual' }),
  );
  // The machine slept for ten days: nobody advanced the clock.
  machineMs += 10 * DAY_MS;
  await asleep.control('POST', '/settle');
  const after = await asleep.call('GET', `/payments/${body.payment_id}`);
  expect(after.body).toMatchObject({ status: 'expired', modified_at: body.capture_before });
  await asleep.close();
});

test('the amount captured before an authorization expires stays received', async () => {
  const { payment_id: id } = await create(cardPayment({ capture_method: 'manual_multiple' }));
  await sandbox.call('POST', `/payments/${id}/capture`, { amount_to_capture: 1000 });
  await sandbox.advance(8 * DAY_MS);
  expect(await retrieve(`/payments/${id}`)).toMatchObject({
    status: 'expired',
    amount_received: 1000,
    amount_capturable: 0,
  });
});

test('a processing payment ends as its card chooses', async () => {
  const good = await create(cardPaymentOf('processing'));
  const bad = await create(cardPaymentOf('processing', 'UE_1007'));
  await sandbox.advance(10 * MINUTE_MS);
  expect(await retrieve(`/payments/${good.payment_id}`)).toMatchObject({ status: 'succeeded' });
  expect(await retrieve(`/payments/${bad.payment_id}`)).toMatchObject({
    status: 'failed',
    unified_code: 'UE_1007',
  });
});

test('a customer who never returns causes UE_5003', async () => {
  const { payment_id: id } = await create(cardPaymentOf('customer_action'));
  await sandbox.advance(HOUR_MS);
  expect(await retrieve(`/payments/${id}`)).toMatchObject({
    status: 'failed',
    unified_code: 'UE_5003',
  });
});

test('a scheduled refund settles a day later', async () => {
  const { payment_id: id } = await create(cardPayment());
  const refund = await sandbox.call('POST', '/refunds', {
    payment_id: id,
    refund_type: 'Scheduled',
  });
  expect(refund.body.status).toBe('pending');
  await sandbox.advance(DAY_MS + MINUTE_MS);
  expect(await retrieve(`/refunds/${refund.body.refund_id}`)).toMatchObject({
    status: 'succeeded',
  });
});

test('a dispute without a response expires at its deadline', async () => {
  const { payment_id: id } = await create(cardPayment());
  const dispute = await sandbox.control('POST', '/disputes', { payment_id: id });
  await sandbox.advance(11 * DAY_MS);
  const after = await retrieve(`/disputes/${dispute.dispute_id}`);
  expect(after).toMatchObject({ dispute_status: 'dispute_expired' });
  expect(after.modified_at).toBe(dispute.challenge_required_by);
});

test('auto_fulfill shows requires_fulfillment at first and is fulfilled without a request', async () => {
  const payout = await sandbox.call('POST', '/payouts/create', {
    amount: 5000,
    currency: 'EUR',
    payout_type: 'bank',
    payout_method_data: {
      bank_transfer: {
        payout_method_type: 'sepa',
        iban: 'DE89370400440532013000',
        bic: 'ABCDEFGH',
      },
    },
    auto_fulfill: true,
  });
  expect(payout.body.status).toBe('requires_fulfillment');
  await sandbox.advance(MINUTE_MS);
  expect(await retrieve(`/payouts/${payout.body.payout_id}`)).toMatchObject({ status: 'success' });
});

test('advances that arrive together add up', async () => {
  const nowMs = async () => Date.parse((await sandbox.control('GET', '/clock')).now);
  const beforeMs = await nowMs();
  await Promise.all([sandbox.advance(HOUR_MS), sandbox.advance(HOUR_MS)]);
  expect((await nowMs()) - beforeMs).toBeGreaterThanOrEqual(2 * HOUR_MS);
});

test('the clock of an empty sandbox can be set to any instant, and continues from there', async () => {
  const rehearsal = await startTestSandbox();
  await rehearsal.control('PUT', '/clock', { now: '2026-02-27T23:00:00Z' });
  const manual = cardPayment({ payment_id: 'a', capture_method: 'manual' });
  const { created } = (await rehearsal.call('POST', '/payments', manual)).body;
  expect(created).toMatch(/^2026-02-27T23:/);
  await rehearsal.advance(7 * DAY_MS);
  const after = (await rehearsal.call('GET', '/payments/a')).body;
  expect(after).toMatchObject({
    status: 'expired',
    modified_at: expect.stringMatching('2026-03-06'),
  });
  await rehearsal.close();
});

test('the clock of a sandbox that holds data cannot be set, and the error gives the reason', async () => {
  const used = await startTestSandbox({ startAtMs: Date.UTC(2026, 0, 1) });
  await used.call('POST', '/payments', cardPayment());
  const before = await used.control('GET', '/clock');
  const rejected = await used.call('PUT', '/_sandbox/clock', { now: '2025-01-01T00:00:00Z' });
  expect(rejected.status).toBe(409);
  expect(rejected.body.error.message).toContain('only while the sandbox is empty');
  const after = await used.control('GET', '/clock');
  expect(Date.parse(after.now)).toBeGreaterThanOrEqual(Date.parse(before.now));
  await used.close();
});

describe.skipIf(isInMemory)('a sandbox that is restarted with its data', () => {
  let db: TestDatabase;
  let listener: WebhookListener;
  beforeEach(async () => {
    db = await createTestDatabase();
    listener = await startWebhookListener();
  });
  afterEach(async () => {
    await listener.close();
    await db.drop();
  });

  const begin = async (startAtMs?: number): Promise<RunningSandbox & ServiceApi> => {
    const running = await startSandbox({
      startAtMs,
      databaseUrl: db.url,
      port: 0,
      apiKey: 'snd_0123456789abcdef',
      webhook: { url: listener.url, secret: 'another-secret-0123456789' },
      log: silentLog,
    });
    return { ...running, ...createServiceApi(running) };
  };
  const timeOf = async (running: ServiceApi): Promise<number> =>
    Date.parse((await running.control('GET', '/clock')).now);

  test('continues with its advanced clock, so that time never runs backwards', async () => {
    const first = await begin();
    await first.control('POST', '/clock/advance', { ms: 30 * DAY_MS });
    const beforeMs = await timeOf(first);
    await first.close();
    const second = await begin();
    expect(await timeOf(second)).toBeGreaterThanOrEqual(beforeMs);
    await second.close();
  });

  test('continues in the past where it was started there, and cannot be started at another time', async () => {
    const atMs = Date.UTC(2026, 5, 1);
    const first = await begin(atMs);
    await first.call('POST', '/payments', cardPayment());
    await first.close();
    await expect(begin(atMs)).rejects.toThrow('holds data already');
    const second = await begin();
    expect((await timeOf(second)) - atMs).toBeLessThan(HOUR_MS);
    await second.close();
  });

  test('after a stop during an advance, continues where the work ended', async () => {
    const first = await begin();
    const hold = (id: string) =>
      first.call('POST', '/payments', cardPayment({ payment_id: id, capture_method: 'manual' }));
    await hold('early');
    await first.control('POST', '/clock/advance', { ms: DAY_MS });
    const { capture_before: lateEnd } = (await hold('late')).body;
    await first.control('POST', '/settle');
    listener.withholdResponses((id) => id === 'early');
    const stop = new AbortController();
    const advance = fetch(`${first.baseUrl}/_sandbox/clock/advance`, {
      method: 'POST',
      body: JSON.stringify({ ms: 30 * DAY_MS }),
      signal: stop.signal,
    });
    await waitFor('the clock to reach the end of the first hold', () =>
      listener.received.some(({ event }) => event.event_type === 'payment_expired'),
    );
    const early = await first.call('GET', '/payments/early');
    const expiredMs = Date.parse(early.body.modified_at);
    // The state after a kill.
    const stored = await db.query<{ ms: number }>(
      'select clock_advance_ms as ms from sandbox.account',
    );
    expect(Date.now() + (stored[0]?.ms ?? 0)).toBeGreaterThanOrEqual(expiredMs);
    stop.abort();
    await expect(advance).rejects.toThrow();
    await first.close();
    listener.releaseResponses();
    const second = await begin();
    const nowMs = await timeOf(second);
    expect(nowMs).toBeGreaterThanOrEqual(expiredMs);
    expect(nowMs).toBeLessThan(Date.parse(lateEnd));
    const late = await second.call('GET', '/payments/late');
    expect(late.body.status).toBe('requires_capture');
    await second.close();
  });
});

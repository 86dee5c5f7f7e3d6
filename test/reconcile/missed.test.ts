/** A change counts as a missed webhook once a webhook has had time to report it. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/platform/time.ts';
import { awaitWebhooks, collectMissed } from '../../src/reconcile/store/awaited.ts';
import { API_KEY, type PaymentService, startPaymentService } from '../client/paymentService.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventBody, paymentObject } from '../support/events.ts';
import { applyEach, receive, testApplier } from '../support/ledger.ts';
import { testReconciler } from '../support/reconciler.ts';

let db: TestDatabase;
let service: PaymentService;

beforeEach(async () => {
  skewMs = 0;
  [db, service] = await Promise.all([createTestDatabase(), startPaymentService()]);
});
afterEach(() => db.drop());

type Payment = ReturnType<typeof paymentObject>;

/** The offset of the service's clock from this machine's. */
let skewMs = 0;
let retrieved = 0;

function changed(payment: Payment, agoMs: number): Payment {
  return {
    ...payment,
    status: 'succeeded',
    amount_received: 6540,
    modified_at: new Date(Date.now() + skewMs - agoMs).toISOString(),
  };
}

/** The fields that the contract guarantees in list rows. */
function short({ payment_id, status, amount, currency, created }: Payment): object {
  return { payment_id, status, amount, currency, created };
}

function show(payments: readonly Payment[], toRow: (payment: Payment) => object): void {
  service.always = ({ path }) => {
    const headers = { date: new Date(Date.now() + skewMs).toUTCString() };
    if (!path.endsWith('/list')) {
      retrieved += 1;
      const body = payments.find(({ payment_id: id }) => path.endsWith(id));
      return { status: 200, headers, body };
    }
    const { length } = payments;
    const body = { count: length, total_count: length, data: payments.map(toRow) };
    return { status: 200, headers, body };
  };
}

test.each([
  ['five fields', 0, short],
  ['every field', 0, (payment: Payment): object => payment],
  ['five fields', -2 * DAY_MS, short],
  ['every field', -2 * DAY_MS, (payment: Payment): object => payment],
] as const)(
  'of the changes in list rows of %s, those older than two minutes count as missed, at a clock offset of %d ms',
  async (_, serviceSkewMs, toRow) => {
    skewMs = serviceSkewMs;
    const at = new Date(Date.now() + skewMs - 20 * MINUTE_MS).toISOString();
    const fields = { status: 'processing', amount_received: 0, created: at, modified_at: at };
    const [young, old] = [paymentObject(fields), paymentObject(fields)];
    const { run, metrics } = testReconciler({
      db,
      service: { baseUrl: service.baseUrl, apiKey: API_KEY },
    });
    show([young, old], toRow);
    expect(await run()).toMatchObject({ repaired: 2, missed: 0 });

    show([changed(young, 10_000), changed(old, 5 * MINUTE_MS)], toRow);
    expect(await run()).toMatchObject({ repaired: 2, missed: 1 });
    expect(await metrics.render()).toContain(
      'tallyhook_missed_webhooks_total{stream="payments"} 1',
    );
  },
);

test.each([
  [20, 20],
  [21, 0],
])(
  'of %i rows of a list that lags for hours, %i are retrieved, none is repaired, and no webhook counts as missed',
  async (rows, retrieves) => {
    const at = (hours: number) => new Date(Date.now() - hours * HOUR_MS).toISOString();
    const fields = { status: 'processing', amount_received: 0, created: at(3), modified_at: at(3) };
    const listed = Array.from({ length: rows }, () => paymentObject(fields));
    const { run } = testReconciler({ db, service: { baseUrl: service.baseUrl, apiKey: API_KEY } });
    show(listed, (payment) => payment);
    expect(await run()).toMatchObject({ repaired: rows });

    const paid = listed.map((payment) => changed(payment, 2 * HOUR_MS));
    await applyEach(
      db,
      testApplier(db),
      paid.map((payment) => eventBody(payment)),
    );
    show(paid, ({ payment_id: id }) => listed.find((one) => one.payment_id === id) ?? {});
    retrieved = 0;
    const fromMs = Date.now() - DAY_MS;
    expect(await run({ fromMs })).toMatchObject({ repaired: 0, missed: 0, state: 'done' });
    expect(retrieved).toBe(retrieves);
  },
);

test("a change made while the service's clock is corrected still waits for its webhook", async () => {
  skewMs = -2 * DAY_MS;
  const at = new Date(Date.now() + skewMs - 20 * MINUTE_MS).toISOString();
  const fields = { status: 'processing', amount_received: 0, created: at, modified_at: at };
  const [first, second] = [paymentObject(fields), paymentObject(fields)];
  const { run } = testReconciler({ db, service: { baseUrl: service.baseUrl, apiKey: API_KEY } });
  show([first, second], short);
  expect(await run()).toMatchObject({ repaired: 2, missed: 0 });

  skewMs = 0;
  const changedFirst = changed(first, 5 * MINUTE_MS);
  show([changedFirst, second], short);
  expect(await run()).toMatchObject({ repaired: 1, missed: 0 });

  show([changedFirst, changed(second, 5 * MINUTE_MS)], short);
  expect(await run({ fromMs: Date.now() - 3 * DAY_MS })).toMatchObject({ repaired: 1, missed: 1 });
});

test('a repair by a manual run is counted by the next scheduled run, unless its webhook arrives', async () => {
  const at = new Date(Date.now() - 20 * MINUTE_MS).toISOString();
  const fields = { status: 'processing', amount_received: 0, created: at, modified_at: at };
  const payments = [paymentObject(fields), paymentObject(fields), paymentObject(fields)] as const;
  const { run, metrics } = testReconciler({
    db,
    service: { baseUrl: service.baseUrl, apiKey: API_KEY },
  });
  show(payments, short);
  await run();

  const [late, lost, old] = payments;
  const now = [changed(late, 10_000), changed(lost, 10_000), changed(old, 5 * MINUTE_MS)] as const;
  show(now, short);
  expect(await run()).toMatchObject({ cause: 'operator', repaired: 3, missed: 1 });
  // The manual run is another process with its own counter.
  const counted = async () =>
    (await metrics.render()).match(/tallyhook_missed_webhooks_total{stream="payments"} (\d+)/)?.[1];
  expect(await counted()).toBe('1');

  await applyEach(db, testApplier(db), [eventBody(now[0])]);
  expect(await run({ cause: 'tail' })).toMatchObject({ found: 0, missed: 0 });
  await db.query(`update awaited_webhooks set repaired_at = repaired_at - interval '3 minutes'`);
  expect(await run({ cause: 'night' })).toMatchObject({ found: 0, missed: 2 });
  expect(await counted()).toBe('3');
  expect(await run({ cause: 'week' })).toMatchObject({ found: 0, missed: 0 });
});

test('a second change of one payment awaits its own webhook', async () => {
  const ref = { kind: 'payment', id: 'pay_1' } as const;
  const repair = () => awaitWebhooks(db, 'payments', [{ ref, changedAt: new Date() }]);
  const collect = () => collectMissed(db, 'payments', { graceMs: 2 * MINUTE_MS, limit: 10 });
  await repair();
  await db.query(`update awaited_webhooks set repaired_at = repaired_at - interval '3 minutes'`);
  await repair();
  expect(await collect()).toEqual([]);
  await db.query(`update awaited_webhooks set repaired_at = repaired_at - interval '3 minutes'`);
  expect(await collect()).toHaveLength(1);
});

test('a change that an event in the inbox reports does not count as missed while no events worker runs', async () => {
  const at = new Date(Date.now() - 20 * MINUTE_MS).toISOString();
  const fields = { status: 'processing', amount_received: 0, created: at, modified_at: at };
  const [reported, lost] = [paymentObject(fields), paymentObject(fields)] as const;
  const { run, metrics } = testReconciler({
    db,
    service: { baseUrl: service.baseUrl, apiKey: API_KEY },
  });
  show([reported, lost], short);
  await run();

  const now = [changed(reported, 5 * MINUTE_MS), changed(lost, 5 * MINUTE_MS)] as const;
  const waiting = await receive(db, [eventBody(now[0])]);
  await db.query(`update pending set since = since - interval '5 minutes'`);
  show(now, short);
  expect(await run({ cause: 'tail' })).toMatchObject({ repaired: 2, missed: 0 });
  // The run after the grace period knows no more: the event still waits.
  await db.query(`update awaited_webhooks set repaired_at = repaired_at - interval '3 minutes'`);
  expect(await run({ cause: 'tail' })).toMatchObject({ found: 0, missed: 0 });

  await testApplier(db).applyBatch(waiting);
  expect(await run({ cause: 'tail' })).toMatchObject({ found: 0, missed: 1 });
  expect(await metrics.render()).toContain('tallyhook_missed_webhooks_total{stream="payments"} 1');
});

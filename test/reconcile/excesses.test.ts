/**
 * An excess of an order raises no alert before the service has confirmed every part. Numbers refer to the
 * rules of src/alerts/domain/rules/excesses.ts.
 */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { raiseWaitingFindings } from '../../src/alerts/syncFindingAlerts.ts';
import { acceptFinding } from '../../src/ledger/acceptFinding.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { createMetrics } from '../../src/platform/metrics.ts';
import { sleep } from '../../src/platform/sleep.ts';
import { MINUTE_MS } from '../../src/platform/time.ts';
import { createReconcileMetrics } from '../../src/reconcile/metrics.ts';
import { createRefresh, type Round } from '../../src/reconcile/refresh.ts';
import { readStoredAlerts } from '../support/alerts.ts';
import { createTestDatabase, silentLog, type TestDatabase } from '../support/database.ts';
import { eventBody, unique } from '../support/events.ts';
import { applyEach, readOpenFindings, testApplier } from '../support/ledger.ts';
import { testReconciler } from '../support/reconciler.ts';
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts';
import { cardPayment, cardPaymentOf } from '../support/sandboxRequests.ts';

let db: TestDatabase;
let sandbox: TestSandbox;
beforeEach(async () => {
  [db, sandbox] = await Promise.all([createTestDatabase(), startTestSandbox()]);
});
afterEach(async () => {
  await sandbox.close();
  await db.drop();
});

const apply = (...bodies: readonly Buffer[]) =>
  applyEach(db, testApplier(db, sandbox.merchantId), bodies);

interface Order {
  readonly orderId: string;
  readonly paymentId: string;
  readonly subject: string;
  /** The payment as the service returned it. */
  readonly payment: object;
}

async function pay(): Promise<Order> {
  const orderId = unique('ord');
  const request = cardPayment({ metadata: { order_id: orderId } });
  const { body } = await sandbox.call('POST', '/payments', request);
  return { orderId, paymentId: body.payment_id, subject: `order:order:${orderId}`, payment: body };
}

/** The event of a failed attempt before the successful one. */
function failedAttempt({ payment }: Order): Buffer {
  const failed = {
    ...payment,
    status: 'failed',
    amount_received: 0,
    modified_at: new Date(Date.now() - 10 * MINUTE_MS).toISOString(),
  };
  const { merchantId } = sandbox;
  return eventBody(failed, { eventType: 'payment_failed', merchantId });
}

async function refund({ paymentId }: Order, amount = 6540): Promise<string> {
  const { body } = await sandbox.call('POST', '/refunds', { payment_id: paymentId, amount });
  return body.refund_id;
}

/** Creates a pending refund of 5.40 USD and retrieves it, because no webhook reports a new refund. */
async function pendingRefund({ paymentId }: Order): Promise<string> {
  const request = { payment_id: paymentId, amount: 540, refund_type: 'Scheduled' };
  const { body } = await sandbox.call('POST', '/refunds', request);
  const { retrieve } = testReconciler({ db, service: sandbox });
  await retrieve({ kind: 'refund', id: body.refund_id }, { lane: 'operator' });
  return body.refund_id;
}

/** Creates a second payment for an order that is already paid. */
async function payAgain({ orderId }: Order): Promise<string> {
  const request = cardPayment({ metadata: { order_id: orderId } });
  return (await sandbox.call('POST', '/payments', request)).body.payment_id;
}

async function dispute({ paymentId }: Order): Promise<string> {
  return (await sandbox.control('POST', '/disputes', { payment_id: paymentId })).dispute_id;
}

/** The bodies of all webhooks about these kinds that the service has sent. */
async function webhooks(...kinds: readonly string[]): Promise<readonly Buffer[]> {
  await sandbox.control('POST', '/settle');
  return sandbox.listener.received
    .map(({ body }) => body)
    .filter((body) => kinds.includes(JSON.parse(body.toString()).content.type.split('_')[0]));
}

/** Runs one refresh round in a new process. */
async function refreshOnce(): Promise<Round> {
  const { retrieve } = testReconciler({ db, service: sandbox });
  const metrics = createReconcileMetrics(createMetrics());
  const parts = { db, retrieve, clock: systemClock, metrics, log: silentLog, sleep };
  return await createRefresh(parts).round(new AbortController().signal);
}

const raiseAlerts = (hasApiKey = true) => raiseWaitingFindings(db, { hasApiKey });
const classes = async (subject: string) =>
  (await readOpenFindings(db, subject)).map((finding) => finding.class);
const alerts = async (subject: string) =>
  (await readStoredAlerts(db, [subject])).map(({ rule, state, notifications }) => [
    rule,
    state,
    ...notifications,
  ]);

/** Moves stored times into the past, as if that time had passed. */
async function passTime(ms: number): Promise<void> {
  const interval = `interval '${ms} milliseconds'`;
  await db.query(
    `update findings set opened_at = opened_at - ${interval}, updated_at = updated_at - ${interval}`,
  );
  await db.query(
    `update resources
        set retrieved_at = retrieved_at - ${interval}, next_check_at = next_check_at - ${interval}`,
  );
}

test('a refund without its capture raises no alert before a retrieve (rule 1)', async () => {
  const order = await pay();
  await refund(order);
  await apply(failedAttempt(order), ...(await webhooks('refund')));
  expect(await classes(order.subject)).toEqual(['over_refund']);
  await raiseAlerts();
  expect(await refreshOnce()).toMatchObject({ outcome: 'done', checked: 2 });
  expect(await classes(order.subject)).toEqual([]);
  await passTime(48 * 60 * MINUTE_MS);
  await raiseAlerts();
  expect(await alerts(order.subject)).toEqual([]);
});

test('a dispute and a refund before their capture raise no alert (rule 1)', async () => {
  const order = await pay();
  await refund(order, 1000);
  const disputeId = await dispute(order);
  await sandbox.control('POST', `/disputes/${disputeId}/move`, { status: 'won' });
  // The webhook about the end of the dispute was lost, too.
  const [opened] = await webhooks('dispute');
  await apply(failedAttempt(order), ...(await webhooks('refund')), opened ?? Buffer.alloc(0));
  expect(await classes(order.subject)).toEqual(['double_loss', 'over_refund']);
  expect(await refreshOnce()).toMatchObject({ checked: 3 });
  expect(await classes(order.subject)).toEqual([]);
  await raiseAlerts();
  expect(await alerts(order.subject)).toEqual([]);
});

test('an excess that the service confirms raises one alert, which resolves with the excess (rule 2)', async () => {
  const order = await pay();
  await refund(order, 1000);
  const disputeId = await dispute(order);
  await apply(...(await webhooks('payment', 'refund', 'dispute')));
  expect(await classes(order.subject)).toEqual(['double_loss']);

  // A replica may lag, so responses of the first minute do not count.
  expect(await refreshOnce()).toMatchObject({ checked: 3 });
  await raiseAlerts();
  expect(await alerts(order.subject)).toEqual([]);
  await passTime(62_000);
  await raiseAlerts();
  expect(await alerts(order.subject)).toEqual([]);
  expect(await refreshOnce()).toMatchObject({ checked: 3 });
  await raiseAlerts();
  await raiseAlerts();
  expect(await alerts(order.subject)).toEqual([['double_loss', 'open', 'opened']]);
  // Once confirmed, it is not retrieved more often than other resources.
  await passTime(62_000);
  expect(await refreshOnce()).toMatchObject({ checked: 0 });

  await sandbox.control('POST', `/disputes/${disputeId}/move`, { status: 'won' });
  await apply(...(await webhooks('dispute')));
  expect(await alerts(order.subject)).toEqual([['double_loss', 'resolved', 'opened', 'resolved']]);
});

test('an excess is confirmed although an ended part joins its order before that, and changes nothing (rule 2)', async () => {
  const order = await pay();
  await refund(order, 1000);
  await dispute(order);
  await apply(...(await webhooks('payment', 'refund', 'dispute')));
  await passTime(62_000);
  expect(await refreshOnce()).toMatchObject({ checked: 3 });
  const declined = { metadata: { order_id: order.orderId } };
  const attempt = await sandbox.call(
    'POST',
    '/payments',
    cardPaymentOf('final', 'UE_1001', declined),
  );
  expect(attempt.body).toMatchObject({ status: 'failed' });
  await apply(
    eventBody(attempt.body, { eventType: 'payment_failed', merchantId: sandbox.merchantId }),
  );
  await raiseAlerts();
  expect(await alerts(order.subject)).toEqual([]);
  expect(await refreshOnce()).toMatchObject({ checked: 1 });
  await raiseAlerts();
  expect(await alerts(order.subject)).toEqual([['double_loss', 'open', 'opened']]);
});

test('an excess waits until the service has responded about every part (rules 2 and 3)', async () => {
  const order = await pay();
  await refund(order, 1000);
  await dispute(order);
  await apply(...(await webhooks('payment', 'refund', 'dispute')));
  await passTime(5 * MINUTE_MS);
  const { retrieve } = testReconciler({ db, service: sandbox });
  await retrieve({ kind: 'payment', id: order.paymentId }, { lane: 'operator' });
  await raiseAlerts();
  expect(await alerts(order.subject)).toEqual([]);
  // After a day without a response the alert is raised unconfirmed.
  await passTime(24 * 60 * MINUTE_MS);
  await raiseAlerts();
  expect(await alerts(order.subject)).toEqual([['double_loss', 'open', 'opened']]);
  const [row] = await db.query<{ sentence: string }>(
    'select sentence from alerts where subject = $1',
    [order.subject],
  );
  expect(row?.sentence).toMatch(/has not confirmed this/);
});

test('without an API key an excess raises its alert after twenty minutes (rule 3)', async () => {
  const order = await pay();
  await refund(order, 1000);
  await dispute(order);
  await apply(...(await webhooks('payment', 'refund', 'dispute')));
  await passTime(19 * MINUTE_MS);
  await raiseAlerts(false);
  expect(await alerts(order.subject)).toEqual([]);
  await passTime(2 * MINUTE_MS);
  await raiseAlerts(false);
  expect(await alerts(order.subject)).toEqual([['double_loss', 'open', 'opened']]);
});

test('an accepted excess that seems to grow raises an alert only when that is confirmed (rules 2 and 4)', async () => {
  const order = await pay();
  await refund(order, 1000);
  await dispute(order);
  await apply(...(await webhooks('payment', 'refund', 'dispute')));
  const [finding] = await db.query<{ id: number }>(`select id from findings where state = 'open'`);
  await acceptFinding(db, finding?.id ?? 0, { by: 'ada', reason: 'known' });

  await refund(order, 2000);
  await apply(...(await webhooks('refund')));
  await raiseAlerts();
  expect(await alerts(order.subject)).toEqual([]);
  await passTime(62_000);
  await refreshOnce();
  await raiseAlerts();
  expect(await alerts(order.subject)).toEqual([['double_loss', 'open', 'opened']]);
});

/** All alerts of a rule. */
const alertsOf = async (wanted: string) =>
  (await readStoredAlerts(db))
    .filter(({ rule }) => rule === wanted)
    .map(({ subject, state, notifications }) => [subject, state, ...notifications]);

describe('a dispute beside a pending refund', () => {
  /** Creates a small dispute, which does not exceed the captured amount together with the refund. */
  const disputeSome = async ({ paymentId }: Order) =>
    await sandbox.control('POST', '/disputes', { payment_id: paymentId, amount: 1000 });

  test('raises no alert if the refund has failed without a webhook (rule 1)', async () => {
    const order = await pay();
    const refundId = await pendingRefund(order);
    await sandbox.control('POST', `/refunds/${refundId}/move`, { status: 'failed' });
    await disputeSome(order);
    await apply(...(await webhooks('payment', 'dispute')));
    expect(await classes(order.subject)).toEqual(['dispute_and_refund']);
    await raiseAlerts();
    expect(await refreshOnce()).toMatchObject({ outcome: 'done', checked: 3 });
    expect(await classes(order.subject)).toEqual([]);
    await passTime(48 * 60 * MINUTE_MS);
    await raiseAlerts();
    expect(await alertsOf('dispute_and_refund')).toEqual([]);
  });

  test('raises one alert about the order once the service has confirmed both (rule 2)', async () => {
    const order = await pay();
    const refundId = await pendingRefund(order);
    const { dispute_id: disputeId } = await disputeSome(order);
    await apply(...(await webhooks('payment', 'dispute')));
    await raiseAlerts();
    expect(await alertsOf('dispute_and_refund')).toEqual([]);
    await passTime(62_000);
    expect(await refreshOnce()).toMatchObject({ checked: 3 });
    await raiseAlerts();
    await raiseAlerts();
    expect(await alertsOf('dispute_and_refund')).toEqual([[order.subject, 'open', 'opened']]);
    const rows = await db.query(
      `select order_id, sentence from alerts where rule = 'dispute_and_refund'`,
    );
    expect(rows).toEqual([
      {
        order_id: order.orderId,
        sentence: `Order ${order.orderId} has a dispute (${disputeId}, 10.00 USD) and a pending refund (${refundId}, 5.40 USD): the customer may receive the money twice.`,
      },
    ]);
    await sandbox.control('POST', `/refunds/${refundId}/move`, { status: 'failed' });
    await apply(...(await webhooks('refund')));
    expect(await alertsOf('dispute_and_refund')).toEqual([
      [order.subject, 'resolved', 'opened', 'resolved'],
    ]);
  });

  test('raises its alert after twenty minutes without an API key (rule 3)', async () => {
    const order = await pay();
    await pendingRefund(order);
    await disputeSome(order);
    await apply(...(await webhooks('payment', 'dispute')));
    await passTime(19 * MINUTE_MS);
    await raiseAlerts(false);
    expect(await alertsOf('dispute_and_refund')).toEqual([]);
    await passTime(2 * MINUTE_MS);
    await raiseAlerts(false);
    expect(await alertsOf('dispute_and_refund')).toEqual([[order.subject, 'open', 'opened']]);
  });
});

describe('a second payment of an order', () => {
  test('raises no alert if a retrieve shows that it was not paid (rule 1)', async () => {
    const order = await pay();
    const failed = cardPaymentOf('final', 'UE_1001', { metadata: { order_id: order.orderId } });
    const { body } = await sandbox.call('POST', '/payments', failed);
    // A body without a version that reports a success, which the service has since reverted.
    const paid = { ...order.payment, payment_id: body.payment_id, modified_at: undefined };
    const { merchantId } = sandbox;
    const claim = eventBody(paid, { eventType: 'payment_succeeded', merchantId });
    await apply(...(await webhooks('payment')).filter((one) => !one.includes(body.payment_id)));
    await apply(claim);
    expect(await classes(order.subject)).toEqual(['double_paid']);
    await raiseAlerts();
    expect(await refreshOnce()).toMatchObject({ checked: 2 });
    expect(await classes(order.subject)).toEqual([]);
    await passTime(48 * 60 * MINUTE_MS);
    await raiseAlerts();
    expect(await alertsOf('double_paid')).toEqual([]);
  });

  test('raises one alert even if responses lag behind its webhook (rule 2)', async () => {
    // The webhook has no version and the lagging response has one, so the response outranks the webhook.
    const lag = { retrieves: { lag_ms: 20_000 }, webhooks: { omit_fields: ['version'] } };
    const order = await pay();
    await sandbox.advance(30_000);
    await sandbox.control('PUT', '/faults', {
      ...lag,
      payments: { processing_first: 1, processing_ms: 25_000 },
    });
    const second = await payAgain(order);
    await sandbox.advance(26_000);
    await apply(...(await webhooks('payment')));
    expect(await classes(order.subject)).toEqual(['double_paid']);
    const { retrieve } = testReconciler({ db, service: sandbox });
    await retrieve({ kind: 'payment', id: second }, { lane: 'operator' });
    expect(await classes(order.subject)).toEqual([]);
    for (let round = 0; round < 10; round += 1) {
      await sandbox.advance(31_000);
      await passTime(31_000);
      await refreshOnce();
      await raiseAlerts();
    }
    expect(await alertsOf('double_paid')).toEqual([[order.subject, 'open', 'opened']]);
  });

  test('raises its alert after twenty minutes without an API key (rule 3)', async () => {
    const order = await pay();
    await payAgain(order);
    await apply(...(await webhooks('payment')));
    await passTime(19 * MINUTE_MS);
    await raiseAlerts(false);
    expect(await alertsOf('double_paid')).toEqual([]);
    await passTime(2 * MINUTE_MS);
    await raiseAlerts(false);
    expect(await alertsOf('double_paid')).toEqual([[order.subject, 'open', 'opened']]);
  });

  test('has its alert resolved by the refund of one of both payments, and raises one for a third', async () => {
    const order = await pay();
    await payAgain(order);
    await apply(...(await webhooks('payment')));
    await passTime(21 * MINUTE_MS);
    await raiseAlerts(false);
    expect(await alertsOf('double_paid')).toEqual([[order.subject, 'open', 'opened']]);
    await refund(order);
    await apply(...(await webhooks('refund')));
    expect(await classes(order.subject)).toEqual([]);
    const resolved = [order.subject, 'resolved', 'opened', 'resolved'];
    expect(await alertsOf('double_paid')).toEqual([resolved]);
    await payAgain(order);
    await apply(...(await webhooks('payment')));
    await passTime(21 * MINUTE_MS);
    await raiseAlerts(false);
    expect(await alertsOf('double_paid')).toEqual([resolved, [order.subject, 'open', 'opened']]);
  });

  test('raises no alert once somebody accepted it', async () => {
    const order = await pay();
    await payAgain(order);
    await apply(...(await webhooks('payment')));
    const [finding] = await db.query<{ id: number }>(
      `select id from findings where state = 'open'`,
    );
    await acceptFinding(db, finding?.id ?? 0, { by: 'ada', reason: 'known' });
    await passTime(21 * MINUTE_MS);
    await raiseAlerts(false);
    expect(await alertsOf('double_paid')).toEqual([]);
  });
});

/**
 * Habits of services of the family, each a fault of the sandbox: the ledger ends equal to the service and no
 * finding stays, both where the webhooks arrive and where all of them are lost.
 */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ResourceRef } from '../../src/ledger/domain/snapshot.ts';
import { verifyLedger } from '../../src/ledger/verify/verifyLedger.ts';
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../src/platform/time.ts';
import type { FaultsInput } from '../../src/sandbox/faults/settings.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { receive, testApplier } from '../support/ledger.ts';
import { testReconciler } from '../support/reconciler.ts';
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts';
import { cardPayment, cardPaymentOf } from '../support/sandboxRequests.ts';
import { differencesOf } from '../support/trade.ts';

let sandbox: TestSandbox;
let db: TestDatabase;

/** Longer than a manual authorization, which expires after seven days. */
const PERIOD_MS = 8 * DAY_MS;

beforeEach(async () => {
  [sandbox, db] = await Promise.all([
    startTestSandbox({ startAtMs: Date.now() - PERIOD_MS }),
    createTestDatabase(),
  ]);
});
afterEach(async () => {
  await sandbox.close();
  await db.drop();
});

const call = async (path: string, body?: object) => {
  const reply = await sandbox.call('POST', path, body);
  expect(reply.status, `${path}: ${JSON.stringify(reply.body)}`).toBe(200);
  return reply.body;
};

/** What a resource is while something is still to be decided about it. */
async function beginLives(shop: string): Promise<{ readonly disputeIds: readonly string[] }> {
  const pay = (id: string, fields: object = {}) =>
    call(
      '/payments',
      cardPayment({
        payment_id: `${shop}_${id}`,
        metadata: { order_id: `${shop}_${id}` },
        ...fields,
      }),
    );
  const refund = (id: string, amount: number, refundId = id) =>
    call('/refunds', { payment_id: `${shop}_${id}`, refund_id: `${shop}_ref_${refundId}`, amount });
  await pay('paid');
  await pay('declined', { amount: 771_001 });
  await pay('refunded');
  await pay('disputed');
  await pay('held', { capture_method: 'manual' });
  await pay('part', { capture_method: 'manual' });
  await pay('parts', { capture_method: 'manual_multiple' });
  await pay(
    'acting',
    cardPaymentOf('customer_action', undefined, { payment_id: `${shop}_acting` }),
  );
  await pay('late', cardPaymentOf('processing', undefined, { payment_id: `${shop}_late` }));
  await sandbox.advance(2 * SECOND_MS);
  await refund('refunded', 300);
  await refund('refunded', 7710, 'refused').catch(() => undefined);
  await call(`/payments/${shop}_part/capture`, { amount_to_capture: 1000 });
  await call(`/payments/${shop}_parts/capture`, { amount_to_capture: 1000 });
  const disputeIds: string[] = [];
  for (const stage of ['dispute', 'pre_dispute']) {
    const { dispute_id: id } = await sandbox.control('POST', '/disputes', {
      payment_id: `${shop}_disputed`,
      amount: 2000,
      stage,
    });
    disputeIds.push(id);
  }
  await call('/payouts/create', {
    amount: 900,
    currency: 'EUR',
    merchant_order_reference_id: `${shop}_payout`,
    payout_type: 'bank',
    payout_method_data: {
      bank_transfer: {
        payout_method_type: 'sepa',
        iban: 'DE89370400440532013000',
        bic: 'ABCDEFGH',
      },
    },
    confirm: true,
    auto_fulfill: true,
  });
  await sandbox.advance(MINUTE_MS);
  return { disputeIds };
}

/** Decides what `beginLives` left undecided, but for the hold, which is not captured in time. */
async function endLives(shop: string, disputeIds: readonly string[]): Promise<void> {
  await sandbox.control('POST', `/payments/${shop}_acting/action`, { action: 'complete' });
  await call(`/payments/${shop}_parts/capture`, { amount_to_capture: 500 });
  for (const id of disputeIds) {
    await sandbox.control('POST', `/disputes/${id}/move`, { status: 'lost' });
  }
}

const TIMES = ['created', 'modified_at'];

const HABITS: readonly (readonly [string, FaultsInput])[] = [
  ['events name ids and types otherwise', { webhooks: { plain_ids: 1, unknown_types: 1 } }],
  [
    'fields that are usually present are null',
    {
      webhooks: { null_fields: [...TIMES, 'amount', 'currency', 'amount_received'] },
      lists: { null_fields: [...TIMES, 'amount_received', 'amount_capturable'] },
      retrieves: { null_fields: [...TIMES, 'capture_method', 'customer_id'] },
      payments: { nested: 'null' },
    },
  ],
  [
    'what a processor decides otherwise, or later',
    {
      payments: { partial_authorization: 1, lapse_cancels: 1, failed_capturable: 1 },
      refunds: { pending_first: 1 },
    },
  ],
  [
    'statuses that the contract does not define',
    {
      payments: {
        customer_action: 1,
        unknown_status: 1,
        processing_first: 1,
        processing_ms: SECOND_MS,
        nested: 'empty',
      },
    },
  ],
  [
    'the fields, evidence and errors of the family',
    {
      payments: { nested: 'filled' },
      errors: { family: true },
      family_fields: true,
      family_evidence: true,
      dispute_amount_as_text: true,
      no_rate_headers: true,
    },
  ],
  [
    'all of them by shares',
    {
      webhooks: { one_event_per_type: true, plain_ids: 0.5, unknown_types: 0.2 },
      lists: { envelope: 'array', max_limit: 20 },
      payments: {
        processing_first: 0.5,
        processing_ms: SECOND_MS,
        surcharge: 0.5,
        partial_authorization: 0.5,
        lapse_cancels: 0.5,
        customer_action: 1,
        unknown_status: 0.5,
        failed_capturable: 1,
        early_received: 0.5,
        no_part_status: 0.5,
        nested: 'filled',
      },
      refunds: { pending_first: 1 },
      errors: { family: true, without_type: true },
      family_fields: true,
      dispute_amount_as_text: true,
      no_rate_headers: true,
      he_01_status: 400,
    },
  ],
];

test.each(HABITS)('the ledger ends equal to the service: %s', async (_name, habit) => {
  const reconciler = testReconciler({ db, service: sandbox });
  let applied = 0;
  const applyArrived = async (): Promise<void> => {
    await sandbox.control('POST', '/settle');
    const arrived = sandbox.listener.received.slice(applied);
    applied += arrived.length;
    const ids = await receive(
      db,
      arrived.map(({ body }) => body),
    );
    await testApplier(db, sandbox.merchantId).applyBatch(ids);
  };
  const reconcile = async (): Promise<void> => {
    await applyArrived();
    await reconciler.runAll({ fromMs: Date.now() - 2 * PERIOD_MS });
    await checkWanted();
  };
  const checkWanted = async (): Promise<void> => {
    const wanted = await db.query<ResourceRef>(
      `select kind, id from resources where is_check_wanted order by kind, id`,
    );
    for (const { kind, id } of wanted) await reconciler.retrieve({ kind, id }, { lane: 'refresh' });
  };
  const withLoss = { ...habit, webhooks: { ...habit.webhooks, drop: 1 } };
  await sandbox.control('PUT', '/faults', habit);
  const notified = await beginLives('notified');
  await sandbox.control('PUT', '/faults', withLoss);
  const lost = await beginLives('lost');
  await reconcile();
  await sandbox.control('PUT', '/faults', habit);
  await endLives('notified', notified.disputeIds);
  await sandbox.control('PUT', '/faults', withLoss);
  await endLives('lost', lost.disputeIds);
  await sandbox.control('PUT', '/faults', habit);
  const { now } = await sandbox.control('GET', '/clock');
  await sandbox.advance(Date.now() - Date.parse(now));
  await reconcile();

  expect(await differencesOf(db, sandbox)).toEqual([]);
  expect(
    await db.query(
      `select class, subject, detail from findings where state = 'open' order by class, subject`,
    ),
  ).toEqual([]);
  const verified = await verifyLedger(db, { merchantId: sandbox.merchantId, rebuild: true });
  expect(verified.checks.filter(({ failures }) => failures > 0)).toEqual([]);
});

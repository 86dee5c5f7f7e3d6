/**
 * Tallyhook was stopped for eleven days, and the service has decided meanwhile what the ledger has as open. The
 * scheduler alone runs, before reconciliation could repair anything: it alerts nobody about what is over.
 */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { DAY_MS, HOUR_MS } from '../../src/platform/time.ts';
import { readStoredAlerts } from '../support/alerts.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { applyEach, testApplier } from '../support/ledger.ts';
import { SANDBOX_SECRET, startTestSandbox, type TestSandbox } from '../support/sandbox.ts';
import { cardPayment, cardPaymentOf } from '../support/sandboxRequests.ts';
import { startTallyhook, type TestTallyhook } from '../support/tallyhook.ts';
import { waitFor } from '../support/waitFor.ts';

const STOPPED_MS = 11 * DAY_MS;

let db: TestDatabase;
let sandbox: TestSandbox;
let tallyhook: TestTallyhook | undefined;

beforeEach(async () => {
  [db, sandbox] = await Promise.all([
    createTestDatabase(),
    startTestSandbox({ startAtMs: Date.now() - STOPPED_MS }),
  ]);
});
afterEach(async () => {
  await tallyhook?.close();
  await sandbox.close();
  await db.drop();
});

test('the first scheduler after a long stop alerts nobody about disputes and payments that are over', async () => {
  await sandbox.call('POST', '/payments', cardPayment({ payment_id: 'pay_disputed' }));
  await sandbox.call(
    'POST',
    '/payments',
    cardPaymentOf('processing', undefined, { payment_id: 'pay_processing' }),
  );
  const { dispute_id: disputeId } = await sandbox.control('POST', '/disputes', {
    payment_id: 'pay_disputed',
  });
  await sandbox.control('POST', '/settle');
  const stoppedMs = Date.now() - STOPPED_MS;
  const applier = testApplier(db, sandbox.merchantId, { nowMs: () => stoppedMs });
  await applyEach(
    db,
    applier,
    sandbox.listener.received.map(({ body }) => body),
  );
  const rules = async () =>
    (await readStoredAlerts(db)).map(({ rule, state }) => `${rule} ${state}`).toSorted();
  expect(await rules()).toEqual(['dispute_opened open']);

  await sandbox.control('PUT', '/webhook', { url: null });
  await sandbox.advance(DAY_MS);
  await sandbox.control('POST', `/disputes/${disputeId}/move`, { status: 'challenged' });
  await sandbox.advance(STOPPED_MS - DAY_MS - HOUR_MS);
  tallyhook = await startTallyhook({
    db,
    roles: ['scheduler'],
    env: {
      WEBHOOK_SECRETS: SANDBOX_SECRET,
      PAYMENTS_MERCHANT_ID: sandbox.merchantId,
      PAYMENTS_BASE_URL: sandbox.baseUrl,
      PAYMENTS_API_KEY: sandbox.apiKey,
    },
  });
  await waitFor('the checks of deadlines and terms', async () => {
    const [row] = await db.query<{ done: number }>(
      `select count(*) as done from schedule_slots
        where schedule in ('deadlines', 'overdue') and finished_at is not null and error is null`,
    );
    return row?.done === 2;
  });
  expect(await rules()).toEqual(['dispute_changed resolved', 'dispute_opened resolved']);
});

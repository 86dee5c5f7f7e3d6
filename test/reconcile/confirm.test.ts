/** What people are about to be alerted about is retrieved from the service first. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createClient } from '../../src/client/index.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { type ConfirmParts, createConfirm } from '../../src/reconcile/confirm.ts';
import { beginPause } from '../../src/reconcile/store/pauses.ts';
import { createTestDatabase, silentLog, type TestDatabase } from '../support/database.ts';
import { eventBody, paymentObject } from '../support/events.ts';
import { applyEach, testApplier } from '../support/ledger.ts';
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts';
import { cardPayment } from '../support/sandboxRequests.ts';

let db: TestDatabase;
let sandbox: TestSandbox;
const stopping = new AbortController();

beforeEach(async () => {
  [db, sandbox] = await Promise.all([createTestDatabase(), startTestSandbox()]);
  for (const id of ['pay_1', 'pay_2']) {
    await sandbox.call('POST', '/payments', cardPayment({ payment_id: id }));
  }
  const bodies = ['pay_1', 'pay_0_unknown', 'pay_2'].map((id) =>
    eventBody(paymentObject({ payment_id: id, status: 'processing', amount_received: 0 })),
  );
  await applyEach(db, testApplier(db), bodies);
});
afterEach(async () => {
  await sandbox.close();
  await db.drop();
});

const REFS = ['pay_0_unknown', 'pay_1', 'pay_2'].map((id) => ({ kind: 'payment' as const, id }));

function confirm(parts: Partial<ConfirmParts> = {}) {
  const client = createClient({ ...sandbox, retry: { maxAttempts: 1 } });
  const account = { merchantId: undefined, profileId: undefined };
  const { signal } = new AbortController();
  return createConfirm({
    db,
    client,
    clock: systemClock,
    account,
    log: silentLog,
    signal,
    ...parts,
  })(REFS);
}

const statuses = async () =>
  (await db.query<{ status: string }>('select status from resources order by id')).map(
    ({ status }) => status,
  );

test('responses are applied, and one that the service does not know delays no other', async () => {
  expect(await confirm()).toEqual(new Set(['payment:pay_1', 'payment:pay_2']));
  expect(await statuses()).toEqual(['processing', 'succeeded', 'succeeded']);
});

test('one that another transaction holds delays no other for longer than half a second', async () => {
  await db.transaction(async (tx) => {
    await tx.query(`select 1 from resources where id = 'pay_1' for update`);
    expect(await confirm()).toEqual(new Set(['payment:pay_2']));
  });
});

test('nothing more is requested of a service that is unavailable', async () => {
  await sandbox.control('PUT', '/faults', { requests: [{ fault: 'server_error', times: 1 }] });
  expect(await confirm()).toEqual(new Set());
  expect(await statuses()).toEqual(['processing', 'processing', 'processing']);
});

test('nothing is requested while reconciliation is paused', async () => {
  await beginPause(db, { by: 'ada', reason: 'maintenance at the service' });
  expect(await confirm()).toEqual(new Set());
});

test('a process that is shutting down confirms nothing', async () => {
  stopping.abort();
  expect(await confirm({ signal: stopping.signal })).toBeUndefined();
});

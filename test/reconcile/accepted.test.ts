/** An accepted difference stays accepted in later runs as long as it does not change. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { markAccepted } from '../../src/ledger/store/findings.ts';
import { HOUR_MS } from '../../src/platform/time.ts';
import {
  createSandboxDatabase,
  createTestDatabase,
  type TestDatabase,
} from '../support/database.ts';
import { eventBody, paymentObject } from '../support/events.ts';
import { applyEach, testApplier } from '../support/ledger.ts';
import { testReconciler } from '../support/reconciler.ts';
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts';
import { insertPayments } from '../support/sandboxPayments.ts';

let db: TestDatabase;
let service: TestDatabase;
let sandbox: TestSandbox;
beforeEach(async () => {
  [db, service] = await Promise.all([createTestDatabase(), createSandboxDatabase()]);
  sandbox = await startTestSandbox({ databaseUrl: service.url });
});
afterEach(async () => {
  await sandbox.close();
  await Promise.all([db.drop(), service.drop()]);
});

interface Open {
  readonly id: number;
  readonly class: string;
  readonly accepted: boolean;
}

const open = () =>
  db.query<Open>(
    `select id, class, accepted_at is not null as accepted from findings where state = 'open'`,
  );

async function acceptAll(): Promise<void> {
  for (const { id } of await open()) await markAccepted(db, id, { by: 'ada', reason: 'known' });
}

test('an accepted finding about a resource missing remotely is no difference of later runs', async () => {
  const fields = {
    payment_id: 'pay_gone',
    created: new Date(Date.now() - 3 * HOUR_MS).toISOString(),
    modified_at: new Date(Date.now() - 3 * HOUR_MS).toISOString(),
  };
  await applyEach(db, testApplier(db), [eventBody(paymentObject(fields))]);
  await db.query(`update resources set first_seen_at = now() - interval '3 hours'`);
  const { run } = testReconciler({ db, service: sandbox });
  const span = { fromMs: Date.now() - 4 * HOUR_MS };
  expect(await run(span)).toMatchObject({
    remaining: 1,
    differences: [{ class: 'missing_remote' }],
  });
  await acceptAll();
  for (let n = 0; n < 2; n += 1) {
    expect(await run(span)).toMatchObject({ remaining: 0, differences: [{ outcome: 'accepted' }] });
    expect(await open()).toMatchObject([{ class: 'missing_remote', accepted: true }]);
  }
});

test('an accepted finding about an ignored filter stays accepted for any span', async () => {
  const payments = Array.from({ length: 20 }, (_, n) => {
    const createdMs = Date.now() - (n + 1) * HOUR_MS;
    const made = { id: `pay_${n}`, createdMs, modifiedMs: createdMs, status: 'succeeded' };
    return { ...made, currency: 'USD', amount: 100 };
  });
  await insertPayments(service, sandbox, payments);
  await sandbox.control('PUT', '/faults', { lists: { ignored_filters: ['created_gte'] } });
  const { run } = testReconciler({ db, service: sandbox });
  await run({ fromMs: Date.now() - 5 * HOUR_MS });
  await acceptAll();
  await run({ fromMs: Date.now() - 7 * HOUR_MS });
  expect(await open()).toMatchObject([{ class: 'filter_ignored', accepted: true }]);
});

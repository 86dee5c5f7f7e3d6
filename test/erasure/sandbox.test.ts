/** Erasing a person from the ledger and from the sandbox beside it, which has the same database. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { eraseAs, planErasure } from '../../src/actions/eraseData.ts';
import { verifyLedger } from '../../src/ledger/verify/verifyLedger.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { sign } from '../support/events.ts';
import { receive, testApplier } from '../support/ledger.ts';
import { findWords } from '../support/people.ts';
import { SANDBOX_SECRET, startTestSandbox, type TestSandbox } from '../support/sandbox.ts';
import { waitFor } from '../support/waitFor.ts';

let sandbox: TestSandbox;
let db: TestDatabase;
beforeEach(async () => {
  // The ledger and the sandbox in one database, as with the embedded one.
  db = await createTestDatabase();
  sandbox = await startTestSandbox({ databaseUrl: db.url });
});
afterEach(async () => {
  await sandbox.close();
  await db.drop();
});

test('the sandbox forgets the person, too, and signs what it still sends', async () => {
  sandbox.listener.respondWith(500);
  const customer = {
    customer_id: 'cus_1',
    name: 'Ann Wbakeli',
    email: 'wbakeli@example.org',
    phone: '5550100123',
    address: {
      line1: '1 Wbakeli Road',
      city: 'Oslo',
      zip: '0150',
      country: 'NO',
      first_name: 'Ann',
      last_name: 'Wbakeli',
    },
  };
  expect((await sandbox.call('POST', '/customers', customer)).status).toBe(200);
  const payment = await sandbox.call('POST', '/payments', {
    amount: 6540,
    currency: 'USD',
    customer_id: 'cus_1',
    email: customer.email,
    confirm: true,
    payment_method: 'card',
    payment_method_data: {
      card: {
        card_number: '4242424242424242',
        card_exp_month: '12',
        card_exp_year: '2040',
        card_cvc: '123',
      },
    },
    metadata: { order_id: 'ord_1' },
    profile_id: sandbox.profileId,
  });
  expect(payment).toMatchObject({ status: 200, body: { status: 'succeeded' } });
  await waitFor('a delivery', () => sandbox.listener.received.length > 0);
  const stored = await db.query<{ body: string }>('select body from sandbox.events order by seq');
  const ids = await receive(
    db,
    stored.map(({ body }) => Buffer.from(body)),
  );
  await testApplier(db, sandbox.merchantId).applyBatch(ids);
  const words = new Set(['wbakeli', '5550100123']);
  expect((await findWords(db, words)).size).toBeGreaterThan(3);

  const plan = await planErasure({ db }, [{ kind: 'customer', id: 'cus_1' }]);
  const actor = { kind: 'cli', name: 'ada', role: 'admin', origin: 'ada@test' } as const;
  const erased = await eraseAs({ db }, actor, { plan, reason: 'a request' });

  expect(erased).toMatchObject({ outcome: 'erased', proof: { places: [], events: [] } });
  expect([...(await findWords(db, words))]).toEqual([]);
  expect((await verifyLedger(db, { merchantId: sandbox.merchantId, rebuild: true })).passed).toBe(
    true,
  );

  // The delivery that was not acknowledged is repeated with a signature of what is left.
  const before = sandbox.listener.received.length;
  sandbox.listener.respondWith(200);
  await sandbox.advance(24 * 3_600_000);
  await waitFor('another delivery', () => sandbox.listener.received.length > before);
  const last = sandbox.listener.received.at(-1);
  expect(last?.body.toString()).toContain('[erased]');
  expect(last?.signature).toBe(sign(last?.body ?? Buffer.alloc(0), SANDBOX_SECRET));
});

/**
 * Alerts about authorizations, with the sandbox over HTTP and PostgreSQL on one clock that the test
 * advances. Every expected list has all alerts about the payment.
 */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { HOUR_MS } from '../../src/platform/time.ts';
import { readStoredAlerts } from '../support/alerts.ts';
import { type AuthorizationTestSetup, setUpAuthorizations } from '../support/authorizations.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts';

let db: TestDatabase;
let sandbox: TestSandbox;
beforeEach(async () => {
  db = await createTestDatabase();
  sandbox = await startTestSandbox();
});
afterEach(async () => {
  await sandbox.close();
  await db.drop();
});

/** Advances the clock, runs the check in two schedulers at the same time, then once more. */
async function pass(watched: AuthorizationTestSetup, hours: number): Promise<void> {
  await watched.advance(hours * HOUR_MS);
  await Promise.all([watched.check.run(), watched.check.run()]);
  await watched.check.run();
}

const alerts = async (paymentId: string) =>
  (await readStoredAlerts(db, [`payment:${paymentId}`])).map(
    ({ rule, severity, state, notifications }) =>
      [rule, severity, state, ...notifications].join(' '),
  );

const WEEK = 7 * 24;

test('an uncaptured authorization sends reminders at 48, 24, 6 and 1 h, critical from 6 h on, and an alert when it expires', async () => {
  const watched = await setUpAuthorizations(sandbox, db);
  const id = await watched.authorize();
  await pass(watched, WEEK - 49);
  expect(await alerts(id)).toEqual([]);
  const steps: [number, string][] = [
    [1.5, 'authorization_expiring warning open opened'],
    [24, 'authorization_expiring warning open opened reminder'],
    [18, 'authorization_expiring critical open opened reminder reminder'],
    [5, 'authorization_expiring critical open opened reminder reminder reminder'],
  ];
  for (const [hours, expected] of steps) {
    await pass(watched, hours);
    expect(await alerts(id)).toEqual([expected]);
  }
  await pass(watched, 1);
  const end = [
    'authorization_expiring critical resolved opened reminder reminder reminder resolved',
    'authorization_expired warning resolved opened',
  ];
  expect(await alerts(id)).toEqual(end);
  await watched.applyWebhooks();
  await pass(watched, 48);
  expect(await alerts(id)).toEqual(end);
});

test.each(['capture', 'cancel'])(
  'a %s in between resolves the alert as soon as it is observed',
  async (action) => {
    const watched = await setUpAuthorizations(sandbox, db);
    const id = await watched.authorize();
    await pass(watched, WEEK - 47);
    await sandbox.call('POST', `/payments/${id}/${action}`, {});
    await watched.applyWebhooks();
    const end = ['authorization_expiring warning resolved opened resolved'];
    expect(await alerts(id)).toEqual(end);
    await pass(watched, 30);
    await pass(watched, WEEK);
    expect(await alerts(id)).toEqual(end);
  },
);

test('after a long stop only the last threshold sends a reminder, and an acknowledged alert notifies again only when it is more severe', async () => {
  const watched = await setUpAuthorizations(sandbox, db);
  const [stopped, acknowledged] = [await watched.authorize(), await watched.authorize()];
  await watched.check.run();
  await pass(watched, WEEK - 40);
  await db.query(
    `update alerts set state = 'acknowledged', acknowledged_at = now(), acknowledged_by = 'ada',
            acknowledged_reason = 'tomorrow' where subject = $1`,
    [`payment:${acknowledged}`],
  );
  await pass(watched, 20);
  expect(await alerts(acknowledged)).toEqual([
    'authorization_expiring warning acknowledged opened',
  ]);
  await pass(watched, 17);
  expect(await alerts(acknowledged)).toEqual([
    'authorization_expiring critical acknowledged opened reminder',
  ]);
  expect(await alerts(stopped)).toEqual([
    'authorization_expiring critical open opened reminder reminder',
  ]);
  const late = await watched.authorize();
  await pass(watched, WEEK - 3);
  expect(await alerts(late)).toEqual(['authorization_expiring critical open opened']);
});

test('an authorization that could not be retrieved after its deadline has one expired alert, which states that the expiry is not confirmed', async () => {
  const watched = await setUpAuthorizations(sandbox, db, { service: undefined });
  const id = await watched.authorize();
  await pass(watched, WEEK - 2);
  await pass(watched, 3);
  await pass(watched, 48);
  expect(await alerts(id)).toEqual([
    'authorization_expiring critical resolved opened',
    'authorization_expired critical open opened',
  ]);
  const [row] = await db.query<{ sentence: string }>(
    `select sentence from alerts where subject = $1 and state = 'open'`,
    [`payment:${id}`],
  );
  expect(row?.sentence).toMatch(
    /^The authorization of 65\.40 USD on payment \S+ \(order \S+\) expired at \d{4}-\d\d-\d\d \d\d:\d\d UTC\..*The service did not respond/,
  );
});

/** A payment that cannot be checked delays no other (rule 7 of src/authorizations/checkAuthorizations.ts). */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createDatabase, type Database } from '../../src/platform/db/database.ts';
import { HOUR_MS, MINUTE_MS } from '../../src/platform/time.ts';
import { type AuthorizationTestSetup, setUpAuthorizations } from '../support/authorizations.ts';
import { createTestDatabase, silentLog, type TestDatabase } from '../support/database.ts';
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts';

let db: TestDatabase;
let sandbox: TestSandbox;
/** As the scheduler's, with less patience: a statement that waits for another transaction fails soon. */
let pool: Database;
let watched: AuthorizationTestSetup;
beforeEach(async () => {
  [db, sandbox] = await Promise.all([createTestDatabase(), startTestSandbox()]);
  pool = createDatabase({
    connectionString: db.url,
    log: silentLog,
    applicationName: 'test',
    maxConnections: 4,
    responseTimeoutMs: 3_000,
    plans: 'any',
  });
  watched = await setUpAuthorizations(sandbox, pool);
});
afterEach(async () => {
  await pool.close();
  await sandbox.close();
  await db.drop();
});

/** Two holds with a reminder due. The first has the nearer deadline. */
async function dueHolds(): Promise<readonly [string, string]> {
  const near = await watched.authorize();
  await watched.advance(MINUTE_MS);
  const far = await watched.authorize();
  await watched.advance(5 * 24 * HOUR_MS + MINUTE_MS);
  return [near, far];
}

const remindersOf = async (id: string): Promise<readonly number[]> =>
  (await watched.logOf(id)).map(({ hours }) => hours);

test.each([
  ['row', `select from resources where kind = 'payment' and id = $1 for update`],
  [
    'order',
    `select from orders where order_key = (select order_key from resources where id = $1) for update`,
  ],
])(
  'a transaction that holds the %s of a payment delays no reminder of another',
  async (_held, hold) => {
    const [near, far] = await dueHolds();
    await db.transaction(async (tx) => {
      await tx.query(hold, [near]);
      await watched.check.run();
      expect(await remindersOf(far)).toEqual([48]);
      expect(await remindersOf(near)).toEqual([]);
    });
    await watched.advance(6 * MINUTE_MS);
    await watched.check.run();
    expect(await remindersOf(near)).toEqual([48]);
  },
);

test('a payment that cannot be recorded delays no reminder of another, and is tried again later', async () => {
  const [near, far] = await dueHolds();
  await db.query(
    `create function refuse() returns trigger language plpgsql as
       $$ begin raise exception 'refused'; end $$`,
  );
  await db.query(
    `create trigger refuse before insert on authorization_log
        for each row when (new.payment_id = '${near}') execute function refuse()`,
  );
  await watched.check.run();
  expect(await remindersOf(far)).toEqual([48]);
  await watched.check.run();
  await db.query('drop trigger refuse on authorization_log');
  await watched.check.run();
  expect(await remindersOf(near), 'not before five minutes have passed').toEqual([]);
  await watched.advance(6 * MINUTE_MS);
  await watched.check.run();
  expect(await remindersOf(near)).toEqual([48]);
});

test('changed holds that cannot be checked delay no change of another, also where the time of a run is over', async () => {
  // The time is over after one payment.
  let lateMs = 0;
  const setup = await setUpAuthorizations(sandbox, pool, {
    clock: { nowMs: () => watched.clock.nowMs() + lateMs },
    around: (service) => ({
      ...service,
      refresh: (...given) => {
        lateMs += MINUTE_MS;
        return service.refresh(...given);
      },
    }),
  });
  for (let held = 0; held < 3; held += 1)
    await watched.authorize({ capture_method: 'manual_multiple' });
  await watched.advance(5 * 24 * HOUR_MS + MINUTE_MS);
  await watched.check.run();
  const rows = await db.query<{ id: string }>(
    'select payment_id as id from authorization_watch order by payment_id',
  );
  const [first = '', second = '', third = ''] = rows.map(({ id }) => id);
  for (const id of [first, second, third]) {
    await sandbox.call('POST', `/payments/${id}/capture`, { amount_to_capture: 1000 });
  }
  await watched.applyWebhooks();
  const shown = (id: string) =>
    db.query(
      `select detail->'amount_capturable' as minor from findings where subject = $1 and state = 'open'`,
      [`payment:${id}`],
    );
  await db.transaction(async (tx) => {
    await tx.query('select from resources where id = any ($1) for update', [[first, second]]);
    for (let runs = 0; runs < 3; runs += 1) await setup.check.run();
  });
  expect(await shown(third)).toEqual([{ minor: 5540 }]);
  expect(await shown(first)).toEqual([{ minor: 6540 }]);
  for (let runs = 0; runs < 3; runs += 1) await setup.check.run();
  expect(await shown(first)).toEqual([{ minor: 5540 }]);
  expect(await shown(second)).toEqual([{ minor: 5540 }]);
});

test('a database that is lost ends the run: no further payment is tried', async () => {
  let transactions = 0;
  const lost: Database = {
    ...pool,
    transaction: () => {
      transactions += 1;
      return Promise.reject(Object.assign(new Error('down'), { code: 'ECONNREFUSED' }));
    },
  };
  await dueHolds();
  const { check, advance } = await setUpAuthorizations(sandbox, lost, { service: undefined });
  await advance(0);
  await expect(check.run()).rejects.toThrow('down');
  expect(transactions).toBe(1);
});

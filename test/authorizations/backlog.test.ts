/** Urgent reminders are sent in time even with more holds than one run can check one by one. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { AuthorizationService } from '../../src/authorizations/authorizationService.ts';
import {
  type AuthorizationCheck,
  createAuthorizationCheck,
} from '../../src/authorizations/checkAuthorizations.ts';
import { readDue, readUnwatched } from '../../src/authorizations/store/authorizations.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { HOUR_MS } from '../../src/platform/time.ts';
import { createTestDatabase, silentLog, type TestDatabase } from '../support/database.ts';

const DAYS_MS = 24 * HOUR_MS;
/** More than two batches. */
const BACKLOG = 12_000;
/** More than one batch. */
const URGENT = 300;

let db: TestDatabase;
let aheadMs: number;
let check: AuthorizationCheck;
let createCheck: (service: AuthorizationService | undefined) => AuthorizationCheck;
/** Those outside of transactions. */
let statements: string[];

beforeEach(async () => {
  db = await createTestDatabase();
  // During an import the tables are not analyzed yet; the check must not depend on it.
  await db.query('alter table resources set (autovacuum_enabled = off)');
  await db.query('alter table order_totals set (autovacuum_enabled = off)');
  aheadMs = 0;
  // The clock does not move within a run, so that a slow machine does not end it early.
  const startMs = Date.now();
  const clock = { nowMs: () => startMs + aheadMs };
  statements = [];
  const watched: Database = {
    ...db,
    query: (text, values) => {
      statements.push(text);
      return db.query(text, values);
    },
  };
  createCheck = (service) =>
    createAuthorizationCheck({
      db: watched,
      clock,
      log: silentLog,
      thresholds: [48, 24, 6, 1],
      policy: undefined,
      service,
      isPaused: () => Promise.resolve(false),
      lockPersonsAttempt: () => Promise.resolve(undefined),
    });
  check = createCheck(undefined);
});
afterEach(() => db.drop());

/** Inserts unwatched holds in bulk, as an import does. */
async function insertHolds(name: string, holds: number, createdMs: number): Promise<void> {
  const createdAt = new Date(createdMs);
  await db.query(
    `with made as (
       insert into resources (kind, id, order_key, status, currency, amount_minor, authorized_minor,
                              capture_method, created_at, first_seen_at)
       select 'payment', $1 || n, 'payment:' || $1 || n, 'requires_capture', 'USD', 100, 100,
              'manual', $3, $3
         from generate_series(1, $2) n
       returning id, order_key
     ), orders as (
       insert into orders (order_key, order_id, status)
       select order_key, id, 'authorized' from made
     )
     select count(*) from made`,
    [name, holds, createdAt],
  );
  await db.query(
    `insert into order_totals (order_key, currency, status, authorized_minor, captured_minor,
                               refunded_minor, refund_pending_minor, disputed_minor,
                               charged_back_minor)
     select 'payment:' || $1 || n, 'USD', 'authorized', 100, 0, 0, 0, 0, 0
       from generate_series(1, $2) n`,
    [name, holds],
  );
}

const remindersOf = async (name: string): Promise<readonly object[]> =>
  db.query(
    `select threshold_hours as hours, count(*)::integer as count from authorization_log
      where payment_id like $1 || '%' group by threshold_hours order by threshold_hours desc`,
    [name],
  );

test(`a backlog of ${BACKLOG} new holds delays no reminder of the same run`, async () => {
  // Ordered by name, the urgent ones come last.
  await insertHolds('a_quiet_', BACKLOG, Date.now() - HOUR_MS);
  await insertHolds('z_urgent_', URGENT, Date.now() - 6.5 * DAYS_MS);
  await check.run();
  expect(await remindersOf('z_urgent_')).toEqual([{ hours: 24, count: URGENT }]);
  expect(await remindersOf('a_quiet_')).toEqual([]);
  expect(await db.query('select count(*) as count from authorization_watch')).toEqual([
    { count: BACKLOG + URGENT },
  ]);
  // Less than six hours before their deadline, all of them are due.
  aheadMs = 6.5 * HOUR_MS;
  await check.run();
  expect(await remindersOf('z_urgent_')).toEqual([
    { hours: 24, count: URGENT },
    { hours: 6, count: URGENT },
  ]);
});

test('of many holds that are due, those with the nearest deadlines get their reminders first', async () => {
  await insertHolds('a_later_', 300, Date.now() - 5.5 * DAYS_MS);
  await insertHolds('z_sooner_', 20, Date.now() - 6.9 * DAYS_MS);
  await check.run();
  const order = await db.query<{ id: string }>(
    'select n.payment_id as id from authorization_log n order by n.id limit 20',
  );
  expect(order.map(({ id }) => id).filter((id) => !id.startsWith('z_sooner_'))).toEqual([]);
});

test('of many holds that are new, those with the nearest deadlines are watched first', async () => {
  await insertHolds('a_later_', 1, Date.now() - 5.5 * DAYS_MS);
  await insertHolds('b_stated_', 1, Date.now() - HOUR_MS);
  await insertHolds('z_sooner_', 1, Date.now() - 6.5 * DAYS_MS);
  await db.query(
    `update resources set deadline_at = now() + interval '1 hour' where id = 'b_stated_1'`,
  );
  const statuses = ['requires_capture'];
  const unwatched = (limit: number) => readUnwatched(db, { statuses, limit });
  const first = (await unwatched(1)).map(({ paymentId }) => paymentId);
  expect(first).toEqual(['b_stated_1']);
  const two = (await unwatched(2)).map(({ paymentId }) => paymentId);
  expect(two.toSorted()).toEqual(['b_stated_1', 'z_sooner_1']);
});

test('a hold past its deadline, which has had its last reminder, comes after those with one ahead', async () => {
  await insertHolds('a_expired_', 1, Date.now() - 7.5 * DAYS_MS);
  await insertHolds('z_waiting_', 1, Date.now() - 5.5 * DAYS_MS);
  await check.run();
  expect(await remindersOf('a_expired_')).toEqual([{ hours: 0, count: 1 }]);
  await db.query('update authorization_watch set next_check_at = now()');
  const now = new Date(Date.now() + HOUR_MS);
  expect(await readDue(db, { now, limit: 1 })).toEqual(['z_waiting_1']);
});

test('a service that is unavailable is requested once in a run, and every reminder is sent', async () => {
  await insertHolds('due_', 4, Date.now() - 6.5 * DAYS_MS);
  let requests = 0;
  const refresh: AuthorizationService['refresh'] = () => {
    requests += 1;
    return Promise.resolve({ outcome: 'failed', reason: 'timeout', isUnavailable: true });
  };
  const act = () => Promise.reject(new Error('nothing is confirmed'));
  await createCheck({ refresh, act }).run();
  expect(await remindersOf('due_')).toEqual([{ hours: 24, count: 4 }]);
  expect(requests).toBe(1);
});

test('however many are due, a run looks through all holds for new and for settled ones once', async () => {
  await insertHolds('due_', 3 * URGENT, Date.now() - 6.5 * DAYS_MS);
  await check.run();
  expect(await remindersOf('due_')).toEqual([{ hours: 24, count: 3 * URGENT }]);
  const among = (text: string) => statements.filter((one) => one.includes(text)).length;
  expect([among('with unwatched as'), among('w.reminder_hours is not null')]).toEqual([1, 1]);
  // In batches, or the test shows nothing.
  expect(among('from authorization_watch\n      where next_check_at')).toBeGreaterThan(2);
});

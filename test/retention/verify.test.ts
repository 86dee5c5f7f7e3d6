/** What retention removed is not reported by verify, and what vanished otherwise is. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readSummedTo } from '../../src/ledger/read/store/statementSums.ts';
import { verifyLedger } from '../../src/ledger/verify/verifyLedger.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { removeOld } from '../../src/retention/removeOld.ts';
import { readStatement } from '../../src/statements/readStatement.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventBody, MERCHANT_ID, paymentObject } from '../support/events.ts';
import { applyEach, receive, testApplier } from '../support/ledger.ts';
import { testSeed } from '../support/random.ts';
import { DEFAULT_DAYS, noSleep } from '../support/retention.ts';
import { shopEvents } from '../support/shop.ts';
import { sumEverything } from '../support/sums.ts';

/** Of the shop's events. */
const MONTH = '2026-11';

let db: TestDatabase;
beforeEach(async () => {
  db = await createTestDatabase();
});
afterEach(() => db.drop());

/** Each check that failed, with what it reported. */
async function failures(rebuild: boolean): Promise<readonly string[]> {
  const { checks } = await verifyLedger(db, { merchantId: MERCHANT_ID, rebuild });
  return checks.flatMap(({ name, offenders }) =>
    offenders.map((offender) => `${name}: ${JSON.stringify(offender)}`),
  );
}

/** What a statement takes from the journal. */
async function readMonth() {
  const input = { month: MONTH, timeZone: 'Europe/Berlin', currency: undefined };
  const { currencies, open } = await readStatement(db, input);
  return { currencies, open };
}

async function expectProven(seed: number): Promise<void> {
  expect(await failures(false), `TEST_SEED=${seed}`).toEqual([]);
  expect(await failures(true), `TEST_SEED=${seed}`).toEqual([]);
}

test('a ledger is proven without its bodies, and without the rows of its events', async () => {
  const seed = testSeed();
  const ids = await receive(db, shopEvents({ seed, orders: 30 }));
  const applier = testApplier(db);
  for (let start = 0; start < ids.length; start += 50) {
    await applier.applyBatch(ids.slice(start, start + 50));
  }
  await sumEverything(db);
  await expectProven(seed);
  const statement = await readMonth();
  expect(statement.currencies.length).toBeGreaterThan(1);

  await db.query('delete from webhook_bodies');
  await db.query('update event_variants set body = null');
  await db.query(`update body_days set state = 'removed', removed_at = now()`);
  await expectProven(seed);

  await db.query(`update webhook_events set received_at = now() - interval '401 days'`);
  await db.query(
    `update findings set state = 'closed', closed_at = now() where subject like 'event:%'
        and state = 'open'`,
  );
  const removed = await removeOld(
    { db, days: DEFAULT_DAYS, sleep: noSleep, machine: systemClock },
    { longestMs: 60_000, signal: new AbortController().signal },
  );
  expect(removed.find(({ name }) => name === 'events')).toMatchObject({ isDone: true });
  const [left] = await db.query<{ rows: number }>('select count(*) as rows from webhook_events');
  expect(left?.rows).toBeLessThan(ids.length);
  await expectProven(seed);
  // From the stored sums, which are of the journal alone.
  expect(await readSummedTo(db)).toBeDefined();
  expect(await readMonth(), `TEST_SEED=${seed}`).toEqual(statement);
});

test('a row of the inbox that vanished otherwise is reported', async () => {
  const payment = paymentObject();
  await applyEach(db, testApplier(db), [eventBody(payment)]);
  await db.query(`insert into retention_state (class, removed_through) values ('events', 0)`);
  await db.query('delete from webhook_events');
  expect((await failures(true)).join()).toContain(payment.payment_id);
});

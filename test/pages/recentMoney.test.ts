/** The money of the last days: equal to the journal, although a process reads each closed day once. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LEGS } from '../../src/ledger/domain/legs.ts';
import { readMoney } from '../../src/overview/recentMoney.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { waitFor } from '../support/waitFor.ts';

const MONEY_DAYS = 30;

let db: TestDatabase;

beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

const { debit, credit } = LEGS.payment.captured;

/** Captures of 100 USD and more, one on each of so many days up to today. */
async function capture(days: number, name: string): Promise<void> {
  await db.query(
    `with days as (select d, $2 || '_' || d as id from generate_series(0, $1::int - 1) d), parts as (
       insert into resources (kind, id, order_key) select 'payment', id, 'order:' || id from days)
     insert into transfers (kind, resource_id, leg, currency, leg_seq, debit, credit, amount_minor,
                            previous_minor, cumulative_minor, head_hash, recorded_at, effective_at,
                            effective_source)
     select 'payment', id, 'captured', 'USD', 1, $3, $4, 100 + d, 0, 100 + d,
            sha256('x'), statement_timestamp() - d * interval '1 day', now(), 'v'
       from days`,
    [days, name, debit, credit],
  );
}

/** The database, with the times from which totals by day were read. */
function watched(): { readonly db: Database; readonly from: string[] } {
  const from: string[] = [];
  const query = async <Row extends object>(sql: string, values: readonly unknown[] = []) => {
    if (sql.includes('as day, currency')) from.push(String(values.at(-1)));
    return await db.query<Row>(sql, values);
  };
  return { db: { ...db, query }, from };
}

test('after the first reading, only days that are not closed are read, and the totals equal those of the journal', async () => {
  await capture(MONEY_DAYS + 5, 'pay_first');
  const { db: reading, from } = watched();
  const first = await readMoney(reading, MONEY_DAYS);
  expect(first.map(({ capturedMinor }) => Number(capturedMinor))).toEqual(
    Array.from({ length: MONEY_DAYS }, (_day, n) => 100 + MONEY_DAYS - 1 - n),
  );
  await capture(1, 'pay_second');
  await waitFor('the next reading', async () =>
    (await readMoney(reading, MONEY_DAYS)).some(({ capturedMinor }) => capturedMinor === 200n),
  );
  expect(await readMoney(reading, MONEY_DAYS)).toEqual(await readMoney(watched().db, MONEY_DAYS));
  const [row] = await db.query<{ first: Date; open: Date }>(
    `select date_trunc('day', now(), 'UTC') - $1 * interval '1 day' as first,
            date_trunc('day', now() - interval '1 hour', 'UTC') as open`,
    [MONEY_DAYS - 1],
  );
  const [began, ...renewed] = from.map((time) => new Date(time));
  expect(began).toEqual(row?.first);
  expect(renewed.length).toBeGreaterThan(0);
  for (const time of renewed) expect(time).toEqual(row?.open);
});

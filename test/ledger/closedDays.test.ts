/**
 * Days that a process adds up once (src/ledger/read/closedDays.ts), while the clock of the database is ahead and
 * after it was set right. What is recorded then belongs to a day that the process had closed too early.
 */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { LEGS } from '../../src/ledger/domain/legs.ts';
import { createBalanceReader } from '../../src/ledger/read/balances.ts';
import { readMoney } from '../../src/overview/recentMoney.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { HOUR_MS } from '../../src/platform/time.ts';
import { createMovedDatabase, type MovedDatabase } from '../support/movedDatabase.ts';

const MIDNIGHT_MS = Date.parse('2031-05-06T00:00:00Z');
const { debit, credit } = LEGS.payment.captured;

let db: MovedDatabase;
/** Hours since midnight, and how many of them the clock of the database is ahead. */
let trueHours = 0;
beforeEach(async () => {
  db = await createMovedDatabase();
  const startedMs = performance.now();
  vi.spyOn(performance, 'now').mockImplementation(() => startedMs + trueHours * HOUR_MS);
});
afterEach(async () => {
  vi.restoreAllMocks();
  await db.drop();
});

async function setTime(hours: number, aheadHours = 0): Promise<void> {
  trueHours = hours;
  await db.moveTo(MIDNIGHT_MS + (hours + aheadHours) * HOUR_MS);
}

async function capture(id: string, amountMinor: number): Promise<void> {
  await db.query(
    `with part as (insert into resources (kind, id) values ('payment', $1))
     insert into transfers (kind, resource_id, leg, currency, leg_seq, debit, credit, amount_minor,
                            previous_minor, cumulative_minor, head_hash, recorded_at, effective_at,
                            effective_source)
     values ('payment', $1, 'captured', 'USD', 1, $3, $4, $2, 0, $2, sha256('x'), statement_timestamp(),
             statement_timestamp(), 'v')`,
    [id, amountMinor, debit, credit],
  );
}

type Read = () => Promise<unknown>;

describe.each<[string, (on: Database) => Read]>([
  ['balances', (on) => createBalanceReader(on).read],
  ['the money of the overview', (on) => () => readMoney(on, 30)],
])('%s', (_, createRead) => {
  /** Of a process that has closed no day yet. */
  const expected = () => createRead({ ...db })();

  test.each([
    ['at once', 14],
    ['on the next day', 27],
  ])(
    'have what is recorded after the clock was set right, when they are read %s',
    async (_, hours) => {
      const read = createRead(db);
      await setTime(12);
      await capture('before', 100);
      await setTime(12.5, 14);
      expect(await read()).toEqual(await expected());

      await setTime(13);
      await capture('after', 23);
      await setTime(hours);
      expect(await read()).toEqual(await expected());
      await setTime(hours + 1);
      await capture('later', 7);
      expect(await read()).toEqual(await expected());
    },
  );
});

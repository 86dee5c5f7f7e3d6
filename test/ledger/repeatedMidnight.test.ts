/** Days that begin with a midnight that occurs twice, because clocks go back over it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DEFAULT_CHART } from '../../src/ledger/domain/chart.ts';
import { readEntriesText } from '../../src/ledger/read/exportEntries.ts';
import { readDaySums, readPeriod } from '../../src/ledger/read/store/statement.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventBody, paymentObject } from '../support/events.ts';
import { applyEach, testApplier } from '../support/ledger.ts';

// Atlantic/Azores, 2026-10-25: 00:00 at UTC+0 and, an hour later, at UTC-1.
const AZORES = 'Atlantic/Azores';
// America/Havana, 2026-11-01: 00:00 at UTC-4 and, an hour later, at UTC-5.
const HAVANA = 'America/Havana';
const PAID_AT = {
  evening: '2026-10-24T23:30:00Z',
  first: '2026-10-25T00:30:00Z',
  second: '2026-10-25T01:30:00Z',
  monthEnd: '2026-11-01T03:30:00Z',
  firstOfMonth: '2026-11-01T04:30:00Z',
};

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
  const payments = Object.entries(PAID_AT).map(([id, at]) =>
    eventBody(paymentObject({ payment_id: id, modified_at: at })),
  );
  await applyEach(db, testApplier(db), payments);
});
afterAll(() => db.drop());

/** `day payment` of each transfer that is exported. */
async function exported(fromDay?: string, toDay?: string): Promise<readonly string[]> {
  const { text } = await readEntriesText(db, {
    format: 'csv',
    chart: DEFAULT_CHART,
    isDaily: false,
    isEntriesOnly: false,
    range: { basis: 'booked', timeZone: AZORES, fromDay, toDay, currency: undefined },
  });
  const rows = [...text.matchAll(/^\d+,([\d-]+),psp\.clearing,.*,payment (\w+) captured/gm)];
  return rows.map(([, day, payment]) => `${day} ${payment}`);
}

test('an export of transfers has those of both hours, on their day', async () => {
  const ofDay = ['2026-10-25 first', '2026-10-25 second'];
  expect(await exported()).toEqual([
    '2026-10-24 evening',
    ...ofDay,
    '2026-11-01 monthEnd',
    '2026-11-01 firstOfMonth',
  ]);
  expect(await exported('2026-10-24', '2026-10-25')).toEqual(['2026-10-24 evening']);
  expect(await exported('2026-10-25', '2026-10-26')).toEqual(ofDay);
});

test('a month has the transfers of its own days alone', async () => {
  const daysOf = async (month: string) => {
    const days = await readDaySums(db, await readPeriod(db, month, HAVANA), { currency: 'USD' });
    return days.map(({ day, ups }) => `${day} ${ups}`);
  };
  expect(await daysOf('2026-10')).toEqual(['2026-10-24 3', '2026-10-31 1']);
  expect(await daysOf('2026-11')).toEqual(['2026-11-01 1']);
});

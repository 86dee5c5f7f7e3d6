/**
 * The calendar of reconciliation calls a day repaired or different for what was created in it.
 *
 * The production failure that it prevents: a run over a month repairs one payment, and for a month every
 * day of the calendar looks as if its webhooks had failed.
 */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { DAY_MS } from '../../src/platform/time.ts';
import { readCalendar } from '../../src/reconcile/calendar.ts';
import {
  finishRun,
  insertRun,
  KEPT_DIFFERENCES,
  type ReportedDifference,
  writeStep,
} from '../../src/reconcile/store/runs.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const TODAY_MS = Date.UTC(2026, 10, 20);
const NOW_MS = TODAY_MS + DAY_MS / 2;

let db: TestDatabase;
beforeEach(async () => {
  db = await createTestDatabase();
  // Two payments today, one the day before yesterday, none yesterday.
  await db.query(
    `insert into resources (kind, id, payment_id, status, created_at)
     select 'payment', id, id, 'succeeded', at
       from unnest($1::text[], $2::timestamptz[]) as u (id, at)`,
    [['pay_1', 'pay_2', 'pay_3'], [0, 0, 2].map((day) => new Date(TODAY_MS - day * DAY_MS + 1))],
  );
});
afterEach(() => db.drop());

/** A run over three days, today in part. */
async function storeRun(found: number, differences: readonly ReportedDifference[]): Promise<void> {
  const run = await insertRun(db, {
    stream: 'payments',
    mode: 'full',
    cause: 'night',
    isDryRun: false,
    fromAt: new Date(TODAY_MS - 2 * DAY_MS),
    toAt: new Date(NOW_MS),
  });
  await writeStep(db, run, {
    positionAt: new Date(NOW_MS),
    windows: 1,
    requests: 1,
    rowsCompared: 3,
    rowsCounted: 0,
    found,
    repaired: found,
    missed: 0,
    differences,
  });
  await finishRun(db, { ...run, windows: 1 }, undefined);
}

async function resultsOfPayments(): Promise<readonly string[]> {
  const days = await readCalendar(db, { nowMs: NOW_MS, days: 4 });
  return days.map(({ streams: { payments } }) =>
    payments.coverage === 'none' ? 'none' : payments.result,
  );
}

function repaired(subject: string): ReportedDifference {
  return { class: 'stale_local', subject, outcome: 'repaired' };
}

test('a repaired payment counts in its own day, and a day without payments is empty', async () => {
  await storeRun(1, [repaired('payment:pay_3')]);
  expect(await resultsOfPayments()).toEqual(['equal', 'empty', 'repaired', 'none']);
});

test.each([
  ['of a payment that the ledger lacks', 1, [repaired('payment:unknown')]],
  ['of the list itself', 1, [repaired('list:payments')]],
  ['that the report lacks', 2, [repaired('payment:pay_3')]],
  [
    'of a report that is cut',
    3,
    Array.from({ length: KEPT_DIFFERENCES }, () => repaired('payment:pay_3')),
  ],
])('a difference %s counts in each day of the run', async (_, found, differences) => {
  await storeRun(found, differences);
  expect(await resultsOfPayments()).toEqual(['repaired', 'repaired', 'repaired', 'none']);
});

/** When money counts as overdue: from the beginning of its term, which may be long after its creation. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { EventApplier } from '../../src/ledger/inbox/applyEvents.ts';
import { createOverdueCheck } from '../../src/ledger/overdue.ts';
import { DAY_MS } from '../../src/platform/time.ts';
import { createTestDatabase, silentLog, type TestDatabase } from '../support/database.ts';
import { eventBody } from '../support/events.ts';
import { applyEach, readOpenFindings, testApplier } from '../support/ledger.ts';

let db: TestDatabase;
let nowMs = Date.now();
const clock = { nowMs: () => nowMs };
let applier: EventApplier;

beforeAll(async () => {
  db = await createTestDatabase();
  applier = testApplier(db, undefined, clock);
});
afterAll(() => db.drop());

const CREATED_MS = Date.parse('2026-10-01T10:00:00Z');
const day = (days: number) => new Date(CREATED_MS + days * DAY_MS).toISOString();

function send(status: string, days: number, id = 'po_1'): Promise<void> {
  nowMs = CREATED_MS + days * DAY_MS;
  const payout = { payout_id: id, amount: 6540, currency: 'USD', created: day(0) };
  const body = { ...payout, status, modified_at: day(days) };
  const labels = { eventType: 'payout_initiated', contentType: 'payout_details' };
  return applyEach(db, applier, [eventBody(body, { ...labels, timestamp: day(days) })]);
}

async function checkAt(days: number): Promise<void> {
  nowMs = CREATED_MS + days * DAY_MS;
  await createOverdueCheck({ db, clock, log: silentLog })();
}

const findings = async (id = 'po_1') =>
  (await readOpenFindings(db, `payout:${id}`)).map((one) => one.class);
const sentences = () =>
  db.query<{ sentence: string }>(
    `select sentence from alerts where rule = 'payout_stuck' and state <> 'resolved'`,
  );

test('a payout that waited for its approval is overdue a week after it began, and not when it begins', async () => {
  await send('requires_fulfillment', 0);
  await send('initiated', 10);
  await checkAt(10.1);
  expect(await findings()).toEqual([]);
  expect(await sentences()).toEqual([]);
  await send('pending', 12);
  await checkAt(16.9);
  expect(await findings()).toEqual([]);
  await checkAt(17.1);
  expect(await findings()).toEqual(['overdue']);
  expect(await db.query(`select detail ->> 'since' as since from findings`)).toEqual([
    { since: day(10) },
  ]);
  expect(await sentences()).toMatchObject([
    { sentence: expect.stringContaining('has been pending since 2026-10-11 10:00 UTC') },
  ]);
  await send('success', 18);
  expect([await findings(), await sentences()]).toEqual([[], []]);
});

test('a term begins with its status, also when the status before it has the same time', async () => {
  await send('requires_fulfillment', 10, 'po_2');
  await send('initiated', 10, 'po_2');
  await checkAt(16.9);
  expect(await findings('po_2')).toEqual([]);
  await checkAt(17.1);
  expect(await findings('po_2')).toEqual(['overdue']);
});

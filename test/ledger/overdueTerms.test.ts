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
  return sendLate(status, { changed: days, received: days }, id);
}

/** A body that arrives days after the status changed. */
function sendLate(
  status: string,
  { changed, received }: { readonly changed: number; readonly received: number },
  id: string,
): Promise<void> {
  nowMs = CREATED_MS + received * DAY_MS;
  const payout = { payout_id: id, amount: 6540, currency: 'USD', created: day(0) };
  const body = { ...payout, status, modified_at: day(changed) };
  const labels = { eventType: 'payout_initiated', contentType: 'payout_details' };
  return applyEach(db, applier, [eventBody(body, { ...labels, timestamp: day(changed) })]);
}

async function checkAt(days: number): Promise<void> {
  nowMs = CREATED_MS + days * DAY_MS;
  await createOverdueCheck({ db, clock, log: silentLog })();
}

const findings = async (id = 'po_1') =>
  (await readOpenFindings(db, `payout:${id}`)).map((one) => one.class);
const sentences = (id = 'po_1') =>
  db.query<{ sentence: string }>(
    `select sentence from alerts
      where rule = 'payout_stuck' and state <> 'resolved' and subject = $1`,
    [`payout:${id}`],
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

test('an overdue payout keeps its finding and its alert when a late body moves the beginning of the term', async () => {
  await send('initiated', 6, 'po_3');
  await checkAt(8);
  expect(await findings('po_3')).toEqual(['overdue']);
  await sendLate('requires_fulfillment', { changed: 5, received: 8.1 }, 'po_3');
  expect(await findings('po_3')).toEqual(['overdue']);
  expect(await sentences('po_3')).toMatchObject([
    { sentence: expect.stringContaining('has been initiated since 2026-10-07 10:00 UTC') },
  ]);
  await send('success', 9, 'po_3');
  expect([await findings('po_3'), await sentences('po_3')]).toEqual([[], []]);
});

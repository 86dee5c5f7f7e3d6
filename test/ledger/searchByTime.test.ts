/**
 * A search of the inbox before a time begins at that time. The failure it prevents: to see the events of an hour last
 * week, a person opens a thousand empty pages.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { countEvents, searchEvents } from '../../src/ledger/read/store/events.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

/** Some more than one search reads. */
const EVENTS = 12_000;
const FIRST_MS = Date.UTC(2026, 0, 1);
const MINUTE_MS = 60_000;
const FIRST = { below: Number.MAX_SAFE_INTEGER, limit: 100 };
/** When event `n` was received. */
const timeOf = (n: number): Date => new Date(FIRST_MS + n * MINUTE_MS);

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
  await db.query(
    `insert into webhook_events (event_id, event_type, body_day, body_bytes, body_sha256, received_at)
     select 'evt_' || n, 'payment_succeeded', '2026-01-01', 2, sha256(n::text::bytea),
            $2::timestamptz + n * interval '1 minute'
       from generate_series(1, $1::int) n`,
    [EVENTS, new Date(FIRST_MS).toISOString()],
  );
  // Retention removed some, also the first ones.
  await db.query('delete from webhook_events where id <= 50 or id between 1000 and 1500');
});
afterAll(() => db.drop());

const idsOf = async (from: number | undefined, to: number) => {
  const times = { from: from === undefined ? undefined : timeOf(from), to: timeOf(to) };
  const { rows, next } = await searchEvents(db, times, FIRST);
  return { ids: rows.map(({ id }) => id), next };
};

test('the first page has the events right before the time', async () => {
  const { ids } = await idsOf(undefined, 700);
  expect(ids.slice(0, 3)).toEqual([699, 698, 697]);
  expect(ids).toHaveLength(100);
});

test.each([
  ['around removed ones', 995, 1_505, [1_504, 1_503, 1_502, 1_501, 999, 998, 997, 996, 995]],
  ['at the beginning', 40, 53, [52, 51]],
  ['before the beginning', 1, 20, []],
  ['at the end', EVENTS - 1, EVENTS + 100, [EVENTS, EVENTS - 1]],
])('%s, nothing is missing', async (_name, from, to, expected) => {
  expect(await idsOf(from, to)).toEqual({ ids: expected, next: undefined });
});

test('an event is found that a receiver with a slower clock stored among later ones', async () => {
  await db.query('update webhook_events set received_at = $1 where id = 905', [timeOf(899)]);
  expect((await idsOf(898, 900)).ids).toEqual([905, 899, 898]);
});

test('a count of what is to be replayed begins there, too', async () => {
  expect(await countEvents(db, { from: timeOf(600), to: timeOf(700) })).toEqual({
    count: 100,
    isComplete: true,
  });
});

test('an empty inbox has none', async () => {
  const empty = await createTestDatabase();
  try {
    expect(await searchEvents(empty, { to: timeOf(1) }, FIRST)).toEqual({
      rows: [],
      next: undefined,
    });
  } finally {
    await empty.drop();
  }
});

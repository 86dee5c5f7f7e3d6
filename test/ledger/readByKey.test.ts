/**
 * Applying events reads about as many rows as they concern, however large the ledger is. The failure it prevents: each
 * connection keeps the plans that it made while the tables were small, and a plan that reads a table as a whole costs
 * more with each row.
 */
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { type EventApplier, replayEvents } from '../../src/ledger/inbox/applyEvents.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { inChunks } from '../../src/platform/collections.ts';
import { createDatabase, type Database } from '../../src/platform/db/database.ts';
import { createTestDatabase, silentLog, type TestDatabase } from '../support/database.ts';
import { eventBody, MERCHANT_ID, paymentObject } from '../support/events.ts';
import { receive, testApplier } from '../support/ledger.ts';
import { testSeed } from '../support/random.ts';
import { shopEvents } from '../support/shop.ts';

const SEED = testSeed();
const ORDERS = 600;
const BATCH = 50;
/** An event concerns a payment with its parts, its order, and their findings. */
const ROWS_OF_EVENT = 10;

let db: TestDatabase;
let worker: Database;
let applier: EventApplier;
let bodies: readonly Buffer[];
let ids: readonly number[];

beforeAll(async () => {
  db = await createTestDatabase();
  // The first plans are made for empty tables.
  await db.query('analyze');
  worker = createDatabase({
    connectionString: db.url,
    log: silentLog,
    applicationName: 'test',
    maxConnections: 1,
    responseTimeoutMs: 60_000,
    plans: 'by_key',
  });
  applier = testApplier(worker);
  bodies = shopEvents({ seed: SEED, orders: ORDERS });
  // Another body under a known id names its event again.
  ids = [...new Set(await receive(db, bodies))];
  for (const batch of inChunks(ids.slice(0, -BATCH), BATCH)) await applier.applyBatch(batch);
});
afterAll(async () => {
  await worker.close();
  await db.drop();
});
afterEach(() => vi.restoreAllMocks());

const now = performance.now.bind(performance);
let passedMs = 0;

/** Lets the time pass for which a connection keeps its plans. */
function passTime(): void {
  passedMs += 10_000;
  vi.spyOn(performance, 'now').mockImplementation(() => now() + passedMs);
}

/** How many rows of each table were read. */
async function readCounters(): Promise<ReadonlyMap<string, number>> {
  await worker.query('select pg_stat_force_next_flush()');
  const rows = await db.query<{ name: string; read: number }>(
    `select relname as name, (coalesce(idx_tup_fetch, 0) + coalesce(seq_tup_read, 0))::int as read
       from pg_stat_user_tables where schemaname = 'public' order by relname`,
  );
  return new Map(rows.map(({ name, read }) => [name, read]));
}

/** Applies events that are pending. @returns the tables of which too many rows were read, with their number */
async function applyAndCount(
  batch: readonly number[],
  by = applier,
): Promise<readonly [string, number][]> {
  passTime();
  const before = await readCounters();
  expect(await by.applyBatch(batch)).toBe(batch.length);
  const after = await readCounters();
  return [...after]
    .map(([name, read]): [string, number] => [name, read - (before.get(name) ?? 0)])
    .filter(([, read]) => read > ROWS_OF_EVENT * batch.length);
}

test(`new events read what they concern, TEST_SEED=${SEED}`, async () => {
  expect(await applyAndCount(ids.slice(-BATCH))).toEqual([]);
});

test(`other bodies under known ids read what they concern, TEST_SEED=${SEED}`, async () => {
  const others = bodies
    .slice(0, BATCH)
    .map((body) => Buffer.from(body.toString().replace(/}$/, ',"edition":2}')));
  expect(await applyAndCount([...new Set(await receive(db, others))])).toEqual([]);
});

test(`a replay reads what it concerns, TEST_SEED=${SEED}`, async () => {
  await db.transaction((tx) => replayEvents(tx, ids));
  expect(await applyAndCount(ids.slice(0, BATCH))).toEqual([]);
});

test(`events of another profile read what they concern, beside many open findings, TEST_SEED=${SEED}`, async () => {
  await db.query(
    `insert into findings (class, subject, detail)
     select 'unknown_event_type', 'event:' || -n, '{}' from generate_series(1, 6000) n`,
  );
  const others = Array.from({ length: BATCH }, () =>
    eventBody(paymentObject({ profile_id: 'pro_other' })),
  );
  const own = testApplier(worker, MERCHANT_ID, systemClock, 'pro_own');
  const [first = [], second = []] = inChunks(await receive(db, others), BATCH / 2);
  expect(await applyAndCount(first, own)).toEqual([]);
  expect(await applyAndCount(second, own)).toEqual([]);
});

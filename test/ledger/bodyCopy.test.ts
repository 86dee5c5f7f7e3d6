/** The copy of bodies that an older version stored beside their events (src/ledger/bodies/copyBodies.ts). */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { copyNext } from '../../src/ledger/bodies/copyBodies.ts';
import { type BodiesLimits, createBodiesJob } from '../../src/ledger/bodies/job.ts';
import { PACK_LIMITS } from '../../src/ledger/bodies/packDay.ts';
import { readCopyState } from '../../src/ledger/bodies/store/copy.ts';
import { countPlaces, expectNoneLost, storeDay } from '../support/bodyDays.ts';
import { createTestDatabase, silentLog, type TestDatabase } from '../support/database.ts';
import { beginTransaction } from '../support/transactions.ts';

let db: TestDatabase;
beforeEach(async () => {
  db = await createTestDatabase();
});
afterEach(() => db.drop());

const { signal } = new AbortController();
const SMALL: BodiesLimits = { pack: PACK_LIMITS, copy: { events: 50, bytes: 1_000_000 } };

async function runJob(settleMs = 0): Promise<void> {
  const times = { budgetMs: 60_000, settleMs, restMs: 0 };
  const run = createBodiesJob({ db, log: silentLog, signal, limits: SMALL, times });
  await run();
  await run();
}

test('bodies of an older version reach their days and are packed', async () => {
  await storeDay(db, { daysAgo: 9, events: 130, isLegacy: true });
  await storeDay(db, { daysAgo: 1, events: 70, isLegacy: true });
  await storeDay(db, { daysAgo: 1, events: 20 });
  await storeDay(db, { daysAgo: 0, events: 0, isLegacy: true });
  expect((await readCopyState(db)).isCopying).toBe(true);
  await runJob();

  await expectNoneLost(db);
  expect(await countPlaces(db)).toEqual({ packed: 220 });
  expect(await readCopyState(db)).toMatchObject({ copied: 200, isCopying: false });
  const [row] = await db.query<{ undone: number }>(
    `select count(*) as undone from webhook_events where body_day is null or body is not null`,
  );
  expect(row?.undone).toBe(0);
});

test('events of the last minutes are left for later', async () => {
  await db.query(
    `insert into webhook_events (event_id, body, body_sha256, received_at)
     values ('old', 'one', sha256('one'), now() - interval '31 minutes'),
            ('new', 'two', sha256('two'), now() - interval '29 minutes'),
            ('older', 'three', sha256('three'), now() - interval '31 minutes')`,
  );
  await runJob(30 * 60_000);
  const rows = await db.query<{ name: string }>(
    'select event_id as name from webhook_events where body is null',
  );
  expect(rows).toEqual([{ name: 'old' }]);
});

test('a body of a day that is packed already is kept', async () => {
  await storeDay(db, { daysAgo: 2, events: 10 });
  await runJob();
  await storeDay(db, { daysAgo: 2, events: 3, isLegacy: true });
  await runJob();
  await expectNoneLost(db);
  expect(await countPlaces(db)).toEqual({ packed: 10, kept: 3 });
});

test('a copy with nothing to do writes only when a day can be packed, and a sign of life', async () => {
  const readState = () =>
    db.query<Record<string, unknown>>('select xmin::text, copied_until from body_copy');
  const copy = () => copyNext(db, { events: 50, bytes: 1_000_000, settleMs: 0 });
  await copy();
  // So that no day ends meanwhile.
  await db.query(`update body_copy set copied_until = now() + interval '1 minute'`);
  const before = await readState();
  await copy();
  expect(await readState()).toEqual(before);

  await db.query(`update body_copy set stepped_at = now() - interval '6 minutes'`);
  const stale = await readState();
  await copy();
  expect(await readState()).not.toEqual(stale);

  await db.query(`update body_copy set copied_until = now() - interval '25 hours'`);
  await copy();
  const [moved] = await db.query<{ isMoved: boolean }>(
    `select copied_until > now() - interval '1 minute' as "isMoved" from body_copy`,
  );
  expect(moved?.isMoved).toBe(true);
});

test('large bodies make small steps', async () => {
  await storeDay(db, { daysAgo: 2, events: 40, isLegacy: true });
  await db.query(
    `update webhook_events set body = convert_to(repeat(md5(id::text), 12000), 'UTF8'),
            body_sha256 = sha256(convert_to(repeat(md5(id::text), 12000), 'UTF8'))`,
  );
  const step = await copyNext(db, { events: 50, bytes: 1_000_000, settleMs: 0 });
  expect(step.copied).toBe(3);
});

test('the copy locks nothing that receiving, reading and replaying need', async () => {
  const [id = 0] = await storeDay(db, { daysAgo: 2, events: 40, isLegacy: true });
  const copying = await beginTransaction(db);
  const copyTx = {
    ...db,
    transaction: <T>(work: (tx: typeof copying.tx) => Promise<T>) => work(copying.tx),
  };
  await copyNext(copyTx, { events: 50, bytes: 1_000_000, settleMs: 0 });

  await db.transaction(async (tx) => {
    await tx.query(`set local lock_timeout = '1s'`);
    await storeDay(tx, { daysAgo: 0, events: 1, isLegacy: true });
    // A foreign key to the event.
    await tx.query(
      `insert into dead_events (webhook_event_id, attempts, error) values ($1, 1, 'e')`,
      [id],
    );
    await tx.query('select body from webhook_events where id = $1', [id]);
  });
  await copying.commit();
  await expectNoneLost(db);
});

/** Packing, removal and erasure of bodies (src/ledger/bodies): every body stays readable, or its end is recorded. */
import { createHash } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { manualBlocks } from '../../scripts/manual/blocks.ts';
import { eraseBodies } from '../../src/ledger/bodies/eraseBodies.ts';
import { type BodiesLimits, createBodiesJob } from '../../src/ledger/bodies/job.ts';
import { PACK_LIMITS } from '../../src/ledger/bodies/packDay.ts';
import { readBodies } from '../../src/ledger/bodies/readBodies.ts';
import { removeBodyDays } from '../../src/ledger/bodies/removeBodies.ts';
import { measureBodies, scanBodyDays } from '../../src/ledger/bodies/store/removal.ts';
import { createSystemWatch } from '../../src/monitor/watchSystem.ts';
import { createLog } from '../../src/platform/log.ts';
import { countPlaces, expectNoneLost, readPlaces, storeDay } from '../support/bodyDays.ts';
import { createTestDatabase, silentLog, type TestDatabase } from '../support/database.ts';
import { beginTransaction } from '../support/transactions.ts';
import { waitFor } from '../support/waitFor.ts';

let db: TestDatabase;
beforeEach(async () => {
  db = await createTestDatabase();
  await dropPastDays();
});
afterEach(() => db.drop());

/** The template may have been made yesterday. A day that is past, empty and open would be detached first. */
async function dropPastDays(): Promise<void> {
  const days = await db.query<{ name: string }>(
    `delete from body_days where day < (now() at time zone 'UTC')::date
     returning 'webhook_bodies_' || to_char(day, 'YYYYMMDD') as name`,
  );
  for (const { name } of days) await db.query(`drop table ${name}`);
}

const { signal } = new AbortController();
const SMALL: BodiesLimits = {
  pack: { ...PACK_LIMITS, stepBodies: 64, packBodies: 16 },
  copy: { events: 50, bytes: 1_000_000 },
};

/** Runs the job until it finds nothing to do; days rest for `restMs` before they are detached. */
async function runJob(restMs = 0, log = silentLog): Promise<void> {
  const times = { budgetMs: 60_000, settleMs: 0, restMs };
  const run = createBodiesJob({ db, log, signal, limits: SMALL, times });
  await run();
  await run();
}

const dayOf = async (daysAgo: number): Promise<number> => {
  const [row] = await db.query<{ day: number }>(
    `select (now() at time zone 'UTC')::date - $1::integer - date '1970-01-01' as day`,
    [daysAgo],
  );
  return row?.day ?? 0;
};

const removeDay = async (daysAgo: number): Promise<void> => {
  const day = await dayOf(daysAgo);
  await db.transaction((tx) => removeBodyDays(tx, [day]));
};

const partitions = async (): Promise<readonly string[]> => {
  const rows = await db.query<{ name: string }>(
    `select inhrelid::regclass::text as name from pg_inherits
      where inhparent in ('webhook_bodies'::regclass, 'packed_bodies'::regclass) and
            right(inhrelid::regclass::text, 8) < to_char(now() at time zone 'UTC', 'YYYYMMDD')`,
  );
  return rows.map(({ name }) => name.slice(0, 'webhook'.length));
};

test('past days are packed and detached, and today stays open', async () => {
  await storeDay(db, { daysAgo: 2, events: 150 });
  await storeDay(db, { daysAgo: 1, events: 33 });
  await storeDay(db, { daysAgo: 0, events: 7 });
  await runJob();

  await expectNoneLost(db);
  expect(await countPlaces(db)).toEqual({ packed: 183, open: 7 });
  expect(await partitions()).toEqual(['packed_', 'packed_']);
  const days = await db.query<{ state: string; events: number }>(
    `select state, events from body_days where events is not null order by day`,
  );
  expect(days).toEqual([
    { state: 'packed', events: 150 },
    { state: 'packed', events: 33 },
  ]);
  const packs = await db.query<{ bodies: number }>(
    'select cardinality(event_ids) as bodies from packed_bodies order by first_event_id',
  );
  expect(Math.max(...packs.map(({ bodies }) => bodies))).toBe(16);
});

test('every body is read, in whichever place it is', async () => {
  await storeDay(db, { daysAgo: 3, events: 40 });
  await runJob();
  await storeDay(db, { daysAgo: 3, events: 2, isLegacy: true });
  await runJob();
  await storeDay(db, { daysAgo: 2, events: 40 });
  await runJob(3_600_000);
  await storeDay(db, { daysAgo: 0, events: 3 });
  await storeDay(db, { daysAgo: 1, events: 3, isLegacy: true });
  expect(await countPlaces(db)).toEqual({
    packed: 40,
    kept: 2,
    'open+packed': 40,
    open: 3,
    inline: 3,
  });

  const events = await db.query<{ id: number; bodyDay: string | null; hash: Buffer }>(
    'select id, body_day::text as "bodyDay", body_sha256 as hash from webhook_events',
  );
  const bodies = await readBodies(db, events);
  const different = events.filter(({ id, hash }) => {
    const body = bodies.get(id);
    return !body || !createHash('sha256').update(body).digest().equals(hash);
  });
  expect(different).toEqual([]);
});

test('packing brings back no body that is being erased', async () => {
  const [id = 0] = await storeDay(db, { daysAgo: 1, events: 20 });
  const erasing = await beginTransaction(db);
  await eraseBodies(erasing.tx, [id]);
  const packing = runJob();
  await waitFor('the packing to wait', async () => {
    const [row] = await db.query<{ isWaiting: boolean }>(
      `select exists (select from pg_locks where locktype = 'advisory' and not granted
                        and database = (select oid from pg_database where datname = current_database()))
                as "isWaiting"`,
    );
    return row?.isWaiting ?? false;
  });
  await erasing.commit();
  await packing;
  expect(await countPlaces(db)).toEqual({ packed: 19, none: 1 });
});

test('a packed day keeps its open partition attached for an hour', async () => {
  await storeDay(db, { daysAgo: 1, events: 20 });
  await runJob(3_600_000);
  expect(await countPlaces(db)).toEqual({ 'open+packed': 20 });

  await db.query(`update body_days set packed_at = packed_at - interval '61 minutes'`);
  await runJob(3_600_000);
  expect(await countPlaces(db)).toEqual({ packed: 20 });
});

test('a body that comes after its day was packed is kept, and the day is detached', async () => {
  const [first = 0] = await storeDay(db, { daysAgo: 1, events: 20 });
  await runJob(3_600_000);
  const [late = 0] = await storeDay(db, { daysAgo: 1, events: 1 });
  await runJob();

  const places = new Map((await readPlaces(db)).map(({ id, places }) => [id, places]));
  expect(places.get(late)).toEqual(['kept']);
  expect(places.get(first)).toEqual(['packed']);
  await expectNoneLost(db);
});

test('a body that differs from what was received stops its day, and no other', async () => {
  const [damaged = 0] = await storeDay(db, { daysAgo: 2, events: 20 });
  await storeDay(db, { daysAgo: 1, events: 20 });
  await db.query(`update webhook_bodies set body = 'other' where webhook_event_id = $1`, [damaged]);
  const lines: string[] = [];
  const log = createLog('info', (line) => lines.push(line));
  await runJob(0, log);

  expect(await countPlaces(db)).toEqual({ open: 20, packed: 20 });
  expect(lines.filter((line) => line.includes('bodies.not_packed')).join()).toContain(
    `events ${damaged}.`,
  );
});

/** The statements of docs/runbook.md, which read, restore and check a body. */
const RESTORING = manualBlocks().filter(
  ({ attributes }) => attributes.by === 'test/ledger/packing.test.ts',
);

test('a damaged body raises an alert, which resolves when it is restored as the runbook describes', async () => {
  const [damaged = 0] = await storeDay(db, { daysAgo: 1, events: 20 });
  const [event] = await db.query<{ day: string }>(
    'select body_day::text as day from webhook_events where id = $1',
    [damaged],
  );
  const given: Record<string, string> = { NUMBER: String(damaged), DAY: event?.day ?? '' };
  const execute = (step: number) =>
    db.query<Record<string, unknown>>(
      (RESTORING[step]?.code ?? '').replaceAll(/\b[A-Z]{3,}\b/g, (name) => given[name] ?? name),
    );
  const [stored] = await execute(0);
  given.HEX = String(stored?.encode);
  const watch = createSystemWatch({ db, log: silentLog, isReconciling: false });
  const alerts = async () => {
    await runJob();
    await watch();
    return db.query(
      `select state, detail->'eventIds' as ids from alerts where rule = 'body_damaged'`,
    );
  };
  await db.query(`update webhook_bodies set body = 'other' where webhook_event_id = $1`, [damaged]);
  expect(await alerts()).toEqual([{ state: 'open', ids: [damaged] }]);
  expect(await alerts()).toEqual([{ state: 'open', ids: [damaged] }]);
  expect(await execute(2)).toEqual([{ is_right: false }]);
  await execute(1);
  expect(await execute(2)).toEqual([{ is_right: true }]);
  expect(await alerts()).toMatchObject([{ state: 'resolved' }]);
  expect(await countPlaces(db)).toEqual({ packed: 20 });
});

test('a detached partition is dropped after two days, and not before', async () => {
  await storeDay(db, { daysAgo: 1, events: 20 });
  await runJob();
  const isThere = async () => {
    const [row] = await db.query<{ isThere: boolean }>(
      `select to_regclass(name) is not null as "isThere" from detached_partitions`,
    );
    return row?.isThere;
  };
  await db.query(`update detached_partitions set detached_at = detached_at - interval '47 hours'`);
  await runJob();
  expect(await isThere()).toBe(true);
  const [early] = await db.query<{ isDropped: boolean }>(
    `select drop_detached_partition(name, false) as "isDropped" from detached_partitions`,
  );
  expect(early?.isDropped).toBe(false);

  await db.query(`update detached_partitions set detached_at = detached_at - interval '2 hours'`);
  await runJob();
  expect(await isThere()).toBe(false);
  await expectNoneLost(db);
});

test('the drop refuses a name that is not a detached partition', async () => {
  await db.query(`insert into detached_partitions (name) values ('pending')`);
  await expect(db.query(`select drop_detached_partition('pending', true)`)).rejects.toThrow(
    'not a detached partition',
  );
  const [row] = await db.query<{ isDropped: boolean }>(
    `select drop_detached_partition('webhook_events', true) as "isDropped"`,
  );
  expect(row?.isDropped).toBe(false);
});

test('removal keeps the bodies of pending, dead and disputed events until nothing needs them', async () => {
  const ids = await storeDay(db, { daysAgo: 1, events: 40 });
  const [pending = 0, dead = 0, reported = 0, closed = 0] = [ids[3], ids[17], ids[18], ids[30]];
  await db.query(
    `insert into pending (webhook_event_id, enqueue_at) values ($1, now() + interval '1 day')`,
    [pending],
  );
  await db.query(
    `insert into dead_events (webhook_event_id, attempts, error) values ($1, 20, 'e')`,
    [dead],
  );
  await db.query(
    `insert into findings (class, subject, detail, state, closed_at)
     values ('event_id_reused', 'event:' || $1::text, '{}', 'open', null),
            ('event_id_reused', 'event:' || $2::text, '{}', 'closed', now())`,
    [reported, closed],
  );
  await runJob();
  await removeDay(1);

  expect(await countPlaces(db)).toEqual({ kept: 3, none: 37 });
  await expectNoneLost(db);
  const kept = (await readPlaces(db)).filter(({ places }) => places.length > 0);
  expect(kept.map(({ id }) => id)).toEqual([pending, dead, reported]);

  await db.query('delete from pending');
  await db.query(`update findings set state = 'closed', closed_at = now()`);
  await runJob();
  const left = (await readPlaces(db)).filter(({ places }) => places.length > 0);
  expect(left.map(({ id }) => id)).toEqual([dead]);
});

test('only a day that is past, packed and detached is removable', async () => {
  await storeDay(db, { daysAgo: 2, events: 20 });
  await storeDay(db, { daysAgo: 1, events: 20 });
  const [row] = await db.query<{ before: Date }>(
    `select ((now() at time zone 'UTC')::date - 1)::timestamp at time zone 'UTC' as before`,
  );
  const before = row?.before ?? new Date(0);
  const scan = async () => (await scanBodyDays(db, { before, after: 0, limit: 10 })).slice(0, 2);
  const [older, newer] = [await dayOf(2), await dayOf(1)];
  expect(await scan()).toEqual([
    { key: older, isPast: true, isRemovable: false },
    { key: newer, isPast: false, isRemovable: false },
  ]);
  await expect(removeDay(2)).rejects.toThrow('not a packed day');

  await runJob(3_600_000);
  expect((await scan())[0]).toEqual({ key: older, isPast: true, isRemovable: false });
  await expect(removeDay(2)).rejects.toThrow('not detached yet');

  await runJob();
  expect(await scan()).toEqual([
    { key: older, isPast: true, isRemovable: true },
    { key: newer, isPast: false, isRemovable: false },
  ]);
  expect(await measureBodies(db, before)).toMatchObject({ rows: 40, removable: 20 });
  await removeDay(2);
  expect((await scan())[0]?.key).toBe(newer);
  expect(await measureBodies(db, before)).toMatchObject({ rows: 20, removable: 0 });
});

test('a removal and a detach wait 200 ms for their locks, and intake no longer behind them', async () => {
  await storeDay(db, { daysAgo: 1, events: 20 });
  await runJob(3_600_000);
  const reader = await beginTransaction(db);
  await reader.tx.query('select count(*) from webhook_bodies');
  await runJob();
  expect(await countPlaces(db)).toEqual({ 'open+packed': 20 });
  await reader.commit();
  await runJob();
  expect(await countPlaces(db)).toEqual({ packed: 20 });
});

test('an erasure removes a body wherever it is, and no other', async () => {
  const packed = await storeDay(db, { daysAgo: 3, events: 40 });
  await runJob();
  const both = await storeDay(db, { daysAgo: 2, events: 40 });
  await runJob(3_600_000);
  const open = await storeDay(db, { daysAgo: 1, events: 40 });
  const inline = await storeDay(db, { daysAgo: 1, events: 5, isLegacy: true });
  const kept = inline[4] ?? 0;
  await db.query('insert into kept_bodies select id, body from webhook_events where id = $1', [
    kept,
  ]);
  await db.query('update webhook_events set body = null where id = $1', [kept]);
  await db.query(
    `insert into event_variants (webhook_event_id, body, body_sha256, received_at)
     values ($1, 'other', sha256('other'), now())`,
    [open[0]],
  );
  // All of the second pack, some of the third, one beside its neighbors.
  const ids = [
    ...packed.slice(16, 32),
    ...packed.slice(33, 36),
    ...[both[5], open[0], open[1], inline[0], kept].map((id) => id ?? 0),
  ];
  const erased = await db.transaction((tx) => eraseBodies(tx, ids));

  expect(erased).toBe(ids.length);
  const places = await readPlaces(db);
  expect(places.filter((one) => one.places.length === 0).map(({ id }) => id)).toEqual(
    ids.toSorted((a, b) => a - b),
  );
  expect(places.every(({ isEqual }) => isEqual)).toBe(true);
  const [left] = await db.query<{ variants: number; detached: number }>(
    `select (select count(*) from event_variants where body is not null) as variants,
            (select count(*) from detached_partitions
              where right(name, 8) = to_char(now() at time zone 'UTC' - interval '3 days', 'YYYYMMDD')
                and (dropped_at is null or to_regclass(name) is not null)) as detached`,
  );
  expect(left).toEqual({ variants: 0, detached: 0 });
  expect(await db.transaction((tx) => eraseBodies(tx, ids))).toBe(0);
  // What the pack and its open partition have in common is still equal.
  await runJob();
  expect(await partitions()).toEqual(['packed_', 'packed_', 'packed_']);
});

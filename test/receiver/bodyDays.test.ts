/**
 * Bodies are stored under the day of the database's clock, in a partition that exists or is made. A
 * missing partition would otherwise refuse every event of a day.
 */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { makeBodyDays } from '../../src/ledger/bodies/bodyDays.ts';
import { eraseBodies } from '../../src/ledger/bodies/eraseBodies.ts';
import { createBodiesJob } from '../../src/ledger/bodies/job.ts';
import { readBodyDaysAhead } from '../../src/ledger/bodies/store/days.ts';
import { type Clock, monotonicMs, systemClock } from '../../src/platform/clock.ts';
import { createDatabase, type Database } from '../../src/platform/db/database.ts';
import { DAY_MS, HOUR_MS } from '../../src/platform/time.ts';
import { createIntake, type Intake } from '../../src/receiver/intake.ts';
import { countPlaces, expectNoneLost } from '../support/bodyDays.ts';
import { silentLog } from '../support/database.ts';
import { eventBody, paymentObject, unique } from '../support/events.ts';
import { testApplier } from '../support/ledger.ts';
import { createMovedDatabase, type MovedDatabase } from '../support/movedDatabase.ts';
import { beginTransaction } from '../support/transactions.ts';
import { waitFor } from '../support/waitFor.ts';

let db: MovedDatabase;
/** Midnight before the first day. */
let dayMs: number;
const cleanups: (() => Promise<unknown>)[] = [];
beforeEach(async () => {
  db = await createMovedDatabase();
  // Noon of the first day: no test meets the end of a day, whenever it runs.
  const [{ noon } = { noon: new Date() }] = await db.query<{ noon: Date }>(
    `select (min(day) + interval '12 hours') at time zone 'UTC' as noon from body_days`,
  );
  await db.moveTo(noon.getTime());
  dayMs = noon.getTime() - DAY_MS / 2;
});
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
  await db.drop();
});

interface CountingIntake extends Intake {
  /** How often it made partitions. */
  readonly made: () => number;
}

function intakeOf(on: Database = db, clock: Clock = systemClock): CountingIntake {
  let made = 0;
  const intake = createIntake({
    db: on,
    clock,
    monotonicMs,
    log: silentLog,
    enqueue: () => undefined,
    observeBatchSize: () => undefined,
    keep: () => undefined,
    makeBodyDays: () => {
      made += 1;
      return makeBodyDays(on, silentLog);
    },
  });
  return { ...intake, made: () => made };
}

/** Drops the partitions from a day on; 0 is today. */
async function dropDays(from: number): Promise<void> {
  const days = await db.query<{ name: string }>(
    `select c.relname as name
       from pg_inherits i join pg_class c on c.oid = i.inhrelid
      where i.inhparent = 'webhook_bodies'::regclass
        and c.relname >= 'webhook_bodies_'
              || to_char((now() at time zone 'UTC')::date + $1::integer, 'YYYYMMDD')`,
    [from],
  );
  expect(days.length, 'nothing was dropped').toBeGreaterThan(0);
  for (const { name } of days) await db.query(`drop table ${name}`);
}

interface Counts {
  readonly rows: number;
  readonly bodies: number;
  readonly pending: number;
  /** Rows with a body under their own day, which is today by the database's clock. */
  readonly today: number;
}

async function counts(): Promise<Counts | undefined> {
  const [row] = await db.query<Counts>(
    `select (select count(*) from webhook_events) as rows,
            (select count(*) from webhook_bodies) as bodies,
            (select count(*) from pending) as pending,
            (select count(*)
               from webhook_events e
               join webhook_bodies b on b.day = e.body_day and b.webhook_event_id = e.id
              where e.body is null and e.body_bytes = octet_length(b.body)
                and sha256(b.body) = e.body_sha256
                and e.body_day = (now() at time zone 'UTC')::date) as today`,
  );
  return row;
}

async function isCommitted(count: number): Promise<void> {
  expect(await counts()).toEqual({ rows: count, bodies: count, pending: count, today: count });
}

const someBodies = (count: number) =>
  Array.from({ length: count }, () => eventBody(paymentObject()));

describe('a body', () => {
  test('is stored with its row, and not again for a duplicate, a copy in its batch or a variant', async () => {
    const intake = intakeOf();
    const bodies = [...someBodies(3), Buffer.from(unique('no JSON'))];
    await Promise.all([...bodies, ...bodies].map(intake.accept));
    await Promise.all(bodies.map(intake.accept));
    const eventId = unique('evt');
    await intake.accept(eventBody(paymentObject(), { eventId }), 0);
    const variant = await intake.accept(eventBody(paymentObject(), { eventId }), 0);
    expect(variant.outcome).toBe('id_reused');
    await isCommitted(5);
  });

  test('that arrives again on a later day is a duplicate, with one row and one body', async () => {
    const intake = intakeOf();
    const body = eventBody(paymentObject());
    await intake.accept(body, 0);
    // As if it had arrived yesterday.
    await db.query(
      `do $$
       declare yesterday date := (now() at time zone 'UTC')::date - 1;
       begin
         execute format('create table webhook_bodies_%s partition of webhook_bodies
                           for values from (%L) to (%L)',
                        to_char(yesterday, 'YYYYMMDD'), yesterday, yesterday + 1);
         update webhook_events set body_day = yesterday;
         update webhook_bodies set day = yesterday;
       end $$`,
    );
    const [{ id } = { id: 0 }] = await db.query<{ id: number }>('select id from webhook_events');
    expect((await intake.accept(body, 0)).outcome).toBe('duplicate');
    expect(await counts()).toEqual({ rows: 1, bodies: 1, pending: 1, today: 0 });
    await testApplier(db).applyOne(id);
    expect(await db.query('select from snapshots')).toHaveLength(1);
  });

  test.each([
    ['ahead', 7],
    ['behind', -7],
  ])(
    'is stored under the day of the database while the clock of the receiver is a week %s',
    async (_, days) => {
      const clock: Clock = { nowMs: () => db.clock.nowMs() + days * DAY_MS };
      const intake = intakeOf(db, clock);
      expect((await intake.accept(eventBody(paymentObject()), 0)).outcome).toBe('accepted');
      expect(intake.made()).toBe(0);
      await isCommitted(1);
    },
  );
});

describe('a missing partition', () => {
  test('is made by the receiver, which loses no event of the batches that needed it', async () => {
    await dropDays(0);
    expect(await readBodyDaysAhead(db)).toBe(-1);
    const intake = intakeOf();
    const results = await Promise.all(someBodies(700).map(intake.accept));
    expect(new Set(results.map(({ outcome }) => outcome))).toEqual(new Set(['accepted']));
    expect(intake.made()).toBeGreaterThan(0);
    await isCommitted(700);
    expect(await readBodyDaysAhead(db)).toBe(7);
  });

  test('is made with the least rights', async () => {
    await dropDays(0);
    const login = unique('login_receiver').toLowerCase();
    await db.query(`create role ${login} login password 'secret' in role tallyhook_receiver`);
    cleanups.push(() => db.query(`drop role ${login}`));
    const url = new URL(db.url);
    [url.username, url.password] = [login, 'secret'];
    const least = createDatabase({
      connectionString: url.href,
      log: silentLog,
      applicationName: 'receiver',
      maxConnections: 4,
      responseTimeoutMs: 30_000,
      plans: 'any',
    });
    cleanups.push(() => least.close());
    expect((await intakeOf(least).accept(eventBody(paymentObject()), 0)).outcome).toBe('accepted');
    await isCommitted(1);
    await expect(least.query('select from webhook_bodies')).rejects.toThrow(/permission denied/);
    await expect(least.query('create table mine (x int)')).rejects.toThrow(/permission denied/);
  });

  test('is made once by many at the same time', async () => {
    for (let round = 0; round < 5; round += 1) {
      await dropDays(0);
      await Promise.all(Array.from({ length: 8 }, () => makeBodyDays(db, silentLog)));
      // Those that waited for longer than their lock timeout have left the work to the first.
      expect(await readBodyDaysAhead(db)).toBe(7);
    }
    expect(await db.query('select from body_days')).toHaveLength(8);
  });

  test('refuses the event with 503 if it cannot be made, and leaves nothing behind', async () => {
    await dropDays(0);
    const intake = createIntake({
      db,
      clock: systemClock,
      monotonicMs,
      log: silentLog,
      enqueue: () => undefined,
      observeBatchSize: () => undefined,
      keep: () => undefined,
      makeBodyDays: () => Promise.resolve(),
    });
    const body = eventBody(paymentObject());
    expect(await intake.accept(body, 0)).toEqual({ outcome: 'unavailable' });
    expect(await counts()).toEqual({ rows: 0, bodies: 0, pending: 0, today: 0 });
    await makeBodyDays(db, silentLog);
    expect((await intake.accept(body, 0)).outcome).toBe('accepted');
  });
});

describe('a day that was packed before it was over, because the clock of the database was ahead', () => {
  const { signal } = new AbortController();
  /** At these hours after midnight of the first day, by the clock of the database. */
  async function runJobAt(...hours: readonly number[]): Promise<void> {
    const run = createBodiesJob({ db, log: silentLog, signal });
    for (const hour of hours) {
      await db.moveTo(dayMs + hour * HOUR_MS);
      await run();
    }
  }
  const accept = async (): Promise<string> =>
    (await intakeOf().accept(eventBody(paymentObject()), 0)).outcome;
  const firstDay = async () => {
    const [row] = await db.query<{ state: string; isAttached: boolean }>(
      `select state, is_partition_of('webhook_bodies_' || to_char(day, 'YYYYMMDD'), 'webhook_bodies')
                as "isAttached"
         from body_days order by day limit 1`,
    );
    return row;
  };

  test.each([
    // The partition is attached, then detached, then dropped.
    ['packed', [26]],
    ['detached', [26, 27.1]],
    ['dropped', [26, 27.1, 76, 77.1]],
  ])(
    'and is %s takes events again once the clock is right, and is packed again',
    async (_, ahead) => {
      expect(await accept()).toBe('accepted');
      await runJobAt(...ahead);
      await db.moveTo(dayMs + 16 * HOUR_MS);
      expect(await accept()).toBe('accepted');
      await makeBodyDays(db, silentLog);
      expect(await firstDay()).toEqual({ state: 'open', isAttached: true });

      // Today is not packed, however far the copy was while the clock was ahead.
      await runJobAt(16.1, 17.2);
      expect(await firstDay()).toEqual({ state: 'open', isAttached: true });
      expect(await accept()).toBe('accepted');

      await runJobAt(26, 27.1);
      expect(await firstDay()).toEqual({ state: 'packed', isAttached: false });
      expect(await countPlaces(db)).toEqual({ packed: 3 });
      await runJobAt(76);
      await expectNoneLost(db);
    },
  );

  test('gets no erased body back', async () => {
    await accept();
    await runJobAt(26, 27.1);
    await db.transaction((tx) => eraseBodies(tx, [1]));
    await db.moveTo(dayMs + 16 * HOUR_MS);
    expect(await accept()).toBe('accepted');
    expect(await countPlaces(db)).toEqual({ none: 1, open: 1 });
  });

  test('is not attached while an erasure that found it detached is under way', async () => {
    await accept();
    await runJobAt(26, 27.1);
    await db.moveTo(dayMs + 16 * HOUR_MS);
    const erasing = await beginTransaction(db);
    await eraseBodies(erasing.tx, []);
    expect(await accept()).toBe('unavailable');
    await erasing.commit();
    expect(await accept()).toBe('accepted');
  });
});

describe('partitions ahead', () => {
  test('are what is left of a week after the scheduler was down, and are made for a week again', async () => {
    for (const left of [6, 2, 0]) {
      await dropDays(left + 1);
      expect(await readBodyDaysAhead(db)).toBe(left);
    }
    await makeBodyDays(db, silentLog);
    expect(await readBodyDaysAhead(db)).toBe(7);
  });

  test('are counted up to the first gap', async () => {
    await dropDays(3);
    await db.query('select ensure_body_days(4)');
    const [{ name } = { name: '' }] = await db.query<{ name: string }>(
      `select 'webhook_bodies_' || to_char((now() at time zone 'UTC')::date + 2, 'YYYYMMDD') as name`,
    );
    await db.query(`drop table ${name}`);
    expect(await readBodyDaysAhead(db)).toBe(1);
  });

  test('are made while events are stored and a long transaction reads bodies', async () => {
    await dropDays(1);
    const intake = intakeOf();
    await intake.accept(eventBody(paymentObject()), 0);
    let release: () => void = () => undefined;
    const isReleased = new Promise<void>((resolve) => {
      release = resolve;
    });
    const reading = db.transaction(async (tx) => {
      await tx.query('select from webhook_bodies');
      await isReleased;
    });
    await waitFor('the reader to hold its lock', async () => {
      const locks = await db.query(
        `select from pg_locks
          where relation = 'webhook_bodies'::regclass and mode = 'AccessShareLock'`,
      );
      return locks.length > 0;
    });
    await makeBodyDays(db, silentLog);
    expect(await readBodyDaysAhead(db)).toBe(7);
    expect((await intake.accept(eventBody(paymentObject()), 0)).outcome).toBe('accepted');
    release();
    await reading;
  });
});

/** Bodies are found by key wherever they are kept, in one partition, and their absence is explained. */

import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { migrate } from 'postgres-migrations';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { replayEventsAs } from '../../src/actions/replayEvents.ts';
import { eraseBodies } from '../../src/ledger/bodies/eraseBodies.ts';
import { type BodyKey, explainAbsences, readBodies } from '../../src/ledger/bodies/readBodies.ts';
import { readPacked } from '../../src/ledger/bodies/store/bodies.ts';
import { readEventDetail } from '../../src/ledger/read/eventDetail.ts';
import { verifyLedger } from '../../src/ledger/verify/verifyLedger.ts';
import { createDatabase, type Database, type Queryable } from '../../src/platform/db/database.ts';
import { migrateDatabase } from '../../src/platform/db/migrate.ts';
import { packageRoot } from '../../src/platform/packageRoot.ts';
import { createTestDatabase, silentLog, type TestDatabase } from '../support/database.ts';
import { eventBody, MERCHANT_ID, paymentObject, unique } from '../support/events.ts';
import { receive, testApplier } from '../support/ledger.ts';

let db: TestDatabase;
beforeEach(async () => {
  db = await createTestDatabase();
});
afterEach(() => db.drop());

const someBodies = (count: number) =>
  Array.from({ length: count }, () => eventBody(paymentObject()));

const readKeys = (on: Queryable, ids: readonly number[]) =>
  on.query<BodyKey>(
    `select id, body_day::text as "bodyDay" from webhook_events where id = any ($1::bigint[])`,
    [ids],
  );

/** Makes partitions for a day in the past, and moves the bodies of events to it. */
async function moveToDay(day: string, ids: readonly number[]): Promise<void> {
  const suffix = day.replaceAll('-', '');
  for (const table of ['webhook_bodies', 'packed_bodies']) {
    await db.query(
      `create table ${table}_${suffix} partition of ${table}
         for values from ('${day}') to (('${day}'::date + 1))`,
    );
  }
  await db.query('insert into body_days (day) values ($1::date)', [day]);
  await db.query('update webhook_bodies set day = $1 where webhook_event_id = any ($2::bigint[])', [
    day,
    ids,
  ]);
  await db.query('update webhook_events set body_day = $1 where id = any ($2::bigint[])', [
    day,
    ids,
  ]);
}

async function deleteBodies(ids: readonly number[]): Promise<void> {
  await db.query('delete from webhook_bodies where webhook_event_id = any ($1::bigint[])', [ids]);
}

async function pack(day: string, ids: readonly number[], bodies: readonly Buffer[]): Promise<void> {
  await db.query(
    `insert into packed_bodies (day, first_event_id, last_event_id, event_ids, lengths, bodies)
     values ($1, $2, $3, $4::bigint[], $5::integer[], $6)`,
    [
      day,
      ids[0],
      ids.at(-1),
      ids,
      bodies.map(({ length }) => length),
      Buffer.concat(bodies.map((body) => Uint8Array.from(body))),
    ],
  );
}

describe('readBodies', () => {
  test('finds open bodies of several days, packed ones, kept ones and those of an older version', async () => {
    const bodies = someBodies(9);
    const ids = await receive(db, bodies);
    const at = (...places: readonly number[]) => places.map((place) => ids[place] ?? 0);
    await moveToDay('2026-01-05', at(2, 3, 4, 5, 6));
    await deleteBodies(at(2, 3, 4, 5, 6));
    // Two packed rows, with a gap between them in which there is a kept body.
    await pack('2026-01-05', at(2, 3), bodies.slice(2, 4));
    await pack('2026-01-05', at(5, 6), bodies.slice(5, 7));
    await db.query('insert into kept_bodies (webhook_event_id, body) values ($1, $2)', [
      ids[4],
      bodies[4],
    ]);
    await moveToDay('2026-01-04', at(7));
    await db.query(
      'update webhook_events set body = $1, body_day = null, body_bytes = null where id = $2',
      [bodies[8], ids[8]],
    );
    await deleteBodies(at(8));

    const found = await readBodies(db, await readKeys(db, ids));
    expect(ids.map((id) => found.get(id)?.toString())).toEqual(bodies.map(String));
    // In parts, and with nothing to find.
    const some = await readBodies(db, await readKeys(db, at(3, 8)));
    expect(new Set(some.keys())).toEqual(new Set(at(3, 8)));
    expect(await readBodies(db, [])).toEqual(new Map());
  });

  test('finds a body that was moved after its day was read', async () => {
    const [body = Buffer.of()] = someBodies(1);
    const [id = 0] = await receive(db, [body]);
    const found = await readBodies(db, [{ id, bodyDay: null }]);
    expect(found.get(id)?.equals(body)).toBe(true);
  });

  test('distinguishes removed bodies from lost ones', async () => {
    const [removed = 0, lost = 0] = await receive(db, someBodies(2));
    await moveToDay('2026-01-05', [removed]);
    await deleteBodies([removed, lost]);
    await db.query(
      `update body_days set state = 'removed', removed_at = '2026-04-06 12:00Z' where day = '2026-01-05'`,
    );
    const keys = await readKeys(db, [removed, lost]);
    expect(await readBodies(db, keys)).toEqual(new Map());
    const absences = await explainAbsences(db, keys);
    expect(absences.get(removed)).toEqual({
      outcome: 'removed',
      at: new Date('2026-04-06T12:00Z'),
    });
    expect(absences.get(lost)).toEqual({ outcome: 'unexplained' });
  });
});

describe('plans', () => {
  const PARTITION = /webhook_bodies_\d{8}|packed_bodies_\d{8}/g;

  /** Runs work on a database that returns the plans of its statements, and their rows. */
  async function plansOf(work: (on: Queryable) => Promise<unknown>): Promise<readonly string[]> {
    const plans: string[] = [];
    const { client, close } = await connect(db.url);
    try {
      await client.query(
        'set enable_seqscan = off; set enable_hashjoin = off; set enable_mergejoin = off',
      );
      await work({
        query: async <Row extends object>(text: string, values: readonly unknown[] = []) => {
          const parameters = values.map((one) =>
            Array.isArray(one) ? `{${one.map(String).join(',')}}` : one,
          );
          const plan = await client.query<{ 'QUERY PLAN': string }>(
            `explain (analyze, costs off, timing off, summary off) ${text}`,
            parameters,
          );
          plans.push(plan.rows.map((line) => line['QUERY PLAN']).join('\n'));
          return (await client.query<Row>(text, parameters)).rows;
        },
      });
    } finally {
      await close();
    }
    return plans;
  }

  async function connect(url: string) {
    const client = new pg.Client({
      connectionString: url,
      // Numbers, as the pools of Tallyhook return them.
      types: {
        getTypeParser: (oid: number) => (oid === 20 ? Number : pg.types.getTypeParser(oid)),
      },
    });
    await client.connect();
    return { client, close: () => client.end() };
  }

  test('read a body by its key in one partition', async () => {
    const bodies = someBodies(3);
    const ids = await receive(db, bodies);
    await moveToDay('2026-01-05', ids.slice(0, 2));
    await deleteBodies(ids.slice(0, 2));
    await pack('2026-01-05', ids.slice(0, 2), bodies.slice(0, 2));
    await db.query('analyze');
    const today = await readKeys(db, ids.slice(2));
    const packed = await readKeys(db, ids.slice(0, 2));

    const [open = '', ...more] = await plansOf((on) => readBodies(on, today));
    expect(more).toEqual([]);
    expect(new Set(open.match(PARTITION))).toHaveProperty('size', 1);
    expect(open).toMatch(/Index Scan/);

    for (const plan of await plansOf((on) => readBodies(on, packed))) {
      expect(new Set(plan.match(PARTITION)).size, plan).toBeLessThanOrEqual(1);
      expect(plan).not.toMatch(/Seq Scan/);
    }
    const [one = ''] = await plansOf((on) => readPacked(on, '2026-01-05', ids[0] ?? 0));
    expect(one).toMatch(/Index Scan/);
  });

  // The server's table of locks has 64 for each connection. Bodies that are kept for three years are in 1,096 days.
  test('lock the days that they read, or erase from', async () => {
    const bodies = someBodies(2);
    const ids = await receive(db, bodies);
    const days = Array.from({ length: 40 }, (_, n) => new Date(Date.UTC(2025, 0, 1 + n)));
    for (const day of days) await moveToDay(day.toISOString().slice(0, 10), []);
    await moveToDay('2026-01-05', ids);
    await deleteBodies(ids);
    await pack('2026-01-05', ids, bodies);
    const keys = await readKeys(db, ids);
    const worker = createDatabase({
      connectionString: db.url,
      log: silentLog,
      applicationName: 'test',
      maxConnections: 1,
      responseTimeoutMs: 60_000,
      plans: 'by_key',
    });
    const lockedDays = (on: Database, work: (tx: Queryable) => Promise<number>) =>
      on.transaction(async (tx) => {
        expect(await work(tx)).toBe(2);
        return await tx.query<{ name: string }>(
          `select distinct relation::regclass::text as name from pg_locks
            where pid = pg_backend_pid() and relation::regclass::text ~ '^packed_bodies_[0-9]{8}$'`,
        );
      });
    try {
      const read = await lockedDays(worker, async (tx) => (await readBodies(tx, keys)).size);
      expect(read).toEqual([{ name: 'packed_bodies_20260105' }]);
      expect(await lockedDays(db, (tx) => eraseBodies(tx, ids))).toEqual(read);
    } finally {
      await worker.close();
    }
  });
});

describe('an event without a body', () => {
  const actor = { kind: 'cli', name: 'ann', role: 'admin', origin: 'ann@host' } as const;

  async function removedEvent({ isApplied = true } = {}): Promise<number> {
    const [id = 0] = await receive(db, someBodies(1));
    if (isApplied) await testApplier(db).applyOne(id);
    await moveToDay('2026-01-05', [id]);
    await deleteBodies([id]);
    await db.query(
      `update body_days set state = 'removed', removed_at = '2026-04-06 12:00Z' where day = '2026-01-05'`,
    );
    return id;
  }

  test('is not replayed: the reason names the day of its removal', async () => {
    const id = await removedEvent();
    const [other = 0] = await receive(db, someBodies(1));
    await testApplier(db).applyOne(other);
    const enqueued: number[] = [];
    const parts = {
      db,
      enqueue: (numbers: readonly number[]) => {
        enqueued.push(...numbers);
        return Promise.resolve();
      },
    };
    expect(await replayEventsAs(parts, actor, [id, other])).toEqual({
      outcome: 'enqueued',
      replayed: [other],
      refused: [{ number: id, reason: 'its body was removed on 2026-04-06 by retention' }],
    });
    expect(enqueued).toEqual([other]);
    expect(await db.query('select webhook_event_id as id from pending')).toEqual([{ id: other }]);
    expect((await readEventDetail(db, id))?.body).toMatchObject({ outcome: 'removed' });
  });

  test('is not applied: the attempt fails with the reason, and the event stays pending', async () => {
    const id = await removedEvent({ isApplied: false });
    await expect(testApplier(db).applyOne(id)).rejects.toThrow(
      'it cannot be applied: its body was removed on 2026-04-06 by retention',
    );
    expect(await db.query('select webhook_event_id as id from pending')).toEqual([{ id }]);
  });

  test('is reported by verify if nothing explains it', async () => {
    const [id = 0] = await receive(db, someBodies(1));
    await testApplier(db).applyOne(id);
    await deleteBodies([id]);
    const { checks } = await verifyLedger(db, { merchantId: MERCHANT_ID, rebuild: false });
    const inbox = checks.find(({ name }) => name === 'inbox');
    expect(JSON.stringify(inbox?.offenders)).toContain(
      'its body is missing and nothing records why',
    );
  });
});

test('after the migration of a database with events, bodies of both versions are read and applied', async () => {
  const name = `test_${unique('older').replaceAll(/\W/g, '').toLowerCase()}`;
  await db.query(`create database ${name}`);
  const url = new URL(db.url);
  url.pathname = `/${name}`;
  const older = mkdtempSync(join(tmpdir(), 'tallyhook-migrations-'));
  const upgraded = createDatabase({
    connectionString: url.href,
    log: silentLog,
    applicationName: 'test',
    maxConnections: 2,
    responseTimeoutMs: 30_000,
    plans: 'by_key',
  });
  try {
    const folder = join(packageRoot(), 'migrations');
    for (const file of readdirSync(folder)) {
      if (/^\d{5}_.*\.sql$/.test(file) && file < '00035') {
        cpSync(join(folder, file), join(older, file));
      }
    }
    const client = new pg.Client({ connectionString: url.href });
    await client.connect();
    await migrate({ client }, older);
    const oldBody = eventBody(paymentObject(), { eventId: unique('evt') });
    const { rows } = await client.query<{ id: number }>(
      `with stored as (
         insert into webhook_events (event_id, merchant_id, event_type, body, body_sha256, received_at)
         values ($1, $2, 'payment_succeeded', $3, $4, now()) returning id
       ), queued as (
         insert into pending (webhook_event_id, enqueue_at) select id, now() from stored
       )
       select id::integer from stored`,
      [
        JSON.parse(oldBody.toString()).event_id,
        MERCHANT_ID,
        oldBody,
        createHash('sha256').update(oldBody).digest(),
      ],
    );
    await client.end();
    const oldId = rows[0]?.id ?? 0;

    await migrateDatabase(url.href);

    const [newBody = Buffer.of()] = someBodies(1);
    expect(await receive(upgraded, [oldBody]), 'a duplicate of the older version').toEqual([]);
    const [newId = 0] = await receive(upgraded, [newBody]);
    const keys = await readKeys(upgraded, [oldId, newId]);
    expect(keys.find(({ id }) => id === oldId)?.bodyDay).toBeNull();
    const found = await readBodies(upgraded, keys);
    expect(found.get(oldId)?.equals(oldBody)).toBe(true);
    expect(found.get(newId)?.equals(newBody)).toBe(true);
    expect(await testApplier(upgraded).applyBatch([oldId, newId])).toBe(2);
    const report = await verifyLedger(upgraded, { merchantId: MERCHANT_ID, rebuild: true });
    expect(report.checks.flatMap(({ offenders }) => offenders)).toEqual([]);
  } finally {
    await upgraded.close();
    await db.query(`drop database ${name} with (force)`);
    rmSync(older, { recursive: true, force: true });
  }
});

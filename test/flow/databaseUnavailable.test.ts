/**
 * Outages of the database and of Redis. Without the database there is no 200, only 503 with Retry-After,
 * and no restart is needed afterwards; without Redis events are only applied later.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { EVENTS_QUEUE, type EventsJob } from '../../src/ledger/inbox/jobs.ts';
import { createDatabase, type Database } from '../../src/platform/db/database.ts';
import { isDatabaseUnavailable } from '../../src/platform/db/failures.ts';
import { createGate } from '../../src/platform/db/gate.ts';
import { migrateDatabase } from '../../src/platform/db/migrate.ts';
import { startEmbeddedPostgres } from '../../src/platform/embeddedPostgres/index.ts';
import { createLog } from '../../src/platform/log.ts';
import {
  createPostgresQueueConnections,
  createQueueBackend,
  createRedisConnections,
  type QueueBackend,
} from '../../src/platform/queue/index.ts';
import { createTestDatabase, silentLog, type TestDatabase } from '../support/database.ts';
import {
  createEventBurst,
  expectApplied,
  findLost,
  findNotPersisted,
  type Sender,
  startSending,
} from '../support/eventBurst.ts';
import { eventBody, paymentObject, sign, unique } from '../support/events.ts';
import { memoryFolder } from '../support/memoryFolder.ts';
import { settingsFor, spawnProgram, webhookUrlOf } from '../support/program.ts';
import { seededRandom, testSeed } from '../support/random.ts';
import { recordFigures } from '../support/recordFigures.ts';
import { redisDatabaseOf } from '../support/redisDatabases.ts';
import { sweepOverdue } from '../support/sweepOverdue.ts';
import { startTallyhook, type TestTallyhook } from '../support/tallyhook.ts';
import { startTcpProxy } from '../support/tcpProxy.ts';
import { waitFor } from '../support/waitFor.ts';

const SEED = testSeed();
const ORDERS = 200;
const CONCURRENCY = 16;

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

async function startProxy(url: string, options: { readonly refusing?: boolean } = {}) {
  const proxy = await startTcpProxy(url, options);
  cleanups.push(() => proxy.close());
  return proxy;
}

async function run(options: Parameters<typeof startTallyhook>[0]): Promise<TestTallyhook> {
  const tallyhook = await startTallyhook(options);
  cleanups.push(() => tallyhook.close());
  return tallyhook;
}

function send(tallyhook: TestTallyhook, burst: ReturnType<typeof createEventBurst>): Sender {
  const sender = startSending(burst.deliveries, {
    url: () => tallyhook.webhookUrl,
    concurrency: CONCURRENCY,
  });
  cleanups.push(() => sender.stop());
  return sender;
}

function get(tallyhook: TestTallyhook, path: string): Promise<Response> {
  return fetch(new URL(path, tallyhook.healthUrl));
}

function countResponses(sender: Sender, status: number): number {
  return sender.responses.get(status) ?? 0;
}

function body(): Buffer {
  return eventBody(paymentObject());
}

async function count(db: Database, table: 'webhook_events' | 'pending'): Promise<number> {
  const [row] = await db.query<{ count: number }>(`select count(*) from ${table}`);
  return row?.count ?? Number.NaN;
}

async function expectUnavailable(response: Response): Promise<void> {
  expect(response.status).toBe(503);
  expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(await response.json()).toMatchObject({ error: { type: 'api_error', code: 'HE_00' } });
}

describe('a database that is down at startup', () => {
  let db: TestDatabase;
  beforeEach(async () => {
    db = await createTestDatabase();
    cleanups.push(() => db.drop());
  });

  test('does not prevent the process from starting, is reported, and is used once it is up', async () => {
    const proxy = await startProxy(db.url, { refusing: true });
    const tallyhook = await run({ db: { url: proxy.url } });
    await expectUnavailable(await tallyhook.deliver(body()));
    expect((await get(tallyhook, '/healthz')).status).toBe(200);
    const unready = await get(tallyhook, '/readyz');
    expect(unready.status).toBe(503);
    expect(await unready.json()).toEqual({
      ready: false,
      degraded: true,
      checks: {
        database: 'unavailable',
        migrations: expect.stringContaining('ECONNREFUSED'),
        clock: "not compared with the database's yet",
        queue: expect.stringMatching(/^the database is unavailable \(.*ECONNREFUSED/),
        pending: 'unknown: the database cannot be read',
      },
    });
    // An unsigned delivery is still rejected with 401: retrying it later would not help.
    expect((await tallyhook.deliver(body(), {})).status).toBe(401);

    await proxy.resume();
    await waitFor('a delivery to be accepted', async () => {
      const response = await tallyhook.deliver(body());
      if (response.status !== 200) await expectUnavailable(response);
      return response.status === 200;
    });
    await waitFor('the event to be applied', async () => (await count(db, 'pending')) === 0);
    expect(await count(db, 'webhook_events')).toBe(1);
    await waitFor('the queue to be usable', async () => {
      const { checks } = (await (await get(tallyhook, '/readyz')).json()) as {
        readonly checks: { readonly queue: string };
      };
      return checks.queue === 'a job was added, claimed and finished';
    });
    const ready = await get(tallyhook, '/readyz');
    expect(ready.status).toBe(200);
    expect(await ready.json()).toEqual({
      ready: true,
      degraded: false,
      checks: {
        database: 'reachable',
        migrations: 'at head',
        clock: "agrees with the database's",
        queue: 'a job was added, claimed and finished',
        pending: 'no event waits',
      },
    });
  });

  test('on a host with several addresses is reported like any other', async () => {
    // The error of Node.js for a name with an IPv4 and an IPv6 address, which has no message.
    const refused = Object.assign(
      new AggregateError([
        new Error('connect ECONNREFUSED ::1:5432'),
        new Error('connect ECONNREFUSED 127.0.0.1:5432'),
      ]),
      { code: 'ECONNREFUSED' },
    );
    const log = createLog('silent');
    const warned = vi.spyOn(log, 'warn');
    const gate = await createGate(() => Promise.reject(refused), isDatabaseUnavailable, log);
    cleanups.push(() => gate.close());
    expect(gate.reason()).toContain('ECONNREFUSED');
    expect(warned).toHaveBeenCalledWith(expect.anything(), 'database.not_ready');
  });

  test('is not used before it has its migrations', async () => {
    const name = unique('bare');
    const administrator = new pg.Client({ connectionString: db.url });
    await administrator.connect();
    await administrator.query(`create database ${name}`);
    cleanups.push(async () => {
      await administrator.query(`drop database ${name} with (force)`);
      await administrator.end();
    });
    const url = new URL(db.url);
    url.pathname = `/${name}`;
    const proxy = await startProxy(url.href, { refusing: true });
    const tallyhook = await run({ db: { url: proxy.url } });
    await proxy.resume();
    await waitFor('the missing migrations to be reported', async () => {
      const { checks } = (await (await get(tallyhook, '/readyz')).json()) as {
        readonly checks: Readonly<Record<string, string>>;
      };
      return (
        checks.database === 'reachable' &&
        checks.migrations?.includes('npx tallyhook migrate') === true
      );
    });
    await expectUnavailable(await tallyhook.deliver(body()));

    await migrateDatabase(url.href);
    await waitFor('a delivery to be accepted', async () => {
      return (await tallyhook.deliver(body())).status === 200;
    });
    expect((await get(tallyhook, '/readyz')).status).toBe(200);
  });
});

describe('a database that is lost under load', () => {
  test(`results only in 503, never in a 200 without a row, and needs no restart (seed ${SEED})`, async () => {
    const db = await createTestDatabase();
    cleanups.push(() => db.drop());
    const proxy = await startProxy(db.url);
    const tallyhook = await run({ db: { url: proxy.url } });
    const burst = createEventBurst(ORDERS, seededRandom(SEED));
    const sender = send(tallyhook, burst);

    for (const cut of [1, 2, 3]) {
      await sender.waitForAcknowledged((burst.deliveries.length * cut) / 5);
      await loseAndRestore(sender, { lose: () => proxy.refuse(), restore: () => proxy.resume() });
      expect(await findNotPersisted(db, sender)).toEqual([]);
    }
    await sender.done;

    expect(sender.improper).toEqual([]);
    expect(sender.responses.get('unreachable')).toBeUndefined();
    expect(sender.acknowledged.size).toBe(await count(db, 'webhook_events'));
    await sweepOverdue(db, createPostgresQueueConnections(db.url, silentLog));
    await expectApplied(db, burst);
  });

  const { DATABASE_KILLS = '2' } = process.env;
  const kills = Number(DATABASE_KILLS);

  test(`through kill -9 of PostgreSQL, repeatedly, loses no acknowledged event (seed ${SEED})`, async () => {
    const dataDir = mkdtempSync(join(memoryFolder(), 'tallyhook-outage-'));
    const startServer = () => startEmbeddedPostgres({ dataDir, log: () => undefined });
    let server = await startServer();
    cleanups.push(async () => {
      await server.stop();
      rmSync(dataDir, { recursive: true, force: true });
    });
    await migrateDatabase(server.connectionString);
    const proxy = await startProxy(server.connectionString);
    const tallyhook = await run({ db: { url: proxy.url } });
    const burst = createEventBurst((ORDERS * kills) / 2, seededRandom(SEED + 1));
    const sender = send(tallyhook, burst);

    for (let cut = 1; cut <= kills; cut += 1) {
      await sender.waitForAcknowledged((burst.deliveries.length * cut) / (kills + 2));
      await loseAndRestore(sender, {
        lose: () => process.kill(postmasterPid(dataDir), 'SIGKILL'),
        restore: async () => {
          server = await startServer();
          proxy.retarget(server.connectionString);
        },
      });
    }
    await sender.done;

    expect(sender.improper).toEqual([]);
    expect(sender.responses.get('unreachable')).toBeUndefined();
    const db = openDatabase(server.connectionString);
    await sweepOverdue(db, createPostgresQueueConnections(server.connectionString, silentLog));
    const lost = await findLost(db, sender);
    recordFigures({
      kind: 'kills',
      killed: 'PostgreSQL',
      kills,
      acknowledged: sender.acknowledged.size,
      lost: lost.length,
      appliedAfterSeconds: [],
    });
    expect(lost).toEqual([]);
    expect(sender.acknowledged.size).toBe(await count(db, 'webhook_events'));
    await expectApplied(db, burst);
  });
});

describe('a database that becomes unavailable', () => {
  test('is logged once, and then once each minute, regardless of how many deliveries and jobs fail', async () => {
    const db = await createTestDatabase();
    cleanups.push(() => db.drop());
    const proxy = await startProxy(db.url);
    const roles = 'receiver,events,scheduler,alerts,console';
    const program = spawnProgram('bin/tallyhook.js', ['start', '--roles', roles, '--json'], {
      env: settingsFor(proxy.url),
    });
    cleanups.push(() => program.kill('SIGKILL'));
    const url = await webhookUrlOf(program);
    const deliver = async (): Promise<number> => {
      const event = body();
      const headers = { 'X-Webhook-Signature-512': sign(event) };
      const response = await fetch(url, { method: 'POST', headers, body: new Uint8Array(event) });
      return response.status;
    };
    await waitFor('a delivery to be accepted', async () => (await deliver()) === 200);

    const refusedMs = performance.now();
    proxy.refuse();
    for (let n = 0; n < 300; n += 1) expect(await deliver()).toBe(503);
    const lines = program
      .stdout()
      .split('\n')
      .filter((line) => /"level":"(warn|error)"/.test(line));
    const later = lines.filter((line) => line.includes('"outage.continues"'));
    expect(lines).toHaveLength(1 + later.length);
    const minutes = (performance.now() - refusedMs) / 60_000;
    expect(later.length).toBeLessThanOrEqual(minutes);
  });
});

describe('a database that no longer responds on open connections', () => {
  // A machine without power or network closes no connections, so only a timeout ends the wait.
  test('results in 503 before the sender times out, and needs no restart', async () => {
    const db = await createTestDatabase();
    cleanups.push(() => db.drop());
    const proxy = await startProxy(db.url);
    const tallyhook = await run({ db: { url: proxy.url } });
    // Runs before the program closes: a failed test must not wait for frozen connections.
    cleanups.push(() => proxy.refuse());
    await waitFor('a delivery to be accepted', async () => {
      return (await tallyhook.deliver(body())).status === 200;
    });

    proxy.freeze();
    const replies = await Promise.all(
      Array.from({ length: 3 }, () => deliverAsTheServiceDoes(tallyhook)),
    );
    for (const reply of replies) await expectUnavailable(reply);
    expect((await get(tallyhook, '/healthz')).status).toBe(200);
    expect((await get(tallyhook, '/readyz')).status).toBe(503);

    await proxy.resume();
    await waitFor('a delivery to be accepted', async () => {
      return (await tallyhook.deliver(body())).status === 200;
    });
    await sweepOverdue(db, createPostgresQueueConnections(db.url, silentLog));
    await waitFor('every event to be applied', async () => (await count(db, 'pending')) === 0);
  });
});

/** The service waits half a minute for a response. */
function deliverAsTheServiceDoes(tallyhook: TestTallyhook): Promise<Response> {
  const delivery = body();
  return fetch(tallyhook.webhookUrl, {
    method: 'POST',
    headers: { 'X-Webhook-Signature-512': sign(delivery) },
    body: new Uint8Array(delivery),
    signal: AbortSignal.timeout(30_000),
  });
}

const redisUrl = redisDatabaseOf('databaseUnavailable');

describe.skipIf(redisUrl === undefined)(
  redisUrl === undefined ? 'Redis: SKIPPED: no redis-server' : 'Redis',
  () => {
    let db: TestDatabase;
    const url = redisUrl ?? '';
    beforeEach(async () => {
      db = await createTestDatabase();
      cleanups.push(() => db.drop());
      // Has no job of the test before.
      await flush(url);
    });

    function openQueue(): QueueBackend {
      const backend = createQueueBackend(createRedisConnections({ url }, silentLog), silentLog);
      cleanups.push(() => backend.close());
      return backend;
    }

    async function waitingJobs(): Promise<number> {
      const producer = openQueue().producer<EventsJob>(EVENTS_QUEUE);
      try {
        return (await producer.countJobs()).waiting;
      } finally {
        await producer.close();
      }
    }

    test(`is the queue for every event if REDIS_URL is set (seed ${SEED})`, async () => {
      const tallyhook = await run({ db, redisUrl: url });
      const burst = createEventBurst(ORDERS, seededRandom(SEED));
      const sender = send(tallyhook, burst);
      await sender.done;
      await expectApplied(db, burst);
      expect(await (await get(tallyhook, '/readyz')).json()).toMatchObject({
        checks: { queue: 'a job was added, claimed and finished' },
      });
      // The queue of the database was not used, so every event came through Redis.
      expect(await db.query('select distinct queue from bullmq.event')).toEqual([]);
    });

    test('that is down at startup only delays events: they are acknowledged, and applied once it is up', async () => {
      const proxy = await startProxy(url, { refusing: true });
      const tallyhook = await run({ db, redisUrl: proxy.url });
      for (let n = 0; n < 10; n += 1) expect((await tallyhook.deliver(body())).status).toBe(200);
      const ready = await get(tallyhook, '/readyz');
      expect(ready.status).toBe(200);
      expect(await ready.json()).toMatchObject({
        checks: { queue: expect.stringMatching(/^Redis is unreachable \(.*ECONNREFUSED/) },
      });
      expect(await count(db, 'pending')).toBe(10);

      await proxy.resume();
      await sweepOverdue(db, createRedisConnections({ url }, silentLog));
      await waitFor('every event to be applied', async () => (await count(db, 'pending')) === 0);
    });

    test(`that is lost under load does not affect the sender, and loses no event (seed ${SEED})`, async () => {
      const proxy = await startProxy(url);
      const tallyhook = await run({ db, redisUrl: proxy.url });
      const burst = createEventBurst(ORDERS, seededRandom(SEED + 1));
      const sender = send(tallyhook, burst);
      for (const cut of [1, 2, 3]) {
        await sender.waitForAcknowledged((burst.deliveries.length * cut) / 5);
        proxy.refuse();
        await sender.waitForAcknowledged((burst.deliveries.length * (cut + 0.5)) / 5);
        await proxy.resume();
      }
      await sender.done;
      expect([...sender.responses.keys()]).toEqual([200]);
      await sweepOverdue(db, createRedisConnections({ url }, silentLog));
      await expectApplied(db, burst);
    });

    test('that is flushed while jobs wait loses no event', async () => {
      const receiver = await run({ db, redisUrl: url, roles: ['receiver'] });
      const burst = createEventBurst(40, seededRandom(SEED));
      const sender = send(receiver, burst);
      await sender.done;
      // The receiver has enqueued every event once it is closed.
      await receiver.close();
      expect(await waitingJobs()).toBeGreaterThan(0);
      await flush(url);
      expect(await waitingJobs()).toBe(0);
      expect(await count(db, 'pending')).toBe(burst.eventIds.length);

      await run({ db, redisUrl: url, roles: ['events'] });
      await sweepOverdue(db, createRedisConnections({ url }, silentLog));
      await expectApplied(db, burst);
    });

    test(`that is flushed repeatedly under load loses no event (seed ${SEED})`, async () => {
      const tallyhook = await run({ db, redisUrl: url });
      const burst = createEventBurst(ORDERS, seededRandom(SEED + 2));
      const sender = send(tallyhook, burst);
      for (const cut of [1, 2, 3, 4]) {
        await sender.waitForAcknowledged((burst.deliveries.length * cut) / 5);
        await flush(url);
      }
      await sender.done;
      expect([...sender.responses.keys()]).toEqual([200]);
      await sweepOverdue(db, createRedisConnections({ url }, silentLog));
      await expectApplied(db, burst);
    });
  },
);

async function flush(url: string): Promise<void> {
  const client = new Redis(url);
  await client.flushdb();
  client.disconnect();
}

/** Makes every pending event overdue, and runs the sweep. */
interface Loss {
  readonly lose: () => unknown;
  readonly restore: () => unknown;
}

/** Loses the database, waits for rejected deliveries, restores it and waits for accepted ones. */
async function loseAndRestore(sender: Sender, { lose, restore }: Loss): Promise<void> {
  const rejectedBefore = countResponses(sender, 503);
  await lose();
  await waitFor(
    'deliveries to be rejected',
    () => countResponses(sender, 503) > rejectedBefore + 50,
  );
  const acceptedBefore = countResponses(sender, 200);
  await restore();
  await waitFor('deliveries to be accepted', () => countResponses(sender, 200) > acceptedBefore);
}

function postmasterPid(dataDir: string): number {
  return Number.parseInt(readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8'), 10);
}

function openDatabase(url: string): Database {
  const db = createDatabase({
    connectionString: url,
    log: silentLog,
    applicationName: 'test',
    maxConnections: 2,
    responseTimeoutMs: 30_000,
    plans: 'any',
  });
  cleanups.push(() => db.close());
  return db;
}

/**
 * The neighbours go away and come back. Without the database there is no 200, only 503 and
 * Retry-After, and nobody has to restart anything; without Redis nothing changes but speed.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, inject, test, vi } from 'vitest';
import { EVENTS_QUEUE, type EventsJob } from '../../src/ledger/inbox/jobs.ts';
import { createSweep } from '../../src/ledger/inbox/sweep.ts';
import { createDatabase, type Database } from '../../src/platform/db/database.ts';
import { isDatabaseUnavailable } from '../../src/platform/db/failures.ts';
import { createGate } from '../../src/platform/db/gate.ts';
import { migrateDatabase } from '../../src/platform/db/migrate.ts';
import { startEmbeddedPostgres } from '../../src/platform/embeddedPostgres/index.ts';
import { createLog } from '../../src/platform/log.ts';
import type { QueueConnections } from '../../src/platform/queue/connections.ts';
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
  findNotPersisted,
  type Sender,
  startSending,
} from '../support/eventBurst.ts';
import { eventBody, paymentObject, sign, unique } from '../support/events.ts';
import { settingsFor, spawnProgram, webhookUrlOf } from '../support/program.ts';
import { seededRandom, testSeed } from '../support/random.ts';
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

async function proxy(url: string, options: { readonly refusing?: boolean } = {}) {
  const wire = await startTcpProxy(url, options);
  cleanups.push(() => wire.close());
  return wire;
}

async function run(options: Parameters<typeof startTallyhook>[0]): Promise<TestTallyhook> {
  const tallyhook = await startTallyhook(options);
  cleanups.push(() => tallyhook.close());
  return tallyhook;
}

function send(tallyhook: TestTallyhook, storm: ReturnType<typeof createEventBurst>): Sender {
  const sender = startSending(storm.deliveries, {
    url: () => tallyhook.webhookUrl,
    concurrency: CONCURRENCY,
  });
  cleanups.push(() => sender.stop());
  return sender;
}

function get(tallyhook: TestTallyhook, path: string): Promise<Response> {
  return fetch(new URL(path, tallyhook.healthUrl));
}

function answers(sender: Sender, status: number): number {
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

describe('a database that is down at the start', () => {
  let db: TestDatabase;
  beforeEach(async () => {
    db = await createTestDatabase();
    cleanups.push(() => db.drop());
  });

  test('does not keep the process from starting: it says so, and works once it is up', async () => {
    const wire = await proxy(db.url, { refusing: true });
    const tallyhook = await run({ db: { url: wire.url } });
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
    // An unsigned delivery is refused as ever: what the sender did wrong does not pass with time.
    expect((await tallyhook.deliver(body(), {})).status).toBe(401);

    await wire.resume();
    await waitFor('a delivery to be accepted', async () => {
      const response = await tallyhook.deliver(body());
      if (response.status !== 200) await expectUnavailable(response);
      return response.status === 200;
    });
    await waitFor('it to be applied', async () => (await count(db, 'pending')) === 0);
    expect(await count(db, 'webhook_events')).toBe(1);
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

  test('on a host with several addresses is said like any other', async () => {
    // What Node throws when a name has an IPv4 and an IPv6 address; its own message is empty.
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

  test('and comes up without its migrations is not written to before it has them', async () => {
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
    const wire = await proxy(url.href, { refusing: true });
    const tallyhook = await run({ db: { url: wire.url } });
    await wire.resume();
    await waitFor('it to say what is missing', async () => {
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
  test(`is answered with 503 only, never with a 200 without a row, and needs no restart (seed ${SEED})`, async () => {
    const db = await createTestDatabase();
    cleanups.push(() => db.drop());
    const wire = await proxy(db.url);
    const tallyhook = await run({ db: { url: wire.url } });
    const storm = createEventBurst(ORDERS, seededRandom(SEED));
    const sender = send(tallyhook, storm);

    for (const cut of [1, 2, 3]) {
      await sender.waitForAcknowledged((storm.deliveries.length * cut) / 5);
      await loseAndRegain(sender, { lose: () => wire.refuse(), regain: () => wire.resume() });
      expect(await findNotPersisted(db, sender)).toEqual([]);
    }
    await sender.done;

    expect(sender.improper).toEqual([]);
    expect(sender.responses.get('unreachable')).toBeUndefined();
    expect(sender.acknowledged.size).toBe(await count(db, 'webhook_events'));
    await sweepOverdue(db, createPostgresQueueConnections(db.url, silentLog));
    await expectApplied(db, storm);
  });

  test(`by kill -9 of PostgreSQL loses nothing that was acknowledged, however often (seed ${SEED})`, async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'tallyhook-away-'));
    const startServer = () => startEmbeddedPostgres({ dataDir, log: () => undefined });
    let server = await startServer();
    cleanups.push(async () => {
      await server.stop();
      rmSync(dataDir, { recursive: true, force: true });
    });
    await migrateDatabase(server.connectionString);
    const wire = await proxy(server.connectionString);
    const tallyhook = await run({ db: { url: wire.url } });
    const storm = createEventBurst(ORDERS, seededRandom(SEED + 1));
    const sender = send(tallyhook, storm);

    for (const cut of [1, 2]) {
      await sender.waitForAcknowledged((storm.deliveries.length * cut) / 4);
      await loseAndRegain(sender, {
        lose: () => process.kill(postmasterPid(dataDir), 'SIGKILL'),
        regain: async () => {
          server = await startServer();
          wire.retarget(server.connectionString);
        },
      });
    }
    await sender.done;

    expect(sender.improper).toEqual([]);
    expect(sender.responses.get('unreachable')).toBeUndefined();
    const db = openDatabase(server.connectionString);
    expect(await findNotPersisted(db, sender)).toEqual([]);
    expect(sender.acknowledged.size).toBe(await count(db, 'webhook_events'));
    await sweepOverdue(db, createPostgresQueueConnections(server.connectionString, silentLog));
    await expectApplied(db, storm);
  });
});

describe('a database that is away from a process', () => {
  test('is one line in its log, however many deliveries and jobs fail', async () => {
    const db = await createTestDatabase();
    cleanups.push(() => db.drop());
    const wire = await proxy(db.url);
    const roles = 'receiver,events,scheduler,alerts,console';
    const program = spawnProgram('bin/tallyhook.js', ['start', '--roles', roles, '--json'], {
      env: settingsFor(wire.url),
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

    wire.refuse();
    for (let n = 0; n < 300; n += 1) expect(await deliver()).toBe(503);
    const lines = program
      .stdout()
      .split('\n')
      .filter((line) => /"level":"(warn|error)"/.test(line));
    expect(lines).toHaveLength(1);
  });
});

describe('a database that no longer answers, on connections that stay open', () => {
  // A machine without power or network closes nothing: only a limit of our own ends the wait.
  test('is answered with 503 before the sender gives up, and needs no restart', async () => {
    const db = await createTestDatabase();
    cleanups.push(() => db.drop());
    const wire = await proxy(db.url);
    const tallyhook = await run({ db: { url: wire.url } });
    // Before it closes: a test that failed must not wait for what is frozen.
    cleanups.push(() => wire.refuse());
    expect((await tallyhook.deliver(body())).status).toBe(200);

    wire.freeze();
    const replies = await Promise.all(
      Array.from({ length: 3 }, () => deliverAsTheServiceDoes(tallyhook)),
    );
    for (const reply of replies) await expectUnavailable(reply);
    expect((await get(tallyhook, '/healthz')).status).toBe(200);
    expect((await get(tallyhook, '/readyz')).status).toBe(503);

    await wire.resume();
    await waitFor('a delivery to be accepted', async () => {
      return (await tallyhook.deliver(body())).status === 200;
    });
    await sweepOverdue(db, createPostgresQueueConnections(db.url, silentLog));
    await waitFor('all to be applied', async () => (await count(db, 'pending')) === 0);
  });
});

/** The service waits half a minute for a reply. */
function deliverAsTheServiceDoes(tallyhook: TestTallyhook): Promise<Response> {
  const delivery = body();
  return fetch(tallyhook.webhookUrl, {
    method: 'POST',
    headers: { 'X-Webhook-Signature-512': sign(delivery) },
    body: new Uint8Array(delivery),
    signal: AbortSignal.timeout(30_000),
  });
}

const redisUrl = inject('redisUrl');

describe.skipIf(redisUrl === undefined)(
  redisUrl === undefined ? 'Redis: SKIPPED: no redis-server' : 'Redis',
  () => {
    let db: TestDatabase;
    let url: string;
    beforeEach(async () => {
      db = await createTestDatabase();
      cleanups.push(() => db.drop());
      url = ownRedisDatabase(redisUrl ?? '');
    });

    function openQueue(): QueueBackend {
      const backend = createQueueBackend(createRedisConnections(url, silentLog), silentLog);
      cleanups.push(() => backend.close());
      return backend;
    }

    async function waitingJobs(): Promise<number> {
      const producer = openQueue().producer<EventsJob>(EVENTS_QUEUE);
      try {
        return await producer.countWaiting();
      } finally {
        await producer.close();
      }
    }

    test(`carries the events from end to end when REDIS_URL is set (seed ${SEED})`, async () => {
      const tallyhook = await run({ db, redisUrl: url });
      const storm = createEventBurst(ORDERS, seededRandom(SEED));
      const sender = send(tallyhook, storm);
      await sender.done;
      await expectApplied(db, storm);
      expect(await (await get(tallyhook, '/readyz')).json()).toMatchObject({
        checks: { queue: 'a job was added, claimed and finished' },
      });
      // The queue of the database was not touched: what was applied came through Redis.
      expect(await db.query('select distinct queue from bullmq.event')).toEqual([]);
    });

    test('down at the start changes nothing but speed: 200, and applied once it is up', async () => {
      const wire = await proxy(url, { refusing: true });
      const tallyhook = await run({ db, redisUrl: wire.url });
      for (let n = 0; n < 10; n += 1) expect((await tallyhook.deliver(body())).status).toBe(200);
      const ready = await get(tallyhook, '/readyz');
      expect(ready.status).toBe(200);
      expect(await ready.json()).toMatchObject({
        checks: { queue: expect.stringMatching(/^Redis is unreachable \(.*ECONNREFUSED/) },
      });
      expect(await count(db, 'pending')).toBe(10);

      await wire.resume();
      await sweepOverdue(db, createRedisConnections(url, silentLog));
      await waitFor('all to be applied', async () => (await count(db, 'pending')) === 0);
    });

    test(`lost under load is not felt by the sender, and nothing is lost with it (seed ${SEED})`, async () => {
      const wire = await proxy(url);
      const tallyhook = await run({ db, redisUrl: wire.url });
      const storm = createEventBurst(ORDERS, seededRandom(SEED + 1));
      const sender = send(tallyhook, storm);
      for (const cut of [1, 2, 3]) {
        await sender.waitForAcknowledged((storm.deliveries.length * cut) / 5);
        wire.refuse();
        await sender.waitForAcknowledged((storm.deliveries.length * (cut + 0.5)) / 5);
        await wire.resume();
      }
      await sender.done;
      expect([...sender.responses.keys()]).toEqual([200]);
      await sweepOverdue(db, createRedisConnections(url, silentLog));
      await expectApplied(db, storm);
    });

    test('flushed while jobs wait in it loses nothing', async () => {
      const receiver = await run({ db, redisUrl: url, roles: ['receiver'] });
      const storm = createEventBurst(40, seededRandom(SEED));
      const sender = send(receiver, storm);
      await sender.done;
      // Once closed, it has enqueued everything.
      await receiver.close();
      expect(await waitingJobs()).toBeGreaterThan(0);
      await flush(url);
      expect(await waitingJobs()).toBe(0);
      expect(await count(db, 'pending')).toBe(storm.eventIds.length);

      await run({ db, redisUrl: url, roles: ['events'] });
      await sweepOverdue(db, createRedisConnections(url, silentLog));
      await expectApplied(db, storm);
    });

    test(`flushed under load, again and again, loses nothing (seed ${SEED})`, async () => {
      const tallyhook = await run({ db, redisUrl: url });
      const storm = createEventBurst(ORDERS, seededRandom(SEED + 2));
      const sender = send(tallyhook, storm);
      for (const cut of [1, 2, 3, 4]) {
        await sender.waitForAcknowledged((storm.deliveries.length * cut) / 5);
        await flush(url);
      }
      await sender.done;
      expect([...sender.responses.keys()]).toEqual([200]);
      await sweepOverdue(db, createRedisConnections(url, silentLog));
      await expectApplied(db, storm);
    });
  },
);

let redisDatabases = 0;

/** One Redis serves the whole run; a database of its own keeps a test's queue to itself. */
function ownRedisDatabase(serverUrl: string): string {
  redisDatabases += 1;
  return `${serverUrl}/${redisDatabases}`;
}

async function flush(url: string): Promise<void> {
  const client = new Redis(url);
  await client.flushdb();
  client.disconnect();
}

/** What the sweep does every minute, done now: everything that waits counts as overdue. */
async function sweepOverdue(db: Database, connections: QueueConnections): Promise<void> {
  await db.query(`update pending set enqueue_at = now() - interval '1 second'`);
  const backend = createQueueBackend(connections, silentLog);
  const producer = backend.producer<EventsJob>(EVENTS_QUEUE);
  try {
    const { signal } = new AbortController();
    await createSweep({ db, producer, log: silentLog, signal }).overdue();
  } finally {
    await producer.close();
    await backend.close();
  }
}

interface Loss {
  readonly lose: () => unknown;
  readonly regain: () => unknown;
}

/** Takes the database away, waits until senders have felt it, and until they are accepted again. */
async function loseAndRegain(sender: Sender, { lose, regain }: Loss): Promise<void> {
  const refusedBefore = answers(sender, 503);
  await lose();
  await waitFor('deliveries to be refused', () => answers(sender, 503) > refusedBefore + 50);
  const acceptedBefore = answers(sender, 200);
  await regain();
  await waitFor('deliveries to be accepted', () => answers(sender, 200) > acceptedBefore);
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

/** How a process exits: on a signal, and if it cannot start. */
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import {
  createEventBurst,
  expectApplied,
  findNotPersisted,
  type Sender,
  startSending,
} from '../support/eventBurst.ts';
import { eventBody, paymentObject, sign, unique } from '../support/events.ts';
import {
  type Environment,
  type Program,
  runTallyhookProcess,
  settingsFor,
  spawnProgram,
  webhookUrlOf,
} from '../support/program.ts';
import { seededRandom, testSeed } from '../support/random.ts';
import { redisDatabaseOf } from '../support/redisDatabases.ts';
import { startTcpProxy } from '../support/tcpProxy.ts';
import { waitFor } from '../support/waitFor.ts';

const SEED = testSeed();
const redisUrl = redisDatabaseOf('gracefulStop');

let db: TestDatabase;
const cleanups: (() => unknown)[] = [];
beforeEach(async () => {
  db = await createTestDatabase();
});
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
  await db.drop();
});

async function start(
  databaseUrl = db.url,
  more: Environment = {},
): Promise<{ readonly program: Program; readonly url: string }> {
  const program = spawnProgram('bin/tallyhook.js', ['start'], {
    env: settingsFor(databaseUrl, more),
  });
  cleanups.push(async () => {
    program.kill('SIGKILL');
    await program.exit;
  });
  return { program, url: await urlOnceStarted(program) };
}

/** Waits until all roles are running. */
async function urlOnceStarted(program: Program): Promise<string> {
  const url = await webhookUrlOf(program);
  await waitFor('the start to be complete', () => program.stdout().includes('is running'));
  return url;
}

/** Waits until the port accepts no more connections. */
function waitUntilClosed(url: string): Promise<void> {
  return waitFor('the port to be closed', async () => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    const isClosed = await Promise.race([
      once(socket, 'connect').then(() => false),
      once(socket, 'error').then(() => true),
    ]).catch(() => true);
    socket.destroy();
    return isClosed;
  });
}

/** Sends the head of a delivery on a raw connection; the test writes the body. */
function openDelivery(url: string, body: Buffer): { socket: Socket; response: Promise<string> } {
  const { port, host, pathname } = new URL(url);
  const socket = connect(Number(port), '127.0.0.1');
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  const response = once(socket, 'close').then(() => text);
  socket.write(
    `POST ${pathname} HTTP/1.1\r\nHost: ${host}\r\nContent-Length: ${body.length}\r\n` +
      `X-Webhook-Signature-512: ${sign(body)}\r\n\r\n`,
  );
  return { socket, response };
}

function deliver(url: string): Promise<Response> {
  const body = eventBody(paymentObject());
  return fetch(url, {
    method: 'POST',
    headers: { 'X-Webhook-Signature-512': sign(body) },
    body: new Uint8Array(body),
  });
}

describe.each(['SIGTERM', 'SIGINT'] as const)('%s', (signal) => {
  test('completes a request that is still being received, and exits with 0', async () => {
    const { program, url } = await start();
    const body = eventBody(paymentObject());
    const { socket, response } = openDelivery(url, body);
    socket.write(body.subarray(0, 100));
    // A response shows that the first connection was accepted, because they are read in order.
    expect((await fetch(url)).status).toBe(405);

    program.kill(signal);
    await waitUntilClosed(url);
    // As `npm start` does with what the terminal has sent to both.
    program.kill(signal);
    socket.write(body.subarray(100));
    expect(await response).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*"duplicate":false}$/);
    expect(await program.exit).toMatchObject({ code: 0, signal: null, stderr: '' });
    expect(await db.query('select event_id from webhook_events')).toHaveLength(1);
  });
});

describe('SIGTERM', () => {
  test('completes a request that waits for its commit, and exits with 0', async () => {
    const { program, url } = await start();
    const blocker = new pg.Client({ connectionString: db.url });
    await blocker.connect();
    cleanups.push(() => blocker.end());
    await blocker.query('begin');
    await blocker.query('lock table webhook_events in share mode');
    const body = eventBody(paymentObject());
    const { socket, response } = openDelivery(url, body);
    socket.write(body);
    await waitFor('the insert to wait for the lock', async () => {
      const waiting = await db.query(
        `select pid from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`,
      );
      return waiting.length === 1;
    });

    program.kill('SIGTERM');
    await waitUntilClosed(url);
    await blocker.query('commit');
    expect(await response).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*"duplicate":false}$/);
    expect(await program.exit).toMatchObject({ code: 0, signal: null });
    expect(await db.query('select event_id from webhook_events')).toHaveLength(1);
  });

  test(`exits with 0 under load, without an incomplete response or a lost event (seed ${SEED})`, async () => {
    // So many that some are still being sent when the signal arrives.
    const burst = createEventBurst(600, seededRandom(SEED));
    let { program, url } = await start();
    const sender = startSending(burst.deliveries, { url: () => url, concurrency: 32 });
    cleanups.push(() => sender.stop());

    for (const part of [1 / 3, 2 / 3]) {
      await sender.waitForAcknowledged(burst.deliveries.length * part);
      const refused = countUnreachable(sender);
      program.kill('SIGTERM');
      const exit = await program.exit;
      const lastLines = program.stdout().split('\n').slice(-8).join('\n');
      expect(exit, lastLines).toMatchObject({ code: 0, signal: null, stderr: '' });
      // The exit can be known here before the first delivery that meets no process.
      await waitFor('a refused delivery', () => countUnreachable(sender) > refused);
      expect(await findNotPersisted(db, sender)).toEqual([]);
      ({ program, url } = await start());
    }
    await sender.done;

    expect(sender.improper).toEqual([]);
    expect(await findNotPersisted(db, sender)).toEqual([]);
    await expectApplied(db, burst);
  });

  test('is not delayed by connections that are silent or stall', async () => {
    const { program, url } = await start();
    const silent = connect(Number(new URL(url).port), '127.0.0.1');
    const body = eventBody(paymentObject());
    const { socket: stalled } = openDelivery(url, body);
    stalled.write(body.subarray(0, 100));
    for (const socket of [silent, stalled]) {
      socket.on('error', () => undefined);
      cleanups.push(() => socket.destroy());
    }
    expect((await fetch(url)).status).toBe(405);

    program.kill('SIGTERM');
    expect(await program.exit).toMatchObject({ code: 0, signal: null });
    expect(await db.query('select event_id from webhook_events')).toEqual([]);
  });

  test.each(['before startup', 'after startup'])(
    'stops a process that lost its database %s',
    async (when) => {
      const proxy = await startTcpProxy(db.url, { refusing: when === 'before startup' });
      cleanups.push(() => proxy.close());
      const { program, url } = await start(proxy.url);
      if (when === 'after startup') {
        expect((await deliver(url)).status).toBe(200);
        proxy.refuse();
      }
      expect((await deliver(url)).status).toBe(503);
      program.kill('SIGTERM');
      expect(await program.exit).toMatchObject({ code: 0, signal: null, stderr: '' });
    },
  );

  test.skipIf(redisUrl === undefined).each(['before startup', 'after startup'])(
    redisUrl === undefined
      ? 'stops a process that lost its Redis %s: SKIPPED: no redis-server'
      : 'stops a process that lost its Redis %s',
    async (when) => {
      const proxy = await startTcpProxy(redisUrl ?? '', { refusing: when === 'before startup' });
      cleanups.push(() => proxy.close());
      const { program, url } = await start(db.url, { REDIS_URL: proxy.url });
      expect((await deliver(url)).status).toBe(200);
      if (when === 'after startup') {
        await waitFor('the event to be applied', async () => {
          return (await db.query('select * from pending')).length === 0;
        });
        proxy.refuse();
      }
      expect((await deliver(url)).status).toBe(200);
      program.kill('SIGTERM');
      expect(await program.exit).toMatchObject({ code: 0, signal: null, stderr: '' });
    },
  );

  test('sent again after two seconds ends the process immediately', async () => {
    const { program, url } = await start();
    const body = eventBody(paymentObject());
    const { socket, response } = openDelivery(url, body);
    expect((await fetch(url)).status).toBe(405);
    program.kill('SIGTERM');
    await waitUntilClosed(url);
    const again = setInterval(() => program.kill('SIGTERM'), 100);
    try {
      expect(await program.exit).toMatchObject({ code: 1, signal: null });
    } finally {
      clearInterval(again);
    }
    expect(await response).toBe('');
    socket.destroy();
  });
});

function countUnreachable(sender: Sender): number {
  return sender.responses.get('unreachable') ?? 0;
}

describe('a start that fails', () => {
  function tryToStart(env: Environment) {
    return runTallyhookProcess(['start'], { env });
  }

  test('because of pending migrations names them and the command to run', async () => {
    const name = unique('bare');
    await db.query(`create database ${name}`);
    cleanups.push(() => db.query(`drop database ${name} with (force)`));
    const url = new URL(db.url);
    url.pathname = `/${name}`;
    const { code, stderr } = await tryToStart(settingsFor(url.href));
    expect(code).toBe(4);
    expect(stderr).toMatch(/\d+ migrations pending: 00001_inbox\.sql, 00002_ledger\.sql/);
    expect(stderr).toContain('npx tallyhook migrate');
    expect(stderr).not.toMatch(/^\s+at /m);

    // The named command fixes it.
    const migrated = await runTallyhookProcess(['migrate'], { env: settingsFor(url.href) });
    expect(migrated).toMatchObject({ code: 0, stderr: '' });
    const program = spawnProgram('bin/tallyhook.js', ['start'], { env: settingsFor(url.href) });
    cleanups.push(() => program.kill('SIGKILL'));
    await urlOnceStarted(program);
    program.kill('SIGTERM');
    expect(await program.exit).toMatchObject({ code: 0 });
  });

  test('because the ledger belongs to another merchant names both, and changes nothing', async () => {
    const first = await start();
    first.program.kill('SIGTERM');
    await first.program.exit;
    const before = await db.query('select * from installation');
    const { code, stderr } = await tryToStart(
      settingsFor(db.url, { PAYMENTS_MERCHANT_ID: 'merchant_other' }),
    );
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /ledger of merchant merchant_test, but PAYMENTS_MERCHANT_ID is merchant_other/,
    );
    expect(stderr).not.toMatch(/^\s+at /m);
    expect(await db.query('select * from installation')).toEqual(before);
  });

  test.each(['PORT', 'ADMIN_PORT'])('because a port is in use names %s', async (setting) => {
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    cleanups.push(() => holder.close());
    const { port } = holder.address() as AddressInfo;
    const { code, stderr } = await tryToStart(settingsFor(db.url, { [setting]: String(port) }));
    expect(code).toBe(4);
    expect(stderr).toContain(`Port ${port} is in use`);
    expect(stderr).toContain(`set ${setting} to another port`);
    expect(stderr).toContain('Commands need the same setting, for example in the file .env');
    expect(stderr).not.toMatch(/^\s+at /m);
  });

  test.each(['PORT', 'ADMIN_PORT', 'SANDBOX_PORT'])(
    'because %s is in use leaves no new installation behind',
    async (setting) => {
      const folder = mkdtempSync(path.join(tmpdir(), 'tallyhook-port-'));
      cleanups.push(() => rmSync(folder, { recursive: true }));
      const holder = createServer().listen(0, '127.0.0.1');
      await once(holder, 'listening');
      cleanups.push(() => holder.close());
      const { port } = holder.address() as AddressInfo;
      const { code, stderr } = await tryToStart({
        PATH: process.env.PATH,
        DATA_DIR: path.join(folder, 'data'),
        HOST: '127.0.0.1',
        PORT: '0',
        ADMIN_PORT: '0',
        SANDBOX_PORT: '0',
        METRICS_PORT: '0',
        [setting]: String(port),
      });
      expect(code).toBe(4);
      expect(stderr).toContain(`set ${setting} to another port`);
      expect(stderr).toContain('Nothing was created.');
      expect(readdirSync(folder)).toEqual([]);
    },
  );

  test('because the same installation runs already names that first', async () => {
    const { program, url } = await start();
    const reported = () => db.query<{ pid: number }>('select pid from processes');
    await waitFor('the report of the first process', async () => (await reported()).length === 1);
    const { code, stderr } = await tryToStart(settingsFor(db.url, { PORT: new URL(url).port }));
    expect(code).toBe(4);
    expect(stderr).toContain(`tallyhook: Tallyhook already runs here: process ${program.pid} `);
  });

  test('because of invalid settings names every one of them, but not its value', async () => {
    const wrong = settingsFor(db.url, {
      WEBHOOK_SECRETS: 'too-short',
      PORT: 'eighty',
      LOG_LEVEL: 'loud',
    });
    const { code, stderr } = await tryToStart(wrong);
    expect(code).toBe(2);
    for (const name of ['WEBHOOK_SECRETS', 'PORT', 'LOG_LEVEL']) expect(stderr).toContain(name);
    expect(stderr).not.toContain('too-short');

    const missing = await tryToStart(settingsFor(db.url, { WEBHOOK_SECRETS: undefined }));
    expect(missing.code).toBe(2);
    expect(missing.stderr).toContain('WEBHOOK_SECRETS is not set');

    const required = ['PAYMENTS_MERCHANT_ID', 'WEBHOOK_SECRETS', 'ADMIN_TOKEN'];
    const without = Object.fromEntries(required.map((name) => [name, undefined]));
    const bare = await tryToStart(settingsFor(db.url, without));
    expect(bare.code).toBe(2);
    const lines = bare.stderr.split('\n').filter((line) => line.startsWith('  '));
    expect(lines.map((line) => line.trim().split(' is not set.')[0])).toEqual(required);
  });
});

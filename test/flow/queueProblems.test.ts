/**
 * A queue that responds and refuses its commands: each process reports it with the reason in `/readyz`,
 * the metrics and the log; the log stays short; and everything continues when the queue is usable again.
 */
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, inject, test, vi } from 'vitest';
import { createSystemWatch } from '../../src/monitor/watchSystem.ts';
import { createLog } from '../../src/platform/log.ts';
import { createQueueBackend, createRedisConnections } from '../../src/platform/queue/index.ts';
import { createTestDatabase, silentLog, type TestDatabase } from '../support/database.ts';
import { eventBody, paymentObject, sign } from '../support/events.ts';
import { parseMetrics } from '../support/metrics.ts';
import {
  healthUrlOf,
  type Program,
  runTallyhookProcess,
  settingsFor,
  spawnProgram,
  webhookUrlOf,
} from '../support/program.ts';
import { type RedisServer, startRedisServer } from '../support/redisServer.ts';
import { waitFor } from '../support/waitFor.ts';

const ROLES = 'receiver,events,reconcile,alerts,scheduler,console';
const WORKS = 'a job was added, claimed and finished';
/** At most these lines of level warn or error, however many commands are refused. */
const MAX_LINES = 8;
/** Deliveries while the queue refuses commands; each fails to be enqueued. */
const DELIVERIES = 40;

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

let db: TestDatabase;
beforeEach(async () => {
  db = await createTestDatabase();
  cleanups.push(() => db.drop());
});

function run(env: Readonly<Record<string, string | undefined>>, roles = ROLES): Program {
  const program = spawnProgram('bin/tallyhook.js', ['start', '--roles', roles], {
    env: settingsFor(db.url, env),
  });
  cleanups.push(async () => {
    program.kill('SIGKILL');
    await program.exit;
  });
  return program;
}

interface Readyz {
  readonly status: number;
  readonly ready: boolean;
  readonly degraded: boolean;
  readonly checks: { readonly queue: string };
}

async function readyz(program: Program): Promise<Readyz> {
  const response = await fetch(new URL('/readyz', await healthUrlOf(program)));
  return { status: response.status, ...((await response.json()) as Omit<Readyz, 'status'>) };
}

async function usableGauge(program: Program): Promise<number | undefined> {
  const response = await fetch(new URL('/metrics', await healthUrlOf(program)));
  return parseMetrics(await response.text()).value('tallyhook_queue_usable');
}

async function deliver(program: Program): Promise<number> {
  const body = eventBody(paymentObject());
  const headers = { 'X-Webhook-Signature-512': sign(body) };
  const url = await webhookUrlOf(program);
  const response = await fetch(url, { method: 'POST', headers, body: new Uint8Array(body) });
  return response.status;
}

/** Without the line that ends each minute of an outage: a slow machine has more of these minutes. */
function warnings(program: Program): readonly string[] {
  return program
    .stdout()
    .split('\n')
    .filter((line) => /"level":"(warn|error)"/.test(line) && !line.includes('"notLogged":'));
}

async function countPending(): Promise<number> {
  const [row] = await db.query<{ count: number }>('select count(*) from pending');
  return row?.count ?? Number.NaN;
}

function reports(): Promise<readonly { readonly reason: string }[]> {
  return db.query<{ reason: string }>('select reason from queue_reports');
}

/** Waits until the reason is reported everywhere; delivers meanwhile, and bounds the log. */
async function expectReported(program: Program, reason: RegExp): Promise<void> {
  await waitFor('the reason in /readyz', async () =>
    reason.test((await readyz(program)).checks.queue),
  );
  // The receiver persists, so it stays ready.
  expect(await readyz(program)).toMatchObject({ status: 200, ready: true, degraded: true });
  await waitFor('the gauge', async () => (await usableGauge(program)) === 0);
  for (let n = 0; n < DELIVERIES; n += 1) expect(await deliver(program)).toBe(200);
  expect(await countPending()).toBe(DELIVERIES);
  const unusable = warnings(program).filter((line) => line.includes('"msg":"queue.unusable"'));
  expect(unusable).toHaveLength(1);
  expect((JSON.parse(unusable[0] ?? '') as { readonly reason: string }).reason).toMatch(reason);
  expect(warnings(program).length).toBeLessThanOrEqual(MAX_LINES);
}

async function expectRecovered(program: Program): Promise<void> {
  await waitFor('the queue to work', async () => (await readyz(program)).checks.queue === WORKS);
  await waitFor('the gauge', async () => (await usableGauge(program)) === 1);
  expect(program.stdout()).toContain('"msg":"queue.usable"');
  // The sweep enqueues the others within a minute.
  expect(await deliver(program)).toBe(200);
  await waitFor('the new event to be applied', async () => (await countPending()) <= DELIVERIES);
  await waitFor('its report to be deleted', async () => (await reports()).length === 0);
}

describe.skipIf(inject('redisUrl') === undefined)('Redis', () => {
  async function start(lines?: readonly string[], as?: readonly string[]): Promise<RedisServer> {
    const server = await startRedisServer(lines, as);
    cleanups.push(() => server.stop());
    return server;
  }

  test('with a user that lacks rights and gets them later', async () => {
    const redis = await start();
    const rights = ['~bull:*', '&*', '+ping', '+info', '+client', '+hello'];
    await redis.command('acl', 'setuser', 'app', 'on', '>secret', ...rights);
    const program = run({ REDIS_URL: `redis://app:secret@127.0.0.1:${redis.port}` });
    await expectReported(program, /^the Redis user lacks rights \(NOPERM .*'eval(sha)?'/);
    await redis.command('acl', 'setuser', 'app', '+@all');
    await expectRecovered(program);
  });

  test('that refuses every claim: a worker waits ever longer before it repeats one', async () => {
    const redis = await start();
    const rights = ['~bull:*', '&*', '+ping', '+info', '+client', '+hello'];
    await redis.command('acl', 'setuser', 'app', 'on', '>secret', ...rights);
    const log = createLog('silent');
    const warned = vi.spyOn(log, 'warn');
    const url = `redis://app:secret@127.0.0.1:${redis.port}`;
    const backend = createQueueBackend(createRedisConnections({ url }, log), log);
    const consumer = backend.consumer('queue', 1, () => Promise.resolve());
    cleanups.push(async () => {
      await consumer.close();
      await backend.close();
    });
    const errors = () =>
      warned.mock.calls.filter(([, event]) => String(event) === 'queue.consumer_error').length;
    await waitFor('the first error', () => errors() > 0);
    const startMs = performance.now();
    await waitFor('three more', () => errors() >= 4);
    expect(performance.now() - startMs).toBeGreaterThan(700);
  });

  test('with a wrong password', async () => {
    const redis = await start();
    await redis.command('acl', 'setuser', 'app', 'on', '>secret', '~*', '&*', '+@all');
    const program = run({ REDIS_URL: `redis://app:wrong@127.0.0.1:${redis.port}` });
    await expectReported(program, /^Redis rejects the user name or the password .*WRONGPASS/);
  });

  test('that is a Sentinel', async () => {
    const redis = await start();
    const sentinel = await start(
      [`sentinel monitor main 127.0.0.1 ${redis.port} 1`],
      ['--sentinel'],
    );
    const program = run({ REDIS_URL: sentinel.url });
    await expectReported(program, /^REDIS_URL names a Sentinel/);
    expect((await readyz(program)).checks.queue).toContain('Set REDIS_URL to redis+sentinel://');

    const doctor = await runTallyhookProcess(['doctor'], {
      env: settingsFor(db.url, { REDIS_URL: sentinel.url }),
    });
    expect(doctor.code).toBe(6);
    expect(doctor.stdout).toMatch(/^FAIL {2}queue +REDIS_URL names a Sentinel/m);

    // The alert is delivered without the queue.
    await waitFor('its report', async () => (await reports()).length === 1);
    expect((await reports())[0]?.reason).toBe('REDIS_URL names a Sentinel, which stores no jobs');
    await db.query(`update queue_reports set since = since - interval '10 seconds'`);
    await createSystemWatch({ db, log: silentLog, isReconciling: false })();
    const alert = await db.query(
      `select severity, state from alerts where rule = 'queue_unusable'`,
    );
    expect(alert).toEqual([{ severity: 'warning', state: 'open' }]);
    await waitFor('the message', () =>
      program
        .stdout()
        .includes('REDIS_URL names a Sentinel, which stores no jobs. Webhooks are persisted'),
    );
  });

  test('that is a node of a cluster', async () => {
    const redis = await start(['cluster-enabled yes', 'cluster-config-file nodes.conf']);
    await expectReported(
      run({ REDIS_URL: redis.url }),
      /^REDIS_URL names a node of a Redis Cluster/,
    );
  });

  test('that is a replica', async () => {
    const primary = await start();
    const replica = await start([`replicaof 127.0.0.1 ${primary.port}`]);
    await expectReported(run({ REDIS_URL: replica.url }), /^REDIS_URL names a replica/);
  });

  test('that evicts keys, until it does not: jobs are processed, and its workers are unready', async () => {
    const redis = await start(['maxmemory 100mb', 'maxmemory-policy allkeys-lru']);
    const worker = run({ REDIS_URL: redis.url }, 'events');
    const reason = 'the eviction policy of Redis is allkeys-lru, so Redis may delete jobs';
    await waitFor('the reason', async () => (await readyz(worker)).checks.queue.startsWith(reason));
    expect(await readyz(worker)).toMatchObject({ status: 503, ready: false, degraded: true });
    await redis.command('config', 'set', 'maxmemory-policy', 'noeviction');
    await waitFor('the queue to be usable', async () => (await readyz(worker)).status === 200);
  });

  test('without memory', async () => {
    const redis = await start(['maxmemory 1mb', 'maxmemory-policy noeviction']);
    await expectReported(run({ REDIS_URL: redis.url }), /^Redis has no memory left/);
  });

  test('that works is left without a trace of the checks', async () => {
    const redis = await start();
    const program = run({ REDIS_URL: redis.url }, 'events');
    await waitFor('a check', async () => (await readyz(program)).checks.queue === WORKS);
    expect(await redis.command('keys', 'bull:probe:*-*')).toEqual([]);
    expect(await redis.command('llen', 'bull:probe:wait')).toBe(0);
    expect(await redis.command('llen', 'bull:probe:active')).toBe(0);
  });
});

describe('PostgreSQL', () => {
  test('with a role that lacks rights on the schema of the queue and gets them later', async () => {
    const role = `queueless_${randomBytes(4).toString('hex')}`;
    await db.query(`create role ${role} login password 'secret'`);
    cleanups.push(async () => {
      await db.query(`drop owned by ${role}`);
      await db.query(`drop role ${role}`);
    });
    await db.query(`grant usage on schema public to ${role}`);
    await db.query(`grant all on all tables in schema public to ${role}`);
    await db.query(`grant all on all sequences in schema public to ${role}`);
    // Nothing but the queue is missing: other refusals are logged, too, more of them on a slow machine.
    await db.query(`grant execute on all functions in schema public to ${role}`);
    const url = new URL(db.url);
    url.username = role;
    url.password = 'secret';
    const program = run({ DATABASE_URL: url.href });
    await expectReported(
      program,
      /^the database role lacks rights on the queue \(permission denied for schema bullmq\)/,
    );
    await db.query(`grant usage on schema bullmq to ${role}`);
    await db.query(`grant all on all tables in schema bullmq to ${role}`);
    await db.query(`grant all on all sequences in schema bullmq to ${role}`);
    await expectRecovered(program);
  });

  test('with connections that lose their settings', async () => {
    const url = new URL(db.url);
    url.searchParams.set('options', '-c search_path=public');
    const program = run({ DATABASE_URL: url.href });
    await expectReported(program, /^connections to the database lose the setting search_path/);
  });
});

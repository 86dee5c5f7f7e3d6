/**
 * The whole flow with the least rights: each process in its own process and with its own login, which
 * is a member of one database role. The payment service is the sandbox over HTTP. It runs once with the
 * queues in PostgreSQL, and once with Redis and a user that may use only what the queues need.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ENDPOINTS } from '../../src/console/endpoints.ts';
import { packageRoot } from '../../src/platform/packageRoot.ts';
import {
  createPostgresQueueConnections,
  createQueueBackend,
  createRedisConnections,
} from '../../src/platform/queue/index.ts';
import { HOUR_MS } from '../../src/platform/time.ts';
import { enqueueReconcile, RECONCILE_QUEUE, type ReconcileJob } from '../../src/reconcile/jobs.ts';
import { createApi } from '../support/api.ts';
import { runTallyhook } from '../support/cli.ts';
import {
  administer,
  createTestDatabase,
  silentLog,
  type TestDatabase,
} from '../support/database.ts';
import { unique } from '../support/events.ts';
import {
  type Environment,
  type Exit,
  type Program,
  settingsFor,
  spawnProgram,
  webhookUrlOf,
} from '../support/program.ts';
import { type HttpReceiver, SIGNING_SECRET, startHttpReceiver } from '../support/receivers.ts';
import { redisDatabaseOf } from '../support/redisDatabases.ts';
import { SANDBOX_SECRET, startTestSandbox, type TestSandbox } from '../support/sandbox.ts';
import { cardPayment } from '../support/sandboxRequests.ts';
import { waitFor } from '../support/waitFor.ts';

const redisUrl = redisDatabaseOf('leastRights');

const PROCESSES = {
  receiver: 'tallyhook_receiver',
  events: 'tallyhook_app',
  reconcile: 'tallyhook_app',
  alerts: 'tallyhook_app',
  scheduler: 'tallyhook_app',
  console: 'tallyhook_console',
} as const;
type Process = keyof typeof PROCESSES;
const NAMES = Object.keys(PROCESSES) as readonly Process[];

let db: TestDatabase;
let sandbox: TestSandbox;
let alertsHook: HttpReceiver;
let shopHook: HttpReceiver;
let running: Map<Process, Program>;
const cleanups: (() => Promise<unknown>)[] = [];

beforeEach(async () => {
  db = await createTestDatabase();
  sandbox = await startTestSandbox({ startAtMs: Date.now() - 2 * HOUR_MS });
  [alertsHook, shopHook] = await Promise.all([startHttpReceiver(), startHttpReceiver()]);
  running = new Map();
});
afterEach(async () => {
  for (const program of running.values()) program.kill('SIGKILL');
  for (const { exit } of running.values()) await exit;
  await Promise.all([alertsHook.close(), shopHook.close(), sandbox.close()]);
  await db.drop();
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

/** A login role of its own, with the rights of one database role and no other. */
async function createLogin(name: string, role: string): Promise<string> {
  const login = unique(`login_${name}`);
  await db.query(`create role ${login} login password 'secret' in role ${role}`);
  // After the database is dropped.
  cleanups.push(() => administer(`drop role ${login}`));
  const url = new URL(db.url);
  [url.username, url.password] = [login, 'secret'];
  return url.href;
}

const GUIDE = 'docs/guides/database-roles.md';

/** A user of Redis with the rules that the guide names. */
async function createRedisUser(url: string): Promise<string> {
  const admin = new Redis(url);
  const user = unique('tallyhook');
  const guide = readFileSync(join(packageRoot(), GUIDE), 'utf8');
  const [, rules = ''] = /ACL SETUSER tallyhook on >PASSWORD (.+)$/m.exec(guide) ?? [];
  expect(rules, GUIDE).not.toBe('');
  await admin.call('ACL', 'SETUSER', user, 'on', '>secret', ...rules.split(' '));
  cleanups.push(async () => {
    await admin.call('ACL', 'DELUSER', user);
    admin.disconnect();
  });
  const restricted = new URL(url);
  [restricted.username, restricted.password] = [user, 'secret'];
  return restricted.href;
}

/** Starts every process. @returns the settings of the command line */
async function startAll(redis: string | undefined): Promise<Environment> {
  const settings = (databaseUrl: string) =>
    settingsFor(databaseUrl, {
      REDIS_URL: redis,
      PAYMENTS_MERCHANT_ID: sandbox.merchantId,
      PAYMENTS_BASE_URL: sandbox.baseUrl,
      PAYMENTS_API_KEY: sandbox.apiKey,
      WEBHOOK_SECRETS: SANDBOX_SECRET,
      ALERT_WEBHOOK_URL: alertsHook.url,
      ALERT_WEBHOOK_SECRET: SIGNING_SECRET,
      ORDER_WEBHOOK_URL: shopHook.url,
      ORDER_WEBHOOK_SECRET: SIGNING_SECRET,
    });
  for (const name of NAMES) {
    const env = settings(await createLogin(name, PROCESSES[name]));
    running.set(name, spawnProgram(`dist/program/${name}.js`, [], { env }));
  }
  await sandbox.control('PUT', '/webhook', { url: await webhookUrlOf(program('receiver')) });
  return settings(await createLogin('cli', 'tallyhook_app'));
}

function program(name: Process): Program {
  const found = running.get(name);
  if (!found) throw new Error(`${name} was not started`);
  return found;
}

async function consolePort(): Promise<number> {
  let port: number | undefined;
  await waitFor('the console to listen', () => {
    const line = program('console')
      .stdout()
      .split('\n')
      .slice(0, -1)
      .find((text) => text.includes('"msg":"console.listening"'));
    port = line === undefined ? undefined : (JSON.parse(line) as { port: number }).port;
    return port !== undefined;
  });
  return port ?? 0;
}

async function pay(orderId: string): Promise<string> {
  const request = cardPayment({ metadata: { order_id: orderId } });
  const { body } = await sandbox.call('POST', '/payments', request);
  return body.payment_id;
}

/** A payment of two hours ago, with all of its webhooks lost. */
async function payUnreported(): Promise<string> {
  await sandbox.control('PUT', '/faults', { webhooks: { drop: 1 } });
  const paymentId = await pay(unique('ord'));
  await sandbox.advance(2 * HOUR_MS);
  await sandbox.control('PUT', '/faults', {});
  return paymentId;
}

/** Enqueues a run as the scheduler does, with the rights of the command line. */
async function enqueueRun(env: Environment): Promise<void> {
  const { REDIS_URL: redis } = env;
  const databaseUrl = env.QUEUE_DATABASE_URL ?? env.DATABASE_URL ?? '';
  const connections =
    redis === undefined
      ? createPostgresQueueConnections(databaseUrl, silentLog)
      : createRedisConnections({ url: redis }, silentLog);
  const queues = createQueueBackend(connections, silentLog);
  const producer = queues.producer<ReconcileJob>(RECONCILE_QUEUE);
  try {
    await enqueueReconcile(producer, 'tail', Date.now());
  } finally {
    await producer.close();
    await queues.close();
  }
}

async function applied(): Promise<void> {
  await sandbox.control('POST', '/settle');
  await waitFor('all events to be applied', async () => {
    const [row] = await db.query<{ stored: number; left: number }>(
      `select (select count(*) from webhook_events) as stored, (select count(*) from pending) as left`,
    );
    return (row?.stored ?? 0) > 0 && row?.left === 0;
  });
}

async function run(env: Environment, command: string): Promise<Exit> {
  const result = await runTallyhook(command.split(' '), { env });
  expect({ command, ...result }).toMatchObject({ command, code: 0 });
  return result;
}

/** Every page of the admin API that takes no id, and those of the order and payment. */
async function readEverything(port: number, ids: Readonly<Record<string, string>>): Promise<void> {
  const api = createApi({ consolePort: port });
  const paths = ENDPOINTS.filter(({ method }) => method === 'get').map(({ path }) =>
    path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? `no-${name}`),
  );
  expect(paths.length).toBeGreaterThan(8);
  // Nobody replays many events in this flow, so there is no replay to read.
  for (const path of paths.filter((each) => !/no-|\/replays\//.test(each))) {
    const { status, body } = await api.get(path.endsWith('/search') ? `${path}?q=1001` : path);
    expect({ path, status, body }).toMatchObject({ path, status: 200 });
  }
}

async function flow(redis: string | undefined): Promise<void> {
  const lostPaymentId = await payUnreported();
  const env = await startAll(redis);
  const port = await consolePort();

  // Order webhooks report what changes after the first start of the role `alerts`.
  await waitFor('order webhooks to begin', async () => {
    return (await db.query('select change_number from order_webhook_position')).length > 0;
  });
  // Carried out by the scheduler, which the end of this flow waits for.
  await db.query(
    `insert into erasures (subjects, reason, requested_by) values ('{order:ord_nobody}', 'a test', 'ada')`,
  );
  // Webhooks become a ledger, an alert and an order webhook.
  const orderId = unique('ord');
  const paymentId = await pay(orderId);
  await applied();
  await sandbox.control('POST', '/disputes', { payment_id: paymentId });
  await applied();
  await waitFor("the dispute's alert to be delivered", () =>
    alertsHook.accepted().some(({ body }) => body.includes(paymentId)),
  );
  // On a busy machine an alert about the system, which closes by itself, can come first.
  const [alert] = await db.query<{ id: string }>(
    `select id from alerts where subject like 'dispute:%' order by id limit 1`,
  );
  await waitFor('an order webhook', () => shopHook.accepted().length > 0);

  // The role `reconcile` finds and repairs what no webhook reported.
  await enqueueRun(env);
  await waitFor('the run to repair it', async () => {
    const rows = await db.query(`select id from resources where id = $1 and status = 'succeeded'`, [
      lostPaymentId,
    ]);
    return rows.length > 0;
  });
  const from = new Date(Date.now() - 3 * HOUR_MS).toISOString();
  await run(env, `reconcile --json --from ${from}`);

  for (const command of [
    'orders list',
    `orders show ${orderId}`,
    `orders explain ${orderId}`,
    'events list',
    `replays start --order ${orderId} --reason test --yes`,
    `find ${paymentId}`,
    'alerts list',
    `alerts ack ${alert?.id} --reason seen`,
    'authorizations list',
    `refresh ${paymentId}`,
    'findings list',
    'pause --reason test',
    'resume',
    'export journal --format csv',
    'export entries --format hledger',
    'export entries --format csv --recorded --daily',
    'verify',
    'verify --full',
    'verify --rebuild',
    'audit list',
    'tokens create --name reader --role viewer',
    'tokens revoke reader',
    'tokens list',
    'doctor',
  ]) {
    await run(env, command);
  }
  await waitFor('the erasure to be done', async () => {
    const [request] = await db.query<{ state: string }>('select state from erasures');
    return request?.state === 'done';
  });
  await waitFor('the replay to be done', async () => {
    const [replay] = await db.query<{ state: string }>('select state from replay_runs');
    return replay?.state === 'done';
  });
  await readEverything(port, { order_id: orderId, payment_id: paymentId, number: '1' });

  // The console reads; what it may not do, it refuses with the name of the role.
  const api = createApi({ consolePort: port });
  const register = () => api.put(`/api/v1/orders/${orderId}`, { amount: 6540, currency: 'USD' });
  const refused = await register();
  expect(refused.status).toBe(500);
  expect(await db.query(`select id from audit where action = 'order.register'`)).toEqual([]);
  // The message has the statement that helps.
  const [, statement = ''] =
    /run: (grant tallyhook_app to \w+)/.exec(refused.body.error.message) ?? [];
  await db.query(statement);
  expect((await register()).status).toBe(201);

  for (const each of running.values()) each.kill('SIGTERM');
  for (const [name, { exit }] of running) {
    const { code, stdout, stderr } = await exit;
    expect({ name, code, stderr }).toEqual({ name, code: 0, stderr: '' });
    const refusals = `${stdout}`
      .split('\n')
      .filter((line) => /permission denied|NOPERM|rights_missing/.test(line))
      .filter((line) => name !== 'console' || !line.includes('console.request_failed'));
    expect({ name, refusals }).toEqual({ name, refusals: [] });
  }
}

const FORBIDDEN = {
  receiver: [
    'select * from orders',
    'select * from tokens',
    'select reason from audit',
    'delete from pending',
    'update webhook_events set body = body',
    'delete from webhook_bodies',
    'create table mine (x int)',
    'create table bullmq.mine (x int)',
  ],
  events: [
    'insert into webhook_events (body) values (null)',
    'delete from transfers',
    'update audit set reason = null',
    'create table mine (x int)',
  ],
  console: [
    'insert into changes (number) values (1)',
    'update alerts set state = state',
    'update tokens set role = role',
    'drop table pending',
  ],
} as const satisfies Partial<Record<Process, readonly string[]>>;

describe('each process with a login of its own and the least rights', () => {
  test('runs the whole flow with the queues in PostgreSQL', () => flow(undefined));

  test.skipIf(redisUrl === undefined)('runs the whole flow with the queues in Redis', async () =>
    flow(await createRedisUser(redisUrl ?? '')),
  );

  test('logs at its start which rights the login of another process lacks', async () => {
    const env = settingsFor(await createLogin('wrong', PROCESSES.console), {
      PAYMENTS_MERCHANT_ID: sandbox.merchantId,
    });
    running.set('events', spawnProgram('dist/program/events.js', [], { env }));
    let line: string | undefined;
    await waitFor('the rights to be reported', () => {
      const lines = program('events').stdout().split('\n').slice(0, -1);
      line = lines.find((text) => text.includes('"msg":"database.rights_missing"'));
      return line !== undefined;
    });
    const { role, user, missing, remedy } = JSON.parse(line ?? '');
    expect(role).toBe('tallyhook_app');
    expect(remedy).toBe(`grant tallyhook_app to ${user}`);
    expect(missing).toContain(`grant insert on public.transfers to ${user}`);
  });

  test('keeps each login from what its process does not need', async () => {
    for (const [name, statements] of Object.entries(FORBIDDEN)) {
      const login = new pg.Client({
        connectionString: await createLogin(name, PROCESSES[name as Process]),
      });
      await login.connect();
      for (const statement of statements) {
        await expect(login.query(statement), `${name}: ${statement}`).rejects.toThrow(
          /permission denied|must be owner/,
        );
      }
      await login.end();
    }
  });

  test.skipIf(redisUrl === undefined)(
    'keeps the user of Redis from other keys and commands',
    async () => {
      const restricted = new Redis(await createRedisUser(redisUrl ?? ''));
      try {
        await expect(restricted.set('other', '1')).rejects.toThrow(/NOPERM/);
        for (const [command, ...values] of [['flushall'], ['config', 'get', '*'], ['keys', '*']]) {
          await expect(restricted.call(command ?? '', ...values)).rejects.toThrow(/NOPERM/);
        }
      } finally {
        restricted.disconnect();
      }
    },
  );
});

/**
 * Redis as a Cluster and behind Sentinels: the whole flow, also while primaries are killed and all jobs are
 * deleted. Nothing is lost, and what waits is applied within two minutes.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, describe, expect, inject, test } from 'vitest';
import type { Role } from '../../src/assembly/roles.ts';
import { startStopwatch } from '../../src/platform/clock.ts';
import { createQueueBackend, createRedisConnections } from '../../src/platform/queue/index.ts';
import { createTestDatabase, silentLog, type TestDatabase } from '../support/database.ts';
import {
  type BurstEvent,
  createEventBurst,
  expectApplied,
  findLost,
  findNotPersisted,
  startSending,
} from '../support/eventBurst.ts';
import { seededRandom, testSeed } from '../support/random.ts';
import { recordFigures } from '../support/recordFigures.ts';
import {
  holderOf,
  type RedisFleet,
  startRedisCluster,
  startRedisSentinels,
} from '../support/redisFleets.ts';
import { type RedisServer, startRedisServer } from '../support/redisServer.ts';
import { serverPort } from '../support/serverPort.ts';
import { sweepOverdue } from '../support/sweepOverdue.ts';
import { startTallyhook, type TestTallyhook } from '../support/tallyhook.ts';
import { waitFor } from '../support/waitFor.ts';

const SEED = testSeed();
/** scripts/kill-redis.sh kills more, and leaves the sweep to the scheduler. */
const GIVEN_KILLS = process.env.REDIS_KILLS;
const KILLS = Number(GIVEN_KILLS ?? 3);
const WORKER: readonly Role[] = GIVEN_KILLS === undefined ? ['events'] : ['events', 'scheduler'];
const ORDERS_EACH = 15;
const CONCURRENCY = 4;
const PREFIX = 'shop';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

const FLEETS: readonly (readonly [string, () => Promise<RedisFleet>, string])[] = [
  ['a Cluster of six nodes', startRedisCluster, `{${PREFIX}:events}:meta`],
  ['three Sentinels', startRedisSentinels, `${PREFIX}:events:meta`],
];

describe.skipIf(inject('redisUrl') === undefined)('Redis', () => {
  test.each(FLEETS)(
    `as %s: ${KILLS} killed primaries and deleted jobs cost no event (seed ${SEED})`,
    async (name, startFleet, eventsKey) => {
      const fleet = await startFleet();
      cleanups.push(() => fleet.stop());
      const db = await createTestDatabase();
      cleanups.push(() => db.drop());
      const receiver = await run(db, fleet.url, ['receiver']);
      const worker = await run(db, fleet.url, WORKER);
      await expectUsable(worker);

      const burst = createEventBurst(ORDERS_EACH * (KILLS + 2), seededRandom(SEED));
      const slices = inSlices(burst.deliveries, KILLS + 2);
      const appliedAfterSeconds: number[] = [];
      const [whileRunning = [], whileStopped = [], ...beforeKills] = slices;
      for (const [index, slice] of beforeKills.entries()) {
        await fleet.untilHealthy();
        const sending = send(db, receiver, slice);
        const secondsSinceKill = startStopwatch();
        await killHolderOf(fleet, eventsKey);
        await sending;
        await untilApplied(db, fleet);
        const seconds = secondsSinceKill();
        appliedAfterSeconds.push(seconds);
        printKill(index + 1, seconds);
      }

      const sending = send(db, receiver, whileRunning);
      await flush(fleet);
      await sending;
      await untilApplied(db, fleet);

      await worker.close();
      await send(db, receiver, whileStopped);
      await flush(fleet);
      await run(db, fleet.url, ['events', 'scheduler']);
      const acknowledged = new Set(burst.eventIds);
      const lost = await findLost(db, { acknowledged });
      recordFigures({
        kind: 'kills',
        killed: `primary of Redis, as ${name}`,
        kills: KILLS,
        acknowledged: acknowledged.size,
        lost: lost.length,
        appliedAfterSeconds,
      });
      await expectApplied(db, burst);
    },
    (KILLS + 2) * 240_000,
  );

  test('as a Cluster: a wrong eviction policy of any node, and its use as one server, are named', async () => {
    const fleet = await startRedisCluster();
    cleanups.push(() => fleet.stop());
    const [, , last] = await fleet.primaries();
    const check = checkOf({ url: fleet.url, prefix: PREFIX });
    expect(await check()).toBeUndefined();
    await last?.command('config', 'set', 'maxmemory-policy', 'allkeys-lru');
    expect((await check())?.reason).toContain('the eviction policy of Redis is allkeys-lru');
    await last?.command('config', 'set', 'maxmemory-policy', 'noeviction');
    expect(await check()).toBeUndefined();

    const otherPrefix = await checkOf({ url: fleet.url, prefix: 'other' })();
    expect(otherPrefix?.reason).toContain('the Redis user lacks rights');
    expect(otherPrefix?.remedy).toContain('on the keys {other:*');
    const asOne = await checkOf({ url: `redis://127.0.0.1:${last?.port}` })();
    expect(asOne?.reason).toContain('REDIS_URL names a node of a Redis Cluster');
  });

  test('behind a Sentinel: a wrong name, password or address is named', async () => {
    const redis = await start();
    const sentinel = await start(
      [`sentinel monitor orders 127.0.0.1 ${redis.port} 1`, 'requirepass hush'],
      ['--sentinel'],
    );
    const at = (path: string) =>
      checkOf({ url: `redis+sentinel://127.0.0.1:${sentinel.port}/${path}` })();
    expect(await at('orders?sentinel_password=hush')).toBeUndefined();
    expect((await at('other?sentinel_password=hush'))?.reason).toBe(
      'no Sentinel knows a primary by the name in REDIS_URL',
    );
    expect((await at('orders'))?.reason).toMatch(/^the Sentinels reject .*NOAUTH/);
    const unused = await serverPort();
    const unreachable = checkOf({ url: `redis+sentinel://127.0.0.1:${unused}/orders` });
    expect((await unreachable())?.reason).toMatch(/^no Sentinel in REDIS_URL is reachable/);
    const cluster = checkOf({ url: `redis+cluster://127.0.0.1:${redis.port}` });
    expect((await cluster())?.reason).toContain('the server has no cluster mode');
  });

  test.each<readonly [string, string, RegExp, (tls: Tls) => Promise<unknown>]>([
    ['to one server', 'rediss', /self-signed certificate/, ({ lines }) => start(lines)],
    ['behind a Sentinel', 'rediss+sentinel', /no Sentinel .* is reachable/, startSentinelWithTls],
    ['to a Cluster', 'rediss+cluster', /Redis is unreachable/, startClusterWithTls],
  ])(
    'with TLS %s: the certificate must be signed by the authority that the setting names',
    async (_, scheme, refusal, startWith) => {
      const tls = await createTls();
      await startWith(tls);
      const url = `${scheme}://127.0.0.1:${tls.port}${scheme.endsWith('sentinel') ? '/orders' : ''}`;
      expect(await checkOf({ url, ca: tls.certificate })()).toBeUndefined();
      const problem = await checkOf({ url })();
      expect(problem?.reason).toMatch(refusal);
      expect(problem?.remedy).toContain('REDIS_CA_FILE');
    },
  );
});

interface Tls {
  readonly certificate: string;
  readonly port: number;
  /** What makes a server accept TLS on the port, and use it for its own connections. */
  readonly lines: readonly string[];
}

async function createTls(): Promise<Tls> {
  const dir = mkdtempSync(join(tmpdir(), 'tallyhook-tls-'));
  cleanups.push(() => rmSync(dir, { recursive: true, force: true }));
  const [key, certificate] = [join(dir, 'key.pem'), join(dir, 'certificate.pem')];
  await promisify(execFile)('openssl', [
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-nodes',
    '-keyout',
    key,
    '-out',
    certificate,
    '-subj',
    '/CN=redis',
    '-addext',
    'subjectAltName=IP:127.0.0.1',
    '-days',
    '2',
  ]);
  const port = await serverPort();
  const lines = [
    `tls-port ${port}`,
    `tls-cert-file ${certificate}`,
    `tls-key-file ${key}`,
    `tls-ca-cert-file ${certificate}`,
    'tls-auth-clients no',
    'tls-replication yes',
  ];
  return { certificate: readFileSync(certificate, 'utf8'), port, lines };
}

async function startSentinelWithTls({ lines }: Tls): Promise<void> {
  const port = await serverPort();
  await start([`tls-port ${port}`, ...lines.slice(1)]);
  await start([...lines, `sentinel monitor orders 127.0.0.1 ${port} 1`], ['--sentinel']);
}

/** One node that owns every slot. */
async function startClusterWithTls({ lines }: Tls): Promise<void> {
  const busPort = await serverPort();
  const node = await start([
    ...lines,
    'cluster-enabled yes',
    'tls-cluster yes',
    `cluster-port ${busPort}`,
    'cluster-announce-ip 127.0.0.1',
  ]);
  await node.command('cluster', 'addslotsrange', '0', '16383');
  await waitFor('the Cluster to be whole', async () =>
    String(await node.command('cluster', 'info')).includes('cluster_state:ok'),
  );
}

async function start(lines?: readonly string[], as?: readonly string[]): Promise<RedisServer> {
  const server = await startRedisServer(lines, as);
  cleanups.push(() => server.stop());
  return server;
}

function checkOf(settings: Parameters<typeof createRedisConnections>[0]) {
  const backend = createQueueBackend(createRedisConnections(settings, silentLog), silentLog);
  cleanups.push(() => backend.close());
  return () => backend.check();
}

async function run(db: TestDatabase, url: string, roles: readonly Role[]): Promise<TestTallyhook> {
  const env = { REDIS_PREFIX: PREFIX };
  const running = await startTallyhook({ db, redisUrl: url, roles, env });
  cleanups.push(() => running.close());
  return running;
}

async function expectUsable({ healthUrl }: TestTallyhook): Promise<void> {
  await waitFor('the queue to be usable', async () => {
    const { checks } = (await (await fetch(`${healthUrl}/readyz`)).json()) as {
      readonly checks: { readonly queue: string };
    };
    return checks.queue === 'a job was added, claimed and finished';
  });
}

function inSlices<T>(items: readonly T[], count: number): readonly (readonly T[])[] {
  const size = Math.ceil(items.length / count);
  return Array.from({ length: count }, (_, index) => items.slice(index * size, (index + 1) * size));
}

/** Sends until each delivery is acknowledged; none may be refused or lost. */
async function send(
  db: TestDatabase,
  { webhookUrl }: TestTallyhook,
  deliveries: readonly BurstEvent[],
): Promise<void> {
  const sender = startSending(deliveries, { url: () => webhookUrl, concurrency: CONCURRENCY });
  await sender.done;
  expect([...sender.responses.keys()]).toEqual([200]);
  expect(await findNotPersisted(db, sender)).toEqual([]);
}

/** Waits for two minutes at most, the default of `waitFor`. */
async function untilApplied(db: TestDatabase, fleet: RedisFleet): Promise<void> {
  if (GIVEN_KILLS === undefined) {
    await fleet.untilHealthy();
    const settings = { url: fleet.url, prefix: PREFIX };
    await sweepOverdue(db, createRedisConnections(settings, silentLog));
  }
  await waitFor('every event to be applied', async () => {
    const [row] = await db.query<{ waiting: number }>('select count(*) as waiting from pending');
    return row?.waiting === 0;
  });
}

function printKill(kill: number, seconds: number): void {
  if (GIVEN_KILLS === undefined) return;
  process.stdout.write(`kill ${kill} of ${KILLS}: all applied after ${seconds.toFixed(1)} s\n`);
}

/** Kills the primary that holds a key, and starts it again when another has replaced it. */
async function killHolderOf(fleet: RedisFleet, key: string): Promise<void> {
  const { length } = await fleet.primaries();
  const holder = await holderOf(fleet, key);
  await holder.kill();
  await waitFor('another primary', async () => {
    const now = await fleet.primaries();
    return now.length === length && !now.includes(holder);
  });
  await holder.restart();
}

async function flush(fleet: RedisFleet): Promise<void> {
  await fleet.untilHealthy();
  for (const primary of await fleet.primaries()) await primary.command('flushall');
}

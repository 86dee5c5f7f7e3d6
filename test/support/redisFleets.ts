/** Several redis-server processes that work together: a Cluster of six nodes, or three with Sentinels. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type RedisServer, startRedisServer } from './redisServer.ts';
import { slowdown, waitFor } from './waitFor.ts';

export interface RedisFleet {
  readonly url: string;
  /** Those that hold data. */
  readonly servers: readonly RedisServer[];
  /** The servers that accept writes. */
  primaries(): Promise<readonly RedisServer[]>;
  /** Resolves when every primary runs and has a connected replica. */
  untilHealthy(): Promise<void>;
  stop(): Promise<void>;
}

const PASSWORD = 'hush-of-the-servers';
const SENTINEL_PASSWORD = 'hush-of-the-sentinels';
const NODES = 6;
/**
 * How long a server may be silent before another one replaces it. On a machine that does much else, one that waits
 * for a processor is not down: with a shorter time, its fleet would never be healthy.
 */
const downAfterMs = (): number => Math.ceil(700 * slowdown());

/** The rights that docs/guides/database-roles.md names, for a user of a Cluster. */
const RIGHTS = [
  'resetkeys',
  '~{shop:*',
  'resetchannels',
  '-@all',
  '+@hash',
  '+@list',
  '+@set',
  '+@sortedset',
  '+@stream',
  '+@string',
  '+del',
  '+exists',
  '+expire',
  '+pexpire',
  '+ttl',
  '+pttl',
  '+eval',
  '+evalsha',
  '+script|load',
  '+multi',
  '+exec',
  '+time',
  '+ping',
  '+hello',
  '+client|setname',
  '-@dangerous',
  '+info',
  '+cluster|slots',
  '+cluster|info',
];

/** Three primaries with a replica each, and a user that may use the keys of the prefix `shop`. */
export async function startRedisCluster(): Promise<RedisFleet> {
  const silenceMs = downAfterMs();
  const servers = await Promise.all(
    Array.from({ length: NODES }, () =>
      startRedisServer([
        'cluster-enabled yes',
        'cluster-config-file nodes.conf',
        `cluster-node-timeout ${silenceMs}`,
        'cluster-replica-validity-factor 0',
        'save ""',
        `user app on >${PASSWORD} ${RIGHTS.join(' ')}`,
      ]),
    ),
  );
  const addresses = servers.map(({ port }) => `127.0.0.1:${port}`);
  const nodes = servers.map(({ port, busPort }) => `127.0.0.1:${port}@${busPort}`);
  await promisify(execFile)(
    'redis-cli',
    ['--cluster', 'create', ...nodes, '--cluster-replicas', '1', '--cluster-yes'],
    { timeout: Math.ceil(60_000 * slowdown()) },
  );
  const primaries = () => primariesOf(servers);
  const untilHealthy = () =>
    waitFor('every slot to have a primary and a replica', async () => {
      const info = String(await servers[0]?.command('cluster', 'info').catch(() => ''));
      return info.includes('cluster_state:ok') && (await countReplicated(servers)) === NODES / 2;
    });
  await untilHealthy();
  return {
    // Two of six are enough to find the others.
    url: `redis+cluster://app:${PASSWORD}@${addresses.slice(0, 2).join(',')}`,
    servers,
    primaries,
    untilHealthy,
    stop: async () => {
      await Promise.all(servers.map((server) => server.stop()));
    },
  };
}

/** A primary with two replicas, and three Sentinels with a password of their own. */
export async function startRedisSentinels(): Promise<RedisFleet> {
  const lines = [`requirepass ${PASSWORD}`, `masterauth ${PASSWORD}`, 'save ""'];
  const primary = await startRedisServer(lines);
  const follow = [...lines, `replicaof 127.0.0.1 ${primary.port}`];
  const servers = [primary, await startRedisServer(follow), await startRedisServer(follow)];
  const sentinels = await Promise.all(
    Array.from({ length: 3 }, () =>
      startRedisServer(
        [
          `requirepass ${SENTINEL_PASSWORD}`,
          `sentinel sentinel-pass ${SENTINEL_PASSWORD}`,
          `sentinel monitor orders 127.0.0.1 ${primary.port} 2`,
          `sentinel auth-pass orders ${PASSWORD}`,
          `sentinel down-after-milliseconds orders ${downAfterMs()}`,
          'sentinel failover-timeout orders 2000',
        ],
        ['--sentinel'],
      ),
    ),
  );
  const untilHealthy = () =>
    waitFor(
      () => describeSentinels(servers, sentinels),
      async () => {
        const [one, ...others] = await primariesOf(servers);
        if (one === undefined || others.length > 0 || (await countReplicas(one)) < 2) return false;
        const known = await Promise.all(sentinels.map(viewOf));
        return known.every((view) => isSettled(view, one));
      },
    );
  await untilHealthy();
  const hosts = sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',');
  return {
    url: `redis+sentinel://:${PASSWORD}@${hosts}/orders?sentinel_password=${SENTINEL_PASSWORD}`,
    servers,
    primaries: () => primariesOf(servers),
    untilHealthy,
    stop: async () => {
      await Promise.all([...sentinels, ...servers].map((server) => server.stop()));
    },
  };
}

/** What each server and Sentinel states, and their logs: a failover that does not end has its reason in them. */
async function describeSentinels(
  servers: readonly RedisServer[],
  sentinels: readonly RedisServer[],
): Promise<string> {
  const roles = await Promise.all(servers.map(roleOf));
  const views = await Promise.all(
    sentinels.map(async (sentinel) => ({
      ...(await viewOf(sentinel)),
      each: await sentinel.command('sentinel', 'replicas', 'orders'),
    })),
  );
  return [
    'the Sentinels to agree on a primary and to know its two replicas',
    ...servers.map(({ port }, index) => `server ${port}: ${JSON.stringify(roles[index])}`),
    ...sentinels.map(({ port }, index) => `Sentinel ${port}: ${JSON.stringify(views[index])}`),
    ...[...servers, ...sentinels].flatMap((one) => [`log of ${one.port}:`, ...one.logTail()]),
  ].join('\n');
}

interface SentinelView {
  readonly primary: string;
  readonly quorum: string;
  readonly replicas: number;
}

async function viewOf(sentinel: RedisServer): Promise<SentinelView> {
  const [primary, quorum, replicas] = await Promise.all([
    sentinel.command('sentinel', 'get-master-addr-by-name', 'orders'),
    // An error while too few of them find each other usable.
    sentinel.command('sentinel', 'ckquorum', 'orders').catch(() => 'NOQUORUM'),
    sentinel.command('sentinel', 'replicas', 'orders'),
  ]);
  return {
    primary: String(primary),
    quorum: String(quorum),
    replicas: Array.isArray(replicas) ? replicas.length : 0,
  };
}

/**
 * Whether a Sentinel can replace the primary. It learns of replicas every 10 seconds. After a failover before that,
 * the replica that it does not know follows the old primary for good, and the new one has a single replica.
 */
function isSettled({ primary, quorum, replicas }: SentinelView, one: RedisServer): boolean {
  return primary === `127.0.0.1,${one.port}` && quorum.startsWith('OK 3') && replicas === 2;
}

/** The primary that holds a key. */
export async function holderOf(fleet: RedisFleet, key: string): Promise<RedisServer> {
  const primaries = await fleet.primaries();
  const replies = await Promise.allSettled(primaries.map((each) => each.command('exists', key)));
  const holder = primaries.find((_, index) => replies[index]?.status === 'fulfilled');
  if (holder === undefined) throw new Error(`no primary holds ${key}`);
  return holder;
}

/** The servers that replicate a primary. */
export async function replicasOf(
  fleet: RedisFleet,
  primary: RedisServer,
): Promise<readonly RedisServer[]> {
  const [, , replicas] = await roleOf(primary);
  const ports = Array.isArray(replicas) ? replicas.map(([, port]) => Number(port)) : [];
  return fleet.servers.filter(({ port }) => ports.includes(port));
}

async function roleOf(server: RedisServer): Promise<readonly unknown[]> {
  const role = await Promise.resolve(server.command('role')).catch(() => undefined);
  return Array.isArray(role) ? role : [];
}

async function primariesOf(servers: readonly RedisServer[]): Promise<readonly RedisServer[]> {
  const roles = await Promise.all(servers.map(roleOf));
  return servers.filter((_, index) => roles[index]?.[0] === 'master');
}

async function countReplicas(server: RedisServer): Promise<number> {
  const [, , replicas] = await roleOf(server);
  return Array.isArray(replicas) ? replicas.length : 0;
}

async function countReplicated(servers: readonly RedisServer[]): Promise<number> {
  const counts = await Promise.all((await primariesOf(servers)).map(countReplicas));
  return counts.every((count) => count > 0) ? counts.length : 0;
}

/** Clients of Redis in each form in which it runs: one server, Sentinel, Cluster. */
import { Cluster, type CommonRedisOptions, Redis } from 'ioredis';
import type { RedisAddress } from './redisAddress.ts';

export type RedisClient = Redis | Cluster;

type ClientOptions = Pick<CommonRedisOptions, 'connectTimeout' | 'socketTimeout'> & {
  readonly maxRetriesPerRequest: number | null;
  readonly enableOfflineQueue: boolean;
};

export interface RedisTarget {
  readonly address: Exclude<RedisAddress, { readonly form: 'invalid' }>;
  /** Certificates of the authority that signed those of the servers; undefined: those of Node.js. */
  readonly ca: string | undefined;
}

const MAX_RETRY_MS = 2_000;
/** How long a Sentinel may take to name the primary, before the client tries the next one. */
const SENTINEL_TIMEOUT_MS = 2_000;

const retryDelayMs = (times: number): number => Math.min(times * 100, MAX_RETRY_MS);

/** How a client of one server finds the primary again; the address of a single one may lead to another server, too. */
const OTHER_PRIMARY = {
  retryStrategy: retryDelayMs,
  // A primary that was demoted keeps its connections, and refuses every write.
  reconnectOnError: (error: Error) => error.message.includes('READONLY'),
};

export function createRedisClient(
  { address, ca }: RedisTarget,
  options: ClientOptions,
): RedisClient {
  const tls = address.isTls ? { tls: ca === undefined ? {} : { ca } } : {};
  switch (address.form) {
    case 'single':
      return new Redis(address.url, { ...options, ...tls, ...OTHER_PRIMARY });
    case 'sentinel':
      return new Redis({
        ...options,
        ...tls,
        ...(address.isTls && { enableTLSForSentinelMode: true, sentinelTLS: tls.tls }),
        ...loginOf(address),
        sentinels: [...address.hosts],
        name: address.service,
        db: address.db,
        ...(address.sentinelUser !== undefined && { sentinelUsername: address.sentinelUser }),
        ...(address.sentinelPassword !== undefined && {
          sentinelPassword: address.sentinelPassword,
        }),
        sentinelCommandTimeout: SENTINEL_TIMEOUT_MS,
        // Never null: a client without a next attempt ends for good, and its worker claims nothing.
        sentinelRetryStrategy: retryDelayMs,
        ...OTHER_PRIMARY,
      });
    case 'cluster': {
      const { enableOfflineQueue, ...ofNodes } = options;
      return new Cluster([...address.hosts], {
        enableOfflineQueue,
        clusterRetryStrategy: retryDelayMs,
        redisOptions: { ...ofNodes, ...tls, ...loginOf(address) },
      });
    }
  }
}

function loginOf(address: {
  readonly user: string | undefined;
  readonly password: string | undefined;
}) {
  return {
    ...(address.user !== undefined && { username: address.user }),
    ...(address.password !== undefined && { password: address.password }),
  };
}

/** What each server that holds jobs reports about itself. Throws unless one responds. */
export async function infoOfServers(client: RedisClient): Promise<readonly string[]> {
  if (!(client instanceof Cluster)) return [await client.info()];
  // A primary that just died is still listed; whether its jobs are reachable is for the probe.
  const replies = await Promise.allSettled(
    client.nodes('master').map(async (node) => await node.info()),
  );
  const infos = replies.flatMap((reply) => (reply.status === 'fulfilled' ? [reply.value] : []));
  return infos.length > 0 ? infos : [await client.info()];
}

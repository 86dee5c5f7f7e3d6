/** Connections to the store that carries the queues, for either backend of BullMQ. */
import type { PgPool } from 'bullmq';
import { Redis, type RedisOptions } from 'ioredis';
import pg from 'pg';
import type { Log } from '../log.ts';

interface RedisConnections {
  readonly name: 'redis';
  probe(): Promise<void>;
  /** Fails fast, so that adding a job never delays a reply. */
  producer(): Redis;
  /** Waits for Redis to come back; each worker has its own. */
  consumer(): Redis;
  close(): Promise<void>;
}

interface PostgresConnections {
  readonly name: 'postgres';
  probe(): Promise<void>;
  pool(): PgPool;
  close(): Promise<void>;
}

export type QueueConnections = RedisConnections | PostgresConnections;

const CONNECT_TIMEOUT_MS = 5_000;
/**
 * A machine that lost its power or its network closes no connection: without a limit of our own a
 * command would wait until TCP gives up, which takes a quarter of an hour, and the sweep with it.
 */
const ANSWER_TIMEOUT_MS = 5_000;
/**
 * A command in flight fails with its connection. Any other number would leave it unsettled until
 * Redis is back: ioredis sets it aside at the first close and no longer counts its retries.
 */
const NO_RETRIES = 0;
/** Workers wait in Redis for their next job, for up to ten seconds at a time. */
const WAITING_ANSWER_TIMEOUT_MS = 30_000;

/** Opens connections to Redis, Valkey or another server that speaks its protocol. */
export function createRedisConnections(url: string, log: Log): QueueConnections {
  const clients: Redis[] = [];
  const open = (
    options: Pick<RedisOptions, 'maxRetriesPerRequest' | 'enableOfflineQueue' | 'socketTimeout'>,
  ) => {
    const client = new Redis(url, {
      connectTimeout: CONNECT_TIMEOUT_MS,
      socketTimeout: ANSWER_TIMEOUT_MS,
      ...options,
      retryStrategy: (times: number) => Math.min(times * 100, 2_000),
    });
    client.on('error', (error) => log.warn({ error }, 'queue.redis_error'));
    clients.push(client);
    return client;
  };
  const probing = open({ maxRetriesPerRequest: NO_RETRIES, enableOfflineQueue: true });
  return {
    name: 'redis',
    probe: async () => {
      await probing.ping();
    },
    producer: () => open({ maxRetriesPerRequest: NO_RETRIES, enableOfflineQueue: false }),
    consumer: () =>
      open({
        maxRetriesPerRequest: null,
        enableOfflineQueue: true,
        socketTimeout: WAITING_ANSWER_TIMEOUT_MS,
      }),
    close: async () => {
      await Promise.all(clients.map(async (client) => client.disconnect()));
    },
  };
}

/** One connection listens for each worker, the others carry statements. */
const MAX_CONNECTIONS = 8;

/**
 * Opens a pool of its own for the queue's schema. The pool that carries the ledger cannot serve: the
 * queue's statements name their tables without a schema.
 */
export function createPostgresQueueConnections(
  connectionString: string,
  log: Log,
): QueueConnections {
  const pool = new pg.Pool({
    connectionString,
    options: '-c search_path=bullmq',
    application_name: 'tallyhook-queue',
    max: MAX_CONNECTIONS,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: ANSWER_TIMEOUT_MS,
    keepAlive: true,
  });
  // Every producer and consumer of a process listens: more than Node takes for a leak.
  pool.setMaxListeners(0);
  pool.on('error', (error) => log.warn({ error }, 'queue.idle_connection_lost'));
  // A client that is checked out for listening reports a lost connection on itself, not on the pool.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return {
    name: 'postgres',
    probe: async () => {
      await pool.query('select 1');
    },
    // The queue's own description of a pool, which pg.Pool meets but its types do not say so.
    pool: () => pool as unknown as PgPool,
    close: () => {
      // A pool has ended before the last of its connections has: a server that stops just then, as the
      // embedded one does, would be reported by every queue that ever used the pool.
      pool.removeAllListeners('error').on('error', () => undefined);
      return pool.end();
    },
  };
}

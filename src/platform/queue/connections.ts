/** Connections to the store of the queues, for either backend of BullMQ. */
import type { PgPool } from 'bullmq';
import { Redis, type RedisOptions } from 'ioredis';
import pg from 'pg';
import type { Log } from '../log.ts';
import {
  problemOfPostgresError,
  problemOfRedisError,
  problemOfRedisInfo,
  problemOfSearchPath,
  type QueueProblem,
  toQueueFailure,
} from './problem.ts';

interface Examined {
  /** Throws unless the backend responds. */
  probe(): Promise<void>;
  /** The problem that the backend's settings show, if any. Throws unless it responds. */
  examine(): Promise<QueueProblem | undefined>;
  /** What an error of the backend means. */
  problemOf(error: unknown): QueueProblem;
}

interface RedisConnections extends Examined {
  readonly name: 'redis';
  /** Fails fast, so that adding a job never delays a response. */
  producer(): Redis;
  /** Waits until Redis is available again; each worker has its own. */
  consumer(): Redis;
  close(): Promise<void>;
}

interface PostgresConnections extends Examined {
  readonly name: 'postgres';
  pool(): PgPool;
  close(): Promise<void>;
}

export type QueueConnections = RedisConnections | PostgresConnections;

const CONNECT_TIMEOUT_MS = 5_000;
/**
 * A machine that loses its power or its network closes no connection. Without a limit of our own, a
 * command, and the sweep with it, would wait a quarter of an hour until TCP times out.
 */
const RESPONSE_TIMEOUT_MS = 5_000;
/**
 * A command in flight fails with its connection. With any other number it would stay pending until
 * Redis is available again: ioredis queues it at the first close and stops counting its retries.
 */
const NO_RETRIES = 0;
/** Workers block in Redis for their next job, for up to ten seconds at a time. */
const WAITING_RESPONSE_TIMEOUT_MS = 30_000;

/** Opens connections to Redis, Valkey or another server with its protocol. */
export function createRedisConnections(url: string, log: Log): QueueConnections {
  const clients: Redis[] = [];
  const open = (
    options: Pick<RedisOptions, 'maxRetriesPerRequest' | 'enableOfflineQueue' | 'socketTimeout'>,
  ) => {
    const client = new Redis(url, {
      connectTimeout: CONNECT_TIMEOUT_MS,
      socketTimeout: RESPONSE_TIMEOUT_MS,
      ...options,
      retryStrategy: (times: number) => Math.min(times * 100, 2_000),
    });
    client.on('error', (error) => log.warn({ error: toQueueFailure(error) }, 'queue.redis_error'));
    clients.push(client);
    return client;
  };
  const probing = open({ maxRetriesPerRequest: NO_RETRIES, enableOfflineQueue: true });
  let connectError: Error | undefined;
  probing.on('error', (error) => {
    connectError = error;
  });
  probing.on('ready', () => {
    connectError = undefined;
  });
  /** A command without a connection fails with "max retries"; the reason is the connection's error. */
  const request = async (command: () => Promise<string>): Promise<string> => {
    try {
      return await command();
    } catch (error) {
      throw connectError ?? error;
    }
  };
  return {
    name: 'redis',
    probe: async () => {
      await request(() => probing.ping());
    },
    examine: async () => problemOfRedisInfo(await request(() => probing.info())),
    problemOf: problemOfRedisError,
    producer: () => open({ maxRetriesPerRequest: NO_RETRIES, enableOfflineQueue: false }),
    consumer: () =>
      open({
        maxRetriesPerRequest: null,
        enableOfflineQueue: true,
        socketTimeout: WAITING_RESPONSE_TIMEOUT_MS,
      }),
    close: async () => {
      await Promise.all(clients.map(async (client) => client.disconnect()));
    },
  };
}

const SCHEMA = 'bullmq';
/** One connection listens for each worker, the others carry statements. */
const MAX_CONNECTIONS = 8;

/**
 * Opens a separate pool for the queue's schema. The ledger's pool cannot be used, because the queue's
 * statements name their tables without a schema.
 */
export function createPostgresQueueConnections(
  connectionString: string,
  log: Log,
): QueueConnections {
  const pool = new pg.Pool({
    connectionString,
    options: `-c search_path=${SCHEMA}`,
    application_name: 'tallyhook-queue',
    max: MAX_CONNECTIONS,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: RESPONSE_TIMEOUT_MS,
    keepAlive: true,
  });
  // Every producer and consumer of a process adds listeners: more than Node's limit for a leak.
  pool.setMaxListeners(0);
  pool.on('error', (error) => log.warn({ error }, 'queue.idle_connection_lost'));
  // A client that is checked out for LISTEN emits `error` on itself, not on the pool.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return {
    name: 'postgres',
    probe: async () => {
      await pool.query('select 1');
    },
    examine: async () => {
      const { rows } = await pool.query<{ search_path: string }>('show search_path');
      return problemOfSearchPath(rows[0]?.search_path ?? '', SCHEMA);
    },
    problemOf: problemOfPostgresError,
    // pg.Pool satisfies the queue's interface of a pool, but its types do not match.
    pool: () => pool as unknown as PgPool,
    close: () => {
      // `end` resolves before the last connection has closed. If the server stops right then, as the
      // embedded one does, every queue that used the pool would report it.
      pool.removeAllListeners('error').on('error', () => undefined);
      return pool.end();
    },
  };
}

/** Connections to the store of the queues, for either backend of BullMQ. */
import type { PgPool } from 'bullmq';
import { examinePooling, isPooled, type Pooling, readBackendPid } from '../db/pooler.ts';
import { createPool, IDLE_TIMEOUT_MS } from '../db/primary.ts';
import type { Log } from '../log.ts';
import { sleep } from '../sleep.ts';
import { DEFAULT_PREFIX } from './names.ts';
import {
  problemOfPooling,
  problemOfPostgresError,
  problemOfRedisError,
  problemOfRedisInfo,
  problemOfSearchPath,
  type QueueProblem,
  type RedisUse,
  toQueueFailure,
} from './problem.ts';
import { parseRedisUrl } from './redisAddress.ts';
import { createRedisClient, infoOfServers, type RedisClient } from './redisClient.ts';

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
  /** What the names of the queue's keys begin with. */
  prefixOf(queueName: string): string;
  /** Fails fast, so that adding a job never delays a response. */
  producer(): RedisClient;
  /** Waits until Redis is available again; each worker has its own. */
  consumer(): RedisClient;
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

export interface RedisSettings {
  /** Its forms are those of redisAddress.ts. */
  readonly url: string;
  /** Installations that share a server differ in it. */
  readonly prefix?: string | undefined;
  /** Certificates of the authority that signed those of the servers. */
  readonly ca?: string | undefined;
}

/** Opens connections to Redis, Valkey or another server with its protocol. */
export function createRedisConnections(settings: RedisSettings, log: Log): QueueConnections {
  const address = parseRedisUrl(settings.url);
  if (address.form === 'invalid') throw new Error(`the URL of Redis ${address.problem}`);
  const { prefix = DEFAULT_PREFIX } = settings;
  const use: RedisUse = {
    form: address.form,
    isTls: address.isTls,
    keys: address.form === 'cluster' ? `{${prefix}:*` : `${prefix}:*`,
  };
  const clients: RedisClient[] = [];
  const open = (
    maxRetriesPerRequest: number | null,
    enableOfflineQueue: boolean,
    socketTimeout = RESPONSE_TIMEOUT_MS,
  ): RedisClient => {
    const client = createRedisClient(
      { address, ca: settings.ca },
      {
        connectTimeout: CONNECT_TIMEOUT_MS,
        socketTimeout,
        maxRetriesPerRequest,
        enableOfflineQueue,
      },
    );
    client.on('error', (error: Error) =>
      log.warn({ error: toQueueFailure(error) }, 'queue.redis_error'),
    );
    clients.push(client);
    return client;
  };
  const probing = openProbing(() => open(NO_RETRIES, address.form === 'single'));
  return {
    name: 'redis',
    probe: async () => {
      await probing.request((client) => client.ping());
    },
    examine: async () => {
      const infos = await probing.request(infoOfServers);
      return infos.map((info) => problemOfRedisInfo(info, use.form)).find(Boolean);
    },
    problemOf: (error) => problemOfRedisError(error, use),
    // In a Cluster the keys of a queue must be on one node; those of another queue may be on another.
    prefixOf: (queueName) => (use.form === 'cluster' ? `{${prefix}:${queueName}}` : prefix),
    producer: () => open(NO_RETRIES, false),
    consumer: () => open(null, true, WAITING_RESPONSE_TIMEOUT_MS),
    close: async () => {
      await Promise.all(clients.map(async (client) => client.disconnect()));
    },
  };
}

/** The connection that examines the server. */
function openProbing(open: () => RedisClient) {
  const client = open();
  let connectError: Error | undefined;
  client.on('error', (error: Error) => {
    connectError = error;
  });
  client.on('ready', () => {
    connectError = undefined;
  });
  const untilReady = async (): Promise<void> => {
    const done = new AbortController();
    const outcome = new Promise<void>((resolve) => {
      client.once('ready', resolve);
      client.once('error', () => resolve());
    });
    await Promise.race([outcome, sleep(CONNECT_TIMEOUT_MS, done.signal)]);
    done.abort();
  };
  return {
    request: async <Result>(command: (client: RedisClient) => Promise<Result>): Promise<Result> => {
      try {
        // Commands that Sentinel or Cluster kept for later would wait for as long as no server is found.
        const isKept = client.options.enableOfflineQueue;
        if (client.status !== 'ready' && !isKept && connectError === undefined) await untilReady();
        return await command(client);
      } catch (error) {
        // A command without a connection fails with "max retries"; the reason is the connection's error.
        throw connectError ?? error;
      }
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
  let pooling: Pooling | undefined;
  const pool = createPool({
    connectionString,
    options: `-c search_path=${SCHEMA}`,
    application_name: 'tallyhook-queue',
    max: MAX_CONNECTIONS,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    query_timeout: RESPONSE_TIMEOUT_MS,
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
      const client = await pool.connect();
      let searchPath: string | undefined;
      try {
        const { rows } = await client.query<{ search_path: string }>('show search_path');
        searchPath = rows[0]?.search_path;
        // A pooler can be put in between while the process runs.
        if (isPooled(client, await readBackendPid(client)))
          pooling ??= await examinePooling(connectionString);
        else pooling = undefined;
      } finally {
        client.release();
      }
      return problemOfPooling(pooling) ?? problemOfSearchPath(searchPath ?? '', SCHEMA);
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

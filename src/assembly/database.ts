/** Opens the database and the queues that the settings name. */
import type { Config } from '../config/config.ts';
import { migrateDatabase } from '../platform/db/migrate.ts';
import { startEmbeddedPostgres } from '../platform/embeddedPostgres/index.ts';
import type { Log } from '../platform/log.ts';
import {
  createPostgresQueueConnections,
  createQueueBackend,
  createRedisConnections,
  type QueueBackend,
} from '../platform/queue/index.ts';

/** The database that the settings name, started if it is the embedded one. */
export interface OpenedDatabase {
  readonly url: string;
  readonly isEmbedded: boolean;
  /**
   * Keeps the embedded one running. Rejects with an OperatorError once it is given up; a database that
   * somebody else runs is theirs to keep.
   */
  supervise(): Promise<void>;
  close(): Promise<void>;
}

/** Opens the database; the embedded one is started and brought up to date. */
export async function openDatabase(config: Config, log: Log): Promise<OpenedDatabase> {
  if (config.databaseUrl !== undefined) {
    return {
      url: config.databaseUrl,
      isEmbedded: false,
      supervise: () => new Promise(() => undefined),
      close: () => Promise.resolve(),
    };
  }
  const server = await startEmbeddedPostgres({
    dataDir: config.dataDir,
    log: (message) => log.debug({ message }, 'embedded_postgres'),
  });
  await migrateDatabase(server.connectionString);
  return {
    url: server.connectionString,
    isEmbedded: true,
    supervise: () => server.supervise((message) => log.warn({ message }, 'embedded_postgres')),
    close: () => server.stop(),
  };
}

/** The queues that the settings name: Redis, or the database itself. */
export function openQueues(
  config: Config,
  { databaseUrl, log }: { readonly databaseUrl: string; readonly log: Log },
): QueueBackend {
  const connections =
    config.redisUrl === undefined
      ? createPostgresQueueConnections(databaseUrl, log)
      : createRedisConnections(config.redisUrl, log);
  return createQueueBackend(connections, log);
}

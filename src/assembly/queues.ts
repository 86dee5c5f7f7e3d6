/** Opens the queues that the settings name. */
import { readFileSync } from 'node:fs';
import type { Config } from '../config/config.ts';
import type { QueueAccess } from '../monitor/read/queues.ts';
import { toError, UsageError } from '../platform/errors.ts';
import type { Log } from '../platform/log.ts';
import {
  createPostgresQueueConnections,
  createQueueBackend,
  createRedisConnections,
  type QueueBackend,
} from '../platform/queue/index.ts';
import { QUEUES } from '../platform/queue/names.ts';

/** Redis if its URL is set, otherwise the database itself. */
export function openQueues(
  config: Config,
  { databaseUrl, log }: { readonly databaseUrl: string; readonly log: Log },
): QueueBackend {
  const connections =
    config.redisUrl === undefined
      ? createPostgresQueueConnections(config.queueDatabaseUrl ?? databaseUrl, log)
      : createRedisConnections(
          { url: config.redisUrl, prefix: config.redisPrefix, ca: certificates(config) },
          log,
        );
  return createQueueBackend(connections, log);
}

function certificates({ redisCaFile }: Config): string | undefined {
  if (redisCaFile === undefined) return undefined;
  try {
    return readFileSync(redisCaFile, 'utf8');
  } catch (error) {
    throw new UsageError(`REDIS_CA_FILE cannot be read: ${toError(error).message}`);
  }
}

/** Opens every queue to read it. */
export function inspectedQueues(backend: QueueBackend): {
  readonly access: QueueAccess;
  readonly close: () => Promise<void>;
} {
  const queues = {
    events: backend.producer(QUEUES.events),
    reconcile: backend.producer(QUEUES.reconcile),
  };
  return {
    access: { backend: backend.name, check: () => backend.check(), queues },
    close: async () => {
      for (const queue of Object.values(queues)) await queue.close();
    },
  };
}

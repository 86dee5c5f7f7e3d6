/** Opens the queues that the settings name. */
import type { Config } from '../config/config.ts';
import type { Log } from '../platform/log.ts';
import {
  createPostgresQueueConnections,
  createQueueBackend,
  createRedisConnections,
  type QueueBackend,
} from '../platform/queue/index.ts';

/** Redis if its URL is set, otherwise the database itself. */
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

/**
 * The databases of the Redis server that all test files share. Two installations on one of them have the same queues:
 * the workers of one would claim the jobs of the other, and find none of their events in their own database.
 */
import { inject } from 'vitest';

/** Test files, by their database. The user of leastRights has no right to choose another than the first. */
const FILES = [
  'leastRights',
  'typedAccounts',
  'gracefulStop',
  'kill',
  'databaseUnavailable',
  'queueClose',
] as const;

/** @returns undefined if redis-server is not installed */
export function redisDatabaseOf(file: (typeof FILES)[number]): string | undefined {
  const server = inject('redisUrl');
  return server && `${server}/${FILES.indexOf(file)}`;
}

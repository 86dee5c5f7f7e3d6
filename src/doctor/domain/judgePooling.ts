/**
 * Judges how the database is reached. Behind a pooler that shares sessions, some work needs an address of
 * its own; docs/guides/deployment.md names all of it.
 */
import { failed, type Judgment, ok, warning } from './judge.ts';

/** What is before the database; platform/db/pooler.ts has the terms. */
export type PoolingFacts =
  | { readonly mode: 'direct' | 'session' | 'statement' }
  | { readonly mode: 'transaction'; readonly keepsStatements: boolean };

/** The settings that name other servers or addresses for what needs a session. */
export interface SessionSettings {
  readonly redisUrl: string | undefined;
  readonly queueDatabaseUrl: string | undefined;
  readonly migrateDatabaseUrl: string | undefined;
}

export function judgePooling(pooling: PoolingFacts, settings: SessionSettings): Judgment {
  switch (pooling.mode) {
    case 'direct':
      return ok('no pooler: connections lead to PostgreSQL');
    case 'session':
      return ok('a pooler in session mode: each connection has a session of its own');
    case 'statement':
      return failed(
        'a pooler in statement mode, which allows no transactions: nothing can be persisted',
        'Set the pooler to transaction mode (pool_mode = transaction), or let DATABASE_URL name the server.',
      );
    case 'transaction':
      return judgeShared(pooling.keepsStatements, settings);
    default:
      return pooling satisfies never;
  }
}

function judgeShared(
  keepsStatements: boolean,
  { redisUrl, queueDatabaseUrl, migrateDatabaseUrl }: SessionSettings,
): Judgment {
  const mode = 'a pooler in transaction mode';
  if (redisUrl === undefined && queueDatabaseUrl === undefined) {
    return failed(
      `${mode}, and the queue listens for jobs in a session of its own: events would be persisted but not applied`,
      'Set QUEUE_DATABASE_URL to the PostgreSQL server itself, or REDIS_URL to Redis.',
    );
  }
  if (migrateDatabaseUrl === undefined && queueDatabaseUrl === undefined) {
    return warning(
      `${mode}, and migrations hold a session advisory lock, which it would give to other clients: tallyhook migrate refuses`,
      'Set MIGRATE_DATABASE_URL to the PostgreSQL server itself.',
    );
  }
  return ok(
    keepsStatements
      ? `${mode}, which keeps prepared statements`
      : `${mode}, which does not keep prepared statements: PostgreSQL plans each statement again`,
  );
}

/**
 * Why a queue refuses work, in words that name the cause and the next step. A server can accept
 * connections and respond to a ping while it refuses every command of the queue.
 */
import { isDatabaseUnavailable } from '../db/failures.ts';
import type { Pooling } from '../db/pooler.ts';
import { SQLSTATES } from '../db/sqlStates.ts';
import { errorCode, toError } from '../errors.ts';
import type { RedisForm } from './redisAddress.ts';

export interface QueueProblem {
  readonly reason: string;
  readonly remedy: string;
  /** The error, if the server or the network is unavailable. */
  readonly unavailable?: unknown;
}

/** A failure of the queue's backend, as distinct from one of the database (outageLines.ts). */
export class QueueFailure extends Error {
  override readonly name = 'QueueFailure';
  readonly code: unknown;

  constructor(cause: Error) {
    super(cause.message, { cause });
    this.code = 'code' in cause ? cause.code : undefined;
  }
}

/** The error as that of a queue, unless the server or the network is unavailable. */
export function toQueueFailure(thrown: unknown): Error {
  const error = toError(thrown);
  return isDatabaseUnavailable(error) || error instanceof QueueFailure
    ? error
    : new QueueFailure(error);
}

const KEEP_IN_DATABASE = 'or unset REDIS_URL to keep the queue in the database';

/** How the installation uses Redis. */
export interface RedisUse {
  readonly form: RedisForm;
  readonly isTls: boolean;
  /** Pattern of the queue's keys. */
  readonly keys: string;
}

const CLUSTER: QueueProblem = {
  reason: 'REDIS_URL names a node of a Redis Cluster as if it were a single server',
  remedy: 'Set REDIS_URL to redis+cluster://HOST:PORT,HOST:PORT with some nodes of the cluster.',
};
const NO_CLUSTER: QueueProblem = {
  reason: 'REDIS_URL names a Redis Cluster, and the server has no cluster mode',
  remedy: 'Set REDIS_URL to redis://HOST:PORT, or enable cluster mode of the server.',
};
const CLUSTER_IN_PARTS: QueueProblem = {
  reason: 'the Redis Cluster has no primary for some of its slots',
  remedy: 'Run redis-cli --cluster check HOST:PORT, and start the nodes that are missing.',
};
const REPLICA: QueueProblem = {
  reason: 'REDIS_URL names a replica, which accepts no writes',
  remedy: 'Set REDIS_URL to the primary.',
};

/** The problem that the reply to INFO shows, if any. */
export function problemOfRedisInfo(info: string, form: RedisForm): QueueProblem | undefined {
  const value = (name: string) => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1];
  if (value('redis_mode') === 'sentinel') {
    return {
      reason: 'REDIS_URL names a Sentinel, which stores no jobs',
      remedy: `Set REDIS_URL to redis+sentinel://HOST:PORT,HOST:PORT/NAME, with the name by which the Sentinels know the primary, ${KEEP_IN_DATABASE}.`,
    };
  }
  const isCluster = value('redis_mode') === 'cluster' || value('cluster_enabled') === '1';
  if (isCluster !== (form === 'cluster')) return isCluster ? CLUSTER : NO_CLUSTER;
  if (value('role') === 'slave') return REPLICA;
  const policy = value('maxmemory_policy');
  if (policy !== undefined && policy !== 'noeviction') {
    return {
      reason: `the eviction policy of Redis is ${policy}, so Redis may delete jobs`,
      remedy: 'Set maxmemory-policy of Redis to noeviction.',
    };
  }
  return undefined;
}

type Describe = (message: string, use: RedisUse) => QueueProblem;

const REDIS_ERRORS: readonly (readonly [RegExp, Describe])[] = [
  [
    /^(NOAUTH|WRONGPASS|ERR invalid password|ERR AUTH)/,
    (message) => ({
      reason: `Redis rejects the user name or the password in REDIS_URL (${message})`,
      remedy: 'Correct REDIS_URL.',
    }),
  ],
  [
    /^(ERR .*)?NOPERM|no permissions/i,
    (message, { keys }) => ({
      reason: `the Redis user lacks rights (${message})`,
      remedy: `Give the Redis user the right to every command of the queue on the keys ${keys}.`,
    }),
  ],
  [/cluster support disabled/, () => NO_CLUSTER],
  [
    /^(ERR .*|Too many Cluster redirections.*)?\b(MOVED|CROSSSLOT|CLUSTERDOWN)\b/,
    (_message, { form }) => (form === 'cluster' ? CLUSTER_IN_PARTS : CLUSTER),
  ],
  [/^All sentinels are unreachable/, describeSentinels],
  [/READONLY/, () => REPLICA],
  [
    /OOM command not allowed/,
    (message) => ({
      reason: `Redis has no memory left (${message})`,
      remedy: 'Raise maxmemory of Redis.',
    }),
  ],
  [
    /MISCONF/,
    (message) => ({
      reason: `Redis cannot save its data and refuses writes (${message})`,
      remedy: 'Read the log of Redis, and check its disk.',
    }),
  ],
];

/** What to check where nothing responds: ioredis reports a refused certificate of one server, not of several. */
function checkReachable(servers: string, { isTls }: RedisUse): string {
  const certificates = isTls
    ? ', and that REDIS_CA_FILE has the authority of their certificates'
    : '';
  return `Check that ${servers} and accept connections from this machine${certificates}, ${KEEP_IN_DATABASE}.`;
}

/** No Sentinel named the primary: each is unreachable, refuses the login, or does not know the name. */
function describeSentinels(message: string, use: RedisUse): QueueProblem {
  const [, cause] = /Last error: (.*)$/s.exec(message) ?? [];
  if (cause === undefined || /No such master/.test(cause)) {
    return {
      reason: 'no Sentinel knows a primary by the name in REDIS_URL',
      remedy: 'Correct the name in REDIS_URL: redis-cli -p 26379 sentinel masters lists all.',
    };
  }
  return /NOAUTH|WRONGPASS|ERR AUTH/.test(cause)
    ? {
        reason: `the Sentinels reject the user name or the password in REDIS_URL (${cause})`,
        remedy: 'Add ?sentinel_password=… to REDIS_URL, and sentinel_username if they have users.',
      }
    : {
        reason: `no Sentinel in REDIS_URL is reachable (${cause})`,
        remedy: checkReachable('the Sentinels run', use),
      };
}

export function problemOfRedisError(thrown: unknown, use: RedisUse): QueueProblem {
  const whole = toError(thrown);
  // Where no node of a Cluster responds as it must, the error of the last one is the reason.
  const error =
    'lastNodeError' in whole && whole.lastNodeError instanceof Error ? whole.lastNodeError : whole;
  const { message } = error;
  const known = REDIS_ERRORS.find(([pattern]) => pattern.test(message));
  if (known) return known[1](message, use);
  if (isDatabaseUnavailable(error) || /connection is closed|timeout|certificate/i.test(message)) {
    return {
      reason: `Redis is unreachable (${message})`,
      remedy: checkReachable('the servers of Redis run', use),
    };
  }
  return {
    reason: `Redis refuses a command of the queue (${message})`,
    remedy: `Set REDIS_URL to a Redis or Valkey server that has the command, ${KEEP_IN_DATABASE}.`,
  };
}

const NEEDS_SESSION =
  'Set QUEUE_DATABASE_URL to the PostgreSQL server itself and keep DATABASE_URL as it is, or set REDIS_URL.';

/** @param pooling what is behind the address of the queue, if a pooler is */
export function problemOfPooling(pooling: Pooling | undefined): QueueProblem | undefined {
  if (pooling?.mode !== 'transaction' && pooling?.mode !== 'statement') return undefined;
  return {
    reason: `the queue reaches the database through a pooler in ${pooling.mode} mode, but listens for jobs in a session of its own`,
    remedy: NEEDS_SESSION,
  };
}

/** @param searchPath of a new connection that was opened with `expected` */
export function problemOfSearchPath(
  searchPath: string,
  expected: string,
): QueueProblem | undefined {
  if (searchPath === expected) return undefined;
  return {
    reason: `connections to the database lose the setting search_path: it is ${searchPath}, not ${expected}. A pooler or "options" in DATABASE_URL replaces it`,
    remedy: `${NEEDS_SESSION} The address must contain no "options".`,
  };
}

const MISSING: ReadonlySet<string> = new Set([
  SQLSTATES.undefined_table,
  SQLSTATES.invalid_schema_name,
  SQLSTATES.undefined_column,
  SQLSTATES.undefined_function,
]);

export function problemOfPostgresError(thrown: unknown): QueueProblem {
  const error = toError(thrown);
  const { message, name } = error;
  const code = errorCode(error);
  if (code === SQLSTATES.insufficient_privilege) {
    return {
      reason: `the database role lacks rights on the queue (${message})`,
      remedy:
        'Run npx tallyhook migrate as the owner of the schema: it grants the rights of the queue.',
    };
  }
  if (MISSING.has(code) || /Schema(MigrationRequired|VersionMismatch)Error/.test(name)) {
    return {
      reason: `the schema of the queue is missing or old (${message})`,
      remedy: 'Run: npx tallyhook migrate',
    };
  }
  if (/unsupported startup parameter/.test(message)) {
    return {
      reason: `the queue reaches the database through a pooler that refuses its settings (${message})`,
      remedy: NEEDS_SESSION,
    };
  }
  if (code === SQLSTATES.read_only_sql_transaction) {
    return {
      reason: `the database accepts no writes (${message})`,
      remedy: 'Set DATABASE_URL to the primary.',
    };
  }
  if (code === SQLSTATES.disk_full) {
    return {
      reason: `the disk of the database is full (${message})`,
      remedy: 'Make room on it: processes continue by themselves.',
    };
  }
  if (isDatabaseUnavailable(error)) {
    return {
      reason: `the database is unavailable (${message})`,
      remedy: 'Check DATABASE_URL, and that PostgreSQL runs.',
    };
  }
  return {
    reason: `the database refuses a statement of the queue (${message})`,
    remedy: 'Read the log of PostgreSQL.',
  };
}

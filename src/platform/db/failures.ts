/** What an error of the database means for the work that met it. */
import { type Verdict, verdictOf } from './sqlStates.ts';

/**
 * The transaction is committed on the primary, but its wait for a synchronous standby was canceled:
 * a failover may undo it. Whoever promised durability must not confirm it.
 */
export class CommitNotReplicated extends Error {
  override readonly name = 'CommitNotReplicated';

  constructor(warning: string) {
    super(`the commit is not known to be on the synchronous standby (${warning})`);
  }
}

const AWAY_SYSTEM_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);
const AWAY_MESSAGE =
  /query read timeout|connection terminated|timeout exceeded when trying to connect|client has encountered a connection error|Client was closed/i;

/** PostgreSQL's name for the place that finds a prepared plan outdated by a migration. */
const STALE_PLAN_ROUTINE = 'RevalidateCachedQuery';

function verdictOn(error: unknown): Verdict {
  if (!(error instanceof Error)) return 'permanent';
  if (error instanceof CommitNotReplicated) return 'retry';
  if (error instanceof AggregateError && error.errors.some(isDatabaseAway)) return 'unavailable';
  if ('routine' in error && error.routine === STALE_PLAN_ROUTINE) return 'unavailable';
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  // EPIPE has the form of a SQLSTATE.
  if (AWAY_SYSTEM_CODES.has(code) || AWAY_MESSAGE.test(error.message)) return 'unavailable';
  return verdictOf(code) ?? 'permanent';
}

/** Whether the database, or this connection to it, cannot be used now. */
export function isDatabaseAway(error: unknown): boolean {
  return verdictOn(error) === 'unavailable';
}

/** Whether the failure may concern this transaction alone, and passes without anybody's help. */
export function isContended(error: unknown): boolean {
  return verdictOn(error) === 'retry';
}

/** Whether the error says nothing about the data: later, the same transaction may succeed. */
export function isTransient(error: unknown): boolean {
  return verdictOn(error) !== 'permanent';
}

/** What a database error means for the work that it interrupted. */
import { errorCode } from '../errors.ts';
import { SQLSTATES, type Verdict, verdictOf } from './sqlStates.ts';

/**
 * The transaction is committed on the primary, but its wait for a synchronous standby was canceled,
 * so a failover can undo it. Callers must not acknowledge it as durable.
 */
export class CommitNotReplicated extends Error {
  override readonly name = 'CommitNotReplicated';

  constructor(warning: string) {
    super(`the commit is not known to be on the synchronous standby (${warning})`);
  }
}

/** A `bigint` of the database that a number would round. */
export class UnsafeInteger extends RangeError {
  override readonly name = 'UnsafeInteger';

  constructor(text: string) {
    super(`the database returned ${text}, which is outside the range of safe integers`);
  }
}

const UNAVAILABLE_SYSTEM_CODES = new Set([
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
const UNAVAILABLE_MESSAGE =
  /query read timeout|connection terminated|timeout expired|timeout exceeded when trying to connect|client has encountered a connection error|connection to the database was lost|Client was closed/i;

const TIMEOUT_MESSAGE = /query read timeout|timeout exceeded when trying to connect/i;

/** PostgreSQL's routine that rejects a prepared plan after a migration changed its result type. */
const STALE_PLAN_ROUTINE = 'RevalidateCachedQuery';

/**
 * PostgreSQL's routines that assign transaction ids. Once these run out, the server refuses to assign any until it
 * is vacuumed, with the code of a statement that is too large; long before, each statement that takes one warns.
 */
const ASSIGNING_ROUTINES: ReadonlySet<unknown> = new Set([
  'GetNewTransactionId',
  'SetTransactionIdLimit',
  'GetNewMultiXactId',
  'SetMultiXactIdLimit',
]);

/** Whether an error or warning of the server is about transaction ids that run out, and not about the statement. */
export function isAboutIds(notice: object): boolean {
  return 'routine' in notice && ASSIGNING_ROUTINES.has(notice.routine);
}

function verdictOn(error: unknown): Verdict {
  if (!(error instanceof Error)) return 'permanent';
  if (error instanceof CommitNotReplicated) return 'retry';
  if (error instanceof AggregateError && error.errors.some(isDatabaseUnavailable))
    return 'unavailable';
  if ('routine' in error && error.routine === STALE_PLAN_ROUTINE) return 'unavailable';
  if (isAboutIds(error)) return 'unavailable';
  const code = errorCode(error);
  // Before SQLSTATEs, because the system code EPIPE has five characters as they do.
  if (UNAVAILABLE_SYSTEM_CODES.has(code) || UNAVAILABLE_MESSAGE.test(error.message))
    return 'unavailable';
  return verdictOf(code) ?? 'permanent';
}

/** Whether the database, or this connection to it, cannot be used now. */
export function isDatabaseUnavailable(error: unknown): boolean {
  return verdictOn(error) === 'unavailable';
}

/** Whether the database user lacks the right to run the statement. */
export function isForbidden(error: unknown): boolean {
  return errorCode(error) === SQLSTATES.insufficient_privilege;
}

/**
 * Whether the table itself refuses a change of its rows: by a constraint, a trigger, a type or a right. The same
 * change is refused again.
 */
export function isRefusedChange(error: unknown): boolean {
  const code = errorCode(error);
  return (
    isForbidden(error) ||
    code === SQLSTATES.object_not_in_prerequisite_state ||
    verdictOf(code) === 'permanent'
  );
}

/** Whether other transactions fail as well, until the database or its installation is in order again. */
export function affectsEveryTransaction(error: unknown): boolean {
  const verdict = verdictOn(error);
  return verdict === 'unavailable' || verdict === 'installation';
}

/** Whether the failure may concern only this transaction and resolve without intervention. */
export function isContended(error: unknown): boolean {
  return verdictOn(error) === 'retry';
}

const BUSY_CODES: ReadonlySet<string> = new Set([
  SQLSTATES.lock_not_available,
  SQLSTATES.query_canceled,
  SQLSTATES.deadlock_detected,
]);

/** Whether the server responds, and ended a statement that waited or ran for too long. */
export function isBusy(error: unknown): boolean {
  return error instanceof Error && BUSY_CODES.has(errorCode(error));
}

/** Whether nothing came in time: the server does not respond, or the statement or its connection waits for others. */
export function isTimeout(error: unknown): boolean {
  return error instanceof Error && TIMEOUT_MESSAGE.test(error.message);
}

/** Whether the error is independent of the data: the same transaction may succeed later. */
export function isTransient(error: unknown): boolean {
  return verdictOn(error) !== 'permanent';
}

/** Errors that cross module boundaries, and how a caught value is read as an Error with a code. */

/**
 * What kind of problem it is, for programs that react to it (record 114).
 * `refused`: the state, the rights, the service or a person do not permit it. `unknown`: it may have been done.
 */
export type ProblemClass = 'usage' | 'not_found' | 'refused' | 'unavailable' | 'unknown';

/**
 * A problem that an operator must fix before the program can continue. The message states what
 * happened, why it matters and what to run or set. It is printed without a stack trace.
 */
export class OperatorError extends Error {
  override readonly name = 'OperatorError';
  readonly problem: ProblemClass = 'refused';
}

/** Arguments or settings that cannot be right. */
export class UsageError extends OperatorError {
  override readonly problem = 'usage';
}

/** Nothing has the id or matches. */
export class NotFoundError extends OperatorError {
  override readonly problem = 'not_found';
}

/** The database, the service or another system does not respond; the same may work later. */
export class UnavailableError extends OperatorError {
  override readonly problem = 'unavailable';
}

/** The error of a full disk, with its cause and what to do. */
export function fullDisk(cause: Error): UnavailableError {
  return new UnavailableError(
    `The disk of the database is full (${cause.message}). Make room on it, then run the command again. ` +
      'Processes that still run continue by themselves.',
    { cause },
  );
}

/** Explains the error if it is of a write to the data folder on a full disk; rethrows it in either case. */
export function explainFullDisk(thrown: unknown): never {
  throw thrown instanceof Error && errorCode(thrown) === 'ENOSPC' ? fullDisk(thrown) : thrown;
}

/** Converts any thrown value to an Error with a useful message. */
export function toError(thrown: unknown): Error {
  // A connection to a host with several addresses fails with one error per address and no message.
  if (thrown instanceof AggregateError && thrown.message === '') {
    const reasons = thrown.errors.map((error) => toError(error).message);
    return new Error(reasons.join('; '), { cause: thrown });
  }
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

/** The code of an error of PostgreSQL (`23505`) or of the system (`ENOENT`); '' if it has none. */
export function errorCode(thrown: unknown): string {
  return thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string'
    ? thrown.code
    : '';
}

/** Marks code that is unreachable according to the types. */
export function assertNever(value: never): never {
  throw new Error(`unhandled case: ${JSON.stringify(value)}`);
}

/** Errors that cross module boundaries, and the one way to convert a caught value to an Error. */

/**
 * A problem that an operator must fix before the program can continue. The message states what
 * happened, why it matters and what to run or set. It is printed without a stack trace.
 */
export class OperatorError extends Error {
  override readonly name = 'OperatorError';
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

/** Marks code that is unreachable according to the types. */
export function assertNever(value: never): never {
  throw new Error(`unhandled case: ${JSON.stringify(value)}`);
}

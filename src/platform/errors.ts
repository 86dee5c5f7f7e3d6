/** Errors that cross module boundaries, and the one way to look at a caught value. */

/**
 * Something an operator must put right before the program can go on. The message says what
 * happened, why it matters and what to run or set; it is printed without a stack.
 */
export class OperatorError extends Error {
  override readonly name = 'OperatorError';
}

/** Whatever was thrown, as an Error that says something. */
export function toError(thrown: unknown): Error {
  // A host with several addresses fails with one error for each, and no message of its own.
  if (thrown instanceof AggregateError && thrown.message === '') {
    const reasons = thrown.errors.map((error) => toError(error).message);
    return new Error(reasons.join('; '), { cause: thrown });
  }
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

/** Marks a place that the types say cannot be reached. */
export function assertNever(value: never): never {
  throw new Error(`unhandled case: ${JSON.stringify(value)}`);
}

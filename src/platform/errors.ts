/** Errors that cross module boundaries, and the one way to look at a caught value. */

/**
 * Something an operator must put right before the program can go on. The message says what
 * happened, why it matters and what to run or set; it is printed without a stack.
 */
export class OperatorError extends Error {
  override readonly name = 'OperatorError';
}

/** Whatever was thrown, as an Error. */
export function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

/** Marks a place that the types say cannot be reached. */
export function assertNever(value: never): never {
  throw new Error(`unhandled case: ${JSON.stringify(value)}`);
}

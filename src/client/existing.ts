/** Handles a create with an id that is already in use. */
import { PaymentServiceError } from './errors.ts';
import type { CallTotals } from './send.ts';

/** A success with a body that cannot be parsed: the resource may have been created. */
export function isUnreadable(error: unknown): boolean {
  return error instanceof PaymentServiceError && error.kind === 'unreadable_response';
}

/** HE_01, with any HTTP status. */
export function isIdInUse(error: unknown): boolean {
  return error instanceof PaymentServiceError && error.code === 'HE_01';
}

/**
 * Compares the request with the existing resource where both have a value, as text: a service may
 * return a number in the metadata as a string.
 * @throws PaymentServiceError of kind `id_in_use`, which names fields and no values.
 */
export function rejectMismatch(
  operation: string,
  idField: string,
  pairs: readonly (readonly [field: string, requested: unknown, existing: unknown])[],
  { attempts }: CallTotals,
): void {
  const fields = pairs
    .filter(
      ([, requested, existing]) =>
        requested !== undefined && String(existing ?? requested) !== String(requested),
    )
    .map(([field]) => field);
  if (fields.length === 0) return;
  throw new PaymentServiceError('id_in_use', {
    operation,
    message: `this ${idField} is in use by a resource with another ${fields.join(', ')}; choose another id`,
    attempts,
  });
}

/** What a create may come upon: something that exists already under the id that was chosen for it. */
import { PaymentServiceError } from './errors.ts';
import type { Spent } from './send.ts';

/** A yes in words that nobody can read: what was asked for may be there. */
export function isUnreadable(error: unknown): boolean {
  return error instanceof PaymentServiceError && error.kind === 'unreadable_response';
}

/** HE_01, whatever HTTP status it came with. */
export function saysItExists(error: unknown): boolean {
  return error instanceof PaymentServiceError && error.code === 'HE_01';
}

/**
 * Compares what was asked for with what exists, where both say something, as text: a service may
 * hand a number of the metadata back as a string.
 * @throws PaymentServiceError of kind `id_in_use`, which names fields and no values.
 */
export function refuseDifference(
  operation: string,
  idField: string,
  pairs: readonly (readonly [field: string, asked: unknown, existing: unknown])[],
  { attempts }: Spent,
): void {
  const fields = pairs
    .filter(
      ([, asked, existing]) => asked !== undefined && String(existing ?? asked) !== String(asked),
    )
    .map(([field]) => field);
  if (fields.length === 0) return;
  throw new PaymentServiceError('id_in_use', {
    operation,
    message: `this ${idField} belongs to another one: ${fields.join(', ')} differ`,
    attempts,
  });
}

/** How tests look at a call that fails. */
import { expect } from 'vitest';
import { PaymentServiceError } from '../../src/client/index.ts';

/** The error of a call that must fail, and must fail in the client's own way. */
export async function errorOf(call: Promise<unknown>): Promise<PaymentServiceError> {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(PaymentServiceError);
  return error as PaymentServiceError;
}

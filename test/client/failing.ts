/** Reads the error of a failed call. */
import { expect } from 'vitest';
import { PaymentServiceError } from '../../src/client/index.ts';

/** The error of a call that must fail with an error of the client. */
export async function errorOf(call: Promise<unknown>): Promise<PaymentServiceError> {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(PaymentServiceError);
  return error as PaymentServiceError;
}

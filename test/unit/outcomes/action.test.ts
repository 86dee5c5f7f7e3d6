/** What a failed request that moves money means. */
import { expect, test } from 'vitest';
import { type ClientErrorDetails, PaymentServiceError } from '../../../src/client/errors.ts';
import { attempt } from '../../../src/outcomes/action.ts';

const outcomeOf = async (
  details: Partial<ClientErrorDetails>,
  kind: 'refused' | 'outcome_unknown',
) =>
  (
    await attempt(() =>
      Promise.reject(
        new PaymentServiceError(kind, { operation: 'capturePayment', message: 'no', ...details }),
      ),
    )
  ).outcome;

test.each([
  // Another request locks the payment, or the processor is unavailable: the policy tries again.
  [422, 'HE_00', 'failed'],
  [400, 'CE_01', 'failed'],
  [422, 'CE_01', 'failed'],
  [409, 'IR_14', 'refused'],
  [422, 'PE_02', 'refused'],
  [400, undefined, 'refused'],
])('%s with %s is %s', async (httpStatus, code, outcome) => {
  expect(await outcomeOf({ httpStatus, code }, 'refused')).toBe(outcome);
});

test.each([
  [502, 'CE_01', 'failed'],
  [503, 'HE_00', 'failed'],
  [502, undefined, 'unknown'],
])('%s with %s is %s, although the response to a change is lost', async (...args) => {
  const [httpStatus, code, outcome] = args;
  const details = { httpStatus, code, outcomeUnknown: true };
  expect(await outcomeOf(details, 'outcome_unknown')).toBe(outcome);
});

/** Numbers are the rules of src/reconcile/domain/failures.ts. */
import { expect, test } from 'vitest';
import { affectsEveryRequest, failureOf } from '../../../src/reconcile/domain/failures.ts';

test.each([
  [{ kind: 'refused', httpStatus: 404, code: 'HE_02' }, 'missing', false],
  // A page of another server (rule 2).
  [{ kind: 'refused', httpStatus: 404, code: undefined }, 'wrong_server', true],
  [{ kind: 'refused', httpStatus: 301, code: undefined }, 'wrong_server', true],
  [{ kind: 'refused', httpStatus: 300, code: undefined }, 'wrong_server', true],
  [{ kind: 'refused', httpStatus: 299, code: undefined }, 'refused', false],
  [{ kind: 'refused', httpStatus: undefined, code: undefined }, 'refused', false],
  [{ kind: 'refused', httpStatus: 308, code: undefined }, 'wrong_server', true],
  [{ kind: 'refused', httpStatus: 401, code: 'AU_01' }, 'unauthorized', true],
  // Rule 3.
  [{ kind: 'refused', httpStatus: 403, code: undefined }, 'unauthorized', true],
  [{ kind: 'refused', httpStatus: 403, code: 'IR_22' }, 'forbidden', true],
  [{ kind: 'refused', httpStatus: 400, code: 'IR_04' }, 'refused', false],
  [{ kind: 'refused', httpStatus: 422, code: 'HE_00' }, 'refused', false],
  [{ kind: 'rate_limited', httpStatus: 429, code: 'RL_01' }, 'rate_limited', true],
  [{ kind: 'unavailable', httpStatus: undefined, code: undefined }, 'unavailable', true],
  [{ kind: 'unavailable', httpStatus: 503, code: 'HE_00' }, 'unavailable', true],
  [{ kind: 'unreadable_response', httpStatus: 200, code: undefined }, 'unreadable', false],
])('%j is %s, and affects every request: %s', (call, failure, affectsAll) => {
  const found = failureOf(call);
  expect(found).toBe(failure);
  expect(affectsEveryRequest(found)).toBe(affectsAll);
});

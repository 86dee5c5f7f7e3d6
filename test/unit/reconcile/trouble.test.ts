/** Numbers are the rules of src/reconcile/domain/trouble.ts. */
import { expect, test } from 'vitest';
import { isGeneral, troubleOf } from '../../../src/reconcile/domain/trouble.ts';

test.each([
  [{ kind: 'refused', httpStatus: 404, code: 'HE_02' }, 'missing', false],
  // A page of somebody else's that was not found (rule 2).
  [{ kind: 'refused', httpStatus: 404, code: undefined }, 'address', true],
  [{ kind: 'refused', httpStatus: 301, code: undefined }, 'address', true],
  [{ kind: 'refused', httpStatus: 308, code: undefined }, 'address', true],
  [{ kind: 'refused', httpStatus: 401, code: 'AU_01' }, 'key', true],
  [{ kind: 'refused', httpStatus: 403, code: undefined }, 'key', true],
  [{ kind: 'refused', httpStatus: 400, code: 'IR_04' }, 'refused', false],
  [{ kind: 'refused', httpStatus: 422, code: 'HE_00' }, 'refused', false],
  [{ kind: 'rate_limited', httpStatus: 429, code: 'RL_01' }, 'busy', true],
  [{ kind: 'unavailable', httpStatus: undefined, code: undefined }, 'away', true],
  [{ kind: 'unavailable', httpStatus: 503, code: 'HE_00' }, 'away', true],
  [{ kind: 'unreadable_response', httpStatus: 200, code: undefined }, 'unreadable', false],
])('%j is %s, and concerns every request: %s', (call, trouble, isForAll) => {
  const found = troubleOf(call);
  expect(found).toBe(trouble);
  expect(isGeneral(found)).toBe(isForAll);
});

/** How long background work of the ledger rests between two steps. */
import { expect, test } from 'vitest';
import { restAfterMs } from '../../../src/ledger/domain/rest.ts';

test('a step is followed by a rest as long as itself, and a slow one by four times that', () => {
  expect(restAfterMs(0)).toBe(0);
  expect(restAfterMs(500)).toBe(500);
  expect(restAfterMs(501)).toBe(2_004);
});

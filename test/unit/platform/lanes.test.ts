import { expect, test } from 'vitest';
import { LANES, laneOf } from '../../../src/platform/lanes.ts';

test('every version puts a key into the same lane', () => {
  expect([laneOf('pay_1'), laneOf('payout_1'), laneOf(Buffer.from('pay_1'))]).toEqual([
    458, 190, 458,
  ]);
});

test('keys are spread over all lanes', () => {
  const lanes = Array.from({ length: 20_000 }, (_, n) => laneOf(`pay_${n}`));
  expect(new Set(lanes).size).toBe(LANES);
  expect(Math.max(...lanes)).toBe(LANES - 1);
});

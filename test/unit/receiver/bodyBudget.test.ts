import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type BodyLimits,
  type BodyOrigin,
  createBodyBudget,
} from '../../../src/receiver/domain/bodyBudget.ts';

const LIMITS: BodyLimits = {
  unverifiedBytes: 100,
  unverifiedBytesPerAddress: 60,
  verifiedBytes: 80,
};

const from = (address: string, isVerified = false): BodyOrigin => ({ address, isVerified });

describe('the budget of bodies', () => {
  test('the largest body gives way, not the newest', () => {
    const budget = createBodyBudget<string>(LIMITS);
    expect(budget.charge('large', from('a'), 50)).toEqual([]);
    expect(budget.charge('medium', from('b'), 40)).toEqual([]);
    expect(budget.charge('small', from('c'), 20)).toEqual(['large']);
    expect(budget.total()).toBe(60);
  });

  test('among equals the oldest gives way', () => {
    const budget = createBodyBudget<string>(LIMITS);
    budget.charge('first', from('a'), 40);
    budget.charge('second', from('b'), 40);
    expect(budget.charge('third', from('c'), 40)).toEqual(['first']);
  });

  test('a body that grows gives way itself when it is the largest', () => {
    const budget = createBodyBudget<string>(LIMITS);
    budget.charge('a', from('a'), 50);
    budget.charge('b', from('b'), 45);
    expect(budget.charge('b', from('b'), 10)).toEqual(['b']);
  });

  test('an address beyond its share competes only with itself', () => {
    const budget = createBodyBudget<string>(LIMITS);
    budget.charge('other', from('b'), 40);
    budget.charge('first', from('a'), 30);
    expect(budget.charge('second', from('a'), 31)).toEqual(['second']);
    expect(budget.total()).toBe(70);
  });

  test('verified senders have a budget that others cannot exhaust', () => {
    const budget = createBodyBudget<string>(LIMITS);
    budget.charge('verified', from('a', true), 80);
    for (const address of ['a', 'b', 'c', 'd']) {
      expect(budget.charge(address, from(address), 60)).not.toContain('verified');
    }
    expect(budget.charge('one more', from('b', true), 1)).toEqual(['verified']);
  });

  test('a released body is not charged, and releasing it again has no effect', () => {
    const budget = createBodyBudget<string>(LIMITS);
    budget.charge('a', from('a'), 50);
    budget.release('a');
    budget.release('a');
    budget.release('unknown');
    expect(budget.total()).toBe(0);
    expect(budget.charge('b', from('a'), 60)).toEqual([]);
  });
});

const steps = fc.array(
  fc.record({
    body: fc.nat(9),
    bytes: fc.integer({ min: 0, max: 70 }),
    isRelease: fc.boolean(),
  }),
  { maxLength: 200 },
);

test('for any course of events: limits hold, and only a largest body of a full budget is refused', () => {
  fc.assert(
    fc.property(steps, (course) => {
      const budget = createBodyBudget<number>(LIMITS);
      const held = new Map<number, number>();
      const originOf = (body: number) => from('abc'[body % 3] ?? '', body >= 7);
      const sum = (isCounted: (body: number) => boolean) =>
        [...held].reduce((total, [body, bytes]) => (isCounted(body) ? total + bytes : total), 0);
      for (const { body, bytes, isRelease } of course) {
        if (isRelease) {
          budget.release(body);
          held.delete(body);
        } else {
          held.set(body, (held.get(body) ?? 0) + bytes);
          for (const refused of budget.charge(body, originOf(body), bytes)) {
            const { address, isVerified } = originOf(refused);
            expect(isVerified).toBe(originOf(body).isVerified);
            const rivals = [...held].filter(
              ([other]) =>
                originOf(other).isVerified === isVerified &&
                (isVerified || originOf(other).address === address),
            );
            expect(held.get(refused)).toBe(Math.max(...rivals.map(([, size]) => size)));
            held.delete(refused);
          }
        }
        expect(budget.total()).toBe(sum(() => true));
        expect(sum((one) => one >= 7)).toBeLessThanOrEqual(LIMITS.verifiedBytes);
        expect(sum((one) => one < 7)).toBeLessThanOrEqual(LIMITS.unverifiedBytes);
        for (const rest of [0, 1, 2]) {
          expect(sum((one) => one < 7 && one % 3 === rest)).toBeLessThanOrEqual(
            LIMITS.unverifiedBytesPerAddress,
          );
        }
      }
    }),
  );
});

/**
 * Seeded dice. A throw is a function of the seed and of what it is thrown for, never of what was
 * thrown before: the same payment meets the same faults in every run, whatever else happens.
 */
import { createHash } from 'node:crypto';

/** @returns a number from 0 up to, not including, 1 */
export type Dice = (...subject: readonly (string | number)[]) => number;

const RANGE = 2 ** 48;

export function createDice(seed: number): Dice {
  return (...subject) => {
    const digest = createHash('sha256')
      .update([seed, ...subject].join('\n'))
      .digest();
    return digest.readUIntBE(0, 6) / RANGE;
  };
}

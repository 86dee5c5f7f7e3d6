/**
 * Seeded random. A throw is a function of the seed and of what it is thrown for, never of what was
 * thrown before: the same payment meets the same faults in every run, whatever else happens.
 */
import { createHash } from 'node:crypto';

/** @returns a number from 0 up to, not including, 1 */
export type SeededRandom = (...subject: readonly (string | number)[]) => number;

const RANGE = 2 ** 48;

export function createSeededRandom(seed: number): SeededRandom {
  return (...subject) => {
    const digest = createHash('sha256')
      .update([seed, ...subject].join('\n'))
      .digest();
    return digest.readUIntBE(0, 6) / RANGE;
  };
}

/**
 * Seeded random numbers. A number is a function of the seed and its subject, not of earlier numbers:
 * the same payment meets the same faults in every run, regardless of other requests.
 */
import { createHash } from 'node:crypto';

/** @returns a number from 0 (inclusive) to 1 (exclusive) */
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

/** Repeatable random numbers, one stream for each use: what one use draws does not change what another does. */
import { type Random, seededRandom } from '../../src/platform/random.ts';

export type { Random };

/** @param name of the use */
export function randomStream(seed: number, name: string): Random {
  let state = seed | 0;
  for (const character of name) {
    state = Math.imul(state ^ (character.codePointAt(0) ?? 0), 0x5bd1e995);
    state ^= state >>> 13;
  }
  return seededRandom(state);
}

/** @returns an integer from `least` to `most` */
export function integer(random: Random, least: number, most: number): number {
  return least + Math.floor(random() * (most - least + 1));
}

export function pick<T>(random: Random, items: readonly T[]): T {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new Error('nothing to pick from');
  return item;
}

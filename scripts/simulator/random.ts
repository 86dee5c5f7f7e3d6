/** Repeatable random numbers, one stream for each use: what one use draws does not change what another does. */

/** Returns a number from 0 up to, not including, 1. */
export type Random = () => number;

/** @param name of the use */
export function randomStream(seed: number, name: string): Random {
  let state = seed | 0;
  for (const character of name) {
    state = Math.imul(state ^ (character.codePointAt(0) ?? 0), 0x5bd1e995);
    state ^= state >>> 13;
  }
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
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

/** Repeatable random numbers for tests. */

/** Returns a number from 0 up to, not including, 1. */
export type Random = () => number;

/** mulberry32: small, and the same on every platform. */
export function seededRandom(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** The seed of this run; TEST_SEED repeats an earlier one. */
export function testSeed(): number {
  const given = process.env.TEST_SEED;
  return given === undefined ? Math.floor(Math.random() * 1_000_000) : Number(given);
}

/** Random numbers of tests, and the seed that repeats them. */
export { type Random, seededRandom } from '../../src/platform/random.ts';

/** The seed of this run; TEST_SEED repeats an earlier one. */
export function testSeed(): number {
  const given = process.env.TEST_SEED;
  return given === undefined ? Math.floor(Math.random() * 1_000_000) : Number(given);
}

/**
 * The order of the parts of `npm run prove`.
 *
 * 1. Parts that measure speed run first, and alone.
 * 2. The others then run three at a time. The longest are last in the list, and begin first, so that no lane
 *    waits for them at the end.
 * 3. A part that breaks a guarantee or fails holds up no other.
 */
import type { PartRun } from './options.ts';
import { measuresSpeed } from './parts.ts';

/** Most parts wait for timers and other processes: on two cores, three at once leave little of them idle. */
const LANES = 3;

/**
 * @param prove runs one part, and returns whether its guarantees held
 * @returns whether the guarantees of every part held
 */
export async function runInLanes(
  runs: readonly PartRun[],
  prove: (run: PartRun) => Promise<boolean>,
): Promise<boolean> {
  const alone = runs.filter(({ part }) => measuresSpeed(part));
  const together = runs.filter(({ part }) => !measuresSpeed(part)).toReversed();
  const ofSpeed = await runEach(alone, 1, prove);
  const ofOthers = await runEach(together, LANES, prove);
  return [...ofSpeed, ...ofOthers].every((isHeld) => isHeld);
}

async function runEach(
  runs: readonly PartRun[],
  lanes: number,
  prove: (run: PartRun) => Promise<boolean>,
): Promise<readonly boolean[]> {
  const waiting = [...runs];
  const results: boolean[] = [];
  const runNext = async (): Promise<void> => {
    for (let run = waiting.shift(); run; run = waiting.shift()) results.push(await prove(run));
  };
  await Promise.all(Array.from({ length: lanes }, runNext));
  return results;
}

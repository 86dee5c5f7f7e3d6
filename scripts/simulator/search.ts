/** Lives one seed after the other, and makes the first failing one small. Loaded after a bug is planted. */
import { MODELS } from './database/models/index.ts';
import { changedStatements, fingerprintOf } from './database/statements.ts';
import { live } from './life.ts';
import { drawPlan } from './plan.ts';
import { shrink } from './shrink.ts';
import { summaryOf, writeStory } from './story.ts';

export interface Search {
  readonly firstSeed: number;
  /** Ends after so many lives, or after so many seconds. */
  readonly lives: number;
  readonly seconds: number;
  /** Whether the first failing life is made small, and printed as a story. */
  readonly isStoryWanted: boolean;
  readonly print: (line: string) => void;
}

export interface Found {
  readonly lives: number;
  readonly steps: number;
  readonly seconds: number;
  readonly failed: { readonly seed: number; readonly summary: string } | undefined;
}

export async function search({
  firstSeed,
  lives,
  seconds,
  isStoryWanted,
  print,
}: Search): Promise<Found> {
  const startMs = Date.now();
  const elapsed = () => (Date.now() - startMs) / 1000;
  let [done, steps] = [0, 0];
  while (done < lives && elapsed() < seconds) {
    const plan = drawPlan(firstSeed + done);
    const result = await live(plan);
    done += 1;
    steps += result.steps;
    if (result.problems.length === 0) continue;
    const found = {
      lives: done,
      steps,
      seconds: elapsed(),
      failed: { seed: plan.seed, summary: summaryOf(result) },
    };
    print(`seed ${plan.seed} fails ${found.failed.summary}`);
    print(paceOf(found));
    if (isStoryWanted) {
      const small = await shrink({ plan, result });
      for (const line of await writeStory(small.plan)) print(line);
    }
    return found;
  }
  const found = { lives: done, steps, seconds: elapsed(), failed: undefined };
  print(paceOf(found));
  return found;
}

function paceOf({ lives, steps, seconds }: Found): string {
  const rate = Math.round((lives / seconds) * 60);
  return `${lives} lives, ${steps} steps, ${seconds.toFixed(1)} s, ${rate} lives a minute`;
}

export function fingerprints(): readonly string[] {
  return MODELS.map(({ name, text }) => `${fingerprintOf(text)}  ${name}`);
}

/** Names of the statements that were changed since their models were written. */
export function changed(): readonly string[] {
  return changedStatements(MODELS).map(({ name }) => name);
}

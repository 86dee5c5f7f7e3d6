/** The command line of the simulator. docs/decisions/0165-simulator.md */
import { register } from 'node:module';
import { parseArgs } from 'node:util';
import { PLANTS, type Plant } from './plants.ts';

const USAGE = `usage: npm run simulate -- [--seed N] [--lives N] [--seconds N] [--plant NAME] [--brief]
       npm run simulate -- --fingerprints

  --seed N        the first seed; the next lives have the next seeds (1)
  --lives N       ends after so many lives (1000)
  --seconds N     ends after so many seconds (60)
  --brief         prints no story of a failing life
  --plant NAME    plants a bug first: ${PLANTS.map(({ name }) => name).join(', ')}
  --fingerprints  prints the fingerprints of the modeled statements
`;

/** @returns the exit code: 0 nothing is broken, 1 a life fails, 2 usage */
export async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seed: { type: 'string', default: '1' },
      lives: { type: 'string', default: '1000' },
      seconds: { type: 'string', default: '60' },
      plant: { type: 'string' },
      brief: { type: 'boolean', default: false },
      fingerprints: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const plant = PLANTS.find(({ name }) => name === values.plant);
  if (values.help || (values.plant !== undefined && plant === undefined)) {
    process.stderr.write(USAGE);
    return 2;
  }
  if (plant) register(new URL('plantHooks.js', import.meta.url), { data: plant });
  // After the bug is planted: it changes modules while they are loaded.
  const { changed, fingerprints, search } = await import('./search.ts');
  if (values.fingerprints) {
    for (const line of fingerprints()) print(line);
    return 0;
  }
  const stale = plant ? [] : changed();
  if (stale.length > 0) {
    print(`The text of ${stale.join(', ')} has changed. Compare it with its model, and write the`);
    print('fingerprint that `npm run simulate -- --fingerprints` prints beside the model.');
    return 1;
  }
  const limits = { lives: Number(values.lives), seconds: Number(values.seconds) };
  const options = { ...limits, isStoryWanted: !values.brief, print };
  const { failed } = await search({ ...options, firstSeed: Number(values.seed) });
  if (!failed) return 0;
  print(`Repeat it: npm run simulate -- --seed ${failed.seed} --lives 1${plantOption(plant)}`);
  return 1;
}

function plantOption(plant: Plant | undefined): string {
  return plant ? ` --plant '${plant.name}'` : '';
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

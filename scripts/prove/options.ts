/** The command line of `npm run prove`. */
import { parseArgs } from 'node:util';
import { FlagError, readCount, readNames } from '../../bench/runBench.ts';
import { PARTS, type Part } from './parts.ts';

export const HELP = `npm run prove -- [flags]

  --short         minutes instead of hours, with small counts
  --seed N        of everything that is chosen at random; without it, a new one
  --only PART     one part, can be repeated
  --count N       how many kills, orders, seeds, holds, events, pairs, runs or seconds, with one --only
  --resume        skips parts that have a result with this seed, count and commit; needs --seed
  --output DIR    where figures.md and figures.json are; docs, and with --short a folder of their own
  --help

Parts that measure speed run first and alone, the others three at a time. Each writes its result when it ends,
and replaces only its own. Exit code 1: an acknowledged event was lost, another guarantee was broken, or a part
failed; the other parts run all the same. Redis and PostgreSQL
are started where they are needed; without redis-server, parts with Redis fail.

Parts, with the count of the short and of the long form:
${PARTS.map(({ name, unit, short, long }) => `  ${name.padEnd(15)} ${short}, ${long} ${unit}`).join('\n')}`;

export interface Options {
  readonly isHelp: boolean;
  readonly runs: readonly PartRun[];
  readonly seed: number;
  readonly isResumed: boolean;
  /** Undefined: the folder of the form. */
  readonly outputDir: string | undefined;
  readonly isShort: boolean;
}

export interface PartRun {
  readonly part: Part;
  readonly count: number;
}

/**
 * @param newSeed used where none is given
 * @throws FlagError for flags that name nothing to run
 */
export function readOptions(args: readonly string[], newSeed: number): Options {
  const values = parse(args);
  const names = readNames(
    '--only',
    values.only,
    PARTS.map(({ name }) => name),
  );
  const parts = names.length === 0 ? PARTS : PARTS.filter(({ name }) => names.includes(name));
  if (values.count !== undefined && parts.length !== 1) {
    throw new FlagError('--count needs one part: name it with --only');
  }
  if (values.resume && values.seed === undefined) {
    throw new FlagError('--resume needs the --seed of the run that it continues');
  }
  const count = values.count === undefined ? undefined : readCount('--count', values.count);
  return {
    isHelp: values.help,
    runs: parts.map((part) => ({ part, count: count ?? (values.short ? part.short : part.long) })),
    seed: values.seed === undefined ? newSeed : readCount('--seed', values.seed),
    isResumed: values.resume,
    outputDir: values.output,
    isShort: values.short,
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        short: { type: 'boolean', default: false },
        seed: { type: 'string' },
        only: { type: 'string', multiple: true, default: [] },
        count: { type: 'string' },
        resume: { type: 'boolean', default: false },
        output: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    throw new FlagError(error instanceof Error ? error.message : String(error));
  }
}

/**
 * `npm run prove`: runs tests and benches with one seed, and writes what they measured as docs/figures.json and
 * docs/figures.md (docs/decisions/0166-figures.md). See `--help`.
 */
import { randomInt } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { FlagError } from '../bench/runBench.ts';
import { packageRoot } from '../src/platform/packageRoot.ts';
import { runInLanes } from './prove/lanes.ts';
import { describeMachine, describeProgram } from './prove/machine.ts';
import { HELP, type Options, type PartRun, readOptions } from './prove/options.ts';
import { writePage } from './prove/page.ts';
import { commandOf, PARTS } from './prove/parts.ts';
import {
  EMPTY,
  formatReport,
  isDone,
  outcomeOf,
  type PartResult,
  parseReport,
  type Report,
  withResult,
} from './prove/report.ts';
import { runInvocations } from './prove/runPart.ts';

/** The first seeds are those of the suite. */
const [LEAST_SEED, MOST_SEED] = [1_000, 1_000_000];

async function main(args: readonly string[], stop: AbortSignal): Promise<boolean> {
  const options = readOptions(args, randomInt(LEAST_SEED, MOST_SEED));
  if (options.isHelp) {
    console.log(HELP);
    return true;
  }
  const folder = folderOf(options);
  console.log(
    `Seed ${options.seed}, ${options.runs.length} parts, written to ${folder}.\n` +
      `To continue an interrupted run, add: --seed ${options.seed} --resume`,
  );
  return await runInLanes(
    options.runs,
    async (run) => !stop.aborted && (await prove(run, options, stop)),
  );
}

function folderOf({ outputDir, isShort }: Options): string {
  if (outputDir !== undefined) return resolve(outputDir);
  // Small counts must not replace what a long run measured.
  return isShort ? join(tmpdir(), 'tallyhook-figures') : join(packageRoot(), 'docs');
}

/** Runs one part and writes its result. @returns whether every guarantee held */
async function prove(run: PartRun, options: Options, stop: AbortSignal): Promise<boolean> {
  const { part, count } = run;
  const seed = part.isSeeded ? options.seed : null;
  const wanted = { part: part.name, seed, count, ...describeProgram() };
  const folder = folderOf(options);
  if (options.isResumed && isDone(readReport(folder), wanted)) {
    console.log(`\n${part.name}: done before`);
    return true;
  }
  console.log(`\n${part.name}: ${count} ${part.unit}\n  ${commandOf(wanted)}`);
  const startedAt = new Date();
  const recorded = await runInvocations(part.invocations(options.seed, count), {
    print: (line) => console.log(`${part.name} | ${line}`),
    stop,
  });
  // What was interrupted keeps its earlier result.
  if (stop.aborted) return false;
  const seconds = (Date.now() - startedAt.getTime()) / 1_000;
  const result: PartResult = {
    ...wanted,
    machine: describeMachine(),
    startedAt: startedAt.toISOString(),
    seconds: Math.round(seconds),
    exitCode: recorded.exitCode,
    records: [...recorded.records],
  };
  // Read again: another run may have written a part of its own meanwhile.
  writeReport(
    folder,
    withResult(
      readReport(folder),
      result,
      PARTS.map(({ name }) => name),
    ),
  );
  return printOutcome(result);
}

function printOutcome(result: PartResult): boolean {
  const outcome = outcomeOf(result);
  switch (outcome.outcome) {
    case 'held':
      console.log(`${result.part}: held, ${result.seconds} s`);
      return true;
    case 'broken':
      for (const promise of outcome.promises) console.error(`${result.part}: BROKEN: ${promise}`);
      return false;
    case 'failed':
      console.error(`${result.part}: FAILED, exit code ${result.exitCode}`);
      return false;
  }
}

function readReport(folder: string): Report {
  const file = join(folder, 'figures.json');
  return existsSync(file) ? parseReport(readFileSync(file, 'utf8')) : EMPTY;
}

function writeReport(folder: string, report: Report): void {
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of [
    ['figures.json', formatReport(report)],
    ['figures.md', writePage(report)],
  ] as const) {
    // Whole or not at all: a run may be ended at any time.
    writeFileSync(join(folder, `${name}.new`), text);
    renameSync(join(folder, `${name}.new`), join(folder, name));
  }
}

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
try {
  process.exitCode = (await main(process.argv.slice(2), stop.signal)) ? 0 : 1;
} catch (error) {
  const isFlag = error instanceof FlagError;
  console.error('prove:', isFlag ? error.message : error);
  process.exitCode = isFlag ? 2 : 1;
}

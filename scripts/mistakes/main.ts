/** The command line of scripts/check-mistakes.sh. */
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createCleanup } from '../../bench/cleanup.ts';
import { AREAS } from './areas/index.ts';
import { type Copy, copySources } from './copy.ts';
import { type Mistake, problemOf, withMistake } from './mistake.ts';
import { type FailedBy, openTests, type Tests, type TestsRun } from './tests.ts';

const USAGE = `usage: scripts/check-mistakes.sh [--area AREA] [--only TEXT]
areas: ${AREAS.map(({ name }) => name).join(', ')}
TEXT: a part of a guarantee, of its file or of its test file
`;

/** @returns the exit code: 0 each mistake is noticed, 1 one is not, 2 usage */
export async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: { area: { type: 'string' }, only: { type: 'string', default: '' } },
  });
  const mistakes = AREAS.filter(({ name }) => values.area === undefined || name === values.area)
    .flatMap((area) => area.mistakes)
    .filter(({ guarantee, file, test }) => `${guarantee}\n${file}\n${test}`.includes(values.only));
  if (mistakes.length === 0) {
    process.stderr.write(USAGE);
    return 2;
  }
  const cleanup = createCleanup();
  const copy = copySources(fileURLToPath(new URL('../../../', import.meta.url)));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      // At once: what the tests started may end this process before it is cleaned up.
      copy.remove();
      void cleanup.run().finally(() => process.exit(130));
    });
  }
  cleanup.add(copy.remove);
  const open = async (): Promise<Tests> => {
    const tests = await openTests(copy.root);
    cleanup.add(tests.close);
    return tests;
  };
  try {
    return (await checkAll({ copy, open }, mistakes)) ? 0 : 1;
  } finally {
    await cleanup.run();
  }
}

interface Parts {
  readonly copy: Copy;
  /** Starts tests, which are closed at the end at the latest. */
  readonly open: () => Promise<Tests>;
}

async function checkAll({ copy, open }: Parts, mistakes: readonly Mistake[]): Promise<boolean> {
  const problems = mistakes.flatMap((mistake) => problemOf(mistake, copy.read(mistake.file)) ?? []);
  for (const problem of problems) print(problem);
  if (problems.length > 0) return false;

  /** What each mistake was noticed by; undefined where it was not. */
  const results: (FailedBy | undefined)[] = [];
  const inSchema: Mistake[] = [];
  const tests = await open();
  const durationOf = createUnbrokenRuns(tests);
  for (const mistake of mistakes) {
    const unbrokenMs = await durationOf(mistake);
    if (unbrokenMs === undefined) results.push(undefined);
    else if (isInSchema(mistake)) inSchema.push(mistake);
    else results.push(await noticedBy({ copy, tests, unbrokenMs }, mistake));
  }
  await tests.close();
  for (const mistake of inSchema) {
    const own = await open();
    results.push(await noticedBy({ copy, tests: own, unbrokenMs: LONGEST_MS }, mistake));
    await own.close();
  }
  const count = (by: FailedBy | undefined): number =>
    results.filter((result) => result === by).length;
  const noticed = results.length - count(undefined);
  print(
    `${mistakes.length} mistakes: ${noticed} noticed, ${count(undefined)} not noticed; ` +
      `${count('assertion')} by an assertion, ${count('error')} by an error, ${count('deadline')} by a deadline`,
  );
  return noticed === mistakes.length;
}

/** The servers of the tests copy the schema when they start, so each of these needs servers of its own. */
function isInSchema({ file }: Mistake): boolean {
  return file.startsWith('migrations/');
}

/**
 * Runs the tests of a mistake without it, once for all: a test that fails anyway would notice everything.
 * @returns the milliseconds that they take; undefined if one fails
 */
function createUnbrokenRuns(tests: Tests): (mistake: Mistake) => Promise<number | undefined> {
  const known = new Map<string, number | undefined>();
  return async ({ test, named, guarantee }) => {
    const key = `${test} ${named}`;
    if (known.has(key)) return known.get(key);
    const startMs = performance.now();
    const { passed, failed, errors } = await tests.run([test], named, LONGEST_MS);
    const [failure] = [...failed.map(({ name }) => name), ...errors];
    const isPassed = failure === undefined && passed.length > 0;
    known.set(key, isPassed ? performance.now() - startMs : undefined);
    if (!isPassed) {
      const why =
        failure === undefined ? 'has no such test' : `fails without a mistake: ${failure}`;
      print(`NOT NOTICED  ${guarantee} | ${test} ${why}`);
    }
    return known.get(key);
  };
}

/** A test that takes as many times as long as all of its file without the mistake waits for what never comes. */
const SLOWER = 4;
/** Even a test of milliseconds may wait for a busy machine. */
const SHORTEST_MS = 30_000;
const LONGEST_MS = 150_000;

interface Trial {
  readonly copy: Copy;
  readonly tests: Tests;
  /** What the tests take without the mistake. */
  readonly unbrokenMs: number;
}

/** @returns what the mistake is noticed by; undefined if it is not */
async function noticedBy(trial: Trial, mistake: Mistake): Promise<FailedBy | undefined> {
  const { file, test, named, guarantee } = mistake;
  const timeoutMs = Math.min(Math.max(SLOWER * trial.unbrokenMs, SHORTEST_MS), LONGEST_MS);
  const startMs = performance.now();
  const { passed, failed, errors } = await runWith(trial, mistake, timeoutMs);
  const seconds = `${Math.round((performance.now() - startMs) / 1000)} s`;
  const notNoticed = (why: string): undefined => {
    print(`NOT NOTICED  ${seconds}  ${guarantee} | ${file}, by ${test}: ${why}`);
  };

  const [first] = failed;
  if (first === undefined) {
    return notNoticed(errors[0]?.split('\n')[0] ?? `${passed.length} tests pass`);
  }
  // A busy machine makes a test slow, too: without the mistake it has to be in time now.
  const isCause =
    first.by !== 'deadline' ||
    (await trial.tests.run([test], named, timeoutMs)).failed.length === 0;
  if (!isCause) return notNoticed(`${first.name} takes as long without the mistake`);
  print(`noticed      ${seconds}  by ${NOTICED_BY[first.by]}: ${first.name} | ${guarantee}`);
  return first.by;
}

const NOTICED_BY: Readonly<Record<FailedBy, string>> = {
  assertion: 'an assertion',
  error: 'an error',
  deadline: 'a deadline',
};

/** Runs the tests of a mistake with it in the code. */
async function runWith(
  { copy, tests }: Trial,
  mistake: Mistake,
  timeoutMs: number,
): Promise<TestsRun> {
  const { file, test, named } = mistake;
  const source = copy.read(file);
  copy.write(file, withMistake(mistake, source));
  try {
    tests.changed(file);
    return await tests.run([test], named, timeoutMs);
  } finally {
    copy.write(file, source);
    tests.changed(file);
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

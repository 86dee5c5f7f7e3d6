/**
 * Runs each test once without a mutant, and again with each mutant that it passes and that no test killed yet.
 * A mutant of a constant, which its module computed when it was loaded, runs with the tests that are near: the
 * constants of the module are computed again.
 *
 * With MUTATION_ACTIVE, it runs the tests once, with this mutant from the first module on.
 */
import { setMaxListeners } from 'node:events';
import { appendFileSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { type RunnerTask, type RunnerTestCase, TestRunner, vi } from 'vitest';
import { isKill, type Near, type Result, readResults } from './results.ts';
import { clearRunning, writeRunning } from './running.ts';
import { switches } from './switches.ts';

interface Limits {
  readonly ms: number;
  readonly rounds: number;
}

/** No mutant has this id, and what runs with it is not recorded. */
const NONE = -1;
/** A test that takes longer runs with what quick ones left. */
const QUICK_MS = 50;
/** A property is run this long with a mutant. */
const PROPERTY_MS = 2_000;
/** Rounds of loops of a test that runs with one mutant from the first module on. */
const ALONE_ROUNDS = 1_000_000;
/** Loading the modules of a file, and a test without a mutant, which has a limit of its own. */
const LOAD_MS = 120_000;

/** Passed while modules are loaded. */
const loaded = new Set<number>();
const activeText = process.env.MUTATION_ACTIVE ?? '';
const resultsFile = process.env.MUTATION_RESULTS ?? '';
const areQuickOnly = process.env.MUTATION_QUICK === 'true';
const killed = new Set(
  resultsFile === ''
    ? []
    : readResults(resultsFile).flatMap((result) => (isKill(result) ? result.mutant : [])),
);
const runningFile = process.env.MUTATION_RUNNING ?? '';
const nearFile = process.env.MUTATION_NEAR ?? '';
const nearModules: readonly Near[] =
  nearFile === '' ? [] : JSON.parse(readFileSync(nearFile, 'utf8'));

// One seed, so that runs can be compared; and the first failure is enough.
fc.configureGlobal({
  ...fc.readConfigureGlobal(),
  seed: 1,
  endOnFailure: true,
  ...(activeText === '' && { interruptAfterTimeLimit: PROPERTY_MS }),
});
if (activeText !== '') switches().activate(Number(activeText), ALONE_ROUNDS);
else switches();

export default class MutationRunner extends TestRunner {
  private readonly passedByTests = new Set<number>();
  private file = '';

  override onCollectStart(file: Parameters<TestRunner['onCollectStart']>[0]): void {
    this.file = file.name;
    switches().passed = new Set();
    this.runs('its modules are loaded', LOAD_MS, alone());
    super.onCollectStart(file);
  }

  async runTask(test: RunnerTestCase): Promise<void> {
    this.runs(test.name, LOAD_MS, alone());
    try {
      if (activeText === '') await this.runWithAndWithout(test);
      else {
        // The rounds of the tests before it are none of its own.
        switches().activate(Number(activeText), ALONE_ROUNDS);
        await run(test);
      }
    } finally {
      this.runs(`after ${test.name}`, LOAD_MS, alone());
    }
  }

  private async runWithAndWithout(test: RunnerTestCase): Promise<void> {
    // Vitest adds a listener for each run of a test, which lasts as long as the test.
    setMaxListeners(0, test.context.signal);
    for (const id of switches().passed) loaded.add(id);
    const end = switches().record();
    const startMs = performance.now();
    await run(test);
    const tookMs = performance.now() - startMs;
    const ms = 2_000 + 20 * tookMs;
    const { passed, rounds } = end();
    for (const id of passed) this.passedByTests.add(id);
    if (areQuickOnly && tookMs > QUICK_MS) return;
    const left = [...passed].filter((id) => !killed.has(id));
    const ofConstants = constantMutants(test.file.name, passed);
    if (left.length + ofConstants.length === 0) return;
    if (hasHooks(test)) {
      report({ kind: 'unrepeatable', test: nameOf(test), why: 'it has hooks' });
      return;
    }
    await this.runMutants(test, left, { ms, rounds });
    await this.runMutants(test, ofConstants, { ms, rounds }, true);
  }

  private async runMutants(
    test: RunnerTestCase,
    ids: readonly number[],
    limits: Limits,
    areOfConstants = false,
  ): Promise<void> {
    if (ids.length === 0) return;
    const constants = areOfConstants ? constantsOf(ids) : [];
    const before = await this.again(test, limits, constants);
    const found: number[] = [];
    if (before === undefined) {
      for (const id of ids) {
        const failure = await this.again(test, limits, areOfConstants ? constantsOf([id]) : [], id);
        if (failure !== undefined) found.push(id);
      }
    }
    const why = before ?? (found.length > 0 ? await this.again(test, limits, []) : undefined);
    if (why !== undefined) {
      report({ kind: 'unrepeatable', test: nameOf(test), why });
      return;
    }
    for (const mutant of found) {
      killed.add(mutant);
      report({ kind: 'killed', mutant, test: nameOf(test) });
    }
  }

  /** Runs a test once more. @returns why it failed */
  private async again(
    test: RunnerTestCase,
    { ms, rounds }: Limits,
    constants: Parameters<ReturnType<typeof switches>['recompute']>[0],
    id?: number,
  ): Promise<string | undefined> {
    const { result } = test;
    this.runs(test.name, ms, id);
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
    vi.unstubAllGlobals();
    vi.useRealTimers();
    test.result = { state: 'run', startTime: 0 };
    switches().activate(id ?? NONE, rounds);
    try {
      switches().recompute(constants);
      this.onBeforeTryTask(test);
      await inTime(run(test), ms);
      this.onAfterTryTask(test);
      return test.result.state === ('fail' as string) ? 'a soft assertion' : undefined;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    } finally {
      switches().deactivate();
      switches().restore(constants);
      if (result === undefined) delete test.result;
      else test.result = result;
    }
  }

  override onAfterRunFiles(): void {
    super.onAfterRunFiles();
    report({
      kind: 'passed',
      file: this.file,
      tests: [...this.passedByTests],
      load: [...switches().passed, ...switches().passedByConstants],
    });
    this.passedByTests.clear();
    clearRunning(runningFile);
  }

  private runs(test: string, limitMs: number, mutant?: number): void {
    writeRunning(runningFile, { file: this.file, test, mutant, limitMs });
  }
}

/** The mutant that is active from the first module on. */
function alone(): number | undefined {
  return activeText === '' || Number(activeText) === NONE ? undefined : Number(activeText);
}

/** Mutants of constants of modules that a test is near, if no test killed them and none passes them. */
function constantMutants(testFile: string, passed: ReadonlySet<number>): readonly number[] {
  const passes = ([first, end]: readonly [number, number]) =>
    [...passed].some((id) => id >= first && id < end);
  return nearModules
    .filter(({ tests, ids }) => tests.includes(testFile) || ids.some(passes))
    .flatMap(({ file }) => switches().constants.filter((constant) => constant.file === file))
    .flatMap(({ ids: [first, end] }) => Array.from({ length: end - first }, (_, at) => first + at))
    .filter((id) => loaded.has(id) || switches().passedByConstants.has(id))
    .filter((id) => !passed.has(id) && !killed.has(id));
}

/** The constants of the modules that have these mutants. */
function constantsOf(ids: readonly number[]) {
  const { constants } = switches();
  const files = new Set(
    constants
      .filter(({ ids: [first, end] }) => ids.some((id) => id >= first && id < end))
      .map(({ file }) => file),
  );
  return constants.filter(({ file }) => files.has(file));
}

/** Tests replace the timers of the process. */
const { setTimeout, clearTimeout } = globalThis;

/** A test that waits for what a mutant prevents has failed. */
async function inTime(running: Promise<void>, limitMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it takes longer than ${limitMs} ms`)), limitMs);
  });
  try {
    await Promise.race([running, late]);
  } finally {
    clearTimeout(timer);
  }
}

async function run(test: RunnerTestCase): Promise<void> {
  await TestRunner.getTestFn(test)();
}

function hasHooks(test: RunnerTask): boolean {
  const suites: Parameters<typeof TestRunner.getSuiteHooks>[0][] = [test.file];
  for (let { suite } = test; suite !== undefined; suite = suite.suite) suites.push(suite);
  return suites.some((suite) => {
    const { beforeEach, afterEach } = TestRunner.getSuiteHooks(suite);
    return beforeEach.length + afterEach.length > 0;
  });
}

function nameOf(test: RunnerTask): string {
  return `${test.file.name} > ${test.name}`;
}

function report(result: Result): void {
  if (resultsFile !== '') appendFileSync(resultsFile, `${JSON.stringify(result)}\n`);
}

/** Runs unit tests in one worker of one Vitest, which loads the sources with their mutants. */
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createVitest, type TestSpecification } from 'vitest/node';
import { type Near, type Result, readResults } from './results.ts';
import { clearRunning, type Running, readRunning, watchRunning } from './running.ts';

export interface Failure {
  readonly file: string;
  readonly text: string;
}

export interface Tests {
  /**
   * Runs files in this order, with every mutant that they pass. A test that fails without a mutant, or does not
   * end, takes nothing from the results of the others.
   */
  runAll(
    files: readonly string[],
    near: readonly Near[],
  ): Promise<{ readonly results: readonly Result[]; readonly failures: readonly Failure[] }>;
  /**
   * Loads everything again, with one mutant or none, and runs each test once.
   * @returns the tests and files that fail, with a mutant only the first one
   */
  runAlone(files: readonly string[], mutant: number | undefined): Promise<readonly Failure[]>;
  close(): Promise<void>;
}

/** The code of a file of the project, with its mutants. */
export type Load = (file: string, source: string) => string;

/** Ends a test that waits forever because of a mutant. */
const TEST_TIMEOUT_MS = 60_000;
/** An id that no mutant has. */
const NONE = -1;

export async function openTests(root: string, load: Load): Promise<Tests> {
  const folder = mkdtempSync(path.join(tmpdir(), 'tallyhook-mutation-'));
  const results = path.join(folder, 'results.jsonl');
  const nearFile = path.join(folder, 'near.json');
  const { vitest, run } = await openVitest(root, load, path.join(folder, 'running.json'));
  const endless = new Set<string>();
  const runOn = runnerOf(run, endless);
  return {
    runAll: async (files, near) => {
      writeFileSync(nearFile, JSON.stringify(near));
      writeFileSync(results, '');
      const failures = new Map<string, Failure>();
      for (const isQuick of ['true', 'false']) {
        const env = { MUTATION_RESULTS: results, MUTATION_NEAR: nearFile, MUTATION_QUICK: isQuick };
        const found = await runOn(files, env, ({ file, test, mutant = NONE }) => {
          const stalled: Result = { kind: 'stalled', mutant, test: `${file} > ${test}` };
          appendFileSync(results, `${JSON.stringify(stalled)}\n`);
        });
        for (const failure of found) failures.set(failure.text, failure);
      }
      return { results: readResults(results), failures: [...failures.values()] };
    },
    runAlone: async (files, mutant = NONE) => {
      const env = { MUTATION_ACTIVE: String(mutant) };
      if (mutant === NONE) return runOn(files, env);
      const { failures, stalled } = await run(
        files.filter((file) => !endless.has(file)),
        env,
        1,
      );
      return stalled === undefined ? failures : [...failures, failureOf(stalled)];
    },
    close: async () => {
      await vitest.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Runs files in this order. If a test does not end with a mutant, its file and those after it run again; if it
 * does not end without one, those after it do, and its file never again.
 * @param endless files with a test that does not end without a mutant
 */
function runnerOf(run: Awaited<ReturnType<typeof openVitest>>['run'], endless: Set<string>) {
  return async (
    files: readonly string[],
    env: Record<string, string>,
    onStalledMutant?: (stalled: Running) => void,
  ): Promise<readonly Failure[]> => {
    const found: Failure[] = [];
    let left = files.filter((file) => !endless.has(file));
    while (left.length > 0) {
      const { failures, stalled } = await run(left, env);
      found.push(...failures);
      if (stalled === undefined) break;
      left = left.slice(left.indexOf(stalled.file));
      if (stalled.mutant !== undefined) onStalledMutant?.(stalled);
      else {
        found.push(failureOf(stalled));
        endless.add(stalled.file);
        left = left.slice(1);
      }
    }
    return found;
  };
}

function failureOf({ file, test }: Running): Failure {
  return { file, text: `${file} > ${test}: does not end` };
}

async function openVitest(root: string, load: Load, runningFile: string) {
  let order: readonly string[] = [];
  const place = ({ moduleId }: TestSpecification) => order.indexOf(path.relative(root, moduleId));
  const vitest = await createVitest(
    'test',
    {
      root,
      config: false,
      watch: false,
      include: ['test/{unit,client}/**/*.test.ts'],
      setupFiles: [path.join(root, 'test/support/propertyTests.ts')],
      runner: path.join(root, 'scripts/mutation/runner.ts'),
      isolate: false,
      // A process can be ended while it runs a loop without an end.
      pool: 'forks',
      maxWorkers: 1,
      reporters: [{}],
      silent: true,
      restoreMocks: true,
      unstubEnvs: true,
      unstubGlobals: true,
      testTimeout: TEST_TIMEOUT_MS,
      hookTimeout: TEST_TIMEOUT_MS,
      sequence: {
        sequencer: class {
          sort = (files: TestSpecification[]) => files.sort((a, b) => place(a) - place(b));
          shard = (files: TestSpecification[]) => files;
        },
      },
    },
    {
      plugins: [
        {
          name: 'mutation',
          enforce: 'pre',
          transform: (source, id) => {
            const file = path.relative(root, id.split('?')[0] ?? id);
            return /^(src|test)\/.*\.tsx?$/.test(file) ? load(file, source) : undefined;
          },
        },
      ],
    },
  );
  await vitest.standalone();
  const run = async (
    files: readonly string[],
    env: Record<string, string>,
    bail = 0,
  ): Promise<{ readonly failures: readonly Failure[]; readonly stalled: Running | undefined }> => {
    order = files;
    const withRunning = { MUTATION_RUNNING: runningFile, ...env };
    for (const { config } of vitest.projects) Object.assign(config, { env: withRunning, bail });
    vitest.config.bail = bail;
    const found = await Promise.all(
      files.map((file) => vitest.globTestSpecifications([path.join(root, file)])),
    );
    clearRunning(runningFile);
    const unwatch = watchRunning(runningFile);
    const { testModules } = await vitest.runTestSpecifications(found.flat());
    unwatch();
    // Vitest keeps the modules of earlier runs.
    const failures = testModules
      .filter(({ relativeModuleId }) => files.includes(relativeModuleId))
      .flatMap(failuresOf);
    // The process of the tests ended in the middle of one.
    return { failures, stalled: readRunning(runningFile) };
  };
  return { vitest, run };
}

type TestModule = Awaited<
  ReturnType<Awaited<ReturnType<typeof createVitest>>['runTestSpecifications']>
>['testModules'][number];

/** Errors outside of tests, which a mutant leaves behind, are none of its failures. */
function failuresOf(module: TestModule): readonly Failure[] {
  const file = module.relativeModuleId;
  const suites = [...module.children.allSuites()].flatMap((suite) => suite.errors());
  const failed = [...module.children.allTests()].filter((test) => test.result().state === 'failed');
  return [
    ...[...module.errors(), ...suites].map(({ message }) => ({
      file,
      text: `${file}: ${message}`,
    })),
    ...failed.map(({ fullName }) => ({ file, text: `${file} > ${fullName}` })),
  ];
}

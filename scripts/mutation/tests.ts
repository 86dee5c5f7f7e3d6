/** Runs unit tests in one worker of one Vitest, which loads the sources with their mutants. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createVitest, type TestSpecification } from 'vitest/node';
import { type Near, type Result, readResults } from './results.ts';

export interface Failure {
  readonly file: string;
  readonly text: string;
}

export interface Tests {
  /** Runs files in this order, with every mutant that they pass. */
  runAll(files: readonly string[], near: readonly Near[]): Promise<readonly Result[]>;
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
  const { vitest, run } = await openVitest(root, load);
  return {
    runAll: async (files, near) => {
      writeFileSync(nearFile, JSON.stringify(near));
      writeFileSync(results, '');
      for (const isQuick of ['true', 'false']) {
        const failures = await run(files, {
          MUTATION_RESULTS: results,
          MUTATION_NEAR: nearFile,
          MUTATION_QUICK: isQuick,
        });
        const [failure] = failures;
        if (failure !== undefined) throw new Error(`fails without a mutant: ${failure.text}`);
      }
      return readResults(results);
    },
    runAlone: (files, mutant = NONE) =>
      run(files, { MUTATION_ACTIVE: String(mutant) }, mutant === NONE ? 0 : 1),
    close: async () => {
      await vitest.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function openVitest(root: string, load: Load) {
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
      pool: 'threads',
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
  ): Promise<readonly Failure[]> => {
    order = files;
    for (const { config } of vitest.projects) Object.assign(config, { env, bail });
    vitest.config.bail = bail;
    const found = await Promise.all(
      files.map((file) => vitest.globTestSpecifications([path.join(root, file)])),
    );
    const { testModules } = await vitest.runTestSpecifications(found.flat());
    // Vitest keeps the modules of earlier runs.
    return testModules
      .filter(({ relativeModuleId }) => files.includes(relativeModuleId))
      .flatMap(failuresOf);
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

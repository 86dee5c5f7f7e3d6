/**
 * Runs tests of a copy of the sources, in one Vitest: its servers start once for many runs. Each run has new
 * workers, which load the modules as they are then.
 */
import path from 'node:path';
import { createVitest, type TestCase, type TestSpecification } from 'vitest/node';

/** An assertion does not hold, something throws, or the test waits for what does not come in its time. */
export type FailedBy = 'assertion' | 'error' | 'deadline';

export interface FailedTest {
  readonly name: string;
  readonly by: FailedBy;
}

export interface TestsRun {
  readonly passed: readonly string[];
  readonly failed: readonly FailedTest[];
  /** Errors outside of tests: of files that do not load, of hooks, and unhandled ones. */
  readonly errors: readonly string[];
}

export interface Tests {
  /**
   * Runs files, and ends the run at the first test that fails.
   * @param named a regular expression over the full names of tests
   * @param timeoutMs of each test and hook: one that takes longer has failed
   */
  run(files: readonly string[], named: string | undefined, timeoutMs: number): Promise<TestsRun>;
  /** Has later runs load a file again, which has changed. */
  changed(file: string): void;
  close(): Promise<void>;
}

export async function openTests(root: string): Promise<Tests> {
  let onFailed = (): void => undefined;
  const vitest = await createVitest('test', {
    root,
    watch: false,
    reporters: [
      {
        onTestCaseResult: (test) => {
          if (test.result().state === 'failed') onFailed();
        },
      },
    ],
  });
  await vitest.standalone();
  return {
    run: async (files, named, timeoutMs) => {
      for (const { config } of vitest.projects) {
        config.testTimeout = timeoutMs;
        config.hookTimeout = timeoutMs;
      }
      const specifications = await specificationsOf(files, (file) =>
        vitest.globTestSpecifications([path.join(root, file)]),
      );
      vitest.setGlobalTestNamePattern(named ?? '');
      let isCancelled = false;
      onFailed = () => {
        if (!isCancelled) void vitest.cancelCurrentRun('test-failure');
        isCancelled = true;
      };
      const { testModules, unhandledErrors } = await vitest.runTestSpecifications(specifications);
      const modules = testModules.filter((module) =>
        specifications.some(
          ({ moduleId, project }) => moduleId === module.moduleId && project === module.project,
        ),
      );
      const tests = modules.flatMap((module) => [...module.children.allTests()]);
      const inState = (state: ReturnType<TestCase['result']>['state']) =>
        tests.filter((test) => test.result().state === state);
      return {
        passed: inState('passed').map(nameOf),
        failed: inState('failed').map((test) => ({ name: nameOf(test), by: failedBy(test) })),
        errors: [
          ...modules.flatMap((module) => [
            ...module.errors(),
            ...[...module.children.allSuites()].flatMap((suite) => suite.errors()),
          ]),
          // A run that was ended leaves promises behind.
          ...(isCancelled ? [] : unhandledErrors),
        ].map((error) => (error instanceof Error ? error.message : messageIn(error))),
      };
    },
    changed: (file) => vitest.invalidateFile(path.join(root, file)),
    close: () => vitest.close(),
  };
}

/** The full name of a test as a pattern meets it. */
function nameOf({ fullName }: TestCase): string {
  return fullName.replaceAll(' > ', ' ');
}

/** By the first error: what is cleaned up after a deadline fails, too. */
function failedBy(test: TestCase): FailedBy {
  const [error] = test.result().errors ?? [];
  if (error?.name === 'AssertionError') return 'assertion';
  // Of Vitest, and of waitFor.
  return error !== undefined && /timed out (in|after) \d+ ?ms/.test(error.message)
    ? 'deadline'
    : 'error';
}

/** Each file in each project that has it: some tests are skipped in memory. */
async function specificationsOf(
  files: readonly string[],
  find: (file: string) => Promise<TestSpecification[]>,
): Promise<TestSpecification[]> {
  const found: TestSpecification[] = [];
  for (const file of files) {
    const ofFile = await find(file);
    if (ofFile.length === 0) throw new Error(`${file}: there is no such test file`);
    found.push(...ofFile);
  }
  return found;
}

function messageIn(error: unknown): string {
  return typeof error === 'object' && error !== null && 'message' in error
    ? String(error.message)
    : String(error);
}

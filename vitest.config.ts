import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { LongFilesFirst } from './test/support/longFilesFirst.ts';

const UNIT = 'test/{unit,client}/**';
const MINUTE_MS = 60_000;

const unitOptions = {
  // Seconds are enough, but not on a machine that does forty other things. It ends a test that never would.
  testTimeout: 10 * MINUTE_MS,
  hookTimeout: 10 * MINUTE_MS,
  // What a test replaces is put back before the next one.
  restoreMocks: true,
  unstubEnvs: true,
  unstubGlobals: true,
};

const serviceOptions = {
  globalSetup: ['test/support/globalSetup.ts'],
  // Ends a test that would wait forever, later than `waitFor` does, which names what it waits for. Speed is
  // measured by `bench/`, never by a test.
  testTimeout: 30 * MINUTE_MS,
  hookTimeout: 30 * MINUTE_MS,
  // These tests wait for servers, timers and other processes more than half of the time.
  maxWorkers: 3 * availableParallelism(),
  // After the unit tests, which fail in seconds where they do.
  sequence: { groupOrder: 1 },
};

/** `unit` needs no services and takes seconds; the others run over real PostgreSQL and Redis. */
export default defineConfig({
  test: {
    sequence: { sequencer: LongFilesFirst },
    // A module is transformed once for all projects, and once for all runs until it changes.
    experimental: { fsModuleCache: true },
    projects: [
      {
        test: {
          ...unitOptions,
          name: 'unit',
          include: [`${UNIT}/*.test.ts`],
          exclude: [`${UNIT}/*.isolated.test.ts`],
          // Files share the modules of their worker: loading these for each file took as long as
          // the tests themselves. `leakCheck.ts` fails a file that leaves something behind.
          isolate: false,
          setupFiles: ['test/support/leakCheck.ts', 'test/support/propertyTests.ts'],
        },
      },
      {
        test: {
          ...unitOptions,
          setupFiles: ['test/support/propertyTests.ts'],
          // Files that replace a module by `vi.mock`, which needs modules that nothing loaded yet.
          name: 'unit-isolated',
          include: [`${UNIT}/*.isolated.test.ts`],
        },
      },
      {
        test: {
          ...serviceOptions,
          name: 'services',
          include: [
            'test/{alerts,archive,audit,authorizations,cli,conformance,console,db,erasure,flow,ledger,monitor,notify,pack,pages,platform,receiver,reconcile,retention,sandbox,scheduler}/**/*.test.ts',
          ],
          // Has no database.
          exclude: ['test/sandbox/package.test.ts'],
          // As for the unit tests: half of the processor time of these files was loading modules.
          isolate: false,
          setupFiles: ['test/support/leakCheck.ts'],
        },
      },
      {
        test: {
          ...serviceOptions,
          name: 'memory-sandbox',
          // The conformance suite and what else a caller of the sandbox sees, once more with its data in
          // memory, as in the package @tallyhook/sandbox.
          include: [
            'test/conformance/**/*.test.ts',
            'test/sandbox/{analytics,badInput,client,clientFaults,clock,faults,package,races,recent,serviceVariants,store,tolerance,webhooks}.test.ts',
          ],
          env: { TEST_SANDBOX_STORE: 'memory' },
          globalSetup: [],
          isolate: false,
          setupFiles: ['test/support/leakCheck.ts'],
        },
      },
    ],
  },
});

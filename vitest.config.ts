import { defineConfig } from 'vitest/config';

/** `unit` needs no services and takes seconds; `services` runs over real PostgreSQL and Redis. */
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/{unit,client}/**/*.test.ts'],
          // Seconds are enough, but not on a machine that does ten other things.
          testTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'services',
          include: [
            'test/{alerts,cli,conformance,console,db,flow,ledger,platform,receiver,reconcile,sandbox,scheduler}/**/*.test.ts',
          ],
          globalSetup: ['test/support/globalSetup.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          maxWorkers: 2,
          // After the unit tests, which fail in seconds where they do.
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});

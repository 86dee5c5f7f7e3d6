/** Runs the longest files first, so that the end of a run does not wait for one of them alone. */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Those of more than 40 seconds, the longest first. */
const LONG_FILES = [
  'flow/falseAlarms',
  'flow/leastRights',
  'flow/redisFleets',
  'db/embeddedPostgres',
  'ledger/verify',
  'pages/browser',
  'flow/gracefulStop',
  'archive/kill',
  'reconcile/lists',
  'flow/queueProblems',
  'flow/killedBodies',
  'flow/databaseUnavailable',
  'flow/embeddedLost',
  'flow/kill',
  'flow/authorizations',
  'cli/demo',
  'cli/cli',
  'audit/operators',
  'receiver/badInput',
];

export class LongFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => placeOf(a) - placeOf(b));
  }
}

function placeOf({ moduleId }: TestSpecification): number {
  const place = LONG_FILES.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
  return place === -1 ? LONG_FILES.length : place;
}

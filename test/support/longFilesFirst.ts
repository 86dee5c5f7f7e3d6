/** Runs the longest files first, so that the end of a run does not wait for one of them alone. */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Those of more than 35 seconds, the longest first. */
const LONG_FILES = [
  'flow/falseAlarms',
  'pages/withoutScript',
  'pack/client',
  'flow/redisFleets',
  'pack/examples',
  'flow/databaseUnavailable',
  'flow/authorizations',
  'flow/leastRights',
  'pack/sandbox',
  'flow/gracefulStop',
  'cli/cli',
  'flow/killWhileHealing',
  'cli/manual',
  'flow/killedBodies',
  'pages/browser',
  'pages/everyPage',
  'reconcile/repair',
  'cli/demo',
  'flow/statements',
  'platform/queueInCluster',
  'db/embeddedPostgres',
  'platform/queue',
  'reconcile/lists',
  'authorizations/policyAttempts',
  'cli/exportEntries',
  'flow/simulatedYear',
  'conformance/statements',
  'cli/outputs',
  'flow/queueProblems',
  'flow/kill',
  'ledger/proveLedger',
  'flow/clocks',
  'sandbox/shopIntegration',
  'flow/killedVerify',
  'flow/embeddedLost',
  'flow/readsFromStandby',
  'pages/sandbox',
  'cli/reconcile',
  'flow/rollingDeploy',
  'audit/money',
  'flow/listen',
  'authorizations/backlog',
  'cli/paging',
  'pages/live',
];

export class LongFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    // Each worker loads all modules once more when it changes to another project.
    return sorted.toSorted(
      (a, b) => a.project.name.localeCompare(b.project.name) || placeOf(a) - placeOf(b),
    );
  }
}

function placeOf({ moduleId }: TestSpecification): number {
  const place = LONG_FILES.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
  return place === -1 ? LONG_FILES.length : place;
}

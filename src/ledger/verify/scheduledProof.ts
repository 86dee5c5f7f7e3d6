/** One step of the nightly run of verify, for the scheduler. */
import type { Database } from '../../platform/db/database.ts';
import type { Log } from '../../platform/log.ts';
import { checkRange } from './checkRange.ts';
import { proveLedger } from './proveLedger.ts';

/** Shorter than the interval between steps, and than the longest run that the scheduler expects. */
const STEP_SECONDS = 240;

export interface ScheduledProofParts {
  readonly db: Database;
  readonly log: Log;
  readonly merchantId: string;
  readonly chainKey: string | undefined;
  readonly fullDays: number;
}

/** Checks one range at a time: webhooks and workers come first. The next step continues. */
export function createScheduledProof(parts: ScheduledProofParts): () => Promise<void> {
  const { db, log, merchantId, chainKey, fullDays } = parts;
  return async () => {
    const result = await proveLedger(db, {
      merchantId,
      chainKey,
      mode: 'incremental',
      fullDays,
      maxSeconds: STEP_SECONDS,
      openLanes: () => [(task) => checkRange(db, task)],
    });
    if (result.outcome === 'busy') return;
    const { passed, checks, ranges, proof } = result.report;
    if (passed) {
      log.info({ ranges, rangesLeft: proof.due }, 'verify.passed');
      return;
    }
    const failed = checks.filter(({ failures }) => failures > 0).map(({ name }) => name);
    log.error({ checks: failed, failures: proof.failures, rangesLeft: proof.due }, 'verify.failed');
  };
}

/** One step of the nightly run of verify, for the scheduler. */
import { startStopwatch } from '../../platform/clock.ts';
import type { Database } from '../../platform/db/database.ts';
import type { Log } from '../../platform/log.ts';
import type { sleep } from '../../platform/sleep.ts';
import { SECOND_MS } from '../../platform/time.ts';
import { checkRange } from './checkRange.ts';
import { type Checker, proveLedger } from './proveLedger.ts';

/** Shorter than the interval between steps, and than the longest run that the scheduler expects. */
const STEP_SECONDS = 240;

export interface ScheduledProofParts {
  readonly db: Database;
  readonly log: Log;
  readonly merchantId: string;
  readonly chainKey: string | undefined;
  readonly fullDays: number;
  readonly sleep: typeof sleep;
  /** Ends a rest; no range begins afterwards. */
  readonly signal: AbortSignal;
}

/**
 * Checks one range at a time, and rests after each for as long as it took: webhooks and workers come first.
 * The next step continues.
 */
export function createScheduledProof(parts: ScheduledProofParts): () => Promise<void> {
  const { db, log, merchantId, chainKey, fullDays, signal } = parts;
  const checker: Checker = async (task) => {
    const elapsedSeconds = startStopwatch();
    const checks = await checkRange(db, task);
    await parts.sleep(elapsedSeconds() * SECOND_MS, signal);
    return checks;
  };
  return async () => {
    const result = await proveLedger(db, {
      merchantId,
      chainKey,
      mode: 'incremental',
      fullDays,
      maxSeconds: STEP_SECONDS,
      signal,
      openCheckers: () => [checker],
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

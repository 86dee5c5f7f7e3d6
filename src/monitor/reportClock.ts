/**
 * Each process reports the clock of its machine while it differs from the database's, so that the system
 * watch can alert (domain/systemRules.ts), and deletes the report when the clock is correct again.
 */
import type { Database } from '../platform/db/database.ts';
import { CLOCK_SKEW_WARNING_MS, type DatabaseClock } from '../platform/db/databaseClock.ts';
import type { Log } from '../platform/log.ts';
import { deleteClockReport, saveClockReport } from './store/clockReports.ts';

export interface ClockReporterParts {
  readonly db: Database;
  readonly clock: Pick<DatabaseClock, 'skewMs'>;
  readonly log: Log;
  /** Host and process id. */
  readonly process: string;
  readonly roles: string;
}

export interface ClockReporter {
  /** Reports the current skew. Throws if the database is unavailable. */
  report(): Promise<void>;
  /** Deletes the report. */
  close(): Promise<void>;
}

export function createClockReporter(parts: ClockReporterParts): ClockReporter {
  const { db, clock, log, process, roles } = parts;
  let isReported = false;
  const deleteReport = async (): Promise<void> => {
    if (!isReported) return;
    await deleteClockReport(db, process);
    isReported = false;
  };
  return {
    report: async () => {
      const skewMs = clock.skewMs() ?? 0;
      if (Math.abs(skewMs) <= CLOCK_SKEW_WARNING_MS) {
        if (isReported) log.info('clock.corrected');
        await deleteReport();
        return;
      }
      if (!isReported) log.warn({ skewMs }, 'clock.skewed');
      isReported = true;
      await saveClockReport(db, { process, roles, skewMs });
    },
    close: () => deleteReport().catch(() => undefined),
  };
}

/**
 * Each process reports its machine's clock while it differs from the database's, for the watch over the
 * system to alert about (domain/rules/system.ts), and takes the report back once it is right.
 */
import type { Database } from '../platform/db/database.ts';
import { CLOCK_OFF_MS, type DatabaseClock } from '../platform/db/databaseClock.ts';
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
  /** Reports the clock as it is now. Throws when the database is unavailable. */
  report(): Promise<void>;
  /** Takes back what was reported. */
  close(): Promise<void>;
}

export function createClockReporter(parts: ClockReporterParts): ClockReporter {
  const { db, clock, log, process, roles } = parts;
  let isReported = false;
  const takeBack = async (): Promise<void> => {
    if (!isReported) return;
    await deleteClockReport(db, process);
    isReported = false;
  };
  return {
    report: async () => {
      const skewMs = clock.skewMs() ?? 0;
      if (Math.abs(skewMs) <= CLOCK_OFF_MS) {
        if (isReported) log.info('clock.right_again');
        await takeBack();
        return;
      }
      if (!isReported) log.warn({ skewMs }, 'clock.off');
      isReported = true;
      await saveClockReport(db, { process, roles, skewMs });
    },
    close: () => takeBack().catch(() => undefined),
  };
}

/**
 * Each process reports in the database while the queue refuses its work, so that the system watch can
 * alert (domain/systemRules.ts), and deletes the report when the queue works again.
 */
import type { Queryable } from '../platform/db/database.ts';
import type { QueueProblem } from '../platform/queue/index.ts';
import { deleteQueueReport, saveQueueReport } from './store/queueReports.ts';

export interface QueueReporterParts {
  readonly db: Queryable;
  /** Host and process id. */
  readonly process: string;
  readonly roles: string;
}

export interface QueueReporter {
  /** Reports the result of a check. Throws if the database is unavailable. */
  report(problem: QueueProblem | undefined): Promise<void>;
  /** Deletes the report. */
  close(): Promise<void>;
}

export function createQueueReporter({ db, process, roles }: QueueReporterParts): QueueReporter {
  let isReported = false;
  const deleteReport = async (): Promise<void> => {
    if (!isReported) return;
    await deleteQueueReport(db, process);
    isReported = false;
  };
  return {
    report: async (problem) => {
      if (problem === undefined) return await deleteReport();
      isReported = true;
      const { reason, remedy } = problem;
      await saveQueueReport(db, { process, roles, reason, remedy });
    },
    close: () => deleteReport().catch(() => undefined),
  };
}

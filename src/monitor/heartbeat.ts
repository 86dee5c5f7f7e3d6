/**
 * Each process reports in the database every ten seconds that it runs, and whether it is ready, so that the
 * console can show all processes, and the system watch can alert about a role that no process has
 * (domain/rules/processes.ts). A process that stops cleanly removes its report.
 */
import type { Queryable } from '../platform/db/database.ts';
import { sleep } from '../platform/sleep.ts';
import { SECOND_MS } from '../platform/time.ts';
import {
  deleteProcess,
  type ProcessReport,
  type SavedReport,
  saveProcess,
} from './store/processes.ts';

export type ProcessHealth = Pick<ProcessReport, 'isReady' | 'failures'>;

export interface HeartbeatParts {
  readonly db: Queryable;
  readonly identity: Omit<SavedReport, keyof ProcessHealth>;
}

export interface Heartbeat {
  /** Begins to report. @param judge must not reject */
  start(judge: () => Promise<ProcessHealth>): void;
  /** Stops reporting, and removes the report. */
  close(): Promise<void>;
}

const REPORT_EVERY_MS = 10 * SECOND_MS;

export function createHeartbeat({ db, identity }: HeartbeatParts): Heartbeat {
  const closing = new AbortController();
  const { signal } = closing;
  let saving: Promise<void> | undefined;
  const report = async (judge: () => Promise<ProcessHealth>): Promise<void> => {
    const health = await judge();
    if (signal.aborted) return;
    // The database is unavailable: others see that by the missing report.
    saving = saveProcess(db, { ...identity, ...health }).catch(() => undefined);
    await saving;
  };
  return {
    start: (judge) => {
      const loop = async (): Promise<void> => {
        while (!signal.aborted) {
          await report(judge);
          await sleep(REPORT_EVERY_MS, signal);
        }
      };
      void loop();
    },
    close: async () => {
      closing.abort();
      if (saving === undefined) return;
      await saving;
      await deleteProcess(db, identity.id).catch(() => undefined);
    },
  };
}

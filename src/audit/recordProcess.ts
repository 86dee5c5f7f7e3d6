/** Records when a process starts and stops, and who runs it. */
import type { Database } from '../platform/db/database.ts';
import { toError } from '../platform/errors.ts';
import type { Log } from '../platform/log.ts';
import type { OsUser } from '../platform/osUser.ts';
import { recordAudit } from './recordAudit.ts';

export interface ProcessRecord {
  /** Records the start, once the database is ready. */
  start(): void;
  /** Records a graceful stop. A process that is killed has a start and no stop. */
  stop(): Promise<void>;
}

export interface ProcessFacts {
  readonly db: Database;
  readonly log: Log;
  readonly user: OsUser;
  /** Host and process id. */
  readonly process: string;
  readonly roles: readonly string[];
  readonly version: string;
}

/** An entry that cannot be written is logged: receiving webhooks must not depend on it. */
export function createProcessRecord(facts: ProcessFacts): ProcessRecord {
  const { db, log, user, process, roles, version } = facts;
  const record = async (action: 'system.start' | 'system.stop'): Promise<boolean> => {
    try {
      await recordAudit(db, {
        actor: { kind: 'process', role: 'process', ...user },
        action,
        subject: { kind: 'process', id: process },
        detail: { roles, version },
      });
      return true;
    } catch (error) {
      log.warn({ error: toError(error), action }, 'audit.process_not_recorded');
      return false;
    }
  };
  let isStarted: Promise<boolean> | undefined;
  return {
    start: () => {
      isStarted ??= record('system.start');
    },
    stop: async () => {
      if (await isStarted) await record('system.stop');
    },
  };
}

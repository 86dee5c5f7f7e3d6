/** Logs, once at startup, what settings of the database endanger: `tallyhook doctor` reports the same. */
import { judgeReplication } from '../doctor/domain/judgeReplication.ts';
import { judgeSession } from '../doctor/domain/judgeSession.ts';
import type { Queryable } from '../platform/db/database.ts';
import { readReplication } from '../platform/db/replication.ts';
import { readSessionSettings } from '../platform/db/sessionSettings.ts';
import type { Log } from '../platform/log.ts';

/** The process continues: many installations accept an asynchronous standby, which therefore is not logged. */
export async function reportDatabaseSettings(db: Queryable, log: Log): Promise<void> {
  try {
    const replication = judgeReplication(await readReplication(db));
    const judgments = [
      ...(replication.state === 'failed' ? [replication] : []),
      judgeSession(await readSessionSettings(db)),
    ];
    for (const { state, result, remedy } of judgments) {
      if (state !== 'ok') log.error({ problem: result, remedy }, 'database.settings_unsafe');
    }
  } catch (error) {
    log.warn({ error }, 'database.settings_unknown');
  }
}

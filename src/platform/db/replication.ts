/** What the server reports about its replication. */
import type { Queryable } from './database.ts';
import { oneRow } from './oneRow.ts';

export interface Replication {
  readonly synchronousCommit: string;
  readonly synchronousStandbyNames: string;
  readonly fsync: string;
  readonly fullPageWrites: string;
  /** Standbys that are connected; copies of the cluster that are being made do not count. */
  readonly standbys: number;
  /** Those of them that commits wait for; all others, where the user may not see which. */
  readonly synchronous: number;
  readonly isPatroni: boolean;
}

export async function readReplication(db: Queryable): Promise<Replication> {
  const rows = await db.query<Replication>(
    `select current_setting('synchronous_commit') as "synchronousCommit",
            current_setting('synchronous_standby_names') as "synchronousStandbyNames",
            current_setting('fsync') as fsync,
            current_setting('full_page_writes') as "fullPageWrites",
            (select count(*) from pg_stat_replication
              where coalesce(state, 'streaming') = 'streaming') as standbys,
            (select count(*) from pg_stat_replication
              where coalesce(sync_state, 'sync') in ('sync', 'quorum')) as synchronous,
            exists (select from pg_stat_activity where application_name like 'Patroni%')
              as "isPatroni"`,
  );
  return oneRow(rows);
}

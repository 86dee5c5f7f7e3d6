/** Settings that an administrator made for the user, the database or the server, and that every session has. */
import type { Queryable } from './database.ts';
import { oneRow } from './oneRow.ts';

export interface SessionSettings {
  readonly user: string;
  readonly database: string;
  readonly isolation: string;
  /** How long a statement and a transaction may take; 0 without a limit. */
  readonly statementMs: number;
  readonly transactionMs: number;
}

/** What a statement of its own gets. `transaction_timeout` exists since PostgreSQL 17. */
export async function readSessionSettings(db: Queryable): Promise<SessionSettings> {
  const rows = await db.query<SessionSettings>(
    `select current_user as user, current_database() as database,
            current_setting('default_transaction_isolation') as isolation,
            coalesce(max(setting::float8) filter (where name = 'statement_timeout'), 0) as "statementMs",
            coalesce(max(setting::float8) filter (where name = 'transaction_timeout'), 0) as "transactionMs"
       from pg_settings
      where name in ('statement_timeout', 'transaction_timeout')`,
  );
  return oneRow(rows);
}

/** Which PostgreSQL serves, and whether it is new enough. docs/reference/matrix.md lists what is tested. */
import { UsageError } from '../errors.ts';
import type { Queryable } from './database.ts';

/** The first version that has `date_bin`, with which the ledger sums transfers by quarter of an hour. */
const OLDEST_MAJOR = 14;

export interface ServerVersion {
  /** Such as `18.4`. */
  readonly text: string;
  readonly isSupported: boolean;
}

export async function readServerVersion(db: Queryable): Promise<ServerVersion> {
  const [row] = await db.query<{ number: number }>(
    `select current_setting('server_version_num')::int as number`,
  );
  const number = row?.number ?? 0;
  const major = Math.floor(number / 10_000);
  return { text: `${major}.${number % 10_000}`, isSupported: major >= OLDEST_MAJOR };
}

/** @throws UsageError before anything is changed */
export async function refuseOldServer(db: Queryable): Promise<void> {
  const version = await readServerVersion(db);
  if (!version.isSupported) throw new UsageError(`${oldServerText(version)} Nothing was changed.`);
}

/** What is wrong with an old server, for people. */
export function oldServerText({ text }: ServerVersion): string {
  return `The server is PostgreSQL ${text}, and Tallyhook needs ${OLDEST_MAJOR} or newer: upgrade it, or use another server.`;
}

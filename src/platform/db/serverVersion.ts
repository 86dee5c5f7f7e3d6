/**
 * Which PostgreSQL serves, whether it is new enough, and how long it can go on. docs/reference/matrix.md lists what is
 * tested.
 */
import { UsageError } from '../errors.ts';
import type { Queryable } from './database.ts';
import { oneRow } from './oneRow.ts';

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

/**
 * How many transaction ids, or ids of shared row locks, the server can still assign: the fewer of them. Without a
 * vacuum of every table it refuses to write when none is left.
 */
export async function readIdsLeft(db: Queryable): Promise<number> {
  const rows = await db.query<{ left: number }>(
    `select (2 ^ 31)::bigint - max(greatest(age(datfrozenxid), mxid_age(datminmxid))) as left
       from pg_database`,
  );
  return oneRow(rows).left;
}

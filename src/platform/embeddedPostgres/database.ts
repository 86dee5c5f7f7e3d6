/** The first connection: proves that the server accepts connections, and creates the application's database. */
import pg from 'pg';
import { SQLSTATES } from '../db/sqlStates.ts';
import { errorCode, toError } from '../errors.ts';
import { SUPERUSER } from './password.ts';

const HOST = '127.0.0.1';
const DATABASE = 'tallyhook';
const CONNECT_TIMEOUT_MS = 10_000;
/** What `pg` reports when nothing came until then; the error has no code. */
const CONNECT_TIMEOUT_MESSAGE = 'timeout expired';

export type OpenOutcome =
  | { readonly kind: 'opened' }
  | { readonly kind: 'wrong_password'; readonly cause: unknown }
  | { readonly kind: 'not_yet'; readonly cause: unknown }
  /** Nothing at all: a server that starts, stops or recovers refuses the connection. */
  | { readonly kind: 'no_response'; readonly cause: unknown };

export function connectionString(port: number, password: string): string {
  return `postgres://${SUPERUSER}:${password}@${HOST}:${port}/${DATABASE}`;
}

/** Creates the database `tallyhook` if it is missing. Called by one process at a time. */
export async function openDatabase(port: number, password: string): Promise<OpenOutcome> {
  const client = new pg.Client({
    host: HOST,
    port,
    user: SUPERUSER,
    password,
    database: 'postgres',
    // Explicit, because otherwise PGSSLMODE of the environment would apply.
    ssl: false,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: CONNECT_TIMEOUT_MS,
    application_name: 'tallyhook start',
  });
  // Without a listener, a connection that breaks between two queries ends the process.
  client.on('error', () => {});
  try {
    await client.connect();
    const found = await client.query('select 1 from pg_database where datname = $1', [DATABASE]);
    if (found.rowCount === 0) await client.query(`create database ${DATABASE}`);
    return { kind: 'opened' };
  } catch (cause) {
    if (toError(cause).message === CONNECT_TIMEOUT_MESSAGE) return { kind: 'no_response', cause };
    const code = errorCode(cause);
    // Waiting does not help.
    const isRefused =
      code === SQLSTATES.invalid_password || code === SQLSTATES.invalid_authorization_specification;
    return { kind: isRefused ? 'wrong_password' : 'not_yet', cause };
  } finally {
    await client.end().catch(() => {});
  }
}

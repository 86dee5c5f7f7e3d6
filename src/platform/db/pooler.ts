/**
 * Recognizes a connection pooler between this process and PostgreSQL, from the outside: a client may not
 * read a pooler's configuration.
 *
 * Terms. *Pooler*: a proxy with PostgreSQL's protocol that shares server connections among clients.
 * *Mode*: for how long it assigns a server connection to a client: for its session, for a transaction, or
 * for a statement.
 *
 * 1. A pooler has keys of its own for canceling statements. The process id in a client's key is then not
 *    that of the server process that runs its statements. A proxy that only forwards bytes changes neither.
 * 2. A pooler shares sessions if one client uses the server process of another, which is still connected.
 * 3. Nothing is assumed: statements count as kept only if a pooler that shares sessions was seen to keep
 *    two of the same name apart.
 */
import pg from 'pg';
import { errorCode, OperatorError, toError } from '../errors.ts';
import { findPrimary } from './primary.ts';
import { SQLSTATES } from './sqlStates.ts';

export type Pooling =
  | { readonly mode: 'direct' }
  | { readonly mode: 'session' }
  | {
      readonly mode: 'transaction';
      /** Whether each client finds its own prepared statements again, in every session. */
      readonly keepsStatements: boolean;
    }
  | { readonly mode: 'statement' };

const TIMEOUT_MS = 5_000;

/** A busy pooler may assign the first client's server connection to a third client in between. */
const TRIES = 20;

/** The process of the server that runs a client's statements, and the one that its key names. */
interface Keyed {
  readonly processID: number;
}

/** Whether a pooler is between this client and the server, by the process that ran a statement of it. */
export function isPooled(client: pg.ClientBase, backendPid: number): boolean {
  // The types of the driver lack the field.
  return (client as unknown as Keyed).processID !== backendPid;
}

/** Reads the process of the server that runs the client's statement. */
export async function readBackendPid(client: pg.ClientBase): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return rows[0]?.pid ?? Number.NaN;
}

/** Finds out what is behind an address. Throws unless the database responds. */
export async function examinePooling(connectionString: string): Promise<Pooling> {
  const address = await findPrimary(connectionString);
  const open = () => {
    const client = new pg.Client({
      connectionString: address,
      application_name: 'tallyhook-pooler-check',
      connectionTimeoutMillis: TIMEOUT_MS,
      query_timeout: TIMEOUT_MS,
    });
    // A lost connection also fails its next statement, which has the reason.
    client.on('error', () => undefined);
    return client;
  };
  const [first, second] = [open(), open()];
  try {
    await first.connect();
    if (!isPooled(first, await readBackendPid(first))) return { mode: 'direct' };
    await second.connect();
    return await examinePooler(first, second);
  } finally {
    await Promise.allSettled([first.end(), second.end()]);
  }
}

/** Two statements of one name; the text has no effect. */
const NAME = 'tallyhook_pooler_check';
const OF_FIRST = { name: NAME, text: 'select pg_backend_pid() as pid, 1 as client' };
const OF_SECOND = { name: NAME, text: 'select pg_backend_pid() as pid, 2 as client' };

/** The second client begins transactions until it gets the server process that the first one just used. */
async function examinePooler(first: pg.Client, second: pg.Client): Promise<Pooling> {
  if (!(await allowsTransactions(second))) return { mode: 'statement' };
  const pids = new Set<number>();
  for (let left = TRIES; left > 0; left -= 1) {
    const used = await runNamed(first, OF_FIRST);
    if (used === undefined) return { mode: 'transaction', keepsStatements: false };
    pids.add(used);
    await second.query('begin');
    try {
      if ((await readBackendPid(second)) !== used) continue;
      const again = await runNamed(second, OF_SECOND);
      return { mode: 'transaction', keepsStatements: again === used };
    } finally {
      await second.query('rollback');
    }
  }
  return pids.size > 1 ? { mode: 'transaction', keepsStatements: false } : { mode: 'session' };
}

/** A statement does not exist in this session, or exists already with the text of another client. */
const NOT_KEPT: ReadonlySet<string> = new Set([
  SQLSTATES.invalid_sql_statement_name,
  SQLSTATES.duplicate_prepared_statement,
]);

/** @returns the server process; undefined if the session lacks the statement or has another one */
async function runNamed(
  client: pg.Client,
  statement: typeof OF_FIRST,
): Promise<number | undefined> {
  try {
    const { rows } = await client.query<{ pid: number }>(statement);
    return rows[0]?.pid;
  } catch (error) {
    if (isStatementLost(error)) return undefined;
    throw error;
  }
}

/** Whether a statement failed because the session lacks its name, or has the name of another client. */
export function isStatementLost(error: unknown): boolean {
  return NOT_KEPT.has(errorCode(error));
}

async function allowsTransactions(client: pg.Client): Promise<boolean> {
  try {
    await client.query('begin');
    await client.query('rollback');
    return true;
  } catch (error) {
    if (/statement pooling/i.test(toError(error).message)) return false;
    throw error;
  }
}

/** Finds out what is behind the address of an open connection; without a pooler, that connection is enough. */
export async function poolingOf(client: pg.ClientBase, connectionString: string): Promise<Pooling> {
  return isPooled(client, await readBackendPid(client))
    ? await examinePooling(connectionString)
    : { mode: 'direct' };
}

/** @throws OperatorError if a session does not outlast a transaction */
export function refuseSharedSessions(
  { mode }: Pooling,
  { work, remedy }: { readonly work: string; readonly remedy: string },
): void {
  if (mode === 'direct' || mode === 'session') return;
  throw new OperatorError(
    `The database is reached through a pooler in ${mode} mode, but ${work} needs a session of its own. ${remedy}`,
  );
}

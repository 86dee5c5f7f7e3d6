/**
 * Access to PostgreSQL: a pool and transactions.
 *
 * 1. Amounts and ids are `bigint` in SQL and checked safe integers here: a value outside that range
 *    is an error, never a rounded number.
 * 2. An unusable connection is closed, never returned to the pool: a broken one, and one to a server
 *    that became a read-only standby (SQLSTATE 25006).
 * 3. A commit that was not replicated is an error. PostgreSQL returns only a warning when the wait for
 *    a synchronous standby is canceled.
 */
import pg from 'pg';
import type { Log } from '../log.ts';
import { arrayLiteral } from './arrayLiteral.ts';
import { CommitNotReplicated, isDatabaseUnavailable } from './failures.ts';

/** Runs statements: the pool, or the connection of a transaction. */
export interface Queryable {
  query<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]>;
}

export interface Database extends Queryable {
  /** Like `query`, with a named prepared statement; for statements that always have the same best plan. */
  prepared<Row extends object>(
    name: string,
    text: string,
    values: readonly unknown[],
  ): Promise<Row[]>;
  /** Runs `work` in one transaction: committed when it returns, rolled back when it throws. */
  transaction<T>(work: (tx: Queryable) => Promise<T>): Promise<T>;
  /** Runs `work` on one connection and then closes it, which drops its temporary tables. */
  session<T>(work: (session: Session) => Promise<T>): Promise<T>;
  /** Throws unless the database responds and accepts writes. */
  probe(): Promise<void>;
  close(): Promise<void>;
}

/** One connection. Statements and transactions run one after another, never concurrently. */
export type Session = Pick<Database, 'query' | 'transaction'>;

export interface DatabaseOptions {
  readonly connectionString: string;
  readonly log: Log;
  /** Shown in pg_stat_activity. */
  readonly applicationName: string;
  readonly maxConnections: number;
  /**
   * A machine that loses its power or its network closes no connection. Without a limit, a statement
   * would wait until TCP times out, which takes a quarter of an hour.
   */
  readonly responseTimeoutMs: number;
  /**
   * `by_key`: transactions of this pool find rows only by their keys. Plans that read whole tables are
   * always wrong for them, but the planner chooses such plans while tables are new and statistics are
   * outdated; workers slowed to a third of their rate. Because the best plan never changes, these
   * transactions also use prepared statements instead of planning each statement for each batch.
   */
  readonly plans: 'any' | 'by_key';
}

const CONNECT_TIMEOUT_MS = 5_000;

/** Creates a pool. Nothing connects until the first statement. */
export function createDatabase(options: DatabaseOptions): Database {
  const pool = new pg.Pool({
    connectionString: options.connectionString,
    application_name: options.applicationName,
    max: options.maxConnections,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: options.responseTimeoutMs,
    keepAlive: true,
    // Statements that do not wait for each other (pipelined.ts) share a round trip.
    pipeline: true,
    types: { getTypeParser: typeParser },
    onConnect: recordWarnings,
  });
  pool.on('error', (error) => options.log.warn({ error }, 'database.idle_connection_lost'));
  // A connection that is lost during a transaction also emits `error` itself, and without a listener
  // that ends the process. The next statement on the connection fails with the reason.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return {
    query: (text, values) =>
      withClient(pool, (client) => run(client, { text, values: toParameters(values) })),
    prepared: (name, text, values) =>
      withClient(pool, (client) => run(client, { name, text, values: toParameters(values) })),
    transaction: (work) =>
      withClient(pool, (client) => runTransaction(client, options.plans, work)),
    session: (work) => session(pool, options.plans, work),
    probe: () => withClient(pool, probe),
    close: () => pool.end(),
  };
}

const READ_ONLY_SQL_TRANSACTION = '25006';

/** A standby responds to queries, too, but accepts no writes. */
async function probe(client: pg.PoolClient): Promise<void> {
  const { rows } = await client.query<{ value: string }>(
    `select current_setting('transaction_read_only') as value`,
  );
  if (rows[0]?.value !== 'on') return;
  const error = new Error('the server is read-only, like a standby; connect to the primary');
  throw Object.assign(error, { code: READ_ONLY_SQL_TRANSACTION });
}

/** Runs `work` on one connection, which returns to the pool if it is still usable. */
async function withClient<T>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  let failure: unknown;
  try {
    return await work(client);
  } catch (error) {
    failure = error;
    throw error;
  } finally {
    client.release(isDatabaseUnavailable(failure));
  }
}

/** A statement that is its own transaction. */
async function run<Row extends object>(
  client: pg.PoolClient,
  query: pg.QueryConfig,
): Promise<Row[]> {
  warnings.delete(client);
  const result = await client.query<Row>(query);
  refuseUnreplicated(client);
  return result.rows;
}

/** The last warning of the server, by connection. */
const warnings = new WeakMap<pg.ClientBase, string>();
const WARNING = '01000';

/** Records warnings, and has the server send them: a database or role can be configured to suppress them. */
async function recordWarnings(client: pg.ClientBase): Promise<void> {
  await client.query('set client_min_messages = warning');
  client.on('notice', ({ code, message = WARNING }) => {
    if (code === WARNING) warnings.set(client, message);
  });
}

/**
 * The warning about a canceled wait has no code of its own and a localized text, so any warning
 * counts. Our statements cause no other warnings.
 * @throws CommitNotReplicated
 */
function refuseUnreplicated(client: pg.ClientBase): void {
  const warning = warnings.get(client);
  if (warning !== undefined) throw new CommitNotReplicated(warning);
}

/** The settings are sent with `begin`, which saves a round trip and works with any pooler. */
const BEGIN = {
  any: 'begin',
  by_key:
    'begin; set local enable_seqscan = off; set local enable_hashjoin = off; set local enable_mergejoin = off',
} as const;

const planNames = new Map<string, string>();

/** A short name for a prepared statement. */
function planName(text: string): string {
  const known = planNames.get(text);
  if (known !== undefined) return known;
  const name = `by_key_${planNames.size + 1}`;
  planNames.set(text, name);
  return name;
}

type Plans = DatabaseOptions['plans'];

async function runTransaction<T>(
  client: pg.PoolClient,
  plans: Plans,
  work: (tx: Queryable) => Promise<T>,
): Promise<T> {
  let result: T;
  try {
    await client.query(BEGIN[plans]);
    result = await work(queryableOf(client, plans));
    warnings.delete(client);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback').catch(() => {
      // The connection is lost, which ends its transaction; `error` has the reason.
    });
    throw error;
  }
  refuseUnreplicated(client);
  return result;
}

async function session<T>(
  pool: pg.Pool,
  plans: Plans,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  try {
    return await work({
      query: (text, values) => run(client, { text, values: toParameters(values) }),
      transaction: (inner) => runTransaction(client, plans, inner),
    });
  } finally {
    // Closed, not returned to the pool: temporary objects of this session must not reach the next one.
    client.release(true);
  }
}

function toParameters(values: readonly unknown[] = []): unknown[] {
  return values.map((value) => (Array.isArray(value) ? arrayLiteral(value) : value));
}

function queryableOf(client: pg.PoolClient, plans: Plans): Queryable {
  const keepsPlans = plans === 'by_key';
  return {
    query: async <Row extends object>(text: string, values?: readonly unknown[]) => {
      const { rows } = await client.query<Row>({
        ...(keepsPlans && { name: planName(text) }),
        text,
        values: toParameters(values),
      });
      return rows;
    },
  };
}

const INT8_OID = 20;

function typeParser(oid: number, format?: string): (value: string) => unknown {
  if (oid === INT8_OID) return parseSafeInteger;
  return pg.types.getTypeParser(oid, format as 'text');
}

function parseSafeInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) {
    throw new RangeError(
      `the database returned ${text}, which is outside the range of safe integers`,
    );
  }
  return value;
}

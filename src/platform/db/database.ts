/**
 * Access to PostgreSQL: a pool, transactions, and what an error of the driver means.
 *
 * 1. Amounts and ids are `bigint` in SQL and checked safe integers here: a value outside that range
 *    is an error, never a rounded number.
 * 2. A connection that fails inside a transaction is thrown away, never returned to the pool.
 */
import pg from 'pg';
import type { Log } from '../log.ts';

/** What runs a statement: the pool, or the connection of a transaction. */
export interface Queryable {
  query<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]>;
}

export interface Database extends Queryable {
  /** Like `query`, with a plan kept by name; for statements whose best plan never changes. */
  prepared<Row extends object>(
    name: string,
    text: string,
    values: readonly unknown[],
  ): Promise<Row[]>;
  /** Runs `work` in one transaction: committed when it returns, rolled back when it throws. */
  transaction<T>(work: (tx: Queryable) => Promise<T>): Promise<T>;
  /** Runs `work` on one connection and closes it: its temporary tables last that long, no longer. */
  session<T>(work: (session: Session) => Promise<T>): Promise<T>;
  /** Throws unless the database answers. */
  probe(): Promise<void>;
  close(): Promise<void>;
}

/** One connection. Statements and transactions follow each other; they never overlap. */
export type Session = Pick<Database, 'query' | 'transaction'>;

export interface DatabaseOptions {
  readonly connectionString: string;
  readonly log: Log;
  /** Shown in pg_stat_activity. */
  readonly applicationName: string;
  readonly maxConnections: number;
  /**
   * A machine that lost its power or its network closes no connection: without a limit a statement
   * would wait until TCP gives up, which takes a quarter of an hour.
   */
  readonly answerTimeoutMs: number;
  /**
   * `by_key`: transactions of this pool only look rows up by their keys. Plans that read whole tables
   * are then never right, yet the planner chooses them while tables are new and their statistics
   * old; workers fell to a third of their rate by that. As the right plan is always the same, these
   * transactions keep it, too, instead of planning each statement for each batch.
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
    query_timeout: options.answerTimeoutMs,
    keepAlive: true,
    types: { getTypeParser: typeParser },
  });
  pool.on('error', (error) => options.log.warn({ error }, 'database.idle_connection_lost'));
  // A connection that is lost while a transaction holds it reports that on itself, too; unheard, the
  // event would end the process. The statement that needs it next fails and says why.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return {
    query: (text, values) => run(pool, { text, values: values as unknown[] }),
    prepared: (name, text, values) => run(pool, { name, text, values: values as unknown[] }),
    transaction: (work) => transaction(pool, options.plans, work),
    session: (work) => session(pool, options.plans, work),
    probe: async () => {
      await pool.query('select 1');
    },
    close: () => pool.end(),
  };
}

async function run<Row extends object>(
  client: pg.Pool | pg.PoolClient,
  query: pg.QueryConfig,
): Promise<Row[]> {
  const result = await client.query<Row>(query);
  return result.rows;
}

/** Set in the same message as `begin`, so that it costs no round trip and suits any pooler. */
const BEGIN = {
  any: 'begin',
  by_key:
    'begin; set local enable_seqscan = off; set local enable_hashjoin = off; set local enable_mergejoin = off',
} as const;

const planNames = new Map<string, string>();

/** A short name for a statement, under which a connection keeps its plan. */
function planName(text: string): string {
  const known = planNames.get(text);
  if (known !== undefined) return known;
  const name = `by_key_${planNames.size + 1}`;
  planNames.set(text, name);
  return name;
}

type Plans = DatabaseOptions['plans'];

async function transaction<T>(
  pool: pg.Pool,
  plans: Plans,
  work: (tx: Queryable) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  let failure: unknown;
  try {
    return await runTransaction(client, plans, work);
  } catch (error) {
    failure = error;
    throw error;
  } finally {
    client.release(isDatabaseAway(failure));
  }
}

async function runTransaction<T>(
  client: pg.PoolClient,
  plans: Plans,
  work: (tx: Queryable) => Promise<T>,
): Promise<T> {
  try {
    await client.query(BEGIN[plans]);
    const result = await work(queryableOf(client, plans));
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch(() => {
      // The connection is gone, and its transaction with it; `error` says why.
    });
    throw error;
  }
}

async function session<T>(
  pool: pg.Pool,
  plans: Plans,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  try {
    return await work({
      ...queryableOf(client, plans),
      transaction: (inner) => runTransaction(client, plans, inner),
    });
  } finally {
    // Closed, not returned to the pool: what was made for this session must not meet the next one.
    client.release(true);
  }
}

function queryableOf(client: pg.PoolClient, plans: Plans): Queryable {
  const keepsPlans = plans === 'by_key';
  return {
    query: (text, values) =>
      run(client, {
        ...(keepsPlans && { name: planName(text) }),
        text,
        values: values as unknown[],
      }),
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
    throw new RangeError(`the database returned ${text}, which is outside the exact integers`);
  }
  return value;
}

/** Classes and codes of SQLSTATE that say the server is away, full or going down. */
const AWAY_CLASSES = new Set(['08', '53', '57', '58']);
const AWAY_SYSTEM_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);
const AWAY_MESSAGE =
  /query read timeout|connection terminated|timeout exceeded when trying to connect|client has encountered a connection error|Client was closed/i;

/** Whether an error says that the database cannot be used now, rather than that the data is wrong. */
export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof AggregateError && error.errors.some(isDatabaseAway)) return true;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (AWAY_SYSTEM_CODES.has(code)) return true;
  if (code.length === 5 && AWAY_CLASSES.has(code.slice(0, 2))) return true;
  return AWAY_MESSAGE.test(error.message);
}

const SERIALIZATION_FAILURE = '40001';
const DEADLOCK_DETECTED = '40P01';

/** Whether the same transaction, started over, can be expected to succeed. */
export function isTransient(error: unknown): boolean {
  if (isDatabaseAway(error)) return true;
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === SERIALIZATION_FAILURE || code === DEADLOCK_DETECTED;
}

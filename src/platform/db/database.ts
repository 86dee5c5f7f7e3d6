/**
 * Access to PostgreSQL: a pool and transactions.
 *
 * 1. Amounts and ids are `bigint` in SQL and checked safe integers here: a value outside that range
 *    is an error, never a rounded number.
 * 2. An unusable connection is closed, never returned to the pool: a broken one, and one to a server
 *    that became a read-only standby (SQLSTATE 25006).
 * 3. A commit that was not replicated is an error. PostgreSQL returns only a warning when the wait for
 *    a synchronous standby is canceled.
 * 4. A statement or transaction relies on nothing that an earlier one left in its session, because a
 *    pooler may assign another session to each. Settings are local to a transaction, except the form of times, which
 *    is checked when they are read; and statements are prepared under names only where each client finds its own
 *    again.
 * 5. Settings of the role or the database change nothing here: transactions of several statements are read committed,
 *    and times are read exactly or are an error.
 * 6. The server ends a transaction that waits for its process for a minute, so that what it holds is free again. One that
 *    contains `MAY_BE_IDLE` is exempt.
 * 7. A transaction of which a statement failed is an error, also if `work` caught that of the statement.
 */
import { createHash } from 'node:crypto';
import pg from 'pg';
import { monotonicMs, startStopwatch } from '../clock.ts';
import { toError } from '../errors.ts';
import type { Log } from '../log.ts';
import { arrayLiteral } from './arrayLiteral.ts';
import {
  CommitNotReplicated,
  isAboutIds,
  isDatabaseUnavailable,
  UnsafeInteger,
} from './failures.ts';
import { explainLoss, noteLoss } from './lostConnection.ts';
import { pipelined } from './pipelined.ts';
import {
  examinePooling,
  isPooled,
  isStatementLost,
  type Pooling,
  readBackendPid,
} from './pooler.ts';
import { createPool, IDLE_TIMEOUT_MS, refuseReadOnly } from './primary.ts';
import { SQLSTATES } from './sqlStates.ts';

/** Runs statements: the pool, or the connection of a transaction. */
export interface Queryable {
  query<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]>;
}

export interface Database extends Queryable {
  /** Like `query`, with a prepared statement; for statements that always have the same best plan. */
  prepared<Row extends object>(text: string, values: readonly unknown[]): Promise<Row[]>;
  /** Runs `work` in one transaction: committed when it returns, rolled back when it throws. */
  transaction<T>(work: (tx: Queryable) => Promise<T>): Promise<T>;
  /**
   * Runs `work` on one connection and then closes it, which drops its temporary tables. Temporary tables
   * need an address without a pooler that shares sessions (refuseSharedSessions).
   */
  session<T>(work: (session: Session) => Promise<T>): Promise<T>;
  /** Finds out whether a pooler is before the database, and what it shares. */
  examinePooling(): Promise<Pooling>;
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

/**
 * A role or database can be configured to write times in a form that the driver does not read. The server reports this
 * setting to its clients, so poolers keep it for each of them; where one does not, `parseTimeWith` throws.
 */
const WRITE_TIMES = 'set datestyle = iso';

/** Creates a pool. Nothing connects until the first statement. */
export function createDatabase(options: DatabaseOptions): Database {
  const { plans } = options;
  const naming = createNaming(options.connectionString);
  const logIds = createIdsLog(options.log);
  const pool = createPool({
    connectionString: options.connectionString,
    application_name: options.applicationName,
    max: options.maxConnections,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    query_timeout: options.responseTimeoutMs,
    // Statements that do not wait for each other (pipelined.ts) share a round trip.
    pipeline: true,
    types: { getTypeParser: typeParser },
    onConnect: async (client) => {
      client.on('notice', (notice) => {
        const { code, message = SQLSTATES.warning } = notice;
        if (code !== SQLSTATES.warning) return;
        if (isAboutIds(notice)) logIds(notice);
        else warnings.set(client, message);
      });
      await pipelined([client.query(WRITE_TIMES), naming.examine(client)]);
    },
  });
  pool.on('error', (error) => options.log.warn({ error }, 'database.idle_connection_lost'));
  // A connection that is lost between two statements of a transaction emits `error`, and without a listener that ends
  // the process. The next statement on the connection fails, and the driver does not name the reason.
  pool.on('connect', (client) => client.on('error', (error) => noteLoss(client, error)));
  const transaction = <T>(client: pg.PoolClient, work: (tx: Queryable) => Promise<T>) =>
    runTransaction(client, { plans, naming }, work);
  return {
    query: (text, values) =>
      withClient(pool, (client) => run(client, { text, values: toParameters(values) })),
    prepared: (text, values) =>
      withClient(pool, (client) =>
        naming.watch(run(client, { ...naming.of(client, text), values: toParameters(values) })),
      ),
    transaction: (work) => withClient(pool, (client) => transaction(client, work)),
    session: (work) => session(pool, transaction, work),
    examinePooling: async () =>
      (await withClient(pool, (client) => Promise.resolve(naming.isPooled(client))))
        ? await examinePooling(options.connectionString)
        : { mode: 'direct' },
    probe: () => withClient(pool, refuseReadOnly),
    close: () => pool.end(),
  };
}

/** Decides which statements of a pool are prepared under a name. */
interface Naming {
  /** Finds out whether a new connection leads through a pooler. */
  examine(client: pg.ClientBase): Promise<void>;
  /** Whether the connection leads through a pooler. */
  isPooled(client: pg.ClientBase): boolean;
  /** The statement, with a name if the connection keeps it. */
  of(client: pg.ClientBase, text: string): { readonly text: string; readonly name?: string };
  /** Observes statements with names: after one that was lost, none has a name. */
  watch<T>(result: Promise<T>): Promise<T>;
}

function createNaming(connectionString: string): Naming {
  const pooled = new WeakSet<pg.ClientBase>();
  let keeps: boolean | undefined;
  const examinePooler = async (): Promise<void> => {
    keeps = false;
    // Statements without names are correct as well: an examination that fails is not repeated.
    const pooling = await examinePooling(connectionString).catch(() => undefined);
    keeps =
      pooling?.mode === 'session' || (pooling?.mode === 'transaction' && pooling.keepsStatements);
  };
  return {
    examine: async (client) => {
      if (!isPooled(client, await readBackendPid(client))) return;
      pooled.add(client);
      if (keeps === undefined) void examinePooler();
    },
    isPooled: (client) => pooled.has(client),
    of: (client, text) =>
      pooled.has(client) && keeps !== true ? { text } : { text, name: nameOf(text) },
    watch: async (result) => {
      try {
        return await result;
      } catch (error) {
        if (isStatementLost(error)) keeps = false;
        throw error;
      }
    },
  };
}

const names = new Map<string, string>();

/**
 * The name of a prepared statement follows from its text: where a pooler mixes up the sessions of two
 * processes, a name that they use for different statements would run the other one.
 */
function nameOf(text: string): string {
  const known = names.get(text);
  if (known !== undefined) return known;
  const name = `tallyhook_${createHash('sha256').update(text).digest('hex').slice(0, 32)}`;
  names.set(text, name);
  return name;
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
    failure = explainLoss(error, client);
    throw failure;
  } finally {
    client.release(isDatabaseUnavailable(failure) ? toError(failure) : false);
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

const LOG_IDS_EVERY_SECONDS = 600;

interface Warning {
  readonly message?: string | undefined;
  readonly hint?: string | undefined;
}

/** Logs that transaction ids run out. Each statement that takes one warns of it. */
function createIdsLog(log: Log): (notice: Warning) => void {
  let elapsedSeconds: (() => number) | undefined;
  return ({ message: warning, hint }) => {
    if (elapsedSeconds !== undefined && elapsedSeconds() < LOG_IDS_EVERY_SECONDS) return;
    elapsedSeconds = startStopwatch();
    log.error({ warning, hint }, 'database.out_of_ids_soon');
  };
}

/** The last warning of the server, by connection. */
const warnings = new WeakMap<pg.ClientBase, string>();

/**
 * The warning about a canceled wait has no code of its own and a localized text, so any warning
 * counts, except those that transaction ids run out: with these the server works as before. Our statements cause no
 * other warnings.
 * @throws CommitNotReplicated
 */
function refuseUnreplicated(client: pg.ClientBase): void {
  const warning = warnings.get(client);
  if (warning !== undefined) throw new CommitNotReplicated(warning);
}

/**
 * Settings are sent with `begin`, which saves a round trip. A database or role can be configured to
 * suppress warnings. A statement that is its own transaction contains `SEND_WARNINGS` if its commit matters.
 *
 * It can be configured for another isolation level, too. What waits for an advisory lock would then not see what the
 * transaction before it committed, because its snapshot is older than its wait: of two attempts that exclude each other,
 * both would be made.
 *
 * A process that is stopped, or on a machine that lost its network, closes no connection. Without a limit, what its
 * transaction holds would be held until TCP times out, which takes two hours by default
 * (docs/decisions/0183-silent-processes.md).
 */
const BEGIN = [
  'begin isolation level read committed',
  'set local client_min_messages = warning',
  `set local idle_in_transaction_session_timeout = '60s'`,
].join('; ');

/**
 * A small table without an index is still read as a whole, at the cost of a disabled scan; without the last but one
 * setting, PostgreSQL would compile a plan that costs as much, which takes 100 ms. Without the last, it plans a statement
 * again in each transaction that it expects to need less than the plan that it keeps.
 */
const BEGIN_BY_KEY = [
  BEGIN,
  'set local enable_seqscan = off',
  'set local enable_hashjoin = off',
  'set local enable_mergejoin = off',
  'set local jit = off',
  'set local plan_cache_mode = force_generic_plan',
].join('; ');

/**
 * How long a connection keeps plans. A plan that was made while a table was small may read all of it, which costs more
 * with each row; planning considers how large the table is by then. PostgreSQL itself plans again when statistics were
 * made, a minute later or more. Planning all statements of a transaction again takes 2 to 6 ms.
 */
const PLANS_KEPT_MS = 5_000;

/** When the plans of a connection were discarded last. */
const plannedMs = new WeakMap<pg.ClientBase, number>();

function beginWith(client: pg.ClientBase, plans: DatabaseOptions['plans']): string {
  if (plans === 'any') return BEGIN;
  const nowMs = monotonicMs();
  const before = plannedMs.get(client);
  if (before !== undefined && nowMs - before < PLANS_KEPT_MS) return BEGIN_BY_KEY;
  plannedMs.set(client, nowMs);
  return before === undefined ? BEGIN_BY_KEY : `${BEGIN_BY_KEY}; discard plans`;
}

/** An expression that has the server send warnings until the transaction ends. */
export const SEND_WARNINGS = `set_config('client_min_messages', 'warning', true)`;

/**
 * An expression that lets the transaction wait for its process for as long as that takes (invariant 6): for one that
 * waits for something else than the database, and holds nothing that events or their changes wait for.
 */
export const MAY_BE_IDLE = `set_config('idle_in_transaction_session_timeout', '0', true)`;

interface TransactionOptions {
  readonly plans: DatabaseOptions['plans'];
  readonly naming: Naming;
}

async function runTransaction<T>(
  client: pg.PoolClient,
  { plans, naming }: TransactionOptions,
  work: (tx: Queryable) => Promise<T>,
): Promise<T> {
  let result: T;
  try {
    await client.query(beginWith(client, plans));
    result = await work(queryableOf(client, plans === 'by_key' ? naming : undefined));
    warnings.delete(client);
    const { command } = await client.query('commit');
    // PostgreSQL ends a failed transaction so, without an error.
    if (command === 'ROLLBACK') throw new Error('a statement of the transaction had failed');
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
  transaction: <R>(client: pg.PoolClient, work: (tx: Queryable) => Promise<R>) => Promise<R>,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  try {
    return await work({
      query: (text, values) => run(client, { text, values: toParameters(values) }),
      transaction: (inner) => transaction(client, inner),
    });
  } finally {
    // Closed, not returned to the pool: temporary objects of this session must not reach the next one.
    client.release(true);
  }
}

function toParameters(values: readonly unknown[] = []): unknown[] {
  return values.map((value) => (Array.isArray(value) ? arrayLiteral(value) : value));
}

/** @param naming undefined: statements have no names */
function queryableOf(client: pg.PoolClient, naming: Naming | undefined): Queryable {
  return {
    query: async <Row extends object>(text: string, values?: readonly unknown[]) => {
      const statement = { ...(naming?.of(client, text) ?? { text }), values: toParameters(values) };
      const result = client.query<Row>(statement);
      const { rows } = await (naming?.watch(result) ?? result);
      return rows;
    },
  };
}

const INT8_OID = 20;

function typeParser(oid: number, format?: string): (value: string) => unknown {
  if (oid === INT8_OID) return parseSafeInteger;
  return TIME_PARSERS.get(oid) ?? pg.types.getTypeParser(oid, format as 'text');
}

/** The driver returns null for a time that it does not read, as if the column were empty. */
function parseTimeWith(parse: (text: string) => unknown): (text: string) => unknown {
  return (text) => {
    const value = parse(text);
    if (value === null) {
      throw new RangeError(
        `the database returned the time ${text}, which is not in the form of ISO 8601: something sets datestyle`,
      );
    }
    return value;
  };
}

/** `date`, `timestamp` and `timestamptz`. */
const TIME_PARSERS = new Map(
  [1082, 1114, 1184].map((oid) => [oid, parseTimeWith(pg.types.getTypeParser(oid, 'text'))]),
);

function parseSafeInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new UnsafeInteger(text);
  return value;
}

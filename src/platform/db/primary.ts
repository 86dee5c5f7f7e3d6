/**
 * Connections to the primary of a database, also when its address names several servers.
 *
 * 1. A server is the primary if it accepts writes. The servers are examined at the same time, and the
 *    first primary that responds is used: one that hangs delays nothing.
 * 2. They are examined before the first connection and after anything that a failover can cause: a
 *    connection that could not be opened or was lost, a response that did not come, a read-only server.
 * 3. When another server has become the primary, no connection to an earlier one is used again.
 * 4. An address of one server is used as it is; nothing is examined.
 */
import pg from 'pg';
import { toError } from '../errors.ts';
import { isDatabaseUnavailable } from './failures.ts';
import { addressesOf, hostOf } from './hosts.ts';
import { SQLSTATES } from './sqlStates.ts';

const TIMEOUT_MS = 5_000;

/**
 * A machine that loses its power or its network closes no connection, and systems notice that only after two hours.
 * Until then each idle connection to it would cost a statement its whole time, and a worker that listens there would
 * miss what is new. The probes also keep firewalls from forgetting a connection on which nothing is sent.
 */
const KEEP_ALIVE = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 } as const;

/** The address of the primary. @throws AggregateError if no server is one, with what each responded */
export async function findPrimary(url: string): Promise<string> {
  const addresses = addressesOf(url);
  if (addresses.length === 1) return url;
  try {
    return await Promise.any(addresses.map(examine));
  } catch (thrown) {
    const errors: readonly unknown[] = thrown instanceof AggregateError ? thrown.errors : [thrown];
    const reasons = addresses.map(
      (address, place) => `${hostOf(address)}: ${toError(errors[place]).message}`,
    );
    throw new AggregateError(
      errors,
      `no server of the database accepts writes (${reasons.join('; ')})`,
    );
  }
}

/** @returns the address. @throws if its server does not respond or is read-only */
async function examine(address: string): Promise<string> {
  const client = new pg.Client({
    connectionString: address,
    application_name: 'tallyhook-primary-check',
    connectionTimeoutMillis: TIMEOUT_MS,
    query_timeout: TIMEOUT_MS,
  });
  // A lost connection also fails its next statement, which has the reason.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await refuseReadOnly(client);
    return address;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/**
 * A standby responds to queries, too, but accepts no writes. So does a primary with a setting, which some providers
 * set when its disk is nearly full. @throws with PostgreSQL's own code
 */
export async function refuseReadOnly(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ isReadOnly: boolean; isStandby: boolean }>(
    `select current_setting('transaction_read_only') = 'on' as "isReadOnly",
            pg_is_in_recovery() as "isStandby"`,
  );
  if (rows[0]?.isReadOnly !== true) return;
  const error = new Error(
    rows[0].isStandby
      ? 'the server is read-only, because it is a standby; connect to the primary'
      : 'the server is read-only: default_transaction_read_only is on, for the server, the database or the user. ' +
          'Some providers set it when the disk is nearly full: make room, then set it to off',
  );
  throw Object.assign(error, { code: SQLSTATES.read_only_sql_transaction });
}

/** Opens a connection to the primary, which the caller ends. A server that hangs does not keep it waiting. */
export async function connectToPrimary(config: pg.ClientConfig): Promise<pg.Client> {
  const { connectionString = '' } = config;
  const client = new pg.Client({
    connectionTimeoutMillis: TIMEOUT_MS,
    // A statement may take minutes, so it has no limit.
    ...KEEP_ALIVE,
    ...config,
    connectionString: await findPrimary(connectionString),
  });
  // A lost connection also fails its next statement, which has the reason.
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

/**
 * How long a pool keeps a connection that nothing uses. Longer than the minute between two runs of a schedule, since
 * the server starts a process for each new connection, which then reads the catalog and plans every statement again.
 */
export const IDLE_TIMEOUT_MS = 90_000;

/** A pool of connections to the primary. Nothing connects until the first statement. */
export function createPool(
  options: pg.PoolConfig & { readonly connectionString: string },
): pg.Pool {
  const config = { ...KEEP_ALIVE, ...options };
  return addressesOf(config.connectionString).length === 1
    ? new pg.Pool(config)
    : new PrimaryPool(config);
}

/** The pool is exhausted, which is not a problem of the server. */
const ALL_IN_USE = 'timeout exceeded when trying to connect';

type Connected = Parameters<pg.Pool['connect']>[0];

/** A pool for an address of several servers. */
class PrimaryPool extends pg.Pool {
  readonly #url: string;
  #primary: string | undefined;
  /** False: another server may be the primary now. */
  #isCurrent = false;
  #examining: Promise<void> | undefined;
  /** The primary of each connection. */
  readonly #servers = new WeakMap<pg.ClientBase, string | undefined>();

  constructor({ onConnect, ...config }: pg.PoolConfig & { readonly connectionString: string }) {
    const connectionOf = () => this.#primary;
    const remember = (client: pg.ClientBase) => this.#servers.set(client, this.#primary);
    super({
      ...config,
      Client: class extends pg.Client {
        constructor(options: pg.ClientConfig = {}) {
          super({ ...options, connectionString: connectionOf() });
          remember(this);
        }
      },
      onConnect: async (client) => {
        await refuseReadOnly(client);
        await onConnect?.(client);
      },
    });
    this.#url = config.connectionString;
    this.on('error', () => this.#forget());
    // The caller returns a connection with the error that made it unusable.
    this.on('release', (error: unknown) => {
      if (error instanceof Error) this.#forget();
    });
  }

  override connect(): Promise<pg.PoolClient>;
  override connect(callback: NonNullable<Connected>): void;
  override connect(callback?: Connected): Promise<pg.PoolClient> | undefined {
    const client = this.#connect();
    if (callback === undefined) return client;
    client.then(
      (connected) => callback(undefined, connected, connected.release),
      (error) => callback(toError(error), undefined, () => undefined),
    );
    return undefined;
  }

  async #connect(): Promise<pg.PoolClient> {
    if (!this.#isCurrent) await this.#examine();
    try {
      return await this.#connectToCurrent();
    } catch (error) {
      if (!isDatabaseUnavailable(error)) throw error;
      this.#forget();
      if (toError(error).message === ALL_IN_USE) throw error;
      await this.#examine();
      return await this.#connectToCurrent();
    }
  }

  /** A connection to the current primary; those to an earlier one are closed (invariant 3). */
  async #connectToCurrent(): Promise<pg.PoolClient> {
    for (;;) {
      const client = await super.connect();
      if (this.#servers.get(client) === this.#primary) return client;
      client.release(true);
    }
  }

  #forget(): void {
    this.#isCurrent = false;
  }

  /** Callers at the same time share one examination. */
  #examine(): Promise<void> {
    this.#examining ??= findPrimary(this.#url)
      .then((primary) => {
        this.#primary = primary;
        this.#isCurrent = true;
      })
      .finally(() => {
        this.#examining = undefined;
      });
    return this.#examining;
  }
}

/** What every statement relies on: exact integers, and transactions that leave nothing behind. */
import { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { readConsistently } from '../../src/ledger/store/readConsistently.ts';
import { tryLockVerify } from '../../src/ledger/store/verifyRounds.ts';
import { lockByName } from '../../src/platform/db/advisoryLocks.ts';
import { createDatabase, type Database, type Queryable } from '../../src/platform/db/database.ts';
import { isDatabaseUnavailable } from '../../src/platform/db/failures.ts';
import { toError } from '../../src/platform/errors.ts';
import { MINUTE_MS } from '../../src/platform/time.ts';
import { createTestDatabase, silentLog, type TestDatabase } from '../support/database.ts';
import { waitFor } from '../support/waitFor.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

// Invariant 1.
describe('a bigint', () => {
  test.each(['0', '-1', '9007199254740991', '-9007199254740991'])(
    'is read as the exact number: %s',
    async (text) => {
      expect(await db.query(`select ${text}::bigint as value`)).toEqual([{ value: Number(text) }]);
      expect(await db.query('select $1::bigint as value', [text])).toEqual([
        { value: Number(text) },
      ]);
    },
  );

  test.each([
    '9007199254740992',
    '9007199254740993',
    '-9007199254740992',
    '9223372036854775807',
    '-9223372036854775808',
  ])('is an error if a number would round it: %s', async (text) => {
    for (const run of [db.query, (sql: string) => db.prepared(sql, [])]) {
      await expect(run(`select '${text}'::bigint as value`)).rejects.toThrow(
        `the database returned ${text}, which is outside the range of safe integers`,
      );
    }
    const inTransaction = db.transaction((tx) => tx.query(`select '${text}'::bigint as value`));
    await expect(inTransaction).rejects.toThrow(RangeError);
    // The connection can be used as before.
    expect(await db.query('select 1::bigint as value')).toEqual([{ value: 1 }]);
  });
});

describe('a transaction', () => {
  test('that throws leaves nothing behind, regardless of what threw', async () => {
    await db.query('create table left_behind (n int primary key)');
    const insert = 'insert into left_behind values (1)';
    await expect(
      db.transaction(async (tx) => {
        await tx.query(insert);
        throw new Error('the caller changed its mind');
      }),
    ).rejects.toThrow('the caller changed its mind');
    await expect(
      db.transaction(async (tx) => {
        await tx.query(insert);
        await tx.query(insert);
      }),
    ).rejects.toThrow(/unique/);
    expect(await db.query('select n from left_behind')).toEqual([]);
  });

  // Invariant 7.
  test('fails if a statement of it failed, also if that was caught', async () => {
    await expect(
      db.transaction(async (tx) => {
        await tx.query('create table caught ()');
        await tx.query('select 1 / 0').catch(() => undefined);
      }),
    ).rejects.toThrow('a statement of the transaction had failed');
    expect(await db.query(`select to_regclass('caught') as made`)).toEqual([{ made: null }]);
  });

  // Invariant 2.
  test('that loses its connection fails, and the next one gets another connection', async () => {
    const one = createDatabase({
      connectionString: db.url,
      log: silentLog,
      applicationName: 'lost',
      maxConnections: 1,
      responseTimeoutMs: 30_000,
      plans: 'any',
    });
    try {
      const lost = one.transaction(async (tx) => {
        const [row] = await tx.query<{ pid: number }>('select pg_backend_pid() as pid');
        await db.query('select pg_terminate_backend($1)', [row?.pid]);
        await tx.query('select 1');
      });
      await expect(lost).rejects.toThrow();
      const work = one.transaction((tx) => tx.query('select 1 as n'));
      expect(await work).toEqual([{ n: 1 }]);
    } finally {
      await one.close();
    }
  });
});

// The embedded server has no compiler, so that only the settings can be read here.
test('a transaction by keys avoids scans and the joins that need them, and compiles no plan', async () => {
  const keyed = createDatabase({
    connectionString: db.url,
    log: silentLog,
    applicationName: 'keyed',
    maxConnections: 1,
    responseTimeoutMs: 30_000,
    plans: 'by_key',
  });
  const settings = `select current_setting('enable_seqscan') as scan, current_setting('enable_hashjoin') as hash,
      current_setting('enable_mergejoin') as merge, current_setting('jit') as jit`;
  try {
    const [before] = await keyed.query(settings);
    expect(await keyed.transaction((tx) => tx.query(settings))).toEqual([
      { scan: 'off', hash: 'off', merge: 'off', jit: 'off' },
    ]);
    expect(before).toMatchObject({ scan: 'on', hash: 'on', merge: 'on' });
    expect(await keyed.query(settings)).toEqual([before]);
  } finally {
    await keyed.close();
  }
});

test('transactions that find rows by key plan each statement once', async () => {
  const keyed = createDatabase({
    connectionString: db.url,
    log: silentLog,
    applicationName: 'planned',
    maxConnections: 1,
    responseTimeoutMs: 30_000,
    plans: 'by_key',
  });
  try {
    const text = 'select id from webhook_events where event_id = any ($1::text[])';
    for (let n = 0; n < 3; n += 1) await keyed.transaction((tx) => tx.query(text, [['evt_1']]));
    const plans = await keyed.query(
      `select generic_plans as generic, custom_plans as custom from pg_prepared_statements
        where statement = $1`,
      [text],
    );
    expect(plans).toEqual([{ generic: 3, custom: 0 }]);
  } finally {
    await keyed.close();
  }
});

test('an idle connection notices in minutes that its machine is gone', async () => {
  const keptAlive = vi.spyOn(Socket.prototype, 'setKeepAlive');
  const fresh = createDatabase({
    connectionString: db.url,
    log: silentLog,
    applicationName: 'fresh',
    maxConnections: 1,
    responseTimeoutMs: 30_000,
    plans: 'any',
  });
  try {
    await fresh.probe();
    // Without a time, systems wait for two hours.
    expect(keptAlive.mock.calls).toEqual([[true, 10_000]]);
  } finally {
    keptAlive.mockRestore();
    await fresh.close();
  }
});

test('a connection is kept from one run of a schedule to the next', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const idle = createDatabase({
    connectionString: db.url,
    log: silentLog,
    applicationName: 'idle',
    maxConnections: 1,
    responseTimeoutMs: 30_000,
    plans: 'any',
  });
  try {
    const serverProcess = () => idle.query('select pg_backend_pid() as pid');
    const first = await serverProcess();
    vi.advanceTimersByTime(MINUTE_MS);
    expect(await serverProcess()).toEqual(first);
  } finally {
    vi.useRealTimers();
    await idle.close();
  }
});

describe('a database with settings of its own', () => {
  const SETTINGS = {
    default_transaction_isolation: 'repeatable read',
    datestyle: 'German',
    idle_in_transaction_session_timeout: '0',
  };
  let name: string;
  let configured: Database;
  beforeAll(async () => {
    name = new URL(db.url).pathname.slice(1);
    for (const [setting, value] of Object.entries(SETTINGS))
      await db.query(`alter database ${name} set ${setting} = '${value}'`);
    configured = createDatabase({
      connectionString: db.url,
      log: silentLog,
      applicationName: 'configured',
      maxConnections: 2,
      responseTimeoutMs: 30_000,
      plans: 'any',
    });
  });
  afterAll(async () => {
    await configured.close();
    await db.query(`alter database ${name} reset all`);
  });

  const isLockAwaited = async () =>
    (
      await db.query(
        `select from pg_locks l join pg_database d on d.oid = l.database
          where l.locktype = 'advisory' and not l.granted and d.datname = current_database()`,
      )
    ).length > 0;

  // Two attempts to refund one payment, for example: the second must find the first.
  test('a transaction that waited for a lock sees what the one before it committed', async () => {
    await db.query('create table attempts (n int)');
    let second: Promise<unknown> | undefined;
    await configured.transaction(async (tx) => {
      await lockByName(tx, 'attempts');
      second = configured.transaction(async (later) => {
        await lockByName(later, 'attempts');
        return await later.query('select n from attempts');
      });
      await waitFor('the second to wait', isLockAwaited);
      await tx.query('insert into attempts values (1)');
    });
    expect(await second).toEqual([{ n: 1 }]);
  });

  // Invariant 6.
  test('the server ends a transaction of a process that is silent, unless it only reads', async () => {
    const limit = (tx: Queryable) =>
      tx.query(`select current_setting('idle_in_transaction_session_timeout') as limit`);
    expect(await configured.transaction(limit)).toEqual([{ limit: '1min' }]);
    expect(await readConsistently(configured, limit)).toEqual([{ limit: '0' }]);
    await configured.transaction(async (tx) => {
      await tryLockVerify(tx);
      expect(await limit(tx)).toEqual([{ limit: '0' }]);
    });
  });

  test('what such a transaction did is undone, and its connection is not used again', async () => {
    let silent = 0;
    const ended = configured.transaction(async (tx) => {
      const [own] = await tx.query<{ pid: number }>(
        `select pg_backend_pid() as pid, set_config('idle_in_transaction_session_timeout', '50ms', true)`,
      );
      silent = own?.pid ?? 0;
      await tx.query('create table undone ()');
      await waitFor('the server to end it', async () => {
        const rows = await db.query('select from pg_stat_activity where pid = $1', [silent]);
        return rows.length === 0;
      });
    });
    const error: unknown = await ended.catch((thrown: unknown) => thrown);
    expect(isDatabaseUnavailable(error)).toBe(true);
    // Not that of the driver, which names no reason.
    expect(toError(error).message).toMatch(
      /the server ended a transaction .* 60 seconds.*Nothing of the transaction is stored.*look for/,
    );
    expect(
      await configured.query(
        `select pg_backend_pid() = $1 as same, to_regclass('undone') as made`,
        [silent],
      ),
    ).toEqual([{ same: false, made: null }]);
  });

  test('times are read, and a time in another form is an error', async () => {
    const times = `select '2026-11-30T02:03:04.5Z'::timestamptz as at, '2026-11-30'::date as day`;
    const read = { at: new Date('2026-11-30T02:03:04.5Z'), day: expect.any(Date) };
    expect(await configured.query(times)).toEqual([read]);
    expect(await configured.transaction((tx) => tx.query(times))).toEqual([read]);
    const german = configured.transaction(async (tx) => {
      await tx.query('set local datestyle = german');
      await tx.query(times);
    });
    await expect(german).rejects.toThrow('the database returned the time 30.11.2026 02:03:04.5');
  });
});

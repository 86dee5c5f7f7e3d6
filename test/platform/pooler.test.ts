/** Poolers, with a real PgBouncer that has fewer server connections than it has clients. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Check } from '../../src/doctor/examine.ts';
import { checkRange } from '../../src/ledger/verify/checkRange.ts';
import { type Checker, proveLedger } from '../../src/ledger/verify/proveLedger.ts';
import { createDatabase } from '../../src/platform/db/database.ts';
import { examinePooling } from '../../src/platform/db/pooler.ts';
import { startSandbox } from '../../src/sandbox/startSandbox.ts';
import { runTallyhook } from '../support/cli.ts';
import { createTestDatabase, silentLog, type TestDatabase } from '../support/database.ts';
import { eventBody, MERCHANT_ID, paymentObject } from '../support/events.ts';
import { isPgBouncerInstalled, type PgBouncer, startPgBouncer } from '../support/pgBouncer.ts';
import { settingsFor } from '../support/program.ts';
import { startTallyhook } from '../support/tallyhook.ts';
import { waitFor } from '../support/waitFor.ts';

describe.skipIf(!isPgBouncerInstalled)('through PgBouncer', () => {
  let db: TestDatabase;
  let pooler: PgBouncer;
  let pooled: string;
  beforeAll(async () => {
    db = await createTestDatabase();
    pooler = await startPgBouncer({ serverUrl: db.url, poolSize: 4 });
    pooled = pooler.through(db.url);
  });
  afterAll(async () => {
    await pooler.stop();
    await db.drop();
  });

  const open = (plans: 'any' | 'by_key', maxConnections = 6) =>
    createDatabase({
      connectionString: pooled,
      log: silentLog,
      applicationName: 'pooler-test',
      maxConnections,
      responseTimeoutMs: 30_000,
      plans,
    });

  test.each(['session', 'transaction', 'statement'] as const)(
    'the mode %s is recognized',
    async (mode) => {
      const other = await startPgBouncer({ serverUrl: db.url, mode });
      try {
        expect(await examinePooling(other.through(db.url))).toMatchObject({ mode });
      } finally {
        await other.stop();
      }
    },
  );

  test('a server without a pooler is recognized', async () => {
    expect(await examinePooling(db.url)).toEqual({ mode: 'direct' });
  });

  // Invariant 4 of database.ts.
  test('statements of clients that share sessions are never mixed up', async () => {
    const pools = [open('by_key'), open('by_key')];
    try {
      // As many at once as there are connections, so that none waits for one.
      for (let first = 0; first < 204; first += 12) {
        const numbers = Array.from({ length: 12 }, (_, index) => first + index);
        const results = await Promise.all(
          numbers.map(async (n) => {
            const text = `select $1::int * ${n % 10} as product`;
            const [row] = await (pools[n % 2] ?? db).transaction((tx) =>
              tx.query<{ product: number }>(text, [n]),
            );
            return row?.product;
          }),
        );
        expect(results).toEqual(numbers.map((n) => n * (n % 10)));
      }
    } finally {
      await Promise.all(pools.map((pool) => pool.close()));
    }
  });

  test('no setting of a transaction reaches another client', async () => {
    const pool = open('by_key', 4);
    try {
      await Promise.all(
        Array.from({ length: 8 }, () =>
          pool.transaction((tx) => tx.query('select pg_sleep(0.05)')),
        ),
      );
      const rows = await Promise.all(
        Array.from({ length: 8 }, () =>
          pool.query<{ seqscan: string; messages: string }>(
            `select current_setting('enable_seqscan') as seqscan,
                    current_setting('client_min_messages') as messages, pg_sleep(0.05)`,
          ),
        ),
      );
      for (const [row] of rows) expect(row).toMatchObject({ seqscan: 'on', messages: 'notice' });
    } finally {
      await pool.close();
    }
  });

  test('one run of verify excludes another', async () => {
    const pool = open('any', 3);
    const prove = (openCheckers: () => readonly Checker[]) =>
      proveLedger(pool, { merchantId: MERCHANT_ID, mode: 'full', fullDays: 30, openCheckers });
    try {
      let second: Promise<unknown> | undefined;
      const first = prove(() => [
        async (task) => {
          second ??= prove(() => []);
          await second;
          return await checkRange(pool, task);
        },
      ]);
      expect(await first).toMatchObject({ outcome: 'proven' });
      expect(await second).toEqual({ outcome: 'busy' });
      // A lock of a session would be left in the connection for other clients.
      const left = await db.query(
        `select from pg_locks l join pg_database d on d.oid = l.database
          where l.locktype = 'advisory' and d.datname = current_database()`,
      );
      expect(left).toEqual([]);
      expect(await prove(() => [])).toMatchObject({ outcome: 'proven' });
    } finally {
      await pool.close();
    }
  });

  test('one sandbox excludes another', async () => {
    const own = await createTestDatabase();
    const options = {
      databaseUrl: pooler.through(own.url),
      port: 0,
      apiKey: 'snd_0123456789abcdefghijklmnop',
      webhook: { secret: 'sandbox-secret-0123456789abcdefghij' },
      log: silentLog,
    };
    const first = await startSandbox(options);
    try {
      await expect(startSandbox(options)).rejects.toThrow(/Another sandbox/);
    } finally {
      await first.close();
      await own.drop();
    }
  });

  test('events are persisted and applied, and the ledger is rebuilt as it is', async () => {
    const tallyhook = await startTallyhook({
      db: { url: pooled },
      env: { QUEUE_DATABASE_URL: db.url },
    });
    try {
      const bodies = Array.from({ length: 60 }, (_, n) =>
        eventBody(paymentObject({ payment_id: `pay_pooled_${n}` })),
      );
      const replies = await Promise.all(bodies.map((body) => tallyhook.deliver(body)));
      expect(replies.map(({ status }) => status)).toEqual(bodies.map(() => 200));
      await waitFor('every event to be applied', async () => {
        const [row] = await db.query<{ n: number }>(
          `select count(*) as n from resources where id like 'pay_pooled_%'`,
        );
        return row?.n === bodies.length;
      });
    } finally {
      await tallyhook.close();
    }
    const [row] = await db.query<{ n: number }>(
      `select count(*) as n from pg_stat_activity
        where datname = current_database() and application_name like 'tallyhook%'
          and application_name <> 'tallyhook-queue'`,
    );
    expect(row?.n).toBeLessThanOrEqual(4);
    const env = settingsFor(pooled, { QUEUE_DATABASE_URL: db.url });
    const rebuilt = await runTallyhook(['verify', '--rebuild'], { env });
    expect(rebuilt.stdout).toContain('checks passed');
    expect(rebuilt.code).toBe(0);
    const doctor = await runTallyhook(['doctor', '--json'], { env });
    const { checks } = JSON.parse(doctor.stdout) as { readonly checks: readonly Check[] };
    expect(checks.find(({ name }) => name === 'pooler')).toMatchObject({
      state: 'ok',
      result: expect.stringContaining('a pooler in transaction mode'),
    });
    expect(checks.find(({ name }) => name === 'queue')?.state).toBe('ok');
  });

  test('a queue that shares its address is named, with the setting to add', async () => {
    const env = settingsFor(pooled);
    const doctor = await runTallyhook(['doctor', '--json'], { env });
    const { checks } = JSON.parse(doctor.stdout) as { readonly checks: readonly Check[] };
    for (const name of ['pooler', 'queue']) {
      expect(checks.find((check) => check.name === name)).toMatchObject({
        state: 'failed',
        result: expect.stringContaining('pooler'),
        remedy: expect.stringContaining('QUEUE_DATABASE_URL'),
      });
    }
  });

  test.each([['ignored', 'ignore_startup_parameters = options']])(
    'a queue is named as the cause even if its settings are %s',
    async (_, line) => {
      const other = await startPgBouncer({ serverUrl: db.url, lines: [line] });
      try {
        const doctor = await runTallyhook(['doctor', '--json'], {
          env: settingsFor(other.through(db.url)),
        });
        const { checks } = JSON.parse(doctor.stdout) as { readonly checks: readonly Check[] };
        expect(checks.find(({ name }) => name === 'queue')).toMatchObject({
          state: 'failed',
          result: expect.stringContaining('a pooler in transaction mode'),
        });
      } finally {
        await other.stop();
      }
    },
  );

  test.each([['migrate'], ['verify', '--rebuild']])(
    'what needs a session refuses to share one: %s',
    async (...args) => {
      const { code, stderr } = await runTallyhook(args, { env: settingsFor(pooled) });
      expect(code).toBe(4);
      expect(stderr).toContain('a pooler in transaction mode');
      expect(stderr).toContain('QUEUE_DATABASE_URL');
    },
  );

  test('a pooler without transactions is refused at startup', async () => {
    const other = await startPgBouncer({ serverUrl: db.url, mode: 'statement' });
    try {
      await expect(
        startTallyhook({ db: { url: other.through(db.url) }, roles: ['receiver'] }),
      ).rejects.toThrow(/statement mode/);
    } finally {
      await other.stop();
    }
  });
});

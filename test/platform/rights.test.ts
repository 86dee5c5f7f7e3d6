/**
 * Each database role has the rights that the code of its processes needs, and no other. A grant that a
 * change forgets is found here, not when the first alert cannot be sent; so is one that it leaves behind.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { migrateDatabase } from '../../src/platform/db/migrate.ts';
import { databaseRoles, readRoleRights } from '../../src/platform/db/rights.ts';
import { startEmbeddedPostgres } from '../../src/platform/embeddedPostgres/index.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { memoryFolder } from '../support/memoryFolder.ts';
import { allOf, type Need, needsOf, needsOfReached, reach } from '../support/statements.ts';

type Entry = Parameters<typeof reach>[0][number];

const at = (file: string, name: string) => ({ path: `src/assembly/${file}`, name });

/** What every process runs. */
const EVERY_PROCESS = [at('shared.ts', 'share'), at('health.ts', 'startHealth')];
const RECEIVER = [at('receiver.ts', 'startReceiver')];
const CONSOLE = [at('console.ts', 'startConsole')];
/** What authentication writes for every request. */
const AUTHENTICATION = [
  { path: 'src/access/store/tokens.ts', name: 'markUsed' },
  { path: 'src/audit/recordAudit.ts', name: 'recordRefusal' },
  { path: 'src/access/store/sessions.ts', name: 'insertSession' },
  { path: 'src/access/store/sessions.ts', name: 'touchSessions' },
];
const APP = [
  at('events.ts', 'startEvents'),
  at('reconcile.ts', 'startReconcile'),
  at('alerts.ts', 'startAlerts'),
  at('scheduler.ts', 'startSchedules'),
  ...CONSOLE,
  // `migrate` runs as the owner, `sandbox` and `demo` have a database of their own; `start` runs what
  // is listed above.
  ...allOf('src/cli/commands', ['index.ts', 'migrate.ts', 'sandbox.ts', 'demo.ts', 'start.ts']),
];

/** Erasure makes its statement for each column with texts, so no source names these tables. */
const BY_ERASURE = ['update on settlement_lines'];

let db: TestDatabase;
let tables: ReadonlySet<string>;
let triggers: readonly { readonly table: string; readonly body: string }[];
beforeAll(async () => {
  db = await createTestDatabase();
  const relations = await db.query<{ name: string }>(
    `select relname as name from pg_class
      where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v')
        and not relispartition
     union all
     select proname from pg_proc where pronamespace = 'public'::regnamespace and prosecdef`,
  );
  tables = new Set(relations.map(({ name }) => name));
  triggers = await db.query(
    `select c.relname as table, p.prosrc as body
       from pg_trigger t join pg_class c on c.oid = t.tgrelid join pg_proc p on p.oid = t.tgfoid
      where c.relnamespace = 'public'::regnamespace and not t.tgisinternal`,
  );
});
afterAll(() => db.drop());

const format = ({ right, table }: Need) => `${right} on ${table}`;

const ofTables = (needs: Iterable<Need>): ReadonlySet<string> =>
  new Set([...needs].filter(({ table }) => tables.has(table)).map(format));

/** What code needs: by its statements, and by the triggers of the tables that it writes. */
function needsOfCode(entries: readonly Entry[]): ReadonlySet<string> {
  const needs = [...needsOfReached(reach(entries)).values()];
  const written = new Set(
    needs.filter(({ right }) => right !== 'select').map(({ table }) => table),
  );
  const byTriggers = triggers
    .filter(({ table }) => written.has(table))
    .flatMap(({ body }) => needsOf(body));
  return ofTables([...needs, ...byTriggers]);
}

/** What code needs that only reads, though it could do more. */
function readsOfCode(entries: readonly Entry[]): ReadonlySet<string> {
  const needs = needsOfReached(reach(entries)).values();
  return ofTables([...needs].filter(({ right }) => right === 'select'));
}

/** The rights of a role on tables and views, or on any of their columns, and on functions of their owner. */
async function rightsOf(role: string): Promise<ReadonlySet<string>> {
  const rows = await db.query<Need>(
    `select c.relname as table, r.right
       from pg_class c
      cross join unnest(array['select', 'insert', 'update', 'delete']) as r("right")
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v')
        and (has_table_privilege($1, c.oid, r.right)
             or (r.right <> 'delete' and has_any_column_privilege($1, c.oid, r.right)))
     union all
     select proname, 'execute' from pg_proc
      where pronamespace = 'public'::regnamespace and prosecdef
        and has_function_privilege($1, oid, 'execute')`,
    [role],
  );
  return new Set(rows.map(format));
}

async function expectExactly(role: string, needed: ReadonlySet<string>): Promise<void> {
  const granted = await rightsOf(role);
  const missing = [...needed].filter((right) => !granted.has(right));
  const unused = [...granted].filter((right) => !needed.has(right));
  expect({ missing, unused }, `migrations/rights/${role}.sql`).toEqual({ missing: [], unused: [] });
}

describe('a role has each right that its code needs, and no other', () => {
  test('the scan finds what a statement needs', () => {
    const found = (sql: string) => [...new Set(needsOf(sql).map(format))].toSorted();
    expect(found('insert into a (x) values (1) on conflict do nothing')).toEqual(['insert on a']);
    expect(found('insert into a select x from b on conflict (x) do update set x = 1')).toEqual([
      'insert on a',
      'select on a',
      'select on b',
      'update on a',
    ]);
    expect(found('delete from a using b where a.x = b.x')).toEqual([
      'delete on a',
      'select on a',
      'select on b',
    ]);
    expect(found('select x from a join b c on true for update of c skip locked')).toEqual([
      'select on a',
      'select on b',
      'update on b',
    ]);
  });

  test('tallyhook_receiver', async () => {
    const needed = needsOfCode([...EVERY_PROCESS, ...RECEIVER]);
    expect(needed).toContain('insert on webhook_events');
    await expectExactly('tallyhook_receiver', needed);
  });

  test('tallyhook_app', async () => {
    const needed = new Set([...needsOfCode([...EVERY_PROCESS, ...APP]), ...BY_ERASURE]);
    expect(needed).toContain('select on legs');
    expect(needed.size).toBeGreaterThan(90);
    await expectExactly('tallyhook_app', needed);
  });

  test('tallyhook_console, which reads what the admin port shows and changes nothing', async () => {
    const needed = new Set([
      ...needsOfCode([...EVERY_PROCESS, ...AUTHENTICATION]),
      ...readsOfCode(CONSOLE),
    ]);
    expect(needed.size).toBeGreaterThan(25);
    await expectExactly('tallyhook_console', needed);
  });
});

describe('migrate', () => {
  test('leaves no role with a right too few or too many', async () => {
    expect(await readRoleRights(db)).toEqual(
      databaseRoles().map((role) => ({ role, exists: true, missing: [], surplus: [] })),
    );
  });

  test('restores what differs: in tables, columns, schemas and the queue', async () => {
    await db.query(`revoke insert on webhook_events from tallyhook_receiver;
                         revoke update (is_awaited) on order_expectations from tallyhook_app;
                         revoke usage on schema bullmq from tallyhook_app;
                         revoke delete on bullmq.job from tallyhook_console;
                         grant update on order_expectations to tallyhook_app;
                         grant truncate on transfers to tallyhook_app;
                         grant select (amount_minor) on transfers to tallyhook_receiver`);
    const differences = Object.fromEntries(
      (await readRoleRights(db)).map(({ role, missing, surplus }) => [role, { missing, surplus }]),
    );
    expect(differences).toEqual({
      tallyhook_app: {
        missing: ['grant usage on schema bullmq to tallyhook_app'],
        surplus: [
          'revoke update on public.order_expectations from tallyhook_app',
          'revoke truncate on public.transfers from tallyhook_app',
        ],
      },
      tallyhook_console: {
        missing: ['grant delete on bullmq.job to tallyhook_console'],
        surplus: [],
      },
      tallyhook_receiver: {
        missing: ['grant insert on public.webhook_events to tallyhook_receiver'],
        surplus: ['revoke select (amount_minor) on public.transfers from tallyhook_receiver'],
      },
    });
    expect(await migrateDatabase(db.url)).toEqual({ applied: [], refused: [] });
    for (const { missing, surplus } of await readRoleRights(db)) {
      expect({ missing, surplus }).toEqual({ missing: [], surplus: [] });
    }
  });

  test('needs no right to create roles: it returns what an administrator must run', async () => {
    const dataDir = mkdtempSync(join(memoryFolder(), 'tallyhook-rights-'));
    const server = await startEmbeddedPostgres({ dataDir, log: () => undefined });
    const administrator = new pg.Client({ connectionString: server.connectionString });
    try {
      await administrator.connect();
      await administrator.query(`create role owner login password 'p'`);
      await administrator.query('create database ledger owner owner');
      const url = new URL(server.connectionString);
      url.pathname = '/ledger';
      [url.username, url.password] = ['owner', 'p'];

      const creations = databaseRoles().map((role) => `create role ${role} nologin`);
      const first = await migrateDatabase(url.href);
      expect(first.applied.length).toBeGreaterThan(20);
      expect(first.refused).toEqual(creations);

      for (const creation of creations) await administrator.query(creation);
      expect(await migrateDatabase(url.href)).toEqual({ applied: [], refused: [] });
      const owner = new pg.Client({ connectionString: url.href });
      await owner.connect();
      const { rows } = await owner.query(
        `select has_schema_privilege('tallyhook_app', 'bullmq', 'usage') as uses_queue,
                has_table_privilege('tallyhook_receiver', 'bullmq.job', 'insert') as enqueues,
                has_table_privilege('tallyhook_receiver', 'webhook_events', 'insert') as persists`,
      );
      await owner.end();
      expect(rows).toEqual([{ uses_queue: true, enqueues: true, persists: true }]);
    } finally {
      await administrator.end();
      await server.stop();
      rmSync(dataDir, { recursive: true, force: true });
    }
  });
});

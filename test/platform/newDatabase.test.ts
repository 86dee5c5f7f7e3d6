/** What a migration refuses before it changes anything. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { createDatabase } from '../../src/platform/db/database.ts';
import { isDatabaseUnavailable } from '../../src/platform/db/failures.ts';
import { migrateDatabase } from '../../src/platform/db/migrate.ts';
import { refusePendingMigrations } from '../../src/platform/db/pendingMigrations.ts';
import { toError } from '../../src/platform/errors.ts';
import { createTestDatabase, silentLog, type TestDatabase } from '../support/database.ts';
import { unique } from '../support/events.ts';
import { startTcpProxy } from '../support/tcpProxy.ts';

let db: TestDatabase;
const cleanups: (() => unknown)[] = [];
beforeAll(async () => {
  db = await createTestDatabase();
});
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});
afterAll(() => db.drop());

const plainName = () => unique('new').replaceAll(/\W/g, '').toLowerCase();

/** An empty database. @returns its address */
async function createEmpty(options = ''): Promise<string> {
  const name = plainName();
  await db.query(`create database ${name} ${options}`);
  cleanups.push(() => db.query(`drop database ${name} with (force)`));
  return Object.assign(new URL(db.url), { pathname: `/${name}` }).href;
}

function open(url: string) {
  const opened = createDatabase({
    connectionString: url,
    log: silentLog,
    applicationName: 'test',
    maxConnections: 1,
    responseTimeoutMs: 30_000,
    plans: 'any',
  });
  cleanups.push(() => opened.close());
  return opened;
}

const readTables = (url: string) =>
  open(url).query(
    `select tablename from pg_tables where schemaname <> all ('{pg_catalog,information_schema}')`,
  );

test('a database with another encoding is refused before anything is changed, with the command to run', async () => {
  const name = `${plainName()}-Shop`;
  await db.query(`create database "${name}" encoding 'LATIN1' locale 'C' template template0`);
  cleanups.push(() => db.query(`drop database "${name}" with (force)`));
  const url = Object.assign(new URL(db.url), { pathname: `/${name}` }).href;
  const message = await migrateDatabase(url).then(
    () => '',
    (error: unknown) => toError(error).message,
  );
  expect(message).toContain('has the encoding LATIN1, which cannot store every character');
  expect(await readTables(url)).toEqual([]);

  // A cluster of another locale has a template0 that accepts no database in UTF-8 without one of its own.
  const [command = ''] = /create database .*$/.exec(message) ?? [];
  expect(command).toContain(` locale 'C' `);
  await db.query(command);
  cleanups.push(() => db.query(`drop database "${name}_utf8" with (force)`));
  const other = Object.assign(new URL(db.url), { pathname: `/${name}_utf8` }).href;
  expect((await migrateDatabase(other)).applied.length).toBeGreaterThan(0);
});

test.each([
  ['no schema that exists', 'missing'],
  ['shop', 'shop, public'],
])(
  'a user with a search_path that leads to %s is refused, with what to run',
  async (found, path) => {
    const url = await createEmpty();
    const name = new URL(url).pathname.slice(1);
    await open(url).query('create schema shop');
    await db.query(`alter database ${name} set search_path = ${path}`);
    await expect(migrateDatabase(url)).rejects.toThrow(
      `(${path}) leads to ${found}. Nothing was changed. Run: alter role "`,
    );
    expect(await readTables(url)).toEqual([]);
  },
);

test('a search_path in the address is to be removed there: that of the user would change nothing', async () => {
  const url = new URL(await createEmpty());
  url.searchParams.set('options', '-c search_path=missing');
  await expect(migrateDatabase(url.href)).rejects.toThrow(
    '(missing) leads to no schema that exists. Nothing was changed. Remove search_path from the address',
  );
});

test('a process with a user that does not find the tables names the search_path, not migrations', async () => {
  const name = new URL(db.url).pathname.slice(1);
  await db.query(`alter database ${name} set search_path = missing`);
  cleanups.push(() => db.query(`alter database ${name} reset search_path`));
  await expect(refusePendingMigrations(open(db.url))).rejects.toThrow(
    '(missing) leads to no schema',
  );
});

test('a server that accepts connections and hangs is an error, not an endless wait', async () => {
  const proxy = await startTcpProxy(db.url);
  cleanups.push(() => proxy.close());
  proxy.freeze();
  const failure = await migrateDatabase(proxy.url).catch((error: unknown) => error);
  expect(failure).toMatchObject({ message: expect.stringMatching(/timeout/) });
  // The command states that the database cannot be reached, instead of the place in the program.
  expect(isDatabaseUnavailable(failure)).toBe(true);
});

/**
 * The change feed of a database that was set back: a base backup or a snapshot of the volume that is started as it is,
 * or a dump that is restored into the server that runs. The timeline and the system identifier are those from before.
 * The production failure this prevents: numbers are assigned twice, and a shop that has read further misses what
 * happened to its orders since the restore.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createChangeFeed } from '../../src/ledger/changeFeed.ts';
import { insertRegistered } from '../../src/ledger/store/changes.ts';
import { createDatabase, type Database } from '../../src/platform/db/database.ts';
import { migrateDatabase } from '../../src/platform/db/migrate.ts';
import { silentLog } from '../support/database.ts';
import { databaseUrl } from '../support/globalSetup.ts';
import { memoryFolder } from '../support/memoryFolder.ts';
import { createCluster, type PostgresServer, startServer } from '../support/replication.ts';
import { serverPort } from '../support/serverPort.ts';
import { waitFor } from '../support/waitFor.ts';

const folder = mkdtempSync(join(memoryFolder(), 'tallyhook-restored-'));
const [files, backup] = [join(folder, 'server'), join(folder, 'backup')];
let port: number;
let server: PostgresServer;
let db: Database;

async function start(): Promise<void> {
  server = await startServer(files, { port });
  open(server.url);
}

function open(connectionString: string): void {
  db = createDatabase({
    connectionString,
    log: silentLog,
    applicationName: 'test',
    maxConnections: 2,
    responseTimeoutMs: 30_000,
    plans: 'any',
  });
}

async function stop(): Promise<void> {
  await db?.close();
  await server?.stop();
}

beforeAll(async () => {
  port = await serverPort();
  createCluster(files);
  await start();
  await migrateDatabase(server.url);
});

afterAll(async () => {
  await stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Records a change of each order, and numbers them. */
async function change(...orders: readonly string[]): Promise<void> {
  for (const order of orders) {
    await db.transaction((tx) => insertRegistered(tx, `order:${order}`));
    await createChangeFeed(db).publish();
  }
}

const read = (after: number) => createChangeFeed(db).read({ after, limit: 100 });

async function readOrders(after: number): Promise<readonly (readonly [number, string])[]> {
  const reading = await read(after);
  if (reading.outcome !== 'read') throw new Error(reading.outcome);
  return reading.changes.map(({ number, id }) => [number, id]);
}

const countEpochs = async (): Promise<number> => {
  const rows = await db.query<{ first: number }>('select first_number as first from feed_epochs');
  return rows.length;
};

test('numbers of a server with files that were set back are assigned once, and its readers learn what is undone', async () => {
  await change('a', 'b');
  const [, kept] = (await readOrders(0)).map(([number]) => number);
  await db.query('checkpoint');
  // Nothing writes, so the copy is as consistent as a snapshot of the volume.
  cpSync(files, backup, { recursive: true, filter: (file) => basename(file) !== 'postmaster.pid' });
  await change('lost_1', 'lost_2', 'lost_3');
  const lost = await readOrders(kept ?? 0);
  const last = lost.at(-1)?.[0] ?? 0;
  await stop();
  rmSync(files, { recursive: true });
  cpSync(backup, files, { recursive: true });
  execFileSync('chmod', ['-R', 'go-rwx', files]);
  await start();

  // More than was lost, so that numbers would be assigned twice.
  await change('c', 'd', 'e', 'f');
  const after = await readOrders(kept ?? 0);
  expect(after.map(([, id]) => id)).toEqual(['c', 'd', 'e', 'f']);
  expect(after.every(([number]) => number > last)).toBe(true);
  expect(await read(last)).toEqual({ outcome: 'undone', continueAfter: kept });
});

test('a start that lost nothing begins one epoch, and undoes nothing', async () => {
  await change('g');
  const [newest] = (await readOrders(0)).slice(-1);
  await stop();
  await start();
  const epochs = await countEpochs();
  await change('h', 'i', 'j');
  expect(await countEpochs()).toBe(epochs + 1);
  expect((await readOrders(newest?.[0] ?? 0)).map(([, id]) => id)).toEqual(['h', 'i', 'j']);
});

test('a server that started under a clock that was ahead begins one epoch, and not one with each change', async () => {
  const epochs = await countEpochs();
  await db.query(
    `create function public.pg_postmaster_start_time() returns timestamptz language sql stable
     as $$ select timestamptz '2999-01-01' $$`,
  );
  await db.query('alter role postgres set search_path = public, pg_catalog');
  await stop();
  await start();
  await change('k', 'l', 'm');
  expect(await countEpochs()).toBe(epochs + 1);
});

/** A dump has the rows of a database, and none of its object ids. */
test.each([
  [
    'another database',
    async () => {
      await db.close();
      open(databaseUrl(server.url, 'template1'));
      const { pathname } = new URL(server.url);
      await db.query(`create database restored template ${pathname.slice(1)}`);
      await db.close();
      open(databaseUrl(server.url, 'restored'));
    },
  ],
  [
    'its database',
    async () => {
      await db.query('create table restored (like feed_epochs including all)');
      await db.query('insert into restored select * from feed_epochs');
      await db.query('drop table feed_epochs cascade');
      await db.query('alter table restored rename to feed_epochs');
    },
  ],
])(
  'numbers of a dump that is restored into %s of a server that goes on are assigned once',
  async (_, restore) => {
    await change('n', 'o');
    const [kept = 0] = (await readOrders(0)).slice(-1).map(([number]) => number);
    await change('lost_4', 'lost_5');
    const [last = 0] = (await readOrders(kept)).slice(-1).map(([number]) => number);
    // Numbers of an epoch begin with its second, and a restore takes longer than one.
    await waitFor('the next second', async () => {
      const rows = await db.query<{ isLater: boolean }>(
        `select extract(epoch from statement_timestamp())::bigint * 1000000 > $1 as "isLater"`,
        [last],
      );
      return rows[0]?.isLater === true;
    });
    await restore();
    await db.transaction(async (tx) => {
      // The table is append-only.
      await tx.query('set local session_replication_role = replica');
      await tx.query('delete from changes where number > $1', [kept]);
    });

    await change('p', 'q', 'r');
    const after = await readOrders(kept);
    expect(after.map(([, id]) => id)).toEqual(['p', 'q', 'r']);
    expect(after.every(([number]) => number > last)).toBe(true);
    expect(await read(last)).toEqual({ outcome: 'undone', continueAfter: kept });
    const epochs = await countEpochs();
    await change('s');
    expect(await countEpochs()).toBe(epochs);
  },
);

/** Connections to the primary among several servers: real servers with replication, and a frozen one. */
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { createDatabase, type Database } from '../../src/platform/db/database.ts';
import { isDatabaseUnavailable } from '../../src/platform/db/failures.ts';
import { hostOf } from '../../src/platform/db/hosts.ts';
import { findPrimary } from '../../src/platform/db/primary.ts';
import { createLog } from '../../src/platform/log.ts';
import { memoryFolder } from '../support/memoryFolder.ts';
import {
  copyCluster,
  createCluster,
  type PostgresServer,
  STANDBY,
  startServer,
} from '../support/replication.ts';
import { startTcpProxy } from '../support/tcpProxy.ts';
import { waitFor } from '../support/waitFor.ts';

const folder = mkdtempSync(join(memoryFolder(), 'tallyhook-primary-'));
let first: PostgresServer;
let second: PostgresServer;
let databases: Database[];

beforeAll(async () => {
  const dir = join(folder, 'a');
  createCluster(dir);
  first = await startServer(dir, {});
  const copy = join(folder, STANDBY);
  await copyCluster(first, copy);
  second = await startServer(copy, { follows: first.url });
});

afterAll(async () => {
  await second?.crash();
  await first?.crash();
  rmSync(folder, { recursive: true, force: true });
});

beforeEach(() => {
  databases = [];
});

afterEach(async () => {
  await Promise.all(databases.map((db) => db.close()));
  await setReadOnly(second, true);
  await setReadOnly(first, false);
});

/** The first server continues to respond, as one that a failover manager made read-only does. */
async function failOver(): Promise<void> {
  await setReadOnly(first, true);
  const [row] = await second.query<{ isStandby: boolean }>(
    `select pg_is_in_recovery() as "isStandby"`,
  );
  if (row?.isStandby) await second.query('select pg_promote(true)');
  await setReadOnly(second, false);
}

function addressOf(servers: readonly Pick<PostgresServer, 'url'>[]): string {
  return first.url.replace(/@[^/]*/, `@${servers.map(({ url }) => hostOf(url)).join(',')}`);
}

function open(servers: readonly Pick<PostgresServer, 'url'>[]): Database {
  const db = createDatabase({
    connectionString: addressOf(servers),
    log: createLog('silent'),
    applicationName: 'tallyhook-test',
    maxConnections: 4,
    responseTimeoutMs: 2_000,
    plans: 'any',
  });
  databases.push(db);
  return db;
}

const portOf = async (db: Pick<Database, 'query'>) =>
  (await db.query<{ port: string }>(`select current_setting('port') as port`))[0]?.port;

async function setReadOnly(server: PostgresServer, isReadOnly: boolean): Promise<void> {
  await server.query(
    `alter system set default_transaction_read_only = ${isReadOnly ? 'on' : 'off'}`,
  );
  await server.query('select pg_reload_conf()');
  await waitFor('the setting', async () => {
    const [row] = await server.query<{ value: string }>(
      `select current_setting('default_transaction_read_only') as value`,
    );
    return row?.value === (isReadOnly ? 'on' : 'off');
  });
}

test('the primary is found in any place of the address', async () => {
  const { port } = new URL(first.url);
  for (const servers of [
    [first, second],
    [second, first],
  ]) {
    expect(await portOf(open(servers))).toBe(port);
    expect(new URL(await findPrimary(addressOf(servers))).port).toBe(port);
  }
});

test('a server that hangs is passed over', async () => {
  const frozen = await startTcpProxy(first.url);
  frozen.freeze();
  try {
    const db = open([frozen, first]);
    expect(await portOf(db)).toBe(new URL(first.url).port);
    // A second connection is opened, and examines nothing.
    expect(await Promise.all([portOf(db), portOf(db)])).toHaveLength(2);
  } finally {
    await frozen.close();
  }
});

test('after a failover no connection to the server that was the primary is used again', async () => {
  const db = open([first, second]);
  // Connections to the primary, idle afterwards.
  await Promise.all(Array.from({ length: 4 }, () => db.query('select pg_sleep(0.05)')));
  await failOver();
  await expect(db.query('create table t (n int)')).rejects.toMatchObject({ code: '25006' });
  await db.query('create table t (n int)');
  const ports = await Promise.all(
    Array.from({ length: 8 }, () => db.transaction((tx) => portOf(tx))),
  );
  expect(new Set(ports)).toEqual(new Set([new URL(second.url).port]));
});

test('a connection to a server that became a standby is refused when it opens', async () => {
  const db = open([first, second]);
  expect(await portOf(db)).toBe(new URL(first.url).port);
  await failOver();
  // The idle connection is in use, so that another one opens, to the server that was the primary.
  await db.transaction(async () => {
    expect(await portOf(db)).toBe(new URL(second.url).port);
  });
});

test('while no server accepts writes, the error has what each of them responded', async () => {
  const gone = await startTcpProxy(first.url, { refusing: true });
  await setReadOnly(first, true);
  try {
    const error = await open([first, gone])
      .query('select 1')
      .then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
    expect(String(error)).toMatch(
      new RegExp(
        `no server of the database accepts writes \\(${hostOf(first.url)}: the server is read-only: default_transaction_read_only is on.*; ${hostOf(gone.url)}: connect ECONNREFUSED`,
      ),
    );
    expect(isDatabaseUnavailable(error)).toBe(true);
  } finally {
    await gone.close();
  }
});

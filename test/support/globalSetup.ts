/**
 * Starts what the tests over real services use, once for each project: an embedded PostgreSQL with a migrated
 * template database, and Redis if it is installed.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { migrateDatabase } from '../../src/platform/db/migrate.ts';
import { migrateSchema } from '../../src/platform/db/migrateSchema.ts';
import { startEmbeddedPostgres } from '../../src/platform/embeddedPostgres/index.ts';
import { packageRoot } from '../../src/platform/packageRoot.ts';
import { memoryFolder } from './memoryFolder.ts';
import { noteSkipped } from './noteSkipped.ts';
import { isPgBouncerInstalled, type PgBouncer, startPgBouncer } from './pgBouncer.ts';
import { createCluster, startServer } from './replication.ts';
import { serverPort } from './serverPort.ts';
import { waitFor } from './waitFor.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** URL of the maintenance database; tests create their own databases from the template. */
    postgresUrl: string;
    /** Undefined if redis-server is not installed. */
    redisUrl: string | undefined;
    /** With TEST_POOLER=transaction: the URL of the maintenance database through a pooler. */
    poolerUrl: string | undefined;
    /** What test files make for each other; removed after the run. */
    runFolder: string;
  }
}

export const TEMPLATE = 'tallyhook_template';
export const SANDBOX_TEMPLATE = 'sandbox_template';

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dataDir = mkdtempSync(join(memoryFolder(), 'tallyhook-test-'));
  const server = await startPostgres(dataDir);
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  for (const name of [TEMPLATE, SANDBOX_TEMPLATE]) await client.query(`create database ${name}`);
  if (process.env.TEST_POSTGRES === undefined) await trustOwner(client);
  await client.end();
  await migrateDatabase(databaseUrl(server.url, TEMPLATE));
  await migrateSchema({
    connectionString: databaseUrl(server.url, SANDBOX_TEMPLATE),
    schema: 'sandbox',
    folder: join(packageRoot(), 'migrations/sandbox'),
  });
  const redis = await startRedis(dataDir);
  const pooler = await startPooler(server.url);
  project.provide('runFolder', dataDir);
  project.provide('postgresUrl', server.url);
  project.provide('redisUrl', redis?.url);
  project.provide('poolerUrl', pooler?.through(server.url));
  return async () => {
    redis?.process.kill('SIGKILL');
    await pooler?.stop();
    await server.stop();
    rmSync(dataDir, { recursive: true, force: true });
  };
}

/**
 * The owner logs in without proving a password, every other role with it. The proof takes 3 ms of each side for each of
 * thousands of connections, and 40 ms of each process that is started, which loads what computes it. That the program
 * logs in with a password is shown by the tests of the embedded server and of roles with few rights.
 */
async function trustOwner(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ file: string; owner: string }>(
    `select current_setting('hba_file') as file, quote_ident(current_user) as owner`,
  );
  for (const { file, owner } of rows) {
    const others = readFileSync(file, 'utf8');
    writeFileSync(file, `host all ${owner} 127.0.0.1/32 trust\n${others}`);
  }
  await client.query('select pg_reload_conf()');
}

/** The embedded server, or with TEST_POSTGRES one from the programs in that folder (scripts/matrix.sh). */
async function startPostgres(
  dataDir: string,
): Promise<{ readonly url: string; readonly stop: () => Promise<void> }> {
  // Durable, since `doctor` fails on a server that is not; in memory that costs little.
  const settings = {
    max_connections: '300',
    // Each minute a process would begin for every database there is, of which nearly all have only the rows of a test.
    autovacuum_naptime: '5min',
  };
  const folder = process.env.TEST_POSTGRES;
  if (folder === undefined) {
    const server = await startEmbeddedPostgres({
      dataDir,
      log: () => undefined,
      // A database is copied by the kernel, which takes two thirds of the processor time of a copy by
      // PostgreSQL. Before version 18 there is no such setting.
      settings: { ...settings, file_copy_method: 'clone' },
    });
    return { url: server.connectionString, stop: server.stop };
  }
  const programs = { initdb: join(folder, 'initdb'), postgres: join(folder, 'postgres') };
  const cluster = join(dataDir, 'postgres');
  createCluster(cluster, programs);
  return await startServer(cluster, { settings: { ...settings, timezone: 'UTC' }, programs });
}

export function databaseUrl(postgresUrl: string, database: string): string {
  const url = new URL(postgresUrl);
  url.pathname = `/${database}`;
  return url.href;
}

async function startPooler(serverUrl: string): Promise<PgBouncer | undefined> {
  if (!isPgBouncerInstalled) {
    noteSkipped('pgbouncer', 'the tests of poolers are');
  }
  return process.env.TEST_POOLER === 'transaction'
    ? await startPgBouncer({ serverUrl })
    : undefined;
}

async function startRedis(
  dataDir: string,
): Promise<{ readonly url: string; readonly process: ChildProcess } | undefined> {
  const port = await serverPort();
  const process = spawn(
    'redis-server',
    ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', dataDir],
    { stdio: 'ignore' },
  );
  const failure = await Promise.race([
    once(process, 'error').then(([error]) => error as NodeJS.ErrnoException),
    once(process, 'spawn').then(() => undefined),
  ]);
  if (failure?.code === 'ENOENT') {
    noteSkipped('redis-server', 'the Redis half of the tests is');
    return undefined;
  }
  if (failure) throw failure;
  const url = `redis://127.0.0.1:${port}`;
  const probe = new Redis(url, { retryStrategy: () => 50 });
  probe.on('error', () => undefined);
  await waitFor('Redis to respond', async () => (await probe.ping()) === 'PONG');
  probe.disconnect();
  return { url, process };
}

/**
 * Starts what the tests over real services use, once for each project: an embedded PostgreSQL with a migrated
 * template database, and Redis if it is installed.
 */
import { spawn } from 'node:child_process';
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
import { isPgBouncerInstalled, startPgBouncer } from './pgBouncer.ts';
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

/** Ends or removes what the setup made. */
type End = () => void | Promise<void>;

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dataDir = mkdtempSync(join(memoryFolder(), 'tallyhook-test-'));
  const ends: End[] = [() => rmSync(dataDir, { recursive: true, force: true })];
  const teardown = async (): Promise<void> => {
    for (const end of ends.toReversed()) await end();
  };
  try {
    project.provide('runFolder', dataDir);
    const postgresUrl = await startPostgres(dataDir, ends);
    await createTemplates(postgresUrl);
    project.provide('postgresUrl', postgresUrl);
    project.provide('redisUrl', await startRedis(dataDir, ends));
    project.provide('poolerUrl', await startPooler(postgresUrl, ends));
  } catch (error) {
    // Vitest calls the teardown of a setup that succeeded only, and the servers outlive this process.
    await teardown();
    throw error;
  }
  return teardown;
}

async function createTemplates(postgresUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: postgresUrl });
  await client.connect();
  for (const name of [TEMPLATE, SANDBOX_TEMPLATE]) await client.query(`create database ${name}`);
  if (process.env.TEST_POSTGRES === undefined) await trustOwner(client);
  await client.end();
  await migrateDatabase(databaseUrl(postgresUrl, TEMPLATE));
  await migrateSchema({
    connectionString: databaseUrl(postgresUrl, SANDBOX_TEMPLATE),
    schema: 'sandbox',
    folder: join(packageRoot(), 'migrations/sandbox'),
  });
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
async function startPostgres(dataDir: string, ends: End[]): Promise<string> {
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
    ends.push(() => server.stop());
    return server.connectionString;
  }
  const programs = { initdb: join(folder, 'initdb'), postgres: join(folder, 'postgres') };
  const cluster = join(dataDir, 'postgres');
  createCluster(cluster, programs);
  const server = await startServer(cluster, {
    settings: { ...settings, timezone: 'UTC' },
    programs,
  });
  ends.push(() => server.stop());
  return server.url;
}

export function databaseUrl(postgresUrl: string, database: string): string {
  const url = new URL(postgresUrl);
  url.pathname = `/${database}`;
  return url.href;
}

async function startPooler(serverUrl: string, ends: End[]): Promise<string | undefined> {
  if (!isPgBouncerInstalled) {
    noteSkipped('pgbouncer', 'the tests of poolers are');
  }
  if (process.env.TEST_POOLER !== 'transaction') return undefined;
  const pooler = await startPgBouncer({ serverUrl });
  ends.push(() => pooler.stop());
  return pooler.through(serverUrl);
}

async function startRedis(dataDir: string, ends: End[]): Promise<string | undefined> {
  const port = await serverPort();
  const redis = spawn(
    'redis-server',
    ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', dataDir],
    { stdio: 'ignore' },
  );
  const failure = await Promise.race([
    once(redis, 'error').then(([error]) => error as NodeJS.ErrnoException),
    once(redis, 'spawn').then(() => undefined),
  ]);
  if (failure?.code === 'ENOENT') {
    noteSkipped('redis-server', 'the Redis half of the tests is');
    return undefined;
  }
  if (failure) throw failure;
  ends.push(() => void redis.kill('SIGKILL'));
  const url = `redis://127.0.0.1:${port}`;
  const probe = new Redis(url, { retryStrategy: () => 50 });
  probe.on('error', () => undefined);
  await waitFor('Redis to respond', async () => (await probe.ping()) === 'PONG').finally(() =>
    probe.disconnect(),
  );
  return url;
}

/** Migrations beside a session that holds a table for long, as a backup does. */
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { migrate } from 'postgres-migrations';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { migrateDatabase } from '../../src/platform/db/migrate.ts';
import { migrationsFolder } from '../../src/platform/db/pendingMigrations.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { unique } from '../support/events.ts';
import { waitFor } from '../support/waitFor.ts';

/** Adds a column to `webhook_events`, for which it locks the table. */
const ALTERING = '00057_secret-fingerprints.sql';

const IMPATIENT = { withinMs: 50, pauseMs: 10, giveUpAfterMs: 100 };

let db: TestDatabase;
let url: string;
let client: pg.Client;
let backup: pg.Client;

async function connect(applicationName: string): Promise<pg.Client> {
  const connected = new pg.Client({ connectionString: url, application_name: applicationName });
  await connected.connect();
  return connected;
}

beforeAll(async () => {
  db = await createTestDatabase();
  const name = unique('older').replaceAll(/\W/g, '').toLowerCase();
  await db.query(`create database ${name}`);
  url = Object.assign(new URL(db.url), { pathname: `/${name}` }).href;
  client = await connect('test');
  const older = mkdtempSync(join(tmpdir(), 'tallyhook-migrations-'));
  for (const file of readdirSync(migrationsFolder())) {
    if (/^\d{5}_.*\.sql$/.test(file) && file < ALTERING) {
      cpSync(join(migrationsFolder(), file), join(older, file));
    }
  }
  await migrate({ client }, older);
  rmSync(older, { recursive: true });
});

beforeEach(async () => {
  backup = await connect('pg_dump');
  await backup.query('begin; lock table webhook_events in access share mode');
});

afterEach(() => backup.end());

afterAll(async () => {
  await client.end();
  await db.query(`drop database ${new URL(url).pathname.slice(1)} with (force)`);
  await db.drop();
});

async function isMigrationWaiting(): Promise<boolean> {
  const { rows } = await client.query(
    `select from pg_locks where relation = 'webhook_events'::regclass and not granted limit 1`,
  );
  return rows.length > 0;
}

test('a migration that cannot lock a table gives up, and names the session that holds it', async () => {
  const { rows } = await backup.query<{ pid: number }>('select pg_backend_pid() as pid');
  const holder = `process ${rows[0]?.pid} \\(pg_dump, user .*pg_terminate_backend`;
  const waiting: string[] = [];
  const onWait = (text: string) => waiting.push(text);
  const waits = { ...IMPATIENT, giveUpAfterMs: 1_000 };
  await expect(migrateDatabase(url, { waits, onWait })).rejects.toThrow(new RegExp(holder));
  expect(waiting[0]).toMatch(/^Waiting for tables that are held by /);
  expect(waiting.join('\n')).toMatch(new RegExp(holder));
  // Only when it changes, not at each attempt.
  expect(waiting.filter((text, n) => text === waiting[n - 1])).toEqual([]);
});

test('a migration that waits for another one names its session', async () => {
  const other = await connect('other-migrate');
  await other.query('select pg_advisory_lock(-8525285245963000605)');
  const { rows } = await other.query<{ pid: number }>('select pg_backend_pid() as pid');
  const waiting: string[] = [];
  const migrating = migrateDatabase(url, {
    waits: IMPATIENT,
    onWait: (text) => waiting.push(text),
  });
  try {
    await waitFor('the migration to wait for the other one', () => waiting.length > 0);
  } finally {
    await other.end();
  }
  expect(waiting[0]).toMatch(
    new RegExp(
      `^Waiting for another migration of this database, by process ${rows[0]?.pid} \\(other-migrate, user `,
    ),
  );
  await expect(migrating).rejects.toThrow(/pg_dump/);
});

test('where nothing is pending, a migration waits for nothing and needs no right to create', async () => {
  const user = unique('plain').replaceAll(/\W/g, '').toLowerCase();
  await db.query(`create role ${user} login password 'p' in role tallyhook_app`);
  const other = new pg.Client({ connectionString: db.url });
  await other.connect();
  try {
    await other.query('begin; lock table bullmq.migration, migrations in access share mode');
    await other.query('select pg_advisory_lock(-8525285245963000605)');
    const address = Object.assign(new URL(db.url), { username: user, password: 'p' }).href;
    expect(await migrateDatabase(address, { waits: IMPATIENT })).toEqual({
      applied: [],
      refused: [],
    });
  } finally {
    await other.end();
    await db.query(`drop role ${user}`);
  }
});

test('a migration that waits for a table holds back no delivery, and ends once the table is free', async () => {
  const migrating = migrateDatabase(url);
  try {
    await waitFor('the migration to wait for the table', isMigrationWaiting);
    // As long as the receiver waits, before it responds 503.
    await client.query(`set statement_timeout = '10s'`);
    await client.query(
      `insert into webhook_events (event_id, merchant_id, event_type, body_sha256, received_at)
       values ('evt_1', 'merchant_1', 'payment_succeeded', sha256('body'), now())`,
    );
  } finally {
    await backup.query('commit');
  }
  const { applied } = await migrating;
  const pending = readdirSync(migrationsFolder()).filter((file) => file >= ALTERING);
  expect(applied).toEqual(pending.filter((file) => file.endsWith('.sql')).toSorted());
});

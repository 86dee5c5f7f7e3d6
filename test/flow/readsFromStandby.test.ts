/**
 * Lists of the console are read from a streaming standby while it is proven to be at most ten seconds behind,
 * include what the console itself wrote, and come from the primary when the standby is late or unreachable.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { migrateDatabase } from '../../src/platform/db/migrate.ts';
import { type Api, createApi } from '../support/api.ts';
import { unique } from '../support/events.ts';
import { memoryFolder } from '../support/memoryFolder.ts';
import { openPages } from '../support/pages.ts';
import {
  copyCluster,
  createCluster,
  type PostgresServer,
  startServer,
} from '../support/replication.ts';
import { serverPort } from '../support/serverPort.ts';
import { startTallyhook, type TestTallyhook } from '../support/tallyhook.ts';
import { waitFor } from '../support/waitFor.ts';

const folder = mkdtempSync(join(memoryFolder(), 'tallyhook-reads-'));
const standbyDir = join(folder, 'standby');

let primary: PostgresServer;
let standby: PostgresServer;
let standbyPort: number;
let running: TestTallyhook;
let api: Api;
/** Of a console without a standby. */
let other: TestTallyhook;
let elsewhere: Api;

beforeAll(async () => {
  createCluster(join(folder, 'primary'));
  primary = await startServer(join(folder, 'primary'), {});
  await migrateDatabase(primary.url);
  await copyCluster(primary, standbyDir);
  standbyPort = await serverPort();
  standby = await startServer(standbyDir, { follows: primary.url, port: standbyPort });
  running = await startTallyhook({
    db: primary,
    roles: ['console'],
    env: { DATABASE_READ_URL: standby.url },
  });
  api = createApi(running);
  other = await startTallyhook({ db: primary, roles: ['console'] });
  elsewhere = createApi(other);
});

afterAll(async () => {
  await running?.close();
  await other?.close();
  await standby?.crash();
  await primary?.crash();
  rmSync(folder, { recursive: true, force: true });
});

const list = () => api.get('/api/v1/audit');
/** How old the list may be, in seconds; null if it is from the primary. */
const ageOf = async (): Promise<string | null> => (await list()).headers.get('age');
const untilFromStandby = () =>
  waitFor('reads from the standby', async () => (await ageOf()) !== null);
const untilFromPrimary = () =>
  waitFor('reads from the primary', async () => (await ageOf()) === null);
const register = async (through: Api): Promise<string> => {
  const id = unique('ord');
  const { status } = await through.put(`/api/v1/orders/${id}`, {
    amount: 6540,
    currency: 'EUR',
  });
  expect(status).toBe(201);
  return id;
};
/** Whether the list has the registration of an order. */
const hasListed = async (id: string): Promise<boolean> =>
  JSON.stringify((await list()).body).includes(id);

test('lists are read from the standby and state how old they may be, single resources are not', async () => {
  await untilFromStandby();
  await standby.query('select pg_wal_replay_pause()');
  const id = await register(elsewhere);
  expect(await hasListed(id)).toBe(false);
  expect(Number(await ageOf())).toBeLessThanOrEqual(10);
  const { status, headers } = await api.get(`/api/v1/orders/${id}`);
  expect(status).toBe(200);
  expect(headers.get('age')).toBeNull();
  await standby.query('select pg_wal_replay_resume()');
  await waitFor('the entry in the list', () => hasListed(id));
});

test('pages state it at their foot', async () => {
  await untilFromStandby();
  const viewer = await openPages(running);
  await waitFor('a page from the standby', async () =>
    /Read from a standby, up to \d+ s old/.test((await viewer.get('/orders')).html),
  );
});

test('what this console wrote is in its next list, though the standby has not replayed it', async () => {
  await untilFromStandby();
  await standby.query('select pg_wal_replay_pause()');
  const id = await register(api);
  expect(await hasListed(id)).toBe(true);
  expect(await ageOf()).toBeNull();
  await standby.query('select pg_wal_replay_resume()');
  await untilFromStandby();
  expect(await hasListed(id)).toBe(true);
});

test('a standby that stays behind is not read until it has caught up', async () => {
  await untilFromStandby();
  await standby.query('select pg_wal_replay_pause()');
  await primary.query('create table behind ()');
  await untilFromPrimary();
  await standby.query('select pg_wal_replay_resume()');
  await untilFromStandby();
});

test('no request fails when the standby dies', async () => {
  await untilFromStandby();
  await standby.crash();
  expect((await list()).status).toBe(200);
  await untilFromPrimary();
  standby = await startServer(standbyDir, { follows: primary.url, port: standbyPort });
  await untilFromStandby();
});

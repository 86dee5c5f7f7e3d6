/**
 * A standby that replicates asynchronously takes over without the last commits. The receiver still has the events
 * that it acknowledged and persists them again, the loss is recorded and raises an alert, and readers of the change
 * feed learn which changes are undone: none is missed, and none is mixed up with another of the same number.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createInboxFollower } from '../../src/ledger/read/followInbox.ts';
import { createSystemWatch } from '../../src/monitor/watchSystem.ts';
import { createDatabase, type Database } from '../../src/platform/db/database.ts';
import { migrateDatabase } from '../../src/platform/db/migrate.ts';
import { type Api, createApi } from '../support/api.ts';
import { silentLog } from '../support/database.ts';
import { eventBody, paymentObject, unique } from '../support/events.ts';
import { memoryFolder } from '../support/memoryFolder.ts';
import { seededRandom, testSeed } from '../support/random.ts';
import {
  copyCluster,
  createCluster,
  type PostgresServer,
  startServer,
} from '../support/replication.ts';
import { serverPort } from '../support/serverPort.ts';
import { startTallyhook, type TestTallyhook } from '../support/tallyhook.ts';
import { waitFor } from '../support/waitFor.ts';

const FAILOVERS = Number(process.env.FAILOVERS ?? 2);
const SEED = testSeed();

const folder = mkdtempSync(join(memoryFolder(), 'tallyhook-asynchronous-'));
const ports = new Map<string, number>();
let primary: PostgresServer;
let standby: PostgresServer;
let running: TestTallyhook;
let api: Api;
let db: Database;

function portOf(dir: string): number {
  const port = ports.get(dir);
  if (port === undefined) throw new Error(`${dir} has no port`);
  return port;
}

async function startStandby(dir: string): Promise<void> {
  await copyCluster(primary, dir);
  standby = await startServer(dir, { port: portOf(dir), follows: primary.url });
  await untilReplicated();
}

/** Waits until the standby has everything that is committed now. */
async function untilReplicated(): Promise<void> {
  const [row] = await primary.query<{ lsn: string }>('select pg_current_wal_lsn()::text as lsn');
  await waitFor('the standby to have every commit', async () => {
    const [at] = await standby.query<{ has: boolean }>(
      `select coalesce(pg_last_wal_replay_lsn() >= $1::pg_lsn, false) as has`,
      [row?.lsn],
    );
    return at?.has ?? false;
  });
}

beforeAll(async () => {
  const [first, second] = [join(folder, 'a'), join(folder, 'b')];
  for (const dir of [first, second]) ports.set(dir, await serverPort());
  createCluster(first);
  primary = await startServer(first, { port: portOf(first) });
  await migrateDatabase(primary.url);
  await startStandby(second);
  const hosts = [first, second].map((dir) => `127.0.0.1:${portOf(dir)}`).join(',');
  const url = primary.url.replace(/@[^/]*/, `@${hosts}`);
  running = await startTallyhook({
    db: { url },
    roles: ['receiver', 'events', 'scheduler', 'console'],
  });
  api = createApi(running);
  db = createDatabase({
    connectionString: url,
    log: silentLog,
    applicationName: 'test',
    maxConnections: 4,
    responseTimeoutMs: 10_000,
    plans: 'any',
  });
});

afterAll(async () => {
  await db?.close();
  await running?.close();
  await standby?.crash();
  await primary?.crash();
  rmSync(folder, { recursive: true, force: true });
});

const acknowledged = new Set<string>();

/** Delivers new events, each until it is acknowledged. */
async function deliver(count: number): Promise<void> {
  for (let left = count; left > 0; left -= 1) {
    const eventId = unique('evt');
    const body = eventBody(paymentObject(), { eventId });
    await waitFor('an acknowledgment', async () => (await running.deliver(body)).status === 200);
    acknowledged.add(eventId);
  }
}

async function findMissing(): Promise<readonly string[]> {
  const rows = await primary.query<{ id: string }>(
    `select id from unnest($1::text[]) as u (id)
      where not exists (select from webhook_events e where e.event_id = u.id)`,
    [[...acknowledged]],
  );
  return rows.map(({ id }) => id);
}

/** A shop that follows the feed over HTTP, and what it believes. */
function createReader() {
  const read = new Map<number, string>();
  let after = 0;
  let undone = 0;
  return {
    read,
    undone: () => undone,
    poll: async (): Promise<void> => {
      const { status, body } = await api.get(`/api/v1/changes?after=${after}&limit=7`);
      if (status === 503) return;
      if (status === 409) {
        undone += 1;
        after = body.continue_after;
        for (const number of read.keys()) if (number > after) read.delete(number);
        return;
      }
      expect(status).toBe(200);
      for (const one of body.changes) {
        expect(read.has(one.number)).toBe(false);
        read.set(one.number, one.id);
      }
      after = body.next_after;
    },
  };
}

/** A shop that only remembers the greatest number, in SQL, and looks at nothing else. */
function createNaiveReader() {
  const read = new Map<number, string>();
  return {
    read,
    poll: async (): Promise<void> => {
      const rows = await db.query<{ number: number; id: string }>(
        'select number, id from changes where number > $1 order by number limit 7',
        [Math.max(0, ...read.keys())],
      );
      for (const { number, id } of rows) read.set(number, id);
    },
  };
}

const ids = () =>
  db.query<{ number: number; id: string }>('select number, id from changes order by number');

async function untilRead(reader: {
  readonly read: ReadonlyMap<number, string>;
  poll(): Promise<void>;
}) {
  await waitFor('the reader to have every change of the acknowledged events', async () => {
    await reader.poll();
    return new Set(reader.read.values()).size >= acknowledged.size;
  });
}

test(`${FAILOVERS} failovers to a standby that lacks the last commits (seed ${SEED})`, {
  timeout: (30 + 2 * FAILOVERS) * 60_000,
}, async () => {
  const random = seededRandom(SEED);
  const reader = createReader();
  const naive = createNaiveReader();
  const inbox = createInboxFollower(db, {});
  await inbox.start(0);
  const followed = new Set<string>();
  const follow = async () => {
    for (const { eventId } of (await inbox.next(5)).events) if (eventId) followed.add(eventId);
  };
  const lost: number[] = [];
  for (let failover = 1; failover <= FAILOVERS; failover += 1) {
    await deliver(3 + Math.floor(random() * 10));
    await untilRead(reader);
    await untilRead(naive);
    await untilReplicated();
    const standbyDir = standby.dir;
    await standby.crash();
    const count = 1 + Math.floor(random() * 15);
    await deliver(count);
    lost.push(count);
    await untilRead(reader);
    await untilRead(naive);
    await waitFor('the follower to have every event', async () => {
      await follow();
      return followed.size === acknowledged.size;
    });
    const { dir, url } = primary;
    await primary.crash();
    primary = await startServer(standbyDir, { port: portOf(standbyDir), follows: url });
    await primary.query('select pg_promote(true)');
    await waitFor(
      'every acknowledged event to be in the inbox again',
      async () => (await findMissing()).length === 0,
    );
    // More than was lost, so that numbers would be assigned twice.
    await deliver(count + 40);
    await waitFor('the reader to learn of it', async () => {
      await reader.poll().catch(() => undefined);
      return reader.undone() === failover;
    });
    await untilRead(reader);
    await untilRead(naive);
    await waitFor('the follower to have every event', async () => {
      await follow().catch(() => undefined);
      return followed.size === acknowledged.size;
    });
    await startStandby(dir);
  }
  await waitFor('every loss to be recorded', async () => {
    const losses = await db.query<{ events: number }>(
      'select events from failover_losses order by id',
    );
    return losses.map(({ events }) => events).join() === lost.join();
  });

  await createSystemWatch({ db, log: silentLog, isReconciling: false })();
  const alerts = await db.query<{ detail: { events: number } }>(
    `select detail from alerts where rule = 'acknowledged_lost' and state = 'open'`,
  );
  expect(alerts.map(({ detail }) => detail.events)).toEqual([
    lost.reduce((sum, one) => sum + one, 0),
  ]);
  expect([...reader.read].map(([number, id]) => ({ number, id }))).toEqual(await ids());
  // It keeps what was undone, and misses nothing that is there.
  for (const { number, id } of await ids()) expect(naive.read.get(number)).toBe(id);
});

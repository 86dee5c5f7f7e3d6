/**
 * A primary fails over to its synchronous standby under load, repeatedly and at the worst time: the standby
 * is down, commits that wait for it are canceled, terminated or ended by a restart, their rows are visible,
 * senders retry, and then the primary crashes for good. The receiver has the address of both servers and
 * finds the new primary itself.
 *
 * FAILOVERS sets the number of failovers; scripts/failover-drill.sh runs many and prints the figures.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { stdout } from 'node:process';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { migrateDatabase } from '../../src/platform/db/migrate.ts';
import { eventBody, paymentObject, sign, unique } from '../support/events.ts';
import { memoryFolder } from '../support/memoryFolder.ts';
import { type Program, settingsFor, spawnProgram, webhookUrlOf } from '../support/program.ts';
import { type Random, seededRandom, testSeed } from '../support/random.ts';
import { recordFigures } from '../support/recordFigures.ts';
import {
  copyCluster,
  createCluster,
  hasStandby,
  type PostgresServer,
  STANDBY,
  startServer,
  waitingBackends,
} from '../support/replication.ts';
import { serverPort } from '../support/serverPort.ts';
import { waitFor } from '../support/waitFor.ts';

const FAILOVERS = Number(process.env.FAILOVERS ?? 2);
const SEED = testSeed();
const SENDERS = 8;
const SENT_AT_ONCE = 40;
const SETTINGS = { synchronous_standby_names: STANDBY };

const folder = mkdtempSync(join(memoryFolder(), 'tallyhook-failover-'));
let primary: PostgresServer;
let standby: PostgresServer | undefined;
let receiver: Program;

/** Each cluster keeps its port: the receiver's address names both. */
const ports = new Map<string, number>();

beforeAll(async () => {
  const [first, second] = [join(folder, 'a'), join(folder, 'b')];
  for (const dir of [first, second]) ports.set(dir, await serverPort());
  createCluster(first);
  primary = await startServer(first, { port: portOf(first) });
  await migrateDatabase(primary.url);
  await primary.stop();
  primary = await startServer(first, { port: portOf(first), settings: SETTINGS });
  await startStandby(second);
  // The standby first: the receiver has to look for the primary from the start.
  const hosts = [second, first].map((dir) => `127.0.0.1:${portOf(dir)}`).join(',');
  const both = primary.url.replace(/@[^/]*/, `@${hosts}`);
  receiver = spawnProgram('bin/tallyhook.js', ['start', '--roles', 'receiver', '--json'], {
    env: settingsFor(both),
  });
});

function portOf(dir: string): number {
  const port = ports.get(dir);
  if (port === undefined) throw new Error(`${dir} has no port`);
  return port;
}

afterAll(async () => {
  receiver?.kill('SIGKILL');
  await receiver?.exit;
  await standby?.crash();
  await primary?.crash();
  rmSync(folder, { recursive: true, force: true });
});

/** Creates a standby of the primary in a folder, and waits until commits wait for it. */
async function startStandby(dir: string): Promise<void> {
  await copyCluster(primary, dir);
  standby = await startServer(dir, {
    port: portOf(dir),
    follows: primary.url,
    settings: SETTINGS,
  });
  await waitFor('the standby to be synchronous', () => hasStandby(primary));
}

/** Crashes the primary for good, and promotes the standby, which was stopped before. */
async function failOver(standbyDir: string): Promise<void> {
  const lost = primary;
  await lost.crash();
  const promoted = await startServer(standbyDir, {
    port: portOf(standbyDir),
    follows: lost.url,
    settings: SETTINGS,
  });
  await promoted.query('select pg_promote(true)');
  primary = promoted;
}

interface Counted {
  readonly acknowledged: Set<string>;
  events: number;
  deliveries: number;
  rejected: number;
  duplicates: number;
}

/** Delivers events until stopped. An event is retried until it is acknowledged. */
function startLoad(url: string): { readonly counted: Counted; stop(): Promise<void> } {
  const counted: Counted = {
    acknowledged: new Set(),
    events: 0,
    deliveries: 0,
    rejected: 0,
    duplicates: 0,
  };
  let stopping = false;
  const deliverOnce = async (eventId: string, body: Buffer): Promise<boolean> => {
    counted.deliveries += 1;
    const headers = { 'X-Webhook-Signature-512': sign(body) };
    const response = await fetch(url, { method: 'POST', headers, body: new Uint8Array(body) });
    const reply = (await response.json()) as { readonly duplicate?: boolean };
    if (response.status !== 200) {
      counted.rejected += 1;
      return false;
    }
    if (reply.duplicate) counted.duplicates += 1;
    counted.acknowledged.add(eventId);
    return true;
  };
  const deliver = async (): Promise<void> => {
    const eventId = unique('evt');
    const body = eventBody(paymentObject(), { eventId });
    counted.events += 1;
    while (!(await deliverOnce(eventId, body).catch(() => false))) await pause(50);
  };
  const send = async (): Promise<void> => {
    while (!stopping) {
      await Promise.all(Array.from({ length: SENT_AT_ONCE / SENDERS }, deliver));
      await pause(20);
    }
  };
  const done = Promise.all(Array.from({ length: SENDERS }, send));
  return {
    counted,
    stop: async () => {
      stopping = true;
      await done;
    },
  };
}

type Disturbance = 'cancel' | 'terminate' | 'restart';

/** Makes rows visible on the primary that the standby does not have, and waits until senders retry. */
async function disturb(disturbance: Disturbance, counted: Counted): Promise<number> {
  await waitFor('commits to wait', async () => (await waitingBackends(primary)).length > 0);
  const { rejected } = counted;
  const acknowledged = counted.acknowledged.size;
  const waiting = await waitingBackends(primary);
  if (disturbance === 'restart') {
    const { dir } = primary;
    await primary.crash();
    primary = await startServer(dir, { port: portOf(dir), settings: SETTINGS });
  } else {
    const end = disturbance === 'cancel' ? 'pg_cancel_backend' : 'pg_terminate_backend';
    for (const pid of waiting) await primary.query(`select ${end}($1)`, [pid]);
  }
  await waitFor('senders to retry', async () => {
    const isRetried = counted.rejected > rejected || counted.acknowledged.size > acknowledged;
    return isRetried && (await waitingBackends(primary)).length > 0;
  });
  return waiting.length;
}

/** Acknowledged events that the primary does not have. */
async function findMissing({ acknowledged }: Counted): Promise<readonly string[]> {
  const rows = await primary.query<{ id: string }>(
    `select id from unnest($1::text[]) as u (id)
      where not exists (select from webhook_events e where e.event_id = u.id)`,
    [[...acknowledged]],
  );
  return rows.map(({ id }) => id);
}

function pick(random: Random): Disturbance {
  const disturbances = ['cancel', 'terminate', 'restart'] as const;
  return disturbances[Math.floor(random() * disturbances.length)] ?? 'cancel';
}

test(`${FAILOVERS} failovers lose no acknowledged event (seed ${SEED})`, {
  timeout: (30 + FAILOVERS) * 60_000,
}, async () => {
  const startedMs = performance.now();
  const random = seededRandom(SEED);
  const load = startLoad(await webhookUrlOf(receiver));
  const { counted } = load;
  const missing = new Set<string>();
  let ended = 0;
  for (let failover = 1; failover <= FAILOVERS; failover += 1) {
    const before = counted.acknowledged.size;
    await waitFor('deliveries to be acknowledged', () => counted.acknowledged.size > before + 50);
    const standbyDir = standby?.dir ?? '';
    const lostDir = primary.dir;
    await standby?.crash();
    standby = undefined;
    for (let n = 0; n < 3; n += 1) ended += await disturb(pick(random), counted);
    await failOver(standbyDir);
    for (const id of await findMissing(counted)) missing.add(id);
    await startStandby(lostDir);
  }
  await load.stop();
  for (const id of await findMissing(counted)) missing.add(id);
  const seconds = Math.round((performance.now() - startedMs) / 1000);
  const { acknowledged, ...rest } = counted;
  const figures = {
    failovers: FAILOVERS,
    acknowledged: acknowledged.size,
    ...rest,
    ended,
    missing: missing.size,
  };
  stdout.write(`${JSON.stringify({ ...figures, seconds, seed: SEED })}\n`);
  recordFigures({
    kind: 'kills',
    killed: 'primary of PostgreSQL, for good',
    kills: FAILOVERS,
    acknowledged: acknowledged.size,
    lost: missing.size,
    appliedAfterSeconds: [],
  });

  expect(missing.size).toBe(0);
});

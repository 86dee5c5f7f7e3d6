/**
 * With a synchronous standby, every acknowledged delivery is on the standby: first deliveries, duplicates,
 * and other bodies with a known event id.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { makeBodyDays } from '../../src/ledger/bodies/bodyDays.ts';
import { monotonicMs, systemClock } from '../../src/platform/clock.ts';
import { createDatabase } from '../../src/platform/db/database.ts';
import { CommitNotReplicated } from '../../src/platform/db/failures.ts';
import { migrateDatabase } from '../../src/platform/db/migrate.ts';
import { createLog } from '../../src/platform/log.ts';
import { createIntake, type Intake } from '../../src/receiver/intake.ts';
import { silentLog } from '../support/database.ts';
import { eventBody, paymentObject, unique } from '../support/events.ts';
import { INBOX_WITH_BODIES } from '../support/inboxBodies.ts';
import { memoryFolder } from '../support/memoryFolder.ts';
import {
  copyCluster,
  createCluster,
  hasStandby,
  type PostgresServer,
  requireStandby,
  startServer,
  waitingBackends,
} from '../support/replication.ts';
import { startTallyhook, type TestTallyhook } from '../support/tallyhook.ts';
import { waitFor } from '../support/waitFor.ts';

const folder = mkdtempSync(join(memoryFolder(), 'tallyhook-standby-'));
const primaryDir = join(folder, 'primary');
const standbyDir = join(folder, 'standby');

let primary: PostgresServer;
let standby: PostgresServer | undefined;

async function startStandby(): Promise<void> {
  standby = await startServer(standbyDir, { follows: primary.url });
  await waitFor('the standby to replicate', () => hasStandby(primary));
}

async function stopStandby(): Promise<void> {
  await standby?.stop();
  standby = undefined;
  await waitFor('the primary to lose its standby', async () => !(await hasStandby(primary)));
}

beforeAll(async () => {
  createCluster(primaryDir);
  primary = await startServer(primaryDir, {});
  await migrateDatabase(primary.url);
  await copyCluster(primary, standbyDir);
  standby = await startServer(standbyDir, { follows: primary.url });
  await requireStandby(primary);
});

afterAll(async () => {
  await standby?.stop();
  await primary.crash();
  rmSync(folder, { recursive: true, force: true });
});

/** Returns the status of a response; undefined until it arrives. */
function statusOf(reply: Promise<Response>): () => number | undefined {
  let status: number | undefined;
  void reply.then((response) => {
    status = response.status;
  });
  return () => status;
}

async function isWaiting(): Promise<boolean> {
  return (await waitingBackends(primary)).length > 0;
}

/** Ends commits that wait for the standby, as an operator might do. */
async function endWaits(how: 'pg_cancel_backend' | 'pg_terminate_backend'): Promise<void> {
  await waitFor('a commit to wait for the standby', isWaiting);
  for (const pid of await waitingBackends(primary)) await primary.query(`select ${how}($1)`, [pid]);
}

/**
 * Advances the sequence once. The first `nextval` after a crash writes WAL, so that even a statement that
 * inserts nothing would wait for the standby.
 */
async function logNextNumbers(): Promise<void> {
  await primary.query(
    `set synchronous_commit = local;
     select nextval(pg_get_serial_sequence('webhook_events', 'id'))`,
  );
}

describe('while the synchronous standby is stopped', () => {
  let tallyhook: TestTallyhook;

  beforeEach(async () => {
    if (standby === undefined) await startStandby();
    tallyhook = await startTallyhook({ db: primary, roles: ['receiver'] });
  });

  afterEach(async () => {
    if (standby === undefined) await startStandby();
    await tallyhook.close();
  });

  const eventId = unique('evt');
  const unnamed = Buffer.from(unique('no JSON'));
  const bodies = [
    { kind: 'event', first: [], body: eventBody(paymentObject()) },
    { kind: 'body without an id', first: [], body: unnamed },
    {
      kind: 'second body under a known id',
      first: [eventBody(paymentObject(), { eventId })],
      body: eventBody(paymentObject(), { eventId }),
    },
  ] as const;

  test.each(bodies)(
    'neither a first delivery nor a duplicate is acknowledged: $kind',
    async ({ first, body }) => {
      for (const earlier of first) expect((await tallyhook.deliver(earlier)).status).toBe(200);
      await stopStandby();

      const reply = tallyhook.deliver(body);
      await endWaits('pg_cancel_backend');
      expect((await reply).status).toBe(503);

      // The row is visible now, but only on the primary.
      const duplicate = tallyhook.deliver(body);
      const status = statusOf(duplicate);
      await waitFor('the duplicate to wait or to get a response', async () => {
        return status() !== undefined || (await isWaiting());
      });
      expect(status()).toBeUndefined();

      await startStandby();
      expect((await duplicate).status).toBe(200);
    },
  );

  test.each(['pg_cancel_backend', 'pg_terminate_backend'] as const)(
    'a wait ended by %s is not acknowledged, for a first delivery or a duplicate',
    async (how) => {
      const body = eventBody(paymentObject());
      await stopStandby();
      for (let delivery = 1; delivery <= 3; delivery += 1) {
        const reply = tallyhook.deliver(body);
        await endWaits(how);
        expect((await reply).status).toBe(503);
      }
      await startStandby();
      expect((await tallyhook.deliver(body)).status).toBe(200);
    },
  );

  test('a canceled wait is detected even if the role suppresses warnings', async () => {
    await tallyhook.close();
    await primary.query('alter role postgres set client_min_messages = error');
    tallyhook = await startTallyhook({ db: primary, roles: ['receiver'] });
    const body = eventBody(paymentObject());
    // Opens the connection that will wait.
    expect((await tallyhook.deliver(eventBody(paymentObject()))).status).toBe(200);
    await stopStandby();
    const reply = tallyhook.deliver(body);
    await endWaits('pg_cancel_backend');
    expect((await reply).status).toBe(503);
    await startStandby();
    await primary.query('alter role postgres reset client_min_messages');
  });

  test('an event made visible by a restart of the primary is not acknowledged as a duplicate', async () => {
    const body = eventBody(paymentObject());
    await stopStandby();
    const reply = tallyhook.deliver(body);
    await waitFor('the commit to wait for the standby', isWaiting);
    const port = Number(new URL(primary.url).port);
    await primary.crash();
    expect((await reply).status).toBe(503);
    primary = await startServer(primaryDir, { port });
    await waitFor('the row to be visible', async () => {
      const rows = await primary.query(`select from ${INBOX_WITH_BODIES} inbox where body = $1`, [
        body,
      ]);
      return rows.length === 1;
    });

    await logNextNumbers();
    let duplicate = tallyhook.deliver(body);
    let status = statusOf(duplicate);
    await waitFor('the duplicate to wait for the standby', () => {
      expect(status()).not.toBe(200);
      // The restart broke the receiver's connection; the sender retries.
      if (status() !== undefined) {
        duplicate = tallyhook.deliver(body);
        status = statusOf(duplicate);
      }
      return isWaiting();
    });
    await startStandby();
    expect((await duplicate).status).toBe(200);
  });

  test('a transaction fails if its wait was canceled: what it was to precede is not done', async () => {
    const db = createDatabase({
      connectionString: primary.url,
      log: silentLog,
      // `waitingBackends` finds it by this name.
      applicationName: 'tallyhook-receiver',
      maxConnections: 1,
      responseTimeoutMs: 60_000,
      plans: 'any',
    });
    await primary.query('create table claims (n integer)');
    await stopStandby();
    const claim = expect(
      db.transaction((tx) => tx.query('insert into claims values (1)')),
    ).rejects.toThrow(CommitNotReplicated);
    await endWaits('pg_cancel_backend');
    await claim;
    await db.close();
  });

  test('an event that timed out waiting is not acknowledged by a later delivery either', async () => {
    const db = createDatabase({
      connectionString: primary.url,
      log: silentLog,
      applicationName: 'tallyhook-short-timeout',
      maxConnections: 4,
      responseTimeoutMs: 500,
      plans: 'any',
    });
    const lines: string[] = [];
    const intake: Intake = createIntake({
      db,
      clock: systemClock,
      monotonicMs,
      log: createLog('error', (line) => lines.push(line)),
      enqueue: () => undefined,
      observeBatchSize: () => undefined,
      keep: () => undefined,
      makeBodyDays: () => makeBodyDays(db, silentLog),
    });
    const body = eventBody(paymentObject());
    await stopStandby();
    for (let delivery = 1; delivery <= 3; delivery += 1) {
      expect(await intake.accept(body, 0)).toEqual({ outcome: 'unavailable' });
    }
    await startStandby();
    await waitFor('the event to be acknowledged', async () => {
      return (await intake.accept(body, 0)).outcome === 'duplicate';
    });
    await db.close();
    // The log does not state that it is not stored: it was.
    expect(lines.map((line) => JSON.parse(line).msg)).toContain('intake.not_acknowledged');
  });
});

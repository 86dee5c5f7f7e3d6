/**
 * Processes on machines with a wrong clock: stored times and due times follow the database's clock. The
 * clock is shifted inside the process, including its libraries.
 */

import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createSystemWatch } from '../../src/monitor/watchSystem.ts';
import { packageRoot } from '../../src/platform/packageRoot.ts';
import { DAY_MS } from '../../src/platform/time.ts';
import { createTestDatabase, silentLog, type TestDatabase } from '../support/database.ts';
import { eventBody, paymentObject, sign, unique } from '../support/events.ts';
import { receive, testApplier } from '../support/ledger.ts';
import {
  type Environment,
  healthUrlOf,
  type Program,
  runTallyhookProcess,
  settingsFor,
  spawnProgram,
  webhookUrlOf,
} from '../support/program.ts';
import {
  ACCEPT,
  type HttpReceiver,
  SIGNING_SECRET,
  startHttpReceiver,
} from '../support/receivers.ts';
import { waitFor } from '../support/waitFor.ts';

const SHIFT = pathToFileURL(join(packageRoot(), 'test/support/shiftedDate.mjs')).href;

let db: TestDatabase;
let program: Program | undefined;
let shop: HttpReceiver;
/** Bodies are dated by it: by the time of their delivery, a slow machine would exchange their order. */
let startMs: number;

beforeEach(async () => {
  startMs = Date.now();
  [db, shop] = await Promise.all([createTestDatabase(), startHttpReceiver()]);
});
afterEach(async () => {
  program?.kill('SIGKILL');
  await program?.exit;
  await shop.close();
  await db.drop();
});

/** Starts the program on a machine with a shifted clock. @returns the URL for webhooks */
async function startShifted(shiftMs: number, more: Environment = {}): Promise<string> {
  program = spawnProgram('bin/tallyhook.js', ['start'], {
    env: settingsFor(db.url, {
      NODE_OPTIONS: `--import ${SHIFT}`,
      CLOCK_SHIFT_MS: String(shiftMs),
      ORDER_WEBHOOK_URL: shop.url,
      ORDER_WEBHOOK_SECRET: SIGNING_SECRET,
      ...more,
    }),
  });
  const url = await webhookUrlOf(program);
  await waitFor('the start', () => program?.stdout().includes('is running') === true);
  return url;
}

async function deliver(url: string, object: object): Promise<void> {
  const body = eventBody(object);
  const headers = { 'X-Webhook-Signature-512': sign(body) };
  const response = await fetch(url, { method: 'POST', headers, body: new Uint8Array(body) });
  expect(response.status).toBe(200);
}

async function applied(): Promise<void> {
  await waitFor('all events to be applied', async () => {
    const [row] = await db.query<{ left: number }>('select count(*) as left from pending');
    return row?.left === 0;
  });
}

/** A payment that changed this long before the test. */
function changedAt(agoMs: number, fields: object) {
  return paymentObject({ modified_at: new Date(startMs - agoMs).toISOString(), ...fields });
}

test('a receiver on a machine that is three days behind does not treat versions as ahead', async () => {
  const url = await startShifted(-3 * DAY_MS);
  const payment_id = unique('pay');
  // The newer body arrives first. Without its version the older one would win by its rank.
  const failed = { payment_id, status: 'failed', amount_received: 0 };
  await deliver(url, changedAt(1_000, failed));
  await applied();
  await deliver(url, changedAt(60_000, { payment_id, status: 'processing', amount_received: 0 }));
  await applied();

  const [payment] = await db.query(
    `select status, version_micros is not null as "isVersioned" from resources where id = $1`,
    [payment_id],
  );
  expect(payment).toEqual({ status: 'failed', isVersioned: true });
  expect(await db.query(`select from findings where class = 'version_ahead'`)).toEqual([]);
  const [received] = await db.query(
    `select bool_and(abs(extract(epoch from now() - received_at)) < 3600) as "isNow" from webhook_events`,
  );
  expect(received).toEqual({ isNow: true });
});

test('a clock that jumps four days ahead and back delays and fails no message', async () => {
  const url = await startShifted(4 * DAY_MS, { CLOCK_SHIFTS_LATER: '1' });
  shop.behave({ does: 'respond', status: 500 });
  const orders = Array.from({ length: 5 }, () => unique('ord'));
  for (const order_id of orders) await deliver(url, changedAt(0, { metadata: { order_id } }));
  await waitFor('an order webhook to fail', () => shop.posts.length > 0);

  const before = shop.posts.length;
  program?.kill('SIGUSR2');
  await waitFor('another attempt with the wrong clock', () => shop.posts.length > before);
  program?.kill('SIGUSR2');
  shop.behave(ACCEPT);
  await waitFor(
    'every order webhook to be delivered',
    () => shop.accepted().length >= orders.length,
  );
  await waitFor('every order webhook to be recorded as delivered', async () => {
    const due = await db.query(`select from messages where state = 'due'`);
    return due.length === 0;
  });
  const states = await db.query(`select distinct state from messages where channel = 'shop'`);
  expect(states).toEqual([{ state: 'delivered' }]);
});

test('a process with a clock that is minutes off is not ready and reports it by metric and alert until the clock is correct', async () => {
  const url = await startShifted(-3 * 60_000);
  if (program === undefined) throw new Error('no program was started');
  const healthUrl = await healthUrlOf(program);
  const readyz = async () => {
    const response = await fetch(new URL('/readyz', healthUrl));
    const { checks } = (await response.json()) as { readonly checks: { readonly clock: string } };
    return { status: response.status, clock: checks.clock };
  };
  expect(await readyz()).toEqual({
    status: 503,
    clock: expect.stringMatching(
      /^1[78]\d s behind the database's: let this machine keep its time/,
    ),
  });
  const page = await (await fetch(new URL('/metrics', healthUrl))).text();
  expect(page).toMatch(/^tallyhook_clock_skew_seconds -1[78]\d/m);
  // It still persists deliveries.
  await deliver(url, changedAt(0, {}));

  const watch = createSystemWatch({ db, log: silentLog, isReconciling: false });
  const reports = () => db.query<{ process: string }>('select process from clock_reports');
  const alerts = () =>
    db.query(`select severity, state from alerts where rule = 'clock_skew' order by id`);
  await waitFor('the process to report its clock', async () => (await reports()).length === 1);
  expect((await reports())[0]?.process).toMatch(new RegExp(`:${program?.pid}$`));
  await db.query(`update clock_reports set since = since - interval '1 minute'`);
  await watch();
  expect(await alerts()).toEqual([{ severity: 'critical', state: 'open' }]);

  program?.kill('SIGUSR2');
  await waitFor('the report to be removed', async () => (await reports()).length === 0);
  expect(await readyz()).toEqual({ status: 200, clock: "agrees with the database's" });
  await watch();
  expect(await alerts()).toEqual([{ severity: 'critical', state: 'resolved' }]);
});

test('a replay evaluates events again that a receiver stored with a wrong clock', async () => {
  const url = await startShifted(0);
  const payment_id = unique('pay');
  const older = { payment_id, status: 'processing', amount_received: 0 };
  await deliver(url, changedAt(60_000, older));
  await applied();
  // Stored as by a receiver on a machine that is three days behind.
  const failed = { payment_id, status: 'failed', amount_received: 0 };
  const [id] = await receive(
    db,
    [eventBody(changedAt(0, failed))],
    new Date(Date.now() - 3 * DAY_MS),
  );
  await db.query('update pending set enqueue_at = now() where webhook_event_id = $1', [id]);
  await testApplier(db).applyBatch([id ?? 0]);
  const state = () =>
    db.query('select status, version_micros > $2 as "isNewest" from resources where id = $1', [
      payment_id,
      (startMs - 30_000) * 1000,
    ]);
  expect(await state()).toEqual([{ status: 'processing', isNewest: false }]);

  const replayed = await runTallyhookProcess(['events', 'replay', '--version-ahead'], {
    env: settingsFor(db.url),
  });
  expect(replayed.stdout).toContain('1 event will be applied again');
  await applied();
  expect(await state()).toEqual([{ status: 'failed', isNewest: true }]);
  expect(
    await db.query(`select from findings where class = 'version_ahead' and state = 'open'`),
  ).toEqual([]);
  const verified = await runTallyhookProcess(['verify', '--rebuild'], { env: settingsFor(db.url) });
  expect([verified.code, verified.stdout]).toEqual([0, expect.anything()]);
});

/**
 * A week of three holds, end to end: the sandbox over HTTP, its webhooks duplicated and reordered, all roles
 * in one process, and notifications to a receiver of Standard Webhooks. The process is killed during the
 * delivery of each notification, and while it is down the clocks of sandbox and database advance together.
 */
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { HOUR_MS } from '../../src/platform/time.ts';
import { unique } from '../support/events.ts';
import { createMovedDatabase, type MovedDatabase } from '../support/movedDatabase.ts';
import { type Program, settingsFor, spawnProgram, webhookUrlOf } from '../support/program.ts';
import {
  ACCEPT,
  type HttpReceiver,
  SIGNING_SECRET,
  startHttpReceiver,
} from '../support/receivers.ts';
import { SANDBOX_SECRET, startTestSandbox, type TestSandbox } from '../support/sandbox.ts';
import { cardPayment } from '../support/sandboxRequests.ts';
import { waitFor } from '../support/waitFor.ts';

const ROLES = 'receiver,events,reconcile,alerts,scheduler';

const WEEK = 7 * 24;
/** Longer than the lease of a message that a killed worker was delivering. */
const LEASE_OVER_MS = 2 * 60_000;

const WEBHOOK_FAULTS = {
  duplicate: 1,
  reorder: 0.5,
  reorder_ms: 20_000,
  late_copy: 1,
  late_copy_ms: 5 * HOUR_MS,
};

let db: MovedDatabase;
let sandbox: TestSandbox;
let hook: HttpReceiver;
let program: Program | undefined;
let aheadMs = 0;

beforeEach(async () => {
  [db, sandbox] = await Promise.all([createMovedDatabase(), startTestSandbox()]);
  // The library compares timestamps with the machine's clock, so signatures are checked at the end.
  hook = await startHttpReceiver();
  await sandbox.control('PUT', '/faults', { webhooks: WEBHOOK_FAULTS });
  aheadMs = 0;
});
afterEach(async () => {
  await kill();
  await hook.close();
  await sandbox.close();
  await db.drop();
});

/** Starts the program with the database at the sandbox's time, and points the sandbox's webhooks at it. */
async function run(): Promise<void> {
  const env = settingsFor(db.url, {
    PAYMENTS_MERCHANT_ID: sandbox.merchantId,
    PAYMENTS_BASE_URL: sandbox.baseUrl,
    PAYMENTS_API_KEY: sandbox.apiKey,
    WEBHOOK_SECRETS: SANDBOX_SECRET,
    ALERT_WEBHOOK_URL: hook.url,
    ALERT_WEBHOOK_SECRET: SIGNING_SECRET,
  });
  const startMs = Date.now() + aheadMs;
  await db.moveTo(startMs);
  program = spawnProgram('bin/tallyhook.js', ['start', '--roles', ROLES], { env });
  await sandbox.control('PUT', '/webhook', { url: await webhookUrlOf(program) });
  await allApplied();
  await checkedSince(startMs);
}

async function kill(): Promise<void> {
  program?.kill('SIGKILL');
  await program?.exit;
  program = undefined;
}

/** Advances the time while the program is not running. */
async function advance(ms: number): Promise<void> {
  await kill();
  aheadMs += ms;
  await sandbox.advance(ms);
}

/** Waits until all webhooks, including delayed ones, are applied. */
async function allApplied(): Promise<void> {
  const ms = WEBHOOK_FAULTS.reorder_ms;
  aheadMs += ms;
  await sandbox.advance(ms);
  await sandbox.control('POST', '/settle');
  await waitFor('all events to be applied', async () => {
    const [row] = await db.query<{ left: number }>('select count(*) as left from pending');
    return row?.left === 0;
  });
}

/** Waits until the holds were checked in the slot of this time, or a later one. */
async function checkedSince(ms: number): Promise<void> {
  const slot = new Date(ms - (ms % 60_000)).toISOString();
  await waitFor('the holds to be checked', async () => {
    const rows = await db.query(
      `select slot from schedule_slots
        where schedule = 'authorizations' and finished_at is not null and slot >= $1`,
      [slot],
    );
    return rows.length > 0;
  });
}

/** Waits until every notification is delivered. */
async function allSent(): Promise<void> {
  await waitFor('every notification to be delivered', async () => {
    const [row] = await db.query<{ left: number }>(
      `select (select count(*) from alert_outbox)
            + (select count(*) from messages where state = 'due') as left`,
    );
    return row?.left === 0;
  });
}

async function pass(ms: number): Promise<void> {
  await advance(ms);
  await run();
  await allSent();
}

/** Passes the time until a notification is sent, and kills the process during its delivery. */
async function passWithKill(hours: number): Promise<void> {
  const before = hook.posts.length;
  hook.behave({ does: 'never_respond' });
  await advance(hours * HOUR_MS);
  await run();
  await waitFor('the first attempt', () => hook.posts.length > before);
  hook.behave(ACCEPT);
  await pass(LEASE_OVER_MS);
}

async function authorize(): Promise<string> {
  const request = { capture_method: 'manual', metadata: { order_id: unique('ord') } };
  const { body } = await sandbox.call('POST', '/payments', cardPayment(request));
  return body.payment_id;
}

function expectSigned(): void {
  const webhook = new Webhook(SIGNING_SECRET);
  for (const { id, body, headers } of hook.posts) {
    const at = new Date(Number(headers['webhook-timestamp']) * 1000);
    expect(headers['webhook-signature']).toBe(webhook.sign(id, at, body));
  }
}

/** The notifications about a payment. A message delivered twice counts once, by its id. */
function receivedAbout(paymentId: string): readonly string[] {
  const messages = new Map(hook.accepted().map(({ id, body }) => [id, body]));
  return [...messages.values()]
    .map((body) => JSON.parse(body) as { readonly type: string; readonly data: NotificationData })
    .filter(({ data }) => data.payment_id === paymentId)
    .map(({ type, data }) => `${data.rule} ${data.severity} ${type}`);
}

interface NotificationData {
  readonly payment_id: string | null;
  readonly rule: string;
  readonly severity: string;
}

const OPENED = 'authorization_expiring warning alert.opened';
const REMINDER = 'authorization_expiring warning alert.reminder';
const CRITICAL_REMINDER = 'authorization_expiring critical alert.reminder';
const RESOLVED = 'authorization_expiring warning alert.resolved';
const EXPIRED = 'authorization_expired warning alert.opened';

test('each threshold of a hold sends one reminder, a capture or cancellation resolves the alert, and an expiry raises another', async () => {
  await run();
  const [expired, captured, cancelled] = [await authorize(), await authorize(), await authorize()];
  await allApplied();
  const received = () => [expired, captured, cancelled].map(receivedAbout);

  await pass((WEEK - 49) * HOUR_MS);
  expect(received()).toEqual([[], [], []]);

  await passWithKill(1.5);
  expect(received()).toEqual([[OPENED], [OPENED], [OPENED]]);
  await sandbox.call('POST', `/payments/${captured}/capture`, {});
  await allApplied();
  await allSent();
  expect(received()).toEqual([[OPENED], [OPENED, RESOLVED], [OPENED]]);

  await passWithKill(24);
  const warned = [OPENED, REMINDER];
  expect(received()).toEqual([warned, [OPENED, RESOLVED], warned]);
  await sandbox.call('POST', `/payments/${cancelled}/cancel`, {});
  await allApplied();
  await allSent();
  const resolved = [
    [OPENED, RESOLVED],
    [OPENED, REMINDER, RESOLVED],
  ];
  expect(received()).toEqual([warned, ...resolved]);

  await passWithKill(18);
  expect(received()).toEqual([[...warned, CRITICAL_REMINDER], ...resolved]);
  await passWithKill(5);
  expect(received()).toEqual([[...warned, CRITICAL_REMINDER, CRITICAL_REMINDER], ...resolved]);
  await passWithKill(1);
  const afterExpiry = [...warned, CRITICAL_REMINDER, CRITICAL_REMINDER, EXPIRED];
  expect(received()).toEqual([afterExpiry, ...resolved]);

  await pass(48 * HOUR_MS);
  expect(received()).toEqual([afterExpiry, ...resolved]);
  expectSigned();
});

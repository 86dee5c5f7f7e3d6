/**
 * A week of three holds, over the whole way: the sandbox over HTTP, its webhooks, doubled and
 * disordered, to a receiver, workers and scheduler in a process of their own, and what is said to a
 * receiver of Standard Webhooks. The process is killed in mid-delivery each time that something is
 * said, and the sandbox's clock and the process's are moved together while it is gone.
 */
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { HOUR_MS } from '../../src/platform/time.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { unique } from '../support/events.ts';
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

/** Over a dozen processes are started, one after the other. */
const TIMEOUT_MS = 300_000;
const WEEK = 7 * 24;
/** Longer than the lease of a message that a dead worker was delivering. */
const LEASE_OVER_MS = 2 * 60_000;

const WEBHOOK_FAULTS = {
  duplicate: 1,
  reorder: 0.5,
  reorder_ms: 20_000,
  late_copy: 1,
  late_copy_ms: 5 * HOUR_MS,
};

let db: TestDatabase;
let sandbox: TestSandbox;
let hook: HttpReceiver;
let program: Program | undefined;
let aheadMs = 0;

beforeEach(async () => {
  [db, sandbox] = await Promise.all([createTestDatabase(), startTestSandbox()]);
  // The library compares with the machine's clock, so signatures are looked at afterwards.
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

/** Starts everything at the sandbox's time, and has the sandbox send there. */
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
  program = spawnProgram('test/support/startAhead.mjs', [String(aheadMs)], { env });
  await sandbox.control('PUT', '/webhook', { url: await webhookUrlOf(program) });
  await told();
  await lookedSince(startMs);
}

async function kill(): Promise<void> {
  program?.kill('SIGKILL');
  await program?.exit;
  program = undefined;
}

/** Moves the time while nothing runs. */
async function advance(ms: number): Promise<void> {
  await kill();
  aheadMs += ms;
  await sandbox.advance(ms);
}

/** Lets what is held back come, too, and waits until everything that came is applied. */
async function told(): Promise<void> {
  const ms = WEBHOOK_FAULTS.reorder_ms;
  aheadMs += ms;
  await sandbox.advance(ms);
  await sandbox.control('POST', '/settle');
  await waitFor('all events to be applied', async () => {
    const [row] = await db.query<{ left: number }>('select count(*) as left from pending');
    return row?.left === 0;
  });
}

/** Waits until the holds were looked at for the minute of an instant, or a later one. */
async function lookedSince(ms: number): Promise<void> {
  const slot = new Date(ms - (ms % 60_000)).toISOString();
  await waitFor('the holds to be looked at', async () => {
    const rows = await db.query(
      `select slot from schedule_slots
        where schedule = 'authorizations' and finished_at is not null and slot >= $1`,
      [slot],
    );
    return rows.length > 0;
  });
}

/** Waits until everything that is to be said was taken. */
async function said(): Promise<void> {
  await waitFor('everything to be said', async () => {
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
  await said();
}

/** Lets time pass until something is said, and kills the process in the middle of saying it. */
async function passAndSay(hours: number): Promise<void> {
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

/** The same message twice counts once: that is what its id is for. */
function heardOf(paymentId: string): readonly string[] {
  const messages = new Map(hook.accepted().map(({ id, body }) => [id, body]));
  return [...messages.values()]
    .map((body) => JSON.parse(body) as { readonly type: string; readonly data: Said })
    .filter(({ data }) => data.payment_id === paymentId)
    .map(({ type, data }) => `${data.rule} ${data.severity} ${type}`);
}

interface Said {
  readonly payment_id: string | null;
  readonly rule: string;
  readonly severity: string;
}

const OPENED = 'authorization_expiring warning alert.opened';
const REMINDER = 'authorization_expiring warning alert.reminder';
const LOUDER = 'authorization_expiring critical alert.reminder';
const RESOLVED = 'authorization_expiring warning alert.resolved';
const LAPSED = 'authorization_expired warning alert.opened';

test('a week of holds: each threshold is told once, a capture and a cancellation in between end it, and a lapse is told', {
  timeout: TIMEOUT_MS,
}, async () => {
  await run();
  const [left, captured, cancelled] = [await authorize(), await authorize(), await authorize()];
  await told();
  const heard = () => [left, captured, cancelled].map(heardOf);

  await pass((WEEK - 49) * HOUR_MS);
  expect(heard()).toEqual([[], [], []]);

  await passAndSay(1.5);
  expect(heard()).toEqual([[OPENED], [OPENED], [OPENED]]);
  await sandbox.call('POST', `/payments/${captured}/capture`, {});
  await told();
  await said();
  expect(heard()).toEqual([[OPENED], [OPENED, RESOLVED], [OPENED]]);

  await passAndSay(24);
  const warned = [OPENED, REMINDER];
  expect(heard()).toEqual([warned, [OPENED, RESOLVED], warned]);
  await sandbox.call('POST', `/payments/${cancelled}/cancel`, {});
  await told();
  await said();
  const ended = [
    [OPENED, RESOLVED],
    [OPENED, REMINDER, RESOLVED],
  ];
  expect(heard()).toEqual([warned, ...ended]);

  await passAndSay(18);
  expect(heard()).toEqual([[...warned, LOUDER], ...ended]);
  await passAndSay(5);
  expect(heard()).toEqual([[...warned, LOUDER, LOUDER], ...ended]);
  await passAndSay(1);
  const lapsed = [...warned, LOUDER, LOUDER, LAPSED];
  expect(heard()).toEqual([lapsed, ...ended]);

  await pass(48 * HOUR_MS);
  expect(heard()).toEqual([lapsed, ...ended]);
  expectSigned();
});

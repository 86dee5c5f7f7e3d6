/** Workers of alerts, which deliver without a queue: killed during a delivery, shut down, and without Redis. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { raiseOneTimeAlerts, syncAlerts } from '../../src/alerts/syncAlerts.ts';
import { alertOf } from '../support/alerts.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { readMessages } from '../support/notifier.ts';
import { type Environment, type Program, settingsFor, spawnProgram } from '../support/program.ts';
import {
  ACCEPT,
  type HttpReceiver,
  SIGNING_SECRET,
  startHttpReceiver,
} from '../support/receivers.ts';
import { startTallyhook, type TestTallyhook } from '../support/tallyhook.ts';
import { waitFor } from '../support/waitFor.ts';

let db: TestDatabase;
let hook: HttpReceiver;
let tallyhook: TestTallyhook | undefined;
const programs = new Set<Program>();
beforeEach(async () => {
  db = await createTestDatabase();
  hook = await startHttpReceiver(SIGNING_SECRET);
});
afterEach(async () => {
  for (const program of programs) await end(program, 'SIGKILL');
  await tallyhook?.close();
  tallyhook = undefined;
  await hook.close();
  await db.drop();
});

const channel = () => ({
  ALERT_WEBHOOK_URL: hook.url,
  ALERT_WEBHOOK_SECRET: SIGNING_SECRET,
});

/** A worker process, for what needs one: a kill and a signal. */
function runProcess(env: Environment = {}): Program {
  const settings = settingsFor(db.url, { ...channel(), ...env });
  const program = spawnProgram('dist/program/alerts.js', [], { env: settings });
  programs.add(program);
  return program;
}

/** The same worker in this process. */
async function run(redisUrl?: string): Promise<void> {
  tallyhook = await startTallyhook({ db, redisUrl, roles: ['alerts'], env: channel() });
}

async function end(program: Program, signal: NodeJS.Signals): Promise<void> {
  program.kill(signal);
  await program.exit;
  programs.delete(program);
}

function raise(subject: string): Promise<void> {
  return db.transaction((tx) => raiseOneTimeAlerts(tx, [alertOf({ subject })]));
}

/** Expires the lease of the killed delivery immediately. */
async function endLeases(): Promise<void> {
  await db.query(`update messages set next_attempt_at = now() where state = 'due'`);
}

test('an alert is sent, and retried after a failure, without a sweep', async () => {
  hook.behave(({ id }) =>
    hook.posts.some((post) => post.id === id) ? ACCEPT : { does: 'respond', status: 500 },
  );
  await run();
  await raise('dispute:dp_again');
  await waitFor('the second attempt', () => hook.accepted().length === 1);
  expect(hook.posts).toHaveLength(2);
  await waitFor('the delivery to be recorded', async () =>
    (await readMessages(db)).every(({ state }) => state === 'delivered'),
  );
});

test('after a worker is killed during a delivery, the next one delivers the message with the same id', async () => {
  hook.behave({ does: 'never_respond' });
  const worker = runProcess();
  await raise('dispute:dp_killed');
  await waitFor('the first attempt', () => hook.posts.length === 1);
  await end(worker, 'SIGKILL');
  expect(await readMessages(db, 'webhook')).toMatchObject([{ state: 'due', attempts: 1 }]);

  hook.behave(ACCEPT);
  await endLeases();
  await run();
  await waitFor('the second attempt', () => hook.accepted().length === 1);
  await waitFor('the delivery to be recorded', async () =>
    (await readMessages(db, 'webhook')).every(({ state }) => state === 'delivered'),
  );
  const [first, second] = hook.posts;
  expect(second?.id).toBe(first?.id);
  expect(second?.body).toBe(first?.body);
  expect(hook.posts).toHaveLength(2);
});

test('a worker that is shut down finishes its deliveries', async () => {
  hook.behave({ does: 'never_respond' });
  const worker = runProcess({ LOG_LEVEL: 'debug' });
  await raise('dispute:dp_stopped');
  await waitFor('the attempt', () => hook.posts.length === 1);
  const ended = end(worker, 'SIGTERM');
  await hook.stop();
  await ended;
  const exit = await worker.exit;
  expect([exit.code, exit.signal]).toEqual([0, null]);
  // The result was recorded before the process exited.
  expect(await readMessages(db, 'webhook')).toMatchObject([
    { state: 'due', attempts: 1, lastError: expect.stringContaining('no connection') },
  ]);
});

test('alerts are delivered while Redis is unavailable', async () => {
  await run('redis://127.0.0.1:1');
  await raise('system:queue');
  await waitFor('the alert', () => hook.accepted().length === 1);
});

test('an alert that opens and resolves while no worker runs is sent as one message', async () => {
  const active = [alertOf({ subject: 'dispute:dp_short' })];
  const rules = ['dispute_opened'] as const;
  await db.transaction((tx) => syncAlerts(tx, [{ subject: 'dispute:dp_short', rules, active }]));
  await db.transaction((tx) =>
    syncAlerts(tx, [{ subject: 'dispute:dp_short', rules, active: [] }]),
  );
  await run();
  await waitFor('the alert', () => hook.accepted().length === 1);
  expect(hook.accepted().map(({ type }) => type)).toEqual(['alert.opened_and_resolved']);
});

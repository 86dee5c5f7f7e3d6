/**
 * What operators do, through the command line and the admin API: each action is found in the audit log
 * by person, by object and by time, and in the timeline of its order.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Api, type Body, createApi } from '../support/api.ts';
import { runTallyhook } from '../support/cli.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { unique } from '../support/events.ts';
import { applyEach, receive, testApplier } from '../support/ledger.ts';
import { paymentEvent } from '../support/payments.ts';
import { type Exit, settingsFor, spawnProgram, webhookUrlOf } from '../support/program.ts';
import { startTallyhook, type TestTallyhook } from '../support/tallyhook.ts';
import { createTestToken } from '../support/tokens.ts';
import { waitFor } from '../support/waitFor.ts';

let db: TestDatabase;
let tallyhook: TestTallyhook;
let api: Api;
beforeAll(async () => {
  db = await createTestDatabase();
  tallyhook = await startTallyhook({ db, roles: ['console'] });
  api = createApi(tallyhook, await createTestToken(db, { name: 'grace', role: 'operator' }));
});
afterAll(async () => {
  await tallyhook.close();
  await db.drop();
});

const run = (...args: readonly string[]): Promise<Exit> =>
  runTallyhook(args, { env: settingsFor(db.url) });

/** The entries that a filter finds, by the command line and by the API: both find the same. */
async function find(filter: Readonly<Record<string, string>>): Promise<readonly Body[]> {
  const options = Object.entries(filter).flatMap(([name, value]) => [`--${name}`, value]);
  const { stdout } = await run('audit', 'list', '--limit', '100', '--json', ...options);
  const { entries } = JSON.parse(stdout) as { entries: readonly Body[] };
  const query = new URLSearchParams({ ...filter, limit: '100' }).toString();
  const { status, body } = await api.get(`/api/v1/audit?${query.replace('order=', 'order_id=')}`);
  expect(status).toBe(200);
  expect(body.entries).toEqual(entries);
  return entries;
}

/** Checks that an entry is found by who made it, on what, and when. */
async function expectFound(entry: Body): Promise<void> {
  const { actor, subject, recorded_at: at } = entry;
  for (const filter of [
    { actor: actor.name },
    { subject: `${subject.kind}:${subject.id}` },
    { since: at },
  ]) {
    expect(await find(filter)).toContainEqual(entry);
  }
  const after = new Date(Date.parse(at) + 1).toISOString();
  expect(await find({ subject: `${subject.kind}:${subject.id}`, since: after })).not.toContainEqual(
    entry,
  );
}

const time = (day: number): string => new Date(Date.UTC(2026, 0, day)).toISOString();

const timelineOf = async (id: string): Promise<readonly Body[]> => {
  const { body } = await api.get(`/api/v1/orders/${id}`);
  return body.timeline.filter(({ type }: Body) => type === 'action');
};

async function overCapture(): Promise<{ readonly orderId: string; readonly number: string }> {
  const [id, orderId] = [unique('pay'), unique('ord')];
  const body = paymentEvent({ payment_id: id, orderId, amount: 1000, amount_received: 1500 });
  await applyEach(db, testApplier(db), [body]);
  const rows = await db.query<{ number: number }>(
    'select id as number from findings where subject = $1',
    [`payment:${id}`],
  );
  return { orderId, number: String(rows[0]?.number) };
}

describe('the audit log has', () => {
  test('an acceptance, which is in the timeline of its order, too', async () => {
    const { orderId, number } = await overCapture();
    const exit = await run('findings', 'accept', number, '--reason', 'a tip', '--by', 'ada');
    expect(exit.code).toBe(0);
    const [entry, ...others] = await find({ order: orderId });
    expect(others).toEqual([]);
    expect(entry).toMatchObject({
      actor: { kind: 'cli', name: 'ada', role: 'admin', origin: expect.stringMatching(/^.+@.+$/) },
      action: 'finding.accept',
      subject: { kind: 'finding', id: number },
      order_key: `order:${orderId}`,
      reason: 'a tip',
      result: 'done',
      attempt: null,
      detail: { class: 'over_capture' },
    });
    await expectFound(entry);
    expect(await timelineOf(orderId)).toMatchObject([
      { type: 'action', number: entry.number, by: 'ada', reason: 'a tip', result: 'done' },
    ]);
    expect((await run('orders', 'show', orderId)).stdout).toContain(
      `Acceptance of finding ${number} by ada (admin): done. Reason: a tip.`,
    );
  });

  test('a replay, one entry an event', async () => {
    const orderId = unique('ord');
    const [number = 0] = await receive(db, [paymentEvent({ orderId })]);
    await testApplier(db).applyBatch([number]);
    const { code } = await run('events', 'replay', String(number), '--by', 'bob');
    expect(code).toBe(0);
    const [entry, ...others] = await find({ subject: `event:${number}` });
    expect(others).toEqual([]);
    expect(entry).toMatchObject({ action: 'event.replay', actor: { name: 'bob' }, result: 'done' });
    await expectFound(entry);
    // The event is part of the order's history, so its replay is.
    await testApplier(db).applyBatch([number]);
    expect(await timelineOf(orderId)).toMatchObject([{ action: 'event.replay', by: 'bob' }]);
  });

  test('a pause and its end', async () => {
    await run('pause', '--reason', 'a new key', '--by', 'ada');
    await run('resume', '--by', 'bob');
    const entries = await find({ subject: 'reconciliation:background' });
    expect(entries).toMatchObject([
      { action: 'reconciliation.resume', actor: { name: 'bob' }, reason: null },
      { action: 'reconciliation.pause', actor: { name: 'ada' }, reason: 'a new key' },
    ]);
    await expectFound(entries[1]);
  });

  test('an export of the journal and a test of the channels, with their results', async () => {
    await run('export', 'journal', '--format', 'csv', '--from', '2026-01-01', '--by', 'ada');
    const failing = ['--output', '/no-such-folder/journal.csv', '--by', 'bob'];
    expect((await run('export', 'journal', '--format', 'csv', ...failing)).code).toBe(2);
    const exports = await find({ subject: 'journal:csv' });
    expect(exports).toMatchObject([
      { actor: { name: 'bob' }, result: 'failed', detail: { error: expect.any(String) } },
      { actor: { name: 'bob' }, result: 'requested' },
      {
        actor: { name: 'ada' },
        result: 'done',
        detail: {
          from: '2026-01-01T00:00:00.000000Z',
          output: null,
          transfers: expect.any(Number),
        },
      },
      { actor: { name: 'ada' }, result: 'requested' },
    ]);
    await expectFound(exports[2]);
    expect((await run('alerts', 'test', '--channel', 'log', '--by', 'ada')).code).toBe(0);
    expect(await find({ action: 'alert.test' })).toMatchObject([
      { subject: { kind: 'channel', id: 'log' }, result: 'done' },
      { subject: { kind: 'channel', id: 'log' }, result: 'requested' },
    ]);
  });

  test('what a token does over the API: accept, replay, pause, resume and start a run', async () => {
    const { number } = await overCapture();
    const [event = 0] = await receive(db, [paymentEvent({})]);
    const post = async (path: string, body: object = {}) =>
      (await api.post(`/api/v1${path}`, body)).status;
    const accept = `/findings/${number}/accept`;
    expect(await post(accept, { reason: '  ' })).toBe(400);
    expect(await post(accept, { reason: 'a tip' })).toBe(200);
    expect(await post(accept, { reason: 'a tip' })).toBe(409);
    expect(await post('/findings/999999/accept', { reason: 'none' })).toBe(404);
    expect(await post(`/events/${event}/replay`)).toBe(202);
    expect(await post('/events/evt_none/replay')).toBe(404);
    expect(await post('/resume')).toBe(409);
    expect(await post('/pause', { reason: 'a new key' })).toBe(200);
    expect(await post('/pause', { reason: 'a new key' })).toBe(409);
    expect(await post('/resume')).toBe(200);
    expect(await post('/reconciliations', { from: time(9), to: time(3) })).toBe(400);
    expect(
      await post('/reconciliations', { stream: 'refunds', from: time(3), dry_run: true }),
    ).toBe(202);

    const entries = (await find({ actor: 'grace' })).slice(0, 6);
    expect(entries.map(({ action, subject, result }) => [action, subject.id, result])).toEqual([
      ['reconciliation.start', 'refunds', 'done'],
      ['reconciliation.start', 'refunds', 'requested'],
      ['reconciliation.resume', 'background', 'done'],
      ['reconciliation.pause', 'background', 'done'],
      ['event.replay', String(event), 'done'],
      ['finding.accept', number, 'done'],
    ]);
    for (const entry of entries) {
      expect(entry.actor).toMatchObject({ kind: 'token', role: 'operator' });
      await expectFound(entry);
    }
    expect(entries[0]?.detail).toEqual({ mode: 'full', is_dry_run: true, from: time(3) });
    // Each attempt is a job of its own.
    expect(entries[0]?.attempt).toBe(entries[1]?.number);
  });

  test('a registration over the API, by the name of the token and the address', async () => {
    const orderId = unique('ord');
    const registered = { amount: 6540, currency: 'USD' };
    for (const status of [201, 200]) {
      expect((await api.put(`/api/v1/orders/${orderId}`, registered)).status).toBe(status);
    }
    const [entry, ...others] = await find({ subject: `order:${orderId}` });
    expect(others).toEqual([]);
    expect(entry).toMatchObject({
      actor: { kind: 'token', name: 'grace', origin: expect.stringContaining('127.0.0.1') },
      action: 'order.register',
      detail: { registration: 'registered', ...registered },
    });
    await expectFound(entry);
    // It has an entry of its own in the timeline.
    expect(await timelineOf(orderId)).toEqual([]);
  });

  test('a restart: who stopped and started which roles, of which version', async () => {
    const env = settingsFor(db.url);
    const runFor = async (signal: NodeJS.Signals): Promise<string> => {
      const program = spawnProgram('bin/tallyhook.js', ['start', '--roles', 'receiver,events'], {
        env,
      });
      await webhookUrlOf(program);
      await waitFor('the entry of the start', async () => {
        const rows = await db.query(
          `select id from audit where action = 'system.start' and subject_id like '%:' || $1`,
          [String(program.pid)],
        );
        return rows.length > 0;
      });
      program.kill(signal);
      await program.exit;
      return String(program.pid);
    };
    const stopped = await runFor('SIGTERM');
    const killed = await runFor('SIGKILL');
    const starts = await find({ action: 'system.start' });
    const stops = await find({ action: 'system.stop' });
    const of = (entries: readonly Body[], pid: string) =>
      entries.filter(({ subject }) => subject.id.endsWith(`:${pid}`));
    expect(of(starts, stopped)).toMatchObject([
      {
        actor: { kind: 'process', role: 'process' },
        subject: { kind: 'process' },
        detail: { roles: ['receiver', 'events'], version: '0.1.0' },
      },
    ]);
    expect(of(stops, stopped)).toHaveLength(1);
    expect(of(starts, killed)).toHaveLength(1);
    expect(of(stops, killed)).toEqual([]);
    await expectFound(of(stops, stopped)[0]);
  });
});

test('a page of the log starts where the last one ended', async () => {
  const first = (await api.get('/api/v1/audit?limit=1')).body;
  const second = (await api.get(`/api/v1/audit?limit=1&cursor=${first.next_cursor}`)).body;
  expect(second.entries[0].number).toBeLessThan(first.entries[0].number);
  expect((await api.get('/api/v1/audit?subject=pay_1')).status).toBe(400);
});

/** `tallyhook status` and the console's first page show the same; `tallyhook open` signs in to it once. */
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { run } from '../../src/cli/run.ts';
import { runTallyhook } from '../support/cli.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { unique } from '../support/events.ts';
import { applyEach, receive, testApplier } from '../support/ledger.ts';
import { openPages, type PageViewer } from '../support/pages.ts';
import { disputeEvent, paymentEvent } from '../support/payments.ts';
import { type Program, settingsFor, spawnProgram } from '../support/program.ts';
import { startTallyhook, type TestTallyhook } from '../support/tallyhook.ts';
import { startTcpProxy } from '../support/tcpProxy.ts';
import { createTestToken } from '../support/tokens.ts';
import { waitFor } from '../support/waitFor.ts';

let db: TestDatabase;
let tallyhook: TestTallyhook;
let viewer: PageViewer;
const cleanups: (() => unknown)[] = [];

beforeAll(async () => {
  db = await createTestDatabase();
  tallyhook = await startTallyhook({ db, roles: ['console'] });
  viewer = await openPages(tallyhook);
});
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});
afterAll(async () => {
  await tallyhook.close();
  await db.drop();
});

const settings = (more = {}) =>
  settingsFor(db.url, { ADMIN_PORT: String(tallyhook.consolePort), ...more });
const status = (...args: readonly string[]) =>
  runTallyhook(['status', ...args], { env: settings() });

interface Status {
  readonly state: string;
  readonly headline: string;
  readonly alerts: readonly { readonly text: string; readonly number: number | null }[];
  readonly deadlines: readonly { readonly id: string; readonly amount: number }[];
  readonly money: readonly { readonly captured: number; readonly disputed: number }[];
  readonly events: { readonly pending: number };
  readonly processes: readonly { readonly roles: readonly string[]; readonly state: string }[];
}

async function statusJson(): Promise<Status> {
  const { code, stdout, stderr } = await status('--json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout) as Status;
}

test('the headline, alerts, deadlines, money and pending events are those of the overview page', async () => {
  expect(await statusJson()).toMatchObject({
    state: 'plain',
    headline: expect.stringContaining('No webhook'),
  });
  const paymentId = unique('pay');
  const [row] = await db.query<{ hour: Date; due: Date }>(
    `select now() - interval '1 minute' as hour, now() + interval '24 hours' as due`,
  );
  const created = row?.hour.toISOString() ?? '';
  await applyEach(db, testApplier(db), [
    paymentEvent({ payment_id: paymentId, amount: 6540, amount_received: 6540, created }),
    disputeEvent(paymentId, { amount: '2000', challenge_required_by: row?.due.toISOString() }),
  ]);
  await receive(db, [paymentEvent({})]);
  await waitFor('the process of the console to report', async () =>
    (await statusJson()).processes.some(({ state }) => state === 'ready'),
  );
  const seen = await statusJson();
  const { html } = await viewer.get('/');
  expect(html).toContain(`headline ${seen.state}"><span>${seen.headline}</span></p>`);
  expect(seen.alerts.length).toBeGreaterThan(0);
  for (const { text, number } of seen.alerts) {
    expect(html).toContain(`<a href="/alerts/${number}">${text}</a>`);
  }
  expect(seen.deadlines).toMatchObject([{ amount: 2000 }]);
  expect(html.slice(html.indexOf('Deadlines of'))).toContain(seen.deadlines[0]?.id);
  expect(seen.events.pending).toBe(1);
  expect(seen.money.map(({ captured, disputed }) => ({ captured, disputed }))).toEqual([
    { captured: 6540, disputed: 2000 },
  ]);
  const { code, stdout } = await status();
  expect(code).toBe(0);
  expect(stdout.split('\n')[0]).toBe(seen.headline);
  for (const { text, number } of seen.alerts) {
    expect(stdout).toMatch(new RegExp(`${text} \\(.* ago, alert ${number}\\)`));
  }
  expect(stdout).toContain('65.40 USD captured, 0.00 USD refunded, 20.00 USD disputed');
  // What an outage kept from the ledger is recorded later, so that nothing recorded is not nothing moved.
  expect(stdout).toMatch(/yesterday +none recorded\n/);
  expect(stdout).toContain('1 pending, the oldest for');
  expect(stdout).toContain('1 of 1 ready');
  expect(stdout).not.toContain('\u001b');
});

function startWatching(args: readonly string[], databaseUrl: string): Program {
  const program = spawnProgram('bin/tallyhook.js', ['status', '--watch', '--every', '1', ...args], {
    env: settings({ DATABASE_URL: databaseUrl }),
  });
  cleanups.push(async () => {
    program.kill('SIGKILL');
    await program.exit;
  });
  return program;
}

test('--watch shows a lost database, continues when it is back, and ends cleanly at SIGINT', async () => {
  const proxy = await startTcpProxy(db.url);
  cleanups.push(() => proxy.close());
  const watching = startWatching([], proxy.url);
  await waitFor('the first block', () => watching.stdout().includes('As of'));
  const lose = async (begin: () => void, reason: string): Promise<void> => {
    const from = watching.stdout().length;
    const shown = () => watching.stdout().slice(from);
    begin();
    await waitFor('the loss to be shown', () => shown().includes('NO DATABASE for'));
    expect(shown()).toMatch(
      new RegExp(`NO DATABASE for .*${reason}.* What follows was read before`),
    );
    await proxy.resume();
    await waitFor('the database', () => /\n\n(?!NO DATABASE)[^\n]+\n\nAlerts/.test(shown()));
  };
  await lose(() => proxy.refuse(), '');
  await lose(() => proxy.freeze(), 'it does not respond');
  watching.kill('SIGINT');
  expect(await watching.exit).toMatchObject({ code: 0, signal: null, stderr: '' });
});

test('--watch --json prints one document a line', async () => {
  const watching = startWatching(['--json'], db.url);
  await waitFor('two documents', () => watching.stdout().split('\n').length > 2);
  watching.kill('SIGTERM');
  const { code, stdout } = await watching.exit;
  expect(code).toBe(0);
  for (const line of stdout.trimEnd().split('\n')) {
    expect(JSON.parse(line)).toMatchObject({ headline: expect.any(String) });
  }
});

const open = (args: readonly string[], more = {}) =>
  runTallyhook(['open', ...args], { env: settings(more) });

test('open prints an address that signs in once, to the page that is named', async () => {
  const { code, stdout, stderr } = await open(['/alerts']);
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/sign-in\?code=\S+\n$/),
  });
  expect(stderr).not.toContain('No process');
  const path = stdout.trim().replace(/^http:\/\/[^/]+/, '');
  const stranger = await openPages(tallyhook, null);
  const { status, headers } = await stranger.get(path);
  expect([status, headers.get('refresh')]).toEqual([200, '0; url=/alerts']);
  expect((await stranger.get('/system/tokens')).status).toBe(200);
  expect((await (await openPages(tallyhook, null)).get(path)).status).toBe(401);
});

test('with TALLYHOOK_TOKEN, the session has the role of the token', async () => {
  const token = await createTestToken(db, { name: 'on-call', role: 'viewer' });
  const { stdout } = await open(['--json'], { TALLYHOOK_TOKEN: token });
  const { url } = JSON.parse(stdout) as { readonly url: string };
  const person = await openPages(tallyhook, null);
  await person.get(url.replace(/^http:\/\/[^/]+/, ''));
  expect((await person.get('/')).html).toContain('on-call');
  expect((await person.get('/system/tokens')).status).toBe(403);
});

test('an address that leads to another site is refused, and so is a port that is not known', async () => {
  expect((await open(['//evil.example'])).code).not.toBe(0);
  const unknown = await open([], { ADMIN_PORT: '0' });
  expect(unknown.code).not.toBe(0);
  expect(unknown.stderr).toContain('ADMIN_PORT is 0');
});

test('on a desktop the browser gets the address; where it cannot be opened, the address is printed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tallyhook-open-'));
  cleanups.push(() => rmSync(folder, { recursive: true }));
  const opened = join(folder, 'opened');
  for (const name of ['xdg-open', 'open']) {
    writeFileSync(
      join(folder, name),
      `#!/bin/sh\nprintf %s "$1" > ${opened}.part\nmv ${opened}.part ${opened}\n`,
    );
    chmodSync(join(folder, name), 0o755);
  }
  const onTerminal = async (PATH: string) => {
    const stdout = Object.assign(new PassThrough({ encoding: 'utf8' }), { isTTY: true });
    const terminal = { stdin: Readable.from([]), stdout, stderr: new PassThrough() };
    const env = settings({ PATH, DISPLAY: ':0' });
    expect(await run({ args: ['open'], env, terminal })).toBe(0);
    return String(stdout.read());
  };
  const printed = await onTerminal(`${folder}:${process.env.PATH}`);
  await waitFor('the browser', () => existsSync(opened));
  expect(printed).toBe(`${readFileSync(opened, 'utf8')}\n`);
  expect(await onTerminal('/nonexistent')).toMatch(/^http:\S+\n$/);
});

test('a deadline that is over is not among those of the next 48 hours', async () => {
  const ids = [unique('pay'), unique('pay')];
  await applyEach(
    db,
    testApplier(db),
    ids.map((id) =>
      paymentEvent({
        payment_id: id,
        status: 'requires_capture',
        amount_received: 0,
        amount_capturable: 6540,
      }),
    ),
  );
  await db.query(
    `insert into authorization_watch (payment_id, start_at, deadline_at, next_check_at)
     values ($1, now() - interval '10 days', now() - interval '3 days', now() + interval '1 day'),
            ($2, now() - interval '6 days', now() + interval '1 day', now() + interval '1 day')`,
    ids,
  );
  const shown = (await statusJson()).deadlines.map(({ id }) => id);
  expect(shown).toContain(ids[1]);
  expect(shown).not.toContain(ids[0]);
});

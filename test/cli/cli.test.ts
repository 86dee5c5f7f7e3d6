/** The command line as people and scripts use it: exit codes, output, and its own process. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import signatures from '../fixtures/signatures.json' with { type: 'json' };
import { runTallyhook } from '../support/cli.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventBody, MERCHANT_ID, paymentObject, SECRET, unique } from '../support/events.ts';
import { memoryFolder } from '../support/memoryFolder.ts';
import { noteSkipped } from '../support/noteSkipped.ts';
import {
  type Exit,
  type ProgramOptions,
  runTallyhookProcess,
  settingsFor,
  spawnProgram,
} from '../support/program.ts';
import { startTallyhook, type TestTallyhook } from '../support/tallyhook.ts';
import { waitFor } from '../support/waitFor.ts';

let db: TestDatabase;
let tallyhook: TestTallyhook;
let folder: string;
/** Of the embedded database that tests share: creating one takes seconds. */
const dataFolder = () => join(folder, 'data');
const cleanups: (() => unknown)[] = [];
beforeAll(async () => {
  db = await createTestDatabase();
  tallyhook = await startTallyhook({ db });
  folder = mkdtempSync(join(memoryFolder(), 'tallyhook-cli-'));
});
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});
afterAll(async () => {
  await tallyhook.close();
  await db.drop();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs a command with the test's database. */
function run(...args: readonly string[]): Promise<Exit> {
  return runTallyhook(args, { env: settingsFor(db.url) });
}

async function runJson(...args: readonly string[]): Promise<unknown> {
  const { code, stdout, stderr } = await run(...args, '--json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout);
}

async function expectRejection(
  exit: Exit | Promise<Exit>,
  message: string | RegExp,
): Promise<void> {
  const { code, stdout, stderr } = await exit;
  expect(stderr).toMatch(message);
  expect(stdout).toBe('');
  // None is an error of Tallyhook.
  expect(code).toBeGreaterThan(1);
  // The message is a sentence, not a stack trace.
  expect(stderr).not.toMatch(/^\s+at /m);
}

/** Alone, because orders that one transaction creates have one time of their first sight. */
async function receive(body: Buffer): Promise<void> {
  await untilApplied();
  expect((await tallyhook.deliver(body)).status).toBe(200);
  await untilApplied();
}

function untilApplied(): Promise<void> {
  return waitFor('all events to be applied', async () => {
    return (await db.query('select * from pending')).length === 0;
  });
}

/** Receives a paid order of 65.40 USD with a partial refund. */
async function receivePaidOrder(): Promise<{
  readonly orderId: string;
  readonly paymentId: string;
  readonly refundId: string;
  readonly eventId: string;
}> {
  const names = { orderId: unique('ord'), refundId: unique('ref'), eventId: unique('evt') };
  const payment = paymentObject({ metadata: { order_id: names.orderId } });
  await receive(eventBody(payment, { eventId: names.eventId }));
  const refund = {
    refund_id: names.refundId,
    payment_id: payment.payment_id,
    status: 'succeeded',
    amount: 2180,
    currency: 'USD',
    modified_at: '2026-11-01T11:00:00.000Z',
  };
  await receive(
    eventBody(refund, { eventType: 'refund_succeeded', contentType: 'refund_details' }),
  );
  return { ...names, paymentId: payment.payment_id };
}

function writeBody(body: Uint8Array): string {
  const file = join(folder, unique('body'));
  writeFileSync(file, body);
  return file;
}

describe('--help', () => {
  const commands = [
    [],
    ['start'],
    ['sandbox'],
    ['migrate'],
    ['sign'],
    ['send'],
    ['orders'],
    ['orders', 'list'],
    ['orders', 'show'],
    ['events'],
    ['events', 'list'],
    ['events', 'show'],
    ['events', 'replay'],
  ];

  test('describes every command without any settings, and exits with 0', async () => {
    const exits = await Promise.all(
      commands.map((command) => runTallyhook([...command, '--help'])),
    );
    for (const [index, { code, stdout, stderr }] of exits.entries()) {
      const command = commands[index] ?? [];
      expect({ command, code, stderr }).toEqual({ command, code: 0, stderr: '' });
      expect(stdout).toContain(`Usage: ${['tallyhook', ...command].join(' ')}`);
      const isGroup = ['', 'orders', 'events'].includes(command.join(' '));
      expect(stdout).toContain(isGroup ? 'Commands:' : '--json');
    }
  });

  test('lists the roles for start, and every command for the program', async () => {
    const start = await runTallyhook(['start', '--help']);
    expect(start.stdout).toMatch(
      /receiver, events, reconcile, alerts,\s+scheduler,\s+console,\s+sandbox/,
    );
    const all = await runTallyhook(['--help']);
    expect([start.code, all.code]).toEqual([0, 0]);
    for (const name of ['start', 'sandbox', 'migrate', 'sign', 'send', 'orders', 'events']) {
      expect(all.stdout).toMatch(new RegExp(`^  ${name} .*\\S`, 'm'));
    }
  });

  test.each([
    [['oders'], /unknown command 'oders'[\s\S]*orders/],
    [['orders', 'list', '--limit', '0'], /whole number from 1 to 1000/],
    [['orders', 'list', '--limit', 'ten'], /whole number from 1 to 1000/],
    [['orders', 'list', '--staus', 'paid'], /unknown option '--staus'/],
    [['orders', 'show'], /argument 'id'\n\(tallyhook orders show --help lists its arguments/],
    [['orders', 'show', 'ord_1', '--recorded'], /only --json prints/],
    [['events', 'list', '--state', 'lost'], /pending, applied, not_applied, dead, discarded/],
    [['start', '--roles', 'receiver,chef'], /"chef" is not a role/],
    [['sign', 'file', '--encoding', 'rot13'], /hex, base64, base64url/],
  ])('%j is rejected with the valid values', async (args, message) => {
    await expectRejection(runTallyhook(args), message);
  });

  test('a process prints the same as here, and exits with the same code', async () => {
    for (const [args, env] of [
      [['oders'], {}],
      [['orders', 'show', 'ord_unheard'], settingsFor(db.url)],
      [['events', 'list', '--state', 'dead'], settingsFor(db.url)],
    ] as const) {
      expect(await runTallyhookProcess(args, { env })).toEqual(await runTallyhook(args, { env }));
    }
  });
});

test('a command closes every connection before it returns, whether it succeeds or not', async () => {
  const own = await createTestDatabase();
  const connect = vi.spyOn(pg.Client.prototype, 'connect');
  const end = vi.spyOn(pg.Client.prototype, 'end');
  try {
    const commands = ['orders list', 'events show evt_none', 'queues', 'doctor', 'verify'];
    const codes = await Promise.all(
      commands.map(
        async (command) =>
          (await runTallyhook(command.split(' '), { env: settingsFor(own.url) })).code,
      ),
    );
    expect(codes).toEqual([0, 3, 0, 0, 0]);
    const isOwn = (client: unknown) =>
      client instanceof pg.Client && new URL(own.url).pathname === `/${client.database}`;
    const connected = connect.mock.contexts.filter(isOwn);
    expect(connected.length).toBeGreaterThanOrEqual(commands.length);
    expect(connected.filter((client) => !end.mock.contexts.includes(client))).toEqual([]);
  } finally {
    connect.mockRestore();
    end.mockRestore();
    await own.drop();
  }
});

describe('start', () => {
  test('--json prints the URLs of everything that is running', async () => {
    const program = spawnProgram('bin/tallyhook.js', ['start', '--json'], {
      env: settingsFor(db.url, { LOG_LEVEL: 'silent', WEBHOOK_PATH: '/hooks/pay' }),
    });
    cleanups.push(async () => {
      program.kill('SIGKILL');
      await program.exit;
    });
    await waitFor('the banner', () => program.stdout().trimEnd().endsWith('}'));
    const banner = JSON.parse(program.stdout()) as { health_url: string; admin_url: string };
    expect(banner).toEqual({
      webhook_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/hooks\/pay$/),
      admin_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      health_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      // A configured database may have a real ledger, so no sandbox is started with it.
      sandbox_url: null,
      database: 'DATABASE_URL',
      queues: 'postgres',
    });
    expect((await fetch(new URL('/healthz', banner.health_url))).status).toBe(200);
    expect((await fetch(new URL('/metrics', banner.admin_url))).status).toBe(401);
    expect(program.stderr()).toBe('');
    program.kill('SIGTERM');
    expect(await program.exit).toMatchObject({ code: 0 });
  });

  test('--roles runs only the named roles', async () => {
    const program = spawnProgram('bin/tallyhook.js', ['start', '--roles', 'events,scheduler'], {
      env: settingsFor(db.url, { LOG_LEVEL: 'silent' }),
    });
    cleanups.push(async () => {
      program.kill('SIGKILL');
      await program.exit;
    });
    await waitFor('the banner', () => program.stdout().includes('Queues'));
    expect(program.stdout()).toMatch(/^Tallyhook is running\.$/m);
    expect(program.stdout()).not.toMatch(/Webhooks|Admin/);
    program.kill('SIGTERM');
    expect(await program.exit).toMatchObject({ code: 0 });
  });
});

describe('migrate', () => {
  test('migrates a new database once, and reports what it did', async () => {
    const name = unique('bare');
    await db.query(`create database ${name}`);
    cleanups.push(() => db.query(`drop database ${name} with (force)`));
    const url = new URL(db.url);
    url.pathname = `/${name}`;
    const env = { DATABASE_URL: url.href };
    const first = await runTallyhook(['migrate'], { env });
    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(first.stdout).toMatch(/^Applied 00001_inbox\.sql, 00002_ledger\.sql.*\.\n$/);
    const again = await runTallyhook(['migrate'], { env });
    expect(again).toMatchObject({ code: 0, stdout: 'Up to date.\n', stderr: '' });
    const json = await runTallyhook(['migrate', '--json'], { env });
    expect(JSON.parse(json.stdout)).toEqual({ applied: [], refused: [] });
  });
});

describe('a database that cannot be reached', () => {
  test.each(['migrate', 'orders list', 'events list'])(
    'is reported by %s, with what to check',
    async (command) => {
      // Nothing listens on port 1, which is never assigned automatically.
      const env = settingsFor('postgres://nobody:secret-word@127.0.0.1:1/nowhere');
      const exit = await runTallyhook(command.split(' '), { env });
      await expectRejection(exit, /database cannot be reached[\s\S]*DATABASE_URL/);
      expect(exit.stderr).not.toContain('secret-word');
    },
  );
});

describe('a database that cannot be used', () => {
  const withUrl = (change: (url: URL) => void) => {
    const url = new URL(db.url);
    change(url);
    return settingsFor(url.href, { LOG_LEVEL: 'silent' });
  };

  test.each(['migrate', 'orders list', 'start'])(
    'because of the password or because it does not exist is reported by %s without a stack trace',
    async (command) => {
      const args = command.split(' ');
      const runIt = command === 'start' ? runTallyhookProcess : runTallyhook;
      // The server of the tests requires no password of its owner.
      const wrong = withUrl((url) => {
        url.username = 'nobody';
        url.password = 'secret-word';
      });
      const refused = await runIt(args, { env: wrong });
      await expectRejection(refused, /password authentication failed[\s\S]*in DATABASE_URL/);
      expect(refused.stderr).not.toContain('secret-word');
      const missing = withUrl((url) => {
        url.pathname = '/nowhere_at_all';
      });
      await expectRejection(
        runIt(args, { env: missing }),
        /"nowhere_at_all" does not exist[\s\S]*DATABASE_URL/,
      );
    },
  );

  test('because it was not migrated is reported with the command to run', async () => {
    const name = unique('bare');
    await db.query(`create database ${name}`);
    cleanups.push(() => db.query(`drop database ${name} with (force)`));
    const env = withUrl((url) => {
      url.pathname = `/${name}`;
    });
    const pending = /\d+ migrations pending[\s\S]*Run: npx tallyhook migrate/;
    for (const command of ['orders list', 'alerts list', 'verify']) {
      await expectRejection(runTallyhook(command.split(' '), { env }), pending);
    }
    await expectRejection(runTallyhookProcess(['start'], { env }), pending);
  });

  test('by migrate is reported with the setting that migrate uses', async () => {
    const env = settingsFor(db.url, { MIGRATE_DATABASE_URL: 'postgres://owner@127.0.0.1:1/shop' });
    await expectRejection(runTallyhook(['migrate'], { env }), /Check MIGRATE_DATABASE_URL/);
  });
});

test('migrate needs the login of the owner only, and starts no embedded database beside it', async () => {
  const dataDir = join(folder, 'unused-data');
  const env = { MIGRATE_DATABASE_URL: db.url, DATA_DIR: dataDir };
  const { code, stdout } = await runTallyhook(['migrate'], { env });
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'Up to date.\n' });
  expect(existsSync(dataDir)).toBe(false);
});

test('a command in a folder without an installation states that its database is new', async () => {
  const env = { DATA_DIR: dataFolder() };
  const first = await runTallyhookProcess(['events', 'list'], { env });
  const second = await runTallyhookProcess(['events', 'list'], { env });
  expect(first).toMatchObject({ code: 0, stdout: 'No such events.\n' });
  // On a busy machine it also states that it waits for PostgreSQL.
  expect(first.stderr).toMatch(/^There was no installation here, .*data\/postgres\. If you look/m);
  expect(second.code).toBe(0);
  expect(second.stderr).not.toContain('There was no installation here');
});

describe('sign', () => {
  test('creates the same signatures as openssl for every vector', async () => {
    const exits = await Promise.all(
      signatures.map(({ secret, body_base64 }) => {
        const file = writeBody(Buffer.from(body_base64, 'base64'));
        return runTallyhook(['sign', file, '--secret', secret]);
      }),
    );
    expect(exits.map(({ stdout }) => stdout)).toEqual(signatures.map(({ hex }) => `${hex}\n`));
    expect(exits.every(({ code }) => code === 0)).toBe(true);
  });

  test('supports all encodings and JSON, and reads standard input and WEBHOOK_SECRETS', async () => {
    const [vector] = signatures;
    if (vector === undefined) throw new Error('there are no vectors');
    const input = Buffer.from(vector.body_base64, 'base64');
    // The first secret is used: it is the newest one of a rotation.
    const env = settingsFor(db.url, { WEBHOOK_SECRETS: `${vector.secret},${SECRET}` });
    const sign = async (...args: readonly string[]) =>
      (await runTallyhook(['sign', '-', ...args], { env, input })).stdout;
    expect(await sign()).toBe(`${vector.hex}\n`);
    expect(await sign('--encoding', 'base64')).toBe(`${vector.base64}\n`);
    const base64url = Buffer.from(vector.hex, 'hex').toString('base64url');
    expect(await sign('--encoding', 'base64url')).toBe(`${base64url}\n`);
    expect(JSON.parse(await sign('--json'))).toEqual({
      header: expect.stringMatching(/^x-webhook-signature-512$/i),
      signature: vector.hex,
    });
  });

  test.skipIf(!hasOpenssl())('creates the same signature as the installed openssl', async () => {
    const file = writeBody(eventBody(paymentObject()));
    const openssl = execFileSync('openssl', ['dgst', '-sha512', '-hmac', SECRET, file], {
      encoding: 'utf8',
    });
    const { stdout } = await run('sign', file);
    expect(openssl.trim().split(' ').at(-1)).toBe(stdout.trim());
  });

  test('names the file that cannot be read, and the setting that is missing', async () => {
    await expectRejection(run('sign', join(folder, 'absent')), /absent cannot be read/);
    const env = settingsFor(db.url, { WEBHOOK_SECRETS: undefined });
    await expectRejection(
      runTallyhook(['sign', writeBody(Buffer.from('x'))], { env }),
      /WEBHOOK_SECRETS is not set/,
    );
  });
});

function hasOpenssl(): boolean {
  try {
    execFileSync('openssl', ['version'], { stdio: 'ignore' });
    return true;
  } catch {
    noteSkipped('openssl', 'the comparison with its signature is');
    return false;
  }
}

describe('send', () => {
  test('delivers a file that the receiver accepts, and a second time as a duplicate', async () => {
    const eventId = unique('evt');
    const file = writeBody(eventBody(paymentObject(), { eventId }));
    const first = await run('send', file, '--url', tallyhook.webhookUrl);
    expect(first).toMatchObject({ code: 0, stderr: '' });
    const reply = { received: true, event_id: eventId, duplicate: false };
    expect(first.stdout).toBe(`200 ${JSON.stringify(reply)}\n`);
    expect(await runJson('send', file, '--url', tallyhook.webhookUrl)).toEqual({
      url: tallyhook.webhookUrl,
      status: 200,
      reply: { ...reply, duplicate: true },
    });
  });

  test('sends to the local receiver by default', async () => {
    const { port } = new URL(tallyhook.webhookUrl);
    const env = settingsFor(db.url, { PORT: port });
    const input = eventBody(paymentObject());
    const { code, stdout } = await runTallyhook(['send', '-'], { env, input });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^200 /);
    // If HOST is one address, the receiver listens only there.
    const apart = await runTallyhook(['send', '-'], { env: { ...env, HOST: '127.0.0.2' }, input });
    await expectRejection(apart, /Nothing was delivered to http:\/\/127\.0\.0\.2:/);
  });

  test('exits with 1 if the receiver rejects the event, and shows the response', async () => {
    const file = writeBody(eventBody(paymentObject()));
    const args = ['send', file, '--url', tallyhook.webhookUrl, '--secret', 'not-the-right-secret'];
    const text = await run(...args);
    expect(text.code).toBe(4);
    expect(text.stdout).toMatch(/^401 \{"error":/);
    const json = await run(...args, '--json');
    expect(json.code).toBe(4);
    expect(JSON.parse(json.stdout)).toMatchObject({ status: 401, reply: { error: {} } });
  });

  test('exits with 1 if nothing listens there, with a hint', async () => {
    const file = writeBody(eventBody(paymentObject()));
    await expectRejection(
      run('send', file, '--url', 'http://127.0.0.1:1/webhooks'),
      /Nothing was delivered to http:\/\/127\.0\.0\.1:1\/webhooks[\s\S]*npm start/,
    );
  });
});

describe('orders', () => {
  test('list shows the newest orders with their amounts', async () => {
    const { orderId } = await receivePaidOrder();
    const { code, stdout, stderr } = await run('orders', 'list');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^ORDER +STATUS +CAPTURED +REFUNDED +FIRST SEEN$/m);
    expect(stdout).toMatch(
      new RegExp(`^${orderId} +partially_refunded +65\\.40 USD +21\\.80 USD +.* UTC$`, 'm'),
    );
    expect(await runJson('orders', 'list', '--limit', '1')).toMatchObject({
      orders: [
        {
          order_id: orderId,
          status: 'partially_refunded',
          totals: [{ currency: 'USD', amount_captured: 6540, amount_refunded: 2180 }],
        },
      ],
    });
  });

  test('list filters by status, and rejects one that does not exist', async () => {
    const { orderId } = await receivePaidOrder();
    const refunded = await run('orders', 'list', '--status', 'partially_refunded');
    expect(refunded.stdout).toContain(orderId);
    const expired = await run('orders', 'list', '--status', 'expired');
    expect(expired.stdout).not.toContain(orderId);
    await expectRejection(
      run('orders', 'list', '--status', 'payed'),
      /"payed" is not an order status. Choose one of .*paid/,
    );
  });

  test('show finds an order by its id or the id of a part, and lists its parts', async () => {
    const { orderId, paymentId, refundId } = await receivePaidOrder();
    const { code, stdout } = await run('orders', 'show', orderId);
    expect(code).toBe(0);
    expect(stdout).toMatch(new RegExp(`^Order ${orderId}: partially_refunded, first seen `, 'm'));
    expect(stdout).toMatch(
      /^ {2}USD: partially_refunded; captured 65\.40 USD, refunded 21\.80 USD$/m,
    );
    expect(stdout).toMatch(new RegExp(`^payment +${paymentId} +succeeded +65\\.40 USD`, 'm'));
    expect(stdout).toMatch(new RegExp(`^refund +${refundId} +succeeded +21\\.80 USD`, 'm'));

    // Without the timeline: a change of the status appears some seconds after its cause.
    const show = async (id: string) => {
      const { orders } = (await runJson('orders', 'show', id)) as { orders: object[] };
      return { orders: orders.map((order) => ({ ...order, timeline: undefined })) };
    };
    const byOrder = await show(orderId);
    expect(byOrder).toMatchObject({
      orders: [{ order_id: orderId, parts: [{ id: paymentId }, {}] }],
    });
    expect(await show(paymentId)).toEqual(byOrder);
    expect(await show(refundId)).toEqual(byOrder);
  });

  test('show exits with 1 for an unknown id', async () => {
    await expectRejection(
      run('orders', 'show', 'ord_unheard'),
      /No order, payment, refund or dispute is known as ord_unheard[\s\S]*events list/,
    );
  });
});

describe('events', () => {
  test('list shows each event with its state', async () => {
    const { eventId } = await receivePaidOrder();
    const { code, stdout } = await run('events', 'list');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^INBOX +EVENT +TYPE +STATE +ATTEMPTS +SECRET +RECEIVED$/m);
    expect(stdout).toMatch(
      new RegExp(`^\\d+ +${eventId} +payment_succeeded +applied +0 +[0-9a-f]{8} +.* UTC$`, 'm'),
    );
    expect(await runJson('events', 'list', '--state', 'dead')).toEqual({
      events: [],
      next_cursor: null,
    });
    const none = await run('events', 'list', '--state', 'dead');
    expect(none).toMatchObject({ code: 0, stdout: 'No such events.\n' });
    const applied = await runJson('events', 'list', '--state', 'applied', '--limit', '2');
    expect(applied).toMatchObject({ events: [{ state: 'applied' }, { event_id: eventId }] });
  });

  test('show finds an event by its id or number, and prints its exact body', async () => {
    const eventId = unique('evt');
    const body = eventBody(paymentObject(), { eventId });
    await receive(body);
    const shown = (await runJson('events', 'show', eventId)) as { number: number };
    expect(shown).toMatchObject({
      event_id: eventId,
      event_type: 'payment_succeeded',
      merchant_id: MERCHANT_ID,
      state: 'applied',
      body: body.toString('utf8'),
      findings: [],
      variants: [],
    });
    // Its change gets a number meanwhile.
    const changed = expect.anything();
    expect(await runJson('events', 'show', String(shown.number))).toEqual({ ...shown, changed });
    const { code, stdout } = await run('events', 'show', eventId);
    expect(code).toBe(0);
    expect(stdout.trimEnd().split('\n').at(-1)).toBe(body.toString('utf8'));
  });

  test('show keeps the line breaks of a body and replaces all other control characters', async () => {
    const eventId = unique('evt');
    const text = eventBody(paymentObject({ description: 'a\u0085b' }), { eventId }).toString();
    const lines = JSON.stringify(JSON.parse(text), null, 2).split('\n');
    await receive(Buffer.from(lines.join('\r\n')));
    const { stdout } = await run('events', 'show', eventId);
    const shown = lines.map((line) => line.replace('\u0085', '\ufffd'));
    expect(stdout.trimEnd().split('\n').slice(-lines.length)).toEqual(shown);
    expect(shown).not.toEqual(lines);
  });

  test('show prints every body received with one event id, the applied one first', async () => {
    const eventId = unique('evt');
    const bodies = [6540, 6541].map((amount) => eventBody(paymentObject({ amount }), { eventId }));
    for (const body of bodies) await receive(body);
    const [first = '', second = ''] = bodies.map(String);
    const { stdout } = await run('events', 'show', eventId);
    expect(stdout).toMatch(/^Finding \(open\): event_id_reused/m);
    expect(stdout.trimEnd().split('\n').slice(-3)).toEqual([
      first,
      'Another body arrived under this event id and was not applied:',
      second,
    ]);
    expect(await runJson('events', 'show', eventId)).toMatchObject({
      body: first,
      variants: [second],
    });
  });

  test('list names the types of the contract when --type is none of them, and accepts it', async () => {
    const misspelled = await run('events', 'list', '--type', 'dispute_open');
    expect(misspelled).toMatchObject({
      code: 0,
      stderr: 'The contract defines no event type dispute_open. Did you mean dispute_opened?\n',
    });
    const other = await run('events', 'list', '--type', 'invoice');
    expect(other.stderr).toContain('It defines payment_succeeded, ');
    expect((await run('events', 'list', '--type', 'refund_failed')).stderr).toBe('');
  });

  test('show prints why an event was not applied', async () => {
    const eventId = unique('evt');
    await receive(eventBody(paymentObject(), { eventId, merchantId: 'merchant_other' }));
    const { stdout } = await run('events', 'show', eventId);
    expect(stdout).toMatch(/not_applied/);
    expect(stdout).toMatch(/^Finding \(open\): foreign_merchant .*merchant_other/m);
  });

  test('show and replay exit with 1 for an unknown id', async () => {
    const message = /No event is known as evt_unknown[\s\S]*events list/;
    await expectRejection(run('events', 'show', 'evt_unknown'), message);
    await expectRejection(run('events', 'replay', 'evt_unknown'), message);
    await expectRejection(run('events', 'replay'), /Name the events to replay, or use --dead/);
  });

  test('replay applies an event again, which does not change its order', async () => {
    const { eventId, orderId } = await receivePaidOrder();
    const show = async () => {
      const { orders } = (await runJson('orders', 'show', orderId)) as { orders: object[] };
      // The timeline has the replays, and changes of the status some seconds after their cause.
      return orders.map((order) => ({ ...order, timeline: undefined }));
    };
    const before = await show();
    const { code, stdout, stderr } = await run('events', 'replay', eventId);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toBe('1 event will be applied again.\n');
    expect(await runJson('events', 'replay', eventId)).toMatchObject({
      replayed: [expect.any(Number)],
      enqueued: true,
    });
    await waitFor('the event to be applied', async () => {
      return (await db.query('select * from pending')).length === 0;
    });
    expect(await show()).toEqual(before);
  });

  test('replay changes nothing if one of its ids is unknown', async () => {
    const { eventId } = await receivePaidOrder();
    const applied = await db.query('select xmin::text, id from resources order by id');
    await expectRejection(run('events', 'replay', eventId, 'evt_unknown'), /evt_unknown/);
    expect(await db.query('select * from pending')).toEqual([]);
    expect(await db.query('select xmin::text, id from resources order by id')).toEqual(applied);
  });

  test('discard refuses an event that is not dead', async () => {
    const { events } = (await runJson('events', 'list')) as { events: { number: number }[] };
    const args = ['events', 'discard', String(events[0]?.number), '--reason', 'sent by a test'];
    await expectRejection(run(...args), /not dead. Nothing was changed/);
    await expectRejection(
      run('events', 'discard', 'evt_none', '--reason', 'x'),
      /No event is known/,
    );
  });

  test('replay --dead applies dead events, and their findings close', async () => {
    const eventId = unique('evt');
    await receive(eventBody(paymentObject(), { eventId }));
    await db.query(
      `with dead as (
         insert into dead_events (webhook_event_id, attempts, error)
         select id, 5, 'it was a bad day' from webhook_events where event_id = $1
         returning webhook_event_id
       )
       insert into findings (class, subject, detail)
       select 'event_dead', 'event:' || webhook_event_id, '{}' from dead`,
      [eventId],
    );
    const dead = await run('events', 'list', '--state', 'dead');
    expect(dead.stdout).toMatch(new RegExp(`${eventId} +payment_succeeded +dead +5`));
    expect((await run('events', 'show', eventId)).stdout).toContain('Error: it was a bad day');

    expect(await runJson('events', 'replay', '--dead')).toMatchObject({ enqueued: true });
    await waitFor('the event to be applied', async () => {
      return (await db.query('select * from pending')).length === 0;
    });
    expect(await runJson('events', 'show', eventId)).toMatchObject({
      state: 'applied',
      findings: [{ class: 'event_dead', state: 'closed' }],
    });
  });
});

describe('text from outside', () => {
  /** Clears the screen, sets the title, starts an 8-bit sequence and reverses the writing direction. */
  const malicious = 'x\u001b[2J\u001b]0;owned\u0007\u009b31m\u202eyz';

  test('never reaches the terminal as control characters', async () => {
    const orderId = unique('ord');
    const payment = paymentObject({
      status: malicious,
      metadata: { order_id: orderId },
      unified_code: malicious,
      unified_message: malicious,
    });
    const eventId = unique('evt');
    await receive(eventBody(payment, { eventId }));
    const ignoredId = unique('evt');
    await receive(eventBody({ what: malicious }, { eventId: ignoredId, contentType: malicious }));
    await receive(Buffer.from(`not JSON: ${malicious}`));
    const unnamed = (await runJson('events', 'list', '--limit', '1')) as {
      events: readonly { number: number }[];
    };

    const outputs = [
      await run('orders', 'list'),
      await run('orders', 'show', orderId),
      await run('events', 'list'),
      await run('events', 'show', eventId),
      await run('events', 'show', ignoredId),
      await run('events', 'show', String(unnamed.events[0]?.number)),
      await run('orders', 'show', malicious),
      await run('events', 'show', malicious),
    ];
    for (const { stdout, stderr } of outputs) {
      const lines = `${stdout}${stderr}`.split('\n');
      expect(lines.filter((line) => /\p{C}/u.test(line))).toEqual([]);
    }
    // The printable characters are shown.
    expect(outputs[1]?.stdout).toContain('x\uFFFD[2J');
  });
});

describe('with no settings at all', () => {
  test('every command uses the embedded database and the generated secret and token', async () => {
    const dataDir = dataFolder();
    const options: ProgramOptions = {
      env: {
        DATA_DIR: dataDir,
        HOST: '127.0.0.1',
        PORT: '0',
        ADMIN_PORT: '0',
        SANDBOX_PORT: '0',
      },
    };
    const program = spawnProgram('bin/tallyhook.js', ['start', '--json'], {
      env: { ...options.env, LOG_LEVEL: 'silent' },
    });
    cleanups.push(async () => {
      program.kill('SIGTERM');
      await program.exit;
    });
    await waitFor('the banner', () => program.stdout().trimEnd().endsWith('}'));
    const { webhook_url: webhookUrl, sandbox_url: sandboxUrl } = JSON.parse(program.stdout()) as {
      readonly webhook_url: string;
      readonly sandbox_url: string;
    };
    const sandboxKey = readFileSync(join(dataDir, 'sandbox-api-key'), 'utf8').trim();
    const health = await fetch(`${sandboxUrl}/health`, { headers: { 'api-key': sandboxKey } });
    expect(health.status).toBe(200);
    expect(statSync(join(dataDir, 'sandbox-api-key')).mode & 0o777).toBe(0o600);
    for (const secret of ['webhook-secret', 'admin-token']) {
      expect(statSync(join(dataDir, secret)).mode & 0o777).toBe(0o600);
      expect(readFileSync(join(dataDir, secret), 'utf8').trim()).toMatch(/^[0-9a-f]{64}$/);
    }

    const payment = paymentObject();
    const file = writeBody(eventBody(payment, { merchantId: 'merchant_local' }));
    const sent = await runTallyhook(['send', file, '--url', webhookUrl], options);
    expect(sent).toMatchObject({ code: 0, stderr: '' });
    const show = ['orders', 'show', payment.payment_id];
    let shown = await runTallyhook(show, options);
    await waitFor('the order to exist', async () => {
      if (shown.code !== 0) shown = await runTallyhook(show, options);
      return shown.code === 0;
    });
    expect(shown.stdout).toContain('captured 65.40 USD');

    program.kill('SIGTERM');
    expect(await program.exit).toMatchObject({ code: 0, stderr: '' });
    // The database stops with the program; a command starts it when needed.
    expect((await runTallyhookProcess(show, options)).stdout).toBe(shown.stdout);
  });
});

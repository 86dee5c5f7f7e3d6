/**
 * The embedded PostgreSQL is killed while processes use it: they restart it, or exit with the reason.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startEmbeddedPostgres } from '../../src/platform/embeddedPostgres/index.ts';
import { eventBody, paymentObject, SECRET, sign } from '../support/events.ts';
import { memoryFolder } from '../support/memoryFolder.ts';
import {
  healthUrlOf,
  type Program,
  settingsFor,
  spawnProgram,
  webhookUrlOf,
} from '../support/program.ts';
import { waitFor } from '../support/waitFor.ts';

const EVENT = eventBody(paymentObject());

let dataDir: string;
const cleanups: (() => unknown)[] = [];
beforeEach(() => {
  dataDir = mkdtempSync(join(memoryFolder(), 'tallyhook-lost-'));
});
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
  // Stops a server that a test left running.
  await (await startEmbeddedPostgres({ dataDir, log: () => undefined })).stop();
  rmSync(dataDir, { recursive: true, force: true });
});

function run(roles: string): Program {
  const program = spawnProgram('bin/tallyhook.js', ['start', '--roles', roles, '--json'], {
    env: settingsFor('', { DATABASE_URL: undefined, DATA_DIR: dataDir, WEBHOOK_SECRETS: SECRET }),
  });
  cleanups.push(async () => {
    program.kill('SIGTERM');
    await program.exit;
  });
  return program;
}

function postmasterPid(): number | undefined {
  try {
    return Number(readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n')[0]);
  } catch {
    return undefined;
  }
}

/** Sends SIGKILL, as the kernel does when memory is low. */
function killServer(): void {
  const pid = postmasterPid();
  if (pid === undefined || Number.isNaN(pid)) throw new Error('there is no server to kill');
  process.kill(pid, 'SIGKILL');
}

async function deliver(url: string, body: Buffer): Promise<number | undefined> {
  const headers = { 'X-Webhook-Signature-512': sign(body) };
  try {
    const response = await fetch(url, { method: 'POST', headers, body: new Uint8Array(body) });
    return response.status;
  } catch {
    return undefined;
  }
}

async function isReady(program: Program): Promise<boolean> {
  const url = await healthUrlOf(program);
  return (await fetch(new URL('/readyz', url))).status === 200;
}

/** Counts with a new connection to the server that is running now. */
async function countPending(): Promise<number> {
  const use = await startEmbeddedPostgres({ dataDir, log: () => undefined });
  const client = new pg.Client({ connectionString: use.connectionString });
  try {
    await client.connect();
    const { rows } = await client.query<{ n: string }>('select count(*) as n from pending');
    return Number(rows[0]?.n);
  } finally {
    await client.end();
    await use.stop();
  }
}

test('a killed server is restarted for every process that uses it', async () => {
  const receiver = run('receiver');
  const url = await webhookUrlOf(receiver);
  const worker = run('events,scheduler');
  expect(await deliver(url, EVENT)).toBe(200);
  await waitFor('the event to be applied', async () => (await countPending()) === 0);

  for (const round of [1, 2]) {
    const killed = postmasterPid();
    killServer();
    await waitFor(`the server to run again (${round})`, () => {
      const pid = postmasterPid();
      return pid !== undefined && pid !== killed;
    });
    const body = eventBody(paymentObject());
    await waitFor('a delivery to be accepted', async () => (await deliver(url, body)) === 200);
    expect(await isReady(receiver)).toBe(true);
    await waitFor('the event to be applied', async () => (await countPending()) === 0);
  }
  const output = receiver.stdout() + worker.stdout();
  expect(output).toContain('ended while it was in use; restarting it');
});

test("if the server cannot be restarted, the process exits with PostgreSQL's error", async () => {
  const program = run('receiver');
  await webhookUrlOf(program);
  const config = join(dataDir, 'postgres/postgresql.conf');
  const original = readFileSync(config, 'utf8');
  writeFileSync(config, `${original}\nno_such_setting = 1\n`);
  killServer();
  const { code, stderr } = await program.exit;
  expect(code).toBe(4);
  expect(stderr).toContain('no_such_setting');
  expect(stderr).not.toContain('DATABASE_URL');
  // The cleanup must be able to start the server.
  writeFileSync(config, original);
});

test('if the server is killed repeatedly, the process exits with the number of times', async () => {
  const program = run('receiver');
  await webhookUrlOf(program);
  let ended = false;
  void program.exit.then(() => {
    ended = true;
  });
  const hasEnded = (): boolean => ended;
  // A restart that fails, as on a busy machine, counts, too: the process may exit before the sixth.
  for (let kill = 1; kill <= 6 && !hasEnded(); kill += 1) {
    const killed = postmasterPid();
    killServer();
    await waitFor(`the server to run again, or the process to exit (${kill})`, async () => {
      if (hasEnded()) return true;
      const pid = postmasterPid();
      return pid !== undefined && pid !== killed && (await isReady(program).catch(() => false));
    });
  }
  const { code, stderr } = await program.exit;
  expect(code).toBe(4);
  expect(stderr).toContain('ended 5 times in ten minutes');
  expect(stderr).not.toContain('DATABASE_URL');
});

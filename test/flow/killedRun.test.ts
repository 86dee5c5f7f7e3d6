/**
 * kill -9 of `tallyhook reconcile` during a long run, at random times: the next process resumes at the
 * checkpoint. A proxy in front of the service counts the requests, so that those of a killed process are
 * counted, too. TEST_SEED repeats a run.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { DAY_MS } from '../../src/platform/time.ts';
import {
  createSandboxDatabase,
  createTestDatabase,
  type TestDatabase,
} from '../support/database.ts';
import { type Environment, type Program, settingsFor, spawnProgram } from '../support/program.ts';
import { seededRandom, testSeed } from '../support/random.ts';
import {
  type RecordedRequest,
  type RecordingProxy,
  startRecordingProxy,
} from '../support/recordingProxy.ts';
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts';
import { insertPayments } from '../support/sandboxPayments.ts';

const SEED = testSeed();
const PAYMENTS = 2_000;
const PAGE = 100;
const KILLS = 3;
/**
 * Of one process for the window at the checkpoint: the request that has no width yet, the one with the width
 * that its total suggests, and a few more where rows are spread unevenly. How many requests a whole listing
 * takes depends on that spread, so bench/reconcile shows it instead.
 */
const REQUESTS_OF_WINDOW = 8;

let db: TestDatabase;
let service: TestDatabase;
let sandbox: TestSandbox;
let proxy: RecordingProxy;
let env: Environment;
const programs = new Set<Program>();

beforeEach(async () => {
  [db, service] = await Promise.all([createTestDatabase(), createSandboxDatabase()]);
  sandbox = await startTestSandbox({ databaseUrl: service.url });
  proxy = await startRecordingProxy(sandbox.baseUrl);
  env = settingsFor(db.url, {
    PAYMENTS_MERCHANT_ID: sandbox.merchantId,
    PAYMENTS_BASE_URL: proxy.baseUrl,
    PAYMENTS_API_KEY: sandbox.apiKey,
  });
});
afterEach(async () => {
  for (const program of programs) program.kill('SIGKILL');
  await Promise.all([...programs].map(({ exit }) => exit));
  programs.clear();
  await proxy.close();
  await sandbox.close();
  await Promise.all([db.drop(), service.drop()]);
});

function reconcile(fromMs: number): Program {
  const from = new Date(fromMs).toISOString();
  const args = ['reconcile', '--stream', 'payments', '--from', from, '--json'];
  const program = spawnProgram('bin/tallyhook.js', args, { env });
  programs.add(program);
  return program;
}

/** Requested pages. Repairs that a kill interrupted are retrieved individually in addition. */
function listRequests(requests: readonly RecordedRequest[]): readonly RecordedRequest[] {
  return requests.filter(({ path }) => path === '/payments/list');
}

/** The requested windows, by their start. */
function windowStarts(requests: readonly RecordedRequest[]): readonly number[] {
  return listRequests(requests)
    .map(({ body }) => JSON.parse(body) as { limit: number; created_gte: string })
    .filter(({ limit }) => limit === PAGE)
    .map(({ created_gte: from }) => Date.parse(from));
}

async function checkpointMs(): Promise<number> {
  const [row] = await db.query<{ at: Date; state: string }>(
    'select position_at as at, state from reconcile_runs',
  );
  expect(row?.state).toBe('running');
  return row?.at.getTime() ?? Number.NaN;
}

test(`a run that is killed ${KILLS} times resumes at its checkpoint each time and reads at most two windows again (seed ${SEED})`, async () => {
  const random = seededRandom(SEED);
  const endMs = Date.now() - DAY_MS;
  const fromMs = endMs - DAY_MS;
  const payments = Array.from({ length: PAYMENTS }, (_, n) => {
    const createdMs = Math.floor(fromMs + random() * DAY_MS);
    const made = { id: `pay_${n}`, createdMs, modifiedMs: createdMs, status: 'succeeded' };
    return { ...made, currency: 'USD', amount: 100 + n };
  });
  await insertPayments(service, sandbox, payments);

  const kills: { readonly requests: number; readonly positionMs: number }[] = [];
  for (let n = 0; n < KILLS; n += 1) {
    const program = reconcile(fromMs);
    const share = PAYMENTS / PAGE / KILLS;
    await proxy.waitForRequests(proxy.requests.length + Math.ceil(share * (0.5 + random() / 2)));
    await pause(random() * 50);
    program.kill('SIGKILL');
    expect(await program.exit).toMatchObject({ signal: 'SIGKILL' });
    kills.push({ requests: proxy.requests.length, positionMs: await checkpointMs() });
  }
  const last = await reconcile(fromMs).exit;

  expect(last).toMatchObject({ code: 0, stderr: '' });
  const { reconciliations: runs } = JSON.parse(last.stdout) as {
    readonly reconciliations: readonly { readonly found: number }[];
  };
  const found = runs[0]?.found ?? 0;
  expect(runs).toMatchObject([{ state: 'done', repaired: found, remaining: 0 }]);
  // Repairs before a kill are equal when the window is read again, and are not counted.
  expect(found).toBeLessThanOrEqual(PAYMENTS);
  expect(found).toBeGreaterThanOrEqual(PAYMENTS - KILLS * PAGE);
  expect(await db.query('select count(*) as count from resources')).toEqual([{ count: PAYMENTS }]);
  let begun = 0;
  for (const [n, { requests, positionMs }] of kills.entries()) {
    // Only the window that starts at the checkpoint and the next one are requested before and after a kill.
    const before = new Set(windowStarts(proxy.requests.slice(begun, requests)));
    expect([...before].filter((startMs) => startMs > positionMs).length).toBeLessThanOrEqual(1);
    const [first, ...others] = windowStarts(proxy.requests.slice(requests));
    expect(first).toBe(positionMs);
    expect(Math.min(...others)).toBeGreaterThanOrEqual(positionMs);
    // A process that is killed at the same checkpoint once more requests its window once more.
    const resumed = windowStarts(proxy.requests.slice(requests, kills[n + 1]?.requests));
    const again = resumed.filter((startMs) => startMs === positionMs);
    expect(again.length).toBeLessThanOrEqual(REQUESTS_OF_WINDOW);
    begun = requests;
  }
});

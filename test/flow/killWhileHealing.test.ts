/**
 * kill -9 of worker processes at random times, while the service has random faults and variants: after the
 * faults stop, one full run makes the ledger equal to the service, to the cent. Every worker is a separate
 * process.
 *
 * HEAL_SEEDS sets the number of seeds; HEAL_SEED lists the ones to run, and HEAL_KILLED the processes to kill,
 * separated by commas. The title of a test has the faults of its seed.
 */
import { stdout } from 'node:process';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import {
  createPostgresQueueConnections,
  createQueueBackend,
  type Producer,
  type QueueBackend,
} from '../../src/platform/queue/index.ts';
import { DAY_MS } from '../../src/platform/time.ts';
import { enqueueReconcile, RECONCILE_QUEUE, type ReconcileJob } from '../../src/reconcile/jobs.ts';
import { readAcknowledged } from '../support/acknowledgedEvents.ts';
import { createTestDatabase, silentLog, type TestDatabase } from '../support/database.ts';
import { findLost } from '../support/eventBurst.ts';
import { sign, unique } from '../support/events.ts';
import { healingTable, type SeedResult } from '../support/healingTable.ts';
import {
  type Environment,
  type Program,
  runTallyhookProcess,
  settingsFor,
  spawnProgram,
  webhookUrlOf,
} from '../support/program.ts';
import { type Random, seededRandom } from '../support/random.ts';
import { randomFaults } from '../support/randomFaults.ts';
import { recordFigures } from '../support/recordFigures.ts';
import { SANDBOX_SECRET, startTestSandbox, type TestSandbox } from '../support/sandbox.ts';
import { differencesOf } from '../support/trade.ts';
import { simulateTradingPeriod, tradingPeriodStartMs } from '../support/tradingPeriod.ts';
import { waitFor } from '../support/waitFor.ts';

/** Each round has one kill. */
const ROUNDS = 5;
const ORDERS_PER_ROUND = 6;
/** Maximum time between the start of a round and its kill, about the length of a round. */
const KILL_WITHIN_MS = 400;
/** Longer than the trading period, and as long as a first import. */
const SPAN_MS = 120 * DAY_MS;

const WORKERS = ['receiver', 'events', 'reconcile', 'scheduler', 'alerts'] as const;
type WorkerName = (typeof WORKERS)[number];

const { HEAL_SEED: one, HEAL_SEEDS: many = '1', HEAL_KILLED: killable } = process.env;
const KILLED = WORKERS.filter(
  (name) => killable === undefined || killable.split(',').includes(name),
);
const SEEDS = (
  one === undefined
    ? Array.from({ length: Number(many) }, (_, n) => 301 + n)
    : one.split(',').map(Number)
).map((seed) => {
  const random = seededRandom(seed);
  const faults = randomFaults(seed, { index: seed - 301, random, pace: 'days' });
  return [`seed ${seed}: ${faults.names}`, { seed, random, faults }] as const;
});

let db: TestDatabase;
let sandbox: TestSandbox;
let queues: QueueBackend;
let reconcileJobs: Producer<ReconcileJob>;
let env: Environment;
const running = new Map<WorkerName, Program>();

beforeEach(async () => {
  [db, sandbox] = await Promise.all([
    createTestDatabase(),
    startTestSandbox({ startAtMs: tradingPeriodStartMs() }),
  ]);
  queues = createQueueBackend(createPostgresQueueConnections(db.url, silentLog), silentLog);
  reconcileJobs = queues.producer<ReconcileJob>(RECONCILE_QUEUE);
  env = settingsFor(db.url, {
    PAYMENTS_MERCHANT_ID: sandbox.merchantId,
    PAYMENTS_BASE_URL: sandbox.baseUrl,
    PAYMENTS_API_KEY: sandbox.apiKey,
    WEBHOOK_SECRETS: SANDBOX_SECRET,
  });
});
afterEach(async () => {
  await Promise.all(WORKERS.map(kill));
  await reconcileJobs.close();
  await queues.close();
  await sandbox.close();
  await db.drop();
});

const repaired: SeedResult[] = [];
afterAll(() => {
  const table = healingTable(repaired);
  if (repaired.length > 0) stdout.write(`repaired by one full run after kills:\n${table}\n`);
});

function run(name: WorkerName, more: Environment = {}): Program {
  const program = spawnProgram(`dist/program/${name}.js`, [], { env: { ...env, ...more } });
  running.set(name, program);
  return program;
}

async function kill(name: WorkerName): Promise<void> {
  const program = running.get(name);
  program?.kill('SIGKILL');
  await program?.exit;
  running.delete(name);
}

/** The log line with which a worker starts to work; the scheduler logs nothing. */
const READY: Readonly<Record<WorkerName, string>> = {
  receiver: '"msg":"receiver.listening"',
  events: '"msg":"queue.consumer_ready"',
  reconcile: '"msg":"queue.consumer_ready"',
  scheduler: '',
  alerts: '"msg":"notify.started"',
};

function untilWorking(name: WorkerName): Promise<void> {
  return waitFor(
    `the ${name} worker to start working`,
    () => running.get(name)?.stdout().includes(READY[name]) ?? false,
  );
}

/** Kills one of the workers at a random time of a round, and restarts it. */
async function killOne(round: number, random: Random, port: string): Promise<string> {
  const name = KILLED[Math.floor(random() * KILLED.length)] ?? 'events';
  const afterMs = Math.floor(random() * KILL_WITHIN_MS);
  await untilWorking(name);
  await enqueueReconcile(reconcileJobs, 'tail', round);
  await pause(afterMs);
  await kill(name);
  // The service keeps sending to the same port.
  run(name, name === 'receiver' ? { PORT: port } : {});
  return `${name} after ${afterMs} ms`;
}

/** Delivers a signed body that is not an event. Its finding must still be open at the end. */
async function deliverUnreadableEvent(url: string): Promise<void> {
  const body = Buffer.from(`{"no": "event", "but": "${unique('x')}"}`);
  const headers = { 'X-Webhook-Signature-512': sign(body, SANDBOX_SECRET) };
  await fetch(url, { method: 'POST', headers, body: new Uint8Array(body) });
}

interface Report {
  readonly reconciliations: readonly {
    readonly state: string;
    readonly requests: number;
    readonly remaining: number;
    readonly differences: readonly { readonly subject: string }[];
  }[];
}

async function reconcile(): Promise<Report> {
  const from = new Date(Date.now() - SPAN_MS).toISOString();
  const args = ['reconcile', '--mode', 'full', '--from', from, '--json'];
  const exit = await runTallyhookProcess(args, { env });
  expect(exit).toMatchObject({ code: 0, stderr: '' });
  return JSON.parse(exit.stdout) as Report;
}

test.each(SEEDS)(
  `after ${ROUNDS} kills of any process one full run makes the ledger equal, %s`,
  async (_name, { seed, random, faults }) => {
    for (const name of WORKERS) run(name);
    const receiver = running.get('receiver');
    const url = receiver ? await webhookUrlOf(receiver) : '';
    await sandbox.control('PUT', '/webhook', { url });
    const killed: string[] = [];
    await simulateTradingPeriod(sandbox, {
      seed,
      faults,
      random,
      rounds: ROUNDS,
      ordersPerRound: ORDERS_PER_ROUND,
      duringRound: async (round) => {
        killed.push(await killOne(round, random, new URL(url).port));
      },
    });
    const context = `seed ${seed}, killed: ${killed.join(', ')}`;
    await untilWorking('receiver');
    await deliverUnreadableEvent(url);
    // A starting scheduler enqueues what killed workers had claimed.
    await kill('scheduler');
    run('scheduler');
    await waitFor('every event to be applied', async () => {
      const [row] = await db.query<{ waiting: number }>('select count(*) as waiting from pending');
      return row?.waiting === 0;
    });
    // From here on only the one run repairs, and no worker.
    await kill('reconcile');

    const beganMs = performance.now();
    const { reconciliations: runs } = await reconcile();
    const seconds = (performance.now() - beganMs) / 1_000;

    const differences = await differencesOf(db, sandbox);
    const requests = runs.reduce((sum, report) => sum + report.requests, 0);
    const isEqual = differences.length === 0;
    repaired.push({ lossPercent: faults.lossPercent, isEqual, requests, seconds });
    const acknowledged = await readAcknowledged(sandbox);
    const lost = await findLost(db, { acknowledged });
    recordFigures({
      kind: 'kills',
      killed: KILLED.length < WORKERS.length ? KILLED.join(', ') : 'any process',
      kills: ROUNDS,
      acknowledged: acknowledged.size,
      lost: lost.length,
      appliedAfterSeconds: [],
    });
    expect(lost, context).toEqual([]);
    expect(differences, context).toEqual([]);
    expect(
      runs.map(({ state, remaining }) => [state, remaining]),
      context,
    ).toEqual(runs.map(() => ['done', 0]));
    const open = await db.query(
      `select class from findings where state = 'open' and class = 'unreadable_event'`,
    );
    expect(open, context).toHaveLength(1);
    // What the run learned can request retrieves, as of an order that more was returned of than it paid.
    const requested = await db.query<{ subject: string }>(
      `select kind || ':' || id as subject from resources where is_check_wanted`,
    );
    const isRequested = new Set(requested.map(({ subject }) => subject));
    const again = (await reconcile()).reconciliations.flatMap((report) => report.differences);
    expect(
      again.filter(({ subject }) => !isRequested.has(subject)),
      context,
    ).toEqual([]);
    expect(await runTallyhookProcess(['verify', '--rebuild'], { env })).toMatchObject({ code: 0 });
  },
);

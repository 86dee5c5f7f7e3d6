/**
 * kill -9 of the workers that apply and of those that reconcile, at moments drawn by a seed, while
 * webhooks are lost, doubled, disordered and sent late: when the faults stop, one full run makes the
 * ledger equal to the service. Every worker is a process of its own, the service is spoken to over
 * HTTP. HEAL_SEEDS asks for more seeds; each stands in the name of its test.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  createPostgresQueueConnections,
  createQueueBackend,
  type Producer,
  type QueueBackend,
} from '../../src/platform/queue/index.ts';
import { enqueueErrand, RECONCILE_QUEUE, type ReconcileJob } from '../../src/reconcile/jobs.ts';
import { createTestDatabase, silentLog, type TestDatabase } from '../support/database.ts';
import { sign, unique } from '../support/events.ts';
import {
  type Environment,
  type Program,
  runTallyhook,
  settingsFor,
  spawnProgram,
  webhookUrlOf,
} from '../support/program.ts';
import { SANDBOX_SECRET, startTestSandbox, type TestSandbox } from '../support/sandbox.ts';
import { type Random, seededRandom } from '../support/storm.ts';
import { expectEqual, trade } from '../support/trade.ts';
import { waitFor } from '../support/waitFor.ts';

const SEEDS = Array.from({ length: Number(process.env.HEAL_SEEDS ?? 2) }, (_, n) => 301 + n);

const WEBHOOK_FAULTS = {
  drop: 0.1,
  duplicate: 0.2,
  reorder: 0.3,
  reorder_ms: 20_000,
  late_copy: 0.2,
  late_copy_ms: 60_000,
};

/** Many processes are started; a busy machine needs its time. */
const TIMEOUT_MS = 180_000;
const KILLS = 5;
const ORDERS_PER_KILL = 8;
/** A kill comes this long after its batch of orders began, at most: about when the batch ends. */
const KILL_WITHIN_MS = 400;
/** All of it stays below the five minutes by which a body's version may be ahead of our clock. */
const ADVANCE_MS = 30_000;
/** The lists are read up to a minute ago. */
const LAST_ADVANCE_MS = 90_000;

const VICTIMS = ['events', 'reconcile'] as const;
type WorkerName = 'receiver' | 'scheduler' | (typeof VICTIMS)[number];

let db: TestDatabase;
let sandbox: TestSandbox;
let queues: QueueBackend;
let errands: Producer<ReconcileJob>;
let env: Environment;
const programs = new Set<Program>();

beforeEach(async () => {
  [db, sandbox] = await Promise.all([createTestDatabase(), startTestSandbox()]);
  queues = createQueueBackend(createPostgresQueueConnections(db.url, silentLog), silentLog);
  errands = queues.producer<ReconcileJob>(RECONCILE_QUEUE);
  env = settingsFor(db.url, {
    PAYMENTS_MERCHANT_ID: sandbox.merchantId,
    PAYMENTS_BASE_URL: sandbox.baseUrl,
    PAYMENTS_API_KEY: sandbox.apiKey,
    WEBHOOK_SECRETS: SANDBOX_SECRET,
  });
});
afterEach(async () => {
  for (const program of programs) await kill(program);
  await errands.close();
  await queues.close();
  await sandbox.close();
  await db.drop();
});

function run(name: WorkerName): Program {
  const program = spawnProgram(`dist/workers/${name}.js`, [], { env });
  programs.add(program);
  return program;
}

async function kill(program: Program): Promise<void> {
  program.kill('SIGKILL');
  await program.exit;
  programs.delete(program);
}

function atWork(name: string, program: Program): Promise<void> {
  return waitFor(`the ${name} worker to take up work`, () =>
    program.stdout().includes('"msg":"queue.consumer_ready"'),
  );
}

/** Trades in batches; during each, one of the workers is killed, and then started again. */
async function tradeAndKill(seed: number, random: Random): Promise<readonly string[]> {
  const workers = { events: run('events'), reconcile: run('reconcile') };
  const killed: string[] = [];
  for (let n = 0; n < KILLS; n += 1) {
    const victim = VICTIMS[Math.floor(random() * VICTIMS.length)] ?? 'events';
    await atWork(victim, workers[victim]);
    await enqueueErrand(errands, 'tail', n);
    const batch = trade(sandbox, `${seed}_${n}`, { orders: ORDERS_PER_KILL, random });
    const afterMs = Math.floor(random() * KILL_WITHIN_MS);
    await pause(afterMs);
    await kill(workers[victim]);
    killed.push(`${victim} after ${afterMs} ms`);
    await batch;
    workers[victim] = run(victim);
    await sandbox.advance(ADVANCE_MS);
  }
  return killed;
}

/** A signed body that is no event: a finding that must still be open in the end. */
async function deliverNonsense(url: string): Promise<void> {
  const body = Buffer.from(`{"no": "event", "but": "${unique('x')}"}`);
  const headers = { 'X-Webhook-Signature-512': sign(body, SANDBOX_SECRET) };
  await fetch(url, { method: 'POST', headers, body: new Uint8Array(body) });
}

interface Report {
  readonly runs: readonly {
    readonly state: string;
    readonly found: number;
    readonly healed: number;
    readonly left: number;
  }[];
}

async function reconcile(): Promise<Report> {
  const exit = await runTallyhook(['reconcile', '--mode', 'full', '--json'], { env });
  expect(exit).toMatchObject({ code: 0, stderr: '' });
  return JSON.parse(exit.stdout) as Report;
}

test.each(SEEDS)(
  `after ${KILLS} kills of workers amid lost, doubled, disordered and late webhooks, one full run makes every order equal (seed %i)`,
  async (seed) => {
    const random = seededRandom(seed);
    const receiver = run('receiver');
    const url = await webhookUrlOf(receiver);
    await sandbox.control('PUT', '/webhook', { url });
    await sandbox.control('PUT', '/faults', { seed, webhooks: WEBHOOK_FAULTS });
    const killed = await tradeAndKill(seed, random);
    await deliverNonsense(url);
    await sandbox.advance(LAST_ADVANCE_MS);
    await sandbox.control('POST', '/settle');
    await sandbox.control('DELETE', '/faults');
    // It announces, when it starts, what the killed had taken from the queue.
    run('scheduler');
    await waitFor('everything that arrived to be applied', async () => {
      const [row] = await db.query<{ waiting: number }>('select count(*) as waiting from pending');
      return row?.waiting === 0;
    });

    const { runs } = await reconcile();

    const context = `seed ${seed}, killed: ${killed.join(', ')}`;
    expect(
      runs.map(({ state, left }) => [state, left]),
      context,
    ).toEqual(runs.map(() => ['done', 0]));
    await expectEqual(db, sandbox);
    const [sum] = await db.query<{ healed: number }>(
      'select sum(healed)::integer as healed from reconcile_runs',
    );
    expect(sum?.healed).toBeGreaterThan(0);
    const open = await db.query(`select class from findings where state = 'open'`);
    expect(open, context).toEqual([{ class: 'unreadable_event' }]);
    expect((await reconcile()).runs.map(({ found }) => found)).toEqual([0, 0, 0, 0]);
    expect(await runTallyhook(['verify', '--rebuild'], { env })).toMatchObject({ code: 0 });
  },
  TIMEOUT_MS,
);

/**
 * Reconciliation repairs missed webhooks: the sandbox has random faults and variants, events are applied by
 * workers that are killed at random, lists are compared in between, and after the faults one full run makes
 * the ledger equal to the service, to the cent.
 *
 * RECONCILE_SEEDS sets the number of seeds; RECONCILE_SEED lists the ones to run, separated by commas, and
 * RECONCILE_ORDERS is the number of orders in each of the five rounds. The title of a test has the faults of its seed.
 */
import { stdout } from 'node:process';
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import type { ResourceRef } from '../../src/ledger/domain/snapshot.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { DAY_MS } from '../../src/platform/time.ts';
import { ServiceUnusable } from '../../src/reconcile/interruptions.ts';
import type { RunReport } from '../../src/reconcile/run.ts';
import { STREAMS } from '../../src/reconcile/streams.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { healingTable, type SeedResult } from '../support/healingTable.ts';
import { receive, testApplier } from '../support/ledger.ts';
import { type Random, seededRandom } from '../support/random.ts';
import { randomFaults } from '../support/randomFaults.ts';
import { type TestReconciler, testReconciler } from '../support/reconciler.ts';
import { recordFigures } from '../support/recordFigures.ts';
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts';
import { differencesOf } from '../support/trade.ts';
import { simulateTradingPeriod, tradingPeriodStartMs } from '../support/tradingPeriod.ts';

let sandbox: TestSandbox;
let db: TestDatabase;

beforeEach(async () => {
  [sandbox, db] = await Promise.all([
    startTestSandbox({ startAtMs: tradingPeriodStartMs() }),
    createTestDatabase(),
  ]);
});
afterEach(async () => {
  await sandbox.close();
  await db.drop();
});

const repaired: SeedResult[] = [];
afterAll(() => {
  if (repaired.length > 0) stdout.write(`repaired by one full run:\n${healingTable(repaired)}\n`);
});

/** Number of bodies applied in one transaction. */
const BATCH = 8;

/** Applies events with a worker that is randomly killed during its transaction. */
async function applyWithKills(bodies: readonly Buffer[], random: Random): Promise<void> {
  for (let first = 0; first < bodies.length; first += BATCH) {
    const ids = await receive(db, bodies.slice(first, first + BATCH));
    const isKilled = random() < 0.2;
    const interrupted: TestDatabase = {
      ...db,
      transaction: (work) =>
        db.transaction(async (tx) => {
          const result = await work(tx);
          if (isKilled) throw new Error('killed');
          return result;
        }),
    };
    await testApplier(interrupted, sandbox.merchantId, systemClock)
      .applyBatch(ids)
      .catch(() => testApplier(db, sandbox.merchantId, systemClock).applyBatch(ids));
  }
}

const ROUNDS = 5;
/** Longer than the trading period, and as long as a first import. */
const SPAN_MS = 120 * DAY_MS;

const { RECONCILE_SEED: one, RECONCILE_SEEDS: many = '4', RECONCILE_ORDERS = '8' } = process.env;
const ORDERS_PER_ROUND = Number(RECONCILE_ORDERS);
const SEEDS = (
  one === undefined
    ? Array.from({ length: Number(many) }, (_, n) => 101 + n)
    : one.split(',').map(Number)
).map((seed) => {
  const random = seededRandom(seed);
  const faults = randomFaults(seed, { index: seed - 101, random, pace: 'days' });
  return [`seed ${seed}: ${faults.names}`, { seed, random, faults }] as const;
});

/** A run that cannot begin leaves nothing behind; its job would be retried, and here the next round compares. */
async function compareInBetween(reconciler: TestReconciler, random: Random): Promise<void> {
  if (random() < 0.5) return;
  for (const stream of STREAMS) {
    await reconciler.run({ stream, cause: 'tail' }).catch((error: unknown) => {
      if (!(error instanceof ServiceUnusable)) throw error;
    });
  }
}

/** Findings that must not be open after a run without differences. */
const FINDINGS_OF_DIFFERENCE = [
  'missing_local',
  'stale_local',
  'status_conflict',
  'unknown_status',
  'amount',
  'over_capture',
  'totals',
  'list_unstable',
  'missing_remote',
  'orphan',
  'service_unusable',
  'event_dead',
];

test.each(SEEDS)(
  'one full run makes the ledger equal, %s',
  async (_name, { seed, random, faults }) => {
    const reconciler = testReconciler({ db, service: sandbox });
    let applied = 0;
    const applyArrived = async (): Promise<void> => {
      const arrived = sandbox.listener.received.slice(applied);
      applied += arrived.length;
      await applyWithKills(
        arrived.map(({ body }) => body),
        random,
      );
    };
    await simulateTradingPeriod(sandbox, {
      seed,
      faults,
      random,
      rounds: ROUNDS,
      ordersPerRound: ORDERS_PER_ROUND,
      afterRound: async () => {
        await applyArrived();
        await compareInBetween(reconciler, random);
      },
    });
    await applyArrived();

    const beganMs = performance.now();
    const fromMs = Date.now() - SPAN_MS;
    const reports = await reconciler.runAll({ fromMs });
    const seconds = (performance.now() - beganMs) / 1_000;

    const differences = await differencesOf(db, sandbox);
    const { lossPercent } = faults;
    const checks = await checkWanted(reconciler);
    const requests = sum(reports, (report) => report.requests) + checks;
    repaired.push({ lossPercent, isEqual: differences.length === 0, requests, seconds });
    recordFigures({
      kind: 'repair',
      seed,
      lossPercent,
      payments: await countPayments(),
      requests,
      seconds,
      differences: differences.length,
      openFindings: (await openFindings()).length,
    });
    expect(differences).toEqual([]);
    expect(reports.map(({ state, remaining }) => [state, remaining])).toEqual(
      reports.map(() => ['done', 0]),
    );
    expect(await openFindings()).toEqual([]);
    const again = await reconciler.runAll({ fromMs });
    expect(again.map(({ found }) => found)).toEqual([0, 0, 0, 0]);
  },
);

function sum(reports: readonly RunReport[], of: (report: RunReport) => number): number {
  return reports.reduce((total, report) => total + of(report), 0);
}

/** A check may make others due, by an excess that it shows. A check that stays due is no reason to go on for ever. */
const CHECK_PASSES = 5;

/**
 * What a run makes due at once: a resource of which a retrieve lagged behind, and every part of an order with an
 * excess, of which the run may have compared some before. Where a reconcile worker runs, `refresh.ts` makes these checks.
 * @returns how many were made
 */
async function checkWanted(reconciler: TestReconciler): Promise<number> {
  let checks = 0;
  for (let pass = 0; pass < CHECK_PASSES; pass += 1) {
    const wanted = await db.query<ResourceRef>(
      `select kind, id from resources where is_check_wanted order by kind, id`,
    );
    for (const { kind, id } of wanted) await reconciler.retrieve({ kind, id }, { lane: 'refresh' });
    checks += wanted.length;
  }
  return checks;
}

/** Those of the service; after the repair the ledger has the same. */
async function countPayments(): Promise<number> {
  const [row] = await db.query<{ count: number }>(
    `select count(*) as count from resources where kind = 'payment'`,
  );
  return row?.count ?? 0;
}

async function openFindings(): Promise<readonly object[]> {
  return await db.query(
    `select class, subject from findings
      where state = 'open' and class = any ($1) order by class, subject`,
    [FINDINGS_OF_DIFFERENCE],
  );
}

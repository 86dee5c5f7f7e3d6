/**
 * Faulty lists of the sandbox: a run misses no row, while plain paging by offset misses rows of the same
 * lists. Each run draws other lists and disturbances, by the seed in the titles.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createClient, type PaymentServiceClient } from '../../src/client/index.ts';
import { HOUR_MS, MINUTE_MS } from '../../src/platform/time.ts';
import { verdictOf } from '../../src/reconcile/domain/verdict.ts';
import type { FaultsInput } from '../../src/sandbox/faults/settings.ts';
import {
  createSandboxDatabase,
  createTestDatabase,
  type TestDatabase,
} from '../support/database.ts';
import { seededRandom, testSeed } from '../support/random.ts';
import { testReconciler } from '../support/reconciler.ts';
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts';
import { type InsertedPayment, insertPayments } from '../support/sandboxPayments.ts';

type ListFaults = NonNullable<FaultsInput['lists']>;

const SEED = testSeed();

let sandbox: TestSandbox;
let service: TestDatabase;
let db: TestDatabase;
let names = 0;

beforeAll(async () => {
  service = await createSandboxDatabase();
  sandbox = await startTestSandbox({ databaseUrl: service.url });
});
afterAll(async () => {
  await sandbox.close();
  await service.drop();
});
beforeEach(async () => {
  db = await createTestDatabase();
});
afterEach(async () => {
  await sandbox.control('DELETE', '/faults');
  await service.query('delete from sandbox.resources');
  await db.drop();
});

interface History {
  readonly seed: number;
  readonly payments: number;
  /** Times are multiples of this; above 1, many are equal. */
  readonly tickMs?: number;
  /** Age of the newest payment. */
  readonly ageMs?: number;
}

/** Creates payments of the last day, without webhooks. */
async function makeHistory(history: History): Promise<readonly InsertedPayment[]> {
  const { seed, payments, tickMs = 1, ageMs = 10 * MINUTE_MS } = history;
  const random = seededRandom(seed);
  const endMs = Date.now() - ageMs;
  const made = Array.from({ length: payments }, (_, n): InsertedPayment => {
    const createdMs = Math.floor((endMs - random() * 24 * HOUR_MS) / tickMs) * tickMs;
    names += 1;
    return {
      id: `pay_${process.pid}_${seed}_${names}`,
      createdMs,
      modifiedMs: Math.min(endMs, createdMs + Math.floor(random() * HOUR_MS)),
      status: ['succeeded', 'failed', 'requires_capture', 'processing'][n % 4] ?? 'succeeded',
      currency: n % 5 === 0 ? 'EUR' : 'USD',
      amount: 100 + n,
    };
  });
  await insertPayments(service, sandbox, made);
  return made;
}

/** A client that changes and creates payments after each page of a list. */
function disturbing(
  made: readonly InsertedPayment[],
  seed: number,
  changesOld = true,
): PaymentServiceClient {
  const client = createClient(sandbox);
  const random = seededRandom(seed);
  const disturb = async (): Promise<void> => {
    const ids = Array.from({ length: 4 }, () => made[Math.floor(random() * made.length)]?.id ?? '');
    const now = new Date().toISOString();
    // The sandbox updates its replica only with its own changes, not with this one.
    const changed = changesOld ? ids : [];
    await service.query(
      `update sandbox.resources
          set modified_at = $2::timestamptz, state = state || jsonb_build_object('modified_at', $3::text)
        where kind = 'payment' and id = any ($1::text[])`,
      [changed, now, now],
    );
    names += 1;
    const nowMs = Date.now();
    const id = `pay_new_${process.pid}_${names}`;
    const born = { id, createdMs: nowMs, modifiedMs: nowMs, status: 'failed' };
    await insertPayments(service, sandbox, [{ ...born, currency: 'USD', amount: 1 }]);
  };
  return {
    ...client,
    payments: {
      ...client.payments,
      list: async (filter, options) => {
        const page = await client.payments.list(filter, options);
        await disturb();
        return page;
      },
    },
  };
}

async function missedBy(made: readonly InsertedPayment[]): Promise<readonly string[]> {
  const rows = await db.query<{ id: string }>(
    `select id from resources where kind = 'payment' and status is not null`,
  );
  const held = new Set(rows.map(({ id }) => id));
  return made.map(({ id }) => id).filter((id) => !held.has(id));
}

const FAULTS: readonly (readonly [string, ListFaults, Partial<History>])[] = [
  ['sorted by modification', { sort: 'modified' }, {}],
  ['of equal times', { unstable_ties: true }, { tickMs: 10 * MINUTE_MS }],
  ['of bursts beyond a page', { unstable_ties: true }, { tickMs: 12 * HOUR_MS }],
  ['of short pages', { short_pages: 0.4 }, {}],
  ['that ignores a bound', { ignored_filters: ['created_lte'] }, {}],
  ['that ignores both bounds', { ignored_filters: ['created_gte', 'created_lte'] }, {}],
  ['of a replica that lags', { replica_lag_ms: 8 * MINUTE_MS }, {}],
  ['without a total', { envelope: 'size' }, {}],
  ['that is a bare array', { envelope: 'array' }, {}],
  ['of everything at once', { sort: 'modified', unstable_ties: true, short_pages: 0.3 }, {}],
];

describe(`with TEST_SEED=${SEED}`, () => {
  test.each(FAULTS)('a list %s, read while it changes, loses no row', async (_, lists, history) => {
    const made = await makeHistory({ seed: SEED, payments: 300, ...history });
    await sandbox.control('PUT', '/faults', { seed: SEED, lists });
    const client = disturbing(made, SEED, lists.replica_lag_ms === undefined);
    const reconciler = testReconciler({ db, service: sandbox, use: client });

    const report = await reconciler.run();

    expect(await missedBy(made)).toEqual([]);
    expect(report).toMatchObject({ state: 'done' });
  });
});

test('plain paging by offset misses rows of the same list', async () => {
  let missed = 0;
  for (const seed of [11, 12, 13]) {
    const made = await makeHistory({ seed, payments: 450 });
    await sandbox.control('PUT', '/faults', { seed, lists: { sort: 'modified' } });
    const client = disturbing(made, seed);
    const seen = new Set<string>();
    const last = new Date(Date.now() - MINUTE_MS).toISOString();
    for (let offset = 0; ; offset += 100) {
      const page = await client.payments.list({ limit: 100, offset, created_lte: last });
      for (const { payment_id } of page.items) seen.add(payment_id);
      if (page.items.length === 0) break;
    }
    missed += made.filter(({ id }) => !seen.has(id)).length;
  }
  expect(missed).toBeGreaterThan(0);
});

test('an ignored filter opens a finding, which closes once the filter works', async () => {
  await makeHistory({ seed: 21, payments: 150 });
  await sandbox.control('PUT', '/faults', { lists: { ignored_filters: ['created_gte'] } });
  const reconciler = testReconciler({ db, service: sandbox });
  await reconciler.run({ fromMs: Date.now() - 2 * HOUR_MS });
  const open = () =>
    db.query(
      `select class, subject from findings where state = 'open' and class = 'filter_ignored'`,
    );
  expect(await open()).toEqual([{ class: 'filter_ignored', subject: 'list:payments' }]);
  await sandbox.control('DELETE', '/faults');
  await reconciler.run({ fromMs: Date.now() - 3 * HOUR_MS });
  expect(await open()).toEqual([]);
});

test('a dry run reports what it would repair and changes nothing', async () => {
  const made = await makeHistory({ seed: 22, payments: 5 });
  const report = await testReconciler({ db, service: sandbox }).run({ isDryRun: true });
  expect(report).toMatchObject({ found: 5, repaired: 0, remaining: 5 });
  expect(report.differences.every(({ outcome }) => outcome === 'would_repair')).toBe(true);
  expect((await missedBy(made)).length).toBe(5);
  expect(await db.query('select id from findings')).toEqual([]);
});

test('a dry run with many differences takes about as many requests as the run', async () => {
  const made = await makeHistory({ seed: 23, payments: 300 });
  const dry = await testReconciler({ db, service: sandbox }).run({ isDryRun: true });
  expect(dry).toMatchObject({ found: made.length, remaining: made.length });
  expect((await missedBy(made)).length).toBe(made.length);
  const { requests } = await testReconciler({ db, service: sandbox }).run();
  expect(dry.requests).toBeLessThanOrEqual(1.5 * requests);
});

describe('totals', () => {
  const span = () => ({ fromMs: Date.now() - 26 * HOUR_MS, toMs: Date.now() });

  test('that are equal list nothing, and bisection finds one missing payment', async () => {
    const made = await makeHistory({ seed: 31, payments: 800 });
    const reconciler = testReconciler({ db, service: sandbox });
    await reconciler.run(span());
    const clean = await reconciler.run({ ...span(), mode: 'totals' });
    expect(clean).toMatchObject({ remaining: 0, found: 0, rowsCompared: 0, rowsCounted: 800 });
    expect(clean.requests).toBeLessThanOrEqual(15);

    const lost = made[400];
    await insertPayments(service, sandbox, [
      { ...(lost as InsertedPayment), id: `pay_lost_${process.pid}`, status: 'succeeded' },
    ]);
    const found = await reconciler.run({ ...span(), mode: 'totals' });
    expect(found).toMatchObject({ found: 1, repaired: 1, remaining: 0 });
    expect(found.requests).toBeLessThanOrEqual(40);
    expect(found.rowsCompared).toBeLessThan(200);
  });

  test('without a row on either side are empty', async () => {
    const run = await testReconciler({ db, service: sandbox }).run({ ...span(), mode: 'totals' });
    expect(verdictOf(run)).toBe('empty');
  });

  test('that the service does not send are replaced by listing', async () => {
    const made = await makeHistory({ seed: 32, payments: 120 });
    await sandbox.control('PUT', '/faults', { lists: { envelope: 'size' } });
    await testReconciler({ db, service: sandbox }).run({ ...span(), mode: 'totals' });
    expect(await missedBy(made)).toEqual([]);
  });
});

test('a killed run resumes at its checkpoint, and not at its beginning', async () => {
  const made = await makeHistory({ seed: 41, payments: 600 });
  const undisturbed = await createTestDatabase();
  const whole = await testReconciler({ db: undisturbed, service: sandbox }).run();
  await undisturbed.drop();
  for (let killedAfter = 1; killedAfter < 6; killedAfter += 1) {
    const from = { fromMs: Date.now() - (25 * 60 + killedAfter) * MINUTE_MS };
    const killing = new AbortController();
    let steps = 0;
    const killed = testReconciler({ db, service: sandbox }).run(from, {
      signal: killing.signal,
      onProgress: () => {
        steps += 1;
        if (steps === killedAfter) killing.abort(new Error('killed'));
      },
    });
    await expect(killed).rejects.toThrow();
    const report = await testReconciler({ db, service: sandbox }).run(from);
    expect(report.windows).toBeLessThanOrEqual(whole.windows + 3);
    expect(
      await db.query(`select count(*) as runs from reconcile_runs where state = 'running'`),
    ).toEqual([{ runs: 0 }]);
  }
  expect(await missedBy(made)).toEqual([]);
});

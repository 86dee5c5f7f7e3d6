/** Wrong counts of the service, and the cost of comparing counts, with the sandbox over HTTP. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { raiseWaitingFindings } from '../../src/alerts/syncFindingAlerts.ts';
import { createClient, type Page, type PaymentServiceClient } from '../../src/client/index.ts';
import { DAY_MS } from '../../src/platform/time.ts';
import {
  createSandboxDatabase,
  createTestDatabase,
  type TestDatabase,
} from '../support/database.ts';
import { testReconciler } from '../support/reconciler.ts';
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts';
import { type InsertedPayment, insertPayments } from '../support/sandboxPayments.ts';

let sandbox: TestSandbox;
let service: TestDatabase;
let db: TestDatabase;

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

/** Creates payments at regular intervals over ten days, up to two days ago. */
async function makePayments(count: number): Promise<readonly InsertedPayment[]> {
  const endMs = Date.now() - 2 * DAY_MS;
  const made = Array.from({ length: count }, (_, n): InsertedPayment => {
    const createdMs = Math.floor(endMs - (n * 10 * DAY_MS) / count);
    const status = ['succeeded', 'failed', 'requires_capture'][n % 3] ?? '';
    const currency = n % 2 === 0 ? 'EUR' : 'USD';
    const id = `pay_counts_${process.pid}_${n}`;
    return { id, createdMs, modifiedMs: createdMs, status, currency, amount: 100 + n };
  });
  await insertPayments(service, sandbox, made);
  return made;
}

const span = () => ({ fromMs: Date.now() - 14 * DAY_MS, toMs: Date.now() - DAY_MS });

type Filter = Parameters<PaymentServiceClient['payments']['list']>[0];

/** A client of the sandbox that changes the totals in pages of payments. */
function counting(
  totalOf: (page: Page<object>, filter: Filter) => number | undefined,
): PaymentServiceClient {
  const client = createClient(sandbox);
  return {
    ...client,
    payments: {
      ...client.payments,
      list: async (filter, options) => {
        const page = await client.payments.list(filter, options);
        return { ...page, totalCount: totalOf(page, filter) };
      },
    },
  };
}

const held = async () =>
  (await db.query(`select id from resources where status is not null`)).length;
const openFindings = () =>
  db.query<{ class: string }>(`select class from findings where state = 'open' order by class`);

describe('a total that is larger than its list', () => {
  test.each([
    ['by two', (total: number) => total + 2],
    ['a hundred times', (total: number) => total * 100],
    ['at any filter', () => 1_000_000],
  ])('%s becomes a finding and takes few additional requests', async (_, larger) => {
    await makePayments(300);
    const plain = await testReconciler({ db, service: sandbox }).run({ ...span(), isDryRun: true });
    const use = counting(({ totalCount }) => larger(totalCount ?? 0));
    const report = await testReconciler({ db, service: sandbox, use }).run(span());
    // The sums prove nothing beside a list that is not proven either.
    expect(report).toMatchObject({ state: 'done', remaining: 0, sums: null });
    expect(await held()).toBe(300);
    expect(report.requests).toBeLessThanOrEqual(4 * plain.requests);
    expect(await openFindings()).toEqual([{ class: 'list_unstable' }]);
  });
});

test('a list that was unstable before a run was killed stays a finding until a whole run shows none', async () => {
  await makePayments(300);
  const killing = new AbortController();
  const use = counting(({ totalCount }) => (totalCount ?? 0) + 2);
  // The first windows are small: the others reach back almost as far.
  await db.query('update reconcile_streams set page_limit = 20');
  const wanted = { ...span(), fromMs: Date.now() - 12 * DAY_MS };
  const killed = testReconciler({ db, service: sandbox, use }).run(wanted, {
    signal: killing.signal,
    onProgress: () => killing.abort(new Error('killed')),
  });
  await expect(killed).rejects.toThrow();
  const reconciler = testReconciler({ db, service: sandbox });
  const resumed = await reconciler.run(wanted);
  expect(resumed).toMatchObject({ state: 'done', repaired: 300 });
  expect(await openFindings()).toEqual([{ class: 'list_unstable' }]);
  const repeated = await reconciler.run(wanted);
  expect(repeated.id).not.toBe(resumed.id);
  expect(await openFindings()).toEqual([]);
});

describe('a list that omits payments of three days ago', () => {
  const unstableOpen = async () =>
    (await openFindings()).some(({ class: name }) => name === 'list_unstable');

  /** The nightly run has found it, after an import. */
  async function findAtNight() {
    const createdMs = Math.floor(Date.now() - 3 * DAY_MS);
    const omitted = Array.from({ length: 30 }, (_, n): InsertedPayment => {
      const id = `pay_omitted_${process.pid}_${n}`;
      const times = { createdMs: createdMs + n * 1_000, modifiedMs: createdMs + n * 1_000 };
      return { id, ...times, status: 'succeeded', currency: 'EUR', amount: 100 };
    });
    await insertPayments(service, sandbox, omitted);
    const reconciler = testReconciler({ db, service: sandbox });
    await reconciler.run({ fromMs: Date.now() - 121 * DAY_MS });
    await service.query('delete from sandbox.resources');
    const night = { cause: 'night', fromMs: Date.now() - 8 * DAY_MS };
    expect(await reconciler.run(night)).toMatchObject({ state: 'done', remaining: 1 });
    expect(await unstableOpen()).toBe(true);
    return { reconciler, restore: () => insertPayments(service, sandbox, omitted) };
  }

  test('raises its alert after twenty minutes, although the tails in between are equal', async () => {
    const { reconciler } = await findAtNight();
    const opened = await db.query('select id, opened_at from findings');
    expect(await reconciler.run({ cause: 'tail' })).toMatchObject({ state: 'done', remaining: 0 });
    expect(await db.query(`select id, opened_at from findings where state = 'open'`)).toEqual(
      opened,
    );
    const alerts = () => db.query(`select rule from alerts where resolved_at is null`);
    await raiseWaitingFindings(db, { hasApiKey: true });
    expect(await alerts()).toEqual([]);
    await db.query(`update findings set opened_at = opened_at - interval '21 minutes'`);
    await raiseWaitingFindings(db, { hasApiKey: true });
    expect(await alerts()).toEqual([{ rule: 'list_unstable' }]);
  });

  test('is found until a run that lists those days shows it complete', async () => {
    const { reconciler, restore } = await findAtNight();
    await restore();
    const days = { fromMs: Date.now() - 8 * DAY_MS };
    const counted = await reconciler.run({ ...days, mode: 'totals' });
    expect(counted, 'lists nothing').toMatchObject({ state: 'done', rowsCompared: 0, found: 0 });
    expect(await unstableOpen()).toBe(true);
    const older = { fromMs: Date.now() - 20 * DAY_MS, toMs: Date.now() - 4 * DAY_MS };
    await reconciler.run(older);
    expect(await unstableOpen()).toBe(true);
    expect(await reconciler.run(days)).toMatchObject({ state: 'done', rowsCompared: 30 });
    expect(await unstableOpen()).toBe(false);
  });
});

test('a list that was unstable in two runs is a finding until a run lists both parts', async () => {
  await makePayments(300);
  const unstable = testReconciler({
    db,
    service: sandbox,
    use: counting(({ totalCount }) => (totalCount ?? 0) + 2),
  });
  const reconciler = testReconciler({ db, service: sandbox });
  const [oldest, middle] = [Date.now() - 14 * DAY_MS, Date.now() - 6 * DAY_MS];
  const [older, newer] = [
    { fromMs: oldest, toMs: middle },
    { fromMs: middle, toMs: Date.now() - DAY_MS },
  ];
  for (const parts of [
    [older, newer],
    [newer, older],
  ]) {
    for (const part of parts) await unstable.run(part);
    for (const part of parts) await reconciler.run(part);
    expect(await openFindings()).toEqual([{ class: 'list_unstable' }]);
    await reconciler.run(span());
    expect(await openFindings()).toEqual([]);
  }
});

test('a list that was unstable in one tail is no longer a finding after the next', async () => {
  const reconciler = testReconciler({ db, service: sandbox });
  await reconciler.run({ fromMs: Date.now() - 121 * DAY_MS });
  const use = counting(({ totalCount }) => (totalCount ?? 0) + 2);
  // Tails begin at the watermark, so that this one has five minutes that the next does not list.
  await db.query(`update reconcile_streams set watermark_at = watermark_at - interval '5 minutes'`);
  await testReconciler({ db, service: sandbox, use }).run({ cause: 'tail' });
  expect(await openFindings()).toEqual([{ class: 'list_unstable' }]);
  await reconciler.run({ cause: 'tail' });
  expect(await openFindings()).toEqual([]);
});

describe('totals', () => {
  test('of a currency that ISO 4217 no longer lists are compared like those of others', async () => {
    const createdMs = Math.floor(Date.now() - 3 * DAY_MS);
    const paid = (currency: string): InsertedPayment => {
      const id = `pay_former_${process.pid}_${currency}`;
      return { id, createdMs, modifiedMs: createdMs, status: 'succeeded', currency, amount: 100 };
    };
    await insertPayments(service, sandbox, [paid('BGN'), paid('EUR')]);
    const reconciler = testReconciler({ db, service: sandbox });
    expect(await reconciler.run(span())).toMatchObject({ state: 'done', repaired: 2 });
    await insertPayments(service, sandbox, [{ ...paid('BGN'), id: 'pay_former_lost' }]);
    const counted = await reconciler.run({ ...span(), mode: 'totals' });
    expect(counted).toMatchObject({ state: 'done', found: 1, repaired: 1 });
    expect(await held()).toBe(3);
    expect(await openFindings()).toEqual([]);
  });

  test('that are missing for a status are unknown and not 0, so the list is read without a difference', async () => {
    await makePayments(150);
    await testReconciler({ db, service: sandbox }).run(span());
    const use = counting(({ totalCount }, filter) =>
      filter?.status === 'failed' ? undefined : totalCount,
    );
    const report = await testReconciler({ db, service: sandbox, use }).run({
      ...span(),
      mode: 'totals',
    });
    expect(report).toMatchObject({ state: 'done', found: 0, remaining: 0 });
    expect(report.rowsCompared).toBeGreaterThanOrEqual(150);
    expect(await openFindings()).toEqual([]);
  });

  test.each(['status', 'currency', 'created_lte'])(
    'are not used where the service ignores %s',
    async (filter) => {
      await makePayments(150);
      const days = { fromMs: Date.now() - 121 * DAY_MS };
      const reconciler = testReconciler({ db, service: sandbox });
      const full = await reconciler.run(days);
      await sandbox.control('PUT', '/faults', { lists: { ignored_filters: [filter] } });
      // Created meanwhile, so that a count without the upper bound has one more.
      const nowMs = Date.now();
      const young = { createdMs: nowMs, modifiedMs: nowMs, currency: 'EUR', amount: 100 };
      await insertPayments(service, sandbox, [
        { ...young, id: `pay_counts_${process.pid}_young`, status: 'succeeded' },
      ]);
      const report = await reconciler.run({ ...days, mode: 'totals' });
      expect(report).toMatchObject({ state: 'done', found: 0, remaining: 0 });
      expect(report.requests).toBeLessThanOrEqual(2 * full.requests + 20);
      const findings = (await openFindings()).map((finding) => finding.class);
      expect(findings).toEqual(filter === 'created_lte' ? ['filter_ignored'] : []);
    },
  );

  test('that differed are closed only by a run over the 120 days that the weekly one compares', async () => {
    await makePayments(30);
    const reconciler = testReconciler({ db, service: sandbox });
    const days = { fromMs: Date.now() - 121 * DAY_MS };
    await reconciler.run(days);
    const use = counting(({ totalCount }) => (totalCount ?? 0) + 2);
    const wrong = await testReconciler({ db, service: sandbox, use }).run({
      ...days,
      mode: 'totals',
    });
    expect(wrong.remaining).toBeGreaterThan(0);
    const totalsOpen = async () =>
      (await openFindings()).some(({ class: name }) => name === 'totals');
    expect(await totalsOpen()).toBe(true);
    const newest = await reconciler.run({ mode: 'totals' });
    expect(newest, 'since the last run').toMatchObject({ state: 'done', remaining: 0 });
    expect(await totalsOpen()).toBe(true);
    const older = { ...days, toMs: Date.now() - 2 * DAY_MS };
    await reconciler.run({ ...older, mode: 'totals' });
    expect(await totalsOpen()).toBe(true);
    await reconciler.run({ ...days, mode: 'totals' });
    expect(await totalsOpen()).toBe(false);
  });

  test('with scattered differences take about as many requests as a full listing', async () => {
    const made = await makePayments(1_200);
    const isLost = (n: number): boolean => n % 30 === 7;
    const [kept, lost] = [made.filter((_, n) => !isLost(n)), made.filter((_, n) => isLost(n))];
    const requests: Record<string, number> = {};
    let cells = 0;
    for (const mode of ['full', 'totals'] as const) {
      const ledger = await createTestDatabase();
      await service.query('delete from sandbox.resources');
      await insertPayments(service, sandbox, kept);
      const reconciler = testReconciler({ db: ledger, service: sandbox });
      await reconciler.run(span());
      if (mode === 'totals') cells = (await reconciler.run({ ...span(), mode })).requests;
      await insertPayments(service, sandbox, lost);
      const report = await reconciler.run({ ...span(), mode });
      expect(report).toMatchObject({ found: lost.length, repaired: lost.length, remaining: 0 });
      requests[mode] = report.requests - lost.length;
      await ledger.drop();
    }
    const { full = 0, totals = 0 } = requests;
    // Unequal cells are counted again after the repair.
    expect(totals - 1.5 * cells).toBeLessThanOrEqual(1.4 * full);
  });
});

test('the finding about an ignored filter stays open until both bounds of the filter work', async () => {
  await makePayments(150);
  const reconciler = testReconciler({ db, service: sandbox });
  const filterFindings = async () =>
    (await openFindings()).filter((finding) => finding.class === 'filter_ignored').length;
  for (const bound of ['created_gte', 'created_lte']) {
    await sandbox.control('PUT', '/faults', { lists: { ignored_filters: [bound] } });
    await reconciler.run({ fromMs: Date.now() - 8 * DAY_MS, toMs: Date.now() - 5 * DAY_MS });
    expect(await filterFindings()).toBe(1);
    // No row lies outside of this span, so it cannot show whether the filter works.
    await reconciler.run({ fromMs: Date.now() - 20 * DAY_MS });
    expect(await filterFindings()).toBe(1);
    await reconciler.run({ ...span(), mode: 'totals' });
    expect(await filterFindings()).toBe(1);
    await sandbox.control('DELETE', '/faults');
    await reconciler.run({ fromMs: Date.now() - 20 * DAY_MS });
    expect(await filterFindings()).toBe(0);
  }
});

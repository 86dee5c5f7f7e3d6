/** The rate budget: shared by all processes, with the operator's limits on background work. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createClient, type Lane } from '../../src/client/index.ts';
import { systemClock } from '../../src/platform/clock.ts';
import type { RateSettings } from '../../src/reconcile/domain/backgroundRate.ts';
import { createRequester } from '../../src/reconcile/requester.ts';
import { createRetrieve } from '../../src/reconcile/retrieve.ts';
import { createSharedBudget } from '../../src/reconcile/sharedBudget.ts';
import { readBudget } from '../../src/reconcile/store/budget.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { refuseRows } from '../support/refusedRows.ts';

let db: TestDatabase;
beforeEach(async () => {
  db = await createTestDatabase();
});
afterEach(() => db.drop());

const DEFAULTS: RateSettings = { reservePercent: 30, backgroundPerMinute: undefined };

/** The rate budgets of two processes, used alternately. */
function twoProcesses(settings: RateSettings) {
  const budgets = [
    createSharedBudget(db, systemClock, settings),
    createSharedBudget(db, systemClock, settings),
  ] as const;
  const acquireMany = async (lane: Lane, times: number): Promise<number> => {
    const admissions = await Promise.all(
      Array.from({ length: times }, (_, n) => budgets[n % 2 === 0 ? 0 : 1].acquire(lane)),
    );
    return admissions.filter(({ admitted }) => admitted).length;
  };
  return { budgets, acquireMany };
}

test('the rate budget is one for all processes, and background work leaves 30 % of it', async () => {
  const { budgets, acquireMany } = twoProcesses(DEFAULTS);
  const [one, other] = budgets;
  const resetAtMs = Date.now() + 30_000;
  await one.update({ limit: 20, remaining: 20, resetAtMs, exceeded: false });
  expect(await acquireMany('refresh', 30)).toBe(15);
  expect(await other.acquire('discovery')).toMatchObject({ admitted: false });
  expect(await other.acquire('webhook')).toEqual({ admitted: true });
  await other.update({ limit: 20, remaining: undefined, resetAtMs, exceeded: true });
  expect(await one.acquire('webhook')).toMatchObject({ admitted: false });
});

test('background work stops below the operator’s reserve, and requests for webhooks continue', async () => {
  const { budgets, acquireMany } = twoProcesses({ ...DEFAULTS, reservePercent: 60 });
  const resetAtMs = Date.now() + 30_000;
  await budgets[0].update({ limit: 100, remaining: 100, resetAtMs, exceeded: false });
  expect(await acquireMany('discovery', 60)).toBe(31);
  expect(await acquireMany('refresh', 60)).toBe(10);
  expect(await acquireMany('refresh', 2)).toBe(0);
  expect(await acquireMany('operator', 5)).toBe(5);
  expect(await acquireMany('webhook', 5)).toBe(5);
});

test('background work stops at the operator’s limit, even if the service sends no limit', async () => {
  const { budgets, acquireMany } = twoProcesses({ ...DEFAULTS, backgroundPerMinute: 12 });
  expect(await acquireMany('discovery', 8)).toBe(8);
  expect(await acquireMany('refresh', 20)).toBe(4);
  const refused = await budgets[1].acquire('discovery');
  expect(refused).toMatchObject({ admitted: false });
  expect(!refused.admitted && refused.waitMs).toBeGreaterThan(0);
  expect(await acquireMany('webhook', 20)).toBe(20);
  expect(await acquireMany('operator', 20)).toBe(20);
  // A minute later.
  await db.query(`update rate_budget set background_from = background_from - interval '1 minute'`);
  expect(await acquireMany('refresh', 20)).toBe(12);
});

test('a request rejected by the service’s limit does not count against the operator’s', async () => {
  const { budgets, acquireMany } = twoProcesses({ ...DEFAULTS, backgroundPerMinute: 12 });
  const [one] = budgets;
  const resetAtMs = Date.now() + 30_000;
  await one.update({ limit: 20, remaining: 0, resetAtMs, exceeded: false });
  expect(await acquireMany('refresh', 20)).toBe(0);
  // The window of the service's limit has ended; the minute of the operator's limit has not.
  await db.query(`update rate_budget set remaining = 1000, requests_limit = 1000`);
  expect(await acquireMany('refresh', 20)).toBe(12);
});

test('a clock of the database that is set back delays nothing until the old time is reached', async () => {
  const { budgets, acquireMany } = twoProcesses({ ...DEFAULTS, backgroundPerMinute: 12 });
  const resetAtMs = Date.now() + 30_000;
  await budgets[0].update({ limit: 20, remaining: 20, resetAtMs, exceeded: false });
  expect(await acquireMany('webhook', 20)).toBe(20);
  expect(await acquireMany('webhook', 1)).toBe(0);
  // Stored before the clock was set back by an hour.
  await db.query(
    `update rate_budget set reset_at = reset_at + interval '1 hour', background_taken = 12,
                            background_from = now() + interval '1 hour'`,
  );
  expect(await readBudget(db)).toEqual({ limit: 20, remaining: 20, backgroundRequests: 0 });
  expect(await acquireMany('webhook', 30)).toBe(20);
});

// Otherwise a failover of the database would open a finding that the service cannot be used.
test('a budget that the database does not lend is a failure of the database, not of the service', async () => {
  const budget = createSharedBudget(db, systemClock, DEFAULTS);
  const resetAtMs = Date.now() + 30_000;
  await budget.update({ limit: 20, remaining: 20, resetAtMs, exceeded: false });
  const client = createClient({ baseUrl: 'http://127.0.0.1:9', apiKey: 'snd_1', budget });
  const account = { merchantId: 'm_1', profileId: undefined };
  const requester = createRequester({
    retrieve: createRetrieve({ db, client, clock: systemClock, account }),
    lane: 'discovery',
    isDryRun: false,
    history: undefined,
    signal: new AbortController().signal,
    sleep: () => Promise.resolve(),
    requestsBefore: 0,
    throwIfLost: () => Promise.resolve(),
  });
  await refuseRows(db, 'rate_budget', 'true');
  const contended = expect.objectContaining({ code: '40001' });
  await expect(requester.retrieve({ kind: 'payment', id: 'pay_1' })).rejects.toEqual(contended);
  const list = requester.request((options) => client.payments.list({}, options));
  await expect(list).rejects.toEqual(contended);
});

// A person who starts a run would otherwise see nothing for as long as the limit is used up.
test('a run reports each time that it waits for the rate limit', async () => {
  const budget = createSharedBudget(db, systemClock, DEFAULTS);
  const resetAtMs = Date.now() + 55_000;
  await budget.update({ limit: 20, remaining: 0, resetAtMs, exceeded: false });
  const retry = { totalTimeoutMs: 20_000, maxAttempts: 1 };
  const client = createClient({ baseUrl: 'http://127.0.0.1:9', apiKey: 'snd_1', budget, retry });
  const account = { merchantId: 'm_1', profileId: undefined };
  const reported: string[] = [];
  const requester = createRequester({
    retrieve: createRetrieve({ db, client, clock: systemClock, account }),
    lane: 'discovery',
    isDryRun: false,
    history: undefined,
    signal: new AbortController().signal,
    sleep: async () => {
      reported.push('sleeps');
      if (reported.length === 4) await db.query(`update rate_budget set remaining = 20`);
    },
    requestsBefore: 0,
    throwIfLost: () => Promise.resolve(),
    onRateLimited: () => void reported.push('waits'),
  });
  const list = requester.request((options) => client.payments.list({}, options));
  await expect(list).rejects.toThrow();
  expect(reported).toEqual(['waits', 'sleeps', 'waits', 'sleeps']);
});

/** The rate budget: shared by all processes, with the operator's limits on background work. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Lane } from '../../src/client/index.ts';
import { systemClock } from '../../src/platform/clock.ts';
import type { RateSettings } from '../../src/reconcile/domain/backgroundRate.ts';
import { createSharedBudget } from '../../src/reconcile/sharedBudget.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

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

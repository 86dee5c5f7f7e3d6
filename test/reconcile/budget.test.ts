/** The rate budget: one for all processes, with what operators set on background work. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Lane } from '../../src/client/index.ts';
import { systemClock } from '../../src/platform/clock.ts';
import type { RateSettings } from '../../src/reconcile/domain/ceiling.ts';
import { createSharedBudget } from '../../src/reconcile/sharedBudget.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let db: TestDatabase;
beforeEach(async () => {
  db = await createTestDatabase();
});
afterEach(() => db.drop());

const DEFAULTS: RateSettings = { reservePercent: 30, backgroundPerMinute: undefined };

/** Two processes' ends of the budget; they take turns. @returns how many requests were admitted */
function twoProcesses(settings: RateSettings) {
  const budgets = [
    createSharedBudget(db, systemClock, settings),
    createSharedBudget(db, systemClock, settings),
  ] as const;
  const takeMany = async (lane: Lane, times: number): Promise<number> => {
    const takes = await Promise.all(
      Array.from({ length: times }, (_, n) => budgets[n % 2 === 0 ? 0 : 1].acquire(lane)),
    );
    return takes.filter(({ admitted }) => admitted).length;
  };
  return { budgets, takeMany };
}

test('the rate budget is one for all processes, and background work leaves 30 % of it', async () => {
  const { budgets, takeMany } = twoProcesses(DEFAULTS);
  const [one, other] = budgets;
  const resetAtMs = Date.now() + 30_000;
  await one.update({ limit: 20, remaining: 20, resetAtMs, exceeded: false });
  expect(await takeMany('refresh', 30)).toBe(15);
  expect(await other.acquire('discovery')).toMatchObject({ admitted: false });
  expect(await other.acquire('webhook')).toEqual({ admitted: true });
  await other.update({ limit: 20, remaining: undefined, resetAtMs, exceeded: true });
  expect(await one.acquire('webhook')).toMatchObject({ admitted: false });
});

test('operators set the reserve: background work stops below it, and what a webhook caused goes on', async () => {
  const { budgets, takeMany } = twoProcesses({ ...DEFAULTS, reservePercent: 60 });
  const resetAtMs = Date.now() + 30_000;
  await budgets[0].update({ limit: 100, remaining: 100, resetAtMs, exceeded: false });
  expect(await takeMany('discovery', 60)).toBe(31);
  expect(await takeMany('refresh', 60)).toBe(10);
  expect(await takeMany('refresh', 2)).toBe(0);
  expect(await takeMany('operator', 5)).toBe(5);
  expect(await takeMany('webhook', 5)).toBe(5);
});

test('operators set a ceiling on background work, also where the service tells no limit', async () => {
  const { budgets, takeMany } = twoProcesses({ ...DEFAULTS, backgroundPerMinute: 12 });
  expect(await takeMany('discovery', 8)).toBe(8);
  expect(await takeMany('refresh', 20)).toBe(4);
  const refused = await budgets[1].acquire('discovery');
  expect(refused).toMatchObject({ admitted: false });
  expect(!refused.admitted && refused.waitMs).toBeGreaterThan(0);
  expect(await takeMany('webhook', 20)).toBe(20);
  expect(await takeMany('operator', 20)).toBe(20);
  // The minute passes.
  await db.query(`update rate_budget set background_from = background_from - interval '1 minute'`);
  expect(await takeMany('refresh', 20)).toBe(12);
});

test('a request that the service’s limit refused does not count against the ceiling', async () => {
  const { budgets, takeMany } = twoProcesses({ ...DEFAULTS, backgroundPerMinute: 12 });
  const [one] = budgets;
  const resetAtMs = Date.now() + 30_000;
  await one.update({ limit: 20, remaining: 0, resetAtMs, exceeded: false });
  expect(await takeMany('refresh', 20)).toBe(0);
  // The window of the service's limit is over; the minute of the ceiling is not.
  await db.query(`update rate_budget set remaining = 1000, requests_limit = 1000`);
  expect(await takeMany('refresh', 20)).toBe(12);
});

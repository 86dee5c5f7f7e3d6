import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createGate, type Gate } from '../../../src/platform/db/gate.ts';
import { createLog } from '../../../src/platform/log.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const log = createLog('silent');

/** A gate whose first check failed, with the second one under way and in the test's hands. */
async function gateInSecondCheck(): Promise<{
  readonly gate: Gate;
  readonly checks: () => number;
  succeed(): Promise<unknown>;
  fail(): Promise<unknown>;
}> {
  let checks = 0;
  let settle: { readonly resolve: () => void; readonly reject: (error: Error) => void };
  const second = new Promise<void>((resolve, reject) => {
    settle = { resolve, reject };
  });
  const check = (): Promise<void> => {
    checks += 1;
    return checks === 2 ? second : Promise.reject(new Error('the database is away'));
  };
  const gate = await createGate(check, () => true, log);
  await vi.advanceTimersToNextTimerAsync();
  expect(checks).toBe(2);
  return {
    gate,
    checks: () => checks,
    succeed: () => {
      settle.resolve();
      return vi.advanceTimersByTimeAsync(0);
    },
    fail: () => {
      settle.reject(new Error('the pool is closed'));
      return vi.advanceTimersByTimeAsync(0);
    },
  };
}

test('a gate that is closed while it checks does not check again, so that its process can end', async () => {
  const warned = vi.spyOn(log, 'warn');
  const { gate, checks, fail } = await gateInSecondCheck();
  warned.mockClear();
  gate.close();
  await fail();
  expect(vi.getTimerCount()).toBe(0);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(checks()).toBe(2);
  expect(warned).not.toHaveBeenCalled();
});

test('a gate that is closed while it checks lets nothing in any more', async () => {
  const { gate, succeed } = await gateInSecondCheck();
  const work = vi.fn();
  gate.whenOpen(work);
  gate.close();
  await succeed();
  expect(gate.isOpen()).toBe(false);
  expect(work).not.toHaveBeenCalled();
});

test('a gate that is closed between two checks leaves no timer', async () => {
  const { gate, checks, fail } = await gateInSecondCheck();
  await fail();
  expect(vi.getTimerCount()).toBe(1);
  gate.close();
  expect(vi.getTimerCount()).toBe(0);
  expect(checks()).toBe(2);
});

test('work that waits is done once, when a check passes', async () => {
  const { gate, succeed } = await gateInSecondCheck();
  const work = vi.fn();
  gate.whenOpen(work);
  expect(work).not.toHaveBeenCalled();
  await succeed();
  expect(gate.isOpen()).toBe(true);
  expect(work).toHaveBeenCalledTimes(1);
  expect(vi.getTimerCount()).toBe(0);
});

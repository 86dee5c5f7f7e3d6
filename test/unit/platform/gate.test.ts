import { setImmediate } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { createGate, type Gate } from '../../../src/platform/db/gate.ts';
import { createLog } from '../../../src/platform/log.ts';

const log = createLog('silent');

/** Waits that end when the test ends them, or with their signal. */
function createWaits() {
  const ends = new Set<() => void>();
  return {
    count: () => ends.size,
    endAll: async (): Promise<void> => {
      for (const end of ends) end();
      await setImmediate();
    },
    wait: (signal: AbortSignal): Promise<void> =>
      new Promise((resolve) => {
        const end = (): void => {
          ends.delete(end);
          resolve();
        };
        if (signal.aborted) return end();
        ends.add(end);
        signal.addEventListener('abort', end);
      }),
  };
}

/** A gate that failed its first check. The test settles the second one, which is in progress. */
async function gateInSecondCheck(): Promise<{
  readonly gate: Gate;
  readonly checks: () => number;
  readonly waits: () => number;
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
    return checks === 2 ? second : Promise.reject(new Error('the database is unavailable'));
  };
  const { count, endAll, wait } = createWaits();
  const gate = await createGate(check, () => true, log, wait);
  await endAll();
  expect(checks).toBe(2);
  return {
    gate,
    checks: () => checks,
    waits: count,
    succeed: () => {
      settle.resolve();
      return setImmediate();
    },
    fail: () => {
      settle.reject(new Error('the pool is closed'));
      return setImmediate();
    },
  };
}

test('a gate that is closed while it checks does not check again, so that its process can end', async () => {
  const warned = vi.spyOn(log, 'warn');
  const { gate, checks, waits, fail } = await gateInSecondCheck();
  warned.mockClear();
  gate.close();
  await fail();
  expect(waits()).toBe(0);
  expect(checks()).toBe(2);
  expect(warned).not.toHaveBeenCalled();
});

test('a gate that is closed while it checks starts no work', async () => {
  const { gate, succeed } = await gateInSecondCheck();
  const work = vi.fn();
  gate.whenOpen(work);
  gate.close();
  await succeed();
  expect(gate.isOpen()).toBe(false);
  expect(work).not.toHaveBeenCalled();
});

test('a gate that is closed between two checks stops waiting', async () => {
  const { gate, checks, waits, fail } = await gateInSecondCheck();
  await fail();
  expect(waits()).toBe(1);
  gate.close();
  expect(waits()).toBe(0);
  expect(checks()).toBe(2);
});

test('waiting work runs once, when a check passes', async () => {
  const { gate, waits, succeed } = await gateInSecondCheck();
  const work = vi.fn();
  gate.whenOpen(work);
  expect(work).not.toHaveBeenCalled();
  await succeed();
  expect(gate.isOpen()).toBe(true);
  expect(work).toHaveBeenCalledTimes(1);
  expect(waits()).toBe(0);
});

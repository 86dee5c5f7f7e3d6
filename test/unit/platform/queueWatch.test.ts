/** The rules of src/platform/queue/watch.ts. */
import { afterEach, expect, test } from 'vitest';
import { createLog } from '../../../src/platform/log.ts';
import type { QueueProblem } from '../../../src/platform/queue/problem.ts';
import { type QueueWatch, watchQueue } from '../../../src/platform/queue/watch.ts';

const PROBLEM = { reason: 'Redis is unreachable', remedy: 'Start it.' };

let watch: QueueWatch | undefined;
afterEach(() => watch?.close());

/** @param results of the checks in their order; a check beyond them never ends */
function watching(...results: readonly (QueueProblem | undefined)[]): QueueWatch {
  let checks = 0;
  const check = (): Promise<QueueProblem | undefined> => {
    const index = checks++;
    return index < results.length ? Promise.resolve(results[index]) : new Promise(() => undefined);
  };
  const queues = { check };
  const opened = watchQueue({
    queues,
    log: createLog('silent'),
    report: () => Promise.resolve(),
    checkEveryMs: 60_000,
  });
  watch = opened;
  return opened;
}

test('a request that cannot wait for a check that hangs gets the result of the last one', async () => {
  const { check, checkWithin } = watching(PROBLEM);
  expect(await check()).toBe(PROBLEM);
  expect(await checkWithin(1)).toBe(PROBLEM);
});

test('the first check is waited for, because there is no other result', async () => {
  const { checkWithin } = watching(PROBLEM);
  expect(await checkWithin(0)).toBe(PROBLEM);
});

test('a request waits for a check that ends in time', async () => {
  const { check, checkWithin } = watching(PROBLEM, undefined);
  expect(await check()).toBe(PROBLEM);
  expect(await checkWithin(60_000)).toBeUndefined();
});

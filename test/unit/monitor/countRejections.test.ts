import { expect, test } from 'vitest';
import { createRejectionCount, type WriteCounts } from '../../../src/monitor/countRejections.ts';
import { createLog } from '../../../src/platform/log.ts';

/** A counter with waits that the test ends, and its writes. */
function counting(write: WriteCounts = () => Promise.resolve()) {
  const written: Record<string, number>[] = [];
  let waiting: (() => void)[] = [];
  const count = createRejectionCount(
    async (counts) => {
      written.push(Object.fromEntries(counts.map((one) => [one.name, one.count])));
      await write(counts);
    },
    createLog('silent'),
    (signal) =>
      new Promise((resolve) => {
        if (signal.aborted) resolve();
        signal.addEventListener('abort', () => resolve());
        waiting.push(resolve);
      }),
  );
  const tick = async (): Promise<void> => {
    const ended = waiting;
    waiting = [];
    for (const end of ended) end();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { count, written, tick, waits: () => waiting.length };
}

test('many bad signatures cost one write per interval, and none cost no write', async () => {
  const { count, written, tick, waits } = counting();
  expect(waits()).toBe(0);
  for (let sent = 0; sent < 10_000; sent += 1) count.count('mismatch');
  for (let sent = 0; sent < 20; sent += 1) count.count(sent % 2 === 0 ? 'missing' : 'malformed');
  expect(written).toEqual([]);
  await tick();
  expect(written).toEqual([{ signature_mismatched: 10_000, signature_unsigned: 20 }]);
  expect(waits()).toBe(0);
  count.count('missing');
  await tick();
  expect(written).toHaveLength(2);
});

test('counts that could not be written are written with the next ones', async () => {
  let isUnavailable = true;
  const { count, written, tick } = counting(() =>
    isUnavailable ? Promise.reject(new Error('the database is unavailable')) : Promise.resolve(),
  );
  count.count('mismatch');
  await tick();
  isUnavailable = false;
  count.count('mismatch');
  await tick();
  expect(written.at(-1)).toEqual({ signature_mismatched: 2 });
});

test('a shutdown writes the counts once, whether the write succeeds or not', async () => {
  const { count, written } = counting(() =>
    Promise.reject(new Error('the database is unavailable')),
  );
  count.count('mismatch');
  await count.drain();
  expect(written).toEqual([{ signature_mismatched: 1 }]);
});

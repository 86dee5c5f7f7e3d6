/** How long a worker stays with events that arrive after the batch of its job, in virtual time. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { applyArrivals } from '../../../src/ledger/inbox/applyArrivals.ts';
import { createLog } from '../../../src/platform/log.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

interface Worked {
  readonly endMs: number;
  readonly checks: number;
  /** How long each event waited, of those that were applied. */
  readonly waitedMs: readonly number[];
}

/** @param arrivals when events arrive, in milliseconds */
async function work(
  arrivals: readonly number[],
  { transactionMs = 1, isOnlyJob = true } = {},
): Promise<Worked> {
  const startMs = performance.now();
  const elapsedMs = () => performance.now() - startMs;
  const waitedMs: number[] = [];
  let checks = 0;
  const applyFrom = (_fromId: number, limit: number): Promise<number> => {
    checks += 1;
    const arrived = arrivals.filter((atMs) => atMs <= elapsedMs());
    const claimed = arrived.slice(waitedMs.length, waitedMs.length + limit);
    if (claimed.length > 0) vi.advanceTimersByTime(transactionMs);
    waitedMs.push(...claimed.map((atMs) => elapsedMs() - atMs));
    return Promise.resolve(claimed.length);
  };
  const parts = {
    applier: { applyFrom },
    log: createLog('silent'),
    closing: new AbortController().signal,
  };
  await applyArrivals(parts, { fromId: 1, isOnlyJob }, (delayMs) => {
    vi.advanceTimersByTime(delayMs);
    return Promise.resolve();
  });
  return { endMs: elapsedMs(), checks, waitedMs };
}

const every = (stepMs: number, untilMs: number) =>
  Array.from({ length: untilMs / stepMs }, (_, place) => (place + 1) * stepMs);

describe('a worker', () => {
  it('checks at once for what arrived during the batch', async () => {
    const { waitedMs } = await work([0]);
    expect(waitedMs).toEqual([1]);
  });

  it('stays while less than a tenth of a second passes between events', async () => {
    const { endMs, waitedMs } = await work([30, 110, 200, 320]);
    expect(waitedMs).toHaveLength(3);
    expect(Math.max(...waitedMs)).toBeLessThanOrEqual(9);
    expect(endMs).toBeGreaterThanOrEqual(300);
    expect(endMs).toBeLessThan(320);
  });

  it('checks a few times and ends where nothing arrives', async () => {
    const { endMs, checks } = await work([]);
    expect(checks).toBeLessThanOrEqual(15);
    expect(endMs).toBeLessThan(110);
  });

  it('ends as soon as it finds nothing beside other jobs', async () => {
    const { checks, waitedMs } = await work([0, 1, 30], { isOnlyJob: false });
    expect([waitedMs.length, checks]).toEqual([2, 3]);
  });

  it.each([[2], [20], [90]])(
    'gives the next job its turn after a second, with an event every %i ms',
    async (stepMs) => {
      const { endMs, waitedMs } = await work(every(stepMs, 5_000));
      expect(endMs).toBeGreaterThanOrEqual(1_000);
      expect(endMs).toBeLessThanOrEqual(1_010);
      expect(Math.max(...waitedMs)).toBeLessThanOrEqual(12);
    },
  );

  it('gives the next job its turn after a second beside a backlog without an end', async () => {
    const { endMs, waitedMs } = await work(
      Array.from({ length: 100_000 }, () => 0),
      { transactionMs: 100 },
    );
    expect(endMs).toBe(1_000);
    expect(waitedMs).toHaveLength(10_000);
  });

  it('fills its transactions at a high rate', async () => {
    // Four events in a millisecond.
    const { checks, waitedMs } = await work(
      every(1, 2_000).flatMap((atMs) => [atMs, atMs, atMs, atMs]),
      { transactionMs: 20 },
    );
    expect(waitedMs.length / checks).toBeGreaterThan(400);
  });
});

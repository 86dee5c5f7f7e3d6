import { expect, test, vi } from 'vitest';
import { createProgressLine, progressText, withElapsed } from '../../../src/cli/progress.ts';

const same = (ms: number) => ({ leastMs: ms, mostMs: ms });

test.each([
  [
    { phase: 'orders', done: 1_000, total: 4_000 },
    same(5_100),
    'orders: 1,000 of about 4,000, 6 s to go',
  ],
  [
    { phase: 'orders', done: 10, total: 10_010 },
    same(1_000_000),
    'orders: 10 of about 10,010, 17 min to go',
  ],
  [
    { phase: 'orders', done: 1, total: 20_001 },
    same(20_000_000),
    'orders: 1 of about 20,001, 6 h to go',
  ],
  [
    { phase: 'orders', done: 1, total: 9 },
    { leastMs: 12_000, mostMs: 600_000 },
    'orders: 1 of about 9, 12 s to 10 min to go',
  ],
  // More than was estimated, and nothing estimated.
  [{ phase: 'orders', done: 30, total: 20 }, undefined, 'orders: 30'],
  [{ phase: 'orders', done: 30, total: 0 }, undefined, 'orders: 30'],
  // Nothing is done yet.
  [{ phase: 'orders', done: 0, total: 20 }, undefined, 'orders: 0 of about 20'],
  [
    { phase: 'orders', done: 5, total: 20, note: '3 found' },
    same(3_000),
    'orders: 5 of about 20, 3 s to go (3 found)',
  ],
])('%j, %j left: %s', (state, left, text) => {
  expect(progressText(state, left)).toBe(text);
});

test('a note that changes does not restart the estimate', () => {
  let nowMs = 0;
  const written: string[] = [];
  const out = { isTTY: true, write: (text: string) => written.push(text) };
  const line = createProgressLine(out, { nowMs: () => nowMs });
  for (const minute of [1, 2, 3, 4]) {
    nowMs = minute * 60_000;
    line.show({ phase: 'payments', done: minute, total: 10, note: `${minute} requests` });
  }
  expect(written.at(-1)).toContain('payments: 4 of about 10, 6 min to go (4 requests)');
});

test('the remaining time is that of the current phase, and updates no faster than a person reads', () => {
  let nowMs = 0;
  const written: string[] = [];
  const out = { isTTY: true, write: (text: string) => written.push(text) };
  const line = createProgressLine(out, { nowMs: () => nowMs });
  const show = (atMs: number, phase: string, done: number) => {
    nowMs = atMs;
    line.show({ phase, done, total: 100 });
  };
  show(100, 'inbox', 10);
  show(1_000, 'inbox', 50);
  show(1_050, 'inbox', 100);
  show(2_050, 'orders', 50);
  show(3_050, 'orders', 75);
  line.clear();
  const start = '\r\u001b[K';
  expect(written).toEqual([
    `${start}inbox: 50 of about 100, 2 s to go`,
    `${start}orders: 50 of about 100`,
    `${start}orders: 75 of about 100, 1 s to go`,
    start,
  ]);
});

test('a task of unknown length shows for how long it has run, and then nothing', async () => {
  vi.useFakeTimers();
  try {
    const written: string[] = [];
    const out = { isTTY: true, write: (text: string) => written.push(text) };
    let finish = () => {};
    const work = withElapsed(
      out,
      'statement',
      () =>
        new Promise<void>((resolve) => {
          finish = resolve;
        }),
    );
    await vi.advanceTimersByTimeAsync(1_999);
    expect(written).toEqual([]);
    await vi.advanceTimersByTimeAsync(2_001);
    expect(written).toEqual(['\r\u001b[Kstatement: 2 s', '\r\u001b[Kstatement: 4 s']);
    finish();
    await work;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(written.slice(2)).toEqual(['\r\u001b[K']);
  } finally {
    vi.useRealTimers();
  }
});

import { Readable, Writable } from 'node:stream';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { withInvocation } from '../../../src/cli/invocation.ts';
import { progressText, type Show, withElapsed, withProgress } from '../../../src/cli/progress.ts';

const CLEAR_LINE = '\r\u001b[K';

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

const same = (ms: number) => ({ leastMs: ms, mostMs: ms });

interface Place {
  readonly isTerminal?: boolean;
  readonly args?: readonly string[];
}

/** What a command with these arguments writes to standard error while it works. */
async function written(
  work: () => Promise<void>,
  { isTerminal = true, args = [] }: Place = {},
): Promise<readonly string[]> {
  const texts: string[] = [];
  const stderr = new Writable({
    write: (text, _encoding, done) => {
      texts.push(String(text));
      done();
    },
  });
  const terminal = {
    stdin: Readable.from([]),
    stdout: new Writable(),
    stderr: Object.assign(stderr, { isTTY: isTerminal }),
  };
  await withInvocation({ args, terminal }, work);
  return texts;
}

/** Steps of a phase, each at the start of its milliseconds. */
async function count(
  show: Show,
  phase: string,
  steps: readonly (readonly [done: number, ms: number, note?: string])[],
): Promise<void> {
  for (const [done, ms, note] of steps) {
    show({ phase, done, total: 100, ...(note !== undefined && { note }) });
    await vi.advanceTimersByTimeAsync(ms);
  }
}

const pause = (ms: number) => vi.advanceTimersByTimeAsync(ms).then(() => undefined);

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

test('a note that changes does not restart the estimate', async () => {
  const texts = await written(() =>
    withProgress((show) =>
      count(show, 'payments', [
        [0, 10_000, 'a'],
        [10, 10_000, 'b'],
        [20, 200, 'c'],
      ]),
    ),
  );
  expect(texts.at(-2)).toContain('payments: 20 of about 100, 81 s to go (c)');
});

test('the remaining time is that of the current phase, grows while nothing is done, and is gone at the end', async () => {
  const texts = await written(() =>
    withProgress(async (show) => {
      await count(show, 'inbox', [
        [10, 100],
        [50, 900],
      ]);
      await count(show, 'orders', [
        [50, 1_000],
        [75, 2_000],
      ]);
    }),
  );
  expect(texts).toEqual([
    `${CLEAR_LINE}inbox: 50 of about 100, 1 s to go`,
    `${CLEAR_LINE}inbox: 50 of about 100, 2 s to go`,
    `${CLEAR_LINE}orders: 50 of about 100`,
    `${CLEAR_LINE}orders: 75 of about 100, 2 s to go`,
    `${CLEAR_LINE}orders: 75 of about 100, 3 s to go`,
    CLEAR_LINE,
  ]);
});

test('work of unknown length shows for how long it has run', async () => {
  const texts = await written(() => withElapsed('statement', () => pause(3_500)));
  expect(texts).toEqual([`${CLEAR_LINE}statement: 2 s`, `${CLEAR_LINE}statement: 3 s`, CLEAR_LINE]);
  expect(await written(() => withElapsed('statement', () => pause(1_900)))).toEqual([]);
});

test('the line is cleared when the work fails, and nothing is written after that', async () => {
  const work = async () => {
    await pause(2_100);
    throw new Error('unreachable');
  };
  const texts = await written(async () => {
    await expect(withElapsed('close', work)).rejects.toThrow('unreachable');
    await pause(20_000);
  });
  expect(texts).toEqual([`${CLEAR_LINE}close: 2 s`, CLEAR_LINE]);
});

test('a file gets a line every ten seconds', async () => {
  const work = () =>
    withProgress((show) =>
      count(show, 'orders', [
        [10, 19_000],
        [20, 2_000],
      ]),
    );
  expect(await written(work, { isTerminal: false })).toEqual([
    'orders: 10 of about 100\n',
    'orders: 20 of about 100, 3 min to go\n',
  ]);
});

test('with --json nothing is shown', async () => {
  const work = async () => {
    await withElapsed('close', () => pause(20_000));
    await withProgress((show) => count(show, 'orders', [[10, 20_000]]));
  };
  expect(await written(work, { args: ['close', '2026-10', '--json'] })).toEqual([]);
});

/** How many open pages are notified at once. The numbers are those of watcher.ts. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Topic } from '../../../src/pages/live/topics.ts';
import { createWatcher, type News, type Watcher } from '../../../src/pages/live/watcher.ts';

const TICK_MS = 1_000;
let version = 0;
let nowMs = 0;
let watcher: Watcher;
let endPause: () => void = () => undefined;

beforeEach(() => {
  watcher = createWatcher({
    read: (topics) =>
      Promise.resolve(new Map(topics.map((topic): [string, string] => [topic, `${version}`]))),
    onFailure: (error) => {
      throw error;
    },
    monotonicMs: () => nowMs,
    sleep: (_delayMs, signal) =>
      new Promise((resolve) => {
        endPause = resolve;
        signal.onabort = () => resolve();
      }),
  });
});
afterEach(() => watcher.close());

/** Until the watcher has read, notified, and pauses again. */
async function tick(): Promise<void> {
  nowMs += TICK_MS;
  endPause();
  await new Promise((resolve) => setImmediate(resolve));
}

/** Waits for the list of orders, as an open page does. */
function open(names: string[], name: string, topic: Topic = 'ledger'): Promise<News> {
  const news = watcher.wait([topic], watcher.place(), new AbortController().signal);
  return news.then((got) => {
    if (got.outcome === 'moved') names.push(name);
    return got;
  });
}

test('2: a topic that is first read after the page has moved for it, and then only with its version', async () => {
  const notified: string[] = [];
  void open(notified, 'read before');
  await tick();
  expect(notified).toEqual(['read before']);
  void open(notified, 'read after');
  await tick();
  expect(notified).toEqual(['read before']);
  version += 1;
  await tick();
  expect(notified).toEqual(['read before', 'read after']);
});

test('5: pages that follow the same topics are notified together', async () => {
  const notified: string[] = [];
  void open([], 'knows the topics');
  await tick();
  await tick();
  const names = Array.from({ length: 50 }, (_, n) => `page ${n}`);
  for (const name of names) void open(notified, name);
  await tick();
  expect(notified).toEqual([]);
  version += 1;
  await tick();
  expect(notified).toEqual(names);
});

test('5: pages take 3 % of the time, those that wait longest are first, and none waits forever', async () => {
  const PAGES = 40;
  const TICKS = 2_000;
  const topics = Array.from({ length: PAGES }, (_, n): Topic => `order:order:${n}`);
  const notified: number[] = [];
  let spentMs = 0;
  const follow = async (topic: Topic, n: number): Promise<void> => {
    const { outcome } = await open([], '', topic);
    if (outcome !== 'moved') return;
    notified.push(n);
    const pageMs = 20 + 10 * n;
    spentMs += pageMs;
    watcher.spend(pageMs);
    await follow(topic, n);
  };
  for (const [n, topic] of topics.entries()) void follow(topic, n);
  await tick();
  for (let n = 0; n < TICKS; n += 1) {
    version += 1;
    await tick();
  }
  expect(spentMs / (TICKS * TICK_MS)).toBeGreaterThan(0.025);
  expect(spentMs / (TICKS * TICK_MS)).toBeLessThan(0.035);
  const timesOf = (page: number) => notified.filter((one) => one === page).length;
  const times = topics.map((_, n) => timesOf(n));
  expect(Math.max(...times) - Math.min(...times)).toBeLessThanOrEqual(1);
});

test('5: a page waits on while its topics rest, however many others moved', async () => {
  const notified: string[] = [];
  void open(notified, 'one order', 'order:order:1001');
  await tick();
  await tick();
  const quiet: string[] = [];
  void open(quiet, 'one order', 'order:order:1001');
  await tick();
  expect(quiet).toEqual([]);
});

/** How many open pages are notified at once. The numbers are those of watcher.ts. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Topic } from '../../../src/pages/live/topics.ts';
import { createWatcher, type News, type Watcher } from '../../../src/pages/live/watcher.ts';

let version = 0;
let watcher: Watcher;
let endPause: () => void = () => undefined;

beforeEach(() => {
  watcher = createWatcher({
    read: (topics) =>
      Promise.resolve(new Map(topics.map((topic): [string, string] => [topic, `${version}`]))),
    onFailure: (error) => {
      throw error;
    },
    sleep: (_delayMs, signal) =>
      new Promise((resolve) => {
        endPause = resolve;
        signal.addEventListener('abort', () => resolve());
      }),
  });
});
afterEach(() => watcher.close());

/** Until the watcher has read, notified, and pauses again. */
async function tick(): Promise<void> {
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

test('5: twenty pages a second are notified, in the order in which they wait', async () => {
  const first: string[] = [];
  void open(first, 'knows the topics');
  await tick();
  await tick();
  const notified: string[] = [];
  const names = Array.from({ length: 50 }, (_, n) => `page ${n}`);
  for (const name of names) void open(notified, name);
  await tick();
  expect(notified).toEqual([]);
  version += 1;
  await tick();
  expect(notified).toEqual(names.slice(0, 20));
  void open(notified, 'a later page');
  await tick();
  expect(notified).toEqual(names.slice(0, 40));
  await tick();
  expect(notified).toEqual(names);
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

/** How many open pages hear at once that they moved. The numbers are those of watcher.ts. */
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

/** Until the watcher has read, told, and pauses again. */
async function tick(): Promise<void> {
  endPause();
  await new Promise((resolve) => setImmediate(resolve));
}

/** Waits for the list of orders, as an open page does. */
function open(names: string[], name: string, topic: Topic = 'ledger'): Promise<News> {
  const news = watcher.wait([topic], watcher.place(), new AbortController().signal);
  return news.then((told) => {
    if (told.outcome === 'moved') names.push(name);
    return told;
  });
}

test('5: twenty pages a second hear that they moved, in the order in which they wait', async () => {
  const first: string[] = [];
  void open(first, 'knows the topics');
  await tick();
  await tick();
  const told: string[] = [];
  const names = Array.from({ length: 50 }, (_, n) => `page ${n}`);
  for (const name of names) void open(told, name);
  await tick();
  expect(told).toEqual([]);
  version += 1;
  await tick();
  expect(told).toEqual(names.slice(0, 20));
  void open(told, 'a page that asks later');
  await tick();
  expect(told).toEqual(names.slice(0, 40));
  await tick();
  expect(told).toEqual(names);
});

test('5: a page whose topics rest waits on, however many others moved', async () => {
  const told: string[] = [];
  void open(told, 'one order', 'order:order:1001');
  await tick();
  await tick();
  const quiet: string[] = [];
  void open(quiet, 'one order', 'order:order:1001');
  await tick();
  expect(quiet).toEqual([]);
});

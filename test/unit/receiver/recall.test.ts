/** The invariants of src/receiver/recall.ts, with a server that is a list of events. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { FoundLoss } from '../../../src/receiver/persistAgain.ts';
import { createRecall, type Recall } from '../../../src/receiver/recall.ts';
import type { NewEvent } from '../../../src/receiver/store/inbox.ts';
import type { Stored } from '../../../src/receiver/storeBatch.ts';
import { silentLog } from '../../support/database.ts';
import { waitFor } from '../../support/waitFor.ts';

const BODY_BYTES = 1024 * 1024;
const UNREACHABLE = Object.assign(new Error('down'), { code: 'ECONNREFUSED' });

let server: {
  timeline: string | undefined;
  stored: Set<string>;
  /** What it refuses for its data. */
  refused: Set<string>;
  isDown: boolean;
  /** Events with a request of their own during which it is down, once each. */
  failsOnce: Set<string>;
  /** What happens while it responds to the next examination. */
  meanwhile: () => void;
};
/** What was logged as an error. */
let errors: object[];
let losses: FoundLoss[];
/** What was persisted again, in the order of the requests. */
let requests: { readonly names: readonly string[]; readonly receivedAt: Date }[];
let reportFailures: number;
let enqueued: number;
let nowMs: number;
let examinations: number;
/** What happens when a wait between two examinations ends. */
let afterWait: () => void;
let recall: Recall;

beforeEach(() => {
  server = {
    timeline: '1',
    stored: new Set(),
    refused: new Set(),
    isDown: false,
    failsOnce: new Set(),
    meanwhile: () => undefined,
  };
  errors = [];
  [losses, requests, reportFailures, enqueued, nowMs, examinations] = [[], [], 0, 0, 0, 0];
  afterWait = () => undefined;
  recall = createRecall({
    persist: (events, receivedAt) => {
      const names = events.map(({ eventId = '' }) => eventId);
      requests.push({ names, receivedAt });
      if (server.isDown || server.failsOnce.delete(names.join())) {
        return Promise.reject(UNREACHABLE);
      }
      if (events.some(({ eventId = '' }) => server.refused.has(eventId)))
        return Promise.reject(Object.assign(new Error('refused'), { code: '23514' }));
      const outcomes = events.map(({ eventId = '' }): Stored => {
        const isNew = !server.stored.has(eventId);
        server.stored.add(eventId);
        return isNew ? { outcome: 'accepted', toEnqueue: 1 } : { outcome: 'duplicate' };
      });
      return Promise.resolve({ outcomes, timeline: server.timeline });
    },
    readTimeline: () => {
      examinations += 1;
      if (server.isDown) return Promise.reject(UNREACHABLE);
      const { timeline, meanwhile } = server;
      server.meanwhile = () => undefined;
      meanwhile();
      return Promise.resolve(timeline);
    },
    enqueue: (numbers) => {
      enqueued += numbers.length;
    },
    report: (loss) => {
      if (reportFailures > 0) {
        reportFailures -= 1;
        return Promise.reject(new Error('down'));
      }
      losses.push(loss);
      return Promise.resolve();
    },
    log: {
      ...silentLog,
      error: (fields: object, event: string) => errors.push({ event, ...fields }),
    } as unknown as typeof silentLog,
    monotonicMs: () => nowMs,
    // A turn of the event loop instead of seconds.
    wait: () =>
      new Promise((resolve) =>
        setImmediate(() => {
          resolve();
          afterWait();
        }),
      ),
  });
});
afterEach(() => recall.close());

function acknowledge(...names: readonly string[]): void {
  const events = names.map((eventId) => ({ eventId, body: Buffer.alloc(10) }) as NewEvent);
  for (const name of names) server.stored.add(name);
  recall.keep(events, new Date(1_000 * names.length), server.timeline);
}

function takeOver(...missing: readonly string[]): void {
  for (const name of missing) server.stored.delete(name);
  server.timeline = String(Number(server.timeline) + 1);
}

const untilReported = (count: number) => waitFor('a report', () => losses.length === count);

test('2, 4: what a server lacks that took over is persisted again, enqueued and reported', async () => {
  acknowledge('a');
  acknowledge('b', 'c', 'd');
  takeOver('a', 'c');
  await untilReported(1);
  expect([...server.stored].toSorted()).toEqual(['a', 'b', 'c', 'd']);
  expect(enqueued).toBe(2);
  expect(losses[0]).toMatchObject({ timeline: '2', events: 2 });
  expect(losses[0]?.firstReceivedAt.getTime()).toBe(1_000);
  expect(losses[0]?.lastReceivedAt.getTime()).toBe(3_000);
});

test('2: what was received within a second is persisted in one request with the time of the first, 500 at most', async () => {
  const keep = (name: string, count: number, receivedMs: number) => {
    const events = Array.from({ length: count }, (_, place) => ({
      eventId: `${name}${place}`,
      body: Buffer.alloc(1),
    }));
    recall.keep(events as unknown as NewEvent[], new Date(receivedMs), '1');
  };
  keep('first', 300, 1_000);
  keep('second', 200, 2_000);
  keep('more', 1, 2_000);
  keep('later', 1, 3_001);
  takeOver();
  await untilReported(1);
  expect(requests.map(({ names, receivedAt }) => [names.length, receivedAt.getTime()])).toEqual([
    [500, 1_000],
    [1, 2_000],
    [1, 3_001],
  ]);
});

test('2: also after each of several failovers, and for a server that the failover passed over', async () => {
  acknowledge('a');
  takeOver('a');
  await untilReported(1);
  takeOver('a');
  await untilReported(2);
  // Another server goes on under the first timeline and acknowledges.
  recall.keep([{ eventId: 'late', body: Buffer.alloc(1) } as NewEvent], new Date(), '1');
  await untilReported(3);
  expect([...server.stored].toSorted()).toEqual(['a', 'late']);
});

test('4: a report that fails is repeated, and so is an attempt while the database is down', async () => {
  acknowledge('a');
  [server.isDown, reportFailures] = [true, 2];
  takeOver('a');
  await new Promise((resolve) => setImmediate(resolve));
  server.isDown = false;
  await untilReported(1);
  expect(losses[0]?.events).toBe(1);
});

/** Until an examination has ended that began after the call. */
const untilExamined = (): Promise<void> => {
  const before = examinations;
  return waitFor('an examination', () => examinations >= before + 2);
};

test('1: nothing gets older while no server responds, however long a person takes to promote one', async () => {
  acknowledge('a');
  await untilExamined();
  server.isDown = true;
  nowMs = 60 * 60_000;
  await untilExamined();
  takeOver('a');
  server.isDown = false;
  // A delivery reaches the new server before it is examined.
  acknowledge('b');
  await untilReported(1);
  expect([...server.stored].toSorted()).toEqual(['a', 'b']);
});

test('1: nothing gets older while an examination lasts, during which another server may take over', async () => {
  server.meanwhile = () => {
    nowMs = 11 * 60_000;
    takeOver('a');
  };
  acknowledge('a');
  await untilReported(1);
  expect(server.stored.has('a')).toBe(true);
});

test('1: what is old or needs too much memory is forgotten', async () => {
  acknowledge('old');
  nowMs = 11 * 60_000;
  // It goes on examining while something is kept.
  acknowledge('new');
  await untilExamined();
  for (let place = 0; place < 20; place += 1) {
    const large = { eventId: `large${place}`, body: Buffer.alloc(BODY_BYTES) } as NewEvent;
    server.stored.add(`large${place}`);
    recall.keep([large], new Date(0), '1');
  }
  takeOver('old', 'large0', 'large19');
  await untilReported(1);
  expect(server.stored.has('large19')).toBe(true);
  expect(server.stored.has('large0')).toBe(false);
  expect(server.stored.has('old')).toBe(false);
});

test.each(Array.from({ length: 8 }, (_, steps) => steps))(
  '1: what is acknowledged as a check ends is examined, too: %i steps after the last wait',
  async (steps) => {
    acknowledge('old');
    nowMs = 11 * 60_000;
    const acknowledgeLater = async (): Promise<void> => {
      for (let step = 0; step < steps; step += 1) await undefined;
      acknowledge('new');
    };
    // The second examination is so late that nothing is kept after it.
    afterWait = () => {
      if (examinations === 2) void acknowledgeLater();
    };
    await waitFor('the last examination of the first', () => examinations >= 2);
    for (let turn = 0; turn < 3; turn += 1) await new Promise(setImmediate);
    expect(examinations).toBeGreaterThan(2);
  },
);

test('nothing is kept of a server that does not reveal its timeline', async () => {
  server.timeline = undefined;
  acknowledge('a');
  server.stored.delete('a');
  server.timeline = '2';
  await new Promise((resolve) => setImmediate(resolve));
  expect(server.stored.size).toBe(0);
});

test('5: what a server refuses holds up nothing, is named, and is persisted when the server accepts it', async () => {
  acknowledge('a', 'bad');
  acknowledge('b');
  server.refused.add('bad');
  takeOver('a', 'bad', 'b');
  await untilReported(1);
  expect(losses[0]).toMatchObject({ events: 2, refused: 1 });
  expect([...server.stored].toSorted()).toEqual(['a', 'b']);
  expect(errors).toContainEqual(
    expect.objectContaining({ event: 'receiver.acknowledged_event_refused', eventId: 'bad' }),
  );

  // It outlives what is kept for ten minutes, and is tried every minute at most.
  const before = requests.length;
  for (let second = 0; second < 12 * 60; second += 20) {
    nowMs += 20_000;
    await untilExamined();
  }
  const tries = requests.slice(before).filter(({ names }) => names.join() === 'bad').length;
  expect(tries).toBeGreaterThan(8);
  expect(tries).toBeLessThan(16);
  server.refused.clear();
  nowMs += 60_000;
  // A server that is down refuses nothing, so the next attempt does not wait.
  server.failsOnce.add('bad');
  await untilReported(2);
  expect(losses[1]).toMatchObject({ events: 1, refused: -1 });
  expect(server.stored.has('bad')).toBe(true);

  // It is kept again, for the next failover.
  takeOver('bad');
  await untilReported(3);
  expect(server.stored.has('bad')).toBe(true);
});

test('5: what a server could not store because it was down does not count as refused', async () => {
  acknowledge('a', 'bad');
  server.refused.add('bad');
  server.failsOnce.add('a');
  takeOver('a', 'bad');
  await untilReported(1);
  expect(losses[0]).toMatchObject({ events: 1, refused: 1 });
});

test('5: what a server refuses is named when the receiver stops', async () => {
  acknowledge('bad');
  server.refused.add('bad');
  takeOver('bad');
  await untilReported(1);
  await recall.close();
  expect(errors.at(-1)).toMatchObject({
    event: 'receiver.refused_event_forgotten',
    eventId: 'bad',
  });
});

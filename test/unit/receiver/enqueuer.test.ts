import { describe, expect, it } from 'vitest';
import { createLog } from '../../../src/platform/log.ts';
import type { JobCounts } from '../../../src/platform/queue/index.ts';
import { createEnqueuer, type Enqueuer } from '../../../src/receiver/enqueuer.ts';

interface Job {
  readonly ids: readonly number[];
  succeed(): Promise<void>;
  fail(): Promise<void>;
}

interface SlowQueue {
  readonly enqueuer: Enqueuer;
  readonly jobs: Job[];
  /** How long the enqueuer paused, in milliseconds. */
  readonly pauses: number[];
}

const IDLE = { waiting: 0, active: 0, delayed: 0 };
const BUSY = { ...IDLE, active: 1 };
const BEHIND = { ...BUSY, waiting: 1 };

/** A queue that accepts a job only when the test allows it. */
function enqueuerOverSlowQueue(
  countJobs: () => Promise<JobCounts> = () => Promise.resolve(IDLE),
  pause = () => Promise.resolve(),
): SlowQueue {
  const jobs: Job[] = [];
  const pauses: number[] = [];
  const add = (ids: readonly number[]): Promise<void> =>
    new Promise((resolve, reject) => {
      jobs.push({
        ids,
        succeed: () => settled(resolve),
        fail: () => settled(() => reject(new Error('the queue is unavailable'))),
      });
    });
  const enqueuer = createEnqueuer({ add, countJobs }, createLog('silent'), (delayMs) => {
    pauses.push(delayMs);
    return pause();
  });
  return { enqueuer, jobs, pauses };
}

/** Settles a job and waits for everything that follows from it. */
function settled(settle: () => void): Promise<void> {
  settle();
  return new Promise((resolve) => setImmediate(resolve));
}

const idsOf = (jobs: readonly Job[]) => jobs.map(({ ids }) => ids);

const range = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, place) => from + place);

describe('enqueueing', () => {
  it('adds a job at once while none is in flight', () => {
    const { enqueuer, jobs } = enqueuerOverSlowQueue();
    enqueuer.enqueue([1, 2]);
    expect(idsOf(jobs)).toEqual([[1, 2]]);
  });

  it('adds no job without ids', () => {
    const { enqueuer, jobs } = enqueuerOverSlowQueue();
    enqueuer.enqueue([]);
    expect(jobs).toEqual([]);
  });

  it('has one job in flight, and adds one job for all ids that arrive meanwhile', async () => {
    const { enqueuer, jobs } = enqueuerOverSlowQueue();
    enqueuer.enqueue([1]);
    enqueuer.enqueue([2]);
    enqueuer.enqueue([3, 4]);
    expect(idsOf(jobs)).toEqual([[1]]);

    await jobs[0]?.succeed();

    expect(idsOf(jobs)).toEqual([[1], [2, 3, 4]]);
  });

  it('collects ids while the workers are busy, and adds a job as soon as they are idle', async () => {
    let counts = BUSY;
    let endPause = (): void => undefined;
    const { enqueuer, jobs } = enqueuerOverSlowQueue(
      () => Promise.resolve(counts),
      () =>
        new Promise((resolve) => {
          endPause = resolve;
        }),
    );
    enqueuer.enqueue([1]);
    enqueuer.enqueue([2]);
    await jobs[0]?.succeed();
    await settled(endPause);
    enqueuer.enqueue([3]);
    expect(idsOf(jobs)).toEqual([[1]]);

    counts = IDLE;
    await settled(endPause);

    expect(idsOf(jobs)).toEqual([[1], [2, 3]]);
  });

  it.each([
    ['stay busy and no job waits', () => Promise.resolve(BUSY)],
    ['cannot be examined', () => Promise.reject(new Error('the queue is unavailable'))],
  ])('adds the next job after 200 ms where the workers %s', async (_case, countJobs) => {
    const { enqueuer, jobs, pauses } = enqueuerOverSlowQueue(countJobs);
    enqueuer.enqueue([1]);
    enqueuer.enqueue([2]);

    await jobs[0]?.succeed();

    expect(idsOf(jobs)).toEqual([[1], [2]]);
    expect(pauses).toEqual([5, 10, 20, 40, 40, 40, 40, 40]);
  });

  it.each([
    ['until a worker has claimed it', 10, [5, 10, 20, 40, 40, 40, 40, 40, 40, 40, 40]],
    ['for a second', 100, [5, 10, 20, ...Array.from({ length: 25 }, () => 40)]],
  ])(
    'adds no job while one waits, %s, and then one for all ids',
    async (_until, times, expected) => {
      const checks = Array.from({ length: times }, () => BEHIND);
      const { enqueuer, jobs, pauses } = enqueuerOverSlowQueue(() =>
        Promise.resolve(checks.shift() ?? BUSY),
      );
      enqueuer.enqueue([1]);
      enqueuer.enqueue([2]);
      enqueuer.enqueue([3]);

      await jobs[0]?.succeed();

      expect(pauses).toEqual(expected);
      expect(idsOf(jobs)).toEqual([[1], [2, 3]]);
    },
  );

  it('adds one job at a time while the workers stay busy with a lone event', async () => {
    const endless = () => new Promise<void>(() => undefined);
    const { enqueuer, jobs } = enqueuerOverSlowQueue(() => Promise.resolve(BUSY), endless);
    enqueuer.enqueue([1]);
    await jobs[0]?.succeed();
    enqueuer.enqueue([2]);
    expect(idsOf(jobs)).toEqual([[1]]);
  });

  it.each([
    ['a full job waits for nothing', 1_000, 2],
    ['one that is not full waits', 999, 1],
  ])('%s: %i ids', async (_rule, waiting, jobCount) => {
    const endless = () => new Promise<void>(() => undefined);
    const { enqueuer, jobs } = enqueuerOverSlowQueue(() => Promise.resolve(BUSY), endless);
    enqueuer.enqueue([0]);
    enqueuer.enqueue(range(1, waiting));
    await jobs[0]?.succeed();
    expect(jobs).toHaveLength(jobCount);
  });

  it('puts at most 1,000 ids into a job, and every id into one', async () => {
    const { enqueuer, jobs } = enqueuerOverSlowQueue();
    enqueuer.enqueue(range(1, 1_200));
    enqueuer.enqueue([1_201]);
    for (let place = 0; place < 3; place += 1) await jobs[place]?.succeed();

    expect(idsOf(jobs)).toEqual([range(1, 1_000), range(1_001, 1_201)]);
  });

  it('continues with the later ids when a job fails', async () => {
    const { enqueuer, jobs } = enqueuerOverSlowQueue();
    enqueuer.enqueue([1]);
    enqueuer.enqueue([2]);

    await jobs[0]?.fail();
    expect(idsOf(jobs)).toEqual([[1], [2]]);
    await jobs[1]?.fail();

    enqueuer.enqueue([3]);
    expect(idsOf(jobs)).toEqual([[1], [2], [3]]);
  });

  it('enqueues again after it was idle', async () => {
    const { enqueuer, jobs } = enqueuerOverSlowQueue();
    enqueuer.enqueue([1]);
    await jobs[0]?.succeed();
    enqueuer.enqueue([2]);
    expect(idsOf(jobs)).toEqual([[1], [2]]);
  });

  it('keeps a bounded number of ids while the queue hangs; the sweep enqueues the others', async () => {
    const { enqueuer, jobs } = enqueuerOverSlowQueue();
    enqueuer.enqueue([0]);
    for (let hundred = 0; hundred < 600; hundred += 1) {
      enqueuer.enqueue(range(hundred * 100 + 1, hundred * 100 + 100));
    }
    for (let place = 0; place < jobs.length; place += 1) await jobs[place]?.succeed();

    const enqueued = idsOf(jobs).flat();
    expect(enqueued).toEqual([0, ...range(1, 50_000)]);
    enqueuer.enqueue([60_001]);
    expect(idsOf(jobs).at(-1)).toEqual([60_001]);
  });

  it('is drained when all ids were enqueued or dropped', async () => {
    const { enqueuer, jobs } = enqueuerOverSlowQueue();
    await enqueuer.drain();
    enqueuer.enqueue([1]);
    enqueuer.enqueue([2]);
    let isDrained = false;
    const drained = enqueuer.drain().then(() => {
      isDrained = true;
    });

    await jobs[0]?.succeed();
    expect(isDrained).toBe(false);
    await jobs[1]?.fail();

    await drained;
    expect(isDrained).toBe(true);
  });
});

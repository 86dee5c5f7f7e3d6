/** What every queue backend must do. The same tests run over both. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { createPostgresBackend, Queue } from 'bullmq';
import { Redis } from 'ioredis';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { migrateDatabase } from '../../src/platform/db/migrate.ts';
import { createLog } from '../../src/platform/log.ts';
import {
  type Consumer,
  createPostgresQueueConnections,
  createQueueBackend,
  createRedisConnections,
  type InspectedQueue,
  type NewJob,
  type Producer,
  type QueueBackend,
  type RunningJob,
} from '../../src/platform/queue/index.ts';
import { createTestDatabase, silentLog, type TestDatabase } from '../support/database.ts';
import { unique } from '../support/events.ts';
import { startTcpProxy, type TcpProxy, type TcpProxyOptions } from '../support/tcpProxy.ts';
import { waitFor } from '../support/waitFor.ts';

interface Order {
  readonly n: number;
}

const redisUrl = inject('redisUrl');

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

interface BackendUnderTest {
  readonly name: QueueBackend['name'];
  readonly url: () => string;
  /** Makes BullMQ's check for abandoned jobs due, which runs every half minute. */
  readonly makeStalledCheckDue: (queueName: string) => Promise<unknown>;
}

describe('over PostgreSQL', () =>
  conformance({
    name: 'postgres',
    url: () => db.url,
    makeStalledCheckDue: (queueName) =>
      db.query(`delete from bullmq.meta where queue = $1 and field = 'stalled-check'`, [queueName]),
  }));

describe.skipIf(redisUrl === undefined)(
  redisUrl === undefined ? 'over Redis: SKIPPED: no redis-server' : 'over Redis',
  () =>
    conformance({
      name: 'redis',
      url: () => redisUrl ?? '',
      // Here the time between looks is that of the last one who looked, the process that died.
      makeStalledCheckDue: () => Promise.resolve(),
    }),
);

test('the producers of a process with all roles cause no warning about a listener leak', async () => {
  const warnings: Error[] = [];
  const note = (warning: Error): void => {
    warnings.push(warning);
  };
  process.on('warning', note);
  const backend = createQueueBackend(createPostgresQueueConnections(db.url, silentLog), silentLog);
  try {
    const producers = Array.from({ length: 20 }, () => backend.producer<Order>(unique('queue')));
    for (const producer of producers) await producer.countJobs();
    for (const producer of producers) await producer.close();
    expect(warnings.map(({ message }) => message)).toEqual([]);
  } finally {
    await backend.close();
    process.off('warning', note);
  }
});

test('a consumer that starts before the schema of its queue exists works once it does', async () => {
  const name = unique('bare');
  const administrator = new pg.Client({ connectionString: db.url });
  await administrator.connect();
  await administrator.query(`create database ${name}`);
  const url = new URL(db.url);
  url.pathname = `/${name}`;
  const log = createLog('silent');
  const warned = vi.spyOn(log, 'warn');
  const backend = createQueueBackend(createPostgresQueueConnections(url.href, log), log);
  const producer = backend.producer<Order>('queue');
  const handled: number[] = [];
  let running = 0;
  let mostAtOnce = 0;
  const consumer = backend.consumer<Order>('queue', 1, async ({ data }) => {
    running += 1;
    mostAtOnce = Math.max(mostAtOnce, running);
    await producer.countJobs();
    handled.push(data.n);
    running -= 1;
  });
  try {
    await expect(producer.add([job(1)])).rejects.toThrow(/migrat/i);
    await waitFor('the consumer to find none', () =>
      warned.mock.calls.some(([, event]) => event === 'queue.backend_unavailable'),
    );
    await migrateDatabase(url.href);
    await producer.add(jobs(0, 20));
    await waitFor('the jobs to be handled', () => handled.length >= 20);
    expect(handled).toEqual(range(0, 20));
    expect(mostAtOnce).toBe(1);
  } finally {
    await consumer.close();
    await producer.close();
    await backend.close();
    await administrator.query(`drop database ${name} with (force)`);
    await administrator.end();
  }
});

function conformance({ name, url, makeStalledCheckDue }: BackendUnderTest): void {
  const cleanups: (() => unknown)[] = [];
  afterEach(async () => {
    for (const clean of cleanups.splice(0).reverse()) await clean();
  });

  function open(backendUrl = url()): QueueBackend {
    const connections =
      name === 'redis'
        ? createRedisConnections({ url: backendUrl }, silentLog)
        : createPostgresQueueConnections(backendUrl, silentLog);
    const backend = createQueueBackend(connections, silentLog);
    cleanups.push(() => backend.close());
    return backend;
  }

  function produce(queueName: string, backend = open()): Producer<Order> & InspectedQueue {
    const producer = backend.producer<Order>(queueName);
    cleanups.push(() => producer.close());
    return producer;
  }

  function consume(
    queueName: string,
    handle: (job: RunningJob<Order>) => unknown,
    backend = open(),
  ): Consumer {
    const consumer = backend.consumer<Order>(queueName, 1, async (job) => {
      await handle(job);
    });
    cleanups.push(() => consumer.close());
    return consumer;
  }

  async function proxy(options?: TcpProxyOptions): Promise<TcpProxy> {
    const wire = await startTcpProxy(url(), options);
    cleanups.push(() => wire.close());
    return wire;
  }

  /** BullMQ's own view of the queue, for states that our interface does not show. */
  function inspect(queueName: string): Pick<Queue, 'getJobCounts'> {
    if (name === 'redis') {
      const connection = new Redis(url(), { maxRetriesPerRequest: null });
      const queue = new Queue(queueName, { connection });
      cleanups.push(async () => {
        await queue.close();
        connection.disconnect();
      });
      return queue;
    }
    const pool = new pg.Pool({ connectionString: url(), options: '-c search_path=bullmq' });
    const queue = new Queue(queueName, { connection: pool as never }, createPostgresBackend);
    cleanups.push(async () => {
      await queue.close();
      await pool.end();
    });
    return queue;
  }

  test('every job is handled once, with its data, by one of several consumers', async () => {
    const queueName = unique('queue');
    const handled: RunningJob<Order>[] = [];
    const handle = (job: RunningJob<Order>) => {
      handled.push(job);
    };
    consume(queueName, handle);
    consume(queueName, handle);
    const producer = produce(queueName);
    await producer.add(jobs(0, 30));
    await producer.add(jobs(30, 60));

    await waitFor('all jobs to be handled', () => handled.length >= 60);
    await waitForIdle(inspect(queueName));
    expect(handled.map(({ data }) => data.n).sort((a, b) => a - b)).toEqual(range(0, 60));
    expect(handled.every((job) => job.name === 'order' && !job.wasAbandoned)).toBe(true);
  });

  test('a failing job gets its number of attempts and then stays failed; others continue', async () => {
    const queueName = unique('queue');
    const tries: number[] = [];
    consume(queueName, ({ data }) => {
      tries.push(data.n);
      if (data.n === 1) throw new Error('it cannot be done');
    });
    await produce(queueName).add([job(1, { attempts: 3 }), job(2)]);

    const queue = inspect(queueName);
    await waitFor('the job to have failed', async () => (await counts(queue)).failed === 1);
    await waitForIdle(queue);
    expect(tries.filter((n) => n === 1)).toHaveLength(3);
    expect(tries.filter((n) => n === 2)).toHaveLength(1);
  });

  test('a job that succeeds on its last attempt leaves nothing behind', async () => {
    const queueName = unique('queue');
    let tries = 0;
    consume(queueName, () => {
      tries += 1;
      if (tries < 3) throw new Error('not yet');
    });
    await produce(queueName).add([job(1, { attempts: 3 })]);

    await waitFor('the last try', () => tries === 3);
    const queue = inspect(queueName);
    await waitForIdle(queue);
    expect(await counts(queue)).toMatchObject({ failed: 0, completed: 0 });
  });

  test('the delay between the attempts of a job increases', async () => {
    const queueName = unique('queue');
    const triedAtMs: number[] = [];
    consume(queueName, () => {
      triedAtMs.push(performance.now());
      throw new Error('it cannot be done');
    });
    await produce(queueName).add([job(1, { attempts: 4, backoffMs: 200 })]);

    await waitFor('all tries', () => triedAtMs.length === 4);
    const pausesMs = triedAtMs.slice(1).map((atMs, place) => atMs - (triedAtMs[place] ?? 0));
    // 200, 400 and 800 ms, each shortened by at most half through jitter.
    expect(pausesMs[0]).toBeGreaterThanOrEqual(95);
    expect(pausesMs[1]).toBeGreaterThanOrEqual(195);
    expect(pausesMs[2]).toBeGreaterThanOrEqual(395);
  });

  test('a delayed job is not claimed before its time', async () => {
    const queueName = unique('queue');
    let takenAtMs: number | undefined;
    consume(queueName, () => {
      takenAtMs = performance.now();
    });
    const addedAtMs = performance.now();
    await produce(queueName).add([job(1, { delayMs: 400 })]);

    await waitFor('the job', () => takenAtMs !== undefined);
    expect((takenAtMs ?? 0) - addedAtMs).toBeGreaterThanOrEqual(395);
  });

  test('countJobs counts the jobs that wait, that run, and that wait for their next attempt', async () => {
    const queueName = unique('queue');
    const producer = produce(queueName);
    expect(await producer.countJobs()).toEqual({ waiting: 0, active: 0, delayed: 0 });
    await producer.add([...jobs(0, 3), { ...job(3), delayMs: 60_000 }]);
    expect(await producer.countJobs()).toEqual({ waiting: 3, active: 0, delayed: 1 });

    const held = deferred();
    let started = 0;
    consume(queueName, async () => {
      started += 1;
      await held.promise;
    });
    await waitFor('a job to be claimed', () => started === 1);
    expect(await producer.countJobs()).toEqual({ waiting: 2, active: 1, delayed: 1 });
    held.resolve();
    await waitFor('the end of the jobs', async () => {
      const { waiting, active } = await producer.countJobs();
      return waiting + active === 0;
    });
    expect(started).toBe(3);
  });

  test('a job with the id of a waiting or a running one is not added, alone or among others', async () => {
    const queueName = unique('queue');
    const producer = produce(queueName);
    const named = (n: number) => ({ ...job(n), id: 'slot.one' });
    await producer.add([named(1)]);
    await producer.add([named(2)]);
    await producer.add([job(3), named(4)]);
    expect(await producer.countJobs()).toMatchObject({ waiting: 2 });

    const held = deferred();
    const handled: number[] = [];
    consume(queueName, async ({ data }) => {
      handled.push(data.n);
      await held.promise;
    });
    await waitFor('the job to run', () => handled.length === 1);
    await producer.add([named(5)]);
    held.resolve();
    await waitFor('the end of the jobs', async () => {
      const { waiting, active } = await producer.countJobs();
      return waiting + active === 0;
    });
    expect(handled).toEqual([1, 3]);
    // The id is free again.
    await producer.add([named(6)]);
    await waitFor('the job to run', () => handled.includes(6));
  });

  test('depth counts jobs by state, and has the time of the oldest waiting one', async () => {
    const queueName = unique('queue');
    const producer = produce(queueName);
    expect(await producer.depth()).toEqual({
      jobs: { waiting: 0, active: 0, delayed: 0, failed: 0 },
      oldestWaitingMs: undefined,
    });
    const beforeMs = Date.now();
    await producer.add(jobs(0, 1));
    const { oldestWaitingMs: first } = await producer.depth();
    await waitFor('time to pass', () => Date.now() > (first ?? 0));
    await producer.add(jobs(1, 3));
    expect(await producer.depth()).toEqual({
      jobs: { waiting: 3, active: 0, delayed: 0, failed: 0 },
      oldestWaitingMs: first,
    });
    expect(first).toBeGreaterThanOrEqual(beforeMs);

    const held = deferred();
    const seen: number[] = [];
    consume(queueName, async ({ data }) => {
      seen.push(data.n);
      await held.promise;
    });
    await waitFor('a job to be claimed', () => seen.length === 1);
    const { jobs: states, oldestWaitingMs: next } = await producer.depth();
    expect(states).toMatchObject({ waiting: 2, active: 1 });
    expect(next).toBeGreaterThan(first ?? 0);
    held.resolve();
    await waitFor('the others to be claimed', () => seen.length === 3);
    expect((await producer.depth()).oldestWaitingMs).toBeUndefined();
  });

  test('failed jobs are listed with their error, the newest first', async () => {
    const queueName = unique('queue');
    const producer = produce(queueName);
    expect(await producer.failed(10)).toEqual([]);
    const job = (n: number) => ({ name: 'job', data: { n }, attempts: 1, backoffMs: 1 });
    const failures = async () => (await producer.depth()).jobs.failed;
    consume(queueName, ({ data }) => Promise.reject(new Error(`number ${data.n} is odd`)));
    for (const n of [1, 3, 5]) {
      const before = await failures();
      await producer.add([job(n)]);
      await waitFor('the job to fail', async () => (await failures()) > before);
    }
    expect(await producer.failed(2)).toMatchObject([
      { name: 'job', attempts: 1, error: 'number 5 is odd', failedMs: expect.any(Number) },
      { error: 'number 3 is odd' },
    ]);
  });

  test('a consumer that closes finishes its job and claims no other', async () => {
    const queueName = unique('queue');
    const held = deferred();
    const seen: string[] = [];
    const consumer = consume(queueName, async ({ data }) => {
      seen.push(`started ${data.n}`);
      await held.promise;
      seen.push(`finished ${data.n}`);
    });
    const producer = produce(queueName);
    await producer.add(jobs(1, 2));
    await waitFor('the first job to be claimed', () => seen.length === 1);
    await producer.add(jobs(2, 3));

    const closed = consumer.close().then(() => seen.push('closed'));
    await letEverythingElseRun();
    held.resolve();
    await closed;
    expect(seen).toEqual(['started 1', 'finished 1', 'closed']);
    expect(await producer.countJobs()).toMatchObject({ waiting: 1 });

    consume(queueName, ({ data }) => {
      seen.push(`next consumer ${data.n}`);
    });
    await waitFor('the next consumer', () => seen.at(-1) === 'next consumer 2');
  });

  test('a consumer claims no job after close was called', async () => {
    const queueName = unique('queue');
    const held = deferred();
    const started: number[] = [];
    const consumer = consume(queueName, async ({ data }) => {
      started.push(data.n);
      await held.promise;
    });
    const producer = produce(queueName);
    await producer.add(jobs(1, 6));
    await waitFor('the first job to be claimed', () => started.length === 1);

    // The job ends while the consumer is still taking leave of its backend.
    const closed = consumer.close();
    held.resolve();
    await closed;
    expect(started).toEqual([1]);
    expect(await producer.countJobs()).toMatchObject({ waiting: 4 });
  });

  test('a consumer that is closed before it is ready claims no job', async () => {
    const queueName = unique('queue');
    const producer = produce(queueName);
    await producer.add(jobs(1, 3));
    const started: number[] = [];
    const consumer = consume(queueName, ({ data }) => {
      started.push(data.n);
    });
    await consumer.close();
    expect(started).toEqual([]);
    expect(await producer.countJobs()).toMatchObject({ waiting: 2 });
  });

  test('an idle consumer that closes claims no job that arrives at the same time', async () => {
    const queueName = unique('queue');
    const producer = produce(queueName);
    const queue = inspect(queueName);
    for (let round = 0; round < 12; round += 1) {
      const started: number[] = [];
      const consumer = consume(queueName, ({ data }) => {
        started.push(data.n);
      });
      await producer.add([job(round)]);
      await waitFor('the consumer to work', () => started.length > 0);
      await waitForIdle(queue);

      const added = producer.add([job(-1)]);
      // Now, or a moment later: the job is on its way, or the consumer is being notified of it.
      if (round % 2 === 1) await db.probe();
      const startedBefore = started.length;
      await consumer.close();
      await added;
      expect(started, `round ${round}`).toHaveLength(startedBefore);
      const left = startedBefore === 1 ? 1 : 0;
      expect(await producer.countJobs(), `round ${round}`).toMatchObject({ waiting: left });
      if (left === 0) continue;
      const next = consume(queueName, ({ data }) => {
        started.push(data.n);
      });
      await waitFor('the next consumer to take it', () => started.includes(-1));
      await waitForIdle(queue);
      await next.close();
    }
  });

  test('a consumer and a producer made while the backend is down work once it is up', async () => {
    const queueName = unique('queue');
    const wire = await proxy({ refusing: true });
    const backend = open(wire.url);
    const handled: number[] = [];
    const producer = produce(queueName, backend);
    consume(
      queueName,
      ({ data }) => {
        handled.push(data.n);
      },
      backend,
    );
    await expect(backend.probe()).rejects.toThrow();
    await expect(producer.add(jobs(1, 2))).rejects.toThrow();
    await expect(producer.countJobs()).rejects.toThrow();

    await wire.resume();
    await waitFor('the producer to work', () => isDone(producer.add(jobs(2, 3))));
    await waitFor('the job to be handled', () => handled.includes(2));
    await expect(backend.probe()).resolves.toBeUndefined();
  });

  test('a consumer and a producer survive an outage of the backend', async () => {
    const queueName = unique('queue');
    const wire = await proxy();
    const backend = open(wire.url);
    const handled: number[] = [];
    const producer = produce(queueName, backend);
    consume(
      queueName,
      ({ data }) => {
        handled.push(data.n);
      },
      backend,
    );
    await producer.add(jobs(1, 2));
    await waitFor('the first job', () => handled.includes(1));

    const queue = inspect(queueName);
    for (const n of [2, 3]) {
      // The end of a job fetches the next one. If the wire is cut during that, the backend may hand
      // the next job to nobody, and hands it out again only after a minute.
      await waitForIdle(queue);
      wire.refuse();
      await waitFor('the producer to notice', async () => !(await isDone(producer.add([job(-n)]))));
      await wire.resume();
      await waitFor('the producer to work', () => isDone(producer.add([job(n)])));
      await waitFor(`job ${n}`, () => handled.includes(n));
    }
  });

  test('a consumer closes without its backend, after its running job', async () => {
    const queueName = unique('queue');
    const wire = await proxy();
    const backend = open(wire.url);
    const held = deferred();
    const seen: string[] = [];
    const consumer = consume(
      queueName,
      async () => {
        seen.push('started');
        await held.promise;
        seen.push('finished');
      },
      backend,
    );
    await produce(queueName).add(jobs(1, 2));
    await waitFor('the job to be claimed', () => seen.length === 1);

    wire.refuse();
    await waitFor('the backend to be unavailable', async () => !(await isDone(backend.probe())));
    const closed = consumer.close().then(() => seen.push('closed'));
    await letEverythingElseRun();
    held.resolve();
    await closed;
    expect(seen).toEqual(['started', 'finished', 'closed']);
  });

  test('adding a job fails when the backend stops responding, and does not hang', async () => {
    const queueName = unique('queue');
    const wire = await proxy();
    const producer = produce(queueName, open(wire.url));
    await producer.add(jobs(1, 2));

    wire.freeze();
    await expect(producer.add(jobs(2, 3))).rejects.toThrow();
    await wire.resume();
    await waitFor('the producer to work', () => isDone(producer.add(jobs(3, 4))));
  });

  test('a job that keeps failing gets a flag on its last attempt', async () => {
    const queueName = unique('queue');
    const attempts: boolean[] = [];
    consume(queueName, ({ isLastAttempt }) => {
      attempts.push(isLastAttempt);
      throw new Error('once more');
    });
    await produce(queueName).add([job(7, { attempts: 3 })]);
    await waitFor('its last attempt', () => attempts.length === 3);
    expect(attempts).toEqual([false, false, true]);
  });

  test.each([
    ['once', 1],
    ['twice', 2],
  ])('a job of a killed process is run again and marked as abandoned: %s', async (_, deaths) => {
    const queueName = unique('queue');
    await produce(queueName).add([job(7, { attempts: 1 })]);
    for (let died = 0; died < deaths; died += 1) {
      await takeAndDie({ backend: name, url: url(), queueName });
    }
    await makeStalledCheckDue(queueName);

    const handled: RunningJob<Order>[] = [];
    consume(queueName, (one) => {
      handled.push(one);
    });
    await waitFor('the job to be handed out', () => handled.length > 0);
    expect(handled).toEqual([
      { name: 'order', data: { n: 7 }, wasAbandoned: true, isLastAttempt: true },
    ]);
    const queue = inspect(queueName);
    await waitForIdle(queue);
    expect(await counts(queue)).toMatchObject({ failed: 0 });
  });
}

function job(n: number, options: Partial<NewJob<Order>> = {}): NewJob<Order> {
  return { name: 'order', data: { n }, attempts: 1, backoffMs: 10, ...options };
}

function jobs(from: number, to: number): readonly NewJob<Order>[] {
  return range(from, to).map((n) => job(n));
}

function range(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from }, (_, place) => from + place);
}

/** Time for what should wait, and does not, to show itself. */
async function letEverythingElseRun(): Promise<void> {
  for (let round = 0; round < 50; round += 1) await db.probe();
}

interface Deferred {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
}

function deferred(): Deferred {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

function isDone(work: Promise<unknown>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  );
}

function counts(queue: Pick<Queue, 'getJobCounts'>): Promise<Record<string, number>> {
  return queue.getJobCounts('waiting', 'active', 'delayed', 'failed', 'completed');
}

async function waitForIdle(queue: Pick<Queue, 'getJobCounts'>): Promise<void> {
  await waitFor('the queue to be idle', async () => {
    const { waiting, active, delayed } = await counts(queue);
    return waiting === 0 && active === 0 && delayed === 0;
  });
}

interface Child {
  readonly backend: QueueBackend['name'];
  readonly url: string;
  readonly queueName: string;
}

const LOCK_MS = 400;

/**
 * A process that claims a job and never records its result. It is BullMQ's worker and not ours, with a
 * short lock: ours are reassigned after half a minute to a minute. Recovery takes two checks, the
 * first of which only marks the job; this process makes it, so that the consumer under test finds
 * the job abandoned at its own first check.
 */
const script = `
  import { createPostgresBackend, Worker } from 'bullmq';
  import { Redis } from 'ioredis';
  import pg from 'pg';
  const { backend, url, queueName } = JSON.parse(process.argv[1]);
  const options = {
    lockDuration: ${LOCK_MS}, skipLockRenewal: true, stalledInterval: 1, maxStalledCount: 100,
    skipStalledCheck: true,
  };
  const take = async () => {
    await worker.moveStalledJobsToWait();
    process.stdout.write('taken');
    await new Promise(() => {});
  };
  const worker = backend === 'redis'
    ? new Worker(queueName, take, {
        ...options, connection: new Redis(url, { maxRetriesPerRequest: null }), autorun: false,
      })
    : new Worker(queueName, take, {
        ...options, autorun: false,
        connection: new pg.Pool({ connectionString: url, options: '-c search_path=bullmq' }),
      }, createPostgresBackend);
  await worker.waitUntilReady();
  await worker.moveStalledJobsToWait();
  await worker.run();
`;

async function takeAndDie(child: Child): Promise<void> {
  const process_ = spawn(
    process.execPath,
    ['--input-type=module', '--eval', script, JSON.stringify(child)],
    {
      cwd: fileURLToPath(new URL('../../', import.meta.url)),
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const ended = once(process_, 'close');
  let printed = '';
  process_.stdout.on('data', (text: Buffer) => {
    printed += text.toString();
  });
  await waitFor('the process to take the job', () => printed.includes('taken'));
  const diedAtMs = Date.now();
  process_.kill('SIGKILL');
  await ended;
  await waitFor('its lock to run out', () => Date.now() > diedAtMs + LOCK_MS);
}

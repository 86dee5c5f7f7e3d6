/**
 * How events get from the inbox into the ledger: batches, single attempts, dead events and the sweep.
 * A process that dies is simulated by an applier that never returns.
 */
import { createHash } from 'node:crypto';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  createEventApplier,
  type EventApplier,
  replayEvents,
} from '../../src/ledger/inbox/applyEvents.ts';
import {
  batchJob,
  createEventsHandler,
  EVENTS_QUEUE,
  type EventsJob,
} from '../../src/ledger/inbox/jobs.ts';
import { claimUntried } from '../../src/ledger/inbox/store/pending.ts';
import { createSweep, type SweepParts } from '../../src/ledger/inbox/sweep.ts';
import { LockSetChanged } from '../../src/ledger/lockSetChanged.ts';
import { createLedgerMetrics } from '../../src/ledger/metrics.ts';
import { startStopwatch, systemClock } from '../../src/platform/clock.ts';
import { createDatabase, type Database } from '../../src/platform/db/database.ts';
import { CommitNotReplicated } from '../../src/platform/db/failures.ts';
import { createMetrics } from '../../src/platform/metrics.ts';
import {
  createPostgresQueueConnections,
  createQueueBackend,
  type NewJob,
  type Producer,
  type RunningJob,
} from '../../src/platform/queue/index.ts';
import { createEnqueuer } from '../../src/receiver/enqueuer.ts';
import { readEnvelope } from '../../src/receiver/envelope.ts';
import { storeBatch } from '../../src/receiver/storeBatch.ts';
import { createTestDatabase, silentLog, type TestDatabase } from '../support/database.ts';
import { type EventOptions, eventBody, MERCHANT_ID, paymentObject } from '../support/events.ts';
import { startTcpProxy } from '../support/tcpProxy.ts';
import { beginTransaction } from '../support/transactions.ts';
import { waitFor } from '../support/waitFor.ts';

const MAX_ATTEMPTS = 3;

let db: TestDatabase;
const cleanups: (() => unknown)[] = [];
beforeEach(async () => {
  db = await createTestDatabase();
});
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
  await db.drop();
});

/** Stores an event for each payment as the receiver does. @returns the inbox ids, in order */
async function receive(
  payments: readonly object[],
  options: EventOptions = {},
): Promise<readonly number[]> {
  const bodies = payments.map((payment) => eventBody(payment, options));
  const { outcomes: stored } = await storeBatch(
    db,
    bodies.map((body) => ({
      ...readEnvelope(body),
      body,
      bodyHash: createHash('sha256').update(body).digest(),
      secretFingerprint: 0,
    })),
    new Date(),
  );
  return stored.flatMap((one) => ('toEnqueue' in one ? (one.toEnqueue ?? []) : []));
}

function payments(count: number): readonly { readonly payment_id: string }[] {
  return Array.from({ length: count }, () => paymentObject());
}

function createApplier(on: Database = db): EventApplier {
  return createEventApplier({
    db: on,
    account: { merchantId: MERCHANT_ID, profileId: undefined },
    clock: systemClock,
    metrics: createLedgerMetrics(createMetrics()),
    log: silentLog,
  });
}

interface Recorded extends Producer<EventsJob> {
  readonly jobs: NewJob<EventsJob>[];
}

/** A queue that only records its jobs. */
function recordingProducer(waiting = 0, active = 0, delayed = 0): Recorded {
  const jobs: NewJob<EventsJob>[] = [];
  return {
    jobs,
    add: (added) => {
      jobs.push(...added);
      return Promise.resolve();
    },
    countJobs: () => Promise.resolve({ waiting, active, delayed }),
    close: () => Promise.resolve(),
  };
}

function handlerOver(
  parts: { readonly producer: Producer<EventsJob>; readonly applier?: EventApplier },
  on: Database = db,
): (job: RunningJob<EventsJob>) => Promise<void> {
  return createEventsHandler({
    db: on,
    applier: parts.applier ?? createApplier(on),
    producer: parts.producer,
    maxAttempts: MAX_ATTEMPTS,
    log: silentLog,
    closing: new AbortController().signal,
  });
}

function started(job: NewJob<EventsJob>, wasAbandoned = false): RunningJob<EventsJob> {
  return { name: job.name, data: job.data, wasAbandoned, isLastAttempt: false };
}

/** A real queue in the test's own database. */
function openQueue(): { producer: Producer<EventsJob>; work: typeof work } {
  const backend = createQueueBackend(createPostgresQueueConnections(db.url, silentLog), silentLog);
  const producer = backend.producer<EventsJob>(EVENTS_QUEUE);
  cleanups.push(
    () => backend.close(),
    () => producer.close(),
  );
  function work(handle: (job: RunningJob<EventsJob>) => Promise<void>): void {
    const consumer = backend.consumer<EventsJob>(EVENTS_QUEUE, 1, handle);
    cleanups.push(() => consumer.close());
  }
  return { producer, work };
}

/** Makes the database reject one payment because of its data. */
async function refuse(paymentId: string): Promise<void> {
  await db.query(`alter table resources add constraint refused check (id <> '${paymentId}')`);
}

async function allow(): Promise<void> {
  await db.query('alter table resources drop constraint refused');
}

async function appliedIds(): Promise<readonly string[]> {
  const rows = await db.query<{ id: string }>(
    `select id from resources where status = 'succeeded' order by id`,
  );
  return rows.map(({ id }) => id);
}

interface PendingRow {
  readonly id: number;
  readonly attempts: number;
  readonly enqueuedInMs: number;
}

function readPending(): Promise<readonly PendingRow[]> {
  return db.query<PendingRow>(
    `select webhook_event_id as id, attempts,
            (extract(epoch from enqueue_at - now()) * 1000)::float as "enqueuedInMs"
       from pending order by webhook_event_id`,
  );
}

async function pendingIds(): Promise<readonly number[]> {
  return (await readPending()).map(({ id }) => id);
}

function readDead(): Promise<readonly { id: number; attempts: number; error: string }[]> {
  return db.query('select webhook_event_id as id, attempts, error from dead_events order by 1');
}

function readFindings(): Promise<readonly { class: string; subject: string; state: string }[]> {
  return db.query('select class, subject, state, detail from findings order by id');
}

function ids(sorted: readonly { readonly payment_id: string }[]): readonly string[] {
  return sorted.map(({ payment_id }) => payment_id).sort();
}

describe('under a steady load', () => {
  test('jobs do not pile up, so that retried and replayed events have their turn', async () => {
    const { producer, work } = openQueue();
    let added = 0;
    const add = (inbox: readonly number[]): Promise<void> => {
      added += 1;
      return producer.add([batchJob(inbox)]);
    };
    const enqueuer = createEnqueuer({ add, countJobs: producer.countJobs }, silentLog);
    const handle = handlerOver({ producer });
    let started = 0;
    work(async (job) => {
      started += 1;
      await handle(job);
    });
    const elapsedSeconds = startStopwatch();
    while (started < 4) enqueuer.enqueue(await receive(payments(2)));
    // One may wait, and on a busy machine one more for each second.
    expect(added - started).toBeLessThanOrEqual(1 + elapsedSeconds());
    await enqueuer.drain();
    await waitFor('the events to be applied', async () => (await pendingIds()).length === 0);
  });
});

describe('a batch', () => {
  test('is applied in one transaction, and none of its events stay pending', async () => {
    const paid = payments(20);
    const inbox = await receive(paid);
    const producer = recordingProducer();
    await handlerOver({ producer })(started(batchJob(inbox)));

    expect(await appliedIds()).toEqual(ids(paid));
    expect(await pendingIds()).toEqual([]);
    expect(producer.jobs).toEqual([]);
    const transactions = await db.query(
      `select xmin::text from resources union select xmin::text from snapshots
        union select xmin::text from orders`,
    );
    expect(transactions).toHaveLength(1);
  });

  test('that has ids of applied or unknown events applies the rest', async () => {
    const [first, second] = payments(2);
    const inbox = await receive([first ?? {}, second ?? {}]);
    const producer = recordingProducer();
    const handle = handlerOver({ producer });
    await handle(started(batchJob(inbox.slice(0, 1))));
    await handle(started(batchJob([...inbox, 999_999])));

    expect(await appliedIds()).toHaveLength(2);
    expect(await pendingIds()).toEqual([]);
    expect(producer.jobs).toEqual([]);
  });

  test('is followed by the events that arrived meanwhile, before their job', async () => {
    const early = payments(2);
    const late = payments(3);
    const inbox = await receive(early);
    const arrived = await receive(late);
    const producer = recordingProducer();
    const handle = handlerOver({ producer });
    await handle(started(batchJob(inbox)));

    expect(await appliedIds()).toEqual(ids([...early, ...late]));
    expect(await pendingIds()).toEqual([]);
    await handle(started(batchJob(arrived)));
    expect(await appliedIds()).toHaveLength(5);
    expect(producer.jobs).toEqual([]);
  });

  test.each([
    ['is the only job: it applies what arrived', recordingProducer(), []],
    ['has jobs behind it: these have their turn', recordingProducer(1), ['late']],
    ['runs beside another: that one applies what arrived', recordingProducer(0, 2), ['late']],
    [
      'cannot see other jobs: it applies what arrived',
      {
        ...recordingProducer(),
        countJobs: () => Promise.reject(new Error('the queue is unavailable')),
      },
      [],
    ],
  ])('of which nothing is left, and which %s', async (_case, producer, left) => {
    const inbox = await receive(payments(1));
    const applier = createApplier();
    await applier.applyBatch(inbox);
    const [late] = await receive(payments(1));
    await handlerOver({ producer, applier })(started(batchJob(inbox)));
    expect(await pendingIds()).toEqual(left.length > 0 ? [late] : []);
  });

  test('is done even if what arrived meanwhile fails; that stays pending for its own job', async () => {
    const early = payments(2);
    const late = payments(2);
    const inbox = await receive(early);
    const arrived = await receive(late);
    await refuse(late[1]?.payment_id ?? '');
    const producer = recordingProducer();
    await handlerOver({ producer })(started(batchJob(inbox)));

    expect(await appliedIds()).toEqual(ids(early));
    expect(await pendingIds()).toEqual(arrived);
    expect((await readPending()).map(({ attempts }) => attempts)).toEqual([0, 0]);
    expect(producer.jobs).toEqual([]);
    await allow();
  });

  test('is split into a job for each event when the data of one event fails', async () => {
    const paid = payments(3);
    const inbox = await receive(paid);
    await refuse(paid[1]?.payment_id ?? '');
    const producer = recordingProducer();
    await handlerOver({ producer })(started(batchJob(inbox)));

    expect(await appliedIds()).toEqual([]);
    expect(producer.jobs.map(({ data }) => data.ids)).toEqual(inbox.map((id) => [id]));
    expect(producer.jobs.every(({ attempts }) => attempts === MAX_ATTEMPTS)).toBe(true);
    // Their next enqueue is postponed until those jobs have had time to finish.
    for (const row of await readPending()) {
      expect(row).toMatchObject({ attempts: 0 });
      expect(row.enqueuedInMs).toBeGreaterThan(5 * 60_000);
    }
  });

  test('is retried whole after a transient database error, and no attempts are counted', async () => {
    const paid = payments(3);
    const inbox = await receive(paid);
    await db.query(
      `create function conflict() returns trigger language plpgsql as
       $$ begin raise exception 'try again' using errcode = '40001'; end $$`,
    );
    await db.query(
      'create trigger conflict before insert on snapshots execute function conflict()',
    );
    const producer = recordingProducer();
    const handle = handlerOver({ producer });
    await expect(handle(started(batchJob(inbox)))).rejects.toThrow('try again');
    expect(producer.jobs).toEqual([]);
    expect((await readPending()).map(({ attempts }) => attempts)).toEqual([0, 0, 0]);

    await db.query('drop trigger conflict on snapshots');
    await handle(started(batchJob(inbox)));
    expect(await appliedIds()).toEqual(ids(paid));
  });

  test('is retried whole when the database is unavailable', async () => {
    const paid = payments(3);
    const inbox = await receive(paid);
    const wire = await startTcpProxy(db.url);
    cleanups.push(() => wire.close());
    const through = openDatabase(wire.url);
    const producer = recordingProducer();
    const handle = handlerOver({ producer }, through);
    wire.refuse();
    await expect(handle(started(batchJob(inbox)))).rejects.toThrow();
    expect(producer.jobs).toEqual([]);
    expect((await readPending()).map(({ attempts }) => attempts)).toEqual([0, 0, 0]);

    await wire.resume();
    await handle(started(batchJob(inbox)));
    expect(await appliedIds()).toEqual(ids(paid));
  });

  test('is split, not retried, when its process died', async () => {
    const inbox = await receive(payments(3));
    const producer = recordingProducer();
    await handlerOver({ producer })(started(batchJob(inbox), true));
    expect(await appliedIds()).toEqual([]);
    expect(producer.jobs.map(({ data }) => data.ids)).toEqual(inbox.map((id) => [id]));
  });

  test('skips events that were tried alone, and enqueues them alone again', async () => {
    const paid = payments(2);
    const inbox = await receive(paid);
    await db.query('update pending set attempts = 1 where webhook_event_id = $1', [inbox[0]]);
    const producer = recordingProducer();
    const handle = handlerOver({ producer });
    await handle(started(batchJob(inbox)));
    expect(await pendingIds()).toEqual([inbox[0]]);
    expect(producer.jobs.map(({ data }) => data.ids)).toEqual([[inbox[0]]]);

    for (const job of producer.jobs.splice(0)) await handle(started(job));
    expect(await appliedIds()).toEqual(ids(paid));
    expect(await pendingIds()).toEqual([]);
  });
});

describe('two workers', () => {
  test('leave no event behind: a job applies what the other one held and did not commit', async () => {
    const paid = payments(3);
    const inbox = await receive(paid);
    const other = await beginTransaction(db);
    expect(await claimUntried(other.tx, inbox, 'free')).toHaveLength(3);
    const producer = recordingProducer();
    const job = handlerOver({ producer })(started(batchJob(inbox)));
    await waitFor('the job to wait for the other worker', async () => {
      const waiting = await db.query(
        `select from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock' and wait_event = 'advisory'`,
      );
      return waiting.length > 0;
    });
    await other.rollBack();
    await job;

    expect(await appliedIds()).toEqual(ids(paid));
    expect(await pendingIds()).toEqual([]);
    expect(producer.jobs).toEqual([]);
  });

  test('wait for one that hangs once, for seconds: then they apply what it does not hold itself', async () => {
    const [hot = paymentObject(), second = paymentObject()] = payments(2);
    const inbox = await receive([hot, hot]);
    const hanging = await beginTransaction(db);
    expect(await claimUntried(hanging.tx, inbox.slice(0, 1), 'free')).toHaveLength(1);
    const producer = recordingProducer();
    const handle = handlerOver({ producer });
    await handle(started(batchJob(inbox)));
    expect(await appliedIds()).toEqual([hot.payment_id]);

    // Of the same lane, too: this job waits for nothing, so it ends while the lane is held.
    const later = await receive([hot, second]);
    const waits = await db.query<{ n: number }>('select count(*) as n from pending');
    await handle(started(batchJob(later)));
    expect(waits).toEqual([{ n: 3 }]);
    expect(await appliedIds()).toEqual(ids([hot, second]));
    await hanging.rollBack();
    expect(await pendingIds()).toEqual(inbox.slice(0, 1));
  });

  test('are repeated later if one that works holds lanes for long, and still leave them to it', async () => {
    const [hot = paymentObject(), second = paymentObject()] = payments(2);
    const inbox = await receive([hot, hot]);
    const busy = await beginTransaction(db);
    expect(await claimUntried(busy.tx, inbox.slice(0, 1), 'free')).toHaveLength(1);
    let isWorking = true;
    const working = (async () => {
      while (isWorking) await busy.tx.query('select pg_sleep(0.1)');
      await busy.rollBack();
    })();
    cleanups.push(() => {
      isWorking = false;
      return working;
    });
    const applier = createApplier();
    const handle = handlerOver({ producer: recordingProducer(), applier });
    await expect(handle(started(batchJob(inbox)))).rejects.toThrow(/lock timeout/);

    // The lane is not ignored.
    const later = await receive([hot, second]);
    expect(await applier.applyBatch(later)).toBe(1);
    expect(await appliedIds()).toEqual([second.payment_id]);
    isWorking = false;
    await working;
    await handle(started(batchJob([...inbox, ...later])));
    expect(await appliedIds()).toEqual(ids([hot, second]));
    expect(await pendingIds()).toEqual([]);
  });

  test.each([
    ['overlapping batches', false],
    ['overlapping batches and the same arrivals', true],
  ])('with %s apply each event once', async (_case, withArrivals) => {
    const paid = payments(200);
    const inbox = await receive(paid);
    let applied = 0;
    const counting = (): EventApplier => {
      const applier = createApplier();
      return {
        ...applier,
        applyBatch: async (list) => {
          const count = await applier.applyBatch(list);
          applied += count;
          return count;
        },
        applyFrom: async (fromId) => {
          const count = withArrivals ? await applier.applyFrom(fromId, 10) : 0;
          applied += count;
          return count;
        },
        applyHeld: async (list) => {
          const count = await applier.applyHeld(list);
          applied += count;
          return count;
        },
      };
    };
    const producer = recordingProducer();
    const workers = [counting(), counting()].map((applier) => handlerOver({ producer, applier }));
    // Lists of 20 that overlap by 10, forwards for one worker and backwards for the other.
    const lists = Array.from({ length: 20 }, (_, place) =>
      inbox.slice(place * 10, place * 10 + 20),
    );
    await Promise.all(
      workers.map(async (handle, worker) => {
        for (const list of worker === 0 ? lists : [...lists].reverse()) {
          await handle(started(batchJob(list)));
        }
      }),
    );

    expect(applied).toBe(200);
    expect(await appliedIds()).toEqual(ids(paid));
    expect(await pendingIds()).toEqual([]);
    expect(producer.jobs).toEqual([]);
  });
});

describe('an event with data that cannot be applied', () => {
  test('is dead after its last attempt, alone: other events are applied, and a replay repairs it', async () => {
    const paid = payments(3);
    const inbox = await receive(paid);
    const bad = { paymentId: paid[1]?.payment_id ?? '', inboxId: inbox[1] ?? 0 };
    await refuse(bad.paymentId);
    const attemptsBeforeTry: number[] = [];
    const real = createApplier();
    const applier: EventApplier = {
      ...real,
      applyOne: async (id) => {
        if (id === bad.inboxId) {
          const row = (await readPending()).find((one) => one.id === id);
          attemptsBeforeTry.push(row?.attempts ?? -1);
        }
        await real.applyOne(id);
      },
    };
    const { producer, work } = openQueue();
    work(handlerOver({ producer, applier }));
    await producer.add([batchJob(inbox)]);

    await waitFor('the event to die', async () => (await readDead()).length === 1);
    expect(attemptsBeforeTry).toEqual([1, 2, 3]);
    expect(await appliedIds()).toEqual(ids(paid).filter((id) => id !== bad.paymentId));
    expect(await pendingIds()).toEqual([]);
    const [dead] = await readDead();
    expect(dead).toMatchObject({ id: bad.inboxId, attempts: MAX_ATTEMPTS });
    expect(dead?.error).toContain('violates check constraint "refused"');
    const detail = { attempts: MAX_ATTEMPTS, error: dead?.error };
    const finding = { class: 'event_dead', subject: `event:${bad.inboxId}`, detail };
    expect(await readFindings()).toEqual([{ ...finding, state: 'open' }]);

    await allow();
    await replayEvents(db, [bad.inboxId]);
    await producer.add([batchJob([bad.inboxId])]);
    await waitFor('the event to be applied', async () => (await pendingIds()).length === 0);
    expect(await appliedIds()).toEqual(ids(paid));
    expect(await readDead()).toEqual([]);
    expect(await readFindings()).toEqual([{ ...finding, state: 'closed' }]);
  });

  test('is dead again when it is replayed before the cause was fixed', async () => {
    const paid = payments(1);
    const [inboxId = 0] = await receive(paid);
    await refuse(paid[0]?.payment_id ?? '');
    const producer = recordingProducer();
    const handle = handlerOver({ producer });
    const runAll = async () => {
      await handle(started(batchJob([inboxId])));
      for (const job of producer.jobs.splice(0)) {
        for (let attempt = 1; attempt < MAX_ATTEMPTS; attempt += 1) {
          await expect(handle(started(job))).rejects.toThrow('refused');
        }
        await handle(started(job));
      }
    };
    await runAll();
    await replayEvents(db, [inboxId]);
    expect(await readDead()).toEqual([]);
    await runAll();

    expect(await readDead()).toMatchObject([{ id: inboxId, attempts: MAX_ATTEMPTS }]);
    const states = (await readFindings()).map(({ state }) => state);
    expect(states).toEqual(['closed', 'open']);
  });

  test.each([
    Object.assign(new Error('deadlock detected'), { code: '40P01' }),
    new Error('Query read timeout'),
    new LockSetChanged([]),
  ])('stays pending after any number of transient errors: %s', async (error) => {
    const paid = payments(1);
    const [inboxId = 0] = await receive(paid);
    await db.query('update pending set attempts = $1', [MAX_ATTEMPTS - 1]);
    const busy: EventApplier = { ...createApplier(), applyOne: () => Promise.reject(error) };
    const producer = recordingProducer();
    for (let attempt = 0; attempt <= MAX_ATTEMPTS; attempt += 1) {
      const failing = handlerOver({ producer, applier: busy })(single(inboxId));
      await expect(failing).rejects.toThrow(error);
    }
    expect(await readPending()).toMatchObject([{ id: inboxId, attempts: MAX_ATTEMPTS - 1 }]);
    expect(await readDead()).toEqual([]);

    await handlerOver({ producer })(single(inboxId));
    expect(await appliedIds()).toEqual(ids(paid));
  });
});

describe('a lock that another session holds on one order', () => {
  test('leaves no event dead: the batch is retried, then split, and only the locked event waits', async () => {
    const [locked = paymentObject(), ...others] = payments(3);
    await applyAll(await receive([{ ...locked, status: 'processing', amount_received: 0 }]));
    const inbox = await receive([locked, ...others]);
    await db.query(
      `alter database ${new URL(db.url).pathname.slice(1)} set lock_timeout = '200ms'`,
    );
    const impatient = openDatabase(db.url);
    const holder = await lockOrderOf(locked.payment_id);
    const producer = recordingProducer();
    const handle = handlerOver({ producer }, impatient);

    await expect(handle(started(batchJob(inbox)))).rejects.toThrow('lock timeout');
    expect(producer.jobs).toEqual([]);
    await handle({ ...started(batchJob(inbox)), isLastAttempt: true });
    expect(producer.jobs.map(({ data }) => data.ids)).toEqual(inbox.map((id) => [id]));

    const [ofLocked = single(0), ...ofOthers] = producer.jobs.map((job) => started(job));
    for (const job of ofOthers) await handle(job);
    for (let attempt = 0; attempt <= MAX_ATTEMPTS; attempt += 1) {
      await expect(handle(ofLocked)).rejects.toThrow('lock timeout');
    }
    expect(await readPending()).toMatchObject([{ id: inbox[0], attempts: 0 }]);
    expect(await readDead()).toEqual([]);

    await holder.release();
    await handle(ofLocked);
    expect(await pendingIds()).toEqual([]);
    expect(await readDead()).toEqual([]);
  });
});

describe('an outage of the database in the middle of an attempt', () => {
  test('is not counted as an attempt, regardless of how often it happens', async () => {
    const paid = payments(1);
    const [inboxId = 0] = await receive(paid);
    const wire = await startTcpProxy(db.url);
    cleanups.push(() => wire.close());
    const through = openDatabase(wire.url);
    const unlucky: EventApplier = {
      ...createApplier(through),
      applyOne: async () => {
        wire.refuse();
        await through.query('select 1');
      },
    };
    const producer = recordingProducer();
    const handle = handlerOver({ producer, applier: unlucky }, through);
    for (let attempt = 0; attempt <= MAX_ATTEMPTS + 1; attempt += 1) {
      await wire.resume();
      await expect(handle(single(inboxId))).rejects.toThrow();
      expect(await readPending()).toMatchObject([{ attempts: 1 }]);
    }
    expect(await readDead()).toEqual([]);
  });

  test('is not counted if the standby did not confirm its count, so that it was not made', async () => {
    const [inboxId = 0] = await receive(payments(1));
    let isConfirmed = false;
    const through: Database = {
      ...db,
      query: async <Row extends object>(text: string, values?: readonly unknown[]) => {
        const rows = await db.query<Row>(text, values);
        const isCount = text.includes('attempts = attempts + 1');
        if (isCount && !isConfirmed) throw new CommitNotReplicated('canceled');
        return rows;
      },
    };
    const handle = handlerOver({ producer: recordingProducer() }, through);
    for (let attempt = 0; attempt <= MAX_ATTEMPTS; attempt += 1) {
      await expect(handle(single(inboxId))).rejects.toThrow('the synchronous standby');
    }
    isConfirmed = true;
    await handle(single(inboxId));
    expect(await readDead()).toEqual([]);
    expect(await appliedIds()).toHaveLength(1);
  });
});

/** Locks the order of a payment as an operator's forgotten session does. */
async function lockOrderOf(paymentId: string): Promise<{ release(): Promise<void> }> {
  const client = new pg.Client({ connectionString: db.url });
  await client.connect();
  cleanups.push(() => client.end());
  await client.query('begin');
  await client.query(
    `select from orders
      where order_key = (select order_key from resources where kind = 'payment' and id = $1)
        for update`,
    [paymentId],
  );
  return {
    release: async () => {
      await client.query('commit');
    },
  };
}

async function applyAll(inbox: readonly number[]): Promise<void> {
  await handlerOver({ producer: recordingProducer() })(started(batchJob(inbox)));
}

/** A pool like that of a worker; it is closed after the test. */
function openDatabase(connectionString: string): Database {
  const opened = createDatabase({
    connectionString,
    log: silentLog,
    applicationName: 'test',
    maxConnections: 2,
    responseTimeoutMs: 30_000,
    plans: 'any',
  });
  cleanups.push(() => opened.close());
  return opened;
}

describe('an event that kills the process', () => {
  test('has each attempt counted before it starts, and is dead after the last one', async () => {
    const [inboxId = 0] = await receive(payments(1));
    const deadly: EventApplier = {
      ...createApplier(),
      applyOne: () => new Promise(() => undefined),
    };
    const handle = handlerOver({ producer: recordingProducer(), applier: deadly });
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
      void handle({ ...single(inboxId), wasAbandoned: attempt > 1 });
      await waitFor(`attempt ${attempt} to be counted`, async () => {
        const [row] = await readPending();
        return row?.attempts === attempt;
      });
    }
    expect(await readDead()).toEqual([]);

    await handle({ ...single(inboxId), wasAbandoned: true });
    expect(await pendingIds()).toEqual([]);
    expect(await readDead()).toEqual([
      {
        id: inboxId,
        attempts: MAX_ATTEMPTS,
        error: expect.stringMatching(/the process.* ended while the event was being applied/),
      },
    ]);
    expect(await readFindings()).toMatchObject([{ class: 'event_dead', state: 'open' }]);
  });

  test('is skipped by jobs that arrive after it was applied', async () => {
    const [inboxId = 0] = await receive(payments(1));
    const handle = handlerOver({ producer: recordingProducer() });
    await handle(single(inboxId));
    await handle({ ...single(inboxId), wasAbandoned: true });
    expect(await readDead()).toEqual([]);
    expect(await appliedIds()).toHaveLength(1);
  });
});

describe('an event is applied or dead, never both', () => {
  test('when one worker marks it dead while another applies it', async () => {
    const paid = payments(1);
    const [inboxId = 0] = await receive(paid);
    const worker = createApplier();
    let markedDead: Promise<boolean> | undefined;
    const slow: Database = {
      ...db,
      transaction: (work) =>
        db.transaction(async (tx) => {
          const applied = await work(tx);
          markedDead = worker.markDead(inboxId, MAX_ATTEMPTS, 'never came to an end');
          await waitFor('the other worker to wait for it', async () => {
            const waiting = await db.query(
              `select from pg_stat_activity
                where datname = current_database() and wait_event_type = 'Lock'`,
            );
            return waiting.length === 1;
          });
          return applied;
        }),
    };
    await createApplier(slow).applyOne(inboxId);
    expect(await markedDead).toBe(false);
    expect(await appliedIds()).toEqual(ids(paid));
    expect(await readDead()).toEqual([]);
    expect(await readFindings()).toEqual([]);
  });

  test('when another body arrives under its id and it can be applied meanwhile', async () => {
    const payment = paymentObject();
    const eventId = 'evt_reused';
    const [inboxId = 0] = await receive([payment], { eventId });
    expect(await createApplier().markDead(inboxId, MAX_ATTEMPTS, 'it was early')).toBe(true);
    expect(await receive([{ ...payment, amount: 1 }], { eventId })).toEqual([inboxId]);
    await handlerOver({ producer: recordingProducer() })(started(batchJob([inboxId])));

    expect(await appliedIds()).toEqual([payment.payment_id]);
    expect(await pendingIds()).toEqual([]);
    expect(await readDead()).toEqual([]);
    expect(await readFindings()).toMatchObject([
      { class: 'event_dead', state: 'closed' },
      { class: 'event_id_reused', state: 'open' },
    ]);
  });
});

/** The job that a split creates for one event. */
function single(inboxId: number): RunningJob<EventsJob> {
  return { name: 'single', data: { ids: [inboxId] }, wasAbandoned: false, isLastAttempt: false };
}

describe('the sweep', () => {
  function sweepWith(producer: Producer<EventsJob>, options: Partial<SweepParts> = {}) {
    const { signal } = new AbortController();
    return createSweep({ db, producer, log: silentLog, signal, ...options });
  }

  /** A queue from which workers claim this many jobs between two reads of its length. */
  function drainingProducer(jobsPerLook: number): Recorded & { deepest(): number } {
    const recorded = recordingProducer();
    let taken = 0;
    let deepest = 0;
    return {
      ...recorded,
      add: async (jobs) => {
        await recorded.add(jobs);
        deepest = Math.max(deepest, recorded.jobs.length - taken);
      },
      countJobs: () => {
        const waiting = recorded.jobs.length - taken;
        // Workers are slow at first, so that the queue fills.
        if (recorded.jobs.length >= 40) taken += Math.min(jobsPerLook, waiting);
        return Promise.resolve({ waiting, active: 0, delayed: 0 });
      },
      deepest: () => deepest,
    };
  }

  async function makeOverdue(list: readonly number[]): Promise<void> {
    await db.query(
      `update pending set enqueue_at = now() - interval '1 second' where webhook_event_id = any ($1)`,
      [list],
    );
  }

  /** Rows in `pending` without inbox rows, for tests that only enqueue. */
  async function insertPending(count: number, enqueueIn: string): Promise<void> {
    await db.query(
      `insert into pending (webhook_event_id, enqueue_at)
       select n, now() + $2::interval + n * interval '1 microsecond' from generate_series(1, $1) n`,
      [count, enqueueIn],
    );
  }

  function enqueued({ jobs }: Recorded): readonly number[] {
    return jobs.flatMap(({ data }) => data.ids);
  }

  test('enqueues only overdue events, and each of them once', async () => {
    const inbox = await receive(payments(10));
    const overdue = inbox.slice(3, 7);
    await makeOverdue(overdue);
    const producer = recordingProducer();
    const sweep = sweepWith(producer);
    await sweep.overdue();
    expect(producer.jobs).toEqual([batchJob(overdue)]);
    await sweep.overdue();
    expect(producer.jobs).toHaveLength(1);

    // Events that no worker claimed are overdue again a minute later.
    const rows = (await readPending()).filter(({ id }) => overdue.includes(id));
    for (const { enqueuedInMs } of rows) {
      expect(enqueuedInMs).toBeGreaterThan(50_000);
      expect(enqueuedInMs).toBeLessThanOrEqual(60_000);
    }
  });

  test('enqueues events that have waited for seconds while the queue is empty, each of them once', async () => {
    const inbox = await receive(payments(4));
    const lost = inbox.slice(0, 2);
    // Their enqueue time was set eleven seconds ago; that of the others just now.
    await db.query(
      `update pending set enqueue_at = now() + interval '49 seconds' where webhook_event_id = any ($1)`,
      [lost],
    );
    for (const busy of [recordingProducer(1), recordingProducer(0, 0, 1)]) {
      await sweepWith(busy).overdue();
      expect(busy.jobs).toEqual([]);
    }

    const empty = recordingProducer();
    await sweepWith(empty).overdue();
    await sweepWith(empty).overdue();
    expect(empty.jobs).toEqual([batchJob(lost)]);
  });

  test('run by several processes at once enqueues each row once', async () => {
    await insertPending(3_000, '-1 second');
    const producers = [recordingProducer(), recordingProducer(), recordingProducer()];
    await Promise.all(producers.map((producer) => sweepWith(producer).overdue()));
    const all = producers.flatMap(enqueued);
    expect(all).toHaveLength(3_000);
    expect(new Set(all).size).toBe(3_000);
  });

  test('enqueues a backlog of any size at the rate of the workers, and keeps the queue short', async () => {
    await insertPending(60_700, '-1 minute');
    const queue = drainingProducer(15);
    await sweepWith(queue).overdue();
    expect(enqueued(queue)).toHaveLength(60_700);
    expect(new Set(enqueued(queue)).size).toBe(60_700);
    expect(queue.jobs.every(({ data }) => data.ids.length <= 500)).toBe(true);
    expect(queue.deepest()).toBeLessThanOrEqual(40);
  });

  test('adds at most 40 jobs while no worker claims any, and ends at its time limit or on a stop', async () => {
    await insertPending(30_000, '-1 minute');
    const idle = drainingProducer(0);
    await sweepWith(idle, { runForSeconds: 0 }).overdue();
    expect(enqueued(idle)).toHaveLength(20_000);

    const stopping = new AbortController();
    const sweeping = sweepWith(idle, { signal: stopping.signal }).overdue();
    await waitFor('the rest to be enqueued', () => enqueued(idle).length === 30_000);
    stopping.abort();
    await sweeping;
  });

  test('waits while the queue is long, and continues when it is not', async () => {
    await insertPending(5, '-1 second');
    const { producer, work } = openQueue();
    await producer.add(Array.from({ length: 201 }, () => batchJob([])));
    const sweep = sweepWith(producer);
    await sweep.overdue();
    await sweep.everything();
    expect(await producer.countJobs()).toMatchObject({ waiting: 201 });

    const handled: number[] = [];
    work(({ data }) => {
      handled.push(...data.ids);
      return Promise.resolve();
    });
    await waitFor('the queue to drain', async () => (await producer.countJobs()).waiting === 0);
    await sweep.overdue();
    await waitFor('the rows to be enqueued', () => handled.length === 5);
  });

  test('at the start of a process enqueues every event once, except events that have their own jobs', async () => {
    const inbox = await receive(payments(6));
    const alone = inbox.slice(0, 2);
    const producer = recordingProducer();
    await handlerOver({ producer })(started(batchJob(alone), true));
    producer.jobs.splice(0);

    await sweepWith(producer).everything();
    expect(producer.jobs).toEqual([batchJob(inbox.slice(2))]);
  });

  test.each([-1, 1])(
    'enqueues each row once when the clock of its process is wrong: %d hour',
    async (hours) => {
      const inbox = await receive(payments(4));
      await makeOverdue(inbox.slice(0, 1));
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + hours * 3_600_000 });
      cleanups.push(() => vi.useRealTimers());
      const producer = recordingProducer();
      await sweepWith(producer).overdue();
      expect(producer.jobs).toEqual([batchJob(inbox.slice(0, 1))]);
      await sweepWith(producer).everything();
      expect(producer.jobs.slice(1)).toEqual([batchJob(inbox)]);
    },
  );

  test('a failed enqueue is repeated by a later sweep', async () => {
    const inbox = await receive(payments(2));
    await makeOverdue(inbox);
    const unavailable: Producer<EventsJob> = {
      ...recordingProducer(),
      add: () => Promise.reject(new Error('the queue is unavailable')),
    };
    await expect(sweepWith(unavailable).overdue()).rejects.toThrow('the queue is unavailable');
    expect(await pendingIds()).toEqual(inbox);
    await makeOverdue(inbox);
    const producer = recordingProducer();
    await sweepWith(producer).overdue();
    expect(enqueued(producer)).toEqual(inbox);
  });
});

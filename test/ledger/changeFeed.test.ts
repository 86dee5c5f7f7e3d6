/**
 * The change feed under concurrent writers. The production failure it prevents: a number that was
 * drawn before a commit becomes visible after a greater one, a reader skips it, and the shop never
 * learns that an order was paid.
 *
 * Numbering without the lock, or by the ids of `change_log`, fails the first test for most seeds.
 */
import { randomInt } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { applySnapshots } from '../../src/ledger/applySnapshots.ts';
import { type ChangeFeed, createChangeFeed } from '../../src/ledger/changeFeed.ts';
import type { NumberedChange } from '../../src/ledger/domain/changes.ts';
import { inHashOrder, type SnapshotContent } from '../../src/ledger/domain/snapshot.ts';
import {
  insertChanges,
  publishChanges,
  readChanges,
  readLastNumbersOf,
} from '../../src/ledger/store/changes.ts';
import { createDatabase, type Database } from '../../src/platform/db/database.ts';
import { createTestDatabase, silentLog, type TestDatabase } from '../support/database.ts';
import { eventBody, paymentObject, unique } from '../support/events.ts';
import { applyEach, readOpenFindings, receive, testApplier } from '../support/ledger.ts';
import { observe, SECOND, T0 } from '../support/observations.ts';
import { waitFor } from '../support/waitFor.ts';

let db: TestDatabase;
const cleanups: (() => Promise<void>)[] = [];

beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(async () => {
  for (const cleanup of cleanups) await cleanup();
  await db.drop();
});

function pool(maxConnections: number): Database {
  const own = createDatabase({
    connectionString: db.url,
    log: silentLog,
    applicationName: 'feed-test',
    maxConnections,
    responseTimeoutMs: 30_000,
    plans: 'by_key',
  });
  cleanups.push(() => own.close());
  return own;
}

/** Numbers from 0 to below 1, the same for the same seed. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Reads with a cursor, in small pages, until `isOver` and the last page is empty. */
async function poll(
  feed: ChangeFeed,
  { after, isOver }: { readonly after: number; readonly isOver: () => boolean },
): Promise<readonly NumberedChange[]> {
  const seen: NumberedChange[] = [];
  for (;;) {
    const wasOver = isOver();
    const last = seen.at(-1)?.number ?? after;
    const reading = await feed.read({ after: last, limit: 7 });
    if (reading.outcome !== 'read') throw new Error('the reader is ahead of its own feed');
    seen.push(...reading.changes);
    if (wasOver && reading.changes.length === 0) return seen;
  }
}

/** A reader may find nothing while another one numbers the changes. */
async function waitForPublished(): Promise<void> {
  await waitFor('the feed to be published', async () => {
    const [row] = await db.query<{ left: number }>('select count(*) as left from change_log');
    return row?.left === 0;
  });
}

async function lastNumber(): Promise<number> {
  const [row] = await db.query<{ last: number }>(
    'select coalesce(max(number), 0) as last from changes',
  );
  return row?.last ?? 0;
}

const WRITERS = 12;
const TRANSACTIONS = 25;
const SUBJECTS = 6;

describe.each([randomInt(2 ** 31), randomInt(2 ** 31)])('concurrent writers, seed %i', (seed) => {
  test('a polling reader sees every change once, and those of each subject in order', async () => {
    const writers = pool(WRITERS);
    const run = unique('run');
    const names = Array.from({ length: SUBJECTS }, (_, place) => `${run}_${place}`);
    await db.query(
      `insert into resources (kind, id) select 'payout', id from unnest($1::text[]) as u (id)`,
      [names],
    );
    const committed: string[] = [];
    const after = await lastNumber();

    const write = async (writer: number): Promise<void> => {
      const random = generator(seed + writer);
      for (let turn = 0; turn < TRANSACTIONS; turn += 1) {
        const subjects = names.filter(() => random() < 0.4);
        // One transaction in four is slow to commit, one in five is rolled back.
        const delayMs = random() < 0.25 ? random() * 25 : random() * 2;
        const isUndone = random() < 0.2;
        const marks = subjects.map((subject) => `${subject}#${writer}.${turn}`);
        const work = writers.transaction(async (tx) => {
          // As in applySnapshots, subjects are locked in the order of their names before they change.
          await tx.query(
            `select from resources where kind = 'payout' and id = any ($1::text[])
              order by id for update`,
            [subjects],
          );
          await insertChanges(
            tx,
            subjects.map((subject, place) => ({
              kind: 'payout',
              subject,
              change: 'status',
              previousStatus: null,
              status: marks[place] ?? null,
              webhookEventId: undefined,
              isHistory: false,
            })),
          );
          await pause(delayMs);
          if (isUndone) throw new Error('undone');
          // The subjects are still locked, so these marks are in the order of commits.
          committed.push(...marks);
        });
        await work.catch((error: unknown) => {
          if (!isUndone) throw error;
        });
      }
    };

    let isWritten = false;
    let isOver = false;
    const readers = [createChangeFeed(pool(2)), createChangeFeed(pool(2))];
    const publisher = createChangeFeed(pool(2));
    const publishing = (async () => {
      while (!isWritten) await publisher.publish();
    })();
    const reading = readers.map((feed) => poll(feed, { after, isOver: () => isOver }));
    await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)));
    isWritten = true;
    await publishing;
    await waitForPublished();
    isOver = true;
    const [first = [], second = []] = await Promise.all(reading);

    const own = first.filter(({ id }) => id.startsWith(run));
    expect(own.map(({ status }) => status).toSorted()).toEqual(committed.toSorted());
    const numbers = first.map(({ number }) => number);
    expect(numbers).toEqual(numbers.map((_, place) => after + 1 + place));
    expect(second).toEqual(first);
    for (const name of names) {
      const read = own.filter(({ id }) => id === name).map(({ status }) => status);
      expect(read).toEqual(committed.filter((mark) => mark.startsWith(`${name}#`)));
    }
    expect(committed.length).toBeGreaterThan(100);
  });
});

test('the changes of an order lead from its creation to its current state', async () => {
  const seed = randomInt(2 ** 31);
  const random = generator(seed);
  const orders = Array.from({ length: 5 }, () => unique('ord'));
  const bodies = orders.flatMap((orderId) =>
    [unique('pay'), unique('pay')].flatMap((paymentId) =>
      ['processing', 'requires_capture', 'partially_captured', 'succeeded'].map((status, place) =>
        eventBody(
          paymentObject({
            payment_id: paymentId,
            status,
            capture_method: 'manual',
            amount_received: status === 'succeeded' ? 6540 : 10 * place,
            metadata: { order_id: orderId },
            modified_at: `2026-11-01T10:00:0${place}.000Z`,
          }),
        ),
      ),
    ),
  );
  const ids = (await receive(db, bodies))
    .map((id) => ({ id, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ id }) => id);
  const after = await lastNumber();
  let isOver = false;
  const reading = poll(createChangeFeed(pool(2)), { after, isOver: () => isOver });
  const workers = Array.from({ length: 8 }, async (_, worker) => {
    const own = ids.filter((_id, place) => place % 8 === worker);
    // A transaction that fails between its writes and its commit is retried, like a job.
    const applier = testApplier(dying(pool(1), generator(seed + worker)));
    for (const id of own) {
      for (;;) {
        // One event takes no lane, so workers also meet at one payment.
        const failure = await applier.applyOne(id).catch((error: unknown) => error);
        if (failure === undefined) break;
        expect(String(failure), `seed ${seed}`).toContain('died before its commit');
      }
    }
  });
  await Promise.all(workers);
  await waitForPublished();
  isOver = true;
  const changes = await reading;

  for (const orderId of orders) {
    const own = changes.filter(({ id, kind }) => kind === 'order' && id === orderId);
    const [row] = await db.query<{ status: string }>(
      'select status from orders where order_key = $1',
      [`order:${orderId}`],
    );
    expect(own.at(-1)?.status, `seed ${seed}`).toBe(row?.status);
    expect(own.map(({ previousStatus }) => previousStatus)).toEqual([
      null,
      ...own.slice(0, -1).map(({ status }) => status),
    ]);
    for (const { change, status, previousStatus } of own) {
      expect(change).toBe(status === previousStatus ? 'details' : 'status');
    }
    // Every body of the order has new content, so each of them is a change.
    expect(own).toHaveLength(8);
  }
});

/** A database with transactions that commit slowly, and some that never commit. */
function dying(database: Database, random: () => number): Database {
  return {
    ...database,
    transaction: (work) =>
      database.transaction(async (tx) => {
        const result = await work(tx);
        await pause(random() * 8);
        if (random() < 0.2) throw new Error('died before its commit');
        return result;
      }),
  };
}

describe('a change is recorded', () => {
  const read = async (after: number): Promise<readonly NumberedChange[]> => {
    const reading = await createChangeFeed(db).read({ after, limit: 100 });
    if (reading.outcome !== 'read') throw new Error(reading.outcome);
    return reading.changes;
  };
  const cursor = async (): Promise<number> => {
    await createChangeFeed(db).publish();
    return lastNumber();
  };

  test('once for each order of a batch, with the last event that changed it', async () => {
    const [one, other] = [unique('ord'), unique('ord')];
    const after = await cursor();
    const ids = await receive(db, [
      eventBody(paymentObject({ metadata: { order_id: one } })),
      eventBody(paymentObject({ metadata: { order_id: one } })),
      eventBody(
        paymentObject({
          metadata: { order_id: other },
          status: 'processing',
          amount_received: 0,
        }),
      ),
    ]);
    await testApplier(db).applyBatch(ids);
    const changes = await read(after);
    expect(changes.toSorted((a, b) => (a.id < b.id ? -1 : 1))).toMatchObject([
      {
        kind: 'order',
        id: one,
        orderKey: `order:${one}`,
        change: 'status',
        status: 'paid',
        previousStatus: null,
        webhookEventId: ids[1],
      },
      { id: other, status: 'pending', previousStatus: null, webhookEventId: ids[2] },
    ]);
  });

  test('not when a delivery has no new content', async () => {
    const payment = paymentObject();
    const applier = testApplier(db);
    await applyEach(db, applier, [eventBody(payment)]);
    const after = await cursor();
    await applyEach(db, applier, [eventBody(payment), eventBody(payment)]);
    expect(await read(after)).toEqual([]);
  });

  test('when a finding about a part of an order opens or closes, even if no state changes', async () => {
    const id = unique('pay');
    const more = {
      amountMinor: 200,
      currency: 'USD',
      status: 'partially_captured_and_capturable',
      amountReceivedMinor: 100,
      versionMicros: T0,
    };
    const less = { ...more, amountReceivedMinor: 60 };
    const retrieve = (content: SnapshotContent, seconds: number) =>
      db.transaction((tx) =>
        applySnapshots(tx, {
          observations: [
            observe(inHashOrder(content), {
              id,
              source: 'retrieve',
              observedMicros: T0 + seconds * SECOND,
            }),
          ],
          toRetrieve: [],
          alsoLock: [],
          nowMs: T0 / 1000,
          history: undefined,
        }),
      );
    const isContradicted = async () =>
      (await readOpenFindings(db, `payment:${id}`)).some((one) => one.class === 'amount');
    await retrieve(more, 1);
    await retrieve(less, 2);
    expect(await isContradicted()).toBe(true);
    const after = await cursor();
    // From here on the service repeats itself: no content is new.
    await retrieve(more, 10);
    expect(await isContradicted()).toBe(false);
    await retrieve(less, 20);
    expect(await isContradicted()).toBe(true);
    await retrieve(less, 30);
    expect(await read(after)).toMatchObject([
      { id, change: 'details' },
      { id, change: 'details' },
    ]);
  });

  test('for both orders when a payment moves from one to the other', async () => {
    const payment = paymentObject({ metadata: undefined });
    const orderId = unique('ord');
    const applier = testApplier(db);
    await applyEach(db, applier, [eventBody(payment)]);
    const after = await cursor();
    await applyEach(db, applier, [
      eventBody({
        ...payment,
        metadata: { order_id: orderId },
        modified_at: '2026-11-01T11:00:00.000Z',
      }),
    ]);
    expect(await read(after)).toMatchObject([
      { id: payment.payment_id, status: 'moved', previousStatus: 'paid' },
      { id: orderId, orderKey: `order:${orderId}`, status: 'paid', previousStatus: null },
    ]);
  });

  test('under its own name for a payout, and for a refund of an unknown payment under the order of its stub', async () => {
    const after = await cursor();
    const [payoutId, paymentId] = [unique('po'), unique('pay')];
    const payout = { payout_id: payoutId, status: 'initiated', amount: 1, currency: 'USD' };
    const asPayout = { contentType: 'payout_details', eventType: 'payout_initiated' };
    await applyEach(db, testApplier(db), [
      eventBody(payout, asPayout),
      eventBody({ ...payout, status: 'success' }, asPayout),
      eventBody(
        {
          refund_id: unique('ref'),
          payment_id: paymentId,
          status: 'pending',
          amount: 1,
          currency: 'USD',
        },
        { contentType: 'refund_details', eventType: 'refund_succeeded' },
      ),
    ]);
    expect(await read(after)).toMatchObject([
      { kind: 'payout', id: payoutId, orderKey: null, status: 'initiated', previousStatus: null },
      { kind: 'payout', id: payoutId, status: 'success', previousStatus: 'initiated' },
      { kind: 'order', id: paymentId, orderKey: `payment:${paymentId}` },
    ]);
  });

  test('so that for any events the feed ends at the current status of each order', async () => {
    const applier = testApplier(db);
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            payment: fc.nat(2),
            order: fc.nat(2),
            second: fc.nat(9),
            status: fc.constantFrom('processing', 'failed', 'succeeded', 'cancelled', 'odd_word'),
          }),
          { minLength: 1, maxLength: 8 },
        ),
        async (events) => {
          const run = unique('run');
          const after = await cursor();
          await applyEach(
            db,
            applier,
            events.map(({ payment, order, second, status }) =>
              eventBody(
                paymentObject({
                  payment_id: `${run}_p${payment}`,
                  status,
                  ...(order > 0 && { metadata: { order_id: `${run}_o${order}` } }),
                  modified_at: `2026-11-01T10:00:0${second}.000Z`,
                }),
              ),
            ),
          );
          const last = new Map((await read(after)).map((one) => [one.orderKey, one.status]));
          const rows = await db.query<{ key: string; status: string }>(
            'select order_key as key, status from orders where starts_with(order_id, $1)',
            [run],
          );
          expect(last).toEqual(new Map(rows.map(({ key, status }) => [key, status])));
        },
      ),
      { numRuns: 30 },
    );
  });
});

describe('a number', () => {
  const record = (subjects: readonly string[]) =>
    insertChanges(
      db,
      subjects.map((subject) => ({
        kind: 'order',
        subject,
        change: 'details',
        previousStatus: null,
        status: 'paid',
        webhookEventId: undefined,
        isHistory: false,
      })),
    );
  const publishAll = () => createChangeFeed(db).publish();

  test('is given to older changes first, regardless of batch size and storage order', async () => {
    await publishAll();
    const after = await lastNumber();
    const subjects = Array.from({ length: 5 }, () => `order:${unique('ord')}`);
    await record(subjects);
    // PostgreSQL moves an updated row behind the others.
    await db.query('update change_log set status = status where subject = any ($1)', [
      subjects.slice(0, 2).toReversed(),
    ]);
    for (const _ of subjects) {
      expect(await db.transaction((tx) => publishChanges(tx, 1))).toBe(1);
    }
    const { changes: numbered } = await readChanges(db, { after, limit: 10 });
    expect(numbered.map(({ orderKey }) => orderKey)).toEqual(subjects);
  });

  test('of the last change of an order is not shown while a later change has none', async () => {
    const [one, other] = [`order:${unique('ord')}`, `order:${unique('ord')}`];
    await record([one, other]);
    await publishAll();
    const last = await lastNumber();
    expect(await readLastNumbersOf(db, [one, other, 'order:none'])).toEqual(
      new Map([
        [one, last - 1],
        [other, last],
      ]),
    );
    // Committed and not numbered: with the old number, a shop would take its copy for current.
    await record([one]);
    expect(await readLastNumbersOf(db, [one, other])).toEqual(new Map([[other, last]]));
    await publishAll();
    expect(await readLastNumbersOf(db, [one])).toEqual(new Map([[one, last + 1]]));
  });
});

describe('the feed', () => {
  test('reports whether more changes follow a page, also after one that is exactly full', async () => {
    const after = await lastNumber();
    const payments = [paymentObject(), paymentObject(), paymentObject()];
    await applyEach(
      db,
      testApplier(db),
      payments.map((payment) => eventBody(payment)),
    );
    const pageOf = async (limit: number) => {
      const reading = await createChangeFeed(db).read({ after, limit });
      return reading.outcome === 'read' && [reading.changes.length, reading.hasMore];
    };
    expect(await pageOf(1)).toEqual([1, true]);
    expect(await pageOf(2)).toEqual([2, true]);
    expect(await pageOf(3)).toEqual([3, false]);
    expect(await pageOf(4)).toEqual([3, false]);
  });

  test('rejects a cursor that is ahead by one, and any cursor when it is empty', async () => {
    const feed = createChangeFeed(db);
    await feed.publish();
    const last = await lastNumber();
    expect(await feed.read({ after: last + 1, limit: 10 })).toEqual({ outcome: 'ahead', last });
    const empty = await createTestDatabase();
    try {
      const emptyFeed = createChangeFeed(empty);
      expect(await emptyFeed.read({ after: 1, limit: 10 })).toEqual({ outcome: 'ahead', last: 0 });
      expect(await emptyFeed.read({ after: 0, limit: 10 })).toMatchObject({ outcome: 'read' });
    } finally {
      await empty.drop();
    }
  });

  test('reports to a reader that it is ahead, so that it does not wait for numbers that it would skip', async () => {
    const last = await lastNumber();
    expect(await createChangeFeed(db).read({ after: last + 5, limit: 10 })).toEqual({
      outcome: 'ahead',
      last,
    });
    expect(await createChangeFeed(db).read({ after: last, limit: 10 })).toMatchObject({
      outcome: 'read',
      changes: [],
      hasMore: false,
    });
  });

  test('adds the object ids of its database to the epoch that a migration began', async () => {
    const own = await createTestDatabase();
    try {
      const readEpochs = () =>
        own.query<{ objects: string | null; current: string }>(
          'select objects, database_objects() as current from feed_epochs',
        );
      const [began] = await readEpochs();
      expect(began?.objects).toBeNull();
      await createChangeFeed(own).publish();
      expect(await readEpochs()).toEqual([{ objects: began?.current, current: began?.current }]);
    } finally {
      await own.drop();
    }
  });

  test('cannot be changed, even by the owner of its table', async () => {
    await expect(db.query('update changes set status = null')).rejects.toThrow(/append-only/);
    await expect(db.query('delete from changes')).rejects.toThrow(/append-only/);
    await expect(db.query('truncate changes')).rejects.toThrow(/append-only/);
  });

  test('can be numbered by the role that runs Tallyhook', async () => {
    const url = new URL(db.url);
    url.searchParams.set('options', '-c role=tallyhook_app');
    const least = createDatabase({
      connectionString: url.href,
      log: silentLog,
      applicationName: 'least',
      maxConnections: 2,
      responseTimeoutMs: 30_000,
      plans: 'by_key',
    });
    cleanups.push(() => least.close());
    const after = await lastNumber();
    const payment = paymentObject();
    await applyEach(db, testApplier(least), [eventBody(payment)]);
    const reading = await createChangeFeed(least).read({ after, limit: 10 });
    expect(reading).toMatchObject({ changes: [{ id: payment.payment_id, status: 'paid' }] });
  });
});

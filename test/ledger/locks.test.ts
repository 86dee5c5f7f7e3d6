/**
 * What transactions lock, and in which order: transactions that lock the same rows in one order never
 * deadlock. Each test holds a row and reads which rows another transaction has locked when it waits
 * for that row.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { applySnapshots } from '../../src/ledger/applySnapshots.ts';
import { dateNext } from '../../src/ledger/dateTransfers.ts';
import { eraseResources } from '../../src/ledger/eraseResources.ts';
import {
  claimOverdue,
  claimUntried,
  claimUntriedFrom,
  lockLanes,
  readDueBefore,
} from '../../src/ledger/inbox/store/pending.ts';
import { LockSetChanged } from '../../src/ledger/lockSetChanged.ts';
import { releaseDue, writeNextChecks } from '../../src/ledger/store/checks.ts';
import { lockOrders } from '../../src/ledger/store/orders.ts';
import { lockResources } from '../../src/ledger/store/resources.ts';
import { createDatabase, type Database, type Queryable } from '../../src/platform/db/database.ts';
import { laneOf } from '../../src/platform/lanes.ts';
import { createTestDatabase, silentLog, type TestDatabase } from '../support/database.ts';
import { eventBody, paymentObject, unique } from '../support/events.ts';
import { applyEach, receive, testApplier } from '../support/ledger.ts';
import { observe } from '../support/observations.ts';
import { beginTransaction, runUntilBlocked } from '../support/transactions.ts';

let db: TestDatabase;
const cleanups: (() => Promise<void>)[] = [];
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(async () => {
  for (const cleanup of cleanups) await cleanup();
  await db.drop();
});

/** The plans of workers differ from those of other processes. */
function databaseWith(plans: 'any' | 'by_key'): Database {
  const own = createDatabase({
    connectionString: db.url,
    log: silentLog,
    applicationName: 'locks-test',
    maxConnections: 2,
    responseTimeoutMs: 30_000,
    plans,
  });
  cleanups.push(() => own.close());
  return own;
}

interface Lockable {
  readonly name: string;
  /** Creates a row for each key, in this order. */
  readonly create: (keys: readonly string[]) => Promise<unknown>;
  readonly lock: (tx: Queryable, keys: readonly string[]) => Promise<unknown>;
  /** The keys that have an unlocked row. */
  readonly readFree: (keys: readonly string[]) => Promise<readonly { readonly key: string }[]>;
}

const RESOURCES: Lockable = {
  name: 'resources',
  create: (keys) =>
    db.query(
      `insert into resources (kind, id) select 'payment', id from unnest($1::text[]) as u (id)`,
      [keys],
    ),
  lock: (tx, keys) =>
    lockResources(
      tx,
      keys.map((id) => ({ kind: 'payment', id })),
    ),
  readFree: (keys) =>
    db.query('select id as key from resources where id = any ($1) for update skip locked', [keys]),
};

const ORDERS: Lockable = {
  name: 'orders',
  create: (keys) =>
    db.query(
      `insert into orders (order_key, order_id, status) select key, substring(key from 7), 'pending' from unnest($1::text[]) as u (key)`,
      [keys],
    ),
  lock: lockOrders,
  readFree: (keys) =>
    db.query(
      'select order_key as key from orders where order_key = any ($1) for update skip locked',
      [keys],
    ),
};

describe.each([RESOURCES, ORDERS])('$name', ({ create, lock, readFree }) => {
  test.each(['any', 'by_key'] as const)(
    'are locked in the order of their keys, regardless of input and storage order: plans %s',
    async (plans) => {
      const workers = databaseWith(plans);
      const prefix = `order:${unique('key')}`;
      const keys = Array.from({ length: 40 }, (_, place) => `${prefix}_${100 + place}`);
      await create(keys.toReversed());
      for (const place of [0, 17, 39]) {
        const held = keys[place] ?? '';
        const holder = await beginTransaction(db);
        await lock(holder.tx, [held]);
        const worker = await beginTransaction(workers);
        const { outcome, result } = await runUntilBlocked(db, worker, (tx) =>
          lock(tx, keys.toReversed()),
        );
        const free = (await readFree(keys)).map(({ key }) => key);
        await holder.commit();
        await result;
        await worker.commit();
        expect(outcome).toBe('blocked');
        expect(free.toSorted(), `while ${held} is held`).toEqual(keys.slice(place + 1));
      }
    },
  );
});

/** Leaves the transfers of a resource as an earlier version posted them. */
async function undate(id: string): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.query('alter table transfers disable trigger all');
    await tx.query('alter table transfers drop constraint transfers_effective');
    await tx.query(
      'update transfers set effective_at = null, effective_source = null where resource_id = $1',
      [id],
    );
    await tx.query(
      `alter table transfers add constraint transfers_effective
         check (effective_at is not null and effective_source is not null) not valid`,
    );
    await tx.query('alter table transfers enable trigger all');
  });
}

/** A worker that holds the order may write any of its parts, in any order. */
describe('the order of a resource is locked before the resource', () => {
  test.each<[string, (tx: Queryable, id: string) => Promise<unknown>]>([
    ['an erasure', (tx, id) => eraseResources(tx, [{ kind: 'payment', id }], (text) => text)],
    [
      'a step that dates transfers',
      (tx) => dateNext({ ...db, transaction: (work) => work(tx) }, 10),
    ],
  ])('by %s', async (_, work) => {
    const id = unique('pay');
    await applyEach(db, testApplier(db), [eventBody(paymentObject({ payment_id: id }))]);
    await undate(id);
    const holder = await beginTransaction(db);
    expect(await lockOrders(holder.tx, [`payment:${id}`])).toHaveLength(1);
    const other = await beginTransaction(db);
    const { outcome, result } = await runUntilBlocked(db, other, (tx) => work(tx, id));
    const free = await RESOURCES.readFree([id]);
    await holder.commit();
    await result;
    await other.commit();
    expect(outcome).toBe('blocked');
    expect(free).toEqual([{ key: id }]);
  });
});

describe('a resource that another transaction has locked keeps its lease, and nothing waits for it', () => {
  const LEASE = new Date('2031-05-06T00:00:00Z');
  const NEXT = new Date('2031-05-07T00:00:00Z');
  const refOf = (id: string) => ({ kind: 'payment', id }) as const;
  test.each<[string, (tx: Queryable, ids: readonly string[]) => Promise<void>]>([
    [
      'the next checks of a round are written',
      (tx, ids) =>
        writeNextChecks(
          tx,
          ids.map((id) => ({ ...refOf(id), status: 'succeeded', nextCheckAt: NEXT })),
        ),
    ],
    [
      'a round that ends early is released',
      (tx, ids) => releaseDue(tx, ids.map(refOf), { leaseUntil: LEASE, now: NEXT }),
    ],
  ])('when %s', async (_, write) => {
    const ids = [unique('pay'), unique('pay'), unique('pay')];
    await db.query(
      `insert into resources (kind, id, status, next_check_at)
       select 'payment', id, 'succeeded', $2 from unnest($1::text[]) as u (id)`,
      [ids, LEASE],
    );
    const holder = await beginTransaction(db);
    await RESOURCES.lock(holder.tx, ids.slice(1, 2));
    const other = await beginTransaction(db);
    const { outcome, result } = await runUntilBlocked(db, other, (tx) => write(tx, ids));
    await holder.commit();
    await result;
    await other.commit();
    expect(outcome).toBe('ended');
    expect(
      await db.query('select next_check_at as at from resources where id = any ($1) order by id', [
        ids,
      ]),
    ).toEqual([{ at: NEXT }, { at: LEASE }, { at: NEXT }]);
  });
});

/** Ids of payments of which no two share a lane. */
function inLanesOfTheirOwn(count: number): readonly string[] {
  const byLane = new Map<number, string>();
  while (byLane.size < count) {
    const id = unique('pay');
    byLane.set(laneOf(id), id);
  }
  return [...byLane.values()];
}

describe('events that another transaction is applying', () => {
  test.each([
    ['a job', (tx: Queryable, ids: readonly number[]) => claimUntried(tx, ids, 'free')],
    [
      'arrivals',
      (tx: Queryable, ids: readonly number[]) =>
        claimUntriedFrom(tx, { fromId: Math.min(...ids), limit: 100, lanes: 'free' }),
    ],
  ])(
    'are left to it with the later ones of their payment, which wait for it: %s',
    async (_, claim) => {
      const [hot = '', other = ''] = inLanesOfTheirOwn(2);
      const ids = await receive(
        db,
        [hot, hot, other].map((payment_id) => eventBody(paymentObject({ payment_id }))),
      );
      const first = await beginTransaction(db);
      expect(await claimUntried(first.tx, ids.slice(0, 1), 'free')).toHaveLength(1);
      const second = await beginTransaction(db);
      const free = await runUntilBlocked(db, second, (tx) => claim(tx, ids));
      const third = await beginTransaction(db);
      const held = await runUntilBlocked(db, third, async (tx) => {
        await lockLanes(tx, ids.slice(0, 2));
        return claimUntried(tx, ids.slice(0, 2), 'any');
      });
      await first.commit();
      const claimed = [await free.result, await held.result];
      await second.commit();
      await third.commit();
      expect([free.outcome, held.outcome]).toEqual(['ended', 'blocked']);
      expect(claimed.map((events) => events.map(({ id }) => id))).toEqual([[ids[2]], [ids[1]]]);
    },
  );

  test.each([
    ['this one', (tx: Queryable, ids: readonly number[]) => claimUntried(tx, ids, 'free')],
    // It takes no lane.
    [
      'an earlier one',
      (tx: Queryable, ids: readonly number[]) =>
        tx.query('select from pending where webhook_event_id = any ($1) for update', [ids]),
    ],
  ])(
    'are skipped without waiting, and available again if that transaction fails: a worker of %s',
    async (_, hold) => {
      const ids = await receive(
        db,
        inLanesOfTheirOwn(3).map((payment_id) => eventBody(paymentObject({ payment_id }))),
      );
      const first = await beginTransaction(db);
      expect(await hold(first.tx, ids.slice(0, 2))).toHaveLength(2);
      const second = await beginTransaction(db);
      const { outcome, result } = await runUntilBlocked(db, second, (tx) =>
        claimUntried(tx, ids, 'free'),
      );
      await first.rollBack();
      const claimed = (await result).map(({ id }) => id);
      await second.commit();
      expect(outcome).toBe('ended');
      expect(claimed).toEqual(ids.slice(2));

      const third = await beginTransaction(db);
      const left = await claimUntried(third.tx, ids, 'free');
      await third.commit();
      expect(left.map(({ id }) => id)).toEqual(ids.slice(0, 2));
    },
  );

  test('are skipped by a sweep without waiting', async () => {
    const ids = await receive(
      db,
      [1, 2].map(() => eventBody(paymentObject())),
    );
    const worker = await beginTransaction(db);
    await claimUntried(worker.tx, ids.slice(0, 1), 'free');
    const sweep = await beginTransaction(db);
    const { outcome, result } = await runUntilBlocked(db, sweep, async (tx) => {
      const dueBefore = await readDueBefore(tx, 3_600_000);
      return claimOverdue(tx, { dueBefore, afterId: 0, limit: 100, enqueueAfterMs: 60_000 });
    });
    await worker.rollBack();
    const enqueued = await result;
    await sweep.rollBack();
    expect(outcome).toBe('ended');
    expect(enqueued).toEqual(ids.slice(1));
  });
});

test('a transaction ends before it writes if it holds a resource of an order that it does not hold', async () => {
  const [id, orderId] = [unique('pay'), unique('ord')];
  const paid = { status: 'succeeded', amountMinor: 100, currency: 'EUR', orderId };
  const input = (versionMicros: number) => ({
    observations: [observe({ ...paid, versionMicros }, { id })],
    toRetrieve: [],
    alsoLock: [],
    nowMs: Date.now(),
    history: undefined,
  });
  // It creates the order after the other one has locked orders, and before that one locks resources.
  const creator = await beginTransaction(db);
  await applySnapshots(creator.tx, input(1));
  const late = await beginTransaction(db);
  const sent: string[] = [];
  let orders: Promise<unknown> = Promise.resolve();
  const tx: Queryable = {
    query: async (text, values) => {
      const isResourceLock = /from resources r\b[\s\S]*for update/.test(text);
      sent.push(isResourceLock ? 'locks resources' : text);
      if (isResourceLock) {
        // Both statements are sent at once: the first one must not see the order.
        await orders;
        await creator.commit();
        return await late.tx.query(text, values);
      }
      const rows = late.tx.query<never>(text, values);
      orders = rows;
      return await rows;
    },
  };
  const outcome = await applySnapshots(tx, input(2)).catch((error: unknown) => error);
  await late.rollBack();
  expect(outcome).toBeInstanceOf(LockSetChanged);
  expect((outcome as LockSetChanged).orderKeys).toEqual([`order:${orderId}`]);
  expect(sent.at(-1)).toBe('locks resources');
});

test('a round that ends early leaves a check alone that was set to another time since it was claimed', async () => {
  const LEASE = new Date('2031-05-06T00:00:00Z');
  const NEXT = new Date('2031-05-07T00:00:00Z');
  const EVENT = new Date('2031-05-05T00:00:00Z');
  const [claimed, final, changed] = [unique('pay'), unique('pay'), unique('pay')];
  await db.query(
    `insert into resources (kind, id, status, next_check_at)
     select 'payment', id, 'succeeded', at from unnest($1::text[], $2::timestamptz[]) as u (id, at)`,
    [
      [claimed, final, changed],
      [LEASE, null, EVENT],
    ],
  );
  const refs = [claimed, final, changed].map((id) => ({ kind: 'payment', id }) as const);
  await releaseDue(db, refs, { leaseUntil: LEASE, now: NEXT });
  const rows = await db.query<{ id: string; at: Date | null }>(
    'select id, next_check_at as at from resources where id = any ($1)',
    [[claimed, final, changed]],
  );
  expect(new Map(rows.map(({ id, at }) => [id, at]))).toEqual(
    new Map([
      [claimed, NEXT],
      [final, null],
      [changed, EVENT],
    ]),
  );
});

/** Reading the inbox as it grows: nothing is skipped, and nothing is returned twice (F1 to F3). */
import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createInboxFollower, type InboxFollower } from '../../src/ledger/read/followInbox.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { receiveEach, testApplier } from '../support/ledger.ts';
import { paymentEvent, refundEvent } from '../support/payments.ts';

let db: TestDatabase;
beforeEach(async () => {
  db = await createTestDatabase();
});
afterEach(() => db.drop());

async function numbers(inbox: InboxFollower, limit = 100): Promise<readonly number[]> {
  return (await inbox.next(limit)).events.map(({ id }) => id);
}

/** A receiver that has assigned a number, and not committed yet. */
async function startSlowCommit() {
  const client = new pg.Client({ connectionString: db.url });
  await client.connect();
  await client.query('begin');
  const { rows } = await client.query<{ id: string }>(
    `insert into webhook_events (event_id, event_type, body_day, body_bytes, body_sha256, received_at)
     values ('evt_slow', 'payment_succeeded', current_date, 2, sha256('{}'), now()) returning id`,
  );
  return {
    id: Number(rows[0]?.id),
    end: async (how: 'commit' | 'rollback') => {
      await client.query(how);
      await client.end();
    },
  };
}

test('F1: an event with a lower number that is committed later is not skipped', async () => {
  const inbox = createInboxFollower(db, {});
  expect(await inbox.start(undefined)).toEqual({ outcome: 'started', newest: 0 });
  const slow = await startSlowCommit();
  const [later] = await receiveEach(db, [paymentEvent({})]);
  expect(later).toBeGreaterThan(slow.id);
  expect(await numbers(inbox)).toEqual([]);
  await slow.end('commit');
  expect(await numbers(inbox)).toEqual([slow.id, later]);
  expect(await numbers(inbox)).toEqual([]);
});

test('F1: what is committed after the start is returned, also with a lower number than was there', async () => {
  const slow = await startSlowCommit();
  const [there = 0] = await receiveEach(db, [paymentEvent({})]);
  const inbox = createInboxFollower(db, {});
  expect(await inbox.start(undefined)).toEqual({ outcome: 'unsettled' });
  await slow.end('commit');
  expect(await inbox.start(undefined)).toEqual({ outcome: 'started', newest: there });
  const [next] = await receiveEach(db, [paymentEvent({})]);
  expect(await numbers(inbox)).toEqual([next]);
});

test('F1: a number that is never committed holds nothing back', async () => {
  const inbox = createInboxFollower(db, {});
  await inbox.start(undefined);
  const slow = await startSlowCommit();
  const [later] = await receiveEach(db, [paymentEvent({})]);
  expect(await numbers(inbox)).toEqual([]);
  await slow.end('rollback');
  expect(await numbers(inbox)).toEqual([later]);
});

test('F2: pages continue where the last one ended, after a number and of a type', async () => {
  const bodies = [paymentEvent({}), paymentEvent({}), paymentEvent({})];
  const [first = 0, ...rest] = await receiveEach(db, bodies);
  const inbox = createInboxFollower(db, {});
  await inbox.start(first);
  expect(await inbox.next(1)).toMatchObject({ events: [{ id: rest[0] }], hasMore: true });
  expect(await numbers(inbox, 1)).toEqual([rest[1]]);
  expect(await numbers(inbox, 1)).toEqual([]);
  const [refund] = await receiveEach(db, [refundEvent('pay_1', {}), paymentEvent({})]);
  const refunds = createInboxFollower(db, { type: 'refund_succeeded' });
  await refunds.start(first);
  expect(await numbers(refunds)).toEqual([refund]);
});

test('F2: a read that fails skips nothing', async () => {
  let isCut = false;
  const failing: Pick<TestDatabase, 'query'> = {
    query: (text, values) =>
      isCut && text.includes('e.id > $1')
        ? Promise.reject(new Error('cut'))
        : db.query(text, values),
  };
  const inbox = createInboxFollower(failing, {});
  await inbox.start(undefined);
  const sent = await receiveEach(db, [paymentEvent({}), paymentEvent({})]);
  isCut = true;
  await expect(inbox.next(100)).rejects.toThrow('cut');
  isCut = false;
  expect(await numbers(inbox)).toEqual(sent);
});

test('F3: events of an order are returned once they are applied, in their order', async () => {
  const applier = testApplier(db);
  const inbox = createInboxFollower(db, { order: 'ord_1' });
  await inbox.start(undefined);
  const [paid = 0, other = 0, refunded = 0] = await receiveEach(db, [
    paymentEvent({ payment_id: 'pay_1', orderId: 'ord_1' }),
    paymentEvent({ payment_id: 'pay_2', orderId: 'ord_2' }),
    refundEvent('pay_1', { refund_id: 'ref_1' }),
  ]);
  expect(await numbers(inbox)).toEqual([]);
  await applier.applyBatch([refunded, paid]);
  expect(await numbers(inbox)).toEqual([paid]);
  await applier.applyBatch([other]);
  expect(await numbers(inbox)).toEqual([refunded]);
  expect(await numbers(inbox)).toEqual([]);
});

test('F3: a dead event holds nothing back', async () => {
  const applier = testApplier(db);
  const inbox = createInboxFollower(db, { order: 'ord_1' });
  await inbox.start(undefined);
  const [dead = 0, paid = 0] = await receiveEach(db, [
    paymentEvent({}),
    paymentEvent({ payment_id: 'pay_1', orderId: 'ord_1' }),
  ]);
  await applier.markDead(dead, 5, 'test');
  await applier.applyBatch([paid]);
  expect(await numbers(inbox)).toEqual([paid]);
});

/** What arrives about an event while a worker claims it is examined: another body under its id, or a replay. */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { replayEvents } from '../../src/ledger/inbox/applyEvents.ts';
import type { Queryable } from '../../src/platform/db/database.ts';
import { insertVariants } from '../../src/receiver/store/inbox.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventBody, paymentObject, unique } from '../support/events.ts';
import { readOpenFindings, receive, testApplier } from '../support/ledger.ts';
import {
  beginTransaction,
  type OpenTransaction,
  runUntilBlocked,
} from '../support/transactions.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

/** An event that is pending, and another body under its id. */
async function receiveReused() {
  const [eventId, payment] = [unique('evt'), paymentObject()];
  const [id = 0] = await receive(db, [eventBody(payment, { eventId })]);
  const body = eventBody({ ...payment, amount: 1, amount_received: 1 }, { eventId });
  const bodyHash = createHash('sha256').update(body).digest();
  const event = {
    eventId,
    merchantId: undefined,
    eventType: undefined,
    subject: undefined,
    body,
    bodyHash,
    secretFingerprint: 0,
  };
  const store = (tx: Queryable) =>
    insertVariants(
      { ...db, prepared: (text, values) => tx.query(text, values) },
      [{ webhookEventId: id, event }],
      new Date(),
    );
  return { id, store };
}

const pendingIds = async () =>
  (await db.query<{ id: number }>('select webhook_event_id as id from pending order by 1')).map(
    (row) => row.id,
  );

async function findingsOf(id: number): Promise<readonly string[]> {
  return (await readOpenFindings(db, `event:${id}`)).map((finding) => finding.class);
}

/** Applies the event in `transaction`, and commits. */
function applyIn(transaction: OpenTransaction, id: number): Promise<void> {
  return testApplier({ ...db, transaction: (work) => work(transaction.tx) }).applyOne(id);
}

test('a body that is committed after its event was claimed is examined', async () => {
  const { id, store } = await receiveReused();
  const receiver = await beginTransaction(db);
  await store(receiver.tx);
  await testApplier(db).applyBatch([id]);
  await receiver.commit();
  await testApplier(db).applyBatch(await pendingIds());
  expect(await findingsOf(id)).toEqual(['event_id_reused']);
  expect(await pendingIds()).toEqual([]);
});

test('a body that is committed while a claim waits for its event is examined', async () => {
  const { id, store } = await receiveReused();
  const receiver = await beginTransaction(db);
  await store(receiver.tx);
  const worker = await beginTransaction(db);
  const { result } = await runUntilBlocked(db, worker, () => applyIn(worker, id));
  await receiver.commit();
  await result;
  await worker.commit();
  await testApplier(db).applyBatch(await pendingIds());
  expect(await findingsOf(id)).toEqual(['event_id_reused']);
});

test('a body waits for the claim of its event, which did not see it, and makes the event pending again', async () => {
  const { id, store } = await receiveReused();
  // A claim locks its rows, and deletes them in the same statement.
  const worker = await beginTransaction(db);
  await worker.tx.query('select from pending where webhook_event_id = $1 for update', [id]);
  const receiver = await beginTransaction(db);
  const { outcome, result } = await runUntilBlocked(db, receiver, store);
  await worker.tx.query('delete from pending where webhook_event_id = $1', [id]);
  await worker.commit();
  await result;
  await receiver.commit();
  expect(outcome).toBe('blocked');
  expect(await pendingIds()).toEqual([id]);
  await testApplier(db).applyBatch([id]);
  expect(await findingsOf(id)).toEqual(['event_id_reused']);
});

test('a pending event that is replayed while it is claimed is applied after the replay', async () => {
  const [id = 0] = await receive(db, [eventBody(paymentObject())]);
  const replay = await beginTransaction(db);
  await replayEvents(replay.tx, [id]);
  await testApplier(db).applyBatch([id]);
  await replay.commit();
  expect(await pendingIds()).toEqual([id]);
  expect(await testApplier(db).applyBatch([id])).toBe(1);
});

/** Discarding a dead event: it counts no more as dead, is kept, and can still be replayed. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { discardEventAs } from '../../src/actions/discardEvent.ts';
import { replayEvents } from '../../src/ledger/inbox/applyEvents.ts';
import { readBacklog } from '../../src/ledger/inbox/store/arrivals.ts';
import { searchEvents } from '../../src/ledger/read/store/events.ts';
import { findEvent } from '../../src/ledger/read/store/parts.ts';
import { measureInbox } from '../../src/ledger/store/gauges.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventBody, paymentObject } from '../support/events.ts';
import { receive, testApplier } from '../support/ledger.ts';

const ADA = { kind: 'cli', name: 'ada', role: 'admin', origin: 'ada@host' } as const;

let db: TestDatabase;
let dead: number;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());
beforeEach(async () => {
  const [id = 0] = await receive(db, [eventBody(paymentObject())]);
  await testApplier(db).markDead(id, 5, 'it could not be applied');
  dead = id;
});

const discard = (reason = 'sent by a test of the service') =>
  discardEventAs({ db }, ADA, { number: dead, reason });

test('a discarded event counts no more as dead, and its finding is accepted', async () => {
  const before = (await measureInbox(db)).dead;
  expect(await discard()).toBe(true);
  expect(await findEvent(db, String(dead))).toMatchObject({
    state: 'discarded',
    error: 'it could not be applied',
    discardedBy: 'ada',
    discardedReason: 'sent by a test of the service',
  });
  expect((await measureInbox(db)).dead).toBe(before - 1);
  expect((await readBacklog(db)).deadEvents).toBe(before - 1);
  const page = { below: Number.MAX_SAFE_INTEGER, limit: 100 };
  const { rows } = await searchEvents(db, { state: 'dead' }, page);
  expect(rows.map(({ id }) => id)).not.toContain(dead);
  expect(
    await db.query(
      `select state, accepted_by as by, accepted_reason as reason from findings
        where class = 'event_dead' and subject = $1`,
      [`event:${dead}`],
    ),
  ).toEqual([{ state: 'open', by: 'ada', reason: 'sent by a test of the service' }]);
});

test('a second discard changes nothing and has no entry in the audit log', async () => {
  const both = await Promise.all([discard('first'), discard('second')]);
  expect(both.toSorted()).toEqual([false, true]);
  const entries = await db.query(
    `select id from audit where action = 'event.discard' and subject_id = $1`,
    [String(dead)],
  );
  expect(entries).toHaveLength(1);
});

test('an event that is not dead is not discarded', async () => {
  const [pending = 0] = await receive(db, [eventBody(paymentObject())]);
  const input = { number: pending, reason: 'no' };
  expect(await discardEventAs({ db }, ADA, input)).toBe(false);
  expect(await findEvent(db, String(pending))).toMatchObject({ state: 'pending' });
});

test('a discarded event can be replayed, and may die again', async () => {
  await discard();
  await db.transaction((tx) => replayEvents(tx, [dead]));
  expect(await findEvent(db, String(dead))).toMatchObject({ state: 'pending', discardedBy: null });
  await testApplier(db).markDead(dead, 5, 'still not');
  expect(await findEvent(db, String(dead))).toMatchObject({ state: 'dead', discardedBy: null });
});

/**
 * What other bodies under the id of an event are about is retrieved. The failure it prevents: a body is acknowledged,
 * and nobody looks at the payment that it is about.
 */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findOtherBodies } from '../../src/ledger/inbox/store/pending.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventBody, paymentObject, unique } from '../support/events.ts';
import { readResourceStates, receive, testApplier } from '../support/ledger.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

test('the payments of thirty bodies that arrived before a worker ran are all to be checked', async () => {
  const eventId = unique('evt');
  const payments = Array.from({ length: 30 }, (_, place) =>
    // Some of the bodies do not fit into one page.
    paymentObject({ metadata: { note: 'x'.repeat(place < 3 ? 1_900_000 : 1) } }),
  );
  const applied = paymentObject();
  const [first = 0] = await receive(db, [eventBody(applied, { eventId })]);
  await receive(
    db,
    payments.map((payment) => eventBody(payment, { eventId })),
  );
  await testApplier(db).applyBatch([first]);
  // A body beyond those that are read may be about the payment of the first.
  const all = [applied, ...payments];
  const states = await readResourceStates(
    db,
    all.map(({ payment_id: id }) => id),
  );
  expect(states).toHaveLength(all.length);
  expect(states.filter((one) => !('is_check_wanted' in one && one.is_check_wanted))).toEqual([]);
});

test('of more than a thousand bodies under one id, the newest are read', async () => {
  const [event = 0] = await receive(db, [eventBody(paymentObject())]);
  await db.query(
    `insert into event_variants (webhook_event_id, body, body_sha256, received_at)
     select $1, '', sha256(n::text::bytea), now() - n * interval '1 second'
       from generate_series(1, 1001) n`,
    [event],
  );
  const found = await findOtherBodies(db, [event]);
  expect(found).toHaveLength(1_000);
  const oldest = createHash('sha256').update('1001').digest('hex');
  expect(found.map(({ sha256 }) => sha256)).not.toContain(oldest);
});

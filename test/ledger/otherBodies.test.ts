/**
 * What other bodies under the id of an event are about is retrieved. The failure it prevents: a body is acknowledged,
 * and nobody looks at the payment that it is about.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
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
  const [first = 0] = await receive(db, [eventBody(paymentObject(), { eventId })]);
  await receive(
    db,
    payments.map((payment) => eventBody(payment, { eventId })),
  );
  await testApplier(db).applyBatch([first]);
  const states = await readResourceStates(
    db,
    payments.map(({ payment_id: id }) => id),
  );
  expect(states).toHaveLength(payments.length);
  expect(states.filter((one) => !('is_check_wanted' in one && one.is_check_wanted))).toEqual([]);
});

/** Reading the inbox: each event is in one state, and rare states are found without a scan. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { discardEvent } from '../../src/ledger/inbox/discardEvent.ts';
import { readEventRows } from '../../src/ledger/read/store/events.ts';
import { EVENT_STATES, type EventState, findEvent } from '../../src/ledger/read/store/parts.ts';
import type { Queryable } from '../../src/platform/db/database.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventBody, paymentObject } from '../support/events.ts';
import { receive, testApplier } from '../support/ledger.ts';

let db: TestDatabase;
let numbers: Readonly<Record<EventState, readonly number[]>>;

beforeAll(async () => {
  db = await createTestDatabase();
  const [
    applied = 0,
    unreadable = 0,
    foreign = 0,
    nameless = 0,
    dead = 0,
    pending = 0,
    discarded = 0,
  ] = await receive(db, [
    eventBody(paymentObject()),
    eventBody(paymentObject({ amount: 65.4 })),
    eventBody(paymentObject(), { merchantId: 'merchant_other' }),
    eventBody({ customer_id: 'cus_1' }),
    eventBody(paymentObject()),
    eventBody(paymentObject()),
    eventBody(paymentObject()),
  ]);
  await testApplier(db).applyBatch([applied, unreadable, foreign, nameless]);
  await testApplier(db).markDead(dead, 5, 'it could not be applied');
  await testApplier(db).markDead(discarded, 5, 'it could not be applied');
  const why = { by: 'ada', reason: 'sent by a test' };
  await db.transaction((tx) => discardEvent(tx, discarded, why));
  numbers = {
    applied: [applied],
    not_applied: [nameless, foreign, unreadable].toSorted((a, b) => b - a),
    dead: [dead],
    pending: [pending],
    discarded: [discarded],
  };
});
afterAll(() => db.drop());

const newest = { below: Number.MAX_SAFE_INTEGER, limit: 10 };

test.each(EVENT_STATES)('%s: the same events in the list and one by one', async (state) => {
  const rows = await readEventRows(db, { state, ...newest });
  expect(rows.map((row) => row.id)).toEqual(numbers[state]);
  for (const row of rows) expect(await findEvent(db, String(row.id))).toEqual(row);
  for (const row of rows) expect(row.state).toBe(state);
});

test.each(['dead', 'discarded', 'pending', 'not_applied'] as const)(
  '%s: found without reading the applied events',
  async (state) => {
    const plan: string[] = [];
    const explained: Queryable = {
      query: async (text, values) => {
        const lines = await db.query<{ 'QUERY PLAN': string }>(`explain ${text}`, values);
        plan.push(...lines.map((line) => line['QUERY PLAN']));
        return [];
      },
    };
    await db.query(
      `insert into webhook_events (event_id, body, body_sha256, received_at)
       select 'evt_' || i, 'x', sha256('x'), now() from generate_series(1, 20000) i
       on conflict do nothing`,
    );
    await db.query('analyze');
    await readEventRows(explained, { state, ...newest });
    const text = plan.join('\n');
    expect(text).not.toMatch(/Seq Scan on webhook_events/);
    // Only by the ids that were found, never over the whole index.
    for (const scan of text.matchAll(/Index.* on webhook_events[^\n]*\n[^\n]*/g)) {
      expect(scan[0]).toMatch(/Index Cond: \(id = /);
    }
  },
);

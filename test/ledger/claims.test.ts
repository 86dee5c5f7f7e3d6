/**
 * A claim reads about as many rows as it takes. The failure it prevents: the statistics are of a moment when a table
 * was empty, and a backlog, a replay or a flood then takes a time that grows with the square of its events.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  claimOverdue,
  claimUntried,
  claimUntriedFrom,
  readAdditions,
} from '../../src/ledger/inbox/store/pending.ts';
import type { Queryable } from '../../src/platform/db/database.ts';
import { countRead } from '../support/countRead.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventBody, paymentObject } from '../support/events.ts';
import { receive } from '../support/ledger.ts';

const PENDING = 400;
const CLAIMED = 200;
let db: TestDatabase;
let ids: readonly number[];

beforeAll(async () => {
  db = await createTestDatabase();
  await db.query(
    `insert into pending (webhook_event_id, enqueue_at, lane) select -i, now(), 0 from generate_series(1, 2000) i`,
  );
  await db.query('delete from pending');
  await db.query('analyze pending, event_variants');
  ids = await receive(
    db,
    Array.from({ length: PENDING }, () => eventBody(paymentObject())),
  );
  await db.query(
    `insert into event_variants (webhook_event_id, body, body_sha256, received_at)
     select id, '', sha256(id::text::bytea), now() from webhook_events`,
  );
});
afterAll(() => db.drop());

const later = () => new Date(Date.now() + 3_600_000);

test.each<[string, (tx: Queryable) => Promise<readonly unknown[]>]>([
  ['by their ids', (tx) => claimUntried(tx, ids.slice(0, CLAIMED), 'free')],
  [
    'from the oldest on',
    (tx) => claimUntriedFrom(tx, { fromId: 0, limit: CLAIMED, lanes: 'free' }),
  ],
  [
    'that are overdue',
    (tx) => claimOverdue(tx, { dueBefore: later(), limit: CLAIMED, enqueueAfterMs: 1, afterId: 0 }),
  ],
])('events %s are claimed in one pass', async (_which, claim) => {
  const { rows, read } = await countRead(db, 'pending', claim);
  expect(rows).toHaveLength(CLAIMED);
  expect(read).toBeGreaterThanOrEqual(CLAIMED);
  expect(read).toBeLessThan(10 * PENDING);
});

test('of the other bodies of all events, only those of the claimed events are read', async () => {
  const { rows, read } = await countRead(db, 'event_variants', (tx) =>
    readAdditions(tx, ids.slice(0, 10)),
  );
  expect(rows).toHaveLength(10);
  expect(read).toBe(10);
});

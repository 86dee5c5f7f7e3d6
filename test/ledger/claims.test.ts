/**
 * A claim reads about as many rows of `pending` as it takes. The failure it prevents: the statistics are of a moment
 * when nothing was pending, and a backlog or a replay then takes a time that grows with the square of its events.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  claimOverdue,
  claimUntried,
  claimUntriedFrom,
} from '../../src/ledger/inbox/store/pending.ts';
import type { Queryable } from '../../src/platform/db/database.ts';
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
  await db.query('analyze pending');
  ids = await receive(
    db,
    Array.from({ length: PENDING }, () => eventBody(paymentObject())),
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
  await db
    .transaction(async (tx) => {
      // As in the transactions that claim (platform/db/database.ts).
      await tx.query('set local enable_seqscan = off');
      await tx.query('set local enable_hashjoin = off');
      await tx.query('set local enable_mergejoin = off');
      expect(await claim(tx)).toHaveLength(CLAIMED);
      const [read] = await tx.query<{ rows: number }>(
        `select coalesce(sum(idx_tup_fetch), 0)::int as rows from pg_stat_xact_user_tables where relname = 'pending'`,
      );
      expect(read?.rows).toBeGreaterThanOrEqual(CLAIMED);
      expect(read?.rows).toBeLessThan(10 * PENDING);
      throw new Error('undo');
    })
    .catch((error: Error) => {
      if (error.message !== 'undo') throw error;
    });
});

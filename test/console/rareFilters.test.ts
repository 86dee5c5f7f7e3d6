/**
 * A list by a filter reads about as many rows as it shows, also if few of a long table match. The failure it prevents: a
 * page of the console that reads all alerts or messages of years, with every reload.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readAlertRows } from '../../src/alerts/store/alertRows.ts';
import { readMessageRows } from '../../src/notify/store/messageRows.ts';
import type { Queryable } from '../../src/platform/db/database.ts';
import { oneRow } from '../../src/platform/db/oneRow.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const ROWS = 20_000;
const LIMIT = 50;
const PAGE = { below: Number.MAX_SAFE_INTEGER, limit: LIMIT };

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
  await db.query(
    `insert into alerts (rule, subject, severity, state, sentence, next_step, detail, resolved_at)
     select case n when 7 then 'over_refund' else 'payment_stuck' end, 'payment:pay_' || n,
            case n when 7 then 'critical' else 'warning' end, 'resolved', 'x', 'x', '{}', now()
       from generate_series(1, $1::int) n`,
    [ROWS],
  );
  await db.query(
    `insert into messages (id, channel, kind, content, state, next_attempt_at, created_at, settled_at)
     select 'msg_' || n, case n when 7 then 'mail' else 'shop' end,
            case n when 7 then 'summary' else 'order' end, '{}', 'delivered', now(), now(), now()
       from generate_series(1, $1::int) n`,
    [ROWS],
  );
  await db.query('analyze alerts, messages');
});
afterAll(() => db.drop());

/** How many rows the statement reads, and returns. */
function countRows(
  table: string,
  read: (tx: Queryable) => Promise<readonly object[]>,
): Promise<{ readonly read: number; readonly shown: number }> {
  return db.transaction(async (tx) => {
    const counter = async () =>
      oneRow(
        await tx.query<{ count: number }>(
          `select coalesce(sum(coalesce(idx_tup_fetch, 0) + seq_tup_read), 0)::int as count
             from pg_stat_xact_user_tables where relname = $1`,
          [table],
        ),
      ).count;
    const before = await counter();
    const shown = (await read(tx)).length;
    return { read: (await counter()) - before, shown };
  });
}

const ANY_ALERT = { states: undefined, severity: undefined, rule: undefined, ...PAGE };

test.each([
  ['none', {}, LIMIT],
  ['a rule that one has', { rule: 'over_refund' }, 1],
  ['a rule that none has', { rule: 'totals' }, 0],
  ['a severity that one has', { severity: 'critical' }, 1],
  ['a rule and a severity that none has', { rule: 'over_refund', severity: 'warning' }, 0],
  ['a state that none has', { states: ['acknowledged'] }, 0],
] as const)('alerts by a filter: %s', async (_name, filter, expected) => {
  const { read, shown } = await countRows('alerts', (tx) =>
    readAlertRows(tx, { ...ANY_ALERT, ...filter }),
  );
  expect(shown).toBe(expected);
  expect(read).toBeLessThanOrEqual(2 * LIMIT);
});

const ANY_MESSAGE = { state: undefined, channel: undefined, kind: undefined, ...PAGE };

test.each([
  ['none', {}, LIMIT],
  ['a channel that one has', { channel: 'mail' }, 1],
  ['a channel that none has', { channel: 'slack' }, 0],
  ['a kind that one has', { kind: 'summary' }, 1],
  ['a kind that none has', { kind: 'digest' }, 0],
  ['a channel and a kind that none has', { channel: 'mail', kind: 'order' }, 0],
  ['the channel of the shop and a kind that it has not', { channel: 'shop', kind: 'summary' }, 0],
  ['a state that none has', { state: 'failed' }, 0],
] as const)('messages by a filter: %s', async (_name, filter, expected) => {
  const { read, shown } = await countRows('messages', (tx) =>
    readMessageRows(tx, { ...ANY_MESSAGE, ...filter }),
  );
  expect(shown).toBe(expected);
  expect(read).toBeLessThanOrEqual(2 * LIMIT);
});

/**
 * A list by a filter reads a bounded number of rows, also if few or none of a long table match, and leads on to those
 * that it did not search. The failure it prevents: a page of the console that reads all alerts or messages of years,
 * with every reload.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { searchAlerts } from '../../src/alerts/store/alertRows.ts';
import { searchAudit } from '../../src/audit/store/audit.ts';
import { searchFindings } from '../../src/ledger/read/store/findings.ts';
import { searchMessages } from '../../src/notify/store/messageRows.ts';
import type { Queryable } from '../../src/platform/db/database.ts';
import { oneRow } from '../../src/platform/db/oneRow.ts';
import { type Found, MAX_SEARCHED_ROWS, type SearchPage } from '../../src/platform/db/search.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const ROWS = 2.5 * MAX_SEARCHED_ROWS;
const LIMIT = 50;
const FIRST = { below: Number.MAX_SAFE_INTEGER, limit: LIMIT };
/** Of a search and of where it ended, the page itself, and what is found by an index and dead. */
const MOST_READ = 2 * MAX_SEARCHED_ROWS + 2 * LIMIT;

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
    `insert into findings (class, subject, state, detail, opened_at, closed_at)
     select case n when 7 then 'over_refund' else 'missing_remotely' end, 'payment:pay_' || n, 'closed',
            '{}', now(), now()
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
  await db.query(
    `insert into audit (recorded_at, actor_kind, actor_name, actor_role, actor_origin, action,
                        subject_kind, subject_id, result, detail)
     select now() - ($1 - n) * interval '10 minutes', 'token', case n when 7 then 'eve' else 'ada' end,
            'operator', '', case n when 7 then 'finding.accept' else 'alert.snooze' end, 'alert', n, 'done',
            '{}'
       from generate_series(1, $1::int) n`,
    [ROWS],
  );
  await db.query('vacuum analyze alerts, findings, messages, audit');
});
afterAll(() => db.drop());

type Search = (tx: Queryable, page: SearchPage) => Promise<Found<object>>;

/** How many rows a page reads of its table, and the page. */
function measure(table: string, search: Search, page: SearchPage) {
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
    const found = await search(tx, page);
    return { read: (await counter()) - before, found };
  });
}

const NO_ALERTS = { states: undefined, severity: undefined, rule: undefined };
const NO_MESSAGES = { state: undefined, channel: undefined, kind: undefined };
const NO_FINDINGS = { state: undefined, findingClass: undefined, subject: undefined };
const NO_AUDIT = {
  actor: undefined,
  action: undefined,
  subject: undefined,
  orderKeys: undefined,
  since: undefined,
  isOpen: false,
};
const alerts =
  (filter: Partial<Parameters<typeof searchAlerts>[1]>): Search =>
  (tx, page) =>
    searchAlerts(tx, { ...NO_ALERTS, ...filter }, page);
const messages =
  (filter: Partial<Parameters<typeof searchMessages>[1]>): Search =>
  (tx, page) =>
    searchMessages(tx, { ...NO_MESSAGES, ...filter }, page);
const findings =
  (filter: Partial<Parameters<typeof searchFindings>[1]>): Search =>
  (tx, page) =>
    searchFindings(tx, { ...NO_FINDINGS, ...filter }, page);
const audit =
  (filter: Partial<Parameters<typeof searchAudit>[1]>): Search =>
  (tx, page) =>
    searchAudit(tx, { ...NO_AUDIT, ...filter }, page);
const aDayAgo = () => new Date(Date.now() - 86_400_000);

test.each<[string, string, Search, number]>([
  ['alerts', 'all', alerts({}), LIMIT],
  ['alerts', 'a rule that one has', alerts({ rule: 'over_refund' }), 1],
  ['alerts', 'a rule that none has', alerts({ rule: 'totals' }), 0],
  ['alerts', 'a severity that one has', alerts({ severity: 'critical' }), 1],
  [
    'alerts',
    'a rule and another severity',
    alerts({ rule: 'over_refund', severity: 'warning' }),
    0,
  ],
  ['alerts', 'a state that none has', alerts({ states: ['acknowledged'] }), 0],
  ['messages', 'all', messages({}), LIMIT],
  ['messages', 'a channel that one has', messages({ channel: 'mail' }), 1],
  ['messages', 'a channel that none has', messages({ channel: 'slack' }), 0],
  ['messages', 'a kind that one has', messages({ kind: 'summary' }), 1],
  ['messages', 'a channel and a kind of others', messages({ channel: 'mail', kind: 'order' }), 0],
  ['messages', 'delivered to a channel', messages({ channel: 'mail', state: 'delivered' }), 1],
  ['messages', 'a state that none has', messages({ state: 'failed' }), 0],
  ['findings', 'all', findings({}), LIMIT],
  ['findings', 'a class that one has', findings({ findingClass: 'over_refund' }), 1],
  ['findings', 'a subject', findings({ subject: 'payment:pay_7' }), 1],
  ['findings', 'open ones of a class', findings({ state: 'open', findingClass: 'totals' }), 0],
  ['audit', 'all', audit({}), LIMIT],
  ['audit', 'a person with one entry', audit({ actor: 'eve' }), 1],
  ['audit', 'an action of one entry', audit({ action: 'finding.accept' }), 1],
  ['audit', 'a subject', audit({ subject: { kind: 'alert', id: '7' } }), 1],
  ['audit', 'open ones', audit({ isOpen: true }), 0],
])('%s, %s: reads what it shows', async (table, _name, search, expected) => {
  const { read, found } = await measure(table, search, FIRST);
  expect(found.rows).toHaveLength(expected);
  expect(found.next === undefined).toBe(expected < LIMIT);
  expect(read).toBeLessThanOrEqual(3 * LIMIT);
});

describe('a page that has to search', () => {
  test.each<[string, string, Search, number]>([
    [
      'alerts',
      'of a frequent rule and a rare severity',
      alerts({ rule: 'payment_stuck', severity: 'critical' }),
      0,
    ],
    ['findings', 'in a state and of a frequent class', findings({ state: 'closed' }), ROWS],
    ['audit', 'before a time', audit({ before: new Date(0) }), 0],
    [
      'audit',
      'of a person and an action',
      audit({ actor: 'ada', action: 'finding.accept', before: new Date(0) }),
      0,
    ],
  ])('%s %s: reads a bounded number, and leads to the rest', async (table, _name, search, all) => {
    let shown = 0;
    let pages = 0;
    let below: number | undefined = Number.MAX_SAFE_INTEGER;
    while (below !== undefined) {
      const { read, found }: Awaited<ReturnType<typeof measure>> = await measure(table, search, {
        below,
        limit: 1_000,
      });
      expect(read).toBeLessThanOrEqual(MOST_READ);
      shown += found.rows.length;
      pages += 1;
      below = found.next;
    }
    expect(shown).toBe(all);
    expect(pages).toBeLessThanOrEqual(
      Math.ceil(ROWS / (all === 0 ? MAX_SEARCHED_ROWS : 1_000)) + 1,
    );
  });

  test('audit since a time: ends a day before it', async () => {
    const { found } = await measure('audit', audit({ since: aDayAgo() }), { ...FIRST, limit: 500 });
    expect(found.rows.length).toBeGreaterThan(100);
    expect(found.next).toBeUndefined();
  });
});

test('no statement but the lists can use their indexes: each has a condition on the number', async () => {
  const rows = await db.query<{ name: string }>(
    `select indexrelid::regclass::text as name from pg_index
      where pg_get_expr(indpred, indrelid) ~ '(id|number) > 0' order by 1`,
  );
  expect(rows.map(({ name }) => name)).toEqual([
    'alerts_listed_rule',
    'alerts_listed_severity',
    'findings_listed_class',
    'messages_to_people',
  ]);
});

/**
 * To read some alerts, no others are read. The failure it prevents: the plan is of a moment when there were few alerts,
 * and each event then costs as much as there are unresolved ones.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Rule } from '../../src/alerts/domain/alert.ts';
import { listWritten, lockUnresolved } from '../../src/alerts/store/alerts.ts';
import { countRead } from '../support/countRead.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const ALERTS = 2_000;
const RULE: Rule = 'dispute_opened';
let db: TestDatabase;

const openAlerts = (variant: string) =>
  db.query(
    `insert into alerts (rule, subject, variant, severity, sentence, next_step, detail)
     select $1, 'dispute:dp_' || i, $2, 'warning', 'a sentence', 'a step', '{}' from generate_series(1, $3) i`,
    [RULE, variant, ALERTS],
  );

const subjectsFrom = (first: number) =>
  Array.from({ length: 10 }, (_, place) => `dispute:dp_${first + place}`);

beforeAll(async () => {
  db = await createTestDatabase();
  await openAlerts('');
  await db.query('delete from alerts');
  await db.query('analyze alerts');
  await openAlerts('b');
  await openAlerts('a');
});
afterAll(() => db.drop());

test('of all unresolved alerts, those of the subjects are locked, in the order of their keys', async () => {
  const subjects = subjectsFrom(ALERTS / 2);
  const { rows, read } = await countRead(db, 'alerts', (tx) =>
    lockUnresolved(
      tx,
      // A subject may be evaluated twice.
      [...subjects, ...subjects].reverse().map((subject) => ({ subject, rules: ['amount', RULE] })),
    ),
  );
  const keys = subjects.flatMap((subject) => ['a', 'b'].map((variant) => ({ subject, variant })));
  expect(rows).toMatchObject(keys);
  expect(rows).toHaveLength(keys.length);
  expect(read).toBe(keys.length);
});

test('a subject without an alert reads none', async () => {
  const { rows, read } = await countRead(db, 'alerts', (tx) =>
    lockUnresolved(
      tx,
      subjectsFrom(ALERTS + 1).map((subject) => ({ subject, rules: [RULE] })),
    ),
  );
  expect({ rows, read }).toEqual({ rows: [], read: 0 });
});

test('whether some alerts were written reads none of other subjects', async () => {
  const subjects = subjectsFrom(ALERTS - 4);
  const keys = subjects.map((subject) => ({ subject, rule: RULE, variant: 'b' }));
  const { rows, read } = await countRead(db, 'alerts', (tx) => listWritten(tx, [...keys, ...keys]));
  expect(rows).toHaveLength(5);
  expect(rows).toEqual(expect.arrayContaining(keys.slice(0, 5)));
  expect(read).toBeLessThanOrEqual(2 * rows.length);
});

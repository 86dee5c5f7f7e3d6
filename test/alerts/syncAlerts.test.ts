/** Numbers in brackets name invariants of src/alerts/domain/alert.ts. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SEVERITIES, type SubjectAlerts } from '../../src/alerts/domain/alert.ts';
import { raiseOneTimeAlerts, syncAlerts } from '../../src/alerts/syncAlerts.ts';
import type { Queryable } from '../../src/platform/db/database.ts';
import { alertOf, readStoredAlerts } from '../support/alerts.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { unique } from '../support/events.ts';
import { waitFor } from '../support/waitFor.ts';

let db: TestDatabase;

beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

const settle = (...settled: readonly SubjectAlerts[]) =>
  db.transaction((tx) => syncAlerts(tx, settled));

/** Whether the condition of one rule holds for a subject. */
const holds = (subject: string, does: boolean): SubjectAlerts => ({
  subject,
  rules: ['dispute_opened'],
  active: does ? [alertOf({ subject })] : [],
});

const written = async (subject: string) =>
  (await readStoredAlerts(db, [subject])).map(({ state, notifications }) => [state, notifications]);

const setState = (subject: string, columns: string) =>
  db.query(`update alerts set ${columns} where subject = $1 and state <> 'resolved'`, [subject]);

const acknowledge = (subject: string) =>
  setState(
    subject,
    `state = 'acknowledged', acknowledged_at = now(), acknowledged_by = 'ada', acknowledged_reason = 'on it'`,
  );

test('an active alert is opened and notifies once, however often it is stated [2, 3]', async () => {
  const subject = unique('dispute:dp');
  await settle(holds(subject, true));
  await settle(holds(subject, true), holds(subject, true));
  expect(await written(subject)).toEqual([['open', ['opened']]]);
});

test('its resolution notifies once, and a recurrence opens a new alert [2, 4]', async () => {
  const subject = unique('dispute:dp');
  for (const does of [true, false, false, true]) await settle(holds(subject, does));
  expect(await written(subject)).toEqual([
    ['resolved', ['opened', 'resolved']],
    ['open', ['opened']],
  ]);
});

test('an alert of a rule that was not evaluated is not changed', async () => {
  const subject = unique('dispute:dp');
  await settle(holds(subject, true));
  await settle({ subject, rules: ['dispute_deadline'], active: [] });
  await settle(holds(unique('dispute:dp'), false));
  expect(await written(subject)).toEqual([['open', ['opened']]]);
});

test('an alert that stays active is updated, and notifies again only when it is more severe [3]', async () => {
  const subject = unique('dispute:dp');
  for (const severity of SEVERITIES.toReversed()) {
    const one = alertOf({ subject, severity, sentence: `Now it is ${severity}.` });
    await settle({ subject, rules: [one.rule], active: [one] });
  }
  const louder = alertOf({ subject, severity: 'critical', detail: { left: 1 } });
  await settle({ subject, rules: [louder.rule], active: [louder] });
  expect(
    await db.query('select severity, sentence, detail from alerts where subject = $1', [subject]),
  ).toEqual([{ severity: 'critical', sentence: louder.sentence, detail: { left: 1 } }]);
  expect(await written(subject)).toEqual([['open', ['opened', 'reminder']]]);
});

test('a due reminder notifies again [3]', async () => {
  const subject = unique('payment:pay');
  const atThreshold = { ...holds(subject, true), isReminderDue: true };
  await settle(atThreshold);
  await settle(atThreshold);
  expect(await written(subject)).toEqual([['open', ['opened', 'reminder']]]);
});

test('an acknowledged alert stays so, notifies only when it is more severe, and resolves itself [5]', async () => {
  const subject = unique('dispute:dp');
  await settle(holds(subject, true));
  await acknowledge(subject);
  await settle(holds(subject, true));
  await settle({ ...holds(subject, true), isReminderDue: true });
  expect(await written(subject)).toEqual([['acknowledged', ['opened']]]);
  const louder = alertOf({ subject, severity: 'critical' });
  await settle({ subject, rules: [louder.rule], active: [louder] });
  expect(await written(subject)).toEqual([['acknowledged', ['opened', 'reminder']]]);
  await settle(holds(subject, false));
  expect(await written(subject)).toEqual([['resolved', ['opened', 'reminder', 'resolved']]]);
});

test('a snoozed alert does not notify, not even of its resolution [6]', async () => {
  const subject = unique('dispute:dp');
  await settle(holds(subject, true));
  await setState(subject, `snoozed_until = now() + interval '1 day', snoozed_by = 'ada'`);
  const louder = alertOf({ subject, severity: 'critical' });
  await settle({ subject, rules: [louder.rule], active: [louder], isReminderDue: true });
  await settle(holds(subject, false));
  expect(await written(subject)).toEqual([['resolved', ['opened']]]);
});

test('a resolution does not notify together with a new alert about the same subject [4]', async () => {
  const [moved, won, over] = [unique('dispute:dp'), unique('dispute:dp'), unique('dispute:dp')];
  await settle(holds(moved, true), holds(won, true), holds(over, true));
  await settle(
    {
      subject: moved,
      rules: ['dispute_opened'],
      active: [alertOf({ subject: moved, variant: 'arbitration' })],
    },
    { ...holds(won, false), oneTime: [alertOf({ subject: won, rule: 'dispute_won' })] },
    holds(over, false),
  );
  expect(await written(moved)).toEqual([
    ['resolved', ['opened']],
    ['open', ['opened']],
  ]);
  expect(await written(won)).toEqual([
    ['resolved', ['opened']],
    ['resolved', ['opened']],
  ]);
  expect(await written(over)).toEqual([['resolved', ['opened', 'resolved']]]);
});

test('one-time alerts notify once and are resolved, each with its own row', async () => {
  const subject = unique('dispute:dp');
  const news = alertOf({ subject, rule: 'dispute_won', severity: 'info' });
  await db.transaction((tx) => raiseOneTimeAlerts(tx, [news]));
  await db.transaction((tx) => raiseOneTimeAlerts(tx, [news]));
  expect(await written(subject)).toEqual([
    ['resolved', ['opened']],
    ['resolved', ['opened']],
  ]);
});

test('of two transactions that raise one alert at the same time, one opens it and notifies [2]', async () => {
  const subject = unique('system:s');
  let commit = () => {};
  const mayCommit = new Promise<void>((resolve) => {
    commit = resolve;
  });
  const first = db.transaction(async (tx) => {
    await syncAlerts(tx, [holds(subject, true)]);
    await mayCommit;
  });
  await waitFor(
    'the first to have opened it',
    async () => (await waiting('idle in transaction')) > 0,
  );
  // It sees nothing of the first one, and comes to insert the same.
  const second = settle(holds(subject, true));
  await waitFor('the second to wait', async () => (await waiting('active')) > 0);
  commit();
  await Promise.all([first, second]);
  expect(await written(subject)).toEqual([['open', ['opened']]]);
});

/** Counts the connections in a state that run statements on alerts. */
async function waiting(state: 'active' | 'idle in transaction'): Promise<number> {
  const rows = await db.query<{ found: number }>(
    `select count(*) as found from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and state = $1
        and query like 'insert into alert%' and ($1 <> 'active' or wait_event_type = 'Lock')`,
    [state],
  );
  return rows[0]?.found ?? 0;
}

test('a rollback removes the alerts of its transaction', async () => {
  const subject = unique('dispute:dp');
  const failing = db.transaction(async (tx) => {
    await syncAlerts(tx, [holds(subject, true)]);
    throw new Error('the cause fails');
  });
  await expect(failing).rejects.toThrow('the cause fails');
  expect(await written(subject)).toEqual([]);
});

test('ten thousand alerts take a few statements', async () => {
  const subjects = Array.from({ length: 10_000 }, () => unique('dispute:dp'));
  const counted = async (does: boolean): Promise<number> => {
    let statements = 0;
    await db.transaction((tx) => {
      const counting: Queryable = {
        query: (text, values) => {
          statements += 1;
          return tx.query(text, values);
        },
      };
      const settled = subjects.map((subject) => holds(subject, does));
      return syncAlerts(counting, settled);
    });
    return statements;
  };
  expect([await counted(true), await counted(true), await counted(false)]).toEqual([3, 2, 3]);
  const states = await db.query<{ state: string; said: number }>(
    `select a.state, count(o.id) as said
       from alerts a join alert_outbox o on o.alert_id = a.id
      where a.subject = any ($1) group by a.state`,
    [subjects],
  );
  expect(states).toEqual([{ state: 'resolved', said: 20_000 }]);
});

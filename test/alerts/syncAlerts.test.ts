/** Numbers in brackets refer to the invariants of src/alerts/domain/alert.ts. */
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

const sync = (...subjectAlerts: readonly SubjectAlerts[]) =>
  db.transaction((tx) => syncAlerts(tx, subjectAlerts));

/** Whether the condition of the rule `dispute_opened` holds for a subject. */
const conditionOf = (subject: string, isActive: boolean): SubjectAlerts => ({
  subject,
  rules: ['dispute_opened'],
  active: isActive ? [alertOf({ subject })] : [],
});

const storedAlerts = async (subject: string) =>
  (await readStoredAlerts(db, [subject])).map(({ state, notifications }) => [state, notifications]);

const setState = (subject: string, columns: string) =>
  db.query(`update alerts set ${columns} where subject = $1 and state <> 'resolved'`, [subject]);

const acknowledge = (subject: string) =>
  setState(
    subject,
    `state = 'acknowledged', acknowledged_at = now(), acknowledged_by = 'ada', acknowledged_reason = 'on it'`,
  );

test('an active alert is opened and notifies once, however often it is synced [2, 3]', async () => {
  const subject = unique('dispute:dp');
  await sync(conditionOf(subject, true));
  await sync(conditionOf(subject, true), conditionOf(subject, true));
  expect(await storedAlerts(subject)).toEqual([['open', ['opened']]]);
});

test('its resolution notifies once, and a recurrence opens a new alert [2, 4]', async () => {
  const subject = unique('dispute:dp');
  for (const isActive of [true, false, false, true]) await sync(conditionOf(subject, isActive));
  expect(await storedAlerts(subject)).toEqual([
    ['resolved', ['opened', 'resolved']],
    ['open', ['opened']],
  ]);
});

test('an alert of a rule that was not evaluated is not changed', async () => {
  const subject = unique('dispute:dp');
  await sync(conditionOf(subject, true));
  await sync({ subject, rules: ['dispute_deadline'], active: [] });
  await sync(conditionOf(unique('dispute:dp'), false));
  expect(await storedAlerts(subject)).toEqual([['open', ['opened']]]);
});

test('an alert that stays active is updated, and notifies again only when it becomes more severe [3]', async () => {
  const subject = unique('dispute:dp');
  for (const severity of SEVERITIES.toReversed()) {
    const one = alertOf({ subject, severity, sentence: `Now it is ${severity}.` });
    await sync({ subject, rules: [one.rule], active: [one] });
  }
  const moreSevere = alertOf({ subject, severity: 'critical', detail: { left: 1 } });
  await sync({ subject, rules: [moreSevere.rule], active: [moreSevere] });
  expect(
    await db.query('select severity, sentence, detail from alerts where subject = $1', [subject]),
  ).toEqual([{ severity: 'critical', sentence: moreSevere.sentence, detail: { left: 1 } }]);
  expect(await storedAlerts(subject)).toEqual([['open', ['opened', 'reminder']]]);
});

test('a due reminder notifies again [3]', async () => {
  const subject = unique('payment:pay');
  const atThreshold = { ...conditionOf(subject, true), isReminderDue: true };
  await sync(atThreshold);
  await sync(atThreshold);
  expect(await storedAlerts(subject)).toEqual([['open', ['opened', 'reminder']]]);
});

test('an acknowledged alert stays acknowledged, notifies only when it becomes more severe, and resolves by itself [5]', async () => {
  const subject = unique('dispute:dp');
  await sync(conditionOf(subject, true));
  await acknowledge(subject);
  await sync(conditionOf(subject, true));
  await sync({ ...conditionOf(subject, true), isReminderDue: true });
  expect(await storedAlerts(subject)).toEqual([['acknowledged', ['opened']]]);
  const moreSevere = alertOf({ subject, severity: 'critical' });
  await sync({ subject, rules: [moreSevere.rule], active: [moreSevere] });
  expect(await storedAlerts(subject)).toEqual([['acknowledged', ['opened', 'reminder']]]);
  await sync(conditionOf(subject, false));
  expect(await storedAlerts(subject)).toEqual([['resolved', ['opened', 'reminder', 'resolved']]]);
});

test('a snoozed alert does not notify, not even about its resolution [6]', async () => {
  const subject = unique('dispute:dp');
  await sync(conditionOf(subject, true));
  await setState(subject, `snoozed_until = now() + interval '1 day', snoozed_by = 'ada'`);
  const moreSevere = alertOf({ subject, severity: 'critical' });
  await sync({ subject, rules: [moreSevere.rule], active: [moreSevere], isReminderDue: true });
  await sync(conditionOf(subject, false));
  expect(await storedAlerts(subject)).toEqual([['resolved', ['opened']]]);
});

test('a resolution does not notify together with a new alert about the same subject [4]', async () => {
  const [moved, won, over] = [unique('dispute:dp'), unique('dispute:dp'), unique('dispute:dp')];
  await sync(conditionOf(moved, true), conditionOf(won, true), conditionOf(over, true));
  await sync(
    {
      subject: moved,
      rules: ['dispute_opened'],
      active: [alertOf({ subject: moved, variant: 'arbitration' })],
    },
    { ...conditionOf(won, false), oneTime: [alertOf({ subject: won, rule: 'dispute_won' })] },
    conditionOf(over, false),
  );
  expect(await storedAlerts(moved)).toEqual([
    ['resolved', ['opened']],
    ['open', ['opened']],
  ]);
  expect(await storedAlerts(won)).toEqual([
    ['resolved', ['opened']],
    ['resolved', ['opened']],
  ]);
  expect(await storedAlerts(over)).toEqual([['resolved', ['opened', 'resolved']]]);
});

test('resolutions are enqueued before new alerts [4]', async () => {
  const [ended, begun] = [unique('dispute:dp'), unique('dispute:dp')];
  await sync(conditionOf(ended, true));
  await sync(conditionOf(begun, true), conditionOf(ended, false));
  const sent = await db.query(
    `select o.type from alert_outbox o join alerts a on a.id = o.alert_id
      where a.subject = any ($1) order by o.id offset 1`,
    [[ended, begun]],
  );
  expect(sent).toEqual([{ type: 'resolved' }, { type: 'opened' }]);
});

test('one-time alerts notify once and are resolved, each with its own row', async () => {
  const subject = unique('dispute:dp');
  const oneTime = alertOf({ subject, rule: 'dispute_won', severity: 'info' });
  await db.transaction((tx) => raiseOneTimeAlerts(tx, [oneTime]));
  await db.transaction((tx) => raiseOneTimeAlerts(tx, [oneTime]));
  expect(await storedAlerts(subject)).toEqual([
    ['resolved', ['opened']],
    ['resolved', ['opened']],
  ]);
});

test('a resource that returns to a state has no news about it [8]', async () => {
  const [first, second] = [unique('dispute:dp'), unique('dispute:dp')];
  const won = (subject: string, variant = 'dispute'): SubjectAlerts => ({
    subject,
    rules: [],
    active: [],
    oneTime: [alertOf({ subject, rule: 'dispute_won', variant })],
  });
  await sync(won(first));
  await sync(won(first), won(second));
  await sync(won(first, 'arbitration'));
  const reported = ['resolved', ['opened']];
  expect(await storedAlerts(first)).toEqual([reported, reported]);
  expect(await storedAlerts(second)).toEqual([reported]);
});

test('of two transactions that raise one alert at the same time, one opens it and notifies [2]', async () => {
  const subject = unique('system:s');
  let commit = () => {};
  const mayCommit = new Promise<void>((resolve) => {
    commit = resolve;
  });
  const first = db.transaction(async (tx) => {
    await syncAlerts(tx, [conditionOf(subject, true)]);
    await mayCommit;
  });
  await waitFor(
    'the first transaction to open the alert',
    async () => (await waiting('idle in transaction')) > 0,
  );
  // It cannot see the first transaction's alert and inserts the same one.
  const second = sync(conditionOf(subject, true));
  await waitFor('the second transaction to wait', async () => (await waiting('active')) > 0);
  commit();
  await Promise.all([first, second]);
  expect(await storedAlerts(subject)).toEqual([['open', ['opened']]]);
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
    await syncAlerts(tx, [conditionOf(subject, true)]);
    throw new Error('the cause fails');
  });
  await expect(failing).rejects.toThrow('the cause fails');
  expect(await storedAlerts(subject)).toEqual([]);
});

test('ten thousand alerts are synced with at most three statements', async () => {
  const subjects = Array.from({ length: 10_000 }, () => unique('dispute:dp'));
  const counted = async (isActive: boolean): Promise<number> => {
    let statements = 0;
    await db.transaction((tx) => {
      const counting: Queryable = {
        query: (text, values) => {
          statements += 1;
          return tx.query(text, values);
        },
      };
      const subjectAlerts = subjects.map((subject) => conditionOf(subject, isActive));
      return syncAlerts(counting, subjectAlerts);
    });
    return statements;
  };
  expect([await counted(true), await counted(true), await counted(false)]).toEqual([3, 2, 3]);
  const states = await db.query<{ state: string; notifications: number }>(
    `select a.state, count(o.id) as notifications
       from alerts a join alert_outbox o on o.alert_id = a.id
      where a.subject = any ($1) group by a.state`,
    [subjects],
  );
  expect(states).toEqual([{ state: 'resolved', notifications: 20_000 }]);
});

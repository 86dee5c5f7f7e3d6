/** Evidence deadlines on PostgreSQL, with a clock that the test sets. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { acknowledgeAlert } from '../../src/alerts/actOnAlert.ts';
import { createDeadlineCheck } from '../../src/alerts/checkDeadlines.ts';
import { lockDue, readDue, readDueRefs } from '../../src/alerts/store/deadlines.ts';
import { HOUR_MS } from '../../src/platform/time.ts';
import { readStoredAlerts } from '../support/alerts.ts';
import { createTestDatabase, silentLog, type TestDatabase } from '../support/database.ts';
import { eventBody, MERCHANT_ID, unique } from '../support/events.ts';
import { receive, testApplier } from '../support/ledger.ts';

const START_MS = Date.parse('2026-11-01T12:00:00Z');

let db: TestDatabase;
let nowMs: number;
const clock = { nowMs: () => nowMs };

beforeEach(async () => {
  db = await createTestDatabase();
  nowMs = START_MS;
});
afterEach(() => db.drop());

const iso = (ms: number) => new Date(ms).toISOString();

/** Applies a webhook about the dispute at the current time. */
async function applyDispute(id: string, fields: object = {}): Promise<void> {
  await applyDisputes([[id, fields]]);
}

async function applyDisputes(disputes: readonly (readonly [string, object])[]): Promise<void> {
  const bodies = disputes.map(([id, fields]) =>
    eventBody(
      {
        dispute_id: id,
        payment_id: `pay_of_${id}`,
        amount: '6540',
        currency: 'USD',
        dispute_stage: 'dispute',
        dispute_status: 'dispute_opened',
        created: iso(START_MS),
        modified_at: iso(nowMs),
        ...fields,
      },
      { eventType: 'dispute_opened', contentType: 'dispute_details' },
    ),
  );
  const ids = await receive(db, bodies, new Date(nowMs));
  await testApplier(db, MERCHANT_ID, clock).applyBatch(ids);
}

const due = (hours: number) => ({ challenge_required_by: iso(START_MS + hours * HOUR_MS) });

const check = () => createDeadlineCheck({ db, clock, log: silentLog })();

/** Sets the clock to hours after the start, runs the check in two schedulers at the same time, then once more. */
async function at(hours: number): Promise<void> {
  nowMs = START_MS + hours * HOUR_MS;
  await Promise.all([check(), check()]);
  await check();
}

const alerts = async (id: string) =>
  (await readStoredAlerts(db, [`dispute:${id}`])).map(({ rule, severity, state, notifications }) =>
    [rule, severity, state, ...notifications].join(' '),
  );

/** Acknowledges all alerts about a dispute. */
async function acknowledge(id: string): Promise<void> {
  const rows = await db.query<{ id: number }>(
    `select id from alerts where subject = $1 and state = 'open'`,
    [`dispute:${id}`],
  );
  for (const row of rows)
    await acknowledgeAlert(db, row.id, { by: 'ada', reason: 'evidence in preparation' });
}

const planned = () => db.query('select resource_id from alert_deadlines');

const OPENED = 'dispute_opened critical open opened';

test('a deadline sends one reminder each at 7 days, 72 h and 24 h, until the dispute has a response', async () => {
  const id = unique('dp');
  await applyDispute(id, due(240));
  await at(71);
  expect(await alerts(id)).toEqual([OPENED]);
  await at(73);
  expect(await alerts(id)).toEqual([OPENED, 'dispute_deadline warning open opened']);
  await at(169);
  expect(await alerts(id)).toEqual([OPENED, 'dispute_deadline warning open opened reminder']);
  await at(217);
  const near = 'dispute_deadline critical open opened reminder reminder';
  expect(await alerts(id)).toEqual([OPENED, near]);
  await at(300);
  expect(await alerts(id)).toEqual([OPENED, near]);
  expect(await planned()).toEqual([]);
  await applyDispute(id, { ...due(240), dispute_status: 'dispute_challenged' });
  expect(await alerts(id)).toEqual([
    'dispute_opened critical resolved opened resolved',
    'dispute_deadline critical resolved opened reminder reminder resolved',
    'dispute_changed info resolved opened',
  ]);
});

test('a reminder states whether the service has just confirmed it', async () => {
  const sentences = async (id: string) =>
    await db.query(`select sentence from alerts where rule = 'dispute_deadline' and subject = $1`, [
      `dispute:${id}`,
    ]);
  const confirmed = new Set<string>();
  const ids = [unique('dp'), unique('dp')];
  for (const id of ids) await applyDispute(id, due(72));
  confirmed.add(`dispute:${ids[0]}`);
  nowMs = START_MS + 73 * HOUR_MS;
  const confirm = () => Promise.resolve(confirmed);
  await createDeadlineCheck({ db, clock, log: silentLog, confirm })();
  expect(await sentences(ids[0] ?? '')).toEqual([
    { sentence: expect.stringMatching(/; the service still reports none\.$/) },
  ]);
  expect(await sentences(ids[1] ?? '')).toEqual([
    { sentence: expect.stringMatching(/could not confirm this with the service/) },
  ]);
});

test('nobody is reminded by a process that is shutting down', async () => {
  const id = unique('dp');
  await applyDispute(id, due(72));
  nowMs = START_MS + 49 * HOUR_MS;
  const confirm = () => Promise.resolve(undefined);
  await createDeadlineCheck({ db, clock, log: silentLog, confirm })();
  expect(await alerts(id)).toEqual([OPENED]);
  expect(await planned()).toHaveLength(1);
});

test('thresholds that are reached when the dispute opens send no reminder', async () => {
  const id = unique('dp');
  await applyDispute(id, due(60));
  await at(1);
  expect(await alerts(id)).toEqual([OPENED]);
  await at(37);
  expect(await alerts(id)).toEqual([OPENED, 'dispute_deadline critical open opened']);
});

test('without a deadline of the service, 7 days are assumed and watched', async () => {
  const id = unique('dp');
  await applyDispute(id);
  await at(97);
  expect(await alerts(id)).toEqual([OPENED, 'dispute_deadline warning open opened']);
});

test.each([{}, due(7 * 24)])(
  'a service with a clock that is ahead sends no reminder of seven days just after the opening, with %j',
  async (fields) => {
    const id = unique('dp');
    nowMs = START_MS - 60_000;
    await applyDispute(id, fields);
    await applyDispute(id, { ...fields, reason: 'a later body' });
    await at(0.5);
    expect(await alerts(id)).toEqual([OPENED]);
    await at(96);
    expect(await alerts(id)).toEqual([OPENED, 'dispute_deadline warning open opened']);
  },
);

test('a deadline that confirms the assumed one sends no reminder beside the opening', async () => {
  const id = unique('dp');
  await applyDispute(id);
  await at(0.1);
  await applyDispute(id, due(7 * 24 - 0.5));
  expect(await alerts(id)).toEqual([OPENED]);
  await at(0.2);
  await applyDispute(id, due(7 * 24 - 2));
  expect(await alerts(id)).toEqual([OPENED, 'dispute_deadline warning open opened']);
});

test('an assumed deadline is counted from the beginning of the stage, and no later body moves it', async () => {
  const id = unique('dp');
  await applyDispute(id, { dispute_status: 'dispute_lost' });
  const escalated = { dispute_stage: 'pre_arbitration' };
  const deadlines = () => db.query('select deadline_at as at from alert_deadlines');
  await at(24 * 30);
  await applyDispute(id, escalated);
  const assumed = [{ at: new Date(START_MS + 24 * 37 * HOUR_MS) }];
  expect(await deadlines()).toEqual(assumed);
  for (const day of [32, 35]) {
    await at(24 * day);
    await applyDispute(id, { ...escalated, connector_reason: `seen on day ${day}` });
  }
  expect(await deadlines()).toEqual(assumed);
});

test('after a long stop only the last threshold sends a reminder, and a clock that moves back and forth sends none', async () => {
  const id = unique('dp');
  await applyDispute(id, due(240));
  await at(230);
  const expected = [OPENED, 'dispute_deadline critical open opened'];
  expect(await alerts(id)).toEqual(expected);
  for (const hours of [0, 100, 239, 10, 400]) await at(hours);
  expect(await alerts(id)).toEqual(expected);
});

test('a clock that jumped ahead and back repeats no reminder', async () => {
  const id = unique('dp');
  await applyDispute(id, due(240));
  await at(100);
  await at(20);
  await at(100);
  expect(await alerts(id)).toEqual([OPENED, 'dispute_deadline warning open opened']);
  await at(170);
  expect(await alerts(id)).toEqual([OPENED, 'dispute_deadline warning open opened reminder']);
});

test('when the deadline moves, its alert is resolved and the new one has its own thresholds', async () => {
  const id = unique('dp');
  await applyDispute(id, due(240));
  await at(170);
  await applyDispute(id, due(480));
  const before = 'dispute_deadline warning resolved opened resolved';
  expect(await alerts(id)).toEqual([OPENED, before]);
  await at(300);
  expect(await alerts(id)).toEqual([OPENED, before]);
  await at(313);
  expect(await alerts(id)).toEqual([OPENED, before, 'dispute_deadline warning open opened']);
});

test('a deadline that becomes known or moves nearer sends a reminder at once if a threshold is reached', async () => {
  const id = unique('dp');
  await applyDispute(id);
  nowMs += HOUR_MS;
  await applyDispute(id, due(60));
  const known = 'dispute_deadline warning open opened';
  expect(await alerts(id)).toEqual([OPENED, known]);
  nowMs += HOUR_MS;
  await applyDispute(id, due(20));
  const nearer = [
    'dispute_deadline warning resolved opened',
    'dispute_deadline critical open opened',
  ];
  expect(await alerts(id)).toEqual([OPENED, ...nearer]);
  expect(await planned()).toEqual([]);
  // Neither a repeated event nor later checks send another reminder.
  nowMs += HOUR_MS;
  await applyDispute(id, due(20));
  await at(30);
  expect(await alerts(id)).toEqual([OPENED, ...nearer]);
});

test('the condition is checked again before a reminder: a dispute with a response sends none', async () => {
  const id = unique('dp');
  await applyDispute(id, { ...due(240), dispute_status: 'dispute_challenged' });
  await db.query(
    `insert into alert_deadlines (kind, resource_id, deadline_at, next_at)
     values ('dispute', $1, $2, $3)`,
    [id, iso(START_MS + 240 * HOUR_MS), iso(START_MS)],
  );
  await at(1);
  expect(await alerts(id)).toEqual(['dispute_changed warning resolved opened']);
  expect(await planned()).toEqual([]);
});

test('a locked resource is skipped and handled by the next run', async () => {
  const id = unique('dp');
  await applyDispute(id, due(240));
  nowMs = START_MS + 100 * HOUR_MS;
  await db.transaction(async (tx) => {
    await tx.query(`select id from resources where kind = 'dispute' and id = $1 for update`, [id]);
    await check();
  });
  expect(await alerts(id)).toEqual([OPENED]);
  await check();
  expect(await alerts(id)).toEqual([OPENED, 'dispute_deadline warning open opened']);
});

test('a reminder that another scheduler sent while the lock was awaited is not repeated', async () => {
  const id = unique('dp');
  await applyDispute(id, due(240));
  const now = new Date(START_MS + 100 * HOUR_MS);
  await db.transaction(async (tx) => {
    const refs = await lockDue(tx, await readDueRefs(tx, { now, limit: 10 }), now);
    expect(refs).toEqual([{ kind: 'dispute', id }]);
    expect(await readDue(tx, refs, now)).toHaveLength(1);
    // On another connection, as if another scheduler had sent it just before the lock was acquired.
    await db.query('update alert_deadlines set next_at = $1', [iso(now.getTime() + 1)]);
    expect(await readDue(tx, refs, now)).toEqual([]);
  });
});

test('one run sends more reminders than fit into one transaction', async () => {
  const ids = Array.from({ length: 450 }, () => unique('dp'));
  await applyDisputes(ids.map((id) => [id, due(240)]));
  await at(100);
  const [row] = await db.query<{ reminded: number }>(
    `select count(distinct a.subject) as reminded from alerts a join alert_outbox o on o.alert_id = a.id
      where a.rule = 'dispute_deadline'`,
  );
  expect(row?.reminded).toBe(450);
});

test('when a snooze ends, an active alert that nobody handles notifies once', async () => {
  const [active, won, acknowledged] = [unique('dp'), unique('dp'), unique('dp')];
  for (const id of [active, won, acknowledged]) await applyDispute(id, due(24));
  await db.query(`update alerts set snoozed_until = $1, snoozed_by = 'ada'`, [
    iso(START_MS + HOUR_MS),
  ]);
  await applyDispute(won, {
    ...due(24),
    dispute_status: 'dispute_won',
    modified_at: iso(nowMs + 1),
  });
  await acknowledge(acknowledged);
  await at(0.9);
  expect(await alerts(active)).toEqual([OPENED]);
  await at(1.1);
  expect(await alerts(active)).toEqual(['dispute_opened critical open opened reminder']);
  expect(await alerts(won)).toEqual([
    'dispute_opened critical resolved opened',
    'dispute_won info resolved opened',
  ]);
  expect(await alerts(acknowledged)).toEqual(['dispute_opened critical acknowledged opened']);
});

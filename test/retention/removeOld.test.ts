/**
 * Retention removes what is past its days, and nothing that is still needed, regardless of its age.
 *
 * The production failures that it prevents: a table that grows until the disk is full; and a removed row
 * without which an event is lost, a finding is not explained, or the change feed has a gap.
 */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { RetentionDays } from '../../src/config/retentionSettings.ts';
import { createBodiesJob } from '../../src/ledger/bodies/job.ts';
import { createChangeFeed } from '../../src/ledger/changeFeed.ts';
import { readDisputedEvents, scanOldEvents } from '../../src/ledger/inbox/store/oldEvents.ts';
import { insertChanges } from '../../src/ledger/store/changes.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { sleep } from '../../src/platform/sleep.ts';
import { DAY_MS } from '../../src/platform/time.ts';
import { readCoverage } from '../../src/reconcile/store/coverage.ts';
import { retentionClasses } from '../../src/retention/classes.ts';
import { planRetention } from '../../src/retention/plan.ts';
import { removeOld } from '../../src/retention/removeOld.ts';
import { readCutoff, readStates } from '../../src/retention/store/state.ts';
import { countPlaces, expectNoneLost, storeDay } from '../support/bodyDays.ts';
import { tallyhook } from '../support/cli.ts';
import { createTestDatabase, silentLog, type TestDatabase } from '../support/database.ts';
import { eventBody, paymentObject, unique } from '../support/events.ts';
import { readOpenFindings, receive, testApplier } from '../support/ledger.ts';
import { openPages } from '../support/pages.ts';
import { DEFAULT_DAYS, noSleep } from '../support/retention.ts';
import { startTallyhook } from '../support/tallyhook.ts';

let db: TestDatabase;
beforeEach(async () => {
  db = await createTestDatabase();
});
afterEach(() => db.drop());

const run = (days = DEFAULT_DAYS) =>
  removeOld(
    { db, days, sleep: noSleep, machine: systemClock },
    { longestMs: 60_000, signal: new AbortController().signal },
  );

async function removedOf(name: keyof RetentionDays): Promise<number | undefined> {
  return (await run()).find((one) => one.name === name)?.rows;
}

const ids = async (table: string, column = 'id') =>
  (await db.query<{ id: number }>(`select ${column} as id from ${table} order by 1`)).map(
    ({ id }) => id,
  );

describe('each class keeps what is needed', () => {
  test('messages that are due stay, and so do those that were settled lately', async () => {
    await db.query(
      `insert into messages (id, channel, kind, content, state, next_attempt_at, created_at, settled_at)
       select 'msg_' || n, 'log', 'alert', '{}', case when n = 3 then 'due' else 'delivered' end,
              now(), now() - interval '90 days',
              case n when 1 then now() - interval '31 days' when 2 then now() - interval '29 days' end
         from generate_series(1, 3) as n`,
    );
    expect(await removedOf('messages')).toBe(1);
    expect(await ids('messages', 'number')).toEqual([2, 3]);
  });

  test('alerts that are not resolved stay, and so do those with a notification to send', async () => {
    await db.query(
      `insert into alerts (rule, subject, severity, state, sentence, next_step, detail, opened_at, resolved_at)
       select 'backlog', 'system:' || n, 'warning', case when n = 1 then 'open' else 'resolved' end,
              'x', 'x', '{}', now() - interval '900 days',
              case n when 1 then null when 4 then now() - interval '399 days'
                     else now() - interval '401 days' end
         from generate_series(1, 4) as n`,
    );
    await db.query(`insert into alert_outbox (alert_id, type) values (3, 'resolved')`);
    expect(await removedOf('alerts')).toBe(1);
    expect(await ids('alerts')).toEqual([1, 3, 4]);
  });

  test('open findings stay, and closed ones as long as their event is in the inbox', async () => {
    const [event] = await receive(db, [eventBody(paymentObject())]);
    await db.query(
      `insert into findings (class, subject, state, detail, opened_at, closed_at)
       values ('orphan', 'payment:1', 'open', '{}', now() - interval '900 days', null),
              ('orphan', 'payment:2', 'closed', '{}', now() - interval '900 days', now() - interval '401 days'),
              ('event_ignored', 'event:${event}', 'closed', '{}', now() - interval '900 days', now() - interval '401 days'),
              ('event_ignored', 'event:999999', 'closed', '{}', now() - interval '900 days', now() - interval '401 days'),
              ('orphan', 'payment:3', 'closed', '{}', now() - interval '900 days', now() - interval '399 days')`,
    );
    expect(await removedOf('findings')).toBe(2);
    expect(await ids('findings')).toEqual([1, 3, 5]);
  });

  test('runs that have not ended stay, and the newest of each list', async () => {
    await db.query(
      `insert into reconcile_runs (stream, mode, cause, is_dry_run, state, from_at, to_at, position_at,
                                   started_at, finished_at)
       select stream, 'full', 'tail', false, state, now(), now(), now(), now() - interval '200 days',
              case when state = 'done' then now() - interval '91 days' end
         from (values ('payments', 'done'), ('payments', 'running'), ('payments', 'done'),
                      ('refunds', 'done')) as r (stream, state)`,
    );
    expect(await removedOf('runs')).toBe(1);
    expect(await ids('reconcile_runs')).toEqual([2, 3, 4]);
  });

  // A statement that is read a year later would call its month not compared, and an open month could not be closed.
  test('runs stay that were the last to compare some of their span', async () => {
    await db.query(
      `insert into reconcile_runs (stream, mode, cause, is_dry_run, state, from_at, to_at, position_at,
                                   started_at, finished_at)
       values ('payments', 'full', 'operator', true, 'done', now() - interval '500 days', now(),
               now() - interval '300 days', now() - interval '300 days', now() - interval '300 days')`,
    );
    await db.query(
      `insert into reconcile_runs (stream, mode, cause, is_dry_run, state, from_at, to_at, position_at,
                                   started_at, finished_at)
       select stream, 'full', cause, false, 'done', slot - reach, slot - over, slot - over, slot, slot
         from (select slot, cause, reach, over
                 from generate_series(now() - interval '400 days', now(), interval '1 day') as slot
                cross join (values ('night', interval '8 days', interval '5 minutes', 1),
                                   ('tail', interval '40 minutes', interval '1 minute', 1),
                                   ('week', interval '120 days', interval '5 minutes', 7),
                                   ('slice', interval '120 days', interval '110 days', 7))
                           as runs (cause, reach, over, every)
                where extract(day from now() - slot)::integer % every = 0) due
        cross join unnest(array['payments', 'refunds', 'disputes', 'payouts']) as stream
        order by slot, cause desc, stream`,
    );
    // One that repairs nothing, and was the last over everything.
    await db.query(
      `insert into reconcile_runs (stream, mode, cause, is_dry_run, state, from_at, to_at, position_at,
                                   started_at, finished_at)
       select stream, 'full', 'operator', true, 'done', now() - interval '500 days', now(), now(), now(), now()
         from unnest(array['payments', 'refunds', 'disputes', 'payouts']) as stream`,
    );
    const year = { from: new Date(Date.now() - 380 * DAY_MS), to: new Date(Date.now() - DAY_MS) };
    expect((await readCoverage(db, year)).flatMap(({ gaps }) => gaps)).toEqual([]);
    expect(await removedOf('runs')).toBeGreaterThan(2 * 4 * 300);
    expect((await readCoverage(db, year)).flatMap(({ gaps }) => gaps)).toEqual([]);
    const past = await db.query<{ readonly cause: string; readonly runs: number }>(
      `select cause, count(*) as runs from reconcile_runs
        where finished_at < now() - interval '90 days' group by cause order by cause`,
    );
    expect(past).toEqual([
      { cause: 'slice', runs: 4 * 45 },
      { cause: 'week', runs: 4 * 45 },
    ]);
    expect(await removedOf('runs')).toBe(0);
  });

  test('never is never, and such a class is not behind', async () => {
    await db.query(
      `insert into findings (class, subject, state, detail, opened_at, closed_at)
       values ('orphan', 'payment:2', 'closed', '{}', now() - interval '900 days', now() - interval '800 days')`,
    );
    await run();
    await db.query(`insert into findings (class, subject, state, detail, opened_at, closed_at)
       values ('orphan', 'payment:2', 'closed', '{}', now() - interval '900 days', now() - interval '800 days')`);
    await db.query(`update retention_state set caught_up_at = now() - interval '9 days'`);
    const removed = await removeOld(
      { db, days: { ...DEFAULT_DAYS, findings: undefined }, sleep: noSleep, machine: systemClock },
      { longestMs: 60_000, signal: new AbortController().signal },
    );
    expect(removed.map(({ name }) => name)).not.toContain('findings');
    expect(await ids('findings')).toHaveLength(1);
    for (const { behindMs } of await readStates(db)) expect(behindMs).toBeLessThan(60_000);
  });
});

describe('the change feed', () => {
  /** Changes with these ages in days, in order. */
  async function publish(...ages: readonly number[]): Promise<void> {
    const changes = ages.map((_, place) => ({
      kind: 'order' as const,
      subject: `order:${place}`,
      change: 'status' as const,
      status: 'paid',
      previousStatus: null,
      webhookEventId: undefined,
      isHistory: false,
    }));
    await insertChanges(db, changes as unknown as Parameters<typeof insertChanges>[1]);
    for (const [place, age] of ages.entries()) {
      await db.query(
        `update change_log set changed_at = now() - $2 * interval '1 day' where subject = $1`,
        [`order:${place}`, age],
      );
    }
    await createChangeFeed(db).publish();
  }

  const numbers = () => ids('changes', 'number');

  test('loses a prefix only, and a reader from before it learns where it begins', async () => {
    await publish(200, 150, 10, 140, 1);
    expect(await removedOf('changes')).toBe(2);
    expect(await numbers()).toEqual([3, 4, 5]);
    const feed = createChangeFeed(db);
    expect(await feed.read({ after: 0, limit: 10 })).toEqual({ outcome: 'removed', first: 3 });
    expect(await feed.read({ after: 1, limit: 10 })).toEqual({ outcome: 'removed', first: 3 });
    expect(await feed.read({ after: 2, limit: 10 })).toMatchObject({ outcome: 'read' });
    expect(await db.query('select first_number, last_number from change_feed_bounds')).toEqual([
      { first_number: 3, last_number: 5 },
    ]);
  });

  test('keeps the newest change, so that numbers continue', async () => {
    await publish(300, 200, 100);
    const changes = (await run()).find(({ name }) => name === 'changes');
    expect(changes).toMatchObject({ rows: 2, isDone: true });
    expect(await numbers()).toEqual([3]);
    await publish(1);
    expect(await numbers()).toEqual([3, 4]);
  });

  test('keeps what order webhooks have not processed, and counts as behind meanwhile', async () => {
    await publish(300, 200, 100, 1);
    await db.query('insert into order_webhook_position (change_number) values (1)');
    const changes = (await run()).find(({ name }) => name === 'changes');
    expect(changes).toMatchObject({ rows: 1, isDone: false });
    expect(await numbers()).toEqual([2, 3, 4]);
    await db.query('update order_webhook_position set change_number = 4');
    expect((await run()).find(({ name }) => name === 'changes')).toMatchObject({ isDone: true });
    expect(await numbers()).toEqual([4]);
  });

  test('refuses every other deletion, by the owner, too', async () => {
    await publish(300, 1);
    await expect(db.query('delete from changes')).rejects.toThrow('append-only');
    await run();
    await expect(db.query('delete from changes')).rejects.toThrow('append-only');
  });
});

test('bodies are removed by whole days, and those of undecided disputes and their payments stay', async () => {
  const [disputed = 0, paid = 0, other = 0] = await storeDay(db, { daysAgo: 91, events: 20 });
  await storeDay(db, { daysAgo: 88, events: 10 });
  await db.query(
    `insert into snapshots (kind, resource_id, epoch, content_hash, content, source, observed_micros,
                            webhook_event_id)
     values ('dispute', 'dp_1', 0, sha256('a'), '{}', 'webhook', 1, $1),
            ('payment', 'pay_1', 0, sha256('b'), '{}', 'webhook', 1, $2),
            ('payment', 'pay_2', 0, sha256('c'), '{}', 'webhook', 1, $3)`,
    [disputed, paid, other],
  );
  await db.query(
    `insert into resources (kind, id, payment_id, status, next_check_at)
     values ('dispute', 'dp_1', 'pay_1', 'opened', now())`,
  );
  const job = createBodiesJob({
    db,
    log: silentLog,
    signal: new AbortController().signal,
    times: { budgetMs: 60_000, settleMs: 0, restMs: 0 },
  });
  await job();
  await job();
  expect(await removedOf('bodies')).toBe(1);
  expect(await ids('kept_bodies', 'webhook_event_id')).toEqual([disputed, paid]);
  expect(await countPlaces(db)).toMatchObject({ packed: 10 });
  await expectNoneLost(db);

  await db.query(`update resources set status = 'won', next_check_at = null`);
  await job();
  expect(await ids('kept_bodies', 'webhook_event_id')).toEqual([]);
});

describe('rows of the inbox', () => {
  /** An applied event that was received so many days ago, with its body removed. */
  async function oldEvent(days: number, body = eventBody(paymentObject())): Promise<number> {
    const [id] = await receive(db, [body]);
    if (id === undefined) throw new Error('the event is a duplicate');
    await testApplier(db).applyBatch([id]);
    await db.query(
      `update webhook_events set received_at = now() - $2 * interval '1 day' where id = $1`,
      [id, days],
    );
    await forgetBody(id);
    return id;
  }

  async function forgetBody(id: number): Promise<void> {
    await db.query(
      `insert into body_days (day, state, removed_at) values ('2020-01-01', 'removed', now())
       on conflict do nothing`,
    );
    await db.query('delete from webhook_bodies where webhook_event_id = $1', [id]);
    await db.query(`update webhook_events set body = null, body_day = '2020-01-01' where id = $1`, [
      id,
    ]);
  }

  test('stay while they are pending, dead or under an open finding, or have a body', async () => {
    const [pending, dead, found, dispute, withBody, kept, young, gone] = [
      await oldEvent(401),
      await oldEvent(401),
      await oldEvent(401),
      await oldEvent(
        401,
        eventBody(
          {
            dispute_id: unique('dp'),
            payment_id: unique('pay'),
            amount: '100',
            currency: 'USD',
            dispute_stage: 'dispute',
            dispute_status: 'dispute_opened',
            connector_status: 'x',
            connector_dispute_id: 'x',
            connector: 'x',
            created_at: '2026-11-01T10:00:00.000Z',
          },
          { eventType: 'dispute_opened', contentType: 'dispute_details' },
        ),
      ),
      await oldEvent(401),
      await oldEvent(401),
      await oldEvent(399),
      await oldEvent(401),
    ];
    await db.query('insert into pending (webhook_event_id, enqueue_at) values ($1, now())', [
      pending,
    ]);
    await db.query(
      `insert into dead_events (webhook_event_id, attempts, error) values ($1, 5, 'x')`,
      [dead],
    );
    await db.query(
      `insert into findings (class, subject, detail) values ('event_ignored', 'event:' || $1::bigint, '{}')`,
      [found],
    );
    await db.query(`update webhook_events set body = '\\x00' where id = $1`, [withBody]);
    await db.query(`insert into kept_bodies values ($1, '\\x00')`, [kept]);
    const statuses = await db.query(
      `select status, next_check_at is not null as checked from resources where kind = 'dispute'`,
    );
    expect(statuses).toEqual([{ status: 'opened', checked: true }]);

    expect(await removedOf('events')).toBe(1);
    expect(await ids('webhook_events')).toEqual([
      pending,
      dead,
      found,
      dispute,
      withBody,
      kept,
      young,
    ]);
    expect(await ids('removed_events', 'digest::text')).toHaveLength(1);
    expect(await readStates(db)).toContainEqual(
      expect.objectContaining({ name: 'events', removedRows: 1, removedThrough: gone }),
    );
  });

  test('take the steps of replays with them that name no other event', async () => {
    const [first, second, young] = [await oldEvent(401), await oldEvent(401), await oldEvent(399)];
    const runs = await db.query<{ id: number }>(
      `insert into replay_runs (filter, reason, requested_by, planned, is_planned_complete, state, position,
                                finished_at)
       select '{}', 'x', 'ada', 3, true, 'done', 1, now() from generate_series(1, 2) returning id`,
    );
    await db.query(
      `insert into replay_steps (run_id, position, next_position, is_last, numbers, done_at)
       values ($4, $3::bigint + 1, $2::bigint, false, array[$3, $2]::bigint[], now()), ($4, $2, $1::bigint, true, array[$1]::bigint[], now()),
              ($5, $3 + 1, $2, false, '{}', now()), ($5, $2, $1, true, array[$1]::bigint[], null)`,
      [first, second, young, ...runs.map(({ id }) => id)],
    );
    expect(await removedOf('events')).toBe(2);
    const steps = await db.query(
      'select numbers::text as numbers, done_at is not null as done from replay_steps order by run_id',
    );
    expect(steps).toEqual([
      { numbers: `{${young},${second}}`, done: true },
      { numbers: `{${first}}`, done: false },
    ]);
  });

  test('stay beyond the last known event of a dispute, if there are too many to read', async () => {
    const [first, disputed, second] = [
      await oldEvent(401),
      await oldEvent(401),
      await oldEvent(401),
    ];
    const alsoDisputed = await oldEvent(401);
    const ofItsPayment = await oldEvent(401);
    await db.query(
      `insert into resources (kind, id, payment_id, status, next_check_at)
       values ('dispute', 'dp_1', 'pay_1', 'opened', now())`,
    );
    await db.query(
      `insert into snapshots (kind, resource_id, epoch, content_hash, content, source, observed_micros,
                              webhook_event_id)
       select 'dispute', 'dp_1', 0, sha256(id::text::bytea), '{}', 'webhook', 1, id
         from unnest($1::bigint[]) id`,
      [[disputed, alsoDisputed]],
    );
    await db.query(
      `insert into snapshots (kind, resource_id, epoch, content_hash, content, source, observed_micros,
                              webhook_event_id)
       values ('payment', 'pay_1', 0, sha256('pay_1'), '{}', 'webhook', 1, $1)`,
      [ofItsPayment],
    );
    const removable = async (limit: number) => {
      const known = await readDisputedEvents(db, limit);
      const request = { before: await readCutoff(db, 400), after: 0, limit: 100 };
      const rows = await scanOldEvents(db, request, known);
      return rows.flatMap(({ key, isRemovable }) => (isRemovable ? [key] : []));
    };
    expect(await removable(100)).toEqual([first, second]);
    // A contested dispute is as undecided.
    await db.query(`update resources set status = 'challenged' where id = 'dp_1'`);
    expect(await removable(100)).toEqual([first, second]);
    expect(await removable(1)).toEqual([first]);
  });

  test('cannot be removed earlier, or with a body, by a caller of the function', async () => {
    const [young, withBody] = [await oldEvent(399), await oldEvent(401)];
    await db.query(`update webhook_events set body = '\\x00' where id = $1`, [withBody]);
    expect(
      await db.query('select remove_events($1::bigint[]) as removed', [[young, withBody]]),
    ).toEqual([{ removed: 0 }]);
  });

  test('are named as removed in the explanation and the history of their order', async () => {
    const payment = paymentObject({ payment_id: 'pay_old', metadata: { order_id: 'ord_old' } });
    const id = await oldEvent(500, eventBody(payment));
    expect(await removedOf('events')).toBe(1);
    const explained = await tallyhook(db.url, 'orders', 'explain', 'ord_old');
    expect(explained.stdout).toContain(
      `Winning snapshot: an event that retention has removed (inbox ${id}): succeeded`,
    );
    const console = await startTallyhook({ db, roles: ['console'] });
    try {
      const viewer = await openPages(console);
      const { html } = await viewer.get('/orders/ord_old');
      expect(html).toContain(`an event that retention has removed, inbox number ${id}`);
    } finally {
      await console.close();
    }
  });

  test('that a sender repeats later are applied again, noticed, and move no money', async () => {
    const payment = paymentObject();
    const body = eventBody(payment);
    await oldEvent(500, body);
    const unnamed = Buffer.from('{"no": "envelope"}');
    const unnamedId = await oldEvent(500, unnamed);
    await db.query(`update findings set state = 'closed', closed_at = now() where subject = $1`, [
      `event:${unnamedId}`,
    ]);
    const journal = () =>
      db.query(`select kind, resource_id, leg, amount_minor from transfers order by id`);
    const resource = () =>
      db.query(`select status, captured_minor, posted from resources where id = $1`, [
        payment.payment_id,
      ]);
    const before = [await journal(), await resource()];
    expect(await removedOf('events')).toBe(2);
    expect(await ids('webhook_events')).toEqual([]);

    for (const again of [body, unnamed]) {
      const [id] = await receive(db, [again]);
      if (id === undefined) throw new Error('the event counts as a duplicate');
      await testApplier(db).applyBatch([id]);
      const classes = (await readOpenFindings(db, `event:${id}`)).map((one) => one.class);
      expect(classes).toContain('event_repeated');
    }
    expect([await journal(), await resource()]).toEqual(before);
    // Other events are not affected.
    const [other] = await receive(db, [eventBody(paymentObject())]);
    await testApplier(db).applyBatch([other ?? 0]);
    expect(await readOpenFindings(db, `event:${other}`)).toEqual([]);
  });
});

test('the class that has been behind for longest comes first', async () => {
  await run();
  await db.query(
    `update retention_state set caught_up_at = now() - (case class when 'runs' then 3 else 2 end) * interval '1 day'
      where class in ('messages', 'runs')`,
  );
  const names = (await run()).map(({ name }) => name);
  expect(names.slice(0, 2)).toEqual(['runs', 'messages']);
});

test('retention rests after each step', async () => {
  await db.query(
    `insert into findings (class, subject, state, detail, opened_at, closed_at)
     select 'orphan', 'payment:' || n, 'closed', '{}', now() - interval '900 days', now() - interval '800 days'
       from generate_series(1, 6000) as n`,
  );
  const rests: number[] = [];
  const rest = (delayMs: number) => {
    rests.push(delayMs);
    return Promise.resolve();
  };
  const startMs = performance.now();
  await removeOld(
    { db, days: DEFAULT_DAYS, sleep: rest, machine: systemClock },
    { longestMs: 60_000, signal: new AbortController().signal },
  );
  const workedMs = performance.now() - startMs;
  expect(await ids('findings')).toEqual([]);
  // Of at most 2,000 rows a step.
  expect(rests.length).toBeGreaterThanOrEqual(3);
  for (const restMs of rests) expect(restMs).toBeGreaterThan(0);
  const restedMs = rests.reduce((sum, restMs) => sum + restMs, 0);
  expect(restedMs).toBeLessThanOrEqual(9 * workedMs);
});

test('retention waits while events wait, and continues when they are applied', async () => {
  await db.query(
    `insert into findings (class, subject, state, detail, opened_at, closed_at)
     values ('orphan', 'payment:2', 'closed', '{}', now() - interval '900 days', now() - interval '800 days')`,
  );
  await receive(db, [eventBody(paymentObject())]);
  await db.query(`update pending set since = now() - interval '1 minute'`);
  const short = await removeOld(
    { db, days: DEFAULT_DAYS, sleep, machine: systemClock },
    { longestMs: 1_000, signal: new AbortController().signal },
  );
  expect(short.filter(({ rows, isDone }) => rows > 0 || isDone)).toEqual([]);
  await db.query('delete from pending');
  expect(await removedOf('findings')).toBe(1);
});

test('retention does not wait for an event that failed and is tried alone', async () => {
  await receive(db, [eventBody(paymentObject())]);
  await db.query(`update pending set attempts = 1, since = now() - interval '1 minute'`);
  const removed = await removeOld(
    { db, days: DEFAULT_DAYS, sleep, machine: systemClock },
    { longestMs: 20_000, signal: new AbortController().signal },
  );
  expect(removed.every(({ isDone }) => isDone)).toBe(true);
});

test('the plan shows what the next run removes, and the run removes it', async () => {
  await db.query(
    `insert into messages (id, channel, kind, content, state, next_attempt_at, created_at, settled_at)
     select 'msg_' || n, 'log', 'alert', '{}', 'delivered', now(), now() - interval '90 days',
            now() - n * interval '1 hour'
       from generate_series(1, 12000) as n`,
  );
  await db.query('analyze messages');
  const planned = async () =>
    (await planRetention(db, DEFAULT_DAYS)).find(({ name }) => name === 'messages');
  const before = await planned();
  expect(before).toMatchObject({
    rows: 12_000,
    areRowsEstimated: true,
    removable: 10_000,
    isMoreRemovable: true,
    days: 30,
  });
  expect(before?.bytes).toBeGreaterThan(1_000_000);
  expect(await removedOf('messages')).toBe(12_000 - 30 * 24 + 1);
  expect(await planned()).toMatchObject({
    rows: 719,
    areRowsEstimated: false,
    removable: 0,
    isMoreRemovable: false,
    removedRows: 11_281,
  });
});

test('a foreign key to a table of which rows are removed has an index', async () => {
  const tables = retentionClasses().flatMap((one) => one.tables);
  const keys = await db.query(
    `select c.conrelid::regclass::text as table
       from pg_constraint c
      where c.contype = 'f' and c.confrelid = any ($1::text[]::regclass[])
            and not exists (select from pg_index i
                             where i.indrelid = c.conrelid and i.indpred is null
                                   and i.indkey[0] = c.conkey[1])`,
    [tables],
  );
  expect(keys).toEqual([]);
});

// A server that takes over after a failover may have a wrong clock. By it, everything is old.
test('retention removes nothing while the clock of the database is ahead', async () => {
  await db.query(
    `insert into findings (class, subject, state, detail, opened_at, closed_at)
     values ('orphan', 'payment:2', 'closed', '{}', now() - interval '900 days', now() - interval '800 days')`,
  );
  const behind = { nowMs: () => Date.now() - 2 * DAY_MS };
  const parts = { db, days: DEFAULT_DAYS, sleep: noSleep };
  const limits = { longestMs: 60_000, signal: new AbortController().signal };
  await expect(removeOld({ ...parts, machine: behind }, limits)).rejects.toThrow(
    'the clock of the database is 48 hours ahead',
  );
  expect(await ids('findings')).toEqual([1]);
  expect(await removedOf('findings')).toBe(1);
});

// Each run read all of them again, and the classes after them had no time left.
test('events that stay because their bodies do are not read in each run', async () => {
  await db.query(
    `insert into webhook_events (event_id, body_sha256, received_at, body_day)
     select 'evt_' || n, sha256(n::text::bytea), now() - interval '500 days',
            (now() - interval '500 days')::date
       from generate_series(1, 5000) as n`,
  );
  await db.query(
    `insert into body_days (day, state, packed_at) select distinct body_day, 'packed', now() from webhook_events
      where body_day < now() - interval '400 days'`,
  );
  const days = { ...DEFAULT_DAYS, bodies: undefined };
  const before = await readCutoff(db, 400);
  const read = await scanOldEvents(
    db,
    { before, after: 0, limit: 500 },
    await readDisputedEvents(db),
  );
  expect(read.some(({ isPast }) => isPast)).toBe(false);
  expect((await run(days)).find(({ name }) => name === 'events')).toMatchObject({
    rows: 0,
    isDone: true,
  });
  await db.query(
    `update body_days set state = 'removed', removed_at = now() where day < now() - interval '400 days'`,
  );
  expect((await run(days)).find(({ name }) => name === 'events')).toMatchObject({ rows: 5000 });
});

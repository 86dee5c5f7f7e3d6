/** The system watch on PostgreSQL. test/unit/monitor tests the limits of the rules. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { replayEvents } from '../../src/ledger/inbox/applyEvents.ts';
import { openFindings } from '../../src/ledger/recordFindings.ts';
import { insertLoss } from '../../src/monitor/store/failoverLosses.ts';
import { createSystemWatch } from '../../src/monitor/watchSystem.ts';
import { STREAMS } from '../../src/reconcile/streams.ts';
import { readStoredAlerts } from '../support/alerts.ts';
import { chainJournal } from '../support/chain.ts';
import { createTestDatabase, silentLog, type TestDatabase } from '../support/database.ts';
import { unique } from '../support/events.ts';
import { applyEach, receive, testApplier } from '../support/ledger.ts';
import { paymentEvent } from '../support/payments.ts';
import { startTallyhook } from '../support/tallyhook.ts';
import { waitFor } from '../support/waitFor.ts';

let db: TestDatabase;
let watch: () => Promise<void>;

const watchAs = (isReconciling: boolean) =>
  createSystemWatch({ db, log: silentLog, isReconciling });

beforeEach(async () => {
  db = await createTestDatabase();
  watch = watchAs(true);
});
afterEach(() => db.drop());

/** Rule, state and notifications of every alert. */
const storedAlerts = async (): Promise<readonly (readonly string[])[]> =>
  (await readStoredAlerts(db)).map(({ rule, state, notifications }) => [
    rule,
    state,
    ...notifications,
  ]);

const run = (run: { cause?: string; missed?: number; isDryRun?: boolean; hoursAgo?: number }) =>
  db.query(
    `insert into reconcile_runs (stream, mode, cause, is_dry_run, state, from_at, to_at, position_at,
                                 started_at, updated_at, finished_at, missed)
     select 'payments', 'full', $1, $2, 'done', at, at, at, at, at, at, $3
       from (select now() - $4 * interval '1 hour' as at) as t`,
    [run.cause ?? 'tail', run.isDryRun ?? false, run.missed ?? 0, run.hoursAgo ?? 0],
  );

const webhooks = async (count: number, minutesAgo: number): Promise<void> => {
  const bodies = Array.from({ length: count }, () => paymentEvent({}));
  const ids = await receive(db, bodies, new Date(Date.now() - minutesAgo * 60_000));
  await testApplier(db).applyBatch(ids);
};

const mismatched = (count: number, minutesAgo: number) =>
  db.query(
    `insert into watch_counts (minute, name, count)
     values (date_trunc('minute', now() - $2 * interval '1 minute'), 'signature_mismatched', $1)`,
    [count, minutesAgo],
  );

const severities = async (): Promise<readonly string[]> =>
  (await db.query<{ severity: string }>('select severity from alerts')).map(
    ({ severity }) => severity,
  );

const read = (minutesAgo: number) =>
  db.query(`update reconcile_streams set watermark_at = now() - $1 * interval '1 minute'`, [
    minutesAgo,
  ]);

describe('no alert is raised', () => {
  test('in a fresh installation, with a key and without one', async () => {
    await watch();
    await watchAs(false)();
    expect(await storedAlerts()).toEqual([]);
  });

  test('by a first import, which finds history that no webhook reported', async () => {
    await run({ cause: 'tail', missed: 0 });
    await run({ cause: 'operator', missed: 90_000 });
    await run({ cause: 'night', missed: 500, isDryRun: true });
    await watch();
    expect(await storedAlerts()).toEqual([]);
  });

  test('in a quiet night without webhooks and changes, with every list reconciled', async () => {
    await webhooks(30, 600);
    await run({});
    await read(3);
    await watch();
    expect(await storedAlerts()).toEqual([]);
  });

  test('on a normal day, with payments applied and every list reconciled', async () => {
    await webhooks(200, 1);
    await run({});
    await read(3);
    await watch();
    await watch();
    expect(await storedAlerts()).toEqual([]);
  });

  test('by a new process after a long stop', async () => {
    await webhooks(30, 3 * 24 * 60);
    await read(3 * 24 * 60);
    await watch();
    expect(await storedAlerts()).toEqual([]);
  });
});

describe('many signature failures', () => {
  test('are counted without a row each, raise one alert, and are resolved after an hour', async () => {
    const tallyhook = await startTallyhook({ db, roles: ['receiver'] });
    try {
      for (let sent = 0; sent < 6; sent += 1) {
        const body = paymentEvent({});
        const headers = { 'X-Webhook-Signature-512': 'ab'.repeat(64) };
        expect((await tallyhook.deliver(body, headers)).status).toBe(401);
      }
    } finally {
      await tallyhook.close();
    }
    const counts = await db.query('select name, count from watch_counts');
    expect(counts).toEqual([{ name: 'signature_mismatched', count: 6 }]);
    await watch();
    expect(await storedAlerts()).toEqual([]);
    await mismatched(1, 6);
    await watch();
    await watch();
    expect(await storedAlerts()).toEqual([['signature_failures', 'open', 'opened']]);
    await db.query(`update watch_counts set minute = minute - interval '61 minutes'`);
    await watch();
    expect(await storedAlerts()).toEqual([
      ['signature_failures', 'resolved', 'opened', 'resolved'],
    ]);
  });

  test('raise an alert within minutes, while the last verified webhook is still fresh', async () => {
    await webhooks(1, 12);
    for (const minutesAgo of [8, 7, 2]) await mismatched(1, minutesAgo);
    await watch();
    expect(await storedAlerts()).toEqual([['signature_failures', 'open', 'opened']]);
    expect(await severities()).toEqual(['warning']);
    await run({ missed: 1 });
    await watch();
    expect(await severities()).toEqual(['critical']);
  });

  test('raise no alert if a webhook verified meanwhile', async () => {
    for (const minutesAgo of [30, 20, 9, 8, 2]) await mismatched(3, minutesAgo);
    await webhooks(1, 5);
    await watch();
    expect(await storedAlerts()).toEqual([]);
  });

  test('leave no rows behind', async () => {
    await db.query(
      `insert into watch_counts (minute, name, count)
       values (now() - interval '49 hours', 'signature_unsigned', 1)`,
    );
    await watch();
    expect(await db.query('select name from watch_counts')).toEqual([]);
  });
});

describe('stopped webhooks', () => {
  test('raise an alert while the service has changes; the next webhook resolves it', async () => {
    await webhooks(30, 60);
    await run({ missed: 3 });
    await watch();
    expect(await storedAlerts()).toEqual([['webhooks_stopped', 'open', 'opened']]);
    await webhooks(1, 0);
    await watch();
    expect(await storedAlerts()).toEqual([['webhooks_stopped', 'resolved', 'opened', 'resolved']]);
  });

  test('raise no alert because of changes before the last webhook', async () => {
    await webhooks(30, 60);
    // The run began two minutes after the last webhook.
    await run({ missed: 3, hoursAgo: 58 / 60 });
    await watch();
    expect(await storedAlerts()).toEqual([]);
  });
});

describe('after a time without a receiver', () => {
  const receiverRan = (fromMinutesAgo: number, toMinutesAgo: number) =>
    db.query(
      `insert into watch_counts (minute, name, count)
       select date_trunc('minute', now()) - ago * interval '1 minute', 'receiver_running', 1
         from generate_series($2::int, $1::int) as ago`,
      [fromMinutesAgo, toMinutesAgo],
    );

  test('no alert is about the webhooks that could not arrive, and one is about later ones', async () => {
    await webhooks(30, 180);
    await receiverRan(300, 180);
    await receiverRan(40, 1);
    await run({ missed: 40, hoursAgo: 38 / 60 });
    await run({ cause: 'night', missed: 40, hoursAgo: 35 / 60 });
    await watch();
    expect(await storedAlerts()).toEqual([]);
    await run({ missed: 40 });
    await watch();
    expect(await storedAlerts()).toEqual([['webhooks_stopped', 'open', 'opened']]);
  });

  test('a restart is no such time', async () => {
    await webhooks(30, 180);
    await receiverRan(300, 42);
    await receiverRan(40, 1);
    await run({ missed: 40, hoursAgo: 38 / 60 });
    await watch();
    expect(await storedAlerts()).toEqual([['webhooks_stopped', 'open', 'opened']]);
  });

  test('the minutes in which one runs are counted', async () => {
    const counted = () => db.query('select distinct name from watch_counts');
    await watch();
    expect(await counted()).toEqual([]);
    const tallyhook = await startTallyhook({ db, roles: ['receiver'] });
    try {
      await waitFor('the receiver to report', async () => {
        const rows = await db.query(`select 1 from processes where roles = '{receiver}'`);
        return rows.length > 0;
      });
      await watch();
    } finally {
      await tallyhook.close();
    }
    expect(await counted()).toEqual([{ name: 'receiver_running' }]);
  });
});

test('the alert about missed webhooks states their share', async () => {
  await webhooks(60, 5);
  await run({ cause: 'night', missed: 6 });
  await watch();
  expect(await storedAlerts()).toEqual([['missed_webhooks', 'open', 'opened']]);
  const [row] = await db.query<{ detail: object }>('select detail from alerts');
  expect(row?.detail).toEqual({ periodHours: 1, changes: 6, webhooks: 60 });
});

test('a backlog raises an alert, which notifies again when it becomes critical and is resolved once the events are applied', async () => {
  const [id = 0] = await receive(db, [paymentEvent({})]);
  const age = (minutes: number) =>
    db.query(`update pending set since = now() - $1 * interval '1 minute'`, [minutes]);
  await age(6);
  await watch();
  await age(31);
  await watch();
  expect(await storedAlerts()).toEqual([['backlog', 'open', 'opened', 'reminder']]);
  await testApplier(db).applyBatch([id]);
  await watch();
  expect(await storedAlerts()).toEqual([['backlog', 'resolved', 'opened', 'reminder', 'resolved']]);
});

test('many dead events raise one alert in addition to one for each event', async () => {
  const ids = await receive(
    db,
    Array.from({ length: 10 }, () => paymentEvent({})),
  );
  for (const id of ids) await testApplier(db).markDead(id, 8, 'broken');
  await watch();
  const counts = await db.query(
    `select rule, count(*) as alerts from alerts where state = 'open' group by rule order by rule`,
  );
  expect(counts).toEqual([
    { rule: 'dead_events', alerts: 1 },
    { rule: 'event_dead', alerts: 10 },
  ]);
  await replayEvents(db, ids);
  await watch();
  expect(await db.query(`select id from alerts where state = 'open'`)).toEqual([]);
});

describe('reconciliation', () => {
  /** An alert that is open stays open after a restart (rule 2). */
  const expectLagToStayOpen = async (): Promise<void> => {
    await db.query(
      `insert into alerts (rule, subject, severity, sentence, next_step, detail)
       values ('reconciliation_lag', 'system:reconciliation', 'warning', '', '', '{}')`,
    );
    await watch();
    expect(await storedAlerts()).toEqual([['reconciliation_lag', 'open']]);
  };

  test('that lags raises an alert, but not during a pause or while the service is unreachable', async () => {
    await read(3);
    await watch();
    await read(50);
    // The process has been watching for an hour.
    const old = watchAs(true);
    await old();
    expect(await storedAlerts()).toEqual([]);
    await expectLagToStayOpen();
    await db.query(
      `insert into reconcile_pauses (paused_by, reason, paused_at)
       values ('ada', 'maintenance', now() - interval '5 hours')`,
    );
    await watch();
    expect((await storedAlerts()).map(([rule, state]) => [rule, state])).toEqual([
      ['reconciliation_lag', 'resolved'],
      ['reconciliation_paused', 'open'],
    ]);
  });

  test('raises an alert if the service stays unreachable, unless the finding is accepted', async () => {
    const subject = 'service:payments';
    const detail = { reason: 'connection refused' };
    await db.transaction((tx) =>
      openFindings(tx, [{ class: 'service_unusable', subject, detail }]),
    );
    await watch();
    expect(await storedAlerts()).toEqual([]);
    await db.query(`update findings set opened_at = now() - interval '11 minutes'`);
    await watch();
    expect(await storedAlerts()).toEqual([['service_unreachable', 'open', 'opened']]);
    await db.query(
      `update findings set accepted_at = now(), accepted_by = 'a', accepted_reason = 'b'`,
    );
    await watch();
    expect(await storedAlerts()).toEqual([
      ['service_unreachable', 'resolved', 'opened', 'resolved'],
    ]);
  });

  test('raises an alert if a list is never read, and not while its first import goes on', async () => {
    await db.query(`update reconcile_streams set watermark_at = now() where stream <> 'disputes'`);
    await db.query(
      `insert into reconcile_runs (stream, mode, cause, is_dry_run, from_at, to_at, position_at, updated_at)
       values ('disputes', 'full', 'tail', false, now() - interval '120 days', now(), now(), now() - interval '36 minutes')`,
    );
    // The watch has just begun: it is not late (rule 2), unless it was before.
    await watch();
    expect(await storedAlerts()).toEqual([]);
    await expectLagToStayOpen();
    await db.query('update reconcile_runs set updated_at = now()');
    await watch();
    expect(await storedAlerts()).toEqual([['reconciliation_lag', 'resolved', 'resolved']]);
  });

  test('raises an alert of its own when the service becomes unreachable beside a refused list', async () => {
    const open = (subjects: readonly string[]) =>
      db.transaction((tx) =>
        openFindings(
          tx,
          subjects.map((subject) => ({ class: 'service_unusable', subject, detail: {} })),
        ),
      );
    const sentences = () =>
      db.query(`select state, left(sentence, 43) as sentence from alerts order by id`);
    await open(['service:payouts']);
    await db.query(`update findings set opened_at = now() - interval '11 minutes'`);
    await watch();
    const refused = { state: 'open', sentence: 'The payment service has failed or refused s' };
    expect(await sentences()).toEqual([refused]);
    await open(STREAMS.map((stream) => `service:${stream}`));
    await watch();
    expect(await sentences()).toEqual([
      { ...refused, state: 'resolved' },
      { state: 'open', sentence: 'The payment service has been unreachable si' },
    ]);
  });

  test('raises an alert if the rate limit stays exhausted, counted by the minute', async () => {
    await db.query(
      `update rate_budget set requests_limit = 100, remaining = 0, reset_at = now() + interval '50 s'`,
    );
    await watch();
    expect(await db.query('select name, count from watch_counts')).toEqual([
      { name: 'rate_limit_exhausted', count: 1 },
    ]);
    expect(await storedAlerts()).toEqual([]);
    await db.query(
      `insert into watch_counts (minute, name, count)
       select date_trunc('minute', now()) - n * interval '1 minute', 'rate_limit_exhausted', 1
         from generate_series(1, 9) as n`,
    );
    await watch();
    expect(await storedAlerts()).toEqual([['rate_limit_exhausted', 'open', 'opened']]);
  });
});

test('findings from a version without alerts raise one alert', async () => {
  await db.query(
    `insert into findings (class, subject, detail) values ('currency', 'order:order:o', '{}')`,
  );
  await watch();
  await watch();
  expect(await storedAlerts()).toEqual([['currency', 'open', 'opened']]);
});

test('two processes that watch at the same time raise one alert', async () => {
  await applyEach(db, testApplier(db), [paymentEvent({ payment_id: unique('pay') })]);
  await webhooks(30, 60);
  await run({ missed: 3 });
  const other = watchAs(true);
  await Promise.all([watch(), other(), watch(), other()]);
  const stopped = (await readStoredAlerts(db)).filter(({ rule }) => rule === 'webhooks_stopped');
  expect(stopped.length).toBeLessThanOrEqual(1);
});

test('the scheduler runs the watch when it starts', async () => {
  await webhooks(30, 60);
  await run({ missed: 3 });
  const key = { PAYMENTS_BASE_URL: 'http://127.0.0.1:9', PAYMENTS_API_KEY: 'snd_none' };
  const tallyhook = await startTallyhook({ db, roles: ['scheduler'], env: key });
  try {
    await waitFor('the alert', async () => (await storedAlerts()).length > 0);
  } finally {
    await tallyhook.close();
  }
  expect((await storedAlerts()).map(([rule]) => rule)).toContain('webhooks_stopped');
});

test('an erasure that nobody finished raises an alert, until it is done', async () => {
  await db.query(
    `insert into erasures (subjects, reason, requested_by, requested_at)
     values (array['order:ord_1'], 'test', 'ann', now() - interval '3 days')`,
  );
  await watch();
  expect(await storedAlerts()).toEqual([['erasure_unfinished', 'open', 'opened']]);
  await db.query(`update erasures set state = 'done', finished_at = now(), remaining = 0`);
  await watch();
  expect(await storedAlerts()).toEqual([['erasure_unfinished', 'resolved', 'opened', 'resolved']]);
});

describe('a role that no process has', () => {
  /** A process by its role, how long ago it was last seen, and for how long it has reported without a gap. */
  const reported = (role: string, seenSecondsAgo: number, steadySeconds = 600) =>
    db.query(
      `insert into processes (id, host, pid, roles, version, is_ready, failures, seen_at, steady_since)
       values (gen_random_uuid(), 'web-1', 17, array[$1], '1.0.0', true, '{}',
               statement_timestamp() - $2 * interval '1 second',
               statement_timestamp() - $3 * interval '1 second')`,
      [role, seenSecondsAgo, steadySeconds],
    );

  test('raises an alert after two minutes, which its replacement resolves', async () => {
    await reported('scheduler', 1);
    await reported('receiver', 100);
    await watch();
    expect(await storedAlerts()).toEqual([]);
    await db.query(
      `update processes set seen_at = seen_at - interval '1 minute' where roles = '{receiver}'`,
    );
    await watch();
    expect(await storedAlerts()).toEqual([['role_not_running', 'open', 'opened']]);
    await reported('receiver', 1);
    await watch();
    expect(await storedAlerts()).toEqual([['role_not_running', 'resolved', 'opened', 'resolved']]);
  });

  test('raises none while nobody could report: after an outage of the database', async () => {
    await reported('events', 300);
    await reported('scheduler', 1, 20);
    await watch();
    expect(await storedAlerts()).toEqual([]);
  });

  test('leaves the list a day after its last report', async () => {
    await reported('events', 90_000);
    await watch();
    expect(await db.query('select 1 from processes')).toEqual([]);
  });
});

test('events that a failover lost are compared with the service once, and the alert ends then', async () => {
  const compared: number[] = [];
  const watchLosses = createSystemWatch({
    db,
    log: silentLog,
    isReconciling: true,
    reconcileLoss: (detectedMs) => {
      compared.push(detectedMs);
      return Promise.resolve();
    },
  });
  const loss = { timeline: '00000002', process: 'host:1', events: 3, refused: 0 };
  const receivedAt = new Date();
  await insertLoss(db, { ...loss, firstReceivedAt: receivedAt, lastReceivedAt: receivedAt });
  await watchLosses();
  await watchLosses();
  expect(compared).toHaveLength(1);
  expect(await storedAlerts()).toEqual([['acknowledged_lost', 'open', 'opened']]);

  await db.query(
    `insert into reconcile_runs (stream, mode, cause, is_dry_run, state, from_at, to_at, position_at,
                                 finished_at)
     select stream, 'full', 'loss', false, 'done', now() - interval '8 days', now(), now(), now()
       from unnest(array['payments', 'refunds', 'disputes']) as s (stream)`,
  );
  await watchLosses();
  expect(await storedAlerts()).toEqual([['acknowledged_lost', 'open', 'opened']]);
  await db.query(
    `insert into reconcile_runs (stream, mode, cause, is_dry_run, state, from_at, to_at, position_at,
                                 finished_at)
     values ('payouts', 'full', 'loss', false, 'done', now() - interval '8 days', now(), now(), now())`,
  );
  await watchLosses();
  expect(await storedAlerts()).toEqual([['acknowledged_lost', 'resolved', 'opened', 'resolved']]);
});

test('events that a failover lost raise the alert while the queue is down, and are compared when it returns', async () => {
  let isDown = true;
  const compared: number[] = [];
  const watchLosses = createSystemWatch({
    db,
    log: silentLog,
    isReconciling: true,
    reconcileLoss: (detectedMs) => {
      if (isDown) return Promise.reject(new Error('the queue is down'));
      compared.push(detectedMs);
      return Promise.resolve();
    },
  });
  const loss = { timeline: '00000002', process: 'host:1', events: 3, refused: 0 };
  const receivedAt = new Date();
  await insertLoss(db, { ...loss, firstReceivedAt: receivedAt, lastReceivedAt: receivedAt });
  await expect(watchLosses()).rejects.toThrow('the queue is down');
  await expect(watchLosses()).rejects.toThrow('the queue is down');
  expect(await storedAlerts()).toEqual([['acknowledged_lost', 'open', 'opened']]);
  isDown = false;
  await watchLosses();
  await watchLosses();
  expect(compared).toHaveLength(1);
});

test('the alert of a failover states what the database refuses, until the database has it', async () => {
  const times = { firstReceivedAt: new Date(), lastReceivedAt: new Date() };
  const loss = { timeline: '00000002', process: 'host:1', ...times };
  const sentence = async () => {
    await createSystemWatch({ db, log: silentLog, isReconciling: true })();
    const rows = await db.query<{ sentence: string }>(
      `select sentence from alerts where rule = 'acknowledged_lost'`,
    );
    return rows.map((row) => row.sentence).join();
  };
  await insertLoss(db, { ...loss, events: 3, refused: 2 });
  expect(await sentence()).toMatch(/lost 5 events .* The database refuses 2 events/);
  await insertLoss(db, { ...loss, events: 2, refused: -2 });
  expect(await sentence()).toMatch(/lost 5 events .* has persisted them again/);
});

test('events that another receiver finds lost while a comparison is enqueued are compared after it', async () => {
  const compared: number[] = [];
  const lose = (host: string) => {
    const receivedAt = new Date();
    return insertLoss(db, {
      timeline: '00000002',
      process: `${host}:1`,
      events: 3,
      refused: 0,
      firstReceivedAt: receivedAt,
      lastReceivedAt: receivedAt,
    });
  };
  const watchLosses = createSystemWatch({
    db,
    log: silentLog,
    isReconciling: true,
    reconcileLoss: async (detectedMs) => {
      compared.push(detectedMs);
      if (compared.length === 1) await lose('second');
    },
  });
  await lose('first');
  await watchLosses();
  await watchLosses();
  await watchLosses();
  expect(compared).toHaveLength(2);
  expect(compared[1]).toBeGreaterThan(Number(compared[0]));
});

test('transfers that nobody chains raise an alert after a quarter of an hour, which the next block resolves', async () => {
  await webhooks(3, 1);
  await chainJournal(db);
  await webhooks(2, 1);
  await read(0);
  await watch();
  expect(await storedAlerts()).toEqual([]);
  await db.transaction(async (tx) => {
    await tx.query(`set local session_replication_role = replica`);
    await tx.query(`update transfers set recorded_at = recorded_at - interval '16 minutes'`);
    await tx.query(`update chain_blocks set chained_at = chained_at - interval '16 minutes'`);
  });
  await watch();
  expect(await storedAlerts()).toEqual([['chain_behind', 'open', 'opened']]);
  await chainJournal(db);
  await watch();
  expect(await storedAlerts()).toEqual([['chain_behind', 'resolved', 'opened', 'resolved']]);
});

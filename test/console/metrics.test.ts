/** The metrics of a running Tallyhook are current, correct, bounded and cheap. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { alertsSource } from '../../src/alerts/gauges.ts';
import { authorizationSource } from '../../src/authorizations/gauges.ts';
import { bodiesSource } from '../../src/ledger/bodies/gauges.ts';
import { ledgerSources } from '../../src/ledger/gauges.ts';
import { channelsSource } from '../../src/notify/gauges.ts';
import type { Queryable } from '../../src/platform/db/database.ts';
import type { Source } from '../../src/platform/sources.ts';
import { reconcileSources } from '../../src/reconcile/gauges.ts';
import { retentionSource } from '../../src/retention/gauges.ts';
import { schedulerSource } from '../../src/scheduler/gauges.ts';
import { readMetrics } from '../receiver/counters.ts';
import { chainJournal } from '../support/chain.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventBody, paymentObject, unique } from '../support/events.ts';
import { parseMetrics, type Scrape } from '../support/metrics.ts';
import { ADMIN_TOKEN, startTallyhook, type TestTallyhook } from '../support/tallyhook.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcpProxy.ts';
import { slowdown, waitFor } from '../support/waitFor.ts';

let db: TestDatabase;
let proxy: TcpProxy;
let tallyhook: TestTallyhook;

const scrape = async (): Promise<Scrape> => parseMetrics(await readMetrics(tallyhook));

beforeAll(async () => {
  db = await createTestDatabase();
  proxy = await startTcpProxy(db.url);
  tallyhook = await startTallyhook({
    db: { url: proxy.url },
    roles: ['receiver', 'events', 'console'],
  });
});

afterAll(async () => {
  await tallyhook.close();
  await proxy.close();
  await db.drop();
});

/** Every source that reads the database for a scrape. */
const sourcesOver = (on: Queryable): readonly Source[] => [
  ...ledgerSources(on),
  ...reconcileSources(on),
  bodiesSource(on),
  authorizationSource(on),
  retentionSource(on),
  schedulerSource(on),
  alertsSource(on),
  channelsSource(on),
];

/** The current values of the sources, by metric and labels. */
async function measure(): Promise<ReadonlyMap<string, number>> {
  const measured = await Promise.all(sourcesOver(db).map((source) => source.read()));
  return new Map(
    measured.flat().map(({ gauge, labels = {}, value }) => {
      const names = Object.entries(labels).map(([name, text]) => `${name}=${text}`);
      return [[gauge, ...names].join(' '), value];
    }),
  );
}

describe('metrics of the process', () => {
  test('response latency, batch size and time to apply change with deliveries, by class of status', async () => {
    const before = await scrape();
    const moved = async (name: string, labels?: Record<string, string>): Promise<number> =>
      ((await scrape()).value(name, labels) ?? 0) - (before.value(name, labels) ?? 0);
    for (let sent = 0; sent < 3; sent += 1) await tallyhook.deliver(eventBody(paymentObject()));
    await tallyhook.deliver(eventBody(paymentObject()), {});

    expect(await moved('tallyhook_webhook_reply_seconds_count', { code: '2xx' })).toBe(3);
    expect(await moved('tallyhook_webhook_reply_seconds_count', { code: '4xx' })).toBe(1);
    expect(await moved('tallyhook_webhook_reply_seconds_sum', { code: '2xx' })).toBeGreaterThan(0);
    expect(await moved('tallyhook_intake_batch_events_sum')).toBe(3);
    await waitFor(
      'the events to be applied',
      async () => (await moved('tallyhook_event_apply_seconds_count')) === 3,
    );
    expect(await moved('tallyhook_event_apply_seconds_sum')).toBeGreaterThan(0);
    expect(await moved('tallyhook_events_total', { outcome: 'snapshot' })).toBe(3);
  });

  test('list its roles and no others', async () => {
    const page = await scrape();
    for (const role of ['receiver', 'events', 'console']) {
      expect(page.value('tallyhook_role_up', { role })).toBe(1);
    }
    expect(page.value('tallyhook_role_up', { role: 'reconcile' })).toBeUndefined();
  });
});

/**
 * Pending events without an inbox row have negative numbers: a job claims all that is pending from its own
 * events on, and the jobs of earlier tests may run late.
 */
describe('metrics of the database', () => {
  test('report the number and oldest age of pending and dead events', async () => {
    const before = await measure();
    await db.query(
      `insert into pending (webhook_event_id, attempts, since, enqueue_at)
       values (-1, 0, now() - interval '90 seconds', now() + interval '1 hour'),
              (-2, 2, now(), now() + interval '1 hour')`,
    );
    await db.query(
      `with e as (
         insert into webhook_events (event_id, body, body_sha256, received_at)
         values ('evt_dead', 'x', sha256('x'), '2026-11-01 10:00:00Z') returning id
       ) insert into dead_events (webhook_event_id, attempts, error) select id, 5, 'x' from e`,
    );
    const after = await measure();
    const grown = (name: string) => (after.get(name) ?? 0) - (before.get(name) ?? 0);
    expect(grown('tallyhook_pending_events')).toBe(2);
    expect(grown('tallyhook_pending_retried_events')).toBe(1);
    expect(grown('tallyhook_dead_events')).toBe(1);
    expect(after.get('tallyhook_pending_oldest_age_seconds')).toBeGreaterThanOrEqual(90);
    expect(after.get('tallyhook_pending_oldest_age_seconds')).toBeLessThan(120);
    expect(after.get('tallyhook_webhook_last_received_timestamp_seconds')).toBe(
      Date.parse('2026-11-01T10:00:00Z') / 1000,
    );
    await db.query('delete from pending where webhook_event_id < 0');
    expect((await measure()).get('tallyhook_pending_oldest_age_seconds')).toBe(0);
  });

  test('count the transfers that are not chained, with the age of the oldest', async () => {
    await tallyhook.deliver(eventBody(paymentObject()));
    await waitFor('a transfer', async () => {
      const now = await measure();
      const isApplied = now.get('tallyhook_pending_events') === 0;
      return isApplied && (now.get('tallyhook_unchained_transfers') ?? 0) > 0;
    });
    expect((await measure()).get('tallyhook_unchained_oldest_age_seconds')).toBeGreaterThan(0);
    await chainJournal(db);
    const chained = await measure();
    expect(chained.get('tallyhook_unchained_transfers')).toBe(0);
    expect(chained.get('tallyhook_unchained_oldest_age_seconds')).toBe(0);
  });

  test('count findings by class, open and accepted ones separately, without closed ones', async () => {
    await db.query(
      `insert into findings (class, subject, detail, state, closed_at, accepted_at, accepted_by, accepted_reason)
       values ('overdue', 'payment:a', '{}', 'open', null, null, null, null),
              ('overdue', 'payment:b', '{}', 'open', null, null, null, null),
              ('overdue', 'payment:c', '{}', 'open', null, now(), 'me', 'x'),
              ('orphan', 'payment:a', '{}', 'closed', now(), null, null, null)`,
    );
    const measured = await measure();
    expect(measured.get('tallyhook_findings_open class=overdue accepted=false')).toBe(2);
    expect(measured.get('tallyhook_findings_open class=overdue accepted=true')).toBe(1);
    expect(measured.get('tallyhook_findings_open class=orphan accepted=false')).toBe(0);
  });

  test('report watermarks, the rate budget, the pause and due checks', async () => {
    expect((await measure()).has('tallyhook_rate_limit_requests')).toBe(false);
    await db.query(
      `update reconcile_streams set watermark_at = '2026-11-02 00:00:00Z' where stream = 'refunds'`,
    );
    await db.query(
      `update rate_budget set requests_limit = 100, remaining = 7, reset_at = now() + interval '1 minute'`,
    );
    await db.query(`insert into reconcile_pauses (paused_by, reason) values ('me', 'x')`);
    await db.query(
      `insert into resources (kind, id, next_check_at)
       values ('payment', 'pay_due', now() - interval '1 second'), ('payment', 'pay_not', now() + interval '1 day')`,
    );
    const measured = await measure();
    const watermark = 'tallyhook_reconcile_watermark_timestamp_seconds';
    expect(measured.get(`${watermark} stream=refunds`)).toBe(Date.parse('2026-11-02') / 1000);
    expect(measured.has(`${watermark} stream=payouts`)).toBe(false);
    expect(measured.get('tallyhook_rate_limit_requests')).toBe(100);
    expect(measured.get('tallyhook_rate_remaining_requests')).toBe(7);
    expect(measured.get('tallyhook_reconcile_paused')).toBe(1);
    expect(measured.get('tallyhook_reconcile_due_checks')).toBe(1);
  });

  test('report open authorizations by currency, with the capturable amount and the next deadline', async () => {
    await db.query(
      `insert into resources (kind, id, status, currency, authorized_minor, captured_minor)
       values ('payment', 'hold_1', 'requires_capture', 'EUR', 5000, 0),
              ('payment', 'hold_2', 'partially_captured_and_capturable', 'EUR', 3000, 1000),
              ('payment', 'hold_3', 'succeeded', 'EUR', 700, 700)`,
    );
    await db.query(
      `insert into authorization_watch (payment_id, start_at, deadline_at, next_check_at)
       values ('hold_1', now(), '2126-11-03 00:00:00Z', now() + interval '1 hour'),
              ('hold_2', now(), now() - interval '1 hour', now() + interval '1 hour'),
              ('hold_3', now(), '2126-11-01 00:00:00Z', now() + interval '1 hour')`,
    );
    const measured = await measure();
    expect(measured.get('tallyhook_authorizations_open currency=EUR')).toBe(2);
    expect(measured.get('tallyhook_authorizations_capturable_minor currency=EUR')).toBe(7000);
    expect(
      measured.get('tallyhook_authorization_next_deadline_timestamp_seconds currency=EUR'),
    ).toBe(Date.parse('2126-11-03') / 1000);
  });

  test('report alerts by rule, severity and state, with the next deadline and the outbox', async () => {
    await db.query(
      `insert into alerts (rule, subject, severity, state, sentence, next_step, detail, deadline_at,
                           resolved_at, acknowledged_at, acknowledged_by, acknowledged_reason)
       values ('dispute_opened', 'dispute:1', 'critical', 'open', 'x', 'x', '{}', '2126-11-03 00:00:00Z', null, null, null, null),
              ('dispute_opened', 'dispute:2', 'critical', 'open', 'x', 'x', '{}', '2126-11-02 00:00:00Z', null, null, null, null),
              ('dispute_opened', 'dispute:3', 'critical', 'acknowledged', 'x', 'x', '{}', null, null, now(), 'me', 'x'),
              ('dispute_opened', 'dispute:4', 'critical', 'resolved', 'x', 'x', '{}', null, now(), null, null, null)`,
    );
    await db.query(
      `insert into alert_outbox (alert_id, type, created_at)
       select id, 'opened', now() - interval '30 seconds' from alerts where subject = 'dispute:1'`,
    );
    const measured = await measure();
    const labels = (state: string) => `rule=dispute_opened severity=critical state=${state}`;
    expect(measured.get(`tallyhook_alerts_open ${labels('open')}`)).toBe(2);
    expect(measured.get(`tallyhook_alerts_open ${labels('acknowledged')}`)).toBe(1);
    expect(measured.get(`tallyhook_alert_next_deadline_timestamp_seconds ${labels('open')}`)).toBe(
      Date.parse('2126-11-02') / 1000,
    );
    expect(measured.get('tallyhook_alert_outbox_rows')).toBe(1);
    expect(measured.get('tallyhook_alert_outbox_oldest_age_seconds')).toBeGreaterThanOrEqual(30);
  });

  test('report the messages due for a channel and how long it has been failing', async () => {
    await db.query(
      `insert into messages (id, channel, kind, content, state, next_attempt_at, created_at, settled_at)
       values ('msg_1', 'slack', 'alert', '{}', 'due', now() + interval '1 hour', now() - interval '50 seconds', null),
              ('msg_2', 'slack', 'alert', '{}', 'due', now() + interval '1 hour', now(), null),
              ('msg_3', 'slack', 'alert', '{}', 'failed', now(), now() - interval '5 days', now())`,
    );
    await db.query(
      `insert into channel_health (channel, failures, failing_since, last_error)
       values ('slack', 3, now() - interval '70 seconds', '500')`,
    );
    const measured = await measure();
    expect(measured.get('tallyhook_messages_due channel=slack')).toBe(2);
    expect(measured.get('tallyhook_messages_due channel=mail')).toBe(0);
    const age = measured.get('tallyhook_messages_oldest_age_seconds channel=slack');
    expect(age).toBeGreaterThanOrEqual(50);
    expect(age).toBeLessThan(80);
    const failing = measured.get('tallyhook_channel_failing_seconds channel=slack');
    expect(failing).toBeGreaterThanOrEqual(70);
    expect(failing).toBeLessThan(100);
    expect(measured.get('tallyhook_channel_failing_seconds channel=mail')).toBe(0);
  });

  test('report the last claimed slot of each schedule', async () => {
    await db.query(
      `insert into schedule_slots (schedule, slot, lease_until)
       values ('sweep', '2026-11-02 00:00:00Z', now())`,
    );
    const slot = 'tallyhook_schedule_slot_timestamp_seconds schedule=sweep';
    expect((await measure()).get(slot)).toBe(Date.parse('2026-11-02') / 1000);
  });

  test('take at most twenty statements per scrape, regardless of the number of rows', async () => {
    let statements = 0;
    const counting: Queryable = {
      query: (text, values) => {
        statements += 1;
        return db.query(text, values);
      },
    };
    for (const source of sourcesOver(counting)) await source.read();
    expect(statements).toBeLessThanOrEqual(20);
  });

  test('stop counting at a limit: a backlog of 150,000 is reported as 100,000', async () => {
    await db.query(
      `insert into pending (webhook_event_id, since, enqueue_at)
       select -n, now(), now() + interval '1 hour' from generate_series(1, 150000) n`,
    );
    expect((await measure()).get('tallyhook_pending_events')).toBe(100_000);
    await db.query('delete from pending where webhook_event_id < 0');
  });
});

describe('labels', () => {
  test('contain no ids, and orders add no series', async () => {
    const ids: string[] = [];
    const send = async (): Promise<void> => {
      const [orderId, eventId] = [unique('ord'), unique('evt')];
      const payment = paymentObject({ metadata: { order_id: orderId } });
      ids.push(orderId, eventId, payment.payment_id);
      expect((await tallyhook.deliver(eventBody(payment, { eventId }))).status).toBe(200);
    };
    const applied = async () =>
      (await scrape()).value('tallyhook_events_total', { outcome: 'snapshot' }) ?? 0;
    const addOrders = async (count: number): Promise<void> => {
      const before = await applied();
      await Promise.all(Array.from({ length: count }, send));
      await waitFor('all events to be applied', async () => (await applied()) === before + count);
    };
    // A series can appear with the first event of its kind, but not with each order.
    await waitFor('40 orders that add no series', async () => {
      const seriesBefore = ownSeries(await scrapeAllSources());
      await addOrders(40);
      const isNew = (series: string): boolean => !seriesBefore.includes(series);
      return ownSeries(await scrapeAllSources()).filter(isNew).length === 0;
    });
    const page = await readMetrics(tallyhook);
    expect(ids.filter((id) => page.includes(id))).toEqual([]);
  });
});

/** A scrape in which every source was read in time; a busy machine can take longer for one. */
async function scrapeAllSources(): Promise<Scrape> {
  let complete: Scrape | undefined;
  await waitFor('a scrape with every source', async () => {
    complete = await scrape();
    const sources = complete.samples.filter(({ name }) => name === 'tallyhook_source_up');
    return sources.length > 0 && sources.every(({ value }) => value === 1);
  });
  if (complete === undefined) throw new Error('nothing was scraped');
  return complete;
}

/** The series of Tallyhook's own metrics, without their values. */
function ownSeries({ samples }: Scrape): readonly string[] {
  return samples
    .filter(({ name }) => name.startsWith('tallyhook_'))
    .map(({ name, labels }) => `${name} ${JSON.stringify(labels)}`)
    .toSorted();
}

describe('while the database is unavailable', () => {
  const isUp = async (): Promise<number | undefined> =>
    (await scrape()).value('tallyhook_source_up', { source: 'inbox' });

  test.each([
    ['refuses', () => proxy.refuse()],
    ['hangs', () => proxy.freeze()],
  ])('a scrape responds in time and reports it: the database %s', async (_, disconnect) => {
    await waitFor('the database to be read', async () => (await isUp()) === 1);
    disconnect();
    const startMs = performance.now();
    await waitFor('the source to be reported as down', async () => (await isUp()) === 0);
    expect(performance.now() - startMs).toBeLessThan(9_000 * slowdown());
    const page = await scrape();
    expect(page.value('tallyhook_pending_events')).toBeUndefined();
    expect(page.value('tallyhook_webhooks_total', { outcome: 'accepted' })).toBeGreaterThan(0);
    expect(page.value('tallyhook_role_up', { role: 'receiver' })).toBe(1);
    await proxy.resume();
    // In one scrape: on a busy machine, the next one may not read the database in time.
    await waitFor('the database to be read again', async () => {
      const again = await scrape();
      const isRead = again.value('tallyhook_source_up', { source: 'inbox' }) === 1;
      if (isRead) expect(again.value('tallyhook_pending_events')).toBeDefined();
      return isRead;
    });
  });
});

describe('a process without the admin port', () => {
  test('serves its own counters without a token, and nothing that other processes serve', async () => {
    const receiver = await startTallyhook({
      db,
      roles: ['receiver'],
      env: { ADMIN_TOKEN },
    });
    try {
      const url = `http://127.0.0.1:${receiver.healthPort}/metrics`;
      await receiver.deliver(eventBody(paymentObject()));
      const page = parseMetrics(await (await fetch(url)).text());
      expect(page.value('tallyhook_webhooks_total', { outcome: 'accepted' })).toBe(1);
      expect(page.value('tallyhook_role_up', { role: 'receiver' })).toBe(1);
      expect(page.types.has('tallyhook_pending_events')).toBe(false);
      expect(page.types.has('process_cpu_seconds_total')).toBe(true);

      expect((await fetch(url, { method: 'HEAD' })).status).toBe(200);
      expect((await fetch(url, { method: 'POST' })).status).toBe(405);
      expect((await fetch(new URL('/', url))).status).toBe(404);
      expect((await fetch(new URL('/api/v1/orders', url))).status).toBe(404);
    } finally {
      await receiver.close();
    }
  });
});

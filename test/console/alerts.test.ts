/** Alerts over the admin API. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Severity } from '../../src/alerts/domain/alert.ts';
import { syncAlerts } from '../../src/alerts/syncAlerts.ts';
import { alertOf } from '../support/alerts.ts';
import { type Api, type Body, createApi } from '../support/api.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { unique } from '../support/events.ts';
import { startTallyhook, type TestTallyhook } from '../support/tallyhook.ts';

let db: TestDatabase;
let tallyhook: TestTallyhook;
let api: Api;

beforeAll(async () => {
  db = await createTestDatabase();
  tallyhook = await startTallyhook({ db, roles: ['console'] });
  api = createApi(tallyhook);
});
afterAll(async () => {
  await tallyhook.close();
  await db.drop();
});

const sync = (subject: string, severity?: Severity) =>
  db.transaction((tx) =>
    syncAlerts(tx, [
      {
        subject,
        rules: ['over_refund'],
        active: severity
          ? [
              alertOf({
                rule: 'over_refund',
                subject,
                severity,
                orderId: 'ord_1',
                detail: { a: 1 },
              }),
            ]
          : [],
      },
    ]),
  );

/** Raises an alert. @returns its number and subject */
async function raise(severity: Severity = 'warning'): Promise<{ number: number; subject: string }> {
  const subject = `order:order:${unique('ord')}`;
  await sync(subject, severity);
  const rows = await db.query<{ id: number }>('select id from alerts where subject = $1', [
    subject,
  ]);
  return { number: rows[0]?.id ?? 0, subject };
}

test('alerts are listed newest first, page by page, by state, severity and rule', async () => {
  const raised = [await raise(), await raise('critical'), await raise(), await raise('critical')];
  await sync(raised[0]?.subject ?? '');
  const numbers = raised.map(({ number }) => number).toReversed();
  const listed = async (query: string): Promise<readonly number[]> => {
    const found: number[] = [];
    for (let cursor = ''; ; ) {
      const { status, body } = await api.get(`/api/v1/alerts?limit=2${query}${cursor}`);
      expect(status).toBe(200);
      found.push(...body.alerts.map(({ number }: Body) => number));
      if (body.next_cursor === null) return found;
      cursor = `&cursor=${body.next_cursor}`;
    }
  };
  expect(await listed('')).toEqual(numbers);
  expect(await listed('&state=open')).toEqual(numbers.slice(0, 3));
  expect(await listed('&state=resolved')).toEqual(numbers.slice(3));
  expect(await listed('&severity=critical')).toEqual([numbers[0], numbers[2]]);
  expect(await listed('&rule=webhooks_stopped')).toEqual([]);
});

test('one alert is returned with its details', async () => {
  const { number, subject } = await raise();
  expect((await api.get(`/api/v1/alerts/${number}`)).body).toMatchObject({
    number,
    rule: 'over_refund',
    subject,
    state: 'open',
    sentence: `${subject} needs attention.`,
    next_step: 'npx tallyhook alerts list',
    detail: { a: 1 },
    order_id: 'ord_1',
    payment_id: null,
    acknowledged: null,
    snoozed: null,
    assigned: null,
  });
});

test('an alert is acknowledged once, by the name of the token', async () => {
  const { number } = await raise();
  const path = `/api/v1/alerts/${number}/acknowledge`;
  const first = await api.post(path, { reason: ' called the bank ' });
  expect(first.status).toBe(200);
  expect(first.body).toMatchObject({
    state: 'acknowledged',
    acknowledged: { by: 'admin', reason: 'called the bank' },
  });
  const second = await api.post(path, { reason: 'me too' });
  expect(second.status).toBe(409);
  expect(second.body.error.message).toContain('already acknowledged by admin');
});

test('acknowledging an alert that cannot resolve by itself resolves it', async () => {
  const subject = `refund:${unique('ref')}`;
  const failed = alertOf({ rule: 'refund_failed', subject });
  await db.transaction((tx) =>
    syncAlerts(tx, [{ subject, rules: ['refund_failed'], active: [failed] }]),
  );
  const [row] = await db.query<{ id: number }>('select id from alerts where subject = $1', [
    subject,
  ]);
  const path = `/api/v1/alerts/${row?.id}/acknowledge`;
  expect((await api.post(path, { reason: 'paid by hand' })).body).toMatchObject({
    state: 'resolved',
    resolved_at: expect.any(String),
    acknowledged: { by: 'admin', reason: 'paid by hand' },
  });
  const second = await api.post(path, { reason: 'me too' });
  expect(second.status).toBe(409);
  expect(second.body.error.message).toContain('already acknowledged by admin');
});

test('acknowledging an alert ends its snooze', async () => {
  const { number } = await raise();
  const until = new Date(Date.now() + 3_600_000).toISOString();
  await api.post(`/api/v1/alerts/${number}/snooze`, { until });
  const { body } = await api.post(`/api/v1/alerts/${number}/acknowledge`, { reason: 'at it' });
  expect(body).toMatchObject({ state: 'acknowledged', snoozed: null });
});

test('an alert is snoozed until a time, by the name of the token, and a second snooze replaces the first', async () => {
  const { number } = await raise();
  for (const hours of [4, 8]) {
    const until = new Date(Date.now() + hours * 3_600_000).toISOString();
    const { status, body } = await api.post(`/api/v1/alerts/${number}/snooze`, { until });
    expect(status).toBe(200);
    expect(body).toMatchObject({ state: 'open', snoozed: { until, by: 'admin' } });
  }
});

test('an alert is assigned to a person, to another, and to nobody', async () => {
  const { number } = await raise();
  const path = `/api/v1/alerts/${number}/assign`;
  for (const to of ['ada', 'bob']) {
    const { status, body } = await api.post(path, { to, reason: 'on call' });
    expect(status).toBe(200);
    expect(body).toMatchObject({ state: 'open', assigned: { to, by: 'admin', reason: 'on call' } });
  }
  const { body } = await api.post(path, { to: null, reason: 'back in the queue' });
  expect(body.assigned).toBeNull();
  const entries = await db.query(
    `select detail ->> 'assigned_to' as "to", reason from audit
      where action = 'alert.assign' and subject_id = $1 order by id`,
    [String(number)],
  );
  expect(entries).toEqual([
    { to: 'ada', reason: 'on call' },
    { to: 'bob', reason: 'on call' },
    { to: null, reason: 'back in the queue' },
  ]);
});

test('the reason of a snooze is shown, and removed when the alert is acknowledged', async () => {
  const { number } = await raise();
  const until = new Date(Date.now() + 3_600_000).toISOString();
  const reason = 'the bank is closed';
  const snoozed = await api.post(`/api/v1/alerts/${number}/snooze`, { until, reason });
  expect(snoozed.body.snoozed).toEqual({ until, by: 'admin', reason });
  await api.post(`/api/v1/alerts/${number}/acknowledge`, { reason: 'at it' });
  const [row] = await db.query('select snoozed_reason as reason from alerts where id = $1', [
    number,
  ]);
  expect(row).toEqual({ reason: null });
});

describe('an invalid request is rejected', () => {
  const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();

  test.each([
    ['acknowledge', { reason: 'x' }],
    ['snooze', { until: inHours(1) }],
    ['assign', { to: 'ada', reason: 'x' }],
  ])('%s of an alert that does not exist or is resolved', async (action, body) => {
    expect((await api.post(`/api/v1/alerts/999999/${action}`, body)).status).toBe(404);
    const { number, subject } = await raise();
    await sync(subject);
    const rejected = await api.post(`/api/v1/alerts/${number}/${action}`, body);
    expect(rejected.status).toBe(409);
    expect(rejected.body.error.message).toContain('is already resolved');
  });

  test.each([
    ['acknowledge', {}],
    ['acknowledge', { reason: '  ' }],
    ['acknowledge', { reason: 'x'.repeat(501) }],
    ['acknowledge', { reason: 'x', by: 'somebody else' }],
    ['assign', { to: '', reason: 'x' }],
    ['assign', { to: 'ada' }],
    ['assign', { reason: 'x' }],
    ['snooze', {}],
    ['snooze', { until: 'tomorrow' }],
    ['snooze', { until: '2020-01-01T00:00:00Z' }],
    ['snooze', { until: inHours(31 * 24) }],
  ])('%s with %j', async (action, body) => {
    const { number } = await raise();
    expect((await api.post(`/api/v1/alerts/${number}/${action}`, body)).status).toBe(400);
  });

  test('a query with an invalid value', async () => {
    for (const query of [
      'state=closed',
      'severity=loud',
      'rule=nothing',
      'subject=x',
      'cursor=*',
    ]) {
      expect((await api.get(`/api/v1/alerts?${query}`)).status).toBe(400);
    }
    expect((await api.get('/api/v1/alerts/none')).status).toBe(400);
    expect((await api.get('/api/v1/alerts/999999')).status).toBe(404);
  });
});

/** Payments, the change feed, events, findings and balances over HTTP. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ENDPOINTS } from '../../src/console/endpoints.ts';
import { createChangeFeed } from '../../src/ledger/changeFeed.ts';
import { insertRun } from '../../src/reconcile/store/runs.ts';
import { type Api, type Body, createApi } from '../support/api.ts';
import { chainJournal } from '../support/chain.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventBody, paymentObject, unique } from '../support/events.ts';
import { importLines } from '../support/importLines.ts';
import { applyEach, receive, testApplier } from '../support/ledger.ts';
import { openPages } from '../support/pages.ts';
import { disputeEvent, paymentEvent, refundEvent } from '../support/payments.ts';
import { startTallyhook, type TestTallyhook } from '../support/tallyhook.ts';
import { waitFor } from '../support/waitFor.ts';

const MAX = Number.MAX_SAFE_INTEGER;

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

const apply = (...bodies: readonly Buffer[]) => applyEach(db, testApplier(db), bodies);

describe('a payment', () => {
  const payment = async (id: string): Promise<Body> =>
    (await api.get(`/api/v1/payments/${encodeURIComponent(id)}`)).body;

  test('has its order, its refunds and its disputes', async () => {
    const [orderId, paymentId] = [unique('ord'), unique('pay')];
    await apply(
      paymentEvent({ payment_id: paymentId, orderId }),
      refundEvent(paymentId),
      disputeEvent(paymentId),
    );
    expect(await payment(paymentId)).toMatchObject({
      payment_id: paymentId,
      order_id: orderId,
      order_key: `order:${orderId}`,
      named_by: 'order',
      status: 'succeeded',
      currency: 'USD',
      amount: 6540,
      amount_captured: 6540,
      capture_method: 'automatic',
      decline: null,
      refunds: [{ kind: 'refund', status: 'succeeded', amount: 1000, evidence_due_by: null }],
      disputes: [
        { kind: 'dispute', status: 'opened', evidence_due_by: '2026-11-20T10:00:00.000Z' },
      ],
    });
  });

  test.each([
    ['UE_1001', 'never', 'Insufficient funds'],
    ['UE_1018', 'check_earlier_payment', 'This payment may have already been processed'],
    ['UE_2002', 'with_3ds', 'Additional authentication is required'],
    ['UE_3003', 'with_backoff', 'The payment timed out, please try again'],
    ['UE_1000', 'never', null],
    ['UE_7777', 'never', null],
    ['no code', null, null],
  ])('that failed with %s has the advice: %s', async (name, retry, message) => {
    const paymentId = unique('pay');
    const code = name === 'no code' ? undefined : name;
    await apply(
      paymentEvent({
        payment_id: paymentId,
        status: 'failed',
        amount_received: 0,
        unified_code: code,
        error_code: '51',
      }),
    );
    const { decline, error_code } = await payment(paymentId);
    expect(decline).toMatchObject({ unified_code: code ?? null, retry, message });
    expect(decline.advice).toMatch(/\w+[.,] \w+/);
    expect(error_code).toBe('51');
  });

  test("shows the service's message before Tallyhook's", async () => {
    const paymentId = unique('pay');
    await apply(
      paymentEvent({
        payment_id: paymentId,
        status: 'failed',
        unified_code: 'UE_1000',
        unified_message: 'Call your bank',
      }),
    );
    expect((await payment(paymentId)).decline.message).toBe('Call your bank');
  });

  test('that failed and was paid later has no advice', async () => {
    const paymentId = unique('pay');
    await apply(
      paymentEvent({ payment_id: paymentId, status: 'failed', unified_code: 'UE_1001' }),
      paymentEvent({ payment_id: paymentId, modified_at: '2026-11-01T12:00:00.000Z' }),
    );
    expect(await payment(paymentId)).toMatchObject({ status: 'succeeded', decline: null });
  });

  test('that was only mentioned exists without a state', async () => {
    const paymentId = unique('pay');
    await apply(refundEvent(paymentId));
    expect(await payment(paymentId)).toMatchObject({
      status: null,
      amount: null,
      uncertainties: ['incomplete'],
      refunds: [{ amount: 1000 }],
    });
  });

  test('that is unknown is a 404, and so is the id of a refund', async () => {
    const refundId = unique('ref');
    await apply(refundEvent(unique('pay'), { refund_id: refundId }));
    for (const id of ['nope', refundId]) {
      expect((await api.get(`/api/v1/payments/${id}`)).status).toBe(404);
    }
  });

  test('of the largest amount is exact', async () => {
    const paymentId = unique('pay');
    await apply(
      paymentEvent({ payment_id: paymentId, currency: 'KWD', amount: MAX, amount_received: MAX }),
    );
    expect(await payment(paymentId)).toMatchObject({ amount: MAX, amount_captured: MAX });
  });
});

describe('the change feed', () => {
  test('is read to its end in pages, each change once, including those just committed', async () => {
    const { body: start } = await api.get('/api/v1/changes?limit=100&after=0');
    let after: number = start.next_after;
    const orderIds = Array.from({ length: 7 }, () => unique('ord'));
    for (const orderId of orderIds) await apply(paymentEvent({ orderId }));
    const seen: Body[] = [];
    for (;;) {
      const { body } = await api.get(`/api/v1/changes?limit=3&after=${after}`);
      seen.push(...body.changes);
      after = body.next_after;
      if (!body.has_more) break;
    }
    expect(seen.filter(({ id }) => orderIds.includes(id)).map(({ id }) => id)).toEqual(orderIds);
    expect(new Set(seen.map(({ number }) => number)).size).toBe(seen.length);
    const { body: end } = await api.get(`/api/v1/changes?after=${after}`);
    expect(end).toEqual({ changes: [], next_after: after, has_more: false });
  });

  test('has registrations of expected amounts, without an event', async () => {
    const before = (await api.get('/api/v1/changes?limit=100')).body.next_after;
    const orderId = unique('ord');
    await api.put(`/api/v1/orders/${orderId}`, { amount: 1, currency: 'USD' });
    await api.put(`/api/v1/orders/${orderId}`, { amount: 1, currency: 'USD' });
    const { changes } = (await api.get(`/api/v1/changes?after=${before}&limit=100`)).body;
    expect(changes.filter(({ id }: Body) => id === orderId)).toMatchObject([
      { kind: 'order', named_by: 'order', change: 'registered', status: null, event_number: null },
    ]);
  });

  test('rejects a number that it has not reached', async () => {
    const { status, body } = await api.get('/api/v1/changes?after=999999999');
    expect(status).toBe(409);
    expect(body.error.message).toContain('Start again from after=0');
  });
});

describe('events', () => {
  test('are listed by state, page by page, and without their bodies', async () => {
    const foreign = eventBody(paymentObject({ email: 'someone@shop.test' }), {
      merchantId: 'merchant_other',
    });
    await apply(paymentEvent({ email: 'someone@shop.test' }), foreign, Buffer.from('{"no": 1}'));
    const [dead = 0, alsoDead = 0] = await receive(db, [paymentEvent({}), paymentEvent({})]);
    for (const id of [dead, alsoDead])
      await testApplier(db).markDead(id, 5, 'it could not be applied');
    const [pending] = await receive(db, [paymentEvent({})]);

    const page = async (query: string): Promise<Body> =>
      (await api.get(`/api/v1/events?${query}`)).body;
    expect((await page('state=pending')).events.map(({ number }: Body) => number)).toEqual([
      pending,
    ]);
    expect((await page('state=dead')).events).toMatchObject([
      { number: alsoDead, state: 'dead', attempts: 5, error: 'it could not be applied' },
      { number: dead },
    ]);
    expect((await page('state=not_applied')).events).toMatchObject([
      { event_id: null, merchant_id: null, state: 'not_applied' },
      { merchant_id: 'merchant_other', state: 'not_applied' },
    ]);
    const applied = (await page('state=applied&limit=100')).events;
    expect(new Set(applied.map(({ state }: Body) => state))).toEqual(new Set(['applied']));

    const all: Body[] = [];
    let cursor = '';
    for (;;) {
      const { events, next_cursor } = await page(`limit=5${cursor}`);
      all.push(...events);
      if (next_cursor === null) break;
      cursor = `&cursor=${next_cursor}`;
    }
    const numbers = all.map(({ number }) => number);
    expect(numbers).toEqual(numbers.toSorted((a, b) => b - a));
    expect(new Set(numbers).size).toBe(numbers.length);
    const [count] = await db.query<{ events: number }>(
      'select count(*) as events from webhook_events',
    );
    expect(numbers).toHaveLength(count?.events ?? 0);
    expect(JSON.stringify(all)).not.toContain('someone@shop.test');
  });

  test('that are dead are discarded once, with a reason', async () => {
    const [number = 0] = await receive(db, [paymentEvent({})]);
    await testApplier(db).markDead(number, 5, 'it could not be applied');
    const path = `/api/v1/events/${number}/discard`;
    const { status, body } = await api.post(path, { reason: 'sent by a test' });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      state: 'discarded',
      discarded: { by: 'admin', reason: 'sent by a test' },
    });
    const again = await api.post(path, { reason: 'me too' });
    expect(again.status).toBe(409);
    expect(again.body.error.message).toContain('is discarded, not dead');
  });

  test('are shown one by one, with what they changed and without their body', async () => {
    const [number = 0] = await receive(db, [paymentEvent({ payment_id: 'pay_shown' })]);
    await testApplier(db).applyOne(number);
    const { status, body } = await api.get(`/api/v1/events/${number}`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      number,
      state: 'applied',
      changed: { resources: [{ id: 'pay_shown', status: 'succeeded' }], nothing: null },
    });
    expect(body).not.toHaveProperty('body');
    expect((await api.get('/api/v1/events/evt_unknown')).status).toBe(404);
  });

  test('that are dead or not applied are listed page by page', async () => {
    for (const state of ['dead', 'not_applied']) {
      const { body: first } = await api.get(`/api/v1/events?state=${state}&limit=1`);
      const { body: second } = await api.get(
        `/api/v1/events?state=${state}&limit=1&cursor=${first.next_cursor}`,
      );
      expect(second.events[0].number).toBeLessThan(first.events[0].number);
      expect(second.next_cursor).toBeNull();
    }
  });
});

describe('findings', () => {
  test('are listed by state, class and subject, with their meaning', async () => {
    const [opened, closed] = [unique('pay'), unique('pay')];
    await apply(
      paymentEvent({ payment_id: opened, status: 'mystery' }),
      paymentEvent({ payment_id: closed, status: 'mystery' }),
      paymentEvent({ payment_id: closed, modified_at: '2026-11-01T12:00:00.000Z' }),
    );
    const subjects = async (query: string) =>
      (await api.get(`/api/v1/findings?${query}`)).body.findings.map(
        ({ subject }: Body) => subject,
      );
    expect(await subjects('state=open&class=unknown_status')).toContain(`payment:${opened}`);
    expect(await subjects('state=open&class=unknown_status')).not.toContain(`payment:${closed}`);
    expect(await subjects('state=closed')).toContain(`payment:${closed}`);
    const { findings } = (await api.get(`/api/v1/findings?subject=payment:${opened}`)).body;
    expect(findings).toMatchObject([
      {
        class: 'unknown_status',
        meaning: 'The service sent a status that this version does not know.',
        state: 'open',
        detail: { status: 'mystery' },
        closed_at: null,
      },
    ]);
  });

  test('are listed once each, page by page', async () => {
    for (let count = 0; count < 4; count += 1) await apply(paymentEvent({ status: 'mystery' }));
    const numbers: number[] = [];
    let cursor = '';
    for (;;) {
      const { body } = await api.get(`/api/v1/findings?limit=2${cursor}`);
      numbers.push(...body.findings.map(({ number }: Body) => number));
      if (body.next_cursor === null) break;
      cursor = `&cursor=${body.next_cursor}`;
    }
    expect(numbers.length).toBeGreaterThanOrEqual(4);
    expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => b - a));
  });
});

describe('transfers', () => {
  test('are listed by account, order and resource, with their order and their cause', async () => {
    const [orderId, paymentId] = [unique('ord'), unique('pay')];
    await apply(
      paymentEvent({ payment_id: paymentId, orderId }),
      refundEvent(paymentId, { amount: 1540, status: 'pending' }),
    );
    const { body } = await api.get(`/api/v1/transfers?order_id=${orderId}&totals=1`);
    expect(body.transfers).toMatchObject([
      { leg: 'requested', amount: 1540, debit: 'order.refunds', order_id: orderId },
      { leg: 'captured', amount: 6540, credit: 'order.due', resource_id: paymentId },
    ]);
    expect(body.transfers[0].inbox).toBeGreaterThan(0);
    expect(body.totals).toMatchObject({ count: 2, currencies: [{ amount: 8080 }] });
    const due = `resource_id=${paymentId}&account=order.due&totals=1`;
    const { body: ofAccount } = await api.get(`/api/v1/transfers?${due}`);
    expect(ofAccount.totals.currencies).toMatchObject([
      { amount_debited: 0, amount_credited: 6540 },
    ]);
    const first = await api.get(`/api/v1/transfers?order_id=${orderId}&limit=1`);
    const next = `order_id=${orderId}&cursor=${first.body.next_cursor}`;
    expect((await api.get(`/api/v1/transfers?${next}`)).body.transfers).toMatchObject([
      { leg: 'captured' },
    ]);
    expect((await api.get('/api/v1/transfers?account=nope')).status).toBe(400);
  });

  test('are listed by effective time, or by recorded time with `recorded=1`, each with its own cursors', async () => {
    const [orderId, later, earlier] = [unique('ord'), unique('pay'), unique('pay')];
    const modified = (at: string) => ({ orderId, modified_at: at });
    await apply(
      paymentEvent({ payment_id: later, ...modified('2026-11-05T12:00:00.000Z') }),
      paymentEvent({ payment_id: earlier, ...modified('2026-11-04T12:00:00.000Z') }),
    );
    const ids = async (query: string) => {
      const { body } = await api.get(`/api/v1/transfers?order_id=${orderId}&${query}`);
      return body.transfers.map((one: { resource_id: string }) => one.resource_id);
    };
    expect(await ids('limit=9')).toEqual([later, earlier]);
    expect(await ids('recorded=1')).toEqual([earlier, later]);
    expect(await ids('to=2026-11-05T00:00:00Z')).toEqual([earlier]);
    expect(await ids('recorded=1&to=2026-11-05T00:00:00Z')).toEqual([]);
    const first = await api.get(`/api/v1/transfers?order_id=${orderId}&limit=1`);
    const cursor = first.body.next_cursor;
    expect(await ids(`cursor=${cursor}`)).toEqual([earlier]);
    const other = await api.get(`/api/v1/transfers?recorded=1&cursor=${cursor}`);
    expect(other.status).toBe(400);
  });
});

describe('balances', () => {
  test('of one order are the sums of its transfers, and add up to zero', async () => {
    const [orderId, paymentId] = [unique('ord'), unique('pay')];
    await apply(
      paymentEvent({ payment_id: paymentId, orderId }),
      refundEvent(paymentId, { amount: 1540, status: 'pending' }),
    );
    const { body } = await api.get(`/api/v1/balances?order_id=${orderId}`);
    expect(
      body.accounts.map(({ account, currency, balance }: Body) => [account, currency, balance]),
    ).toEqual([
      ['order.due', 'USD', -6540],
      ['order.refunds', 'USD', 1540],
      ['psp.clearing', 'USD', 6540],
      ['refund.in_flight', 'USD', -1540],
    ]);
    expect(body.orders).toMatchObject([
      { currency: 'USD', orders: 1, amount_captured: 6540, amount_refund_pending: 1540 },
    ]);
    expect((await api.get('/api/v1/balances?order_id=nope')).status).toBe(404);
  });

  test('of the whole journal equal the sum of its rows and of the orders', async () => {
    await apply(paymentEvent({ currency: 'JPY', amount: 500, amount_received: 500 }));
    const { body } = await api.get('/api/v1/balances');
    const rows = await db.query<{ account: string; currency: string; balance: number }>(
      `select account, currency, sum(minor)::bigint as balance
         from (select debit as account, currency, amount_minor as minor from transfers
               union all select credit, currency, -amount_minor from transfers) sides
        group by account, currency order by account, currency`,
    );
    expect(
      body.accounts.map(({ account, currency, balance }: Body) => ({ account, currency, balance })),
    ).toEqual(rows);
    for (const { currency, amount_captured } of body.orders) {
      const due = body.accounts.find(
        (one: Body) => one.account === 'order.due' && one.currency === currency,
      );
      expect(due?.balance ?? 0).toBe(-amount_captured || 0);
    }
    const sums = new Map<string, number>();
    for (const { currency, balance } of body.accounts) {
      sums.set(currency, (sums.get(currency) ?? 0) + balance);
    }
    expect([...sums.values()].every((sum) => sum === 0)).toBe(true);
  });

  test('as of a time have what the service moved before it, as known at a time', async () => {
    const [orderId, paymentId] = [unique('ord'), unique('pay')];
    await apply(paymentEvent({ payment_id: paymentId, orderId, currency: 'BHD' }));
    const { body: listed } = await api.get(`/api/v1/transfers?resource_id=${paymentId}`);
    const [{ recorded_at: recordedAt, effective_at: effectiveAt }] = listed.transfers;
    const accounts = async (query: string) => {
      const { body } = await api.get(`/api/v1/balances?${query}`);
      return body.accounts.filter(({ currency }: Body) => currency === 'BHD').length;
    };
    expect(await accounts(`as_of=${effectiveAt}`)).toBe(0);
    expect(await accounts(`known_at=${recordedAt}`)).toBe(0);
    expect(await accounts('as_of=2100-01-01T00:00:00Z')).toBe(2);
    expect(await accounts('known_at=2100-01-01T00:00:00Z')).toBe(2);
    expect(await accounts(`as_of=2100-01-01T00:00:00Z&known_at=${recordedAt}`)).toBe(0);
    const both = await api.get(`/api/v1/balances?order_id=${orderId}&as_of=${recordedAt}`);
    expect(both.status).toBe(400);
  });

  test('of a month are in its statement, with its movements by day', async () => {
    await apply(paymentEvent({ currency: 'TND', modified_at: '2026-10-31T23:30:00.000Z' }));
    const statementIn = async (month: string, zone: string) => {
      const { body } = await api.get(`/api/v1/statements/${month}?currency=TND&time_zone=${zone}`);
      return body.currencies.map(({ net, days }: Body) => [net, days.map(({ day }: Body) => day)]);
    };
    expect(await statementIn('2026-09', 'UTC')).toEqual([]);
    expect(await statementIn('2026-10', 'UTC')).toEqual([[6540, ['2026-10-31']]]);
    expect(await statementIn('2026-10', 'Europe/Berlin')).toEqual([]);
    expect(await statementIn('2026-11', 'Europe/Berlin')).toEqual([[6540, ['2026-11-01']]]);
    for (const wrong of ['2026-13', '2026', '26-10', '0000-01']) {
      expect((await api.get(`/api/v1/statements/${wrong}`)).status).toBe(400);
    }
    expect((await api.get('/api/v1/statements/2026-10?time_zone=%2B02:00')).status).toBe(400);
  });

  test('are chained, and the head is read by itself and in each statement', async () => {
    expect((await api.get('/api/v1/chain')).body.chain_head).toBeNull();
    await apply(paymentEvent({}));
    const { digest, number, totalTransfers } = await chainJournal(db);
    await apply(paymentEvent({}));
    const { body } = await api.get('/api/v1/chain');
    const head = { head: `${number}:${digest}`, total_transfers: totalTransfers };
    expect(body).toMatchObject({ chain_head: head, unchained_transfers: 1 });
    const { body: statement } = await api.get('/api/v1/statements/2026-10');
    expect(statement.chain_head).toEqual(body.chain_head);
  });

  test('that a JSON number cannot represent exactly are rejected, never rounded', async () => {
    const orderId = unique('ord');
    const greatest = { orderId, currency: 'XAF', amount: MAX, amount_received: MAX };
    await apply(paymentEvent(greatest));
    const alone = await api.get(`/api/v1/balances?order_id=${orderId}`);
    expect(alone.body.accounts).toMatchObject([
      { account: 'order.due', balance: -MAX },
      { account: 'psp.clearing', balance: MAX },
    ]);
    await apply(paymentEvent({ ...greatest, orderId: unique('ord') }));
    const together = await api.get('/api/v1/balances');
    expect(together.status).toBe(422);
    expect(together.body.error.message).toContain('2^53');
  });
});

test('the scheduler publishes the feed for readers in SQL', async () => {
  const scheduler = await startTallyhook({ db, roles: ['scheduler'] });
  try {
    await apply(paymentEvent({}));
    await waitFor('the feed to be published', async () => {
      const [row] = await db.query<{ unpublished: number }>(
        'select count(*) as unpublished from change_log',
      );
      return row?.unpublished === 0;
    });
  } finally {
    await scheduler.close();
  }
  expect(await createChangeFeed(db).read({ after: 0, limit: 1 })).toMatchObject({
    outcome: 'read',
    changes: [{ number: 1 }],
  });
});

test('every endpoint was called here, and its response matched its description', async () => {
  const orderId = unique('ord');
  await api.put(`/api/v1/orders/${orderId}`, { amount: 1, currency: 'USD' });
  await api.get(`/api/v1/orders/${orderId}`);
  await api.get(`/api/v1/orders/${orderId}/parts`);
  await api.get('/api/v1/orders');
  const payoutId = unique('po');
  await apply(
    eventBody(
      { payout_id: payoutId, status: 'success', amount: 100, currency: 'USD' },
      { eventType: 'payout_success', contentType: 'payout_details' },
    ),
  );
  for (const kind of ['payment', 'refund', 'dispute', 'payout']) {
    const [row] = (await api.get(`/api/v1/${kind}s`)).body[`${kind}s`];
    await api.get(`/api/v1/${kind}s/${row[`${kind}_id`]}`);
    await api.get(`/api/v1/resources/${kind}/${row[`${kind}_id`]}/timeline`);
    await api.get(`/api/v1/resources/${kind}/${row[`${kind}_id`]}/snapshots`);
  }
  await api.get('/api/v1/authorizations');
  await api.get('/api/v1/reconciliations');
  await api.get('/api/v1/audit');
  await api.get('/api/v1/processes');
  await api.get('/api/v1/queues');
  await api.get('/api/v1/schedules');
  await api.post('/api/v1/schedules/retention/run', { reason: 'a test' });
  await api.get(`/api/v1/balances?order_id=${orderId}`);
  await api.get(`/api/v1/search?q=${orderId}`);
  await apply(paymentEvent({ status: 'mystery' }));
  const [{ number }] = (await api.get('/api/v1/alerts?rule=unknown_status')).body.alerts;
  await api.get(`/api/v1/alerts/${number}`);
  await api.post(`/api/v1/alerts/${number}/acknowledge`, { reason: 'on it' });
  const until = new Date(Date.now() + 60_000).toISOString();
  await api.post(`/api/v1/alerts/${number}/snooze`, { until });
  await api.post(`/api/v1/alerts/${number}/assign`, { to: 'ada', reason: 'on call' });
  const content = { kind: 'test', at: until };
  await db.query(
    `insert into messages (id, channel, kind, content, state, next_attempt_at, created_at, settled_at)
     values ('msg_read', 'log', 'alert', $1, 'delivered', now(), now(), now())`,
    [JSON.stringify(content)],
  );
  await api.get('/api/v1/channels');
  await api.post('/api/v1/channels/log/test', {});
  const [message] = (await api.get('/api/v1/messages')).body.messages;
  await api.get(`/api/v1/messages/${message.number}`);
  await api.post(`/api/v1/messages/${message.number}/resend`, { reason: 'lost' });
  const [finding] = (await api.get('/api/v1/findings?state=open')).body.findings;
  await api.post(`/api/v1/findings/${finding.number}/accept`, { reason: 'known' });
  const numbers = [finding.number, 4711];
  await api.post('/api/v1/findings/accept', { numbers, reason: 'known' });
  const [event] = (await api.get('/api/v1/events')).body.events;
  await api.post(`/api/v1/events/${event.number}/replay`, {});
  await api.post('/api/v1/pause', { reason: 'a test' });
  await api.post('/api/v1/resume', {});
  await api.post('/api/v1/reconciliations', { stream: 'refunds' });
  const { id: runId } = await insertRun(db, {
    stream: 'payouts',
    mode: 'full',
    cause: 'tail',
    isDryRun: true,
    fromAt: new Date(0),
    toAt: new Date(1),
  });
  await api.get(`/api/v1/reconciliations/${runId}`);
  await api.post(`/api/v1/reconciliations/${runId}/stop`, {});
  await api.get('/api/v1/missed-webhooks?days=7');
  await api.get('/api/v1/rate-budget');
  const subjects = [{ kind: 'order', id: orderId }];
  await api.post('/api/v1/erasures/plan', { subjects });
  const erasure = { subjects, reason: 'a test', confirm: true };
  const { number: requested } = (await api.post('/api/v1/erasures', erasure)).body;
  await api.get(`/api/v1/erasures/${requested}`);
  await api.get('/api/v1/erasures');
  await openPages(tallyhook);
  const [session] = (await api.get('/api/v1/sessions')).body.sessions;
  await api.post(`/api/v1/sessions/${session.number}/end`, { reason: 'a test' });
  const chosen = {
    state: 'discarded',
    type: 'payment_succeeded',
    order: orderId,
    reason: 'a test',
  };
  const { number: replay } = (await api.post('/api/v1/replays', chosen)).body;
  await api.get(`/api/v1/replays/${replay}`);
  await api.get('/api/v1/replays');
  await api.post(`/api/v1/replays/${replay}/stop`, {});
  await api.post('/api/v1/tokens', { name: 'reader', role: 'viewer' });
  await api.get('/api/v1/tokens');
  await api.post('/api/v1/tokens/reader/revoke', {});
  const closing = { time_zone: 'Europe/Berlin', with_exceptions: true, reason: 'a test' };
  expect((await api.post('/api/v1/closings/2024-01/close', {})).status).toBe(409);
  const { body: closed } = await api.post('/api/v1/closings/2024-01/close', closing);
  const kinds = closed.exceptions.map(({ kind }: { kind: string }) => kind);
  expect([closed.version, kinds]).toEqual([1, expect.arrayContaining(['not_compared'])]);
  expect((await api.get('/api/v1/closings/2024-02')).body).toMatchObject({
    time_zone: 'Europe/Berlin',
    may_close: true,
    closings: [],
  });
  await api.post('/api/v1/closings/2024-01/reopen', { reason: 'a test' });
  expect((await api.get('/api/v1/closings')).body.closings).toMatchObject([
    { reopened: { reason: 'a test' } },
  ]);
  const early = await api.get('/api/v1/clearing?as_of=2020-01-01T00:00:00Z');
  expect(early.body).toEqual({ currencies: [] });
  await importLines(db, 'without a reference');
  const path = '/api/v1/clearing/unmatched?part=unknown_arrivals&currency=USD';
  expect((await api.get(path)).body.unmatched).toMatchObject([{ subject: 'line:3', amount: -75 }]);
  // Those that move money are called over a payment service, in test/audit/money.test.ts.
  const here = ENDPOINTS.filter(({ permission }) => permission !== 'move_money');
  expect([...api.checked].toSorted()).toEqual(here.map(({ id }) => id).toSorted());
});

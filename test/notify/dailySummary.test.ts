/** The daily summary: the money that moved on a day, by currency, and the open alerts and findings. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { syncAlerts } from '../../src/alerts/syncAlerts.ts';
import { enqueueDailySummary } from '../../src/notify/dailySummary.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { DAY_MS } from '../../src/platform/time.ts';
import { alertOf } from '../support/alerts.ts';
import { chainJournal } from '../support/chain.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventBody, paymentObject } from '../support/events.ts';
import { applyEach, testApplier } from '../support/ledger.ts';
import { createTestNotifier, readMessages } from '../support/notifier.ts';
import { type HttpReceiver, SIGNING_SECRET, startHttpReceiver } from '../support/receivers.ts';

let db: TestDatabase;
let hook: HttpReceiver;
beforeEach(async () => {
  db = await createTestDatabase();
  hook = await startHttpReceiver(SIGNING_SECRET);
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
});
afterEach(async () => {
  vi.useRealTimers();
  await hook.close();
  await db.drop();
});

function summarize(slot = new Date()): Promise<void> {
  return enqueueDailySummary({ db, clock: systemClock, channels: ['log', 'webhook'] }, slot);
}

async function trade(): Promise<void> {
  const at = '2026-11-01T10:00:00.000Z';
  const child = (fields: object, contentType: string) =>
    eventBody({ currency: 'USD', modified_at: at, ...fields }, { contentType });
  await applyEach(db, testApplier(db), [
    eventBody(paymentObject({ payment_id: 'pay_1' })),
    eventBody(paymentObject({ payment_id: 'pay_2' })),
    eventBody(
      paymentObject({ payment_id: 'pay_3', currency: 'JPY', amount: 700, amount_received: 700 }),
    ),
    child(
      { refund_id: 'ref_1', payment_id: 'pay_1', status: 'succeeded', amount: 1000 },
      'refund_details',
    ),
    child(
      {
        dispute_id: 'dp_1',
        payment_id: 'pay_2',
        dispute_stage: 'dispute',
        dispute_status: 'dispute_opened',
        amount: '6540',
      },
      'dispute_details',
    ),
    child({ payout_id: 'po_1', status: 'success', amount: 2500 }, 'payout_details'),
  ]);
}

test('the summary lists each currency of the day before and is sent once, regardless of the minimum severity', async () => {
  await trade();
  const head = await chainJournal(db);
  vi.setSystemTime(Date.now() + DAY_MS);
  await summarize();
  await summarize();
  const { deliver } = createTestNotifier({
    db,
    env: {
      ALERT_WEBHOOK_URL: hook.url,
      ALERT_WEBHOOK_SECRET: SIGNING_SECRET,
      ALERT_WEBHOOK_SEVERITY: 'critical',
    },
  });
  await deliver();
  expect(await readMessages(db)).toMatchObject([
    { channel: 'log', kind: 'summary', state: 'delivered' },
    { channel: 'webhook', kind: 'summary', state: 'delivered' },
  ]);
  expect(hook.accepted().map(({ body }) => JSON.parse(body))).toMatchObject([
    {
      type: 'summary.daily',
      data: {
        day: new Date(Date.now() - DAY_MS).toISOString().slice(0, 10),
        currencies: [
          {
            currency: 'JPY',
            amount_captured: 700,
            amount_refunded: 0,
            amount_disputed: 0,
            amount_paid_out: 0,
          },
          {
            currency: 'USD',
            amount_captured: 13_080,
            amount_refunded: 1000,
            amount_disputed: 6540,
            amount_paid_out: 2500,
          },
        ],
        // The dispute.
        open_alerts: { info: 0, warning: 0, critical: 1 },
        // Whoever keeps the message can compare it with the chain later.
        chain_head: `${head.number}:${head.digest}`,
      },
    },
  ]);
  vi.setSystemTime(Date.now() + DAY_MS);
  await summarize();
  expect(await readMessages(db, 'webhook')).toHaveLength(2);
});

test('a summary that is sent late is about the day before its slot', async () => {
  await trade();
  const tomorrow = new Date(Date.now() + DAY_MS);
  vi.setSystemTime(Date.now() + 2 * DAY_MS);
  await summarize(tomorrow);
  const [row] = await db.query<{ day: string; currencies: number }>(
    `select content -> 'summary' ->> 'day' as day,
            jsonb_array_length(content -> 'summary' -> 'currencies') as currencies
       from messages limit 1`,
  );
  const day = new Date(tomorrow.getTime() - DAY_MS).toISOString().slice(0, 10);
  expect(row).toEqual({ day, currencies: 2 });
});

test('acknowledged alerts do not count as open', async () => {
  await trade();
  await db.query(
    `update alerts set state = 'acknowledged', acknowledged_at = now(), acknowledged_by = 'ada',
                       acknowledged_reason = 'on it'`,
  );
  vi.setSystemTime(Date.now() + DAY_MS);
  await summarize();
  const [row] = await db.query<{ open: object }>(
    `select content -> 'summary' -> 'openAlerts' as open from messages limit 1`,
  );
  expect(row?.open).toEqual({ info: 0, warning: 0, critical: 0 });
});

test('a sum that no message carries exactly sends none, and the error names the day, the currency and the sum', async () => {
  const large = {
    currency: 'IDR',
    amount: 9_000_000_000_000_001,
    amount_received: 9_000_000_000_000_001,
  };
  await applyEach(db, testApplier(db), [
    eventBody(paymentObject({ payment_id: 'pay_1', ...large })),
    eventBody(paymentObject({ payment_id: 'pay_2', ...large })),
  ]);
  const day = new Date().toISOString().slice(0, 10);
  vi.setSystemTime(Date.now() + DAY_MS);
  await expect(summarize()).rejects.toThrow(
    `The summary of ${day} is not sent: no message carries the sum of 18000000000000002 minor units of IDR`,
  );
  expect(await readMessages(db)).toEqual([]);
});

test('a day without activity has a summary while an alert is open', async () => {
  const alert = alertOf({ subject: 'system:queue', rule: 'backlog' });
  const { subject, rule } = alert;
  await db.transaction((tx) => syncAlerts(tx, [{ subject, rules: [rule], active: [alert] }]));
  await summarize();
  expect((await readMessages(db)).map(({ channel }) => channel)).toEqual(['log', 'webhook']);
});

test('a day without activity and open alerts has no summary', async () => {
  await summarize();
  expect(await readMessages(db)).toEqual([]);
});

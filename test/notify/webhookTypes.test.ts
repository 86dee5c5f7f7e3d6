/** What the sender sends to operators has the types that the client exports, and the client verifies it. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Alert } from '../../src/alerts/domain/alert.ts';
import { raiseOneTimeAlerts, syncAlerts } from '../../src/alerts/syncAlerts.ts';
import { createWebhookChannel } from '../../src/notify/channels/webhook.ts';
import { enqueueDailySummary } from '../../src/notify/dailySummary.ts';
import { SINGLES_PER_RULE } from '../../src/notify/domain/message.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { DAY_MS, MINUTE_MS } from '../../src/platform/time.ts';
import { WEBHOOKS } from '../../src/webhooks/webhooks.ts';
import { alertOf } from '../support/alerts.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createTestNotifier } from '../support/notifier.ts';
import { readReceived } from '../support/receivedWebhook.ts';
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

/** The facts by which an alert has an amount. */
const MONEY = { currency: 'USD', amountMinor: 6540 };

/** Makes the alert of a subject active, or not. */
function sync(subject: string, active: readonly Alert[]): Promise<unknown> {
  return db.transaction((tx) => syncAlerts(tx, [{ subject, rules: ['payment_stuck'], active }]));
}

const stuck = (subject: string) => alertOf({ subject, rule: 'payment_stuck', detail: MONEY });

test('every webhook to operators is signed, and has the fields of its type', async () => {
  const env = {
    ALERT_WEBHOOK_URL: hook.url,
    ALERT_WEBHOOK_SECRET: SIGNING_SECRET,
    ALERT_WEBHOOK_SEVERITY: 'info',
    PUBLIC_CONSOLE_URL: 'https://tallyhook.example',
  };
  const notifier = createTestNotifier({ db, env, timeoutMs: 60_000 });
  const send = async () => {
    vi.setSystemTime(Date.now() + MINUTE_MS);
    await notifier.dispatch();
    await notifier.deliver();
  };
  await sync('payment:pay_1', [stuck('payment:pay_1')]);
  await send();
  await sync('payment:pay_1', []);
  await send();
  await sync('payment:pay_2', [stuck('payment:pay_2')]);
  await sync('payment:pay_2', []);
  await send();
  const many = Array.from({ length: SINGLES_PER_RULE + 1 }, (_, index) =>
    alertOf({ subject: `dispute:dp_${index}`, orderId: 'ord_1', detail: MONEY }),
  );
  await db.transaction((tx) => raiseOneTimeAlerts(tx, many));
  await send();
  vi.setSystemTime(Date.now() + DAY_MS);
  // A day on which nothing is open has no summary.
  await sync('payment:pay_3', [stuck('payment:pay_3')]);
  await enqueueDailySummary({ db, clock: systemClock, channels: ['webhook'] }, new Date());
  await send();
  const channel = createWebhookChannel({
    name: 'webhook',
    slots: 1,
    url: hook.url,
    secrets: [SIGNING_SECRET],
    installation: { name: 'Tallyhook', consoleUrl: undefined },
    clock: systemClock,
    timeoutMs: 60_000,
  });
  const createdAt = new Date();
  const content = { kind: 'test', at: createdAt.toISOString() } as const;
  await channel.send({ id: 'msg_test', content, createdAt });

  const types = new Set(hook.accepted().map((post) => readReceived(post).type));
  const operators = Object.keys(WEBHOOKS).filter((type) => !type.startsWith('order.'));
  // A reminder is an alert like the others, and is due days later.
  expect([...types, 'alert.reminder'].toSorted()).toEqual(operators.toSorted());
});

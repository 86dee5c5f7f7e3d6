/** Webhooks of the sandbox, at a real HTTP listener. */
import { createHmac } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { DAY_MS, MINUTE_MS } from '../../src/platform/time.ts';
import { SANDBOX_SECRET, startTestSandbox, type TestSandbox } from '../support/sandbox.ts';
import { cardPayment, cardPaymentOf } from '../support/sandboxRequests.ts';
import { waitFor } from '../support/waitFor.ts';
import type { ReceivedWebhook } from '../support/webhookListener.ts';

let sandbox: TestSandbox;
beforeAll(async () => {
  // An attempt that hangs on purpose hangs until its test ends, also on a busy machine: none is repeated.
  sandbox = await startTestSandbox({ webhookTimeoutMs: 60 * MINUTE_MS });
});
afterAll(() => sandbox.close());

const received = (objectId: string): readonly ReceivedWebhook[] =>
  sandbox.listener.received.filter(({ event }) =>
    Object.values(event.content.object).includes(objectId),
  );

const sign = (body: Buffer | string) =>
  createHmac('sha512', SANDBOX_SECRET).update(body).digest('hex');

const settle = () => sandbox.control('POST', '/settle');

test('a success sends a webhook, signed over the exact bytes, without the client secret', async () => {
  const created = await sandbox.call('POST', '/payments', cardPayment({ payment_id: 'signed' }));
  expect(created).toMatchObject({ status: 200, body: { status: 'succeeded' } });
  await waitFor('the webhook', () => received('signed').length > 0);
  const [webhook] = received('signed');
  expect(webhook?.signature).toBe(sign(webhook?.body ?? ''));
  expect(webhook?.event).toMatchObject({
    merchant_id: sandbox.merchantId,
    event_type: 'payment_succeeded',
    content: { type: 'payment_details', object: { payment_id: 'signed', amount_received: 6540 } },
  });
  expect(webhook?.event.content.object).not.toHaveProperty('client_secret');
  expect(created.body.client_secret).toMatch(/^signed_secret_/);
});

test('every change sends a webhook, including a second partial capture', async () => {
  const manual = cardPayment({ payment_id: 'twice', capture_method: 'manual_multiple' });
  await sandbox.call('POST', '/payments', manual);
  await sandbox.call('POST', '/payments/twice/capture', { amount_to_capture: 1000 });
  await sandbox.call('POST', '/payments/twice/capture', { amount_to_capture: 2000 });
  await sandbox.call('POST', '/payments/twice/capture');
  await settle();
  expect(received('twice').map(({ event }) => event.event_type)).toEqual([
    'payment_authorized',
    'payment_captured',
    'payment_captured',
    'payment_succeeded',
  ]);
  const amounts = received('twice').map(({ event }) => event.content.object.amount_received);
  expect(amounts).toEqual([0, 1000, 3000, 6540]);
});

test('an unacknowledged webhook is retried 16 times within about a day, byte for byte, and then no more', async () => {
  sandbox.listener.respondWith(503);
  await sandbox.call('POST', '/payments', cardPayment({ payment_id: 'rejected' }));
  await sandbox.advance(2 * DAY_MS);
  sandbox.listener.respondWith(200);
  await sandbox.advance(2 * DAY_MS);
  const tries = received('rejected');
  expect(tries).toHaveLength(17);
  expect(new Set(tries.map(({ body }) => body.toString('base64'))).size).toBe(1);

  const { data } = await sandbox.control('GET', '/webhooks?object_id=rejected');
  const { deliveries } = await sandbox.control('GET', `/webhooks/${data[0].event_id}`);
  const minutes = deliveries
    .slice(1)
    .map(({ due }: { due: string }, index: number) =>
      Math.round((Date.parse(due) - Date.parse(deliveries[index].sent)) / MINUTE_MS),
    );
  expect(minutes).toEqual([1, 5, 5, 10, 10, 10, 10, 10, 60, 60, 60, 60, 60, 360, 360, 360]);
});

test('a receiver that is available again receives what it missed, once', async () => {
  sandbox.listener.respondWith(500);
  await sandbox.call('POST', '/payments', cardPayment({ payment_id: 'later' }));
  await waitFor('the first attempt', () => received('later').length === 1);
  sandbox.listener.respondWith(204);
  await sandbox.advance(10 * MINUTE_MS);
  await sandbox.advance(DAY_MS);
  sandbox.listener.respondWith(200);
  expect(received('later')).toHaveLength(2);
});

test.each([302, 400, 401, 410])(
  '%i does not acknowledge: only a 2xx does, and a redirect is not followed',
  async (status) => {
    const id = `status-${status}`;
    sandbox.listener.respondWith(status);
    await sandbox.call('POST', '/payments', cardPayment({ payment_id: id }));
    await waitFor('the first attempt', () => received(id).length === 1);
    await sandbox.advance(2 * MINUTE_MS);
    sandbox.listener.respondWith(200);
    await sandbox.advance(DAY_MS);
    expect(received(id)).toHaveLength(3);
  },
);

test('an event can be inspected and sent again through the control API', async () => {
  await sandbox.call('POST', '/payments', cardPayment({ payment_id: 'again' }));
  await settle();
  const { data } = await sandbox.control('GET', '/webhooks?object_id=again');
  expect(data).toMatchObject([
    { event_type: 'payment_succeeded', sent: 1, acknowledged: 1, waiting: 0 },
  ]);
  await sandbox.control('POST', `/webhooks/${data[0].event_id}/send`);
  expect(received('again')).toHaveLength(2);
  expect(received('again')[1]?.body).toEqual(received('again')[0]?.body);
});

test.each([
  ['failed', 'payment_failed', cardPaymentOf('final', 'UE_1001')],
  ['requires_action', 'action_required', cardPaymentOf('customer_action')],
  ['requires_merchant_action', 'action_required', cardPaymentOf('review')],
  ['processing', 'payment_processing', cardPaymentOf('processing')],
  ['requires_capture', 'payment_authorized', cardPayment({ capture_method: 'manual' })],
])('a payment that is %s sends %s', async (status, eventType, request) => {
  const { body } = await sandbox.call('POST', '/payments', request);
  expect(body.status).toBe(status);
  await settle();
  expect(received(body.payment_id).map(({ event }) => event.event_type)).toEqual([eventType]);
});

describe('a receiver that hangs', () => {
  afterEach(() => sandbox.listener.releaseResponses());
  const make = (id: string, fields: object = {}) =>
    sandbox.call('POST', '/payments', cardPayment({ payment_id: id, ...fields }));

  test('on some objects delays neither other objects nor timers', async () => {
    sandbox.listener.withholdResponses((id) => id.startsWith('hung-'));
    for (let number = 0; number < 7; number += 1) await make(`hung-${number}`);
    await waitFor('seven to hang', () => received('hung-6').length === 1);
    const { body: payout } = await sandbox.call('POST', '/payouts/create', {
      amount: 5000,
      currency: 'USD',
      payout_type: 'bank',
      confirm: true,
      auto_fulfill: true,
      payout_method_data: {
        bank_transfer: {
          payout_method_type: 'ach',
          bank_account_number: '000123456789',
          bank_routing_number: '110000000',
        },
      },
    });
    const others = Array.from({ length: 100 }, (_, number) => `free-${number}`);
    await Promise.all(others.map((id) => make(id)));
    await waitFor('all others', () => others.every((id) => received(id).length === 1));
    await waitFor('the payout to go out', () =>
      received(payout.payout_id).some(({ event }) => event.event_type === 'payout_success'),
    );
    expect(received('hung-0')).toHaveLength(1);
    const { data } = await sandbox.control('GET', '/webhooks?object_id=hung-0');
    expect(data).toMatchObject([{ sent: 0, waiting: 1 }]);
  });

  test('on an object delays its later events, which follow in order', async () => {
    sandbox.listener.withholdResponses((id) => id === 'ordered');
    await make('ordered', { capture_method: 'manual' });
    await waitFor('the first', () => received('ordered').length === 1);
    await sandbox.call('POST', '/payments/ordered/capture');
    await make('after-it');
    await waitFor('what came after it', () => received('after-it').length === 1);
    expect(received('ordered')).toHaveLength(1);
    sandbox.listener.releaseResponses();
    await settle();
    expect(received('ordered').map(({ event }) => event.event_type)).toEqual([
      'payment_authorized',
      'payment_succeeded',
    ]);
  });

  test('delays an advance of the clock, which runs everything that becomes due', async () => {
    sandbox.listener.withholdResponses((id) => id === 'awaited');
    await make('awaited');
    await waitFor('it to hang', () => received('awaited').length === 1);
    let isAdvanced = false;
    const advanced = sandbox.advance(DAY_MS).then(() => {
      isAdvanced = true;
    });
    // Requests are served meanwhile.
    await make('meanwhile');
    expect(isAdvanced).toBe(false);
    sandbox.listener.respondWith(503);
    sandbox.listener.releaseResponses();
    await advanced;
    sandbox.listener.respondWith(200);
    // The attempt that hung, and its retries within the day.
    expect(received('awaited')).toHaveLength(16);
  });
});

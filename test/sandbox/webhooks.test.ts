/** Webhooks of the sandbox, at a real HTTP listener. */
import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SANDBOX_SECRET, startTestSandbox, type TestSandbox } from '../support/sandbox.ts';
import { cardPayment } from '../support/sandboxRequests.ts';
import { waitFor } from '../support/waitFor.ts';

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox();
});
afterAll(() => sandbox.close());

const received = (objectId: string) =>
  sandbox.listener.received.filter(({ event }) =>
    Object.values(event.content.object).includes(objectId),
  );

test('a success is told, signed over the exact bytes, without the client secret', async () => {
  const created = await sandbox.call('POST', '/payments', cardPayment({ payment_id: 'told' }));
  expect(created).toMatchObject({ status: 200, body: { status: 'succeeded' } });
  await waitFor('the webhook', () => received('told').length > 0);
  const [webhook] = received('told');
  const signature = createHmac('sha512', SANDBOX_SECRET)
    .update(webhook?.body ?? '')
    .digest('hex');
  expect(webhook?.signature).toBe(signature);
  expect(webhook?.event).toMatchObject({
    merchant_id: sandbox.merchantId,
    event_type: 'payment_succeeded',
    content: { type: 'payment_details', object: { payment_id: 'told', amount_received: 6540 } },
  });
  expect(webhook?.event.content.object).not.toHaveProperty('client_secret');
  expect(created.body.client_secret).toMatch(/^told_secret_/);
});

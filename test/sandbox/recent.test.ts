/** What the sandbox shows of its last changes, and an authorization that lapses before its time. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts';
import { cardPayment } from '../support/sandboxRequests.ts';

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox();
});
afterEach(() => sandbox.control('DELETE', '/faults'));
afterAll(() => sandbox.close());

const pay = async (order_id: string, changes: object = {}): Promise<string> => {
  const request = cardPayment({ metadata: { order_id }, ...changes });
  return (await sandbox.call('POST', '/payments', request)).body.payment_id;
};

const recent = async (query: string) => (await sandbox.control('GET', `/recent${query}`)).data;

test('the last change comes first, with the order of its payment and every delivery', async () => {
  const first = await pay('ord_first');
  const second = await pay('ord_second');
  await sandbox.call('POST', '/refunds', { payment_id: first, refund_id: 'ref_recent' });
  await sandbox.control('POST', '/settle');
  expect(await recent('')).toMatchObject([
    { kind: 'refund', id: 'ref_recent', order_id: 'ord_first', resource: { status: 'succeeded' } },
    { kind: 'payment', id: second, order_id: 'ord_second' },
    {
      kind: 'payment',
      id: first,
      events: [
        { event_type: 'payment_succeeded', deliveries: [{ reason: 'first', http_status: 200 }] },
      ],
    },
  ]);
  expect(await recent('?order_id=ord_first&limit=1')).toMatchObject([{ id: 'ref_recent' }]);
  expect(await recent('?order_id=ord_first')).toHaveLength(2);
});

test('an event that was lost has no delivery, and one that waits has no time of sending', async () => {
  await sandbox.control('PUT', '/faults', { webhooks: { drop: 1 } });
  await pay('ord_lost');
  await sandbox.control('PUT', '/faults', { webhooks: { reorder: 1, reorder_ms: 600_000 } });
  await pay('ord_waiting');
  expect(await recent('?order_id=ord_lost')).toMatchObject([{ events: [{ deliveries: [] }] }]);
  expect(await recent('?order_id=ord_waiting')).toMatchObject([
    { events: [{ deliveries: [{ sent: null, http_status: null }] }] },
  ]);
});

test('an authorization lapses on demand; a payment without one does not', async () => {
  const held = await pay('ord_held', { capture_method: 'manual' });
  const lapsed = await sandbox.control('POST', `/payments/${held}/lapse`);
  expect(lapsed).toMatchObject({ status: 'expired', amount_capturable: 0, amount_received: 0 });
  expect((await recent('?order_id=ord_held'))[0].events.at(-1)).toMatchObject({
    event_type: 'payment_expired',
  });
  const paid = await pay('ord_paid');
  await expect(sandbox.control('POST', `/payments/${paid}/lapse`)).rejects.toThrow('IR_16');
});

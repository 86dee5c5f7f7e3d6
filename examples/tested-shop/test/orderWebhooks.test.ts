import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { createOrderWebhooks } from '../src/orderWebhooks.ts';

const SECRET = `whsec_${Buffer.from('a secret of the shop, 32 bytes..').toString('base64')}`;
const NOW_MS = Date.UTC(2026, 10, 23, 9);
const MINUTE_MS = 60_000;

interface Message {
  readonly id?: string;
  readonly number?: number;
  readonly status?: string;
  readonly sentMs?: number;
  readonly secret?: string;
}

/** A request as Tallyhook sends it, in the form of Standard Webhooks. */
function message({ id = 'msg_1', number = 1, status = 'paid', ...rest }: Message = {}) {
  const { sentMs = NOW_MS, secret = SECRET } = rest;
  const change = { number, status, previous_status: null, changed_at: '2026-11-23T09:00:00.000Z' };
  const order = { order_id: '1001', order_key: 'order:1001', status };
  const body = JSON.stringify({ type: `order.${status}`, data: { change, order } });
  const timestamp = String(Math.floor(sentMs / 1000));
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`);
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature.digest('base64')}`,
  };
  return { body, headers };
}

test.each([
  'authorized',
  'paid',
  'partially_captured',
  'refunded',
  'disputed',
  'failed',
  'expired',
])('an order is reported as %s', (status) => {
  const webhooks = createOrderWebhooks(SECRET);
  expect(webhooks.receive(message({ status }), NOW_MS)).toBe(204);
  expect(webhooks.statusOf('1001')).toBe(status);
});

test('the same message twice is acknowledged and processed once', () => {
  const webhooks = createOrderWebhooks(SECRET);
  webhooks.receive(message({ number: 1 }), NOW_MS);
  expect(webhooks.receive(message({ number: 2, status: 'refunded' }), NOW_MS)).toBe(204);
  expect(webhooks.statusOf('1001')).toBe('paid');
});

test('an older change does not replace a newer one', () => {
  const webhooks = createOrderWebhooks(SECRET);
  webhooks.receive(message({ id: 'b', number: 2, status: 'paid' }), NOW_MS);
  webhooks.receive(message({ id: 'a', number: 1, status: 'authorized' }), NOW_MS);
  expect(webhooks.statusOf('1001')).toBe('paid');
});

test.each([-6, -60, 6, 60])(
  'a message that was signed %i minutes from now is refused',
  (minutes) => {
    const sentMs = NOW_MS + minutes * MINUTE_MS;
    expect(createOrderWebhooks(SECRET).receive(message({ sentMs }), NOW_MS)).toBe(400);
  },
);

test.each([-4, 4])('a clock that differs by %i minutes is tolerated', (minutes) => {
  const sentMs = NOW_MS + minutes * MINUTE_MS;
  expect(createOrderWebhooks(SECRET).receive(message({ sentMs }), NOW_MS)).toBe(204);
});

test('a message that another secret signed is refused', () => {
  const secret = `whsec_${Buffer.from('another secret').toString('base64')}`;
  expect(createOrderWebhooks(SECRET).receive(message({ secret }), NOW_MS)).toBe(400);
});

test('a body that was changed is refused', () => {
  const { body, headers } = message();
  const changed = { headers, body: body.replace('1001', '1002') };
  const webhooks = createOrderWebhooks(SECRET);
  expect(webhooks.receive(changed, NOW_MS)).toBe(400);
  expect(webhooks.statusOf('1002')).toBeUndefined();
});

test.each(['webhook-id', 'webhook-timestamp', 'webhook-signature'])(
  'without %s it is refused',
  (name) => {
    const { body, headers } = message();
    const rest = Object.fromEntries(Object.entries(headers).filter(([header]) => header !== name));
    expect(createOrderWebhooks(SECRET).receive({ body, headers: rest }, NOW_MS)).toBe(400);
  },
);

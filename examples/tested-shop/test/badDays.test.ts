import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { CARD, order, useBench } from './support.ts';

const bench = useBench({ clock: '2027-03-28T00:30:00Z' });

test.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])(
  'seed %i: no order is charged twice while a third of the requests fail',
  async (seed) => {
    const { sandbox, shop, service } = bench;
    sandbox.setFaults({
      seed,
      requests: [
        { fault: 'server_error', status: 503, rate: 0.15, method: 'POST', path: '/payments' },
        { fault: 'cut_after', rate: 0.15, method: 'POST', path: '/payments' },
      ],
    });
    for (const id of ['a', 'b', 'c']) {
      expect(await shop.checkOut(order({ id }), CARD)).toEqual({ show: 'thanks' });
    }
    sandbox.setFaults({});
    const { items } = await service.payments.list();
    expect(items.map(({ payment_id: id }) => id).sort()).toEqual(['order-a', 'order-b', 'order-c']);
  },
);

/** The event types that a receiver of the shop was sent. */
let received: string[] = [];
let status = 200;
const receiver = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  received.push(JSON.parse(Buffer.concat(chunks).toString()).event_type);
  response.writeHead(status).end();
});
let webhookUrl = '';
beforeAll(async () => {
  await once(receiver.listen(0, '127.0.0.1'), 'listening');
  webhookUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
});
afterAll(() => receiver.close());
beforeEach(() => {
  received = [];
  status = 200;
});

const AUTHORIZED = 'payment_authorized';

test.each([
  ['none', {}, [AUTHORIZED]],
  ['drop', { drop: 1 }, []],
  ['duplicate', { duplicate: 1 }, [AUTHORIZED, AUTHORIZED]],
  ['changed_copy', { changed_copy: 1 }, [AUTHORIZED, AUTHORIZED]],
])('webhooks with the fault %s', async (_name, webhooks, types) => {
  const { sandbox, shop } = bench;
  await sandbox.reset({ webhookUrl, faults: { webhooks } });
  await shop.checkOut(order(), CARD);
  await sandbox.settle();
  expect(received).toEqual(types);
});

test.each([
  [0, 1],
  [60_000, 2],
  [6 * 60_000, 3],
  [11 * 60_000, 4],
  [21 * 60_000, 5],
  [31 * 60_000, 6],
])('a receiver that fails for %i ms is sent %i webhooks', async (ms, count) => {
  const { sandbox, shop } = bench;
  await sandbox.reset({ webhookUrl });
  status = 500;
  await shop.checkOut(order(), CARD);
  await sandbox.settle();
  await sandbox.advance(ms);
  expect(received).toHaveLength(count);
});

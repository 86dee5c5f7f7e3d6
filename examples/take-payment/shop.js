/** Takes one payment, and ends when Tallyhook reports that its order is paid. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { createClient, isOrderWebhook, verifyTallyhookWebhook } from '@tallyhook/client';

const {
  PAYMENTS_BASE_URL: baseUrl = 'http://127.0.0.1:8082',
  PAYMENTS_API_KEY: apiKey = '',
  ORDER_WEBHOOK_SECRET: secret = '',
  PORT: port = '3000',
} = process.env;
const orderId = `ord_${randomUUID()}`;

const server = createServer(async (request, response) => {
  try {
    // The bytes as they arrived: they are what was signed.
    const body = await buffer(request);
    const { webhook } = verifyTallyhookWebhook({ body, headers: request.headers }, { secret });
    response.writeHead(204).end();
    if (!isOrderWebhook(webhook) || webhook.data.order.order_id !== orderId) return;
    const [total] = webhook.data.order.totals;
    console.log(webhook.type, total?.amount_captured, total?.currency);
    if (webhook.type === 'order.paid') server.close();
  } catch (error) {
    console.error(String(error));
    response.writeHead(400).end();
  }
});
server.listen(Number(port), '127.0.0.1');
await once(server, 'listening');

const service = createClient({ baseUrl, apiKey });
const { payment } = await service.payments.create({
  payment_id: randomUUID(), // chosen by the shop: this makes the call safe to retry
  amount: 6540, // minor units: 65.40 USD
  currency: 'USD',
  profile_id: 'pro_local',
  confirm: true,
  payment_method: 'card',
  payment_method_data: {
    card: {
      card_number: '4242424242424242',
      card_exp_month: '12',
      card_exp_year: '2039',
      card_cvc: '123',
    },
  },
  billing: {
    address: {
      first_name: 'Ada',
      last_name: 'Lovelace',
      line1: '1 Main Street',
      city: 'Springfield',
      state: 'IL',
      zip: '62701',
      country: 'US',
    },
    phone: { country_code: '+1', number: '5550100' },
  },
  metadata: { order_id: orderId }, // names the order in Tallyhook's ledger
});
console.log('payment', payment.status);

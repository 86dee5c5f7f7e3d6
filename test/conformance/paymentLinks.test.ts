/** service-interface.md §4.7, `payout_link`; the rest: docs/decisions/0015. */
import { expect, test } from 'vitest';
import { DAY_MS } from '../../src/platform/time.ts';
import { testCard } from '../../src/sandbox/domain/outcomes.ts';
import { BILLING } from '../support/sandboxRequests.ts';
import type { Body } from '../support/serviceApi.ts';
import { expectError, expectResponse, freshId, testOfOurs, useTarget } from './target.ts';

const target = useTarget();

const post = (path: string, body: unknown) => target.call('POST', path, body);
const create = async (fields: object = {}): Promise<Body> =>
  expectResponse(
    'createPaymentLink',
    await post('/payment_link', { amount: 2500, currency: 'EUR', ...fields }),
  );
const retrieve = async (id: string): Promise<Body> =>
  expectResponse('retrievePaymentLink', await target.call('GET', `/payment_link/${id}`));
const payment = async (id: string): Promise<Body> =>
  expectResponse('retrievePayment', await target.call('GET', `/payments/${id}`));

/** Acts as a browser: reads the form of a page, fills it in and sends it. */
async function submit(url: string, values: Record<string, string>): Promise<Response> {
  const html = await (await fetch(url)).text();
  const names = [...html.matchAll(/<input name="(\w+)"/g)].map(([, name = '']) => name);
  const form = new URLSearchParams(
    Object.fromEntries(names.map((name) => [name, values[name] ?? ''])),
  );
  return await fetch(url, { method: 'POST', body: form, redirect: 'manual' });
}

const CARD = { card_exp_month: '12', card_exp_year: '2039', card_cvc: '123' };
const valuesWith = (card_number: string) => ({
  card_number,
  ...CARD,
  ...BILLING.address,
  phone: BILLING.phone.number,
  phone_country_code: BILLING.phone.country_code,
});
const GOOD = valuesWith('4242424242424242');

test('every field that is sent is returned, with an address for the payment', async () => {
  const { body: customer } = await post('/customers', {});
  const fields = {
    description: 'Three shirts',
    link_type: 'one_time',
    expiry: '2099-01-01T00:00:00.000Z',
    customer_id: customer.customer_id,
    email: 'ada@example.com',
    capture_method: 'manual',
    authentication_type: 'no_three_ds',
    require_customer_info: true,
    payment_link_config: {
      seller_name: 'Shirts & Co',
      sdk_layout: 'tabs',
      allowed_payment_method_types: ['credit', 'debit'],
    },
  };
  const link = await create({ ...fields, send_email: true });
  expect(link).toMatchObject({
    ...fields,
    amount: 2500,
    currency: 'EUR',
    status: 'active',
    link_to_pay: expect.stringMatching(/^http/),
  });
  expect(await retrieve(link.payment_link_id)).toEqual(link);
});

testOfOurs('a one-time link is paid on its page, once', async () => {
  const { payment_link_id: id, link_to_pay: url } = await create({
    description: '<b>Tea</b> & "co"',
  });
  expect(await (await fetch(url)).text()).toContain('&#60;b&#62;Tea');
  const paid = await submit(url, GOOD);
  expect(paid.status).toBe(303);
  const link = await retrieve(id);
  expect(link).toMatchObject({ status: 'completed', payment_id: expect.any(String) });
  expect(await payment(link.payment_id)).toMatchObject({
    status: 'succeeded',
    amount: 2500,
    currency: 'EUR',
    billing: BILLING,
    metadata: { payment_link_id: id },
  });
  const form = new URLSearchParams(GOOD);
  expect((await fetch(url, { method: 'POST', body: form })).status).toBe(400);
  expect(await (await fetch(url)).text()).toContain('This link is completed');
});

testOfOurs('two concurrent payments of a one-time link make one payment', async () => {
  const { payment_link_id: id, link_to_pay: url } = await create();
  const form = () =>
    fetch(url, { method: 'POST', body: new URLSearchParams(GOOD), redirect: 'manual' });
  const replies = await Promise.all([form(), form(), form()]);
  expect(replies.map(({ status }) => status).toSorted()).toEqual([303, 400, 400]);
  const { data } = await target.control('GET', '/resources/payment?limit=1000');
  expect(data.filter(({ metadata }: Body) => metadata?.payment_link_id === id)).toHaveLength(1);
});

testOfOurs('a declined payment leaves the link open; any other type is paid again', async () => {
  const once = await create();
  await submit(once.link_to_pay, valuesWith(testCard('final', 'UE_1001')));
  expect(await retrieve(once.payment_link_id)).toMatchObject({ status: 'active' });
  await submit(once.link_to_pay, GOOD);
  expect(await retrieve(once.payment_link_id)).toMatchObject({ status: 'completed' });
  const often = await create({ link_type: 'reusable' });
  await submit(often.link_to_pay, GOOD);
  const { payment_id: first } = await retrieve(often.payment_link_id);
  expect((await submit(often.link_to_pay, GOOD)).status).toBe(303);
  expect((await retrieve(often.payment_link_id)).payment_id).not.toBe(first);
});

testOfOurs(
  'a one-time link that received money is used up, regardless of how its payment ends',
  async () => {
    const { payment_link_id: id, link_to_pay: url } = await create({
      capture_method: 'manual_multiple',
    });
    const cancel = async (): Promise<void> => {
      const { payment_id } = await retrieve(id);
      expectResponse('cancelPayment', await post(`/payments/${payment_id}/cancel`, {}));
    };
    await submit(url, GOOD);
    await cancel();
    expect(await retrieve(id)).toMatchObject({ status: 'active' });
    await submit(url, GOOD);
    const { payment_id } = await retrieve(id);
    await post(`/payments/${payment_id}/capture`, { amount_to_capture: 900 });
    await cancel();
    expect(await payment(payment_id)).toMatchObject({ status: 'cancelled', amount_received: 900 });
    expect(await retrieve(id)).toMatchObject({ status: 'completed' });
    const again = await fetch(url, { method: 'POST', body: new URLSearchParams(GOOD) });
    expect(again.status).toBe(400);
  },
);

testOfOurs('3-D Secure redirects from the page and back to it', async () => {
  const link = await create({ authentication_type: 'three_ds' });
  const away = (await submit(link.link_to_pay, GOOD)).headers.get('location') ?? '';
  const action = new URLSearchParams({ action: 'complete' });
  const back = await fetch(away, { method: 'POST', body: action, redirect: 'manual' });
  expect(back.headers.get('location')).toContain(link.link_to_pay);
  expect(await retrieve(link.payment_link_id)).toMatchObject({ status: 'completed' });
});

testOfOurs('an expired link takes no payment', async () => {
  const { now } = await target.control('GET', '/clock');
  const expiry = new Date(Date.parse(now) + DAY_MS).toISOString();
  const [dated, plain] = [await create({ expiry }), await create()];
  await target.advance(15 * 60_000);
  expect(await retrieve(dated.payment_link_id)).toMatchObject({ status: 'active' });
  expect(await retrieve(plain.payment_link_id)).toMatchObject({ status: 'expired' });
  await target.advance(DAY_MS);
  for (const { link_to_pay: url, payment_link_id: id } of [dated, plain]) {
    const reply = await fetch(url, { method: 'POST', body: new URLSearchParams(GOOD) });
    expect(reply.status).toBe(400);
    expect(await retrieve(id)).not.toHaveProperty('payment_id');
  }
});

testOfOurs('the page has fields for name and email if the link requires them', async () => {
  const link = await create({ require_customer_info: true });
  expect((await submit(link.link_to_pay, GOOD)).status).toBe(400);
  const customer = { name: 'Ada', email: 'ada@example.com' };
  expect((await submit(link.link_to_pay, { ...GOOD, ...customer })).status).toBe(303);
  const { payment_id: id } = await retrieve(link.payment_link_id);
  expect(await payment(id)).toMatchObject(customer);
  expect(await (await fetch((await create()).link_to_pay)).text()).not.toContain('name="email"');
});

test.each([
  ['no amount', { amount: undefined }, 'IR_01'],
  ['an expiry that has passed', { expiry: '2001-01-01' }, 'IR_04'],
  ['a customer of nobody', { customer_id: freshId('nobody').slice(0, 64) }, 'IR_04'],
  ['send_email without an email', { send_email: true }, 'IR_01'],
  ['a near miss of a field', { sendEmail: true }, 'IR_04'],
])('a link with %s is refused', async (_what, fields, code) => {
  const body = { amount: 1, currency: 'EUR', ...fields };
  expectError(await post('/payment_link', body), 400, code);
});

test('the list shows the newest first, page by page; an unknown link is 404', async () => {
  const made = [await create(), await create(), await create()];
  const list = async (filter: object): Promise<Body> =>
    expectResponse('listPaymentLinks', await post('/payment_link/list', filter));
  const all = await list({ limit: 3 });
  const ids = all.data.map(({ payment_link_id: id }: Body) => id);
  expect(ids.toSorted()).toEqual(made.map(({ payment_link_id: id }) => id).toSorted());
  const times = all.data.map(({ created }: Body) => created);
  expect(times).toEqual(times.toSorted().toReversed());
  const second = await list({ limit: 1, offset: 1 });
  expect(second).toMatchObject({ has_more: true, total_count: all.total_count });
  expect(second.data[0].payment_link_id).toBe(ids[1]);
  expect(await list({ created_lte: '2001-01-01' })).toMatchObject({ data: [], total_count: 0 });
  expectError(await post('/payment_link/list', { limit: 101 }), 400, 'IR_04');
  expectError(await target.call('GET', `/payment_link/${freshId('plink')}`), 404, 'IR_05');
});

testOfOurs('a payout link accepts the account of its receiver, once', async () => {
  const { body: payout } = await post('/payouts/create', {
    amount: 900,
    currency: 'EUR',
    payout_link: true,
  });
  const url: string = payout.payout_link.link;
  const account = { account_holder_name: 'Ada', iban: 'DE02120300000000202051', bic: 'BYLADEM1' };
  expect((await submit(url, { ...account, iban: '' })).status).toBe(400);
  expect((await submit(url, account)).status).toBe(303);
  const { body } = await target.call('GET', `/payouts/${payout.payout_id}`);
  expect(body).toMatchObject({ status: 'requires_fulfillment', payout_type: 'bank' });
  expect(JSON.stringify(body)).not.toContain(account.iban);
  const again = await fetch(url, { method: 'POST', body: new URLSearchParams(account) });
  expect(again.status).toBe(400);
  const plain = await post('/payouts/create', { amount: 900, currency: 'EUR' });
  const other = url.replace(payout.payout_id, plain.body.payout_id);
  expect((await fetch(other)).status).toBe(404);
});

/** service-interface.md §2.4, §4.4 and §4.3.1, `customer_id`. */
import { describe, expect, test } from 'vitest';
import { BILLING, cardPayment, cardPaymentOf } from '../support/sandboxRequests.ts';
import type { Body } from '../support/serviceApi.ts';
import { expectError, expectResponse, freshId, testOfOurs, useTarget } from './target.ts';

const target = useTarget();

const post = (path: string, body?: unknown) => target.call('POST', path, body);
const create = async (fields: object = {}): Promise<Body> =>
  expectResponse('createCustomer', await post('/customers', fields));
const retrieve = async (id: string): Promise<Body> =>
  expectResponse('retrieveCustomer', await target.call('GET', `/customers/${id}`));

const WHOLE = {
  email: 'ada@example.com',
  name: 'Ada Lovelace',
  phone: '5550100',
  phone_country_code: '+1',
  description: 'buys in bulk',
  address: { ...BILLING.address, line2: 'Floor 2' },
  metadata: { tier: 'gold' },
};

test('every field that is sent is returned', async () => {
  const id = freshId('cus').slice(0, 64);
  const { address: _, metadata: __, ...shown } = WHOLE;
  const created = await create({ customer_id: id, ...WHOLE });
  expect(created).toMatchObject({ customer_id: id, ...shown, created: expect.any(String) });
  expect(await retrieve(id)).toMatchObject({ customer_id: id, ...WHOLE });
});

test('no field is required: each customer gets an id of its own', async () => {
  const [first, second] = [await create(), await create()];
  expect(first.customer_id).toMatch(/^.{1,64}$/);
  expect(first.customer_id).not.toBe(second.customer_id);
});

test('an id that exists is HE_01, and the customer stays as it was', async () => {
  const { customer_id: id } = await create({ name: 'first' });
  expectError(await post('/customers', { customer_id: id, name: 'second' }), 409, 'HE_01');
  expect(await retrieve(id)).toMatchObject({ name: 'first' });
});

test('a customer can be read, changed and deleted by any valid id', async () => {
  for (const chosen of ['Jane Doe', 'jane@example.com', 'Žofia %2e']) {
    const id = `${chosen} ${freshId('')}`.slice(0, 64).trimEnd();
    const path = `/customers/${encodeURIComponent(id)}`;
    expect(await create({ customer_id: id, name: 'Jane' })).toMatchObject({ customer_id: id });
    expectResponse('updateCustomer', await post(path, { name: 'Jane D.' }));
    expect(await retrieve(encodeURIComponent(id))).toMatchObject({
      customer_id: id,
      name: 'Jane D.',
    });
    expectResponse('deleteCustomer', await target.call('DELETE', path));
    expectError(await target.call('GET', path), 404, 'IR_05');
  }
});

test('an update changes what it sends and nothing else', async () => {
  const { customer_id: id, created } = await create(WHOLE);
  const change = { name: 'Countess', metadata: { tier: 'iron' } };
  const updated = expectResponse('updateCustomer', await post(`/customers/${id}`, change));
  expect(updated).toMatchObject({ ...WHOLE, ...change, customer_id: id, created });
  expect(await retrieve(id)).toMatchObject({ ...WHOLE, ...change });
});

const pairs = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`key${index}`, 'value']));

describe('limits', () => {
  test.each([
    // Together with the 37 characters of a fresh id: 64.
    ['customer_id of 64 characters', { customer_id: freshId('c'.repeat(27)) }, true],
    ['customer_id of 65 characters', { customer_id: 'c'.repeat(65) }, false],
    ['a customer_id that a path resolves', { customer_id: '..' }, false],
    ['a customer_id that is the path of the list', { customer_id: 'list' }, false],
    ['50 pairs of metadata', { metadata: pairs(50) }, true],
    ['51 pairs of metadata', { metadata: pairs(51) }, false],
    ['a key of 40 characters', { metadata: { ['k'.repeat(40)]: 'v' } }, true],
    ['a key of 41 characters', { metadata: { ['k'.repeat(41)]: 'v' } }, false],
    ['a value of 500 characters', { metadata: { k: 'v'.repeat(500) } }, true],
    ['a value of 501 characters', { metadata: { k: 'v'.repeat(501) } }, false],
    ['a country of two letters', { address: { country: 'DE' } }, true],
    ['a country of three letters', { address: { country: 'DEU' } }, false],
    [
      'an address with an undocumented field, which is ignored',
      { address: { street: 'Main' } },
      true,
    ],
    ['a misspelt address', { adress: { zip: '62701' } }, false],
    ['an email that is none', { email: 'ada' }, false],
    ['a name that is empty', { name: '' }, false],
    ['a field of no document, which is ignored', { nickname: 'Ada' }, true],
  ])('%s', async (_what, fields, isTaken) => {
    const reply = await post('/customers', fields);
    if (isTaken) expectResponse('createCustomer', reply);
    else expectError(reply, 400, 'IR_04');
  });
});

test('a deleted customer no longer exists, and its id cannot be used again', async () => {
  const { customer_id: id } = await create(WHOLE);
  const reply = await target.call('DELETE', `/customers/${id}`);
  expect(expectResponse('deleteCustomer', reply)).toMatchObject({
    customer_id: id,
    customer_deleted: true,
  });
  for (const [method, body] of [['GET'], ['POST', {}], ['DELETE']] as const) {
    expectError(await target.call(method, `/customers/${id}`, body), 404, 'IR_05');
  }
  expectError(await post('/customers', { customer_id: id }), 409, 'HE_01');
  const request = cardPayment({ profile_id: target.profileId, customer_id: id });
  expectError(await post('/payments', request), 400, 'IR_04');
});

test.each(['GET', 'POST', 'DELETE'])('%s of an unknown customer is 404', async (method) => {
  const body = method === 'POST' ? {} : undefined;
  expectError(await target.call(method, `/customers/${freshId('nobody')}`, body), 404, 'IR_05');
});

test('the list shows the newest first, page by page, without the deleted', async () => {
  const made: string[] = [];
  for (let count = 0; count < 4; count += 1) made.push((await create()).customer_id);
  const list = async (query: string): Promise<Body> =>
    expectResponse('listCustomers', await target.call('GET', `/customers/list?${query}`));
  const times = (await list('limit=4')).data.map(({ created }: Body) => created);
  expect(times).toEqual(times.toSorted().toReversed());
  await target.call('DELETE', `/customers/${made[3]}`);
  const idsOf = ({ data }: Body): string[] => data.map(({ customer_id: id }: Body) => id);
  const [deleted = '', ...kept] = made.toReversed();
  let page = await list('limit=2');
  expect(page.has_more).toBe(true);
  const ids = idsOf(page);
  expect(ids).toHaveLength(2);
  // Customers that others create at the account meanwhile move these to later pages.
  while (page.has_more && kept.some((id) => !ids.includes(id))) {
    page = await list(`limit=2&offset=${ids.length}`);
    ids.push(...idsOf(page));
  }
  expect(ids).toEqual(expect.arrayContaining(kept));
  expect(ids).not.toContain(deleted);
  expect(await list(`customer_id=${made[0]}`)).toMatchObject({ total_count: 1, has_more: false });
  for (const query of ['limit=0', 'limit=101', 'offset=-1']) {
    expectError(await target.call('GET', `/customers/list?${query}`), 400, 'IR_04');
  }
});

describe('a payment', () => {
  const pay = (fields: object) =>
    post('/payments', { amount: 6540, currency: 'USD', profile_id: target.profileId, ...fields });

  test('may name an existing customer only, also in an update', async () => {
    expectError(await pay({ customer_id: freshId('nobody') }), 400, 'IR_04');
    const { customer_id: id } = await create();
    const paid = expectResponse('createPayment', await pay({ customer_id: id }));
    expect(paid).toMatchObject({ customer_id: id });
    const path = `/payments/${paid.payment_id}`;
    expectError(await post(path, { customer_id: freshId('nobody') }), 400, 'IR_04');
    const { customer_id: other } = await create();
    const updated = expectResponse('updatePayment', await post(path, { customer_id: other }));
    expect(updated).toMatchObject({ customer_id: other });
  });

  testOfOurs('without billing has that of its customer until it gets its own', async () => {
    const { customer_id: id } = await create(WHOLE);
    const paid = expectResponse('createPayment', await pay({ customer_id: id }));
    const phone = { number: WHOLE.phone, country_code: WHOLE.phone_country_code };
    expect(paid.billing).toEqual({ address: WHOLE.address, phone });
    const path = `/payments/${paid.payment_id}`;
    const { customer_id: other } = await create({ address: { city: 'Graz' } });
    const moved = expectResponse('updatePayment', await post(path, { customer_id: other }));
    expect(moved.billing).toEqual({ address: { city: 'Graz' } });
    const { payment_method, payment_method_data } = cardPayment() as Body;
    const sent = { payment_method, payment_method_data, billing: BILLING };
    const confirmed = expectResponse('confirmPayment', await post(`${path}/confirm`, sent));
    expect(confirmed).toMatchObject({ status: 'succeeded', billing: BILLING });
  });

  test('requires billing with the details of its method, unless the customer has an address', async () => {
    const { customer_id: id } = await create(WHOLE);
    const { billing: _, ...request } = cardPayment({ profile_id: target.profileId }) as Body;
    const made = await post('/payments', { ...request, customer_id: id });
    expect(expectResponse('createPayment', made)).toMatchObject({ status: 'succeeded' });
    const { customer_id: without } = await create({ name: 'Ada' });
    expectError(await post('/payments', { ...request, customer_id: without }), 400, 'IR_01');
  });

  testOfOurs('that was declined is tried again with the address of its customer', async () => {
    const { customer_id: id } = await create(WHOLE);
    const { billing: _, ...declined } = cardPaymentOf('final', 'UE_1003', {
      profile_id: target.profileId,
    }) as Body;
    const made = await post('/payments', { ...declined, customer_id: id });
    const failed = expectResponse('createPayment', made);
    expect(failed).toMatchObject({ status: 'failed', manual_retry_allowed: true });
    const { payment_method, payment_method_data } = cardPayment() as Body;
    const path = `/payments/${failed.payment_id}/confirm`;
    const again = await post(path, { payment_method, payment_method_data });
    expect(expectResponse('confirmPayment', again)).toMatchObject({ status: 'succeeded' });
  });
});

test('a payout attaches a customer that exists and creates one that does not', async () => {
  const payOut = async (fields: object) =>
    expectResponse(
      'createPayout',
      await post('/payouts/create', { amount: 100, currency: 'EUR', ...fields }),
    );
  const { customer_id: id } = await create({ name: 'Ada' });
  expect((await payOut({ customer: { id, name: 'Eve' } })).customer_id).toBe(id);
  expect(await retrieve(id)).toMatchObject({ name: 'Ada' });
  const other = freshId('cus').slice(0, 64);
  await payOut({ customer: { id: other, name: 'Bob' } });
  expect(await retrieve(other)).toMatchObject({ name: 'Bob' });
  const { customer_id: generated } = await payOut({});
  expect(await retrieve(generated)).toMatchObject({ customer_id: generated });
});

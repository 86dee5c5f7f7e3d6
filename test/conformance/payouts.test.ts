/** service-interface.md §3.4 and §4.8. */
import { describe, expect, test } from 'vitest';
import type { Body } from '../support/serviceApi.ts';
import { expectError, expectResponse, freshId, testOfOurs, useTarget } from './target.ts';
import { checkPayout, type PayoutOperation } from './transitions/index.ts';

const target = useTarget();

const post = (path: string, body?: object) => target.call('POST', path, body);
/** PUT replaces, so it has the required fields of a create. */
const put = (path: string, body: object) =>
  target.call('PUT', path, { amount: 5000, currency: 'EUR', ...body });

async function create(fields: object = {}): Promise<Body> {
  const reply = await post('/payouts/create', { amount: 5000, currency: 'EUR', ...fields });
  return expectResponse('createPayout', reply);
}

async function retrieve(id: string): Promise<Body> {
  return expectResponse('retrievePayout', await target.call('GET', `/payouts/${id}`));
}

const SEPA = {
  payout_type: 'bank',
  payout_method_data: {
    bank_transfer: {
      payout_method_type: 'sepa',
      iban: 'DE89370400440532013000',
      bic: 'COBADEFFXXX',
    },
  },
};

const bank = (type: string, fields: object) =>
  ['bank', { bank_transfer: { payout_method_type: type, ...fields } }] as const;
const wallet = (fields: object) => ['wallet', { wallet: fields }] as const;
const expiry = { expiry_month: '12', expiry_year: '2039', card_holder_name: 'A B' };

/** Every kind of method with exactly the fields that the contract requires. */
const METHODS: Readonly<Record<string, readonly [string | undefined, object]>> = {
  card: ['card', { card: { card_number: '4242424242424242', ...expiry } }],
  ach: bank('ach', { bank_account_number: '000123456789', bank_routing_number: '110000000' }),
  bacs: bank('bacs', { bank_account_number: '12345678', bank_sort_code: '108800' }),
  sepa: bank('sepa', { iban: 'DE89370400440532013000', bic: 'COBADEFFXXX' }),
  pix: bank('pix', { bank_account_number: '000123456789' }),
  pix_key: bank('pix_key', { pix_key: 'somebody@example.com' }),
  pix_emv: bank('pix_emv', { emv: '00020126580014br.gov.bcb.pix0136' }),
  trustly: bank('trustly', {
    iban: 'DE89370400440532013000',
    bank_country_code: 'DE',
    bank_account_number: '0532013000',
    bank_number: '37040044',
  }),
  open_banking: bank('open_banking', {
    account_holder_name: 'A B',
    iban: 'DE89370400440532013000',
  }),
  apple_pay: wallet({ apple_pay_decrypt: { dpan: '4242424242424242', ...expiry } }),
  google_pay: wallet({
    google_pay_decrypt: { application_primary_account_number: '4242424242424242', ...expiry },
  }),
  paypal: wallet({
    paypal: { email: 'a@example.com', telephone_number: '5550100000', paypal_id: 'PPID123456' },
  }),
  venmo: wallet({ venmo: { telephone_number: '5550100000' } }),
  interac: ['bank_redirect', { bank_redirect: { interac: { email: 'a@example.com' } } }],
  open_banking_uk: [
    'bank_redirect',
    {
      bank_redirect: {
        open_banking_uk: { account_holder_name: 'A', iban: 'GB33BUKB20201555555555' },
      },
    },
  ],
  passthrough: [
    'card',
    { passthrough: { psp_token: 'tok_123456789', psp_customer_id: 'cus_1', token_type: 'credit' } },
  ],
};

describe('create', () => {
  test('only amount and currency are mandatory', async () => {
    const body = await create();
    expect(body).toMatchObject({
      status: 'requires_payout_method_data',
      amount: 5000,
      currency: 'EUR',
      auto_fulfill: false,
      recurring: false,
      client_secret: expect.any(String),
      customer_id: expect.any(String),
    });
    expect(await retrieve(body.payout_id)).toMatchObject({ payout_id: body.payout_id });
  });

  test.each(Object.entries(METHODS))('%s with its required fields', async (_name, method) => {
    const [payout_type, payout_method_data] = method;
    expect(await create({ payout_type, payout_method_data })).toMatchObject({
      status: 'requires_confirmation',
    });
  });

  const incomplete = Object.entries(METHODS).flatMap(([name, [type, data]]) =>
    requiredFields(data).map((path) => [name, path.join('.'), type, without(data, path)] as const),
  );

  test.each(incomplete)('%s without %s is rejected', async (_name, _field, type, data) => {
    const body = { amount: 1, currency: 'EUR', payout_type: type, payout_method_data: data };
    expectError(await post('/payouts/create', body), 400, 'IR_01');
  });

  test.each([
    ['no amount', { amount: undefined }, 'IR_01'],
    ['no currency', { currency: undefined }, 'IR_01'],
    ['two methods', { payout_method_data: { ...METHODS.card?.[1], ...METHODS.ach?.[1] } }, 'IR_04'],
    ['a method of another type', { ...SEPA, payout_type: 'card' }, 'IR_04'],
    ['a reference of 256 characters', { merchant_order_reference_id: 'x'.repeat(256) }, 'IR_04'],
    ['an unknown priority', { priority: 'soon' }, 'IR_04'],
    ['51 pairs of metadata', { metadata: pairs(51) }, 'IR_04'],
    ['a metadata key of 41 characters', { metadata: { ['k'.repeat(41)]: 'v' } }, 'IR_04'],
    ['a metadata value of 501 characters', { metadata: { k: 'v'.repeat(501) } }, 'IR_04'],
    ['confirm without a method', { confirm: true, payout_type: 'card' }, 'IR_01'],
    ['confirm without a type', { ...SEPA, confirm: true, payout_type: undefined }, 'IR_01'],
  ])('%s is refused', async (_what, fields, code) => {
    const body = { amount: 5000, currency: 'EUR', ...fields };
    expectError(await post('/payouts/create', body), 400, code);
  });

  test('values at the limits are accepted', async () => {
    const body = await create({
      metadata: { ...pairs(49), ['k'.repeat(40)]: 'v'.repeat(500) },
      merchant_order_reference_id: 'x'.repeat(255),
    });
    expect(Object.keys(body.metadata)).toHaveLength(50);
  });

  test('bank data is returned under `bank`, with masked numbers', async () => {
    const [payout_type, payout_method_data] = METHODS.ach ?? [];
    const body = await create({
      payout_type,
      payout_method_data,
      source_bank_data: SEPA.payout_method_data.bank_transfer,
    });
    expect(body.payout_method_data).toHaveProperty('bank');
    const text = JSON.stringify(await retrieve(body.payout_id));
    for (const secret of ['000123456789', '110000000', 'DE89370400440532013000']) {
      expect(text).not.toContain(secret);
    }
  });

  test('the token of a passthrough is masked, and its type is not', async () => {
    const [payout_type, payout_method_data] = METHODS.passthrough ?? [];
    const body = await create({ payout_type, payout_method_data });
    expect(body.payout_method_data.passthrough).toMatchObject({ token_type: 'credit' });
    expect(JSON.stringify(body)).not.toContain('tok_123456789');
  });

  test('the customer object and the deprecated fields are equivalent', async () => {
    const contact = { name: 'A B', email: 'a@example.com', phone: '555', phone_country_code: '+1' };
    const expected = { customer_id: 'cus_x', customer: { id: 'cus_x', ...contact } };
    expect(await create({ customer: { id: 'cus_x', ...contact } })).toMatchObject(expected);
    expect(await create({ customer_id: 'cus_x', ...contact })).toMatchObject(expected);
  });

  test('auto_fulfill shows requires_fulfillment in the response', async () => {
    expect(await create({ ...SEPA, auto_fulfill: true })).toMatchObject({
      status: 'requires_fulfillment',
      auto_fulfill: true,
    });
  });
});

test('the usual sequence: create, update, confirm, fulfill', async () => {
  const { payout_id: id } = await create();
  const updated = expectResponse('updatePayout', await put(`/payouts/${id}`, SEPA));
  expect(updated).toMatchObject({ status: 'requires_confirmation', amount: 5000 });
  const confirmed = expectResponse('confirmPayout', await post(`/payouts/${id}/confirm`, {}));
  expect(confirmed).toMatchObject({ status: 'requires_fulfillment' });
  const fulfilled = expectResponse('fulfillPayout', await post(`/payouts/${id}/fulfill`));
  expect(['success', 'initiated', 'pending']).toContain(fulfilled.status);
});

test('confirming without a method is refused, also where the money is sent without another request', async () => {
  for (const auto_fulfill of [false, true]) {
    const { payout_id: id, status } = await create({ auto_fulfill });
    expect(status).toBe('requires_payout_method_data');
    expectError(await post(`/payouts/${id}/confirm`, {}), 400, 'IR_01');
    expect(await retrieve(id)).toMatchObject({ status });
  }
});

test('a payout that was not sent can be cancelled, and then allows no other operation', async () => {
  const { payout_id: id } = await create(SEPA);
  const reply = await post(`/payouts/${id}/cancel`);
  expect(expectResponse('cancelPayout', reply)).toMatchObject({ status: 'cancelled' });
  expectError(await post(`/payouts/${id}/fulfill`), 422, 'IR_06');
});

describe('update', () => {
  const CARD = METHODS.card?.[1];

  test('type and details must match, even if they are in different requests', async () => {
    const { payout_id: id } = await create(SEPA);
    const misfit = { payout_type: 'bank', payout_method_data: CARD };
    expectError(await put(`/payouts/${id}`, misfit), 400, 'IR_04');
    const { payout_id: other } = await create({ payout_type: 'bank' });
    const details = { payout_method_data: CARD };
    expectError(await post(`/payouts/${other}/confirm`, details), 400, 'IR_04');
    const both = { payout_type: 'card', payout_method_data: CARD };
    const updated = expectResponse('updatePayout', await put(`/payouts/${id}`, both));
    expect(updated).toMatchObject({ payout_type: 'card', payout_method_data: { card: {} } });
    expect(updated.payout_method_data).not.toHaveProperty('bank');
  });

  test('a stored method replaces details, and details replace a stored method', async () => {
    const { payout_id: id } = await create(SEPA);
    const stored = { payout_type: 'card', payout_method_id: 'pm_other' };
    const byId = expectResponse('updatePayout', await put(`/payouts/${id}`, stored));
    expect(byId).toMatchObject(stored);
    expect(byId.payout_method_data ?? null).toBeNull();
    const byData = expectResponse('updatePayout', await put(`/payouts/${id}`, SEPA));
    expect(byData).toMatchObject({ payout_type: 'bank', payout_method_id: null });
  });

  test('replaces the payout: fields that are not sent are removed, and its identity stays', async () => {
    const made = await create({
      ...SEPA,
      description: 'x',
      recurring: true,
      customer: { name: 'A' },
    });
    const body = expectResponse('updatePayout', await put(`/payouts/${made.payout_id}`, {}));
    expect(body).toMatchObject({
      payout_id: made.payout_id,
      customer_id: made.customer_id,
      created: made.created,
      status: 'requires_payout_method_data',
      recurring: false,
    });
    for (const field of ['description', 'payout_type', 'payout_method_data']) {
      expect(body[field] ?? null, field).toBeNull();
    }
    expect(body.customer).toEqual({ id: made.customer_id });
  });

  test('a payout of a deleted customer can be changed like any other', async () => {
    const customer = freshId('cus').slice(0, 64);
    const { payout_id: id } = await create({ customer_id: customer });
    await target.call('DELETE', `/customers/${customer}`);
    const reply = await put(`/payouts/${id}`, { description: 'x' });
    expect(expectResponse('updatePayout', reply)).toMatchObject({ customer_id: customer });
    expectError(await put(`/payouts/${id}`, { customer_id: customer }), 400, 'IR_04');
  });
});

testOfOurs('a payout that arrived can come back: reversed', async () => {
  const { payout_id: id } = await create({ ...SEPA, confirm: true });
  await post(`/payouts/${id}/fulfill`);
  await target.control('POST', `/payouts/${id}/move`, { status: 'reversed' });
  expect(await retrieve(id)).toMatchObject({ status: 'reversed', error_code: expect.any(String) });
});

testOfOurs('a payout that arrived can fail late', async () => {
  const { payout_id: id } = await create({ ...SEPA, confirm: true });
  await post(`/payouts/${id}/fulfill`);
  await target.control('POST', `/payouts/${id}/move`, { status: 'failed' });
  expect(await retrieve(id)).toMatchObject({ status: 'failed' });
});

/** Every reachable status of a payout, with the way to it, times every operation. */
describe('transitions', () => {
  const fulfilled = async (amount: number): Promise<Body> => {
    const payout = await create({ ...SEPA, amount, confirm: true });
    await post(`/payouts/${payout.payout_id}/fulfill`);
    return payout;
  };
  const ways: Readonly<Record<string, () => Promise<Body>>> = {
    requires_payout_method_data: () => create(),
    requires_confirmation: () => create(SEPA),
    requires_fulfillment: () => create({ ...SEPA, confirm: true }),
    ineligible: () => create({ ...SEPA, amount: 7740, confirm: true }),
    success: () => fulfilled(5000),
    failed: () => fulfilled(7710),
    initiated: () => fulfilled(7720),
    pending: () => fulfilled(7730),
    reversed: async () => {
      const payout = await fulfilled(7750);
      await target.advance(25 * 60 * 60 * 1000);
      return payout;
    },
    cancelled: async () => {
      const payout = await create();
      await post(`/payouts/${payout.payout_id}/cancel`);
      return payout;
    },
  };
  const operations: Readonly<Record<string, (id: string) => ReturnType<typeof post>>> = {
    updatePayout: (id) => put(`/payouts/${id}`, { description: 'x' }),
    confirmPayout: (id) => post(`/payouts/${id}/confirm`, SEPA),
    fulfillPayout: (id) => post(`/payouts/${id}/fulfill`),
    cancelPayout: (id) => post(`/payouts/${id}/cancel`),
  };
  const pairsOf = Object.keys(ways).flatMap((status) =>
    Object.keys(operations).map((operation) => [operation, status] as const),
  );

  testOfOurs.each(pairsOf)('%s of a payout that is %s', async (operation, status) => {
    const { payout_id: id } = await (ways[status]?.() ?? Promise.reject(new Error(status)));
    const before = await retrieve(id);
    expect(before.status).toBe(status);
    const reply = await (operations[operation]?.(id) ?? Promise.reject(new Error(operation)));
    const check = checkPayout(operation as PayoutOperation, status);
    if (check.allowed) {
      expect(reply, JSON.stringify(reply.body)).toMatchObject({ status: 200 });
    } else {
      expectError(reply, check.refusal.httpStatus, check.refusal.code);
      expect(await retrieve(id)).toEqual(before);
    }
  });

  test.each([
    ['GET', '', undefined],
    ['PUT', '', { amount: 1, currency: 'EUR' }],
    ['POST', '/confirm', {}],
    ['POST', '/fulfill', undefined],
    ['POST', '/cancel', undefined],
  ])('%s /payouts/:payout_id%s of nobody is 404', async (method, path, body) => {
    const id = freshId('nobody');
    expectError(await target.call(method, `/payouts/${id}${path}`, body), 404, 'IR_05');
  });
});

function pairs(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_none, index) => [`key${index}`, 'v']));
}

/** Paths of the leaves of an object. */
function requiredFields(value: object, path: readonly string[] = []): readonly string[][] {
  return Object.entries(value).flatMap(([key, inner]: [string, unknown]) =>
    typeof inner === 'object' && inner !== null
      ? requiredFields(inner, [...path, key])
      : [[...path, key]],
  );
}

function without(value: object, [key = '', ...rest]: readonly string[]): object {
  const copy = { ...value } as Record<string, unknown>;
  if (rest.length === 0) delete copy[key];
  else copy[key] = without(copy[key] as object, rest);
  return copy;
}

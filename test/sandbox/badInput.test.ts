/**
 * Invalid input to any endpoint gives the contract's error, never a 500: valid requests are mutated at
 * random, and the response must agree with the schemas.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import {
  ENDPOINTS,
  type Endpoint,
  type EndpointName,
  ERROR_CODES,
  ERROR_TYPES,
  errorEnvelopeSchema,
  FAMILY_ERROR_CODES,
  HTTP_STATUSES,
  problemsOf,
} from '../../src/contract/index.ts';
import { isInMemory, startTestSandbox, type TestSandbox } from '../support/sandbox.ts';
import { BILLING, card, cardPayment } from '../support/sandboxRequests.ts';
import type { Reply } from '../support/serviceApi.ts';

const SEED = Number(process.env.BAD_INPUT_SEED ?? Date.now() % 1_000_000);
/** Fewer over a database, where each costs more: the same code reads a request, and every run has its own seed. */
const RUNS = Number(process.env.BAD_INPUT_RUNS ?? (isInMemory ? 40 : 15));

let sandbox: TestSandbox;
let adminKey: string;
beforeAll(async () => {
  // biome-ignore lint/suspicious/noConsole: the seed repeats a failure, also one of the whole file
  console.log(`bad input: BAD_INPUT_SEED=${SEED}`);
  sandbox = await startTestSandbox();
  adminKey = (await sandbox.control('POST', '/api_keys', { kind: 'admin' })).api_key;
  await sandbox.call('POST', '/payments', cardPayment({ payment_id: 'there' }));
  await sandbox.control('PUT', '/faults', { strict_requests: true });
});
afterAll(() => sandbox.close());

const endpoints = Object.keys(ENDPOINTS) as EndpointName[];

const QUERY = {
  timeRange: { startTime: '2026-01-01', endTime: '2027-01-01' },
  metrics: ['payment_count'],
  timeSeries: { granularity: 'G_ONEHOUR' },
  groupByNames: ['currency'],
  filters: { currency: ['USD'] },
};

/** A valid body for every endpoint that has one. */
const RIGHT: Readonly<Partial<Record<EndpointName, object>>> = {
  createPayment: cardPayment({
    order_details: [{ name: 'Book', quantity: 1, amount: 6540 }],
    browser_info: { ip_address: '127.0.0.1', time_zone: -60 },
    metadata: { order_id: 'ord_1', nested: { a: [1, 'b', null] } },
  }),
  updatePayment: { amount: 1, currency: 'EUR', metadata: {} },
  confirmPayment: { payment_method: 'card', payment_method_data: card(), billing: BILLING },
  listPayments: { limit: 3, offset: 0, status: 'succeeded', created_gte: '2026-01-01T00:00:00Z' },
  capturePayment: { amount_to_capture: 1, statement_descriptor_prefix: 'a' },
  cancelPayment: { cancellation_reason: 'because' },
  createApiKey: { name: 'shop', description: 'd', expiration: '2100-01-01' },
  updateApiKey: { name: 'till', expiration: 'never' },
  createCustomer: {
    customer_id: 'c_1',
    email: 'ada@example.com',
    phone: '5550100',
    address: { line1: '1 Main Street', country: 'US' },
    metadata: { tier: 1, vip: true },
  },
  updateCustomer: { name: 'Ada', address: { zip: '62701' }, metadata: {} },
  createRefund: { payment_id: 'there', amount: 1, refund_type: 'Instant', reason: 'r' },
  updateRefund: { reason: 'r', metadata: { a: 'b' } },
  listRefunds: { refund_status: ['success'], amount_filter: { start_amount: 1 } },
  submitEvidence: { dispute_id: 'there', customer_name: 'Ada', receipt: '', service_date: '' },
  deleteEvidence: { dispute_id: 'there', evidence_type: 'receipt' },
  retrievePaymentMetrics: [QUERY],
  retrieveRefundMetrics: [{ ...QUERY, metrics: ['refund_count'], groupByNames: ['refund_type'] }],
  retrieveDisputeMetrics: [{ ...QUERY, metrics: ['total_amount_disputed'] }],
  createPaymentLink: {
    amount: 1,
    currency: 'EUR',
    expiry: '2099-01-01',
    payment_link_config: { seller_name: 's', sdk_layout: 'tabs' },
  },
  listPaymentLinks: { limit: 1, created_gte: '2026-01-01' },
  createPayout: {
    amount: 1,
    currency: 'EUR',
    payout_type: 'bank',
    payout_method_data: { bank_transfer: { payout_method_type: 'sepa', iban: 'DE00', bic: 'B' } },
    customer: { id: 'c', email: 'a@example.com' },
    metadata: { a: 'b' },
  },
  updatePayout: { amount: 2, currency: 'EUR', entity_type: 'Company', priority: 'fast' },
  confirmPayout: { payout_type: 'card', payout_token: 'tok' },
  listPayouts: { status: ['success'], limit: 1, start_time: '2026-01-01', entity_type: 'Company' },
};

/** Values that tend to break code: limits, encodings, types, names with a meaning in JavaScript. */
const nasty = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    '',
    ' ',
    0,
    -1,
    0.5,
    2 ** 53,
    1e308,
    true,
    [],
    {},
    '\0',
    'a\0b',
    '\ud800',
    '__proto__',
    'constructor',
    '9'.repeat(400),
    '0000-01-01',
    '9999-12-31T23:59:59.999999999+23:59',
    "'; drop table sandbox.resources; --",
    { $ne: 1 },
    [[[[]]]],
  ),
  fc.string({ unit: 'binary', maxLength: 80 }),
  fc.integer(),
  fc.double(),
  fc.jsonValue({ maxDepth: 4 }),
);

const nastyKey = fc.oneof(
  fc.constantFrom('__proto__', 'items', 'constructor', 'toString', '', 'payment_id', 'limit'),
  fc.string({ unit: 'binary', maxLength: 20 }),
);

/** Mutates an object in one place: replaces, removes or adds. */
const mutate = (right: object): fc.Arbitrary<unknown> =>
  fc
    .record({
      how: fc.constantFrom('replace', 'remove', 'add'),
      where: fc.nat(),
      key: nastyKey,
      value: nasty,
    })
    .map(({ how, where, key, value }) => {
      const copy = structuredClone(right) as Record<string, unknown>;
      const places = placesOf(copy);
      const [holder, name] = places[where % Math.max(1, places.length)] ?? [copy, key];
      if (how === 'add') define(holder, key, value);
      else if (how === 'remove') delete holder[name];
      else define(holder, name, value);
      return copy;
    });

/**
 * An own property, also for the name that would otherwise set the prototype. JSON has no names in a list,
 * and the length of one cannot be defined.
 */
function define(holder: Record<string, unknown>, name: string, value: unknown): void {
  if (Array.isArray(holder) && name === 'length') return;
  Object.defineProperty(holder, name, { value, enumerable: true, configurable: true });
}

function placesOf(holder: Record<string, unknown>): [Record<string, unknown>, string][] {
  return Object.entries(holder).flatMap(([key, value]) => [
    [holder, key] as [Record<string, unknown>, string],
    ...(typeof value === 'object' && value !== null
      ? placesOf(value as Record<string, unknown>)
      : []),
  ]);
}

const inputFor = (name: EndpointName): fc.Arbitrary<unknown> => {
  const right = RIGHT[name];
  return right === undefined
    ? nasty
    : fc.oneof({ arbitrary: mutate(right), weight: 6 }, { arbitrary: nasty, weight: 1 });
};

function pathOf(name: EndpointName, id: string): string {
  return ENDPOINTS[name].path
    .replace(':merchant_id', sandbox.merchantId)
    .replaceAll(/:\w+/g, () => encodeURIComponent(id));
}

/** A request with the kind of key that the endpoint is for. */
function send(name: EndpointName, path: string, body?: string): Promise<Reply> {
  const { keys, method } = ENDPOINTS[name];
  const key = keys.includes('sandboxSecret') ? sandbox.apiKey : adminKey;
  const headers = { 'content-type': 'application/json', 'api-key': key };
  return sandbox.call(method, path, body, headers);
}

/**
 * Without `.` and `..`, which the caller's own URL parser resolves before anything is sent, and without
 * the words that lead to the route of another endpoint: `POST /payments/list` is no update of a payment.
 */
const id = fc
  .oneof(
    fc.constantFrom('there', 'nobody', '...', '%', '\0', 'ü', 'a/b', '__proto__', 'lists'),
    fc.string({ minLength: 1, maxLength: 300 }),
  )
  .filter((text) => !/^(?:\.{1,2}|list|accept|evidence|create)$/i.test(text));

/** Expects a response of the contract: a success of the endpoint, or an error in its envelope. */
function expectDocumented(name: EndpointName, reply: Reply): void {
  const shown = JSON.stringify(reply.body)?.slice(0, 500);
  expect(reply.status, shown).toBeLessThan(500);
  expect(Object.keys(HTTP_STATUSES), shown).toContain(String(reply.status));
  if (reply.status < 300) {
    expect(ENDPOINTS[name].response.safeParse(reply.body).error).toBeUndefined();
    return;
  }
  const { error } = errorEnvelopeSchema.parse(reply.body);
  expect(Object.keys({ ...ERROR_CODES, ...FAMILY_ERROR_CODES })).toContain(error.code);
  expect(ERROR_TYPES as readonly string[]).toContain(error.type);
}

test.each(endpoints.filter((name) => 'body' in ENDPOINTS[name]))(
  'a mutated body for %s is validated by the schema, never with a 500',
  async (name) => {
    await fc.assert(
      fc.asyncProperty(inputFor(name), id, async (input, resource) => {
        const text = JSON.stringify(input) ?? '';
        const reply = await send(name, pathOf(name, resource), text);
        expectDocumented(name, reply);
        const sent: unknown = text === '' ? {} : JSON.parse(text);
        const problems = problemsOf((ENDPOINTS[name] as Endpoint).body ?? z.unknown(), sent);
        // Invalid bodies are rejected with the code of the schema; 404 where the path names nothing.
        if (problems.length > 0) expect([400, 404]).toContain(reply.status);
        if (reply.status === 400 && problems[0]) {
          expect([problems[0].code, 'IR_04']).toContain(reply.body.error.code);
        }
      }),
      { seed: SEED, numRuns: RUNS },
    );
  },
);

test('a mutated body that is read leniently is validated, never with a 500', async () => {
  await sandbox.control('DELETE', '/faults');
  const bodied = endpoints.filter((name) => 'body' in ENDPOINTS[name]);
  const call = fc
    .constantFrom(...bodied)
    .chain((name) => fc.tuple(fc.constant(name), inputFor(name), id));
  await fc.assert(
    fc.asyncProperty(call, async ([name, input, text]) => {
      const body = JSON.stringify(input) ?? '';
      expectDocumented(name, await send(name, pathOf(name, text), body));
    }),
    { seed: SEED, numRuns: 5 * RUNS },
  );
});

test.each(endpoints.filter((name) => 'query' in ENDPOINTS[name]))(
  'a mutated query for %s is validated, never with a 500',
  async (name) => {
    const names = Object.keys((ENDPOINTS[name] as Endpoint).query?.shape ?? {});
    const pair = fc.tuple(
      fc.oneof(fc.constantFrom(...names), nastyKey),
      fc.oneof(
        fc.constantFrom('', '0', '101', '1,2', 'true', '%00', '2026-01-01', '0000-00-00', 'x'),
        fc.string({ maxLength: 40 }),
      ),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(pair, { maxLength: 4 }), async (pairs) => {
        const query = new URLSearchParams(pairs);
        const path = pathOf(name, 'there');
        expectDocumented(name, await send(name, `${path}?${query}`));
      }),
      { seed: SEED, numRuns: RUNS },
    );
  },
);

test('a mutated form is validated by the schema, never with a 500', async () => {
  const part = fc.record({
    name: fc.oneof(fc.constantFrom('purpose', 'dispute_id', 'file', '__proto__'), nastyKey),
    value: fc.oneof(fc.constantFrom('dispute_evidence', 'there', ''), fc.string()),
    isFile: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(part, { maxLength: 5 }), async (parts) => {
      const form = new FormData();
      for (const { name, value, isFile } of parts) {
        if (isFile) form.append(name, new Blob([value]), value);
        else form.append(name, value);
      }
      const response = await fetch(`${sandbox.baseUrl}/files`, {
        method: 'POST',
        headers: { 'api-key': sandbox.apiKey },
        body: form,
      });
      const { status, headers } = response;
      expectDocumented('uploadFile', { status, headers, body: await response.json() });
    }),
    { seed: SEED, numRuns: RUNS },
  );
});

test('a mutated form of a page is validated, never with a 500', async () => {
  const link = await sandbox.call('POST', '/payment_link', { amount: 1, currency: 'EUR' });
  const request = { amount: 1, currency: 'EUR', payout_link: true };
  const payout = await sandbox.call('POST', '/payouts/create', request);
  const pages: string[] = [link.body.link_to_pay, payout.body.payout_link.link];
  const html = await Promise.all(pages.map(async (page) => (await fetch(page)).text()));
  const names = [...html.join('').matchAll(/<input name="(\w+)"/g)].map(([, name = '']) => name);
  const field = fc.tuple(
    fc.oneof(
      { arbitrary: fc.constantFrom(...names), weight: 4 },
      { arbitrary: nastyKey, weight: 1 },
    ),
    fc.oneof(fc.constantFrom('', 'a\0b', '4242424242424242', '12', '2039', 'US'), fc.string()),
  );
  const address = fc.oneof(
    fc.constantFrom(...pages),
    id.map((text) => `${sandbox.baseUrl}/_sandbox/payment_link/${encodeURIComponent(text)}`),
  );
  const fields = fc.array(field, { maxLength: names.length });
  await fc.assert(
    fc.asyncProperty(address, fields, async (page, pairs) => {
      const body = new URLSearchParams(pairs);
      const reply = await fetch(page, { method: 'POST', body, redirect: 'manual' });
      expect([303, 400, 404], await reply.text()).toContain(reply.status);
    }),
    { seed: SEED, numRuns: RUNS },
  );
  const many = 'a=1&'.repeat(2_000);
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const reply = await fetch(pages[0] ?? '', { method: 'POST', body: many, headers });
  expect(reply.status).toBe(400);
});

test.each(endpoints.filter((name) => !('body' in ENDPOINTS[name])))(
  'any id in the path of %s is validated, never with a 500',
  async (name) => {
    // It names the route of another endpoint.
    const resource = id.filter((text) => text !== 'list');
    await fc.assert(
      fc.asyncProperty(resource, fc.boolean(), async (text, isOurs) => {
        const merchant = isOurs ? sandbox.merchantId : encodeURIComponent(text);
        const path = ENDPOINTS[name].path
          .replace(':merchant_id', merchant)
          .replaceAll(/:\w+/g, () => encodeURIComponent(text));
        expectDocumented(name, await send(name, path));
      }),
      { seed: SEED, numRuns: RUNS },
    );
  },
);

test('a path that cannot be decoded is 404', async () => {
  for (const path of ['/payments/%', '/payments/%ff', '/refunds/%c0%80', '/payouts/%00']) {
    const reply = await sandbox.call('GET', path);
    expect(reply, path).toMatchObject({ status: 404, body: { error: { code: 'IR_05' } } });
  }
});

test.each([
  ['not JSON', '{"amount"'],
  ['nested too deeply', `{"metadata":${'['.repeat(5_000)}${']'.repeat(5_000)}}`],
  ['too large', `{"description":"${'x'.repeat(1_100_000)}"}`],
])('a body that is %s is 400 with IR_04', async (_what, body) => {
  const reply = await sandbox.call('POST', '/payments', body);
  expect(reply).toMatchObject({ status: 400, body: { error: { code: 'IR_04' } } });
});

test.each([
  ['a NUL', 'a\0b'],
  ['an unpaired surrogate', 'a\ud800b'],
])('text with %s cannot be stored in any field, and is 400 with IR_04', async (_what, text) => {
  const requests: readonly (readonly [string, object])[] = [
    ['/payments', cardPayment({ description: text })],
    ['/payments', cardPayment({ metadata: { key: { deep: [text] } } })],
    ['/payments', cardPayment({ metadata: { [text]: 1 } })],
    ['/payments/there', { description: text }],
    ['/payments/list', { customer_id: text }],
    ['/refunds', { payment_id: text }],
    ['/payouts/create', { amount: 1, currency: 'EUR', description: text }],
  ];
  for (const [path, body] of requests) {
    const reply = await sandbox.call('POST', path, body);
    expect(reply, path).toMatchObject({ status: 400, body: { error: { code: 'IR_04' } } });
  }
  const query = `/payments/list?customer_id=${encodeURIComponent('a\0b')}`;
  expect((await sandbox.call('GET', query)).status).toBe(400);
});

/** `:id` may be any text. */
const CONTROL: readonly (readonly [string, string])[] = [
  ['POST', '/clock/advance'],
  ['PUT', '/faults'],
  ['PUT', '/webhook'],
  ['POST', '/disputes'],
  ['POST', '/disputes/:id/move'],
  ['POST', '/refunds/:id/move'],
  ['POST', '/payouts/:id/move'],
  ['POST', '/payments/:id/action'],
  ['POST', '/api_keys'],
  ['PUT', '/rate_limit'],
  ['GET', '/webhooks?object_id=:id'],
  ['GET', '/webhooks?event_type=:id&limit=1'],
  ['GET', '/webhooks?:id=1'],
  ['GET', '/webhooks/:id'],
  ['POST', '/webhooks/:id/send'],
  ['GET', '/resources/:id'],
  ['GET', '/resources/payment?after=:id'],
];

/** Sends a request to a control route. @param input the body, where the method allows one */
function sendControl(
  route: readonly [string, string],
  id: string,
  input?: unknown,
): Promise<Reply> {
  const [method, path] = route;
  const body = method === 'GET' ? undefined : (JSON.stringify(input) ?? '');
  return sandbox.call(method, `/_sandbox${path.replace(':id', encodeURIComponent(id))}`, body);
}

test('control routes validate their input, too', async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...CONTROL), id, nasty, async (route, text, input) => {
      const reply = await sendControl(route, text, input);
      expect(reply.status, JSON.stringify(reply.body)).toBeLessThan(500);
    }),
    { seed: SEED, numRuns: 200 },
  );
  await sandbox.control('DELETE', '/faults');
});

test.each(CONTROL.filter(([, path]) => path.includes(':id')))(
  'an id that cannot be stored is 400 at the control route %s %s',
  async (...route) => {
    const reply = await sendControl(route, 'a\0b', {});
    expect(reply).toMatchObject({ status: 400, body: { error: { code: 'IR_04' } } });
  },
);

test('the hosted page of an impossible payment id is 404', async () => {
  const url = `${sandbox.baseUrl}/_sandbox/hosted/%00`;
  const body = new URLSearchParams({ action: 'complete' });
  expect((await fetch(url)).status).toBe(404);
  expect((await fetch(url, { method: 'POST', body })).status).toBe(404);
});

test('an account number is masked by characters: half of one could not be stored', async () => {
  const iban = '\u{10000}'.repeat(9);
  const { status, body } = await sandbox.call('POST', '/payouts/create', {
    ...RIGHT.createPayout,
    // Random ids of the tests above can be short, and delete the customer of the others.
    customer: { id: 'customer_with_characters_of_two_halves', email: 'a@example.com' },
    payout_method_data: { bank_transfer: { payout_method_type: 'sepa', iban, bic: 'B' } },
  });
  expect(status, JSON.stringify(body)).toBe(200);
  expect(JSON.stringify(body)).toContain(`${'*'.repeat(5)}${'\u{10000}'.repeat(4)}"`);
});

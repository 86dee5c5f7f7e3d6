/** Any input to the admin API gets a response in the contract's envelope, and never a 500. */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ENDPOINTS } from '../../src/console/endpoints.ts';
import { type Api, createApi } from '../support/api.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { unique } from '../support/events.ts';
import { applyEach, testApplier } from '../support/ledger.ts';
import { paymentEvent } from '../support/payments.ts';
import { startTallyhook, type TestTallyhook } from '../support/tallyhook.ts';

let db: TestDatabase;
let tallyhook: TestTallyhook;
let api: Api;

beforeAll(async () => {
  db = await createTestDatabase();
  tallyhook = await startTallyhook({ db, roles: ['console'] });
  api = createApi(tallyhook);
  await applyEach(db, testApplier(db), [
    paymentEvent({ orderId: unique('ord') }),
    paymentEvent({ status: 'mystery' }),
  ]);
});
afterAll(async () => {
  await tallyhook.close();
  await db.drop();
});

const LISTS = ENDPOINTS.filter(({ query }) => 'cursor' in query.shape).map(({ path }) => path);

/** Contents of forged cursors, in JSON. */
const FORGED_CURSORS = [
  '[0]',
  '[1]',
  '[1e99]',
  '[9007199254740991]',
  '[null,null]',
  '["",""]',
  '["2026-11-01T00:00:00.000000Z","order:x"]',
  '["2026-11-01T00:00Z","order:x"]',
  '["2026-11-01T00:00:00.00000000000000000001Z","order:x"]',
  '["1970-01-01T00:00:00.000000Z","order:x"]',
  '["0000-01-01T00:00:00.000000Z","order:x"]',
  '["0001-01-01T00:00:00.000Z","pay_x"]',
  '["9999-12-31T23:59:59.999999Z","order:x"]',
  '["9999-99-99T99:99:99.000000Z","order:x"]',
  '["2026-11-01T00:00:00.000000Z","\\u0000"]',
  '["2026-11-01T00:00:00.000Z","x\\u0000y"]',
  '["2026-11-01T00:00:00.000000Z","\\ud800"]',
];
const toCursor = (content: string) => Buffer.from(content).toString('base64url');

test.each(LISTS.flatMap((path) => FORGED_CURSORS.map((content) => [path, content] as const)))(
  'a forged cursor is accepted or rejected: %s from %s',
  async (path, content) => {
    const { status } = await api.get(`${path}?cursor=${toCursor(content)}`);
    expect([200, 400]).toContain(status);
  },
);

/** Times that `z.iso.datetime` accepts, and times that only look like some. */
const EXTREME_TIMES = [
  '0000-01-01T00:00:00Z',
  '1969-12-31T23:59:59Z',
  '9999-12-31T23:59:59.999999Z',
  '2026-13-01T00:00:00Z',
  '2026-02-30T00:00:00Z',
  '2026-11-01T24:00:00Z',
];
const TIMES_OF_LISTS = ENDPOINTS.filter(
  ({ method, path }) => method === 'get' && !path.includes('{'),
)
  .flatMap(({ path, query }) => Object.keys(query.shape).map((name) => ({ path, name })))
  .filter(({ name }) => ['from', 'to', 'since', 'before', 'as_of', 'known_at'].includes(name));

test.each(TIMES_OF_LISTS)(
  'an extreme time is accepted or rejected: $name of $path',
  async ({ path, name }) => {
    for (const time of EXTREME_TIMES) {
      const { status } = await api.get(`${path}?${name}=${time}`);
      expect([200, 400], time).toContain(status);
    }
  },
);

const unusual = fc.oneof(
  fc.constantFrom(...FORGED_CURSORS.map(toCursor)),
  fc.constantFrom(
    '',
    '0',
    '1',
    '100',
    '101',
    '-1',
    '1.5',
    '1e2',
    '0x10',
    ' 5',
    '５',
    '9007199254740991',
    '9007199254740992',
    '99999999999999999999',
    'NaN',
    'null',
    'true',
    '[]',
    '{}',
    '%',
    '\u0000',
    '\u202e',
    '\ud800',
    'a'.repeat(255),
    'a'.repeat(256),
    "' or 1=1 --",
    '../../etc/passwd',
    'order:x',
    'paid',
    'open',
    'dead',
    'order',
    'payment',
    'WzFd',
    'W10',
    'bnVsbA',
    ...EXTREME_TIMES,
  ),
  fc.string({ unit: 'binary', maxLength: 40 }),
);

const names = [
  ...new Set([
    ...ENDPOINTS.flatMap(({ query }) => Object.keys(query.shape)),
    'offset',
    '__proto__',
    'constructor',
    'toString',
    'limit[]',
    'Limit',
  ]),
];

test('unusual queries and ids get no 500', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...ENDPOINTS.filter(({ method }) => method === 'get').map(({ id }) => id)),
      unusual.filter((id) => id !== '.' && id !== '..'),
      fc.array(fc.tuple(fc.constantFrom(...names), unusual), { maxLength: 3 }),
      async (name, id, pairs) => {
        const endpoint = ENDPOINTS.find((one) => one.id === name);
        if (!endpoint) throw new Error(`there is no endpoint ${name}`);
        const { path, permission, query } = endpoint;
        const encode = (text: string) => encodeURIComponent(text.toWellFormed());
        const search = pairs.map(([key, value]) => `${encode(key)}=${encode(value)}`).join('&');
        const url = `${path.replace(/\{\w+\}/, encode(id))}?${search}`;
        const { status } = await api.get(url);
        // Nothing here has a key of the payment service.
        const withoutKey = permission === 'move_money' ? [503] : [];
        expect([200, 400, 404, 409, ...withoutKey], url).toContain(status);
        const unknown = pairs.some(([key]) => !Object.hasOwn(query.shape, key));
        const isList = !path.includes('{');
        if (isList && unknown) expect(status, url).toBe(400);
      },
    ),
    { numRuns: 500 },
  );
});

test('unusual bodies get no 500', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        fc.record({ amount: fc.anything(), currency: fc.anything() }, { requiredKeys: [] }),
        fc.record({ amount: fc.double(), currency: unusual }),
        fc.anything(),
      ),
      async (body) => {
        const text = JSON.stringify(body, (_key, value: unknown) =>
          typeof value === 'bigint' ? String(value) : value,
        );
        const { status } = await api.send('/api/v1/orders/unusual', {
          method: 'PUT',
          headers: { 'content-type': 'application/json' },
          body: text ?? '',
        });
        expect([200, 201, 400, 413], text).toContain(status);
      },
    ),
    { numRuns: 200 },
  );
});

test('unusual bodies about alerts get no 500', async () => {
  const [{ number }] = (await api.get('/api/v1/alerts')).body.alerts;
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('acknowledge', 'snooze', 'assign'),
      fc.oneof(fc.constant(String(number)), unusual).filter((id) => id !== '.' && id !== '..'),
      fc.oneof(
        fc.record({ reason: unusual, until: unusual, to: unusual }, { requiredKeys: [] }),
        fc.anything(),
      ),
      async (action, id, body) => {
        const text = JSON.stringify(body, (_key, value: unknown) =>
          typeof value === 'bigint' ? String(value) : value,
        );
        const path = `/api/v1/alerts/${encodeURIComponent(id.toWellFormed())}/${action}`;
        const { status } = await api.send(path, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: text ?? '',
        });
        expect([200, 400, 404, 409, 413], `${path} ${text}`).toContain(status);
      },
    ),
    { numRuns: 100 },
  );
});

test.each([
  ['to', 'assign'],
  ['reason', 'assign'],
])('text that cannot be stored is refused with its name: %s of %s', async (name, action) => {
  const [{ number }] = (await api.get('/api/v1/alerts')).body.alerts;
  const sent = { reason: 'test', ...(action === 'assign' && { to: 'ann' }) };
  for (const text of ['a\u0000b', '\ud800']) {
    const { status, body } = await api.send(`/api/v1/alerts/${number}/${action}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...sent, [name]: text }),
    });
    expect(status).toBe(400);
    expect(body.error.message).toContain(name);
  }
});

test('an unknown parameter is named, with the parameters that exist', async () => {
  const { status, body } = await api.get('/api/v1/orders?staus=paid');
  expect(status).toBe(400);
  expect(body.error.message).toBe(
    'The query is invalid: "staus" is unknown; the query accepts status, currency, min_amount, ' +
      'max_amount, from, to, open_finding, uncertain, totals, limit, cursor.',
  );
});

test.each([
  ['limit=0', 'limit'],
  ['limit=101', 'limit'],
  ['limit=', 'limit'],
  ['limit=ten', 'limit: must be a whole number from 1 to 100'],
  ['status=payed', 'status'],
  ['cursor=nonsense', 'cursor: must be the next_cursor of an earlier response'],
  ['limit=1&limit=2', '"limit" more than once'],
])('%s is rejected with a reason', async (query, reason) => {
  const { status, body } = await api.get(`/api/v1/orders?${query}`);
  expect(status).toBe(400);
  expect(body.error).toMatchObject({ type: 'invalid_request', code: 'IR_04' });
  expect(body.error.message).toContain(reason);
});

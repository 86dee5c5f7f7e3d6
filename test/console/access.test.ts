/** Access to the admin port, and the headers of every response. */
import { connect } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createToken } from '../../src/access/createToken.ts';
import { MAX_TOKENS, readTokenRows } from '../../src/access/store/tokens.ts';
import { revokeTokenAs } from '../../src/actions/manageTokens.ts';
import { MAX_FAILURES } from '../../src/console/failures.ts';
import { createApi } from '../support/api.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { unique } from '../support/events.ts';
import { ADMIN_TOKEN, startTallyhook, type TestTallyhook } from '../support/tallyhook.ts';
import { createTestToken, revokeTestToken } from '../support/tokens.ts';
import { beginTransaction, runUntilBlocked } from '../support/transactions.ts';
import { waitFor } from '../support/waitFor.ts';

const WRONG_TOKEN = 'wrong-token-0123456789abcdefghijkl';

let db: TestDatabase;
const running: TestTallyhook[] = [];

/** Starts a separate console, because failures are counted by address and all tests share one. */
async function console_(env: Readonly<Record<string, string>> = {}): Promise<TestTallyhook> {
  const tallyhook = await startTallyhook({ db, roles: ['console'], env });
  running.push(tallyhook);
  return tallyhook;
}

beforeAll(async () => {
  db = await createTestDatabase();
});
afterEach(async () => {
  for (const tallyhook of running.splice(0)) await tallyhook.close();
});
afterAll(() => db.drop());

test('a token that was shown and is revoked already is not confused with a later one of its name', async () => {
  const name = unique('reused');
  const shown = await db.transaction((tx) =>
    createToken(tx, { name, role: 'viewer', expiresInMs: undefined }, 'ada'),
  );
  if (shown.outcome !== 'created') throw new Error(shown.outcome);
  await revokeTestToken(db, name);
  await createTestToken(db, { name, role: 'operator' });
  const actor = { kind: 'cli', name: 'ada', role: 'admin', origin: 'ada@till' } as const;
  const revoke = (id?: number) => revokeTokenAs({ db }, actor, { name, id });
  expect(await revoke(shown.token.id)).toEqual({ outcome: 'unknown' });
  expect(await revoke()).toMatchObject({ outcome: 'revoked', token: { role: 'operator' } });
});

/** Pages have their own sign-in, test/pages/session.test.ts. */
const PATHS = ['/api/v1/orders', '/api/v1/orders/x', '/api/v1/nothing', '/metrics'];

describe('without a valid token', () => {
  test.each([
    ['none', undefined],
    ['an empty one', ''],
    ['no scheme', ADMIN_TOKEN],
    ['another scheme', `Basic ${Buffer.from(`admin:${ADMIN_TOKEN}`).toString('base64')}`],
    ['a wrong one', 'Bearer wrong-token-0123456789abcdef'],
    ['the start of one', `Bearer ${ADMIN_TOKEN.slice(0, -1)}`],
    ['more than one', `Bearer ${ADMIN_TOKEN}x`],
    ['its name', 'Bearer admin'],
    ['name and token', `Bearer admin:${ADMIN_TOKEN}`],
  ])('every request is rejected with 401: %s', async (_what, authorization) => {
    const { consolePort } = await console_();
    for (const path of PATHS) {
      const response = await fetch(`http://127.0.0.1:${consolePort}${path}`, {
        headers: authorization === undefined ? {} : { authorization },
      });
      expect(response.status).toBe(401);
      expect(response.headers.get('www-authenticate')).toBe('Bearer');
      expect(await response.json()).toMatchObject({
        error: { type: 'authentication_error', code: 'AU_01' },
      });
    }
  });

  test('failures of an address are limited, and valid tokens still work from it', async () => {
    const tallyhook = await console_();
    const shop = await createTestToken(db, { name: unique('shop').toLowerCase(), role: 'shop' });
    const stranger = createApi(tallyhook, WRONG_TOKEN);
    for (let failure = 0; failure < MAX_FAILURES; failure += 1) {
      expect((await stranger.get('/api/v1/orders')).status).toBe(401);
    }
    const { status, headers, body } = await stranger.get('/api/v1/orders');
    expect(status).toBe(429);
    expect(body.error).toMatchObject({ type: 'rate_limit_error', code: 'RL_01' });
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(50);
    expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(60);
    for (const token of [ADMIN_TOKEN, shop]) {
      expect((await createApi(tallyhook, token).get('/api/v1/orders')).status).toBe(200);
    }
  });

  test('behind a trusted proxy, failures are counted for the client that it names', async () => {
    const tallyhook = await console_({ TRUSTED_PROXIES: '127.0.0.0/8' });
    const from = (address: string) =>
      createApi(tallyhook, WRONG_TOKEN).send('/api/v1/orders', {
        headers: { 'x-forwarded-for': address },
      });
    for (let failure = 0; failure < MAX_FAILURES; failure += 1) await from('192.0.2.1');
    expect((await from('192.0.2.1')).status).toBe(429);
    expect((await from('192.0.2.2')).status).toBe(401);
  });

  test('failures are counted in the metrics', async () => {
    const tallyhook = await console_();
    await createApi(tallyhook, WRONG_TOKEN).get('/api/v1/orders');
    const response = await fetch(`http://127.0.0.1:${tallyhook.consolePort}/metrics`, {
      headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
    });
    expect(response.headers.get('content-type')).toContain('text/plain');
    expect(await response.text()).toContain(
      'tallyhook_admin_refused_total{reason="unauthorized"} 1',
    );
  });
});

describe('with a valid token', () => {
  test('the name of the token is recorded', async () => {
    const tallyhook = await console_();
    const name = unique('shop').toLowerCase();
    for (const [holder, token] of [
      ['admin', ADMIN_TOKEN],
      [name, await createTestToken(db, { name, role: 'shop' })],
    ] as const) {
      const { body } = await createApi(tallyhook, token).put(`/api/v1/orders/by-${holder}`, {
        amount: 1,
        currency: 'USD',
      });
      expect(body.order.expected.registered_by).toBe(holder);
    }
  });

  test('a new token works and a revoked one is rejected without a restart', async () => {
    const tallyhook = await console_();
    const statusWith = async (token: string) =>
      (await createApi(tallyhook, token).get('/api/v1/orders')).status;
    expect(await statusWith(ADMIN_TOKEN)).toBe(200);
    const name = unique('viewer').toLowerCase();
    const token = await createTestToken(db, { name, role: 'viewer' });
    await waitFor('the new token to work', async () => (await statusWith(token)) === 200);
    await waitFor('its use to be recorded', async () => {
      const rows = await readTokenRows(db, { all: false, limit: 10 });
      return rows.some((row) => row.name === name && row.lastUsedAt !== null);
    });
    await revokeTestToken(db, name);
    await waitFor('the revoked token to be refused', async () => (await statusWith(token)) === 401);
  });

  test('the scheme is case-insensitive', async () => {
    const { consolePort } = await console_();
    const response = await fetch(`http://127.0.0.1:${consolePort}/api/v1/orders`, {
      headers: { authorization: `bearer  ${ADMIN_TOKEN}` },
    });
    expect(response.status).toBe(200);
  });

  test('every response, including errors, has strict headers', async () => {
    const tallyhook = await console_();
    const api = createApi(tallyhook);
    for (const path of [
      '/api/v1/orders',
      '/api/v1/orders?limit=0',
      '/api/v1/orders/x',
      '/api/v1/nothing',
    ]) {
      const { headers } = await api.get(path);
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'/);
      expect(headers.get('content-type')).toMatch(/^application\/json/);
      expect(headers.get('access-control-allow-origin')).toBeNull();
      expect(headers.get('x-powered-by')).toBeNull();
    }
  });

  test('a method that is not allowed is rejected with the allowed ones', async () => {
    const api = createApi(await console_());
    for (const [method, path, allow] of [
      ['POST', '/api/v1/orders', 'GET, HEAD'],
      ['DELETE', '/api/v1/orders/x', 'GET, HEAD, PUT'],
      ['PUT', '/metrics', 'GET, HEAD'],
    ] as const) {
      const { status, headers } = await api.send(path, { method });
      expect([status, headers.get('allow')]).toEqual([405, allow]);
    }
  });

  test.each([
    ['not JSON', '{"amount": 1,', {}, 400],
    ['too large', JSON.stringify({ amount: 1, currency: 'USD', pad: 'x'.repeat(5_000) }), {}, 413],
    ['encoded', 'x', { 'content-encoding': 'gzip' }, 415],
    ['in another character set', '{}', { 'content-type': 'application/json; charset=ebcdic' }, 415],
  ])('a body that is %s is rejected', async (...[, body, headers, expected]) => {
    const api = createApi(await console_());
    const { status } = await api.send('/api/v1/orders/x', {
      method: 'PUT',
      headers: { 'content-type': 'application/json', ...headers },
      body,
    });
    expect(status).toBe(expected);
  });

  test.each([
    ['application/x-www-form-urlencoded', 'the default of curl -d'],
    ['text/plain', 'the default of fetch'],
    ['application/json; charset=utf-8', 'the correct type'],
    ['nonsense', 'an invalid type'],
  ])('JSON is read with any content type: %s, %s', async (type) => {
    const { status, body } = await createApi(await console_()).send('/api/v1/orders/x', {
      method: 'PUT',
      headers: { 'content-type': type },
      body: '{"amount": 1, "currency": "USD"}',
    });
    expect([200, 201], JSON.stringify(body)).toContain(status);
  });

  test('without a body, the missing fields are named', async () => {
    const { status, body } = await createApi(await console_()).send('/api/v1/orders/x', {
      method: 'PUT',
    });
    expect(status).toBe(400);
    expect(body.error.message).toMatch(/^The body is invalid: amount: .*currency: /);
  });

  test('a path that cannot be decoded is rejected with 400', async () => {
    const { consolePort } = await console_();
    for (const path of ['/api/v1/orders/%', '/api/v1/orders/%ff%fe', '/api/v1/payments/%c0%ae']) {
      const response = await raw(consolePort, `GET ${path} HTTP/1.1`);
      expect(response).toMatch(/^HTTP\/1\.1 400 /);
      expect(response).toContain('"invalid_request"');
    }
  });
});

test('while the database is unavailable, the admin port responds 503 with Retry-After', async () => {
  const url = new URL(db.url);
  url.port = '1';
  const tallyhook = await startTallyhook({ db: { url: url.href }, roles: ['console'] });
  running.push(tallyhook);
  const api = createApi(tallyhook);
  for (const path of ['/api/v1/orders', '/api/v1/changes', '/api/v1/orders/x']) {
    const { status, headers, body } = await api.get(path);
    expect([status, headers.get('retry-after'), body.error.type]).toEqual([503, '5', 'api_error']);
  }
});

/** Sends a request line unchanged; fetch would normalize it. */
function raw(port: number | undefined, line: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port ?? 0, '127.0.0.1');
    let response = '';
    socket.on('data', (chunk) => {
      response += String(chunk);
    });
    socket.on('end', () => resolve(response));
    socket.on('error', reject);
    socket.end(
      `${line}\r\nHost: x\r\nAuthorization: Bearer ${ADMIN_TOKEN}\r\nConnection: close\r\n\r\n`,
    );
  });
}

test('of two people who create the last token that there may be at the same time, one gets it', async () => {
  const full = await createTestDatabase();
  await full.query(
    `insert into tokens (name, role, digest, created_by)
     select 'token-' || number, 'viewer', sha256(number::text::bytea), 'ada'
       from generate_series(2, $1::integer) number`,
    [MAX_TOKENS],
  );
  const tallyhook = await startTallyhook({ db: full, roles: ['console'] });
  try {
    const [first, second] = [await beginTransaction(full), await beginTransaction(full)];
    const request = (name: string) => ({ name, role: 'viewer', expiresInMs: undefined }) as const;
    const created = await createToken(first.tx, request('first'), 'ada');
    const waiting = await runUntilBlocked(full, second, (tx) =>
      createToken(tx, request('second'), 'grace'),
    );
    expect(waiting.outcome).toBe('blocked');
    await first.commit();
    expect(await waiting.result).toEqual({ outcome: 'too_many' });
    await second.rollBack();
    expect(created.outcome).toBe('created');

    const api = createApi(tallyhook, ADMIN_TOKEN);
    const create = () => api.post('/api/v1/tokens', { name: 'third', role: 'viewer' });
    const refused = await create();
    expect(refused.status).toBe(409);
    expect(refused.body.error.message).toContain('There are 1000 valid tokens already.');
    await revokeTestToken(full, 'first');
    expect((await create()).status).toBe(201);
  } finally {
    await tallyhook.close();
    await full.drop();
  }
});

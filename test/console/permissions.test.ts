/**
 * Every endpoint of the admin API with a token of every role, over HTTP: requests that the role permits
 * are served, and all others are rejected and change nothing.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Permission, permits, ROLES, rolesWith } from '../../src/access/domain/roles.ts';
import { ENDPOINTS } from '../../src/console/endpoints.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startTallyhook, type TestTallyhook } from '../support/tallyhook.ts';
import { createTokensOfEveryKind } from '../support/tokens.ts';
import { waitFor } from '../support/waitFor.ts';

interface Attempt {
  readonly method: string;
  readonly path: string;
  readonly needs: readonly Permission[];
}

/** Each endpoint, also with each parameter that needs a further permission, and the metrics. */
const ATTEMPTS: readonly Attempt[] = [
  { method: 'GET', path: '/metrics', needs: ['read_metrics'] },
  ...ENDPOINTS.flatMap(({ method, path, permission, queryPermissions = {} }) => {
    const one = { method: method.toUpperCase(), path: path.replaceAll(/\{\w+\}/g, '4711') };
    const further = Object.entries(queryPermissions).map(([name, needed]) => ({
      ...one,
      path: `${one.path}?${name}=1`,
      needs: [permission, needed],
    }));
    return [{ ...one, needs: [permission] }, ...further];
  }),
];

let db: TestDatabase;
let tallyhook: TestTallyhook;
let tokens: Map<string, string>;

beforeAll(async () => {
  db = await createTestDatabase();
  tokens = await createTokensOfEveryKind(db);
  tallyhook = await startTallyhook({
    db,
    roles: ['console'],
    env: { TRUSTED_PROXIES: '127.0.0.1' },
  });
});
afterAll(async () => {
  await tallyhook.close();
  await db.drop();
});

let clients = 0;

/** Sends from a separate address, so that failures are not limited. */
async function send({ method, path }: Attempt, holder: string | undefined) {
  clients += 1;
  const token = holder === undefined ? undefined : tokens.get(holder);
  const response = await fetch(`http://127.0.0.1:${tallyhook.consolePort}${path}`, {
    method,
    headers: {
      'x-forwarded-for': `198.51.100.${clients % 250}`,
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
  });
  return { status: response.status, text: await response.text() };
}

describe.each(ATTEMPTS)('$method $path', (attempt) => {
  test.each(ROLES)('is served or rejected as the role permits: %s', async (role) => {
    const { status, text } = await send(attempt, role);
    const missing = attempt.needs.find((permission) => !permits(role, permission));
    if (missing === undefined) {
      expect([401, 403, 500], text).not.toContain(status);
      return;
    }
    expect(status).toBe(403);
    const { error } = JSON.parse(text);
    expect(error).toMatchObject({ type: 'authentication_error', code: 'IR_22' });
    expect(error.message).toContain(`does not permit ${missing}`);
    expect(error.message).toContain(rolesWith(missing).join(', '));
  });

  test.each([undefined, 'expired', 'revoked'])('is rejected with the token: %s', async (holder) => {
    expect((await send(attempt, holder)).status).toBe(401);
  });
});

test('a rejected registration registers nothing, is counted, and is in the audit log', async () => {
  const path = '/api/v1/orders/refused';
  const response = await fetch(`http://127.0.0.1:${tallyhook.consolePort}${path}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${tokens.get('viewer')}` },
    body: '{"amount": 1, "currency": "USD"}',
  });
  expect(response.status).toBe(403);
  // What was refused before within the minute does not hide it.
  await waitFor('the refused registration', async () => {
    const rows = await readDenials();
    return rows.some(({ name, subject }) => name === 'a-viewer' && subject === `PUT ${ENDPOINT}`);
  });
  const read = await send({ method: 'GET', path, needs: [] }, 'viewer');
  expect(read.status).toBe(404);
  const page = await send({ method: 'GET', path: '/metrics', needs: [] }, 'metrics');
  // Each token was refused many times a minute at each endpoint.
  expect((await readDenials()).filter(({ isWithinMinute }) => isWithinMinute)).toEqual([]);
  expect(page.text).toMatch(/tallyhook_admin_refused_total\{reason="forbidden"\} [1-9]/);
});

const ENDPOINT = '/api/v1/orders/{order_id}';

const readDenials = () =>
  db.query<{ name: string; subject: string; isWithinMinute: boolean }>(
    `select actor_name as name, subject_id as subject,
            coalesce(recorded_at - lag(recorded_at) over (partition by actor_name, subject_id
                                                       order by recorded_at)
                       < interval '1 minute', false) as "isWithinMinute"
       from audit where action = 'access.denied' and result = 'refused'`,
  );

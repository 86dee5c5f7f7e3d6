/** Sign-in, sessions and what guards every request for a page. */
import { randomBytes } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createSignInPath } from '../../src/access/signInLink.ts';
import { endSessionsOfSamePerson, insertSession } from '../../src/access/store/sessions.ts';
import { MAX_FAILURES } from '../../src/console/failures.ts';
import { LIVE_HEADER } from '../../src/pages/live/liveRoute.ts';
import { createApi } from '../support/api.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { formTokenIn, openPages, type PageViewer, type ShownPage } from '../support/pages.ts';
import { ADMIN_TOKEN, startTallyhook, type TestTallyhook } from '../support/tallyhook.ts';
import { createTokensOfEveryKind, revokeTestToken } from '../support/tokens.ts';
import { waitFor } from '../support/waitFor.ts';

let db: TestDatabase;
let tallyhook: TestTallyhook;
let tokens: Map<string, string>;

beforeAll(async () => {
  db = await createTestDatabase();
  tokens = await createTokensOfEveryKind(db);
  tallyhook = await startTallyhook({ db, roles: ['console'] });
});
afterAll(async () => {
  await tallyhook.close();
  await db.drop();
});

describe('without a session', () => {
  test('a page leads to the sign-in, which leads back', async () => {
    const viewer = await openPages(tallyhook, null);
    const { status, location } = await viewer.get('/orders?status=paid');
    expect([status, location]).toEqual([303, '/sign-in?next=%2Forders%3Fstatus%3Dpaid']);
    const shown = await viewer.get(location ?? '');
    expect(shown.html).toContain('value="/orders?status=paid"');
  });

  test('a file is led to by a page, so that the browser does not go on showing the sign-in', async () => {
    const viewer = await openPages(tallyhook, null);
    const next = '/orders.csv?status=paid';
    const { status, html, headers } = await viewer.postRaw('/sign-in', {
      token: ADMIN_TOKEN,
      next,
    });
    expect([status, headers.get('refresh')]).toEqual([200, `0; url=${next}`]);
    expect(html).toContain(`href="${next}"`);
  });

  test('a wrong token is refused, and not shown again', async () => {
    const viewer = await openPages(tallyhook, null);
    const { status, html } = await viewer.postRaw('/sign-in', { token: 'wrong-0123456789' });
    expect(status).toBe(401);
    expect(html).toContain('This token is not valid');
    expect(html).not.toContain('wrong-0123456789');
  });

  test.each([
    'https://evil.example/',
    '//evil.example/',
    '/\\evil.example/',
    '/.//evil.example/',
    '/a/..//evil.example/',
    '/%2e//evil.example/',
    'javascript:alert(1)',
  ])('the sign-in does not lead to another site: %s', async (next) => {
    const viewer = await openPages(tallyhook, null);
    const { location } = await viewer.postRaw('/sign-in', { token: ADMIN_TOKEN, next });
    expect(location).toBe('/');
  });
});

test('wrong tokens of an address are limited at the sign-in, and a valid one still signs in', async () => {
  // Refusals are in the audit log of its database.
  const ownDb = await createTestDatabase();
  const own = await startTallyhook({ db: ownDb, roles: ['console'] });
  try {
    const viewer = await openPages(own, null);
    const guess = async (n: number) =>
      (await viewer.postRaw('/sign-in', { token: `guess-${n}` })).status;
    const statuses: number[] = [];
    for (let n = 0; n <= MAX_FAILURES; n += 1) statuses.push(await guess(n));
    expect(statuses.slice(0, -1)).toEqual(Array.from({ length: MAX_FAILURES }, () => 401));
    expect(statuses.at(-1)).toBe(429);
    expect((await viewer.postRaw('/sign-in', { token: ADMIN_TOKEN })).status).toBe(303);
  } finally {
    await own.close();
    await ownDb.drop();
  }
});

describe('a session', () => {
  test('has a cookie that scripts and other sites do not get', async () => {
    const viewer = await openPages(tallyhook, null);
    const { headers } = await viewer.postRaw('/sign-in', { token: ADMIN_TOKEN });
    const [cookie] = headers.getSetCookie();
    expect(cookie).toMatch(/^tallyhook_session=[\w-]{43}; Max-Age=86400; Path=\/; /);
    expect(cookie).toMatch(/HttpOnly; SameSite=Strict/);
  });

  test('behind TLS is that of the cookie which only this host can set', async () => {
    const env = { TRUSTED_PROXIES: '127.0.0.1' };
    const proxied = await startTallyhook({ db, roles: ['console'], env });
    try {
      const viewer = await openPages(proxied, null);
      const tls = { 'x-forwarded-proto': 'https' };
      await viewer.postRaw('/sign-in', { token: ADMIN_TOKEN }, tls);
      expect(viewer.cookie()).toMatch(/^__Host-tallyhook_session=/);
      expect((await viewer.get('/', tls)).status).toBe(200);
      // What a page on a neighboring host could set. Browsers take the bytes before `__Host-` for letters.
      const planted = ['', '\u00a0__Host-', '\u0085__Host-', 'x__Host-'].map((start) =>
        viewer.cookie().replace('__Host-', start),
      );
      for (const cookie of planted) {
        const { status } = await fetch(`http://127.0.0.1:${proxied.consolePort}/`, {
          headers: { ...tls, cookie: `a=b; ${cookie}` },
          redirect: 'manual',
        });
        expect([cookie, status]).toEqual([cookie, 303]);
      }
    } finally {
      await proxied.close();
    }
  });

  test('ends with the sign-out', async () => {
    const viewer = await openPages(tallyhook);
    expect((await viewer.get('/')).status).toBe(200);
    expect((await viewer.post('/sign-out', {})).location).toBe('/sign-in');
    expect((await viewer.get('/')).status).toBe(303);
  });

  test('ends when its token is revoked', async () => {
    const viewer = await openPages(tallyhook, tokens.get('viewer'));
    expect((await viewer.get('/orders')).status).toBe(200);
    await revokeTestToken(db, 'a-viewer');
    await waitFor('the session to end', async () => (await viewer.get('/orders')).status === 303);
  });

  test('does not authenticate requests to the API', async () => {
    const viewer = await openPages(tallyhook);
    expect((await viewer.get('/api/v1/orders')).status).toBe(401);
    expect((await viewer.get('/metrics')).status).toBe(401);
  });

  test('opens no page that its role does not permit', async () => {
    const viewer = await openPages(tallyhook, tokens.get('metrics'));
    const { status, html } = await viewer.get('/orders');
    expect(status).toBe(403);
    expect(html).toContain('Your role is metrics');
  });
});

describe('a sign-in link', () => {
  test('signs in once', async () => {
    const path = (await tallyhook.createSignInPath()) ?? '';
    const viewer = await openPages(tallyhook, null);
    const signedIn = await viewer.get(path);
    // Not a redirect, after which a browser that comes from another site does not send the cookie.
    expect([signedIn.status, signedIn.headers.get('refresh')]).toEqual([200, '0; url=/']);
    expect((await viewer.get('/')).status).toBe(200);
    const second = await openPages(tallyhook, null);
    const { status, html } = await second.get(path);
    expect(status).toBe(401);
    expect(html).toContain('This link has been used');
    expect((await second.get('/')).status).toBe(303);
  });

  test('is refused after five minutes', async () => {
    const path = (await tallyhook.createSignInPath()) ?? '';
    await db.query(
      `update console_sessions set expires_at = expires_at - interval '5 minutes'
        where started_at is null`,
    );
    const viewer = await openPages(tallyhook, null);
    expect((await viewer.get(path)).status).toBe(401);
  });

  test('has a code that is no cookie', async () => {
    const path = (await tallyhook.createSignInPath()) ?? '';
    const code = new URLSearchParams(path.slice(path.indexOf('?'))).get('code');
    const response = await fetch(`http://127.0.0.1:${tallyhook.consolePort}/`, {
      headers: { cookie: `tallyhook_session=${code}` },
      redirect: 'manual',
    });
    expect(response.status).toBe(303);
  });

  test('has a code, which the cookie of a session is not', async () => {
    const viewer = await openPages(tallyhook);
    const [, code = ''] = viewer.cookie().split('=');
    const stranger = await openPages(tallyhook, null);
    expect((await stranger.get(`/sign-in?${new URLSearchParams({ code })}`)).status).toBe(401);
    expect((await viewer.get('/')).status).toBe(200);
  });
});

describe('an idle session', () => {
  test.each(['last_seen_at', 'expires_at'])('ends by %s', async (column) => {
    const viewer = await openPages(tallyhook);
    expect((await viewer.get('/')).status).toBe(200);
    await db.query(
      `update console_sessions set ${column} = statement_timestamp() - interval '8 hours'
        where ended_at is null and started_at is not null`,
    );
    await waitFor('the session to end', async () => (await viewer.get('/')).status === 303);
  });
});

test('a request for a page is a use of its session, and what an open page fetches by itself is none', async () => {
  const [used, unattended] = [await openPages(tallyhook), await openPages(tallyhook)];
  const newest = await db.query<{ id: number }>(
    `update console_sessions set last_seen_at = statement_timestamp() - interval '7 hours'
      where id = any (array(select id from console_sessions order by id desc limit 2)) returning id`,
  );
  const ids = newest.map(({ id }) => id).toSorted((a, b) => a - b);
  const hoursIdle = () =>
    db.query<{ hours: number }>(
      `select round(extract(epoch from statement_timestamp() - last_seen_at) / 3600)::integer as hours
         from console_sessions where id = any ($1::bigint[]) order by id`,
      [ids],
    );
  expect((await unattended.get('/', { [LIVE_HEADER]: '1' })).status).toBe(200);
  expect((await used.get('/')).status).toBe(200);
  await waitFor('the use to be recorded', async () => {
    const [first] = await hoursIdle();
    return first?.hours === 0;
  });
  expect(await hoursIdle()).toEqual([{ hours: 0 }, { hours: 7 }]);
});

test('a session that was idle for too long is not listed, in the console and by the API', async () => {
  const viewer = await openPages(tallyhook);
  const idle = await openPages(tallyhook, tokens.get('operator'));
  expect((await idle.get('/')).status).toBe(200);
  const [row] = await db.query<{ id: number }>(
    `update console_sessions set last_seen_at = statement_timestamp() - interval '8 hours'
      where id = (select max(id) from console_sessions where holder = 'a-operator')
      returning id`,
  );
  const href = `/sessions/${row?.id}`;
  expect((await viewer.get('/sessions')).html).not.toContain(`href="${href}"`);
  expect((await viewer.get(href)).status).toBe(404);
  const { body } = await createApi(tallyhook).get('/api/v1/sessions?limit=100');
  const { sessions } = body as { readonly sessions: readonly { readonly number: number }[] };
  expect(sessions).not.toEqual([]);
  expect(sessions.map((one) => one.number)).not.toContain(row?.id);
});

test('a session is listed, and another person ends it, with a reason in the audit log', async () => {
  const viewer = await openPages(tallyhook);
  const other = await openPages(tallyhook, tokens.get('operator'));
  expect((await other.get('/')).status).toBe(200);
  const { html } = await viewer.get('/sessions');
  expect(html).toContain('a-operator');
  const [row] = await db.query<{ id: number }>(
    `select id from console_sessions where holder = 'a-operator' order by id desc limit 1`,
  );
  const ended = await viewer.post(`/sessions/${row?.id}/end`, { reason: 'left the company' });
  expect(ended.location).toMatch(/^\/sessions\?notice=/);
  expect((await viewer.get(ended.location ?? '')).html).toContain(
    'A session of a-operator has ended',
  );
  await waitFor('the session to end', async () => (await other.get('/')).status === 303);
  const audit = await db.query(
    `select reason, actor_name as name from audit
      where action = 'session.end' and subject_id = $1::text`,
    [row?.id],
  );
  expect(audit).toEqual([{ reason: 'left the company', name: 'admin' }]);
});

describe('sign out everywhere', () => {
  const open = async (count: number): Promise<readonly PageViewer[]> =>
    await Promise.all(
      Array.from({ length: count }, () => openPages(tallyhook, tokens.get('treasurer'))),
    );

  test('ends every session of the viewer, and nobody else’s', async () => {
    const other = await openPages(tallyhook);
    const [first, ...rest] = await open(3);
    expect((await first?.get('/account'))?.html).toContain('a-treasurer with the role treasurer');
    await first?.post('/account/sign-out-everywhere', {});
    for (const viewer of rest) {
      await waitFor('the session to end', async () => (await viewer.get('/')).status === 303);
    }
    expect((await other.get('/')).status).toBe(200);
  });

  test('ends also the sign-in links of the person that nobody has used', async () => {
    const link = { token: tokens.get('treasurer') ?? '', holder: 'a-treasurer' };
    const [before, other] = [
      await createSignInPath(db, link),
      (await tallyhook.createSignInPath()) ?? '',
    ];
    const [viewer] = await open(1);
    await viewer?.post('/account/sign-out-everywhere', {});
    const stranger = await openPages(tallyhook, null);
    expect((await stranger.get(before)).status).toBe(401);
    expect((await stranger.get(other)).status).toBe(200);
  });

  test('ends no session of another provider’s person with the same subject', async () => {
    const start = (issuer: string) =>
      insertSession(db, {
        digest: randomBytes(32),
        actsFor: { signIn: 'provider', issuer, subject: '248289761001', role: 'viewer' },
        holder: 'ada@shop.example (248289761001)',
        origin: '127.0.0.1',
        userAgent: '',
        lifetimeMs: 60_000,
      });
    const [one, again] = [await start('https://one.example'), await start('https://one.example')];
    await start('https://other.example');
    const ended = await endSessionsOfSamePerson(db, one.id);
    expect(ended.map(({ id }) => id).toSorted()).toEqual([one.id, again.id].toSorted());
  });

  test('is possible for another person, with a reason', async () => {
    const viewer = await openPages(tallyhook);
    const others = await open(2);
    const [row] = await db.query<{ id: number }>(
      `select id from console_sessions where holder = 'a-treasurer' order by id desc limit 1`,
    );
    const form = { reason: 'lost a laptop', everywhere: 'yes' };
    const ended = await viewer.post(`/sessions/${row?.id}/end`, form);
    expect(ended.location).toMatch(/^\/sessions\?notice=/);
    for (const one of others) {
      await waitFor('the session to end', async () => (await one.get('/')).status === 303);
    }
    const [entry] = await db.query(
      `select reason, detail from audit where action = 'session.end' order by id desc limit 1`,
    );
    expect(entry).toEqual({
      reason: 'lost a laptop',
      detail: { holder: 'a-treasurer', sessions: 2 },
    });
  });
});

test('the admin API lists sessions, and ends one for a reason', async () => {
  const viewer = await openPages(tallyhook, tokens.get('shop'));
  const api = (path: string, init?: RequestInit) =>
    fetch(`http://127.0.0.1:${tallyhook.consolePort}/api/v1/sessions${path}`, {
      ...init,
      headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
    });
  const { sessions } = (await (await api('')).json()) as {
    readonly sessions: readonly { readonly number: number; readonly holder: string }[];
  };
  const mine = sessions.find(({ holder }) => holder === 'a-shop');
  expect(mine).toMatchObject({ sign_in: 'token', address: expect.stringContaining('127.0.0.1') });
  const end = () =>
    api(`/${mine?.number}/end`, { method: 'POST', body: JSON.stringify({ reason: 'a test' }) });
  expect(await (await end()).json()).toEqual({ holder: 'a-shop', sessions: 1 });
  await waitFor('the session to end', async () => (await viewer.get('/')).status === 303);
  expect((await end()).status).toBe(404);
});

describe('the audit log', () => {
  const entries = (action: string, name: string) =>
    db.query<{
      kind: string;
      name: string;
      subject: string;
      id: string;
      detail: object;
      recordedAt: Date;
    }>(
      `select actor_kind as kind, actor_name as name, subject_kind as subject, subject_id as id, detail,
              recorded_at as "recordedAt"
         from audit where action = $1 and actor_name = $2 order by id desc`,
      [action, name],
    );

  test('has each sign-in and sign-out, by token and by link', async () => {
    const viewer = await openPages(tallyhook, tokens.get('shop'));
    const [byToken] = await entries('session.start', 'a-shop');
    expect(byToken).toMatchObject({
      kind: 'token',
      subject: 'session',
      detail: { sign_in: 'token', expires_at: expect.any(String) },
    });
    await viewer.post('/sign-out', {});
    expect(await entries('session.end', 'a-shop')).toMatchObject([
      { id: byToken?.id, detail: { holder: 'a-shop', sessions: 1 } },
    ]);
    await viewer.get((await tallyhook.createSignInPath()) ?? '');
    const byLink = (await entries('session.start', 'admin')).map(({ detail }) => detail);
    expect(byLink).toContainEqual({ sign_in: 'link', expires_at: expect.any(String) });
  });

  test('has one entry a minute of failed sign-ins, without the token', async () => {
    const viewer = await openPages(tallyhook, null);
    for (let n = 0; n < 5; n += 1) {
      await viewer.postRaw('/sign-in', { token: `guess-${n}-0123456789` });
    }
    const refused = async () =>
      (await entries('session.refuse', 'unknown')).filter(({ id }) => id === 'token_invalid');
    await waitFor('the entry', async () => (await refused()).length > 0);
    const ofTokens = await refused();
    expect(ofTokens[0]).toMatchObject({ kind: 'unknown', subject: 'signin' });
    // Tests before this one may have refused a token, more than a minute ago on a busy machine.
    const seconds = ofTokens.map(({ recordedAt }) => recordedAt.getTime() / 1_000);
    const apart = seconds.slice(1).map((earlier, place) => (seconds[place] ?? 0) - earlier);
    expect(Math.min(...apart, 60)).toBeGreaterThan(59);
    expect(JSON.stringify(ofTokens)).not.toContain('guess');
  });
});

test('every open session is on one of the pages of the list', async () => {
  const viewer = await openPages(tallyhook);
  const name = `person-${randomBytes(4).toString('hex')}`;
  const started = new Set<string>();
  for (let n = 0; n < 220; n += 1) {
    const subject = `${name}-${n}`;
    const { id } = await insertSession(db, {
      digest: randomBytes(32),
      actsFor: { signIn: 'provider', issuer: 'https://one.example', subject, role: 'viewer' },
      holder: subject,
      origin: '127.0.0.1',
      userAgent: '',
      lifetimeMs: 600_000,
    });
    started.add(`/sessions/${id}`);
  }
  const listed: string[] = [];
  let next: string | undefined = '/sessions';
  while (next !== undefined) {
    const { html }: ShownPage = await viewer.get(next);
    listed.push(...Array.from(html.matchAll(/href="(\/sessions\/\d+)"/g), ([, path = '']) => path));
    next = /href="([^"]+)" rel="next"/.exec(html)?.[1]?.replaceAll('&amp;', '&');
  }
  expect(listed.filter((path) => started.has(path)).toSorted()).toEqual([...started].toSorted());
});

test('a program that signs in again and again ends its own sessions only', async () => {
  const own = await openPages(tallyhook, tokens.get('treasurer'));
  const first = await openPages(tallyhook, tokens.get('operator'));
  expect((await first.get('/')).status).toBe(200);
  let last = first;
  for (let n = 0; n < 50; n += 1) last = await openPages(tallyhook, tokens.get('operator'));
  expect((await first.get('/')).status).toBe(303);
  expect((await last.get('/')).status).toBe(200);
  expect((await own.get('/')).status).toBe(200);
  const ended = await db.query<{ name: string; detail: object }>(
    `select actor_name as name, detail from audit
      where action = 'session.end' and detail ->> 'cause' = 'too_many'`,
  );
  expect(ended).toContainEqual({
    name: 'a-operator',
    detail: { holder: 'a-operator', sessions: 1, cause: 'too_many' },
  });
  expect(ended.filter(({ name }) => name !== 'a-operator')).toEqual([]);
});

describe('a form that is sent after its session has ended', () => {
  const path = '/reconciliation/pause';
  const reason = `two\nlines, and "><script>window.hostile=1</script>`;
  const pauses = () =>
    db.query(`select reason from audit where action = 'reconciliation.pause' and reason = $1`, [
      reason,
    ]);

  test('does nothing, and keeps what was typed without a token', async () => {
    const viewer = await openPages(tallyhook, null);
    const { status, html } = await viewer.postRaw(path, { form_token: 'ended', reason });
    expect(status).toBe(401);
    expect(html).toContain('Your session has ended');
    expect(html).toContain(`action="${path}"`);
    expect(html).toContain('value="two\nlines, and &quot;>&lt;script');
    expect(html).not.toContain('<script>window');
    expect(html).not.toContain('form_token');
    expect(await pauses()).toEqual([]);
  });

  test('with more fields than any page sends is not shown', async () => {
    const viewer = await openPages(tallyhook, null);
    const fields = Array.from({ length: 2_001 }, (_, place) => [`field_${place}`, reason] as const);
    const { status, html } = await viewer.postRaw(path, Object.fromEntries(fields));
    expect(status).toBe(401);
    expect(html).toContain('go back and do it again');
    expect(html).not.toContain('field_');
  });

  test('is sent after the next sign-in, once a person presses its button', async () => {
    const viewer = await openPages(tallyhook);
    const { status, html } = await viewer.postRaw(path, { reason });
    expect(status).toBe(403);
    expect(html).toContain('Check what you send');
    expect(await pauses()).toEqual([]);
    const main = html.slice(html.indexOf('<main'), html.indexOf('</main>'));
    expect(main).toContain('value="two\nlines, and &quot;>&lt;script');
    expect(main).toContain(`<dd>${path}</dd>`);
    const form_token = formTokenIn(main);
    const { location } = await viewer.postRaw(path, { form_token, reason });
    expect(location).toMatch(/^\/reconciliation\?notice=/);
    expect(await pauses()).toEqual([{ reason }]);
    await viewer.post('/reconciliation/resume', {});
  });

  test('leads to no other site', async () => {
    const viewer = await openPages(tallyhook, null);
    const { html } = await viewer.postRaw('//evil.example/', { reason });
    expect(html).toContain('action="/"');
  });

  test('shows no button for what nobody can check', async () => {
    const viewer = await openPages(tallyhook);
    const { html } = await viewer.postRaw(path, {});
    expect(html).toContain('Go back, reload the page, and do it again.');
    expect(html).not.toContain(`action="${path}"`);
  });

  test('leads to the sign-in if nothing was typed', async () => {
    const viewer = await openPages(tallyhook, null);
    for (const frame of ['/sign-out', '/theme']) {
      expect((await viewer.postRaw(frame, {})).location).toMatch(/^\/sign-in/);
    }
  });
});

describe('a form', () => {
  test('is refused without the token of the session', async () => {
    const viewer = await openPages(tallyhook);
    const other = await openPages(tallyhook);
    const foreign = formTokenIn((await other.get('/')).html);
    for (const form_token of ['', foreign]) {
      const { status, html } = await viewer.postRaw('/sign-out', { form_token });
      expect(status).toBe(403);
      expect(html).toContain('Nothing was changed');
    }
    expect((await viewer.get('/')).status).toBe(200);
  });

  test.each<Record<string, string>>([
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { origin: 'https://evil.example' },
    { origin: 'null' },
  ])('is refused from another site: %j', async (headers) => {
    const viewer = await openPages(tallyhook);
    const form_token = formTokenIn((await viewer.get('/')).html);
    const { status } = await viewer.postRaw('/sign-out', { form_token }, headers);
    expect(status).toBe(403);
    expect((await viewer.get('/')).status).toBe(200);
  });
});

test('a foreign name of this address gets no response, and the setting is named', async () => {
  const request = (host: string) =>
    new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
      const port = tallyhook.consolePort;
      httpRequest({ port, host: '127.0.0.1', path: '/sign-in', headers: { host } }, (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => {
          text += chunk;
        });
        response.on('end', () => resolve({ status: response.statusCode, text }));
      })
        .on('error', reject)
        .end();
    });
  const refused = await request('rebound.evil.example');
  expect(refused.status).toBe(421);
  expect(refused.text).toContain('PUBLIC_CONSOLE_URL');
  for (const host of ['localhost:8081', '192.0.2.7', '[::1]:8081']) {
    expect((await request(host)).status, host).toBe(200);
  }
});

test('every response has the headers that keep foreign code out', async () => {
  const viewer = await openPages(tallyhook);
  for (const path of ['/', '/orders', '/nothing', '/orders/unknown', '/orders?status=wrong']) {
    const { headers } = await viewer.get(path);
    const policy = headers.get('content-security-policy');
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  }
});

test('assets have names of their content, and may be kept', async () => {
  const viewer = await openPages(tallyhook, null);
  const { html } = await viewer.get('/sign-in');
  const paths = [...html.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(([, path]) => path);
  expect(paths).toHaveLength(2);
  for (const path of paths) {
    const { status, headers } = await viewer.get(path ?? '');
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toContain('immutable');
  }
});

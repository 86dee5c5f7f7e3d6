/**
 * Sign-in at an OpenID Connect provider of another maker, over HTTP. The numbers are those of
 * src/pages/session/providerSignIn.ts and src/access/provider.ts.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { HOUR_MS } from '../../src/platform/time.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import {
  CLIENT_ID,
  CONSOLE_URL,
  createWanderer,
  type IdentityProvider,
  startIdentityProvider,
  type Wanderer,
} from '../support/identityProvider.ts';
import { formTokenIn, openPages } from '../support/pages.ts';
import { startTallyhook, type TestTallyhook } from '../support/tallyhook.ts';
import { waitFor } from '../support/waitFor.ts';

let db: TestDatabase;
let provider: IdentityProvider;
let tallyhook: TestTallyhook;

beforeAll(async () => {
  db = await createTestDatabase();
  provider = await startIdentityProvider();
  tallyhook = await startTallyhook({ db, roles: ['console'], env: provider.env });
});
afterAll(async () => {
  await tallyhook.close();
  await provider.close();
  await db.drop();
});

const wander = () => createWanderer(tallyhook.consolePort ?? 0);

interface Entry {
  readonly kind: string;
  readonly name: string;
  readonly role: string;
  readonly cause: string;
  readonly detail: Readonly<Record<string, unknown>>;
}

const entriesOf = (action: string, from = db) =>
  from.query<Entry>(
    `select actor_kind as kind, actor_name as name, actor_role as role, subject_id as cause, detail
       from audit where action = $1 order by id desc`,
    [action],
  );

describe('a person with a role', () => {
  test('signs in, goes on to the page that was wanted, and is named in the audit log', async () => {
    const person = wander();
    const wanted = await person.get('/orders?status=paid');
    const { html } = await person.request(wanted.location ?? '');
    expect(html).toContain(`href="${CONSOLE_URL}/sign-in/provider?next=%2Forders%3Fstatus%3Dpaid"`);
    const arrived = await person.signIn('ada', '/orders?status=paid');
    expect(arrived.status).toBe(200);
    // The session's cookie is Strict, so the way on begins at a page of this site (rule 2).
    expect(arrived.headers.get('refresh')).toBe('0; url=/orders?status=paid');
    expect(arrived.headers.getSetCookie().join('\n')).toMatch(
      /tallyhook_session=[\w-]{43};.*HttpOnly; SameSite=Strict/,
    );
    const page = await person.get('/orders?status=paid');
    expect(page.status).toBe(200);
    expect(page.html).toContain('ada@shop.example (ada) (operator)');
    const [entry] = await entriesOf('session.start');
    expect(entry).toMatchObject({
      kind: 'person',
      name: 'ada@shop.example (ada)',
      role: 'operator',
      detail: { sign_in: 'provider' },
    });
  });

  test('has the role of the first of several values', async () => {
    const person = wander();
    await person.signIn('grace');
    expect((await person.get('/sessions')).html).toContain('grace@shop.example (grace) (admin)');
  });

  test('acts under that name', async () => {
    const person = wander();
    await person.signIn('grace');
    const { html } = await person.get('/sessions');
    const [, mine] = /href="\/sessions\/(\d+)"/.exec(html) ?? [];
    await person.request(`${CONSOLE_URL}/sessions/${mine}/end`, {
      form_token: formTokenIn(html),
      reason: 'a test',
    });
    const [entry] = await entriesOf('session.end');
    expect(entry).toMatchObject({ kind: 'person', name: 'grace@shop.example (grace)' });
  });

  test('cannot pass for another by a name', async () => {
    const person = wander();
    await person.signIn('admin');
    const { html } = await person.get('/');
    expect(html).toContain('&lt;script>window.hostile=1&lt;/script> (admin) (operator)');
    expect((await person.get('/sessions')).status).toBe(403);
  });

  test.each([
    'https://evil.example/',
    '//evil.example/',
    '/\\evil.example/',
    '/.//evil.example/',
    '/a/..//evil.example/',
    '/%2e//evil.example/',
    'javascript:alert(1)',
  ])('is not led to another site: %s', async (next) => {
    const arrived = await wander().signIn('ada', next);
    expect(arrived.headers.get('refresh')).toBe('0; url=/');
  });

  test('finishes the sign-ins of two tabs, each with its own page', async () => {
    const person = wander();
    const [orders, alerts] = [
      await person.wayBack('ada', '/orders'),
      await person.wayBack('ada', '/alerts'),
    ];
    expect((await person.request(orders)).headers.get('refresh')).toBe('0; url=/orders');
    expect((await person.request(alerts)).headers.get('refresh')).toBe('0; url=/alerts');
    expect([...person.cookies(CONSOLE_URL).keys()]).toEqual(['tallyhook_session']);
  });

  test('keeps the newest five sign-ins of a browser', async () => {
    const person = wander();
    const ways: string[] = [];
    for (let n = 0; n < 7; n += 1) ways.push(await person.wayBack('ada', `/orders?min=${n}`));
    expect(begunCookies(person)).toHaveLength(5);
    const statuses: number[] = [];
    for (const way of ways) statuses.push((await person.request(way)).status);
    expect(statuses).toEqual([400, 400, 200, 200, 200, 200, 200]);
  });

  test('signs out, and is offered the sign-out at the provider', async () => {
    const person = wander();
    await person.signIn('ada');
    const { html } = await person.get('/');
    const out = await person.request(`${CONSOLE_URL}/sign-out`, { form_token: formTokenIn(html) });
    expect(out.location).toBe(`${CONSOLE_URL}/sign-in?signed_out=1`);
    expect((await person.get('/')).status).toBe(303);
    const shown = (await person.request(out.location ?? '')).html.replaceAll('&amp;', '&');
    const [, link = ''] = /href="([^"]+)">Sign out at/.exec(shown) ?? [];
    expect(link.startsWith(`${provider.issuer}/session/end?`)).toBe(true);
    const query = new URL(link).searchParams;
    expect(query.get('client_id')).toBe(CLIENT_ID);
    expect(query.get('post_logout_redirect_uri')).toBe(`${CONSOLE_URL}/sign-in`);
    expect((await person.request(link)).status).toBe(200);
  });

  test('has a session that ends with the lifetime of sessions', async () => {
    const person = wander();
    await person.signIn('ada');
    expect((await person.get('/')).status).toBe(200);
    await db.query(
      `update console_sessions set expires_at = statement_timestamp() where sign_in = 'provider'`,
    );
    await waitFor('the session to end', async () => (await person.get('/')).status === 303);
  });
});

const BEGUN = 'tallyhook_sign_in_';

const begunCookies = (person: Wanderer) =>
  [...person.cookies(CONSOLE_URL)].filter(([name]) => name.startsWith(BEGUN));

describe('a response is refused, and the refusal audited', () => {
  // Entries are at most one a minute for each cause, so each test has a database of its own.
  let fresh: { readonly db: TestDatabase; readonly tallyhook: TestTallyhook };
  beforeEach(async () => {
    const own = await createTestDatabase();
    const env = provider.env;
    fresh = { db: own, tallyhook: await startTallyhook({ db: own, roles: ['console'], env }) };
  });
  afterEach(async () => {
    await fresh.tallyhook.close();
    await fresh.db.drop();
  });
  const wanderFresh = () => createWanderer(fresh.tallyhook.consolePort ?? 0);

  const expectRefused = async (
    person: Wanderer,
    back: string,
    expected: { readonly status: number; readonly cause: string; readonly reason: RegExp },
  ): Promise<void> => {
    const seen = await person.request(back);
    expect(seen.status, seen.html).toBe(expected.status);
    expect(seen.headers.getSetCookie().join()).not.toContain('tallyhook_session');
    const entries = () => entriesOf('session.refuse', fresh.db);
    await waitFor('the entry', async () => (await entries()).length > 0);
    const [entry, ...others] = await entries();
    expect(others).toEqual([]);
    expect(entry).toMatchObject({ kind: 'unknown', role: 'none', cause: expected.cause });
    expect(entry?.detail.reason).toMatch(expected.reason);
  };

  test('without a sign-in of this browser', async () => {
    const back = await wanderFresh().wayBack('ada');
    const cause = 'response_invalid';
    await expectRefused(wanderFresh(), back, { status: 400, cause, reason: /no sign-in/ });
  });

  const notBegun = { status: 400, cause: 'response_invalid', reason: /no sign-in/ };

  test('with another state', async () => {
    const person = wanderFresh();
    const back = new URL(await person.wayBack('ada'));
    back.searchParams.set('state', 'another');
    await expectRefused(person, back.href, notBegun);
  });

  test.each([
    ['nonce', { nonce: 'another' }],
    ['verifier', { verifier: 'v'.repeat(43) }],
    ['way on', { next: '/orders?status=paid' }],
    ['time', { begunAtMs: Date.now() + HOUR_MS }],
  ])('with another %s in the cookie', async (_what, change) => {
    const person = wanderFresh();
    const back = await person.wayBack('ada');
    const [[name, cookie] = ['', '']] = begunCookies(person);
    const [content = '', signature = ''] = cookie.split('.');
    const begun = JSON.parse(Buffer.from(content, 'base64url').toString()) as object;
    expect(begun).toMatchObject(
      Object.fromEntries(Object.keys(change).map((key) => [key, expect.anything()])),
    );
    const altered = Buffer.from(JSON.stringify({ ...begun, ...change })).toString('base64url');
    person.cookies(CONSOLE_URL).set(name, `${altered}.${signature}`);
    await expectRefused(person, back, notBegun);
  });

  test('with the cookie of another sign-in under its state', async () => {
    const person = wanderFresh();
    await person.wayBack('ada');
    const [[, other] = ['', '']] = begunCookies(person);
    const back = await person.wayBack('ada');
    const name = BEGUN + new URL(back).searchParams.get('state');
    person.cookies(CONSOLE_URL).set(name, other);
    await expectRefused(person, back, notBegun);
  });

  test('with the nonce of another sign-in', async () => {
    const person = wanderFresh();
    const back = await person.wayBack('ada');
    provider.alterNext((claims) => Object.assign(claims, { nonce: 'another' }));
    const cause = 'response_invalid';
    await expectRefused(person, back, { status: 401, cause, reason: /claim/ });
  });

  test('with the code of another sign-in', async () => {
    const person = wanderFresh();
    const back = new URL(await person.wayBack('ada'));
    const stolen = new URL(await wanderFresh().wayBack('grace'));
    back.searchParams.set('code', stolen.searchParams.get('code') ?? '');
    const cause = 'response_invalid';
    await expectRefused(person, back.href, { status: 401, cause, reason: /invalid_grant/ });
  });

  test('with a code that was used', async () => {
    const person = wanderFresh();
    const back = await person.wayBack('ada');
    const kept = new Map(person.cookies(CONSOLE_URL));
    expect((await person.request(back)).status).toBe(200);
    const thief = wanderFresh();
    await thief.get('/sign-in');
    for (const [name, value] of kept) thief.cookies(CONSOLE_URL).set(name, value);
    const cause = 'response_invalid';
    await expectRefused(thief, back, { status: 401, cause, reason: /invalid_grant/ });
  });

  test('when the person declines', async () => {
    const person = wanderFresh();
    const back = new URL(await person.wayBack('ada'));
    back.searchParams.delete('code');
    back.searchParams.set('error', 'access_denied');
    const cause = 'provider_refused';
    await expectRefused(person, back.href, { status: 403, cause, reason: /access_denied/ });
  });

  const now = () => Math.floor(Date.now() / 1000);
  test.each<[string, (claims: Record<string, unknown>) => void, 'wrong' | 'none' | undefined]>([
    [
      'of another issuer',
      (claims) => Object.assign(claims, { iss: 'https://evil.example' }),
      undefined,
    ],
    ['for another audience', (claims) => Object.assign(claims, { aud: 'another' }), undefined],
    ['that has expired', (claims) => Object.assign(claims, { exp: now() - 120 }), undefined],
    ['from the future', (claims) => Object.assign(claims, { nbf: now() + 120 }), undefined],
    ['with a signature of another key', () => undefined, 'wrong'],
    ['without a signature', () => undefined, 'none'],
  ])('with an ID token %s', async (_what, alter, signature) => {
    const person = wanderFresh();
    const back = await person.wayBack('ada');
    provider.alterNext(alter, signature);
    const cause = 'response_invalid';
    await expectRefused(person, back, { status: 401, cause, reason: /./ });
  });
});

test('an ID token is accepted while the clocks differ by less than a minute', async () => {
  const person = wander();
  const back = await person.wayBack('ada');
  const past = Math.floor(Date.now() / 1000) - 30;
  provider.alterNext((claims) => Object.assign(claims, { exp: past }));
  expect((await person.request(back)).status).toBe(200);
});

test('the times of an ID token are compared with the clock of the database, not with that of the machine', async () => {
  const nowSeconds = Math.floor(Date.now() / 1000);
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + HOUR_MS });
  try {
    const person = wander();
    const back = await person.wayBack('ada');
    const times = { iat: nowSeconds, exp: nowSeconds + 300 };
    provider.alterNext((claims) => Object.assign(claims, times));
    expect((await person.request(back)).status).toBe(200);
  } finally {
    vi.useRealTimers();
  }
});

describe('a person without a role', () => {
  test.each([
    ['eve', 'none of your values of the claim "groups" gives one', ['staff']],
    ['mallory', 'returned no claim "groups" for you', null],
  ])('gets no session, and sees why and whom to contact: %s', async (name, why, values) => {
    const person = wander();
    const { status, html, headers } = await person.signIn(name);
    expect(status).toBe(403);
    const text = html.replaceAll('&quot;', '"');
    expect(text).toContain(`You are ${name}@shop.example (${name}) at 127.0.0.1`);
    expect(text).toContain(why);
    expect(text).toContain('Contact the administrator of this installation.');
    expect(text).toContain('Sign out at 127.0.0.1');
    expect(headers.getSetCookie().join()).not.toContain('tallyhook_session');
    expect((await person.get('/')).status).toBe(303);
    const mine = async () =>
      (await entriesOf('session.refuse')).filter((entry) => entry.name.startsWith(name));
    await waitFor('the entry', async () => (await mine()).length > 0);
    expect(await mine()).toMatchObject([
      { kind: 'person', role: 'none', cause: 'no_role', detail: { claim: 'groups', values } },
    ]);
  });
});

test('a session of a provider ends when the settings name another or none', async () => {
  const person = wander();
  await person.signIn('ada');
  const cookie = person.cookies(CONSOLE_URL).get('tallyhook_session');
  const without = await startTallyhook({ db, roles: ['console'] });
  const response = await fetch(`http://127.0.0.1:${without.consolePort}/`, {
    headers: { cookie: `tallyhook_session=${cookie}` },
    redirect: 'manual',
  });
  await without.close();
  expect(response.status).toBe(303);
});

describe('failed sign-ins at an address', () => {
  // More than one address may fail in a minute.
  const FAILURES = 21;
  let console: TestTallyhook;
  beforeEach(async () => {
    console = await startTallyhook({ db, roles: ['console'], env: provider.env });
  });
  afterEach(() => console.close());
  const failOften = async (query: string): Promise<number | undefined> => {
    let last: number | undefined;
    for (let n = 0; n < FAILURES; n += 1) {
      const stranger = createWanderer(console.consolePort ?? 0);
      last = (await stranger.get(`/sign-in/callback?${query}`)).status;
    }
    return last;
  };

  test('do not hold up a person who signs in', async () => {
    expect(await failOften('code=guess&state=guess')).toBe(429);
    const person = createWanderer(console.consolePort ?? 0);
    expect((await person.signIn('ada')).status).toBe(200);
  });

  test('are limited also with another state than that of the browser', async () => {
    const person = createWanderer(console.consolePort ?? 0);
    const back = new URL(await person.wayBack('ada'));
    back.searchParams.set('state', 'another');
    await failOften('code=guess');
    expect((await person.request(back.href)).status).toBe(429);
  });
});

test('claims that are not in the ID token are read from the provider', async () => {
  const other = await startIdentityProvider({ claimsIn: 'userinfo' });
  const console = await startTallyhook({ db, roles: ['console'], env: other.env });
  const person = createWanderer(console.consolePort ?? 0);
  await person.signIn('ada');
  const { html } = await person.get('/');
  await console.close();
  await other.close();
  expect(html).toContain('ada@shop.example (ada) (operator)');
});

test('while the provider is unavailable, that is shown, and tokens sign in', async () => {
  const gone = await startIdentityProvider();
  const console = await startTallyhook({ db, roles: ['console'], env: gone.env });
  const person = createWanderer(console.consolePort ?? 0);
  const back = await person.wayBack('ada');
  const kept = new Map(person.cookies(CONSOLE_URL));
  await gone.close();
  // More often than one address may fail in a minute: this is not the person's failure.
  for (let n = 0; n < 21; n += 1) {
    for (const [name, value] of kept) person.cookies(CONSOLE_URL).set(name, value);
    const returned = await person.request(back);
    expect([returned.status, returned.html]).toEqual([
      503,
      expect.stringContaining('does not respond'),
    ]);
  }
  expect((await person.get('/sign-in/callback?code=guess')).status).toBe(400);
  await console.close();

  const restarted = await startTallyhook({ db, roles: ['console'], env: gone.env });
  const begun = await createWanderer(restarted.consolePort ?? 0).get('/sign-in/provider');
  expect(begun.status).toBe(503);
  expect(begun.html).toContain('sign in with a token');
  const viewer = await openPages(restarted);
  expect((await viewer.get('/')).status).toBe(200);
  await restarted.close();
});

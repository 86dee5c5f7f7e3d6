/** Sessions of the console that end while their list is read, on PostgreSQL. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSessions, type Sessions } from '../../src/access/sessions.ts';
import { createSignInPath } from '../../src/access/signInLink.ts';
import { createTokenVerifier } from '../../src/access/verifyToken.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { MINUTE_MS } from '../../src/platform/time.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { unique } from '../support/events.ts';
import { ADMIN_TOKEN } from '../support/tallyhook.ts';

const ISSUER = 'https://login.example';
const CLIENT = { address: '192.0.2.1', userAgent: 'test' };

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

/** Happens when a list of open sessions was read, before the process has it. */
let whenRead: () => Promise<void>;
/** Statements that looked links up. */
let linksRead = 0;

function openSessions(): Sessions {
  whenRead = () => Promise.resolve();
  const reading: TestDatabase = {
    ...db,
    query: async <Row extends object>(text: string, values?: readonly unknown[]) => {
      if (text.includes('started_at is null')) linksRead += 1;
      const rows = await db.query<Row>(text, values);
      if (text.includes('order by id desc limit $2')) await whenRead();
      return rows;
    },
  };
  return createSessions({
    db: reading,
    tokens: createTokenVerifier({ db, adminToken: ADMIN_TOKEN, clock: systemClock }),
    idleMs: 30 * MINUTE_MS,
    lifetimeMs: 60 * MINUTE_MS,
    issuer: ISSUER,
  });
}

async function signIn(sessions: Sessions) {
  const subject = unique('ada');
  const person = { issuer: ISSUER, subject, name: subject, role: 'viewer' } as const;
  const { cookie } = await sessions.signInPerson(person, CLIENT);
  return cookie;
}

test('a session that ended while the list was read is not found afterwards', async () => {
  const sessions = openSessions();
  const cookie = await signIn(sessions);
  const session = await sessions.find(cookie);
  if (!session) throw new Error('the session is not open');
  // Another sign-in makes the next request read the list again.
  await signIn(sessions);
  whenRead = async () => {
    whenRead = () => Promise.resolve();
    await sessions.signOut(session, CLIENT);
  };
  // The request was sent before the sign-out.
  await sessions.find(cookie);
  expect(await sessions.find(cookie)).toBeUndefined();
});

test('a session is found although another one starts while the list is read', async () => {
  const sessions = openSessions();
  const cookie = await signIn(sessions);
  whenRead = async () => {
    whenRead = () => Promise.resolve();
    await signIn(sessions);
  };
  expect(await sessions.find(cookie)).toBeDefined();
});

test('sign-ins of one person at once leave as many sessions as one after the other', async () => {
  const sessions = openSessions();
  const subject = unique('ada');
  const person = { issuer: ISSUER, subject, name: subject, role: 'viewer' } as const;
  const start = () => sessions.signInPerson(person, CLIENT);
  for (let n = 0; n < 50; n += 1) await start();
  await Promise.all(Array.from({ length: 12 }, start));
  const rows = await db.query<{ id: string; ended: boolean }>(
    `select s.id::text, s.ended_at is not null as ended from console_sessions s
      where s.subject = $1 order by s.id`,
    [subject],
  );
  // The oldest.
  expect(rows.map(({ ended }) => ended)).toEqual(rows.map((_, place) => place < 12));
  const entries = await db.query<{ id: string }>(
    `select subject_id as id from audit where action = 'session.end' and actor_name = $1`,
    [subject],
  );
  expect(entries.map(({ id }) => id).toSorted()).toEqual(
    rows.flatMap(({ id, ended }) => (ended ? [id] : [])).toSorted(),
  );
});

test('links of a flood are looked up together, and one that is valid is found among them', async () => {
  const sessions = openSessions();
  linksRead = 0;
  const path = await createSignInPath(db, { token: ADMIN_TOKEN, holder: 'admin' });
  const code = new URL(path, 'http://console').searchParams.get('code') ?? '';
  const follow = (one: string) => sessions.followLink(one, CLIENT);
  const flood = Array.from({ length: 200 }, (_, n) => follow(`wrong-${n}`));
  const valid = follow(code);
  expect((await Promise.all(flood)).every(({ outcome }) => outcome === 'invalid')).toBe(true);
  expect((await valid).outcome).toBe('signed_in');
  expect(linksRead).toBeLessThanOrEqual(2);
  expect((await follow(code)).outcome).toBe('invalid');
});

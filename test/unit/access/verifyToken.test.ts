/** How long a list of tokens is used, and what holds while the database cannot be read. */
import { beforeEach, describe, expect, test } from 'vitest';
import type { ValidToken } from '../../../src/access/store/tokens.ts';
import { createTokenText, digestOf } from '../../../src/access/tokenText.ts';
import {
  createTokenVerifier,
  FRESH_FOR_UNKNOWN_MS,
  FRESH_MS,
  STALE_MS,
  type TokenVerifier,
} from '../../../src/access/verifyToken.ts';
import type { Queryable } from '../../../src/platform/db/database.ts';

const ADMIN_TOKEN = 'a'.repeat(32);
const VIEWER_TOKEN = createTokenText('viewer');
const UNKNOWN_TOKEN = createTokenText('viewer');

const viewer = (more: Partial<ValidToken> = {}): ValidToken => ({
  id: 1,
  name: 'ann',
  role: 'viewer',
  digest: digestOf(VIEWER_TOKEN),
  expiresAt: null,
  ...more,
});

let nowMs: number;
let stored: readonly ValidToken[];
let failure: Error | undefined;
let readings: number;
let uses: number;
let verifier: TokenVerifier;

beforeEach(() => {
  nowMs = 10_000_000;
  stored = [viewer()];
  failure = undefined;
  readings = 0;
  uses = 0;
  const query = (text: string): Promise<never> => {
    if (failure) return Promise.reject(failure);
    if (text.includes('update tokens')) {
      uses += 1;
      return Promise.resolve([] as never);
    }
    readings += 1;
    return Promise.resolve(stored as never);
  };
  const db: Queryable = { query };
  const now = () => nowMs;
  verifier = createTokenVerifier({
    adminToken: ADMIN_TOKEN,
    db,
    clock: { nowMs: now },
    elapsedMs: now,
  });
});

const outcomeOf = async (token: string) => (await verifier.verify(token)).outcome;

test('the holder has the name and the role of the row, not those in its text', async () => {
  stored = [viewer({ role: 'operator' })];
  expect(await verifier.verify(VIEWER_TOKEN)).toEqual({
    outcome: 'valid',
    holder: { name: 'ann', role: 'operator' },
    isStale: false,
  });
});

test('ADMIN_TOKEN needs no database', async () => {
  expect(await verifier.verify(ADMIN_TOKEN)).toMatchObject({
    outcome: 'valid',
    holder: { name: 'admin', role: 'admin' },
  });
  expect(readings).toBe(0);
});

test('a revoked token is valid until the list is read again, not longer', async () => {
  expect(await outcomeOf(VIEWER_TOKEN)).toBe('valid');
  stored = [];
  nowMs += FRESH_MS;
  expect([await outcomeOf(VIEWER_TOKEN), readings]).toEqual(['valid', 1]);
  nowMs += 1;
  expect([await outcomeOf(VIEWER_TOKEN), readings]).toEqual(['invalid', 2]);
});

test('a new token is found a second after the last reading', async () => {
  stored = [];
  expect(await outcomeOf(VIEWER_TOKEN)).toBe('invalid');
  stored = [viewer()];
  nowMs += FRESH_FOR_UNKNOWN_MS;
  expect(await outcomeOf(VIEWER_TOKEN)).toBe('invalid');
  nowMs += 1;
  expect(await outcomeOf(VIEWER_TOKEN)).toBe('valid');
});

test('unknown tokens cost one reading a second, however many come', async () => {
  for (let second = 0; second < 3; second += 1) {
    await Promise.all(Array.from({ length: 1_000 }, () => outcomeOf(UNKNOWN_TOKEN)));
    nowMs += FRESH_FOR_UNKNOWN_MS + 1;
  }
  expect(readings).toBe(3);
});

test('a token expires between two readings', async () => {
  stored = [viewer({ expiresAt: new Date(nowMs + 1) })];
  expect(await outcomeOf(VIEWER_TOKEN)).toBe('valid');
  nowMs += 1;
  expect(await outcomeOf(VIEWER_TOKEN)).toBe('invalid');
});

test('the use of a token is recorded once a minute', async () => {
  for (let second = 0; second < 90; second += 1) {
    await outcomeOf(VIEWER_TOKEN);
    nowMs += 1_000;
  }
  expect(uses).toBe(2);
});

describe('while the database cannot be read', () => {
  test('the last list is used, and is stale after a minute', async () => {
    await outcomeOf(VIEWER_TOKEN);
    failure = new Error('connection terminated');
    nowMs += STALE_MS;
    expect(await verifier.verify(VIEWER_TOKEN)).toMatchObject({ outcome: 'valid', isStale: false });
    nowMs += 1;
    expect(await verifier.verify(VIEWER_TOKEN)).toMatchObject({ outcome: 'valid', isStale: true });
    expect(await outcomeOf(UNKNOWN_TOKEN)).toBe('invalid');
    failure = undefined;
    nowMs += 1_000;
    expect(await verifier.verify(VIEWER_TOKEN)).toMatchObject({ outcome: 'valid', isStale: false });
  });

  test('before the first reading, only ADMIN_TOKEN can be verified', async () => {
    failure = new Error('connection refused');
    expect(await outcomeOf(VIEWER_TOKEN)).toBe('unverifiable');
    expect(await outcomeOf(ADMIN_TOKEN)).toBe('valid');
  });
});

test('an empty ADMIN_TOKEN admits nobody', async () => {
  const db: Queryable = { query: () => Promise.resolve([]) };
  const open = createTokenVerifier({ adminToken: '', db, clock: { nowMs: () => 0 } });
  expect((await open.verify('')).outcome).toBe('invalid');
});

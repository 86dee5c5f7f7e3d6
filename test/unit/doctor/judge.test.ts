/** Rules are those of src/doctor/domain/judge.ts. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  judgeAccount,
  judgeBodyCopy,
  judgeChain,
  judgeClock,
  judgeDatabaseClock,
  judgeIdsLeft,
  judgeKey,
  judgeKeyKind,
  judgeMissingService,
  judgeProof,
} from '../../../src/doctor/domain/judge.ts';

const ADDRESS = 'https://api.payments.example';
const PRODUCTION = 'prd_0123456789abcdef';
const SANDBOX = 'snd_0123456789abcdef';

test.each([
  [401, 'AU_02', 'the key was revoked', /Create a new key/],
  [401, 'AU_01', 'the service does not know the key', /Compare PAYMENTS_API_KEY/],
  [401, 'IR_01', 'the service does not know the key', /Compare PAYMENTS_API_KEY/],
  [401, undefined, 'the service does not know the key', /Compare PAYMENTS_API_KEY/],
  [403, 'AU_03', 'the key has no permission for this', /permissions of a secret key/],
  [404, undefined, `no payment service responds at ${ADDRESS}`, /Set PAYMENTS_BASE_URL/],
  [429, 'RL_01', 'the rate limit of the service is used up', /polls in a loop/],
  [503, undefined, 'the service did not respond as expected (down)', /may be unavailable/],
  [undefined, undefined, 'the service did not respond as expected (down)', /may be unavailable/],
])('HTTP %s with %s: %s', (httpStatus, code, result, remedy) => {
  const judgment = judgeKey({ httpStatus, code, message: 'down' }, ADDRESS);
  expect(judgment).toMatchObject({ state: 'failed', result });
  expect(judgment.remedy).toMatch(remedy);
});

test('a key that is accepted needs no remedy', () => {
  expect(judgeKey('healthy', ADDRESS)).toMatchObject({ state: 'ok', remedy: null });
});

test.each([
  [PRODUCTION, 'https://sandbox.payments.example', 'failed'],
  [PRODUCTION, 'https://api-test.payments.example', 'failed'],
  [PRODUCTION, 'http://127.0.0.1:8082', 'failed'],
  [PRODUCTION, ADDRESS, 'ok'],
  // A word that only contains one of the words that mark a sandbox.
  [PRODUCTION, 'https://api.latest.example', 'ok'],
  [SANDBOX, 'https://sandbox.payments.example', 'ok'],
  [SANDBOX, 'http://localhost:8082', 'ok'],
  [SANDBOX, ADDRESS, 'warning'],
  ['pk_snd_0123456789', ADDRESS, 'failed'],
])('the key %s with %s: %s', (apiKey, baseUrl, state) => {
  const judgment = judgeKeyKind(apiKey, baseUrl);
  expect(judgment.state).toBe(state);
  expect(`${judgment.result} ${judgment.remedy}`).not.toContain(apiKey);
});

test.each([
  [{ apiKey: PRODUCTION, baseUrl: undefined }, 'failed', 'PAYMENTS_BASE_URL'],
  [{ apiKey: undefined, baseUrl: ADDRESS }, 'warning', 'PAYMENTS_API_KEY'],
  [{ apiKey: undefined, baseUrl: undefined }, 'warning', 'PAYMENTS_BASE_URL and PAYMENTS_API_KEY'],
])(
  'without a service, the judgment of case %# is %s, and names what to set',
  (settings, state, names) => {
    const judgment = judgeMissingService(settings);
    expect(judgment.state).toBe(state);
    expect(judgment.remedy).toContain(`Set ${names}`);
    expect(judgment.result).toContain('nothing is reconciled');
    expect(JSON.stringify(judgment)).not.toContain(PRODUCTION);
  },
);

test('a clock may be off by seconds, and is reported more severely the further it is off, ahead or behind', () => {
  const order = ['ok', 'warning', 'failed'];
  fc.assert(
    fc.property(fc.nat(10 * 60_000), fc.nat(60_000), (skewMs, moreMs) => {
      const near = judgeClock(skewMs, false);
      const far = judgeClock(skewMs + moreMs, false);
      expect(order.indexOf(far.state)).toBeGreaterThanOrEqual(order.indexOf(near.state));
      expect(judgeClock(-skewMs, false).state).toBe(near.state);
      expect(near.remedy === null).toBe(near.state === 'ok');
    }),
  );
  expect(judgeClock(900, false).state).toBe('ok');
  expect(judgeClock(10_000, false)).toMatchObject({
    state: 'warning',
    result: "this machine's clock is 10 s ahead of the service's",
  });
  expect(judgeClock(-5 * 60_000, false).state).toBe('failed');
});

test('the clock of the sandbox may be ahead by any time', () => {
  expect(judgeClock(-900, true)).toEqual(judgeClock(-900, false));
  expect(judgeClock(-61_000, true)).toMatchObject({
    state: 'ok',
    result: "the sandbox's clock was advanced by 61 s",
  });
  expect(judgeClock(61_000, true).state).toBe('failed');
});

test('the ledger of another account is not opened under this one', () => {
  expect(judgeAccount(undefined, 'merchant_a').state).toBe('ok');
  expect(judgeAccount('merchant_a', 'merchant_a').state).toBe('ok');
  expect(judgeAccount('merchant_b', 'merchant_a')).toMatchObject({
    state: 'failed',
    result: 'the ledger belongs to merchant_b, but PAYMENTS_MERCHANT_ID is merchant_a',
  });
});

test('a clock that differs from the database’s by two seconds is a warning, by a minute a failure, either way', () => {
  for (const sign of [1, -1]) {
    expect(judgeDatabaseClock(sign * 1_999).state).toBe('ok');
    expect(judgeDatabaseClock(sign * 2_001).state).toBe('warning');
    expect(judgeDatabaseClock(sign * 59_000).state).toBe('warning');
    expect(judgeDatabaseClock(sign * 61_000).state).toBe('failed');
  }
  expect(judgeDatabaseClock(-172_800_000).result).toBe(
    "this machine's clock is 172800 s behind the database's",
  );
});

test('a copy of bodies that goes on is fine, and one that stopped for ten minutes is a warning', () => {
  const facts = { isCopying: true, copiedThrough: 10, lastEventId: 50 };
  expect(judgeBodyCopy({ ...facts, isCopying: false, steppedAgoMs: null }).state).toBe('ok');
  expect(judgeBodyCopy({ ...facts, steppedAgoMs: 599_000 }).state).toBe('ok');
  expect(judgeBodyCopy({ ...facts, steppedAgoMs: 601_000 }).state).toBe('warning');
  expect(judgeBodyCopy({ ...facts, steppedAgoMs: null })).toMatchObject({
    state: 'warning',
    result:
      'bodies of an older version are copied up to event 10 of 50, and the copy does not continue',
  });
});

describe('the proof of the ledger', () => {
  const DAY = 24 * 3_600_000;
  const nowMs = Date.UTC(2026, 10, 22);
  const proof = {
    lastRunMs: nowMs - DAY,
    fullFromMs: nowMs - 31 * DAY,
    fullAtMs: nowMs - DAY,
    failures: 0,
  };
  const stateOf = (changes: Partial<typeof proof> | { fullAtMs: null; fullFromMs: null }) =>
    judgeProof({ ...proof, ...changes }, nowMs, 30).state;

  test('is fine if runs are recent and everything was proven in time', () => {
    expect(judgeProof(proof, nowMs, 30)).toEqual({
      state: 'ok',
      result: 'everything was last proven from 2026-10-22 to 2026-11-21',
      remedy: null,
    });
    expect(stateOf({ fullAtMs: nowMs - 32 * DAY })).toBe('ok');
    expect(stateOf({ fullAtMs: null, fullFromMs: null })).toBe('ok');
    const never = { lastRunMs: null, fullFromMs: null, fullAtMs: null, failures: 0 };
    expect(judgeProof(never, nowMs, 30).state).toBe('ok');
  });

  test('warns of missing runs and of rows that were not proven in time', () => {
    expect(stateOf({ lastRunMs: nowMs - 3 * DAY })).toBe('warning');
    expect(stateOf({ fullAtMs: nowMs - 33 * DAY })).toBe('warning');
  });

  test('fails while a row fails a check', () => {
    const judged = judgeProof({ ...proof, failures: 2 }, nowMs, 30);
    expect(judged).toMatchObject({ state: 'failed', remedy: expect.stringContaining('verify') });
  });
});

test.each([
  [undefined, undefined, 'ok', 'no transfer is chained yet'],
  ['ab', 'ab', 'ok', 'block 7, signed'],
  ['ab', undefined, 'ok', 'block 7, signed'],
  ['cd', 'ab', 'warning', 'block 7 is signed with the key cd, and'],
  [null, undefined, 'warning', 'block 7 is not signed'],
  [null, 'ab', 'warning', 'block 7 is not signed'],
])('a chain that ends with the key %s, where CHAIN_KEY is %s: %s, %s', (...given) => {
  const [publicKey, ownKey, state, result] = given;
  const judged = judgeChain(publicKey === undefined ? undefined : { number: 7, publicKey }, ownKey);
  expect(judged).toMatchObject({ state, result: expect.stringContaining(result) });
  expect(judged.remedy === null).toBe(state === 'ok');
});

test('a server that runs out of transaction ids is reported long before it refuses to write', () => {
  expect(judgeIdsLeft(2_000_000_000)).toEqual({
    state: 'ok',
    result: '2000 million are left',
    remedy: null,
  });
  expect(judgeIdsLeft(499_999_999).state).toBe('warning');
  expect(judgeIdsLeft(99_999_999)).toMatchObject({
    state: 'failed',
    result: expect.stringMatching(/^99 million are left; from 3 million on, PostgreSQL refuses/),
    remedy: expect.stringMatching(/prepared transactions.*replication slots.*VACUUM/),
  });
});

import dns from 'node:dns';
import {
  getDefaultAutoSelectFamilyAttemptTimeout,
  setDefaultAutoSelectFamilyAttemptTimeout,
} from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { exchange, readRetryAfter } from '../../../src/platform/httpExchange.ts';

const ADDRESSES = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

type Resolved = (error: null, addresses: readonly dns.LookupAddress[]) => void;

// Whether a request that moves money is sent again depends on it.
test.each([1, 2])(
  'a request to a server of which all %i addresses refuse was not sent',
  async (count) => {
    const resolve = (_name: string, _options: object, done: Resolved) =>
      done(null, ADDRESSES.slice(0, count));
    vi.spyOn(dns, 'lookup').mockImplementation(resolve as typeof dns.lookup);
    // On a busy machine, a refusal can arrive after the 250 ms that Node.js gives the first of several addresses.
    const defaultMs = getDefaultAutoSelectFamilyAttemptTimeout();
    onTestFinished(() => setDefaultAutoSelectFamilyAttemptTimeout(defaultMs));
    setDefaultAutoSelectFamilyAttemptTimeout(600_000);
    const result = await exchange(
      // Nothing listens on port 2, and `fetch` permits it.
      { method: 'POST', url: 'http://service.example:2/payments', headers: {}, body: '{}' },
      { timeoutMs: 600_000, signal: new AbortController().signal },
    );
    expect(result).toEqual({ kind: 'notSent', reason: 'ECONNREFUSED' });
  },
);

test.each([
  ['connect', 'EHOSTUNREACH', 'notSent'],
  ['connect', 'ECONNREFUSED', 'notSent'],
  ['read', 'EHOSTUNREACH', 'lost'],
  ['read', 'ECONNREFUSED', 'lost'],
  ['write', 'ENETUNREACH', 'lost'],
])('a request of which %s fails with %s is %s', async (syscall, code, kind) => {
  const cause = Object.assign(new Error(`${syscall} ${code}`), { syscall, code });
  onTestFinished(() => {
    vi.restoreAllMocks();
  });
  vi.spyOn(globalThis, 'fetch').mockRejectedValue(new TypeError('fetch failed', { cause }));
  const result = await exchange(
    { method: 'POST', url: 'http://service.example/payments', headers: {}, body: '{}' },
    { timeoutMs: 600_000, signal: new AbortController().signal },
  );
  expect(result).toEqual({ kind, reason: code });
});

const DATE = 'Sun, 06 Nov 1994 08:49:00 GMT';

test.each([
  ['7', 7_000],
  ['120000', 120_000_000],
  ['Sun, 06 Nov 1994 08:49:37 GMT', 37_000],
  ['Sunday, 06-Nov-94 08:49:37 GMT', 37_000],
  ['Sun Nov  6 08:49:37 1994', 37_000],
  ['Sun, 06 Nov 1994 08:48:00 GMT', 0],
  ['soon', undefined],
  ['-1', undefined],
  ['1.5', undefined],
  ['1994-11-06T08:49:37Z', undefined],
])('Retry-After: %s is a wait of %s ms', (text, waitMs) => {
  expect(readRetryAfter(new Headers({ 'retry-after': text, date: DATE }))).toBe(waitMs);
});

test('a time in Retry-After counts from the Date of its response, and from this clock only without one', () => {
  const text = 'Sun, 06 Nov 1994 08:49:37 GMT';
  const here = Date.parse('1994-11-06T08:49:30Z');
  expect(readRetryAfter(new Headers({ 'retry-after': text, date: DATE }), here)).toBe(37_000);
  expect(readRetryAfter(new Headers({ 'retry-after': text }), here)).toBe(7_000);
  expect(readRetryAfter(new Headers({ 'retry-after': text }))).toBeUndefined();
  expect(readRetryAfter(new Headers({}), here)).toBeUndefined();
});

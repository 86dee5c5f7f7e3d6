import dns from 'node:dns';
import { createServer, type ServerResponse } from 'node:http';
import {
  type AddressInfo,
  getDefaultAutoSelectFamilyAttemptTimeout,
  setDefaultAutoSelectFamilyAttemptTimeout,
} from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
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

describe('a response of which not everything arrives', () => {
  /** Responds to each request with the beginning of a body, and leaves the rest to `respond`. */
  async function serve(respond: (response: ServerResponse) => void): Promise<string> {
    const server = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write('{"refund_id":"re_1",');
      respond(response);
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/refunds`;
  }
  const send = (url: string, timeoutMs: number) =>
    exchange(
      { method: 'POST', url, headers: {}, body: '{}' },
      { timeoutMs, signal: new AbortController().signal },
    );

  test('within the timeout is lost, also if its headers and a part of its body arrived', async () => {
    const url = await serve(() => undefined);
    expect(await send(url, 200)).toEqual({ kind: 'lost', reason: 'no response within 200 ms' });
  }, 20_000);

  test('because it is larger than 16 MiB is lost, and is not read on', async () => {
    let written = 0;
    const url = await serve((response) => {
      const chunk = Buffer.alloc(1024 * 1024, ' ');
      const writeOn = (): void => {
        while (written < 64 && !response.closed) {
          written += 1;
          if (!response.write(chunk)) {
            response.once('drain', writeOn);
            return;
          }
        }
        response.end('"amount":1}');
      };
      writeOn();
    });
    expect(await send(url, 60_000)).toEqual({ kind: 'lost', reason: 'the response is too large' });
    expect(written).toBeLessThan(64);
  });
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

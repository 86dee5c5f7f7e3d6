import dns from 'node:dns';
import {
  getDefaultAutoSelectFamilyAttemptTimeout,
  setDefaultAutoSelectFamilyAttemptTimeout,
} from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { exchange } from '../../../src/platform/httpExchange.ts';

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

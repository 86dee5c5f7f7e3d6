/** Sign-ins that a browser began. The numbers are those of src/pages/session/begunSignIns.ts. */
import { createHmac } from 'node:crypto';
import type { Request, Response } from 'express';
import { expect, test } from 'vitest';
import { createBegunSignIns } from '../../../src/pages/session/begunSignIns.ts';
import { MINUTE_MS } from '../../../src/platform/time.ts';

const BEGUN = { state: 'a-state', nonce: 'a-nonce', verifier: 'a-verifier', next: '/orders' };

/** A browser that keeps its cookies, however old, and the sign-ins of the console that it is at. */
function openBrowser(jar = new Map<string, string>()) {
  let nowMs = Date.UTC(2026, 10, 1);
  const sign = (text: string) => createHmac('sha256', 'key').update(text).digest('base64url');
  const signIns = createBegunSignIns({ clock: { nowMs: () => nowMs }, sign });
  const response = {
    cookie: (name: string, value: string) => jar.set(name, value),
    clearCookie: (name: string) => jar.delete(name),
  } as unknown as Response;
  const header = () => [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
  const request = { socket: { encrypted: true }, header } as unknown as Request;
  const given = { request, trustedProxies: { has: () => false } };
  return {
    jar,
    header,
    pass: (ms: number) => {
      nowMs += ms;
    },
    keep: (begun: typeof BEGUN) => signIns.keep(response, given, begun),
    take: (state: string) => signIns.take(response, given, state),
  };
}

test('a sign-in is taken once (rule 1)', () => {
  const browser = openBrowser();
  browser.keep(BEGUN);
  expect(browser.take('a-state')).toMatchObject(BEGUN);
  expect(browser.take('a-state')).toBeUndefined();
});

test('a sign-in ends after ten minutes, although the browser has its cookie (rule 2)', () => {
  const browser = openBrowser();
  browser.keep(BEGUN);
  browser.keep({ ...BEGUN, state: 'another' });
  browser.pass(10 * MINUTE_MS - 1);
  expect(browser.take('a-state')).toMatchObject(BEGUN);
  browser.pass(1);
  expect(browser.take('another')).toBeUndefined();
});

test('cookies that the console did not write are the first to make room (rule 3)', () => {
  const browser = openBrowser(
    new Map(Array.from({ length: 9 }, (_, n) => [`__Host-tallyhook_sign_in_forged${n}`, 'x'])),
  );
  // A name that no response could clear.
  browser.jar.set('__Host-tallyhook_sign_in_"forged"', 'x');
  for (const state of ['1', '2', '3', '4', '5']) {
    browser.keep({ ...BEGUN, state });
    browser.pass(1);
  }
  for (const state of ['1', '2', '3', '4', '5']) {
    expect(browser.take(state)?.state).toBe(state);
  }
  expect([...browser.jar.keys()]).toEqual(['__Host-tallyhook_sign_in_"forged"']);
});

test.each([
  ['letters', 'a'],
  ['characters that take two', '\\'],
])('sign-ins with a long way on of %s fit into a header of a proxy (rule 3)', (_what, one) => {
  const browser = openBrowser();
  for (let length = 0; length < 3_000; length += 50) {
    browser.keep({
      state: String(length).padStart(43, 's'),
      nonce: 'n'.repeat(43),
      verifier: 'v'.repeat(43),
      next: `/orders?text=${one.repeat(length)}`,
    });
    browser.pass(1);
    // Half of the 8 kB of nginx is left to other cookies of the host.
    expect(browser.header().length, String(length)).toBeLessThan(5_000);
  }
  browser.keep({ ...BEGUN, next: `/orders?text=${'a'.repeat(480)}` });
  expect(browser.take('a-state')?.next).toHaveLength(493);
});

/** Forwarding one event: what is sent, what counts as a response, and when it is given up. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { nextDelayMs } from '../../src/cli/following.ts';
import { forwardEvent, type Target, type Unreachable } from '../../src/cli/forward.ts';
import { MINUTE_MS } from '../../src/platform/time.ts';
import { runTallyhook } from '../support/cli.ts';
import { ACCEPT, type HttpReceiver, startHttpReceiver } from '../support/receivers.ts';

let laptop: HttpReceiver;
const failures: Unreachable[] = [];
const stop = new AbortController();
beforeEach(async () => {
  laptop = await startHttpReceiver();
  failures.length = 0;
});
afterEach(() => laptop.close());

const target = (more: Partial<Target> = {}): Target => ({
  url: laptop.url,
  secret: 'secret',
  giveUpAfterMs: MINUTE_MS,
  signal: stop.signal,
  onUnreachable: (failure) => failures.push(failure),
  ...more,
});
const event = { number: 7, body: Buffer.from('{"type": "x"}  '), isRepeat: false };
const REPEAT = 'x-tallyhook-repeat';

test('any status is a response, a redirect is not followed, and the body is unchanged', async () => {
  for (const status of [200, 302, 404, 500]) {
    laptop.behave({ does: 'respond', status, headers: { location: laptop.url } });
    const result = await forwardEvent(target(), event);
    expect(result).toMatchObject({ outcome: 'responded', status, isRepeat: false });
  }
  expect(laptop.posts.map(({ body }) => body)).toEqual(Array(4).fill('{"type": "x"}  '));
});

test('a request without a response is repeated, and every repeat is marked', async () => {
  laptop.behave(({ headers }) => (headers[REPEAT] ? ACCEPT : { does: 'read_and_disconnect' }));
  const result = await forwardEvent(target(), event);
  expect(result).toMatchObject({ outcome: 'responded', status: 200, isRepeat: true });
  expect(laptop.posts.map(({ headers }) => headers[REPEAT])).toEqual([undefined, 'true']);
  expect(failures).toMatchObject([{ number: 7, attempts: 1 }]);
});

test('what may have been forwarded before is marked from the first request on', async () => {
  await forwardEvent(target(), { ...event, isRepeat: true });
  expect(laptop.posts.map(({ headers }) => headers[REPEAT])).toEqual(['true']);
});

test('an unreachable address is given up after its time, with the reason', async () => {
  await laptop.stop();
  expect(await forwardEvent(target({ giveUpAfterMs: 300 }), event)).toEqual({
    outcome: 'given_up',
    reason: expect.stringContaining('ECONNREFUSED'),
  });
});

test('the delay between attempts doubles, up to its limit', () => {
  const delays: number[] = [];
  for (let last: number | undefined; delays.length < 8; delays.push(last)) {
    last = nextDelayMs(last, 10_000);
  }
  expect(delays).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000]);
});

test('a wait ends at once when the command is stopped', async () => {
  await laptop.stop();
  const stopping = new AbortController();
  const onUnreachable = () => stopping.abort();
  const forwarding = forwardEvent(target({ signal: stopping.signal, onUnreachable }), event);
  await expect(forwarding).rejects.toThrow('aborted');
});

test.each(['localhost:3000', 'ftp://localhost/x', 'http://user:secret@localhost/x'])(
  'the address %s is refused',
  async (url) => {
    const { code, stdout, stderr } = await runTallyhook(['listen', '--forward-to', url]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('Give an http or https address without a user');
  },
);

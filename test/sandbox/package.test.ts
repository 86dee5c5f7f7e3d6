/** What `@tallyhook/sandbox` promises to tests of others. test/pack/sandbox.test.ts installs it. */
import { createHmac } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { DAY_MS } from '../../src/platform/time.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/package/index.ts';
import { cardPayment } from '../support/sandboxRequests.ts';
import { type Body, createServiceApi } from '../support/serviceApi.ts';
import { waitFor } from '../support/waitFor.ts';
import { startWebhookListener, type WebhookListener } from '../support/webhookListener.ts';

const MORNING = '2026-11-23T09:00:00.000Z';

let listener: WebhookListener;
let sandbox: Sandbox;
beforeEach(async () => {
  listener = await startWebhookListener();
  sandbox = await startSandbox({ clock: MORNING, webhookUrl: listener.url });
});
afterEach(async () => {
  listener.releaseResponses();
  await sandbox.stop();
  await listener.close();
});

const create = async (request: object, at = sandbox): Promise<Body> => {
  const { body } = await createServiceApi(at).call('POST', '/payments', cardPayment(request));
  return body;
};
const retrieve = async (id: string): Promise<Body> =>
  (await createServiceApi(sandbox).call('GET', `/payments/${id}`)).body;
const list = async (): Promise<Body> =>
  (await createServiceApi(sandbox).call('GET', '/payments/list')).body;
const received = () =>
  listener.received.map(({ event }) => `${event.event_type} ${event.timestamp.slice(0, 10)}`);

test('its clock shows the given time until it is changed', async () => {
  const { created } = await create({ payment_id: 'first' });
  const { created: later } = await create({ payment_id: 'second' });
  expect([created, later, sandbox.now().toISOString()]).toEqual([MORNING, MORNING, MORNING]);
});

test('forward, everything that falls due on the way happens at its own time', async () => {
  await create({ payment_id: 'held', capture_method: 'manual' });
  await sandbox.setClock('2026-12-24T00:00:00Z');
  expect(await retrieve('held')).toMatchObject({
    status: 'expired',
    modified_at: '2026-11-30T09:00:00.000Z',
  });
  expect(received()).toEqual(['payment_authorized 2026-11-23', 'payment_expired 2026-11-30']);
  await sandbox.advance(DAY_MS);
  expect(sandbox.now().toISOString()).toBe('2026-12-25T00:00:00.000Z');
});

test('backward, what exists keeps its times, and what was due later waits', async () => {
  const manual = { capture_method: 'manual' };
  await create({ payment_id: 'held', ...manual });
  await sandbox.setClock('2026-11-20T09:00:00Z');
  expect(received()).toEqual(['payment_authorized 2026-11-23']);
  await create({ payment_id: 'older', ...manual });
  const { data } = await list();
  expect(data.map(({ payment_id: id }: Body) => id)).toEqual(['held', 'older']);
  const cancel = createServiceApi(sandbox).call('POST', '/payments/held/cancel', {});
  expect((await cancel).status).toBe(200);
  const { created, modified_at: modified } = await retrieve('held');
  expect(created).toBe(MORNING);
  expect(Date.parse(modified)).toBeGreaterThan(Date.parse(MORNING));
  await sandbox.setClock('2026-11-27T08:59:59Z');
  expect((await retrieve('older')).status).toBe('requires_capture');
  await sandbox.setClock('2026-11-27T09:00:00Z');
  expect((await retrieve('older')).status).toBe('expired');
});

test('a reset leaves nothing of the test before, and keeps the address and the key', async () => {
  const { baseUrl, apiKey } = sandbox;
  await create({ payment_id: 'before', capture_method: 'manual' });
  await sandbox.setClock('2026-11-24T00:00:00Z');
  sandbox.setFaults({ webhooks: { drop: 1 } });
  await sandbox.reset();
  expect(sandbox.now().toISOString()).toBe(MORNING);
  expect((await list()).data).toEqual([]);
  expect((await retrieve('before')).error.code).toBe('IR_05');
  await create({ payment_id: 'before' });
  await sandbox.settle();
  expect(received()).toEqual(['payment_authorized 2026-11-23', 'payment_succeeded 2026-11-23']);
  expect(sandbox).toMatchObject({ baseUrl, apiKey });
});

test('faults that cannot be right are refused with the field and what is allowed, and change nothing', async () => {
  sandbox.setFaults({ webhooks: { drop: 1 } });
  const wrong: object = {
    webhooks: { dorp: 1 },
    requests: [{ fault: 'server_error' }, { fault: 'servererror', rate: 2 }],
  };
  const refusal = [
    'faults.webhooks: dorp: no such field; use drop, duplicate, delay',
    'faults.requests[1].fault: Invalid option: expected one of "rate_limit"|"retry_after"|',
    'faults.requests[1].rate: Too big: expected number to be <=1',
  ];
  const thrown = (() => {
    try {
      sandbox.setFaults(wrong);
    } catch (error) {
      return error;
    }
  })();
  expect(thrown).toBeInstanceOf(RangeError);
  for (const part of refusal) expect(String(thrown)).toContain(part);
  await expect(startSandbox({ faults: wrong })).rejects.toThrow(refusal[1]);
  await expect(sandbox.control('PUT', '/faults', wrong)).rejects.toThrow(/: 400 .*dorp: no such/);
  expect(await sandbox.control('GET', '/faults')).toMatchObject({
    webhooks: { drop: 1 },
    requests: [],
  });
});

test('a reset ends webhooks in flight, and what waits for them is never sent', async () => {
  listener.withholdResponses((id) => id === 'hangs');
  await create({ payment_id: 'hangs', capture_method: 'manual' });
  await createServiceApi(sandbox).call('POST', '/payments/hangs/capture', {});
  await waitFor('the first webhook', () => listener.received.length === 1);
  await sandbox.reset({ clock: '2030-01-01T00:00:00Z' });
  listener.releaseResponses();
  for (const id of ['one', 'two', 'three']) {
    await create({ payment_id: id });
    await sandbox.settle();
  }
  expect(received()).toEqual([
    'payment_authorized 2026-11-23',
    ...Array.from({ length: 3 }, () => 'payment_succeeded 2030-01-01'),
  ]);
});

test('two sandboxes share neither data nor clock', async () => {
  const other = await startSandbox({ clock: new Date('2001-01-01') });
  await create({ payment_id: 'mine' });
  expect((await create({ payment_id: 'mine' }, other)).created).toBe('2001-01-01T00:00:00.000Z');
  await other.advance(DAY_MS);
  expect(sandbox.now().toISOString()).toBe(MORNING);
  await other.stop();
});

test('without a clock, time passes as on the machine', async () => {
  const { reset, now } = sandbox;
  await reset({ clock: undefined });
  const first = now().getTime();
  expect(Math.abs(first - Date.now())).toBeLessThan(60_000);
  await waitFor('the clock to move', () => now().getTime() > first);
});

test('webhooks are signed with its secret', async () => {
  await create({ payment_id: 'signed' });
  await sandbox.settle();
  const [webhook] = listener.received;
  const signature = createHmac('sha512', sandbox.webhookSecret).update(webhook?.body ?? '');
  expect(webhook?.signature).toBe(signature.digest('hex'));
});

test('control routes act as the customer, and a route that fails throws its response', async () => {
  await create({ payment_id: 'acting', authentication_type: 'three_ds', amount: 730000 });
  await sandbox.control('POST', '/payments/acting/action', { action: 'complete' });
  expect((await retrieve('acting')).status).toBe('succeeded');
  await expect(
    sandbox.control('POST', '/payments/none/action', { action: 'fail' }),
  ).rejects.toThrow(/404 .*No payment has the id none/);
});

test.each([
  { clock: 'tomorrow' },
  { clock: new Date(8.64e15) },
  { webhookUrl: 'localhost:3000/webhooks' },
  { webhookUrl: '/webhooks' },
  { faults: { webhooks: { drop: 2 } } },
])('a setting that cannot be right is refused: %j', async (settings) => {
  await expect(startSandbox(settings)).rejects.toThrow(/clock|webhookUrl|drop/);
  await expect(sandbox.reset(settings)).rejects.toThrow(/clock|webhookUrl|drop/);
  expect((await create({ payment_id: 'works' })).status).toBe('succeeded');
});

test('a setting that does not exist is refused, by start and by reset', async () => {
  const misspelled: object = { webhookURL: 'http://127.0.0.1:3000/webhooks' };
  const refusal = /^webhookURL is no setting; .*webhookUrl/;
  await expect(startSandbox(misspelled)).rejects.toThrow(refusal);
  await expect(sandbox.reset(misspelled)).rejects.toThrow(refusal);
});

test.each([
  { requestsPerMinute: 0 },
  { requestsPerMinute: Number.NaN },
  { webhookSecret: 'short-secret' },
])('a setting of the start that cannot be right is refused: %j', async (settings) => {
  const error = await startSandbox(settings).catch(String);
  expect(error).toMatch(/^RangeError: (requestsPerMinute|webhookSecret): /);
  expect(error).not.toContain('short-secret');
});

test.each([
  [Number.NaN, 'NaN'],
  [Number.POSITIVE_INFINITY, 'Infinity'],
  [-1, '-1'],
  [1.5, '1.5'],
  [3_650 * DAY_MS + 1, '315360000001'],
  ['1000', '"1000"'],
  [undefined, 'undefined'],
] as const)('an advance by %s is refused, and the clock goes on', async (ms, shown) => {
  await expect(sandbox.advance(ms as number)).rejects.toThrow(
    `advance: ${shown} is no duration; use whole milliseconds`,
  );
  await expect(sandbox.setClock(ms as unknown as string)).rejects.toThrow(/^clock: .* is no time/);
  expect(sandbox.now().toISOString()).toBe(MORNING);
  await sandbox.advance(1_000);
  expect(sandbox.now().toISOString()).toBe('2026-11-23T09:00:01.000Z');
});

test('an advance beyond the year 9999 is refused', async () => {
  await sandbox.setClock('9999-12-31T23:59:59Z');
  await expect(sandbox.advance(1_000)).rejects.toThrow(/the year 9999/);
});

/** Timers that keep this process alive. */
const timers = () => process.getActiveResourcesInfo().filter((type) => type === 'Timeout').length;

test('a sandbox may be stopped twice, and a reset beside it or after it leaves nothing running', async () => {
  const before = timers();
  const other = await startSandbox();
  const resets = [other.reset(), other.reset()];
  await Promise.all([...resets, other.stop(), other.stop()]);
  await other.stop();
  await expect(other.reset()).rejects.toThrow('was stopped before this reset; start another one');
  await waitFor('the timers of the sandbox to end', () => timers() <= before);
});

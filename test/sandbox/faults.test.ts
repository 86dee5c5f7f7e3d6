/** Faults on demand: each has its documented effect, the same in every run with one seed. */
import { createHmac } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { HOUR_MS } from '../../src/platform/time.ts';
import { SANDBOX_SECRET, startTestSandbox, type TestSandbox } from '../support/sandbox.ts';
import { cardPayment } from '../support/sandboxRequests.ts';
import type { Body } from '../support/serviceApi.ts';
import { waitFor } from '../support/waitFor.ts';

let sandbox: TestSandbox;
beforeEach(async () => {
  sandbox = await startTestSandbox();
});
afterEach(() => sandbox.close());

const faults = (wanted: object) => sandbox.control('PUT', '/faults', wanted);
const settle = () => sandbox.control('POST', '/settle');
const pay = (id: string, fields: object = {}) =>
  sandbox.call('POST', '/payments', cardPayment({ payment_id: id, ...fields }));
const stored = async () => (await sandbox.control('GET', '/resources/payment?limit=1000')).data;

const deliveries = () =>
  sandbox.listener.received.map(({ body, event, signature }) => ({
    id: String(event.content.object.payment_id),
    eventId: event.event_id,
    eventType: event.event_type,
    amount: event.content.object.amount,
    isSigned: signature === createHmac('sha512', SANDBOX_SECRET).update(body).digest('hex'),
  }));

describe('webhooks', () => {
  test('drop: never sent, even after days', async () => {
    await faults({ webhooks: { drop: 1 } });
    await pay('lost');
    await sandbox.advance(48 * HOUR_MS);
    expect(deliveries()).toEqual([]);
    const { data } = await sandbox.control('GET', '/webhooks?object_id=lost');
    expect(data).toMatchObject([{ sent: 0, waiting: 0 }]);
  });

  test('duplicate: twice, byte for byte', async () => {
    await faults({ webhooks: { duplicate: 1 } });
    await pay('two');
    await settle();
    const [first, second, ...more] = sandbox.listener.received;
    expect(second?.body).toEqual(first?.body);
    expect(second?.signature).toBe(first?.signature);
    expect(more).toEqual([]);
  });

  test('corrupt_signature: the first attempt does not verify, the retry does', async () => {
    sandbox.listener.respondWith(401);
    await faults({ webhooks: { corrupt_signature: 1 } });
    await pay('corrupt');
    await settle();
    sandbox.listener.respondWith(200);
    await sandbox.advance(2 * 60_000);
    expect(deliveries().map(({ isSigned }) => isSigned)).toEqual([false, true]);
  });

  test('late_copy: the old body is sent again after the object has changed', async () => {
    await faults({ webhooks: { late_copy: 1, late_copy_ms: HOUR_MS } });
    await pay('late', { capture_method: 'manual' });
    await sandbox.call('POST', '/payments/late/capture');
    await sandbox.advance(2 * HOUR_MS);
    expect(deliveries().map(({ eventType }) => eventType)).toEqual([
      'payment_authorized',
      'payment_succeeded',
      'payment_authorized',
      'payment_succeeded',
    ]);
  });

  test('changed_copy: another body under the same event id, correctly signed', async () => {
    await faults({ webhooks: { changed_copy: 1 } });
    await pay('changed');
    await settle();
    const [first, second] = deliveries();
    expect(second).toEqual({ ...first, amount: 6541 });
    expect(second?.isSigned).toBe(true);
  });

  test('reorder: the next event of the object overtakes one that is held back', async () => {
    const seed = await seedWhere('held', 'payment_authorized');
    await faults({ seed, webhooks: { reorder: 0.5, reorder_ms: HOUR_MS } });
    await pay('held', { capture_method: 'manual' });
    await sandbox.call('POST', '/payments/held/capture');
    await sandbox.advance(2 * HOUR_MS);
    expect(deliveries().map(({ eventType }) => eventType)).toEqual([
      'payment_succeeded',
      'payment_authorized',
    ]);
  });

  test('delay: sent later, but within the configured time', async () => {
    await faults({ webhooks: { delay: 1, delay_ms: HOUR_MS } });
    await pay('slow');
    await settle();
    expect(deliveries()).toEqual([]);
    await sandbox.advance(HOUR_MS);
    expect(deliveries()).toHaveLength(1);
  });

  test('one_event_per_type: a second change of the same type sends nothing', async () => {
    await faults({ webhooks: { one_event_per_type: true } });
    await pay('often', { capture_method: 'manual_multiple' });
    for (const amount of [1, 2]) {
      await sandbox.call('POST', '/payments/often/capture', { amount_to_capture: amount });
    }
    await settle();
    expect(deliveries().map(({ eventType }) => eventType)).toEqual([
      'payment_authorized',
      'payment_captured',
    ]);
  });

  test('the same seed gives the same payments the same faults, another seed gives others', async () => {
    const lostWith = async (seed: number): Promise<readonly string[]> => {
      // Decisions depend on the ids, which can be used once: each run has its own sandbox.
      const fresh = await startTestSandbox({ faults: { seed, webhooks: { drop: 0.5 } } });
      for (let number = 0; number < 24; number += 1) {
        await fresh.call('POST', '/payments', cardPayment({ payment_id: `p${number}` }));
      }
      await fresh.control('POST', '/settle');
      const sent = new Set(
        fresh.listener.received.map(({ event }) => String(event.content.object.payment_id)),
      );
      await fresh.close();
      return [...sent].toSorted();
    };
    const [first, again, other] = [await lostWith(1), await lostWith(1), await lostWith(2)];
    expect(again).toEqual(first);
    expect(other).not.toEqual(first);
    expect(first.length).toBeGreaterThan(0);
    expect(first.length).toBeLessThan(24);
  });

  /** A seed with which the first event of an object is held back and the second is not. */
  async function seedWhere(id: string, heldType: string): Promise<number> {
    const { createSeededRandom } = await import('../../src/sandbox/faults/seededRandom.ts');
    for (let seed = 1; ; seed += 1) {
      const random = createSeededRandom(seed);
      const isHeld = (type: string) => random('reorder', `${id}/${type}/0`) < 0.5;
      if (isHeld(heldType) && !isHeld('payment_succeeded')) return seed;
    }
  }
});

describe('requests', () => {
  const request = (fault: object) => faults({ requests: [fault] });

  test('rate_limit: 429 as often as configured, then success', async () => {
    await request({ fault: 'rate_limit', times: 2, path: '/payments' });
    const statuses = [];
    for (let count = 0; count < 3; count += 1) statuses.push((await pay('burst')).status);
    expect(statuses).toEqual([429, 429, 200]);
    expect((await sandbox.call('GET', '/health')).status).toBe(200);
  });

  test('retry_after: 429 that names its wait in no other header', async () => {
    await request({ fault: 'retry_after', times: 1, hold_ms: 2_000 });
    const headers = { 'api-key': sandbox.apiKey };
    const refused = await fetch(`${sandbox.baseUrl}/payments/p`, { headers });
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('2');
    expect([...refused.headers.keys()].filter((name) => name.includes('ratelimit'))).toEqual([]);
  });

  test('server_error: the request has no effect', async () => {
    for (const status of [500, 502, 503]) {
      await request({ fault: 'server_error', status, times: 1 });
      const reply = await pay('unlucky');
      expect(reply).toMatchObject({ status, body: { error: { code: expect.any(String) } } });
    }
    expect(await stored()).toEqual([]);
  });

  test('cut_before: no response and no effect', async () => {
    await request({ fault: 'cut_before', times: 1 });
    await expect(pay('cut')).rejects.toThrow();
    expect(await stored()).toEqual([]);
    expect((await pay('cut')).status).toBe(200);
  });

  test('cut_after: no response, but one effect', async () => {
    await request({ fault: 'cut_after', times: 1 });
    await expect(pay('cut')).rejects.toThrow();
    expect(await stored()).toMatchObject([{ payment_id: 'cut', status: 'succeeded' }]);
    expect((await pay('cut')).body.error.code).toBe('HE_01');
    expect(await stored()).toMatchObject([{ attempt_count: 1 }]);
  });

  // Both hold the response for longer than a busy machine takes to show the change.
  test.each(['timeout_after', 'slow'])(
    '%s: the change is committed long before a response',
    async (fault) => {
      await request({ fault, times: 1, hold_ms: 120_000 });
      const stop = new AbortController();
      const outcome = fetch(`${sandbox.baseUrl}/payments`, {
        method: 'POST',
        headers: { 'api-key': sandbox.apiKey },
        body: JSON.stringify(cardPayment({ payment_id: 'held' })),
        signal: stop.signal,
      }).then(
        () => 'response',
        () => 'given up',
      );
      await waitFor('the payment to be made', async () => (await stored()).length === 1);
      stop.abort();
      expect(await outcome).toBe('given up');
    },
  );

  test('slow: the response comes after its time', async () => {
    await request({ fault: 'slow', times: 1, hold_ms: 10 });
    expect(await pay('slow')).toMatchObject({ status: 200, body: { payment_id: 'slow' } });
  });

  test('garbage, redirect and unknown_code are undocumented responses', async () => {
    await request({ fault: 'garbage', times: 1 });
    expect((await pay('g')).body).toContain('<!doctype html>');
    await request({ fault: 'redirect', times: 1 });
    expect(await pay('g')).toMatchObject({ status: 307 });
    await request({ fault: 'unknown_code', times: 1 });
    expect(await pay('g')).toMatchObject({ status: 400, body: { error: { code: 'ZZ_99' } } });
    expect(await stored()).toEqual([]);
  });

  test('extra_fields and missing_fields change the response, not the effect', async () => {
    await request({ fault: 'extra_fields', times: 1 });
    expect((await pay('e')).body).toMatchObject({ payment_id: 'e', sandbox_extra: {} });
    await request({ fault: 'missing_fields', fields: ['status', 'amount'], times: 1 });
    const { body } = await sandbox.call('GET', '/payments/e');
    expect(body).toMatchObject({ payment_id: 'e' });
    expect(body).not.toHaveProperty('status');
    expect(body).not.toHaveProperty('amount');
  });

  test('forbidden concerns the requests under its path, and nothing else', async () => {
    await request({ fault: 'forbidden', path: '/disputes' });
    const { status, body } = await sandbox.call('GET', '/disputes/list');
    expect({ status, error: body.error }).toMatchObject({ status: 403, error: { code: 'IR_22' } });
    expect((await pay('f')).status).toBe(200);
  });

  test.each(['HE_00', 'CE_01'])('processing_error: 422 with %s, and no effect', async (code) => {
    await request({ fault: 'processing_error', code, times: 1 });
    expect(await pay('b')).toMatchObject({ status: 422, body: { error: { code } } });
    expect(await stored()).toEqual([]);
  });

  test('empty_body: 200 without a body, and one effect', async () => {
    await request({ fault: 'empty_body', times: 1 });
    expect(await pay('n')).toMatchObject({ status: 200 });
    expect(await stored()).toMatchObject([{ payment_id: 'n', status: 'succeeded' }]);
  });

  test('mixed_up changes the ids of the response, not the effect', async () => {
    await request({ fault: 'mixed_up', times: 1 });
    expect((await pay('m')).body).toMatchObject({ payment_id: 'm_other', amount: 6540 });
    expect((await sandbox.call('GET', '/payments/m')).body).toMatchObject({ payment_id: 'm' });
  });

  test('a list that is an array stays an array under faults that change fields', async () => {
    await pay('a');
    for (const fault of ['extra_fields', 'missing_fields']) {
      await faults({ requests: [{ fault, fields: ['0'] }], lists: { envelope: 'array' } });
      const { body } = await sandbox.call('POST', '/payments/list', {});
      expect(body).toMatchObject([{ payment_id: 'a' }]);
    }
  });

  test('a rate is a share of the requests, the same ones in every run', async () => {
    const statuses = async () => {
      await faults({ seed: 7, requests: [{ fault: 'server_error', rate: 0.5 }] });
      const found: number[] = [];
      for (let count = 0; count < 20; count += 1) {
        found.push((await sandbox.call('GET', '/health')).status);
      }
      return found;
    };
    const first = await statuses();
    expect(new Set(first)).toEqual(new Set([200, 503]));
    expect(await statuses()).toEqual(first);
  });
});

describe('lists', () => {
  const list = async (filter: object = {}): Promise<Body> =>
    (await sandbox.call('POST', '/payments/list', { limit: 100, ...filter })).body;
  const lists = (wanted: object) => faults({ lists: wanted });
  const idsOf = (rows: Body) => rows.map((row: Body) => row.payment_id);

  async function makeThree(): Promise<void> {
    for (const id of ['a', 'b', 'c']) await pay(id, { capture_method: 'manual' });
  }

  test.each([
    ['count', ['count', 'data', 'total_count']],
    ['has_more', ['data', 'has_more', 'total_count']],
    ['size', ['data', 'size']],
  ])('envelope %s', async (envelope, keys) => {
    await pay('a');
    await lists({ envelope });
    expect(Object.keys(await list()).toSorted()).toEqual(keys);
  });

  test('envelope array', async () => {
    await pay('a');
    await lists({ envelope: 'array' });
    expect(idsOf(await list())).toEqual(['a']);
  });

  test('sort by modification: the last changed row comes first', async () => {
    await makeThree();
    // A fast machine makes all of it within a millisecond, and of equal times the order of creation counts.
    await sandbox.advance(1_000);
    await sandbox.call('POST', '/payments/a/capture');
    expect(idsOf((await list()).data)).toEqual(['c', 'b', 'a']);
    await lists({ sort: 'modified' });
    expect(idsOf((await list()).data)).toEqual(['a', 'c', 'b']);
  });

  test('replica lag: new rows are missing, and changed rows have their old state', async () => {
    await lists({ replica_lag_ms: HOUR_MS });
    await makeThree();
    await sandbox.advance(2 * HOUR_MS);
    await sandbox.call('POST', '/payments/a/capture');
    await pay('d');
    const page = await list();
    expect(page.total_count).toBe(3);
    expect(page.data.at(-1)).toMatchObject({ payment_id: 'a', status: 'requires_capture' });
    expect((await list({ status: 'requires_capture' })).total_count).toBe(3);
    expect((await sandbox.call('GET', '/payments/a')).body.status).toBe('succeeded');
    await sandbox.advance(HOUR_MS);
    expect((await list()).total_count).toBe(4);
    expect((await list({ status: 'succeeded' })).total_count).toBe(2);
  });

  test('ignored filters have no effect', async () => {
    await makeThree();
    await lists({ ignored_filters: ['status', 'created_lte'] });
    expect((await list({ status: 'failed', created_lte: '2001-01-01' })).total_count).toBe(3);
    expect((await list({ currency: 'EUR' })).total_count).toBe(0);
  });

  test('short pages miss rows that the total counts, different ones in each request, never all', async () => {
    for (let count = 0; count < 20; count += 1) await pay(`p${count}`);
    await lists({ short_pages: 1 });
    const [first, second] = [await list(), await list()];
    expect(first.total_count).toBe(20);
    expect(first.count).toBeLessThan(20);
    expect(idsOf(first.data)).not.toEqual(idsOf(second.data));
    expect((await list({ limit: 1 })).count).toBe(1);
  });

  test('equal times: rows that were created within one tick have the same time', async () => {
    await lists({ tick_ms: 60_000 });
    await makeThree();
    await sandbox.call('POST', '/payments/a/capture');
    const { data } = await list();
    const times = new Set(data.map((row: Body) => row.created));
    expect(times.size).toBeLessThanOrEqual(2);
    for (const row of data) {
      expect(Date.parse(row.created) % 60_000).toBe(0);
      expect(Date.parse(row.modified_at) % 60_000).toBe(0);
    }
  });

  test('equal times: a response has the times that a retrieve shows, and created does not change', async () => {
    const old = (await pay('old', { confirm: false })).body;
    await lists({ tick_ms: 60_000 });
    const made = (await pay('made', { confirm: false })).body;
    for (const before of [old, made]) {
      const path = `/payments/${before.payment_id}`;
      const { body } = await sandbox.call('POST', path, { description: 'x' });
      const { client_secret, ...responded } = body;
      expect((await sandbox.call('GET', path)).body).toEqual(responded);
      expect(responded.created).toBe(before.created);
      expect(Date.parse(responded.modified_at) % 60_000).toBe(0);
    }
    expect(Date.parse(made.created) % 60_000).toBe(0);
  });

  test('equal times on a lagging replica: a changed row is in the list once, at every instant', async () => {
    let machineMs = Date.UTC(2027, 0, 1);
    const slow = await startTestSandbox({
      clock: { nowMs: () => machineMs },
      faults: { lists: { tick_ms: 60_000, replica_lag_ms: 1_000 } },
    });
    const manual = cardPayment({ payment_id: 'a', capture_method: 'manual' });
    await slow.call('POST', '/payments', manual);
    machineMs += 90_000;
    await slow.call('POST', '/payments/a/capture');
    for (let count = 0; count < 8; count += 1) {
      const { body } = await slow.call('POST', '/payments/list', {});
      expect(idsOf(body.data), new Date(machineMs).toISOString()).toEqual(['a']);
      machineMs += 250;
    }
    await slow.close();
  });

  test('unstable ties: rows with the same time change places between requests', async () => {
    await lists({ tick_ms: 60_000, unstable_ties: true });
    for (let count = 0; count < 10; count += 1) await pay(`p${count}`);
    const orders = new Set<string>();
    for (let count = 0; count < 5; count += 1) orders.add(idsOf((await list()).data).join());
    expect(orders.size).toBeGreaterThan(1);
  });
});

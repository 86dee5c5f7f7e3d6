/** Seeded decisions: pure, repeatable, and at the configured rate. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { MAX_RETRIES, retryDelayMs } from '../../../src/sandbox/domain/retrySchedule.ts';
import { planDeliveries } from '../../../src/sandbox/faults/deliveries.ts';
import { createRequestFaults } from '../../../src/sandbox/faults/requests.ts';
import { createSeededRandom } from '../../../src/sandbox/faults/seededRandom.ts';
import { faultsSchema } from '../../../src/sandbox/faults/settings.ts';
import { signWebhook } from '../../../src/sandbox/webhooks/sign.ts';

test('a random number depends on seed and subject alone', () => {
  const [one, same, other] = [createSeededRandom(1), createSeededRandom(1), createSeededRandom(2)];
  one('something', 'else');
  expect(one('drop', 'pay_1')).toBe(same('drop', 'pay_1'));
  expect(one('drop', 'pay_1')).not.toBe(other('drop', 'pay_1'));
  expect(one('drop', 'pay_1')).not.toBe(one('drop', 'pay_2'));
});

test('a rate is the share of subjects that meet it', () => {
  const random = createSeededRandom(3);
  const faults = faultsSchema.parse({ webhooks: { drop: 0.1, duplicate: 0.2 } }).webhooks;
  const plans = Array.from({ length: 5_000 }, (_none, n) =>
    planDeliveries(faults, random, `pay_${n}`),
  );
  const lost = plans.filter((plan) => plan.length === 0).length / plans.length;
  const doubled = plans.filter((plan) => plan.length === 2).length / plans.length;
  expect(lost).toBeGreaterThan(0.08);
  expect(lost).toBeLessThan(0.12);
  expect(doubled).toBeGreaterThan(0.15);
  expect(doubled).toBeLessThan(0.22);
});

test('without faults an event is sent once, at once', () => {
  const { webhooks } = faultsSchema.parse({});
  expect(planDeliveries(webhooks, createSeededRandom(1), 'x')).toEqual([
    { reason: 'first', delayMs: 0, corrupts: undefined },
  ]);
});

test('a request fault counts only matching requests', () => {
  const { requests } = faultsSchema.parse({
    requests: [{ fault: 'cut_after', method: 'POST', path: '/refunds', times: 1 }],
  });
  const faults = createRequestFaults(requests, createSeededRandom(1));
  expect(faults.choose('GET', '/refunds')).toBeUndefined();
  expect(faults.choose('POST', '/payments')).toBeUndefined();
  expect(faults.choose('POST', '/refunds/x')?.fault).toBe('cut_after');
  expect(faults.choose('POST', '/refunds')).toBeUndefined();
});

test('an unknown fault is rejected by name', () => {
  expect(() => faultsSchema.parse({ webhooks: { dorp: 1 } })).toThrow('dorp');
  expect(() => faultsSchema.parse({ webhooks: { drop: 2 } })).toThrow();
});

test('16 retries over 86,460 seconds, and then none', () => {
  const delays = Array.from(
    { length: MAX_RETRIES },
    (_none, attempt) => retryDelayMs(attempt) ?? 0,
  );
  expect(delays).toHaveLength(16);
  expect(delays.reduce((sum, delay) => sum + delay, 0)).toBe(86_460_000);
  expect(retryDelayMs(MAX_RETRIES)).toBeUndefined();
});

/** The service signs text that it wrote itself, so bytes that are no text are not its concern. */
test('signatures are those that openssl makes', () => {
  const fixture = new URL('../../fixtures/signatures.json', import.meta.url);
  const vectors = JSON.parse(readFileSync(fixture, 'utf8')) as readonly {
    readonly secret: string;
    readonly body_base64: string;
    readonly hex: string;
  }[];
  const texts = vectors.filter(({ body_base64: body }) => {
    const bytes = Buffer.from(body, 'base64');
    return Buffer.from(bytes.toString('utf8')).equals(bytes);
  });
  expect(texts.length).toBeGreaterThan(6);
  for (const { body_base64: body, hex, secret } of texts) {
    expect(signWebhook(Buffer.from(body, 'base64').toString('utf8'), secret)).toBe(hex);
  }
});

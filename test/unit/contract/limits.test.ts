import { describe, expect, it } from 'vitest';
import {
  API_KEY_HEADER,
  API_KEY_PREFIXES,
  CUSTOMER_ID_MAX_LENGTH,
  DEFAULT_OFFSET,
  MANUAL_AUTHORIZATION_VALIDITY_MS,
  MERCHANT_ORDER_REFERENCE_ID_MAX_LENGTH,
  METADATA_LIMITS,
  PAGE_SIZE,
  PAYMENT_ID_MAX_LENGTH,
  PAYMENT_ID_PATTERN,
  RATE_LIMIT_HEADERS,
  STATEMENT_DESCRIPTOR_MAX_LENGTH,
} from '../../../src/contract/limits.ts';

describe('limits', () => {
  it('are the figures of the contract', () => {
    expect(PAGE_SIZE).toEqual({ default: 10, min: 1, max: 100 });
    expect(DEFAULT_OFFSET).toBe(0);
    expect(CUSTOMER_ID_MAX_LENGTH).toBe(64);
    expect(MERCHANT_ORDER_REFERENCE_ID_MAX_LENGTH).toBe(255);
    expect(METADATA_LIMITS).toEqual({ maxPairs: 50, maxKeyLength: 40, maxValueLength: 500 });
    expect(STATEMENT_DESCRIPTOR_MAX_LENGTH).toBe(22);
  });

  it('keep a manual authorization for seven days to the millisecond', () => {
    const authorizedAt = Date.parse('2026-11-01T10:00:00.000Z');
    expect(new Date(authorizedAt + MANUAL_AUTHORIZATION_VALIDITY_MS).toISOString()).toBe(
      '2026-11-08T10:00:00.000Z',
    );
  });

  it('name the headers as the service sends and accepts them', () => {
    expect(API_KEY_HEADER).toBe('api-key');
    expect(Object.values(RATE_LIMIT_HEADERS)).toEqual([
      'X-RateLimit-Limit',
      'X-RateLimit-Remaining',
      'X-RateLimit-Reset',
    ]);
  });
});

describe('a payment id', () => {
  it.each(['a', 'pay_1', 'ORDER-42', '_', 'x'.repeat(PAYMENT_ID_MAX_LENGTH)])(
    'may be "%s"',
    (paymentId) => {
      expect(PAYMENT_ID_PATTERN.test(paymentId)).toBe(true);
    },
  );

  it.each(['', 'pay 1', 'pay/1', '..', 'pay_é', 'pay_1\n', 'x'.repeat(PAYMENT_ID_MAX_LENGTH + 1)])(
    'may not be "%s"',
    (paymentId) => {
      expect(PAYMENT_ID_PATTERN.test(paymentId)).toBe(false);
    },
  );
});

describe('key prefixes', () => {
  it('are those of the contract', () => {
    expect(API_KEY_PREFIXES).toEqual({
      sandboxSecret: 'snd_',
      productionSecret: 'prd_',
      sandboxPublishable: 'pk_snd_',
      productionPublishable: 'pk_prd_',
      admin: 'admin_',
    });
  });

  // A publishable key that is accepted as a secret one would be rejected only by the API.
  it('distinguish the kinds: none is a prefix of another', () => {
    const prefixes = Object.values(API_KEY_PREFIXES);
    for (const prefix of prefixes) {
      expect(prefixes.filter((other) => other.startsWith(prefix))).toEqual([prefix]);
    }
  });
});

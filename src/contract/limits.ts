/** Limits, header names and key prefixes. service-interface.md §5 and §8. */

/** The `limit` of a list. service-interface.md §8.1. */
export const PAGE_SIZE = { default: 10, min: 1, max: 100 } as const;

/** The page limits that services of this family accept, largest first: some of their lists allow fewer rows. */
const FAMILY_PAGE_LIMITS = [100, 50, 20, 10] as const;

/** The `limit` to try after one was rejected; undefined after the smallest. */
export function smallerLimit(limit: number): number | undefined {
  return FAMILY_PAGE_LIMITS.find((smaller) => smaller < limit);
}

/** The default `offset` of a list. service-interface.md §8.1. */
export const DEFAULT_OFFSET = 0;

/** The length of a payment id. service-interface.md §8.1. */
export const PAYMENT_ID_MAX_LENGTH = 64;

/** A payment id that a merchant may choose. service-interface.md §8.1. */
export const PAYMENT_ID_PATTERN = /^[A-Za-z0-9_-]{1,64}$/;

/** The length of a customer id. service-interface.md §8.1. */
export const CUSTOMER_ID_MAX_LENGTH = 64;

/** The length of a payout's order reference. service-interface.md §8.1. */
export const MERCHANT_ORDER_REFERENCE_ID_MAX_LENGTH = 255;

/** Metadata of customers and payouts. service-interface.md §8.1. */
export const METADATA_LIMITS = { maxPairs: 50, maxKeyLength: 40, maxValueLength: 500 } as const;

/** Prefix and suffix together. service-interface.md §8.1. */
export const STATEMENT_DESCRIPTOR_MAX_LENGTH = 22;

/** A manual authorization expires after 7 days without a capture. service-interface.md §8.1. */
export const MANUAL_AUTHORIZATION_VALIDITY_MS = 7 * 24 * 60 * 60 * 1000;

/** Refunds of one payment, including failed ones. More are rejected with HTTP 400, IR_12. */
export const MAX_REFUNDS_PER_PAYMENT = 10;

/**
 * Headers of the rate limit: requests a minute, requests left, and the Unix time in seconds at
 * which the next window starts. service-interface.md §8.2.
 */
export const RATE_LIMIT_HEADERS = {
  limit: 'X-RateLimit-Limit',
  remaining: 'X-RateLimit-Remaining',
  reset: 'X-RateLimit-Reset',
} as const;

/** The header of the API key. service-interface.md §5.1. */
export const API_KEY_HEADER = 'api-key';

/**
 * No prefix starts with another one, so a key has exactly one kind. service-interface.md §5.1 and
 * §5.2.
 */
export const API_KEY_PREFIXES = {
  sandboxSecret: 'snd_',
  productionSecret: 'prd_',
  sandboxPublishable: 'pk_snd_',
  productionPublishable: 'pk_prd_',
  admin: 'admin_',
} as const;
export type ApiKeyKind = keyof typeof API_KEY_PREFIXES;

/**
 * Limits, header names and key prefixes. service-interface.md §8.1 and §5.
 */

/** The `limit` of a list. service-interface.md §8.1. */
export const PAGE_SIZE = { default: 10, min: 1, max: 100 } as const;

/** The `offset` of a list when none is sent. service-interface.md §8.1. */
export const DEFAULT_OFFSET = 0;

/** service-interface.md §8.1; applies to Create Payment. */
export const PAYMENT_ID_MAX_LENGTH = 64;

/** A payment id that a merchant may choose. service-interface.md §8.1. */
export const PAYMENT_ID_PATTERN = /^[A-Za-z0-9_-]{1,64}$/;

/** service-interface.md §8.1; applies to Create Customer. */
export const CUSTOMER_ID_MAX_LENGTH = 64;

/** service-interface.md §8.1; applies to Create Payout. */
export const MERCHANT_ORDER_REFERENCE_ID_MAX_LENGTH = 255;

/** service-interface.md §8.1; named for customers and payouts. */
export const METADATA_LIMITS = { maxPairs: 50, maxKeyLength: 40, maxValueLength: 500 } as const;

/** Prefix and suffix together. service-interface.md §8.1; applies to Capture Payment. */
export const STATEMENT_DESCRIPTOR_MAX_LENGTH = 22;

/** A manual authorization lapses 7 days on if it was not captured. service-interface.md §8.1. */
export const MANUAL_AUTHORIZATION_VALIDITY_MS = 7 * 24 * 60 * 60 * 1000;

/** Refunds of one payment, failed ones included. More are refused with HTTP 400, IR_12. */
export const MAX_REFUNDS_PER_PAYMENT = 10;

/**
 * Names of the headers that tell the rate budget: requests a minute, requests left, and the Unix
 * time in seconds when the window starts anew. service-interface.md §8.2.
 */
export const RATE_LIMIT_HEADERS = {
  limit: 'X-RateLimit-Limit',
  remaining: 'X-RateLimit-Remaining',
  reset: 'X-RateLimit-Reset',
} as const;

/** service-interface.md §5.1. */
export const API_KEY_HEADER = 'api-key';

/** No prefix is the start of another, so a key has one kind. service-interface.md §5. */
export const API_KEY_PREFIXES = {
  sandboxSecret: 'snd_',
  productionSecret: 'prd_',
  sandboxPublishable: 'pk_snd_',
  productionPublishable: 'pk_prd_',
  admin: 'admin_',
} as const;
export type ApiKeyKind = keyof typeof API_KEY_PREFIXES;

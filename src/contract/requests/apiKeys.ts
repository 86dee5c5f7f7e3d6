/** Requests about API keys. service-interface.md §4.2 and §4.10. */
import { z } from 'zod';
import { pageFields, text, timestamp } from './fields.ts';

/** The contract gives no limits; these are the family's. */
const API_KEY_TEXT_LIMITS = { name: 64, description: 256 } as const;

const name = text.max(API_KEY_TEXT_LIMITS.name);
const otherFields = {
  description: text.max(API_KEY_TEXT_LIMITS.description).optional(),
  /** `never`, or an ISO 8601 date or time; a date means the start of that day in UTC. */
  expiration: z
    .union([z.literal('never'), timestamp], {
      error: 'expected "never" or an ISO 8601 date or time',
    })
    .optional(),
};

/** The body of creating an API key. service-interface.md §4.2. */
export const createApiKeyRequest = z.strictObject({ name, ...otherFields });
export type CreateApiKeyRequest = z.input<typeof createApiKeyRequest>;

/**
 * The body of updating an API key. The contract leaves it open; it has the fields of creation.
 * service-interface.md §4.10.
 */
export const updateApiKeyRequest = z.strictObject({ name: name.optional(), ...otherFields });
export type UpdateApiKeyRequest = z.input<typeof updateApiKeyRequest>;

/**
 * The query of listing API keys. The contract leaves it open; it has the fields of other lists.
 * service-interface.md §4.10.
 */
export const listApiKeysQuery = z.strictObject(pageFields);
export type ListApiKeysQuery = z.input<typeof listApiKeysQuery>;

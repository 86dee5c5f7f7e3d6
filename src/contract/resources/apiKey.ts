/** The API key. service-interface.md §2.8. */
import { z } from 'zod';
import { flag, id, text, timestamp } from './fields.ts';

/** Fields that services of this family add. */
export const API_KEY_FAMILY_FIELDS = {
  /** The first characters of the key. */
  prefix: text,
};

/** An API key as it is retrieved, listed and updated: without the key itself. */
export const apiKeySchema = z.looseObject({
  key_id: id,
  merchant_id: text,
  name: text,
  description: text,
  created: timestamp,
  /** ISO 8601; null when the key never expires, for which the family sends `never`. */
  expiration: text,
  ...API_KEY_FAMILY_FIELDS,
});
export type ApiKey = z.infer<typeof apiKeySchema>;

/** An API key as the creation returns it, once. service-interface.md §2.8. */
export const createdApiKeySchema = apiKeySchema.extend({
  /** A secret: it cannot be retrieved later. */
  api_key: z.string().min(1),
});
export type CreatedApiKey = z.infer<typeof createdApiKeySchema>;

/** The result of revoking a key. The contract leaves it open; this is the family's. */
export const revokedApiKeySchema = z.looseObject({
  merchant_id: text,
  key_id: text,
  revoked: flag,
});
export type RevokedApiKey = z.infer<typeof revokedApiKeySchema>;

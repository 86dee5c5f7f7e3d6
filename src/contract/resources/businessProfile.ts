/**
 * The business profile. The contract names its `profile_id` only; the rest is the family's.
 * service-interface.md §2.9.
 */
import { z } from 'zod';
import { flag, id, integer, text } from './fields.ts';

const texts = z.array(z.string()).nullish();

/** Fields that services of this family send. */
const PROFILE_FAMILY_FIELDS = {
  merchant_id: text,
  profile_name: text,
  return_url: text,
  enable_payment_response_hash: flag,
  /** The secret that signs webhooks: never logged. */
  payment_response_hash_key: text,
  redirect_to_merchant_with_http_post: flag,
  webhook_details: z
    .looseObject({
      /** Where webhooks are sent; null or missing for nowhere. */
      webhook_url: text,
      webhook_version: text,
      payment_created_enabled: flag,
      payment_succeeded_enabled: flag,
      payment_failed_enabled: flag,
      /** The only statuses that send a webhook; all statuses if the list is missing or empty. */
      payment_statuses_enabled: texts,
      refund_statuses_enabled: texts,
      payout_statuses_enabled: texts,
    })
    .nullish(),
  /** Seconds. */
  session_expiry: integer,
};

/** A profile of the account: where its webhooks are sent, and the secret that signs them. */
export const businessProfileSchema = z.looseObject({
  profile_id: id,
  ...PROFILE_FAMILY_FIELDS,
});
export type BusinessProfile = z.infer<typeof businessProfileSchema>;

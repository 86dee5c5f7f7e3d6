/** The refund, in events and responses. service-interface.md §2.5. */
import { z } from 'zod';
import { amountMinor, currency, id, metadata, text, timestamp } from './fields.ts';

/** Fields that services of this family add. */
export const REFUND_FAMILY_FIELDS = {
  /** The family's name for `created`. */
  created_at: timestamp,
  /** The family's name for `modified_at`. */
  updated_at: timestamp,
  error_code: text,
  error_message: text,
  unified_code: text,
  unified_message: text,
  issuer_error_code: text,
  issuer_error_message: text,
  connector: text,
  connector_refund_id: text,
  profile_id: text,
  merchant_connector_id: text,
};

/** A refund. service-interface.md §2.5. */
export const refundSchema = z.looseObject({
  refund_id: id,
  payment_id: text,
  amount: amountMinor,
  currency,
  /** One of REFUND_STATUSES, or a newer value; see statuses.ts. */
  status: text,
  reason: text,
  /** `Instant` or `Scheduled`; lower case at some services of this family. */
  refund_type: text,
  metadata,
  created: timestamp,
  modified_at: timestamp,
  ...REFUND_FAMILY_FIELDS,
});
export type Refund = z.infer<typeof refundSchema>;

/** Requests about refunds. service-interface.md §4.5. */
import { z } from 'zod';
import {
  amountMinor,
  currencyFilter,
  metadata,
  pageFields,
  refundId,
  text,
  timestamp,
} from './fields.ts';

/** The types of refunds. service-interface.md §2.5. */
export const REFUND_TYPES = ['Instant', 'Scheduled'] as const;

/** The body of creating a refund. service-interface.md §4.5. */
export const createRefundRequest = z.strictObject({
  payment_id: text,
  /** Chosen by the merchant, so that the refund can be found after a lost response. */
  refund_id: refundId.optional(),
  /** Minor units; a full refund by default. */
  amount: amountMinor.optional(),
  reason: text.optional(),
  /** `Instant` by default. */
  refund_type: z.enum(REFUND_TYPES).optional(),
  metadata: metadata.optional(),
});
export type CreateRefundRequest = z.input<typeof createRefundRequest>;

/** The body of updating a refund. service-interface.md §4.5. */
export const updateRefundRequest = z.strictObject({
  reason: text.optional(),
  metadata: metadata.optional(),
});
export type UpdateRefundRequest = z.input<typeof updateRefundRequest>;

/** Both spellings: the resource's, and the family's in filters. */
const REFUND_LIST_STATUSES = [
  'pending',
  'review',
  'succeeded',
  'failed',
  'success',
  'failure',
  'manual_review',
] as const;

/**
 * The body of listing refunds. The contract leaves the filter open; these names are the family's.
 * service-interface.md §4.10.
 */
export const listRefundsRequest = z.strictObject({
  ...pageFields,
  payment_id: text.optional(),
  refund_id: text.optional(),
  profile_id: text.optional(),
  start_time: timestamp.optional(),
  end_time: timestamp.optional(),
  /** Minor units, inclusive. */
  amount_filter: z
    .strictObject({ start_amount: z.int().optional(), end_amount: z.int().optional() })
    .optional(),
  currency: z.array(currencyFilter).optional(),
  refund_status: z.array(z.enum(REFUND_LIST_STATUSES)).optional(),
});
export type ListRefundsRequest = z.input<typeof listRefundsRequest>;

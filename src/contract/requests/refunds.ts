/** Requests about refunds. service-interface.md §4.5. */
import { z } from 'zod';
import {
  amountMinor,
  currency,
  metadata,
  pageFields,
  refundId,
  text,
  timestamp,
} from './fields.ts';

/** service-interface.md §2.5. */
export const REFUND_TYPES = ['Instant', 'Scheduled'] as const;

/** service-interface.md §4.5. */
export const createRefundRequest = z.strictObject({
  payment_id: text,
  /** Chosen by the merchant, so that the refund can be found after an answer was lost. */
  refund_id: refundId.optional(),
  /** Minor units; a full refund when it is left out. */
  amount: amountMinor.optional(),
  reason: text.optional(),
  /** `Instant` when it is left out. */
  refund_type: z.enum(REFUND_TYPES).optional(),
  metadata: metadata.optional(),
});
export type CreateRefundRequest = z.input<typeof createRefundRequest>;

/** service-interface.md §4.5. */
export const updateRefundRequest = z.strictObject({
  reason: text.optional(),
  metadata: metadata.optional(),
});
export type UpdateRefundRequest = z.input<typeof updateRefundRequest>;

/** Both spellings: the resource's, and the one that the family filters by. */
const REFUND_LIST_STATUSES = [
  'pending',
  'review',
  'succeeded',
  'failed',
  'success',
  'failure',
  'manual_review',
] as const;

/** The contract says "filter body"; the names are the family's. */
export const listRefundsRequest = z.strictObject({
  ...pageFields,
  payment_id: text.optional(),
  refund_id: text.optional(),
  profile_id: text.optional(),
  start_time: timestamp.optional(),
  end_time: timestamp.optional(),
  /** Minor units, both bounds included. */
  amount_filter: z
    .strictObject({ start_amount: z.int().optional(), end_amount: z.int().optional() })
    .optional(),
  currency: z.array(currency).optional(),
  refund_status: z.array(z.enum(REFUND_LIST_STATUSES)).optional(),
});
export type ListRefundsRequest = z.input<typeof listRefundsRequest>;

/** Requests about disputes. service-interface.md §4.10. */
import { z } from 'zod';
import { DISPUTE_STAGES, DISPUTE_STATUSES } from '../statuses.ts';
import { currencyFilter, pageFields, text, timestamp } from './fields.ts';

/** Statuses of disputes as the family spells them in requests. */
const DISPUTE_WIRE_STATUSES = DISPUTE_STATUSES.map((status) => `dispute_${status}` as const);

/**
 * The query of listing disputes. The contract leaves the parameters open; these are the family's.
 * List values are separated by commas. service-interface.md §4.10.
 */
export const listDisputesQuery = z.strictObject({
  ...pageFields,
  dispute_id: text.optional(),
  payment_id: text.optional(),
  profile_id: text.optional(),
  dispute_status: z.array(z.enum(DISPUTE_WIRE_STATUSES)).optional(),
  dispute_stage: z.array(z.enum(DISPUTE_STAGES)).optional(),
  reason: text.optional(),
  connector: z.array(text).optional(),
  currency: z.array(currencyFilter).optional(),
  start_time: timestamp.optional(),
  end_time: timestamp.optional(),
});
export type ListDisputesQuery = z.input<typeof listDisputesQuery>;

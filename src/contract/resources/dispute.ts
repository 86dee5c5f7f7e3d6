/**
 * The dispute, in events and responses. The contract shows its id, its status after evidence and
 * the time of the evidence; the rest is the family's. service-interface.md §2.6.
 */
import { z } from 'zod';
import { currency, flag, id, text, timestamp } from './fields.ts';

/** Fields that services of this family send; the contract shows none of them. */
const DISPUTE_FAMILY_FIELDS = {
  payment_id: text,
  attempt_id: text,
  /** Minor units, sent as text. An integer, the contract's form of amounts, is accepted too. */
  amount: z.union([z.string(), z.int()]).nullish(),
  currency,
  /** One of DISPUTE_STAGES, or a newer value. */
  dispute_stage: text,
  /**
   * Like `status`, with the prefix `dispute_`; it is more precise than `status` when both are sent.
   */
  dispute_status: text,
  /** The deadline for evidence. */
  challenge_required_by: timestamp,
  connector: text,
  connector_status: text,
  connector_dispute_id: text,
  connector_reason: text,
  connector_reason_code: text,
  connector_created_at: timestamp,
  connector_updated_at: timestamp,
  created: timestamp,
  created_at: timestamp,
  modified_at: timestamp,
  updated_at: timestamp,
  profile_id: text,
  merchant_connector_id: text,
  is_already_refunded: flag,
};

/** A dispute. service-interface.md §2.6. */
export const disputeSchema = z.looseObject({
  dispute_id: id,
  /** One of DISPUTE_STATUSES or `submitted`; see statuses.ts. */
  status: text,
  evidence_submitted_at: timestamp,
  ...DISPUTE_FAMILY_FIELDS,
});
export type Dispute = z.infer<typeof disputeSchema>;

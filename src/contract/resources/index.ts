/** The four resources that move money. service-interface.md §2. */
import type { z } from 'zod';
import { disputeSchema } from './dispute.ts';
import { paymentSchema } from './payment.ts';
import { payoutSchema } from './payout.ts';
import { refundSchema } from './refund.ts';

/** The kinds of resources that send webhooks when they change. service-interface.md §6.4. */
export const RESOURCE_KINDS = ['payment', 'refund', 'dispute', 'payout'] as const;
export type ResourceKind = (typeof RESOURCE_KINDS)[number];

/** How to identify and parse one kind. */
export interface ResourceEntry {
  /** The field with the resource's own id. */
  readonly idField: string;
  readonly schema: z.ZodType;
}

/** The four resources by kind. service-interface.md §2. */
export const RESOURCES = {
  payment: { idField: 'payment_id', schema: paymentSchema },
  refund: { idField: 'refund_id', schema: refundSchema },
  dispute: { idField: 'dispute_id', schema: disputeSchema },
  payout: { idField: 'payout_id', schema: payoutSchema },
} as const satisfies Record<ResourceKind, ResourceEntry>;

export { type Metrics, metricsSchema } from './analytics.ts';
export {
  type ApiKey,
  apiKeySchema,
  type CreatedApiKey,
  createdApiKeySchema,
  type RevokedApiKey,
  revokedApiKeySchema,
} from './apiKey.ts';
export { type BusinessProfile, businessProfileSchema } from './businessProfile.ts';
export {
  type Customer,
  customerSchema,
  type DeletedCustomer,
  deletedCustomerSchema,
} from './customer.ts';
export { type Dispute, disputeSchema } from './dispute.ts';
export {
  type Evidence,
  type EvidenceResult,
  evidenceResultSchema,
  evidenceSchema,
  type UploadedFile,
  uploadedFileSchema,
} from './evidence.ts';
export { type Payment, paymentSchema } from './payment.ts';
export { type PaymentLink, paymentLinkSchema } from './paymentLink.ts';
export { type Payout, payoutSchema } from './payout.ts';
export { type Refund, refundSchema } from './refund.ts';

/**
 * Evidence for a dispute. service-interface.md §4.6.1.
 *
 * Every field is text. An empty value is valid and clears its field.
 */
import { z } from 'zod';
import { email, text, timestamp } from './fields.ts';

const value = z.string();
/** The id of an uploaded file. */
const fileId = z.string().max(255);
const cleared = z.literal('');

const evidenceShape = {
  customer_name: value,
  customer_email_address: z.union([cleared, email], {
    error: 'expected an email address, or an empty value',
  }),
  customer_purchase_ip: value,
  customer_signature: fileId,
  customer_communication: fileId,
  billing_address: value,
  /** Login history and session ids. */
  access_activity_log: value,
  product_description: value,
  service_date: z.union([cleared, timestamp], {
    error: 'expected an ISO 8601 date, or an empty value',
  }),
  service_documentation: fileId,
  receipt: fileId,
  cancellation_policy: fileId,
  cancellation_policy_disclosure: value,
  cancellation_rebuttal: value,
  refund_policy: fileId,
  refund_policy_disclosure: value,
  refund_refusal_explanation: value,
  shipping_address: value,
  shipping_carrier: value,
  shipping_date: value,
  shipping_tracking_number: value,
  shipping_documentation: fileId,
  invoice_showing_distinct_transactions: fileId,
  recurring_transaction_agreement: fileId,
  uncategorized_file: fileId,
  uncategorized_text: value,
};
export type EvidenceField = keyof typeof evidenceShape;

/** The fields that contain the id of an uploaded file. service-interface.md §4.6.1. */
export const EVIDENCE_FILE_FIELDS = [
  'customer_signature',
  'customer_communication',
  'service_documentation',
  'receipt',
  'cancellation_policy',
  'refund_policy',
  'shipping_documentation',
  'invoice_showing_distinct_transactions',
  'recurring_transaction_agreement',
  'uncategorized_file',
] as const satisfies readonly EvidenceField[];

/**
 * The groups in which evidence is returned. The contract names three and leaves the others open, so
 * readers accept any. service-interface.md §4.6.2.
 */
export const EVIDENCE_GROUPS = {
  customer_information: [
    'customer_name',
    'customer_email_address',
    'customer_purchase_ip',
    'customer_signature',
    'customer_communication',
    'billing_address',
    'access_activity_log',
  ],
  product_information: ['product_description', 'service_date', 'service_documentation', 'receipt'],
  cancellation_information: [
    'cancellation_policy',
    'cancellation_policy_disclosure',
    'cancellation_rebuttal',
  ],
  refund_policy_information: [
    'refund_policy',
    'refund_policy_disclosure',
    'refund_refusal_explanation',
  ],
  shipping_information: [
    'shipping_address',
    'shipping_carrier',
    'shipping_date',
    'shipping_tracking_number',
    'shipping_documentation',
  ],
  recurring_information: [
    'invoice_showing_distinct_transactions',
    'recurring_transaction_agreement',
  ],
  uncategorized: ['uncategorized_file', 'uncategorized_text'],
} as const satisfies Record<string, readonly EvidenceField[]>;

/** The body of submitting evidence. service-interface.md §4.6.1. */
export const submitEvidenceRequest = z
  .strictObject(evidenceShape)
  .partial()
  .extend({ dispute_id: text });
export type SubmitEvidenceRequest = z.input<typeof submitEvidenceRequest>;

/**
 * The body of `DELETE /disputes/evidence`. The contract leaves it open; this is the family's.
 * service-interface.md §4.10.
 */
export const deleteEvidenceRequest = z.strictObject({
  dispute_id: text,
  evidence_type: z.enum(EVIDENCE_FILE_FIELDS),
});
export type DeleteEvidenceRequest = z.input<typeof deleteEvidenceRequest>;

/**
 * The form for uploading a file. The contract only states that files are uploaded separately; route
 * and fields are the family's. service-interface.md §4.6.1.
 */
export const uploadFileRequest = z.strictObject({
  purpose: z.literal('dispute_evidence'),
  dispute_id: text,
  file: z.file().min(1),
});
export type UploadFileRequest = z.input<typeof uploadFileRequest>;

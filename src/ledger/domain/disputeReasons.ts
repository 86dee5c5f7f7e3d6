/**
 * What the reason code of a card network means, and which evidence helps. The codes are those that Visa,
 * Mastercard and American Express publish for merchants. A code that is not listed is not guessed.
 */
import type { EvidenceField } from '../../contract/requests/evidence.ts';

interface Cause {
  readonly meaning: string;
  readonly helps: string;
  readonly fields: readonly EvidenceField[];
}

const CAUSES = {
  fraud: {
    meaning: 'The cardholder states that they did not make or allow this payment.',
    helps:
      'Show that the cardholder took part: the same device, address, account or mailbox as in earlier payments, and delivery to the billing address.',
    fields: [
      'customer_purchase_ip',
      'access_activity_log',
      'customer_communication',
      'billing_address',
      'shipping_address',
      'shipping_documentation',
      'customer_signature',
    ],
  },
  authorization: {
    meaning: 'The bank states that the payment had no valid authorization.',
    helps:
      'Get proof of the authorization from your acquirer. Without it, contesting seldom succeeds.',
    fields: ['receipt', 'uncategorized_file', 'uncategorized_text'],
  },
  processing: {
    meaning: 'The payment was processed wrongly: late, twice, or with another amount or currency.',
    helps:
      'Show that each payment was for a purchase of its own, and that amount and currency are those the customer agreed to.',
    fields: ['receipt', 'invoice_showing_distinct_transactions', 'uncategorized_text'],
  },
  not_received: {
    meaning: 'The customer states that goods or services did not arrive.',
    helps: 'Show delivery: carrier, tracking number, date and the address of the customer.',
    fields: [
      'shipping_carrier',
      'shipping_tracking_number',
      'shipping_date',
      'shipping_address',
      'shipping_documentation',
      'service_date',
      'service_documentation',
    ],
  },
  not_as_described: {
    meaning: 'The customer states that what arrived was defective, or not as described.',
    helps:
      'Show the description that the customer saw, that what was sent matches it, and what you offered.',
    fields: [
      'product_description',
      'customer_communication',
      'refund_policy',
      'refund_policy_disclosure',
      'refund_refusal_explanation',
    ],
  },
  canceled: {
    meaning: 'The customer states that they canceled, or did not agree to a recurring payment.',
    helps:
      'Show the terms that the customer accepted, that nothing was canceled in time, and use after that date.',
    fields: [
      'cancellation_policy',
      'cancellation_policy_disclosure',
      'cancellation_rebuttal',
      'recurring_transaction_agreement',
      'access_activity_log',
    ],
  },
  refund_missing: {
    meaning: 'The customer states that a refund was promised or due and did not arrive.',
    helps:
      'If the refund was made, show it. If none was due, show the policy that the customer accepted.',
    fields: [
      'refund_policy',
      'refund_policy_disclosure',
      'refund_refusal_explanation',
      'customer_communication',
    ],
  },
} as const satisfies Readonly<Record<string, Cause>>;

type CauseName = keyof typeof CAUSES;

const CODES: Readonly<Record<string, readonly [network: string, cause: CauseName]>> = {
  ...codes('Visa', 'fraud', '10.1 10.2 10.3 10.4 10.5'),
  ...codes('Visa', 'authorization', '11.1 11.2 11.3'),
  ...codes('Visa', 'processing', '12.1 12.2 12.3 12.4 12.5 12.6 12.6.1 12.6.2 12.7'),
  ...codes('Visa', 'not_received', '13.1'),
  ...codes('Visa', 'canceled', '13.2 13.7'),
  ...codes('Visa', 'not_as_described', '13.3 13.4 13.5'),
  ...codes('Visa', 'refund_missing', '13.6'),
  ...codes('Mastercard', 'fraud', '4837 4840 4849 4863 4870 4871'),
  ...codes('Mastercard', 'authorization', '4807 4808 4812'),
  ...codes('Mastercard', 'processing', '4831 4834 4842 4846'),
  ...codes('Mastercard', 'not_received', '4855'),
  ...codes('Mastercard', 'canceled', '4841'),
  ...codes('Mastercard', 'not_as_described', '4853'),
  ...codes('Mastercard', 'refund_missing', '4860'),
  ...codes('American Express', 'fraud', 'F10 F14 F24 F29 F30 F31'),
  ...codes('American Express', 'authorization', 'A01 A02 A08'),
  ...codes('American Express', 'processing', 'P01 P03 P04 P05 P07 P08 P22 P23 C14'),
  ...codes('American Express', 'not_received', 'C08'),
  ...codes('American Express', 'canceled', 'C05 C18 C28'),
  ...codes('American Express', 'not_as_described', 'C31 C32'),
  ...codes('American Express', 'refund_missing', 'C02 C04'),
};

function codes(network: string, cause: CauseName, list: string) {
  return Object.fromEntries(list.split(' ').map((code) => [code, [network, cause] as const]));
}

export interface ExplainedReason extends Cause {
  readonly network: string;
}

/** Undefined for a code that is not known. */
export function explainReasonCode(code: string | null): ExplainedReason | undefined {
  const wanted = code?.trim().toUpperCase() ?? '';
  const found = Object.hasOwn(CODES, wanted) ? CODES[wanted] : undefined;
  return found && { network: found[0], ...CAUSES[found[1]] };
}

/** What a stage means for the money. */
export const STAGE_MEANINGS: Readonly<Record<string, string>> = {
  pre_dispute: 'The bank inquires. No money has moved yet.',
  dispute: 'The bank has taken the amount back until it decides.',
  pre_arbitration: 'One side did not accept the decision. The bank looks at it again.',
  arbitration: 'The card network decides, for good. The losing side usually pays a fee.',
  dispute_reversal: 'The dispute is being reversed. Nothing can be submitted.',
};

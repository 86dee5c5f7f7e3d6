/**
 * Codes for refusals of which the contract gives the HTTP status but no code, in the words of
 * services of this family. Their numbers have no meaning in the contract's own table, and they are
 * used only where that table has nothing that fits. service-interface.md §7.
 */

/** See docs/decisions/0009-contract-where-silent.md. */
export const FAMILY_ERROR_CODES = {
  IR_06: { type: 'invalid_request', meaning: 'Understood, but not possible in this state' },
  IR_12: { type: 'invalid_request', meaning: 'Too many refunds of one payment' },
  IR_13: { type: 'invalid_request', meaning: 'Refunds exceed what was captured' },
  IR_14: { type: 'invalid_request', meaning: 'The payment is in another state than needed' },
  IR_16: { type: 'invalid_request', meaning: 'Not possible in this state' },
  IR_22: { type: 'authentication_error', meaning: 'The key may not do this' },
  HE_03: { type: 'invalid_request', meaning: 'The dispute is in another state than needed' },
} as const;
export type FamilyErrorCode = keyof typeof FAMILY_ERROR_CODES;

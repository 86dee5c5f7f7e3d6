/**
 * The family's codes for errors of which the contract gives an HTTP status but no code. They are
 * not in the contract's own list and are used only where that list has no suitable code.
 * service-interface.md §7.4.
 */

/** See docs/decisions/0009-contract-where-silent.md. */
export const FAMILY_ERROR_CODES = {
  IR_06: {
    type: 'invalid_request',
    meaning: 'Understood, but the current state does not allow it',
  },
  IR_12: { type: 'invalid_request', meaning: 'Too many refunds of one payment' },
  IR_13: { type: 'invalid_request', meaning: 'Refunds exceed what was captured' },
  IR_14: { type: 'invalid_request', meaning: 'The state of the payment does not allow it' },
  IR_16: { type: 'invalid_request', meaning: 'The current state does not allow it' },
  IR_22: { type: 'authentication_error', meaning: 'The key lacks the permission' },
  HE_03: { type: 'invalid_request', meaning: 'The state of the dispute does not allow it' },
} as const;
export type FamilyErrorCode = keyof typeof FAMILY_ERROR_CODES;

/**
 * Declines: what the `unified_code` of a failed payment means, and what to do next.
 * service-interface.md §7.6.
 *
 * 1. Advice depends on the code alone: the acquirer's own code and text change without notice.
 * 2. An unlisted code takes the advice of its family. A code without a family is terminal.
 * 3. Where the code is ambiguous, the advice is the one that cannot charge twice and that no timer
 *    can turn into a loop of attempts.
 * 4. A retry and another payment method are separate decisions: most declines allow no retry and
 *    another method. Neither is allowed only after what could charge twice and after what risk
 *    rules blocked.
 */

/** The advice for a decline, with its explanation. service-interface.md §7.6.1. */
export const RETRY_ADVICE = {
  never: 'Do not retry.',
  with_backoff: 'Retry, each time after a longer wait.',
  with_3ds: 'Retry with 3-D Secure: the issuer requires authentication.',
  with_customer:
    'The customer can usually try again. A retry without the customer fails, because nobody is there to authenticate.',
  sometimes:
    'The code does not show whether another attempt helps: let the customer try once more or pay in another way, and never retry automatically.',
  check_earlier_payment:
    'The first payment may have succeeded: check it before you retry or refund.',
  fix_request: 'Correct the request before you send it again.',
} as const satisfies Record<string, string>;
/** A key of RETRY_ADVICE. */
export type RetryAdvice = keyof typeof RETRY_ADVICE;

/** The meaning of a family, and the advice for its codes unless a code has its own. */
export interface DeclineFamilyEntry {
  readonly meaning: string;
  readonly retry: RetryAdvice;
}

/** The families of codes. service-interface.md §7.6.1. */
export const DECLINE_FAMILIES = {
  UE_1xxx: { meaning: 'The card or its issuer declined', retry: 'never' },
  UE_2xxx: { meaning: 'Not eligible, or stopped by risk rules', retry: 'never' },
  UE_3xxx: { meaning: 'Temporarily unavailable', retry: 'with_backoff' },
  UE_4xxx: { meaning: 'A problem in the request', retry: 'fix_request' },
  UE_5xxx: { meaning: 'Failed during 3-D Secure', retry: 'sometimes' },
  UE_9000: { meaning: 'An unrecognized failure', retry: 'never' },
} as const satisfies Record<string, DeclineFamilyEntry>;
/** A key of DECLINE_FAMILIES. */
export type DeclineFamily = keyof typeof DECLINE_FAMILIES;

/** One listed code; `message` may be shown to the customer. */
export interface DeclineCodeEntry {
  readonly family: DeclineFamily;
  readonly retry: RetryAdvice;
  readonly message: string;
  /** Whether another payment method may help; true by default. */
  readonly anotherMethod?: false;
}

/**
 * Every listed code with its message. service-interface.md §7.6.2.
 *
 * For UE_5xxx the contract states that a retry sometimes helps, and names UE_5003. The advice for the
 * others follows from their messages. Authentication that was not completed (UE_5003, 5005, 5009,
 * 5011, 5021) can be retried, but only by the customer: a retry with backoff, as for UE_3xxx, would
 * find no customer at the challenge. A decision about the card or the transaction is final (UE_5013
 * equals UE_1002), and so is "too many attempts", which every retry makes worse. UE_5020 is a
 * problem in the request. The others may be a mistake of the customer or a final decision:
 * `sometimes`.
 */
export const DECLINE_CODES = {
  UE_1001: { family: 'UE_1xxx', retry: 'never', message: 'Insufficient funds' },
  UE_1002: { family: 'UE_1xxx', retry: 'never', message: 'The card has expired' },
  UE_1003: { family: 'UE_1xxx', retry: 'never', message: 'The card number is invalid' },
  UE_1004: { family: 'UE_1xxx', retry: 'never', message: 'The security code is incorrect' },
  UE_1005: { family: 'UE_1xxx', retry: 'never', message: 'The PIN is incorrect' },
  UE_1006: { family: 'UE_1xxx', retry: 'never', message: 'The card was reported lost or stolen' },
  UE_1007: { family: 'UE_1xxx', retry: 'never', message: 'The card was declined by the issuer' },
  UE_1008: { family: 'UE_1xxx', retry: 'never', message: 'This card is not supported' },
  UE_1009: { family: 'UE_1xxx', retry: 'never', message: 'The card is restricted' },
  UE_1010: {
    family: 'UE_1xxx',
    retry: 'never',
    message: 'This transaction is not permitted for this card',
  },
  UE_1011: {
    family: 'UE_1xxx',
    retry: 'never',
    message: "The transaction exceeds the card's limit",
  },
  UE_1012: {
    family: 'UE_1xxx',
    retry: 'never',
    message: 'The transaction was declined for security reasons',
  },
  UE_1013: {
    family: 'UE_1xxx',
    retry: 'never',
    message: 'Declined, please contact your card issuer',
  },
  UE_1014: { family: 'UE_1xxx', retry: 'never', message: 'No record of this card was found' },
  UE_1015: { family: 'UE_1xxx', retry: 'never', message: 'The card is not active' },
  UE_1016: {
    family: 'UE_1xxx',
    retry: 'never',
    message: 'This account cannot be used for this payment',
  },
  UE_1017: {
    family: 'UE_1xxx',
    retry: 'never',
    message: 'The cardholder has cancelled this payment',
  },
  UE_1018: {
    family: 'UE_1xxx',
    retry: 'check_earlier_payment',
    message: 'This payment may have already been processed',
    anotherMethod: false,
  },
  UE_1099: { family: 'UE_1xxx', retry: 'never', message: 'The payment was declined' },
  UE_2001: {
    family: 'UE_2xxx',
    retry: 'never',
    message: 'This payment method is currently unavailable',
  },
  UE_2002: {
    family: 'UE_2xxx',
    retry: 'with_3ds',
    message: 'Additional authentication is required',
  },
  UE_2003: {
    family: 'UE_2xxx',
    retry: 'never',
    message: 'The payment was blocked',
    anotherMethod: false,
  },
  UE_2004: {
    family: 'UE_2xxx',
    retry: 'never',
    message: 'This currency or country is not supported',
  },
  UE_3001: {
    family: 'UE_3xxx',
    retry: 'with_backoff',
    message: 'The payment service is temporarily unavailable, please try again later',
  },
  UE_3002: {
    family: 'UE_3xxx',
    retry: 'with_backoff',
    message: 'The payment could not be processed, please try again',
  },
  UE_3003: {
    family: 'UE_3xxx',
    retry: 'with_backoff',
    message: 'The payment timed out, please try again',
  },
  UE_4001: {
    family: 'UE_4xxx',
    retry: 'fix_request',
    message: 'Required payment information is missing or invalid',
  },
  UE_4002: {
    family: 'UE_4xxx',
    retry: 'fix_request',
    message: 'The security code is not the expected length',
  },
  UE_4003: {
    family: 'UE_4xxx',
    retry: 'fix_request',
    message: 'The payment session has expired, please start again',
  },
  UE_4004: {
    family: 'UE_4xxx',
    retry: 'fix_request',
    message: 'The transaction is in an invalid state',
  },
  UE_5001: { family: 'UE_5xxx', retry: 'sometimes', message: 'Card authentication failed' },
  UE_5002: {
    family: 'UE_5xxx',
    retry: 'never',
    message: 'Authentication was declined by the issuer',
  },
  UE_5003: {
    family: 'UE_5xxx',
    retry: 'with_customer',
    message: 'Authentication was not completed',
  },
  UE_5004: {
    family: 'UE_5xxx',
    retry: 'sometimes',
    message: 'The cardholder could not be verified',
  },
  UE_5005: {
    family: 'UE_5xxx',
    retry: 'with_customer',
    message: 'The authentication service is unavailable',
  },
  UE_5006: { family: 'UE_5xxx', retry: 'never', message: 'Too many authentication attempts' },
  UE_5007: { family: 'UE_5xxx', retry: 'sometimes', message: 'The device could not be recognised' },
  UE_5008: {
    family: 'UE_5xxx',
    retry: 'sometimes',
    message: 'The authentication response was invalid',
  },
  UE_5009: {
    family: 'UE_5xxx',
    retry: 'with_customer',
    message: 'No response from the authentication service',
  },
  UE_5010: {
    family: 'UE_5xxx',
    retry: 'never',
    message: 'The card is not enrolled for authentication',
  },
  UE_5011: { family: 'UE_5xxx', retry: 'with_customer', message: 'Authentication timed out' },
  UE_5012: {
    family: 'UE_5xxx',
    retry: 'never',
    message: 'This authentication method is not supported',
  },
  UE_5013: { family: 'UE_5xxx', retry: 'never', message: 'The card has expired' },
  UE_5014: { family: 'UE_5xxx', retry: 'never', message: 'The card number is invalid' },
  UE_5015: {
    family: 'UE_5xxx',
    retry: 'never',
    message: 'The transaction is not valid for authentication',
  },
  UE_5016: { family: 'UE_5xxx', retry: 'never', message: 'No record of this card was found' },
  UE_5017: {
    family: 'UE_5xxx',
    retry: 'never',
    message: 'Authentication was declined for security reasons',
  },
  UE_5018: { family: 'UE_5xxx', retry: 'never', message: 'The card was reported lost or stolen' },
  UE_5019: {
    family: 'UE_5xxx',
    retry: 'never',
    message: 'Authentication is not permitted for this card',
  },
  UE_5020: {
    family: 'UE_5xxx',
    retry: 'fix_request',
    message: 'Required authentication data is missing or invalid',
  },
  UE_5021: {
    family: 'UE_5xxx',
    retry: 'with_customer',
    message: 'The authentication session has expired',
  },
  UE_9000: { family: 'UE_9000', retry: 'never', message: 'Something went wrong' },
} as const satisfies Record<string, DeclineCodeEntry>;
export type DeclineCode = keyof typeof DECLINE_CODES;

/** One coarse code of an acquirer that does not send granular codes yet. */
export interface LegacyDeclineCodeEntry {
  readonly family: DeclineFamily;
  readonly retry: RetryAdvice;
  readonly meaning: string;
}

/**
 * The coarse codes. Each covers several messages, so show the customer `unified_message`; the
 * advice is that of the family. UE_2000 also means "3-D Secure required", but its advice is
 * `never`: it cannot be distinguished from a block by risk rules, which must not be retried.
 * service-interface.md §7.6.3.
 */
export const LEGACY_DECLINE_CODES = {
  UE_1000: {
    family: 'UE_1xxx',
    retry: 'never',
    meaning: 'A problem with the card or the payment method',
  },
  UE_2000: {
    family: 'UE_2xxx',
    retry: 'never',
    meaning: 'Not eligible, blocked, or 3-D Secure required (see unified_message)',
  },
  UE_3000: { family: 'UE_3xxx', retry: 'with_backoff', meaning: 'A temporary problem' },
  UE_4000: { family: 'UE_4xxx', retry: 'fix_request', meaning: 'A problem in the request data' },
} as const satisfies Record<string, LegacyDeclineCodeEntry>;
export type LegacyDeclineCode = keyof typeof LEGACY_DECLINE_CODES;

/** The advice for one decline. */
export interface DeclineAdvice {
  readonly code: string;
  readonly family: DeclineFamily;
  /** A coarse code, which covers several messages. */
  readonly legacy: boolean;
  readonly retry: RetryAdvice;
  /** Whether the same payment method may be retried, in the way that `retry` describes. */
  readonly mayRetry: boolean;
  /** Whether the customer may use another payment method. */
  readonly mayUseAnotherMethod: boolean;
  /** Undefined when the code alone has no message: then show the payment's `unified_message`. */
  readonly customerMessage: string | undefined;
  /** For the operator, not for the customer. */
  readonly explanation: string;
}

/** Returns the advice for any `unified_code`, listed or not. service-interface.md §7.6. */
export function declineAdvice(unifiedCode: string): DeclineAdvice {
  const listed = lookUp<DeclineCodeEntry>(DECLINE_CODES, unifiedCode);
  const coarse = lookUp<LegacyDeclineCodeEntry>(LEGACY_DECLINE_CODES, unifiedCode);
  const family = listed?.family ?? coarse?.family ?? familyOf(unifiedCode);
  const { retry } = listed ?? coarse ?? DECLINE_FAMILIES[family];
  const meaning = coarse?.meaning ?? DECLINE_FAMILIES[family].meaning;
  const mayUseAnotherMethod = listed?.anotherMethod !== false;
  return {
    code: unifiedCode,
    family,
    legacy: coarse !== undefined,
    retry,
    mayRetry: MAY_RETRY.has(retry),
    mayUseAnotherMethod,
    customerMessage: listed?.message,
    explanation: explain(meaning, retry, mayUseAnotherMethod),
  };
}

const MAY_RETRY: ReadonlySet<RetryAdvice> = new Set([
  'with_backoff',
  'with_3ds',
  'with_customer',
  'sometimes',
]);

/** Own properties only: a code from outside must not reach the prototype. */
function lookUp<T>(table: Readonly<Record<string, T>>, code: string): T | undefined {
  return Object.hasOwn(table, code) ? table[code] : undefined;
}

function familyOf(code: string): DeclineFamily {
  const digit = /^UE_([1-5])\d{3}$/.exec(code)?.[1];
  return digit === undefined ? 'UE_9000' : (`UE_${digit}xxx` as DeclineFamily);
}

function explain(meaning: string, retry: RetryAdvice, mayUseAnotherMethod: boolean): string {
  const advice = `${meaning}. ${RETRY_ADVICE[retry]}`;
  return retry === 'never' && mayUseAnotherMethod
    ? `${advice} Another payment method may work.`
    : advice;
}

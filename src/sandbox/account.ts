/** The one account that a sandbox serves. */

/** The account of the sandbox, and of a ledger without PAYMENTS_MERCHANT_ID. No real account has this id. */
export const SANDBOX_MERCHANT_ID = 'merchant_local';

/** The one business profile of the sandbox's account. */
export const SANDBOX_PROFILE_ID = 'pro_local';

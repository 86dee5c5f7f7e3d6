/** Routes for business profiles. service-interface.md §4.10. */
import { accept } from '../domain/decision.ts';
import type { Handlers } from './handler.ts';
import { unknownMerchant } from './merchants.ts';

/** Seconds in which a customer can pay, as at services of this family. */
const SESSION_SECONDS = 900;

export const BUSINESS_PROFILE_HANDLERS: Handlers<'listBusinessProfiles'> = {
  listBusinessProfiles: ({ params }, { account, webhook }) => {
    if (params.merchant_id !== account.merchantId) return Promise.resolve(unknownMerchant(params));
    const { url, secret } = webhook.target();
    const profile = {
      merchant_id: account.merchantId,
      profile_id: account.profileId,
      profile_name: 'sandbox',
      return_url: null,
      enable_payment_response_hash: true,
      payment_response_hash_key: secret,
      redirect_to_merchant_with_http_post: false,
      webhook_details: {
        webhook_url: url ?? null,
        webhook_version: null,
        payment_created_enabled: true,
        payment_succeeded_enabled: true,
        payment_failed_enabled: true,
      },
      session_expiry: SESSION_SECONDS,
    };
    return Promise.resolve(accept([profile]));
  },
};

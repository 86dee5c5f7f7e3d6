/** Valid requests to the sandbox, for tests to modify. */

import { SANDBOX_PROFILE_ID } from '../../src/sandbox/account.ts';
import { type CardFamily, testCard, type UnifiedCode } from '../../src/sandbox/domain/outcomes.ts';

export const BILLING = {
  address: {
    line1: '1 Main Street',
    city: 'Springfield',
    state: 'IL',
    zip: '62701',
    country: 'US',
    first_name: 'Ada',
    last_name: 'Lovelace',
  },
  phone: { number: '5550100', country_code: '+1' },
};

export function card(number = '4242424242424242'): object {
  return {
    card: {
      card_number: number,
      card_exp_month: '12',
      card_exp_year: '2039',
      card_cvc: '123',
    },
  };
}

/** A card payment of 65.40 USD that succeeds immediately. */
export function cardPayment(fields: object = {}): object {
  return {
    amount: 6540,
    currency: 'USD',
    profile_id: SANDBOX_PROFILE_ID,
    confirm: true,
    payment_method: 'card',
    payment_method_data: card(),
    billing: BILLING,
    return_url: 'https://shop.example/return',
    ...fields,
  };
}

/** A card payment with a test card. */
export function cardPaymentOf(family: CardFamily, code?: UnifiedCode, fields: object = {}): object {
  return cardPayment({ payment_method_data: card(testCard(family, code)), ...fields });
}

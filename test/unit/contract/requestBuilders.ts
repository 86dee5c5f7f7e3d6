/** Valid requests, which tests modify. */
import type { BillingRequest, CreatePaymentRequest } from '../../../src/contract/index.ts';

export const BILLING: BillingRequest = {
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

export const CARD = {
  card_number: '4242424242424242',
  card_exp_month: '12',
  card_exp_year: '2030',
  card_cvc: '123',
};

export const CARD_PAYMENT: CreatePaymentRequest = {
  amount: 6540,
  currency: 'USD',
  profile_id: 'pro_1',
  payment_id: 'order-1',
  confirm: true,
  payment_method: 'card',
  payment_method_type: 'credit',
  payment_method_data: { card: CARD },
  billing: BILLING,
};

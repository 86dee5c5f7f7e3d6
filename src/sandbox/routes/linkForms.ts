/** The forms of payment links and payout links. Fields have the names of the endpoints. */
import type { PaymentLinkState } from '../domain/paymentLink.ts';
import type { FormPart } from './page.ts';

export const CARD: FormPart = {
  title: 'Card',
  fields: [
    { name: 'card_number', label: 'Number', fill: 'cc-number', isWide: true, isSecret: true },
    { name: 'card_exp_month', label: 'Expires: month (MM)', fill: 'cc-exp-month', isSecret: true },
    { name: 'card_exp_year', label: 'year (YYYY)', fill: 'cc-exp-year', isSecret: true },
    { name: 'card_cvc', label: 'Security code', fill: 'cc-csc', isSecret: true },
  ],
};

const CUSTOMER: FormPart = {
  title: 'About you',
  fields: [
    { name: 'name', label: 'Name', fill: 'name' },
    { name: 'email', label: 'Email', fill: 'email' },
  ],
};

export const ADDRESS: FormPart = {
  title: 'Billing address',
  fields: [
    { name: 'first_name', label: 'First name', fill: 'given-name' },
    { name: 'last_name', label: 'Last name', fill: 'family-name' },
    { name: 'line1', label: 'Street and number', fill: 'address-line1', isWide: true },
    { name: 'city', label: 'City', fill: 'address-level2' },
    { name: 'state', label: 'State or region', fill: 'address-level1' },
    { name: 'zip', label: 'Postal code', fill: 'postal-code' },
    { name: 'country', label: 'Country (two letters, US)', fill: 'country' },
  ],
};

const PHONE: FormPart = {
  title: 'Phone',
  fields: [
    { name: 'phone_country_code', label: 'Country code (+1)', fill: 'tel-country-code' },
    { name: 'phone', label: 'Number', fill: 'tel-national' },
  ],
};

/** The form of a card payment. */
export function payParts(link: PaymentLinkState): readonly FormPart[] {
  return [CARD, ...(link.require_customer_info === true ? [CUSTOMER] : []), ADDRESS, PHONE];
}

export function namesOf(parts: readonly FormPart[]): readonly string[] {
  return parts.flatMap(({ fields }) => fields.map(({ name }) => name));
}

export const ACCOUNT: FormPart = {
  title: 'Your account',
  fields: [
    { name: 'account_holder_name', label: 'Account holder', fill: 'name', isWide: true },
    { name: 'iban', label: 'IBAN', fill: 'off', isWide: true },
    { name: 'bic', label: 'BIC', fill: 'off', isWide: true },
  ],
};

/**
 * The details of an account that a person can type to pay a payout again: those without a card number,
 * which must not pass through Tallyhook. service-interface.md §4.8.1.
 */
import type { AccountDetailsRequest, PayoutType } from '../../contract/requests/payoutMethod.ts';

export interface MethodField {
  readonly name: string;
  readonly label: string;
  readonly isRequired: boolean;
}

export interface TypedMethod {
  readonly label: string;
  readonly type: PayoutType;
  readonly fields: readonly MethodField[];
}

const field = (name: string, label: string, isRequired = true): MethodField => ({
  name,
  label,
  isRequired,
});
const HOLDER = field('account_holder_name', 'Account holder', false);

export const TYPED_METHODS = {
  sepa: {
    label: 'SEPA account',
    type: 'bank',
    fields: [field('iban', 'IBAN'), field('bic', 'BIC'), HOLDER],
  },
  ach: {
    label: 'ACH account',
    type: 'bank',
    fields: [
      field('bank_account_number', 'Account number'),
      field('bank_routing_number', 'Routing number'),
      HOLDER,
    ],
  },
  bacs: {
    label: 'Bacs account',
    type: 'bank',
    fields: [
      field('bank_account_number', 'Account number'),
      field('bank_sort_code', 'Sort code'),
      HOLDER,
    ],
  },
  pix_key: { label: 'Pix key', type: 'bank', fields: [field('pix_key', 'Pix key')] },
  open_banking_uk: {
    label: 'Open Banking account',
    type: 'bank_redirect',
    fields: [field('account_holder_name', 'Account holder'), field('iban', 'IBAN')],
  },
  interac: {
    label: 'Interac',
    type: 'bank_redirect',
    fields: [field('email', 'Email address')],
  },
  paypal: {
    label: 'PayPal',
    type: 'wallet',
    fields: [
      field('email', 'Email address'),
      field('telephone_number', 'Phone number'),
      field('paypal_id', 'PayPal id'),
    ],
  },
  venmo: {
    label: 'Venmo',
    type: 'wallet',
    fields: [field('telephone_number', 'Phone number')],
  },
} as const satisfies Record<string, TypedMethod>;
export type TypedMethodName = keyof typeof TYPED_METHODS;
export const TYPED_METHOD_NAMES = Object.keys(TYPED_METHODS) as TypedMethodName[];

/** The methods of a payout's type; all of them for a type that is unknown. */
export function methodsOf(payoutType: string | null | undefined): readonly TypedMethodName[] {
  return TYPED_METHOD_NAMES.filter(
    (name) => !payoutType || TYPED_METHODS[name].type === payoutType,
  );
}

/** The method of which the service shows the most fields, all of them masked. */
export function likelyMethod(
  names: readonly TypedMethodName[],
  shown: readonly string[],
): TypedMethodName | undefined {
  const score = (name: TypedMethodName) =>
    TYPED_METHODS[name].fields.filter((one) => shown.includes(one.name)).length;
  return names.toSorted((a, b) => score(b) - score(a))[0];
}

/** The details as a request has them; the contract's schema checks them. */
export function detailsOf(
  name: TypedMethodName,
  values: Readonly<Record<string, string | undefined>>,
): AccountDetailsRequest {
  const own = TYPED_METHODS[name].fields.flatMap((one) => {
    const value = values[one.name]?.trim();
    return value ? [[one.name, value] as const] : [];
  });
  const given = Object.fromEntries(own);
  const { type } = TYPED_METHODS[name];
  switch (type) {
    case 'bank':
      return { bank_transfer: { payout_method_type: name, ...given } } as AccountDetailsRequest;
    case 'bank_redirect':
      return { bank_redirect: { [name]: given } } as AccountDetailsRequest;
    case 'wallet':
      return { wallet: { [name]: given } } as AccountDetailsRequest;
  }
}

/** The details of an account that a person types to pay a payout again. */
import { describe, expect, test } from 'vitest';
import {
  accountDetailsRequest,
  payoutTypeFitsData,
} from '../../../src/contract/requests/payoutMethod.ts';
import {
  detailsOf,
  likelyMethod,
  methodsOf,
  TYPED_METHOD_NAMES,
  TYPED_METHODS,
} from '../../../src/payouts/domain/methods.ts';

/** A value that every field of any method accepts. */
const VALUE = 'ada@example.test';

function filled(name: (typeof TYPED_METHOD_NAMES)[number], isWanted = (_: string) => true) {
  const fields = TYPED_METHODS[name].fields.filter((field) => isWanted(field.name));
  return detailsOf(name, Object.fromEntries(fields.map((field) => [field.name, VALUE])));
}

describe.each(TYPED_METHOD_NAMES)('the form of %s', (name) => {
  const { fields, type, label } = TYPED_METHODS[name];

  test('filled in, it makes details that the service accepts, of the method and its type', () => {
    const details = filled(name);
    expect(accountDetailsRequest.safeParse(details)).toMatchObject({ success: true });
    expect(JSON.stringify(details)).toContain(`"${name}"`);
    expect(payoutTypeFitsData({ payout_type: type, payout_method_data: details })).toBe(true);
  });

  test('the service accepts it without a field if and only if the field is not required', () => {
    for (const field of fields) {
      const details = filled(name, (one) => one !== field.name);
      const isAccepted = accountDetailsRequest.safeParse(details).success;
      expect([field.name, isAccepted]).toEqual([field.name, !field.isRequired]);
    }
  });

  test('it has a label, and each of its fields one of its own', () => {
    const labels = fields.map((field) => field.label);
    expect([label, ...labels]).not.toContain('');
    expect(new Set(labels).size).toBe(labels.length);
  });
});

test('spaces around a value are not sent, and neither is a field that was left empty', () => {
  const values = { iban: ' DE1 ', bic: 'X', account_holder_name: '  ' };
  expect(detailsOf('sepa', values)).toEqual({
    bank_transfer: { payout_method_type: 'sepa', iban: 'DE1', bic: 'X' },
  });
  expect(detailsOf('sepa', { iban: 'DE1', bic: 'X' })).toEqual(detailsOf('sepa', values));
});

test('the methods to choose from are those of the type of the payout, all if it is unknown', () => {
  expect(methodsOf('bank')).toEqual(['sepa', 'ach', 'bacs', 'pix_key']);
  expect(methodsOf('wallet')).toEqual(['paypal', 'venmo']);
  expect(methodsOf('card')).toEqual([]);
  expect(methodsOf(null)).toEqual(TYPED_METHOD_NAMES);
});

test('the method that is offered first has the most of the fields that the service shows', () => {
  const shown = ['bank_account_number', 'bank_sort_code'];
  expect(likelyMethod(methodsOf('bank'), shown)).toBe('bacs');
  expect(likelyMethod(methodsOf('bank'), ['bank_account_number', 'bank_routing_number'])).toBe(
    'ach',
  );
  expect(likelyMethod(methodsOf('bank'), [])).toBe('sepa');
  expect(likelyMethod([], shown)).toBeUndefined();
});

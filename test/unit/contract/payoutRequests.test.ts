import { describe, expect, it } from 'vitest';
import {
  CARD_NETWORKS,
  createPayoutRequest,
  ENTITY_TYPES,
  PAYOUT_PRIORITIES,
  problemsOf,
  updatePayoutRequest,
} from '../../../src/contract/index.ts';

const PAYOUT = { amount: 1000, currency: 'EUR' };
const holder = { expiry_month: '12', expiry_year: '2030', card_holder_name: 'Ada' };

/** Every kind of details with exactly its required fields, written a second time from the contract. */
const KINDS: readonly (readonly [string, Record<string, Record<string, unknown>>])[] = [
  ['card', { card: { card_number: '4242424242424242', ...holder } }],
  ...(
    [
      ['ach', { bank_account_number: '1', bank_routing_number: '2' }],
      ['bacs', { bank_account_number: '1', bank_sort_code: '2' }],
      ['sepa', { iban: 'DE1', bic: 'X' }],
      ['pix', { bank_account_number: '1' }],
      ['pix_key', { pix_key: 'k' }],
      ['pix_emv', { emv: 'e' }],
      [
        'trustly',
        { iban: 'DE1', bank_country_code: 'DE', bank_account_number: '1', bank_number: '2' },
      ],
      ['open_banking', { account_holder_name: 'Ada', iban: 'DE1' }],
    ] as const
  ).map(
    ([payout_method_type, fields]) =>
      [
        `bank_transfer ${payout_method_type}`,
        { bank_transfer: { payout_method_type, ...fields } },
      ] as const,
  ),
  ['wallet apple_pay', { wallet: { apple_pay_decrypt: { dpan: '4', ...holder } } }],
  [
    'wallet google_pay',
    { wallet: { google_pay_decrypt: { application_primary_account_number: '4', ...holder } } },
  ],
  [
    'wallet paypal',
    { wallet: { paypal: { email: 'a@b.example', telephone_number: '1', paypal_id: 'p' } } },
  ],
  ['wallet venmo', { wallet: { venmo: { telephone_number: '1' } } }],
  ['bank_redirect interac', { bank_redirect: { interac: { email: 'a@b.example' } } }],
  [
    'bank_redirect open_banking_uk',
    { bank_redirect: { open_banking_uk: { account_holder_name: 'Ada', iban: 'GB1' } } },
  ],
  ['passthrough', { passthrough: { psp_token: 't', psp_customer_id: 'c', token_type: 'credit' } }],
];

const problems = (change: object) => problemsOf(createPayoutRequest, { ...PAYOUT, ...change });

/** The innermost object, which has the fields of a kind. */
function innermost(data: Record<string, unknown>): Record<string, unknown> {
  const [first] = Object.values(data);
  const isGroup = Object.values(data).length === 1 && typeof first === 'object' && first !== null;
  return isGroup ? innermost(first as Record<string, unknown>) : data;
}

describe('creating a payout', () => {
  it('requires only amount and currency', () => {
    expect(problems({})).toEqual([]);
    expect(problemsOf(createPayoutRequest, {}).map(({ code, field }) => [code, field])).toEqual([
      ['IR_01', 'amount'],
      ['IR_01', 'currency'],
    ]);
  });

  it.each(KINDS)('%s: accepts its required fields, and rejects the omission of each', (_, data) => {
    expect(problems({ payout_method_data: data })).toEqual([]);
    for (const field of Object.keys(innermost(data)).filter((f) => f !== 'payout_method_type')) {
      const bent = structuredClone(data);
      delete innermost(bent)[field];
      const [problem] = problems({ payout_method_data: bent });
      expect(problem?.code, field).toBe('IR_01');
      expect(problem?.field.endsWith(`.${field}`), field).toBe(true);
    }
    const bent = structuredClone(data);
    innermost(bent).surplus = 'x';
    expect(problems({ payout_method_data: bent })).not.toEqual([]);
  });

  it('rejects details of two kinds, of none, and of an unknown bank transfer', () => {
    const [[, card] = [], [, ach] = []] = KINDS;
    expect(problems({ payout_method_data: { ...card, ...ach } })).not.toEqual([]);
    expect(problems({ payout_method_data: {} })).not.toEqual([]);
    const swift = { bank_transfer: { payout_method_type: 'swift', iban: 'DE1' } };
    expect(problems({ payout_method_data: swift })).toMatchObject([{ code: 'IR_04' }]);
  });

  it('accepts every card network, every entity type and every priority', () => {
    expect(CARD_NETWORKS).toHaveLength(15);
    for (const card_network of CARD_NETWORKS) {
      const card = { card_number: '4242424242424242', ...holder, card_network };
      expect(problems({ payout_method_data: { card } })).toEqual([]);
    }
    for (const entity_type of ENTITY_TYPES) expect(problems({ entity_type })).toEqual([]);
    for (const priority of PAYOUT_PRIORITIES) expect(problems({ priority })).toEqual([]);
    expect(problems({ priority: 'slow' })).not.toEqual([]);
  });

  it('requires a type and a method for a confirmation', () => {
    expect(problems({ confirm: true }).map(({ code, field }) => `${code} ${field}`)).toEqual([
      'IR_01 payout_type',
      'IR_01 payout_method_data',
    ]);
    expect(problems({ confirm: true, payout_type: 'card', payout_token: 't' })).toEqual([]);
  });

  it('rejects details of another type, and a token beside details', () => {
    const payout_method_data = { wallet: { venmo: { telephone_number: '1' } } };
    expect(problems({ payout_type: 'card', payout_method_data })).toHaveLength(1);
    expect(problems({ payout_type: 'wallet', payout_method_data })).toEqual([]);
    expect(problems({ payout_method_data, payout_token: 't' })).toHaveLength(1);
  });

  it('treats undefined details of another type as absent', () => {
    const wallet = { venmo: { telephone_number: '1' }, paypal: undefined };
    const payout_method_data = { wallet, card: undefined };
    expect(problems({ payout_type: 'wallet', payout_method_data })).toEqual([]);
    expect(problems({ payout_type: 'card', payout_method_data })).toHaveLength(1);
  });

  it('accepts deprecated customer fields unless they contradict customer', () => {
    expect(problems({ customer_id: 'c', email: 'a@b.example', name: 'Ada' })).toEqual([]);
    expect(problems({ customer_id: 'c', customer: { id: 'c' } })).toEqual([]);
    expect(problems({ customer_id: 'c', customer: { id: 'd' } })).toMatchObject([
      { code: 'IR_04', field: 'customer_id' },
    ]);
  });

  it('limits metadata to 50 pairs, keys of 40 and values of 500 characters', () => {
    const pairs = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 'v']));
    expect(problems({ metadata: pairs(50) })).toEqual([]);
    expect(problems({ metadata: pairs(51) })).toMatchObject([{ field: 'metadata' }]);
    expect(problems({ metadata: { ['k'.repeat(40)]: 'v'.repeat(500) } })).toEqual([]);
    expect(problems({ metadata: { ['k'.repeat(41)]: 'v' } })).toHaveLength(1);
    expect(problems({ metadata: { k: 'v'.repeat(501) } })).toHaveLength(1);
  });

  it('limits the reference to 255 characters', () => {
    expect(problems({ merchant_order_reference_id: 'x'.repeat(255) })).toEqual([]);
    expect(problems({ merchant_order_reference_id: 'x'.repeat(256) })).toHaveLength(1);
  });

  it('accepts a link and its configuration, which an update rejects', () => {
    const link = {
      payout_link: true,
      payout_link_config: { theme: '#4E6ADD', form_layout: 'tabs', test_mode: true },
    };
    expect(problems(link)).toEqual([]);
    const whole = { amount: 1, currency: 'EUR' };
    expect(problemsOf(updatePayoutRequest, whole)).toEqual([]);
    expect(problemsOf(updatePayoutRequest, { ...whole, ...link })).toHaveLength(2);
    expect(problemsOf(updatePayoutRequest, { ...whole, confirm: true })).toHaveLength(1);
  });
});

/** service-interface.md §4.8: payouts. */
import {
  advice,
  leftOpen,
  lines,
  type RequestRow,
  requestTable,
  type Statement,
  valueTable,
} from './statement.ts';

const WHAT = 'Create Payout';
const CREATE = 'createPayout';

const FIELDS: readonly Statement[] = requestTable('4.8', WHAT, CREATE, [
  ['amount', 'integer', 'required', { value: 4711, shownAt: 'amount' }],
  ['currency', 'string', 'required', { value: 'USD', shownAt: 'currency' }],
  [
    'merchant_order_reference_id',
    'string',
    'optional',
    { value: '$fresh', shownAt: 'merchant_order_reference_id' },
  ],
  ['payout_type', 'string', 'optional', { value: 'bank', shownAt: 'payout_type' }],
  [
    'payout_method_data',
    'object',
    'optional',
    {
      value: {
        bank_transfer: {
          payout_method_type: 'sepa',
          iban: 'DE89370400440532013000',
          bic: 'COBADEFFXXX',
        },
      },
    },
  ],
  [
    'source_bank_data',
    'object',
    'optional',
    { value: { payout_method_type: 'sepa', iban: 'DE89370400440532013000', bic: 'COBADEFFXXX' } },
  ],
  ['payout_method_id', 'string', 'optional', { shownAt: 'payout_method_id' }],
  ['customer', 'object', 'optional'],
  ['customer.id', 'string', 'optional', { value: '$fresh', shownAt: 'customer.id' }],
  ['customer.name', 'string', 'optional', { shownAt: 'customer.name' }],
  ['customer.email', 'string', 'optional', { value: 'ada@example.com', shownAt: 'customer.email' }],
  ['customer.phone', 'string', 'optional', { shownAt: 'customer.phone' }],
  [
    'customer.phone_country_code',
    'string',
    'optional',
    { value: '+49', shownAt: 'customer.phone_country_code' },
  ],
  ['customer.tax_registration_id', 'string', 'optional'],
  ['customer.document_details', 'object', 'optional', { value: { any_name: 'any value' } }],
  ['billing', 'object', 'optional', { value: '$billing', shownAt: 'billing' }],
  ['billing.address', 'object', 'optional'],
  [
    'billing.phone',
    'object',
    'optional',
    { value: { number: '5550100', country_code: '+1' }, shownAt: 'billing.phone' },
  ],
  ['billing.email', 'string', 'optional', { value: 'ada@example.com', shownAt: 'billing.email' }],
  ['confirm', 'boolean', 'optional', { value: false }],
  ['auto_fulfill', 'boolean', 'optional', { value: false, shownAt: 'auto_fulfill' }],
  ['recurring', 'boolean', 'optional', { value: true, shownAt: 'recurring' }],
  ['entity_type', 'string', 'optional', { value: 'Company', shownAt: 'entity_type' }],
  ['priority', 'string', 'optional', { value: 'fast', shownAt: 'priority' }],
  ['business_country', 'string', 'optional', { value: 'DE', shownAt: 'business_country' }],
  ['profile_id', 'string', 'optional', { value: 'pro_local', shownAt: 'profile_id' }],
  ['description', 'string', 'optional', { shownAt: 'description' }],
  [
    'return_url',
    'string',
    'optional',
    { value: 'https://shop.example/back', shownAt: 'return_url' },
  ],
  ['metadata', 'object', 'optional', { value: { author: 'a_2' }, shownAt: 'metadata' }],
  ['session_expiry', 'integer', 'optional', { value: 900, shownAt: 'session_expiry' }],
  ['payout_link', 'boolean', 'optional', { value: false }],
  ['payout_link_config', 'object', 'optional', { value: { any_name: 'any value' } }],
  ['browser_info', 'object', 'optional'],
]);

/** Fields that exclude others of the whole request. */
const FIELDS_ALONE: readonly Statement[] = requestTable('4.8', WHAT, 'createPayout:bare', [
  ['payout_token', 'string', 'optional'],
  ['customer_id', 'string', 'optional', { value: '$fresh', shownAt: 'customer_id' }],
  ['email', 'string', 'optional', { value: 'ada@example.com', shownAt: 'customer.email' }],
  ['name', 'string', 'optional', { shownAt: 'customer.name' }],
  ['phone', 'string', 'optional', { shownAt: 'customer.phone' }],
  [
    'phone_country_code',
    'string',
    'optional',
    { value: '+49', shownAt: 'customer.phone_country_code' },
  ],
]);

const RULES: readonly Statement[] = lines('4.8', [
  [
    'endpoint',
    '`POST /payouts/create` exists.',
    { by: 'route', method: 'POST', path: '/payouts/create' },
  ],
  ['need', 'Amount and currency are enough.', 'payoutOfTwoFields'],
  [
    'value',
    'A currency that ISO 4217 does not list is rejected.',
    'refusesUnknownCurrencyOnPayouts',
  ],
  [
    'limit',
    'A reference of 255 characters is accepted.',
    { by: 'accepts', request: CREATE, path: 'merchant_order_reference_id', value: '$255' },
  ],
  [
    'limit',
    'A reference of 256 characters is rejected.',
    { by: 'refuses', request: CREATE, path: 'merchant_order_reference_id', value: '$256' },
  ],
  [
    'rule',
    'Choosing a unique reference is up to the merchant.',
    advice('a duty of the merchant: the document names no refusal'),
  ],
  ['need', 'A payout without `payout_type` is not confirmed.', 'payoutTypeBeforeConfirmation'],
  ['rule', '`payout_type` can be set on update.', 'payoutTypeOnUpdate'],
  [
    'rule',
    'Details under two keys are rejected.',
    {
      by: 'refuses',
      request: CREATE,
      path: 'payout_method_data',
      value: {
        bank_transfer: { payout_method_type: 'pix_key', pix_key: '1' },
        wallet: { venmo: { telephone_number: '1' } },
      },
    },
  ],
  [
    'rule',
    'Details under no key are rejected.',
    { by: 'refuses', request: CREATE, path: 'payout_method_data', value: {} },
  ],
  ['rule', '`payout_token` goes instead of `payout_method_data`.', 'tokenInsteadOfData'],
  ['rule', '`customer` creates a customer.', 'payoutCreatesCustomer'],
  ['rule', '`customer` attaches an existing customer.', 'payoutAttachesCustomer'],
  ['default', '`customer_id` is generated if none is sent.', 'payoutGeneratesCustomer'],
  ['default', '`confirm` is false if it is not sent.', 'payoutIsNotConfirmedByDefault'],
  [
    'default',
    '`auto_fulfill` is false if it is not sent.',
    { by: 'response', sample: 'payout.bare', path: 'auto_fulfill', equals: false },
  ],
  ['value', '`auto_fulfill` confirms without manual review.', 'autoFulfillShowsFulfillment'],
  [
    'default',
    '`recurring` is false if it is not sent.',
    { by: 'response', sample: 'payout.bare', path: 'recurring', equals: false },
  ],
  [
    'limit',
    'A country of three letters is rejected.',
    { by: 'refuses', request: CREATE, path: 'business_country', value: 'DEU' },
  ],
  ['default', '`profile_id` is the default profile if it is not sent.', 'payoutUsesDefaultProfile'],
  ['limit', 'Metadata of 50 pairs is accepted.', 'payoutMetadataOf50'],
  ['limit', 'Metadata of 51 pairs is rejected.', 'payoutMetadataOf51'],
  ['limit', 'A key of 40 characters is accepted.', 'payoutMetadataKeyOf40'],
  ['limit', 'A key of 41 characters is rejected.', 'payoutMetadataKeyOf41'],
  ['limit', 'A value of 500 characters is accepted.', 'payoutMetadataValueOf500'],
  ['limit', 'A value of 501 characters is rejected.', 'payoutMetadataValueOf501'],
  ['rule', 'A session ends after `session_expiry` seconds.', 'payoutSessionExpires'],
  [
    'default',
    'A payout has no link if none is requested.',
    { by: 'response', sample: 'payout.bare', path: 'payout_link', equals: null },
  ],
  ['rule', '`payout_link` can be set at creation.', 'payoutLinkAtCreation'],
  [
    'rule',
    '`payout_link` cannot be set later.',
    { by: 'refuses', request: 'updatePayout', path: 'payout_link', value: true },
  ],
  [
    'value',
    '`payout_link_config` is accepted in any form: its fields are not named.',
    {
      by: 'accepts',
      request: CREATE,
      path: 'payout_link_config',
      value: { brand: { tint: 'green' } },
    },
  ],
  ['endpoint', 'Creating returns the payout resource.', 'createReturnsPayout'],
  ['error', 'Missing mandatory fields are 400.', 'payoutMissingIs400'],
]);

const VALUES: readonly Statement[] = [
  ...valueTable(
    '4.8',
    { request: 'createPayout:bare', path: 'payout_type', shownAt: 'payout_type' },
    ['card', 'bank', 'wallet', 'bank_redirect'],
  ),
  ...valueTable('4.8', { request: CREATE, path: 'entity_type', shownAt: 'entity_type' }, [
    'Individual',
    'Company',
    'NonProfit',
    'PublicSector',
    'NaturalPerson',
    'Personal',
    'individual',
    'company',
    'nonprofit',
    'publicsector',
    'naturalperson',
    'personal',
    'lowercase',
  ]),
  ...valueTable('4.8', { request: CREATE, path: 'priority', shownAt: 'priority' }, [
    'instant',
    'fast',
    'regular',
    'wire',
    'cross_border',
    'internal',
  ]),
  ...lines('4.8', [
    [
      'value',
      'Another value of `payout_type` is rejected.',
      { by: 'refuses', request: 'createPayout:bare', path: 'payout_type', value: 'pigeon' },
    ],
    [
      'value',
      'Another value of `entity_type` is rejected.',
      { by: 'refuses', request: CREATE, path: 'entity_type', value: 'Ghost' },
    ],
    [
      'value',
      'Another value of `priority` is rejected.',
      { by: 'refuses', request: CREATE, path: 'priority', value: 'someday' },
    ],
  ]),
];

const NETWORKS = [
  'Visa',
  'Mastercard',
  'AmericanExpress',
  'JCB',
  'DinersClub',
  'Discover',
  'CartesBancaires',
  'UnionPay',
  'Interac',
  'RuPay',
  'Maestro',
  'Star',
  'Pulse',
  'Accel',
  'Nyce',
] as const;

/** Rows of one method below its place: required names first, then optional ones. */
function method(
  at: string,
  required: readonly string[],
  optional: readonly string[] = [],
): readonly RequestRow[] {
  const value = (name: string) => {
    if (name === 'email') return { value: 'ada@example.com' };
    if (name === 'bank_country_code') return { value: 'DE' };
    if (name === 'card_network') return { value: 'Visa' };
    return {};
  };
  return [
    ...required.map((name) => [`${at}.${name}`, 'string', 'required', value(name)] as const),
    ...optional.map((name) => [`${at}.${name}`, 'string', 'optional', value(name)] as const),
  ];
}

/** `[ type, required, optional]`, the document's table of bank transfers. */
const TRANSFERS: readonly (readonly [string, readonly string[], readonly string[]])[] = [
  [
    'ach',
    ['bank_account_number', 'bank_routing_number'],
    ['bank_name', 'bank_country_code', 'bank_city', 'account_holder_name'],
  ],
  [
    'bacs',
    ['bank_account_number', 'bank_sort_code'],
    ['bank_name', 'bank_country_code', 'bank_city', 'account_holder_name'],
  ],
  ['sepa', ['iban', 'bic'], ['bank_name', 'bank_country_code', 'bank_city', 'account_holder_name']],
  ['pix', ['bank_account_number'], ['bank_name', 'bank_branch', 'tax_id', 'ispb']],
  ['pix_key', ['pix_key'], []],
  ['pix_emv', ['emv'], []],
  ['trustly', ['iban', 'bank_country_code', 'bank_account_number', 'bank_number'], []],
  ['open_banking', ['account_holder_name', 'iban'], []],
];

const CARD = ['card_number', 'expiry_month', 'expiry_year', 'card_holder_name'];

const METHODS: readonly Statement[] = [
  ...requestTable(
    '4.8.1',
    'a payout to a card',
    'createPayout:card',
    method('payout_method_data.card', CARD, ['card_network']),
  ),
  ...valueTable(
    '4.8.1',
    {
      request: 'createPayout:card',
      path: 'payout_method_data.card.card_network',
      shownAt: 'payout_method_data.card.card_network',
    },
    NETWORKS,
  ),
  ...lines('4.8.1', [
    [
      'value',
      'Another value of `card_network` is rejected.',
      {
        by: 'refuses',
        request: 'createPayout:card',
        path: 'payout_method_data.card.card_network',
        value: 'Barter',
      },
    ],
    ['need', 'A bank transfer without `payout_method_type` is rejected.', 'transferNeedsType'],
    [
      'value',
      'An unlisted type of transfer is rejected.',
      {
        by: 'refuses',
        request: 'createPayout:ach',
        path: 'payout_method_data.bank_transfer.payout_method_type',
        value: 'pigeon',
      },
    ],
  ]),
  ...TRANSFERS.flatMap(([type, required, optional]) => [
    ...valueTable(
      '4.8.1',
      {
        request: `createPayout:${type}`,
        path: 'payout_method_data.bank_transfer.payout_method_type',
      },
      [type],
    ),
    ...valueTable(
      '4.8.1',
      { request: `createPayout:source:${type}`, path: 'source_bank_data.payout_method_type' },
      [type],
    ),
    ...requestTable(
      '4.8.1',
      `a payout by ${type}`,
      `createPayout:${type}`,
      method('payout_method_data.bank_transfer', required, optional),
    ),
    ...requestTable(
      '4.8.1',
      `source_bank_data of type ${type}`,
      `createPayout:source:${type}`,
      method('source_bank_data', required, optional),
    ),
  ]),
  ...(
    [
      [
        'apple_pay_decrypt',
        ['dpan', 'expiry_month', 'expiry_year', 'card_holder_name'],
        ['card_network'],
      ],
      [
        'google_pay_decrypt',
        ['application_primary_account_number', 'expiry_month', 'expiry_year', 'card_holder_name'],
        ['card_network'],
      ],
      ['paypal', ['email', 'telephone_number', 'paypal_id'], []],
      ['venmo', ['telephone_number'], []],
    ] as const
  ).flatMap(([wallet, required, optional]) =>
    requestTable(
      '4.8.1',
      `a payout to ${wallet}`,
      `createPayout:${wallet}`,
      method(`payout_method_data.wallet.${wallet}`, required, optional),
    ),
  ),
  ...(['apple_pay_decrypt', 'google_pay_decrypt'] as const).flatMap((wallet) =>
    lines('4.8.1', [
      [
        'value',
        `A network that is not listed is rejected for ${wallet}.`,
        {
          by: 'refuses',
          request: `createPayout:${wallet}`,
          path: `payout_method_data.wallet.${wallet}.card_network`,
          value: 'Barter',
        },
      ],
    ]),
  ),
  ...requestTable(
    '4.8.1',
    'a payout by interac',
    'createPayout:interac',
    method('payout_method_data.bank_redirect.interac', ['email']),
  ),
  ...requestTable(
    '4.8.1',
    'a payout by open_banking_uk',
    'createPayout:open_banking_uk',
    method('payout_method_data.bank_redirect.open_banking_uk', ['account_holder_name', 'iban']),
  ),
  ...requestTable(
    '4.8.1',
    'a payout by passthrough',
    'createPayout:passthrough',
    method('payout_method_data.passthrough', ['psp_token', 'psp_customer_id', 'token_type']),
  ),
  ...lines('4.8.1', [
    [
      'rule',
      'Two wallets at once are rejected.',
      {
        by: 'refuses',
        request: 'createPayout:venmo',
        path: 'payout_method_data.wallet.paypal',
        value: { email: 'ada@example.com', telephone_number: '1', paypal_id: '1' },
      },
    ],
    [
      'rule',
      'Two bank redirects at once are rejected.',
      {
        by: 'refuses',
        request: 'createPayout:interac',
        path: 'payout_method_data.bank_redirect.open_banking_uk',
        value: { account_holder_name: 'Ada', iban: 'GB29NWBK60161331926819' },
      },
    ],
  ]),
];

export const PAYOUTS: readonly Statement[] = [
  ...FIELDS,
  ...FIELDS_ALONE,
  ...RULES,
  ...VALUES,
  ...METHODS,
  ...leftOpen('4.8', [
    'the form of `document_details`',
    'the names inside `payout_link_config`',
    'whether `browser_info` is required',
  ]),
  ...leftOpen('4.8.1', ['the full set of `token_type`']),
];

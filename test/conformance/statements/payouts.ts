/** Lines 342 to 395 of the interface document: payouts. */
import {
  advice,
  leftOpen,
  lines,
  type RequestRow,
  requestTable,
  type Statement,
  valueTable,
} from './statement.ts';

const SECTION = 'Payouts';
const WHAT = 'Create Payout';
const CREATE = 'createPayout';

const FIELDS: readonly Statement[] = requestTable(SECTION, WHAT, CREATE, [
  [348, 'amount', 'integer', 'required', { value: 4711, shownAt: 'amount' }],
  [349, 'currency', 'string', 'required', { value: 'USD', shownAt: 'currency' }],
  [
    350,
    'merchant_order_reference_id',
    'string',
    'optional',
    { value: '$fresh', shownAt: 'merchant_order_reference_id' },
  ],
  [351, 'payout_type', 'string', 'optional', { value: 'bank', shownAt: 'payout_type' }],
  [
    352,
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
    353,
    'source_bank_data',
    'object',
    'optional',
    { value: { payout_method_type: 'sepa', iban: 'DE89370400440532013000', bic: 'COBADEFFXXX' } },
  ],
  [355, 'payout_method_id', 'string', 'optional', { shownAt: 'payout_method_id' }],
  [356, 'customer', 'object', 'optional'],
  [356, 'customer.id', 'string', 'optional', { value: '$fresh', shownAt: 'customer.id' }],
  [356, 'customer.name', 'string', 'optional', { shownAt: 'customer.name' }],
  [
    356,
    'customer.email',
    'string',
    'optional',
    { value: 'ada@example.com', shownAt: 'customer.email' },
  ],
  [356, 'customer.phone', 'string', 'optional', { shownAt: 'customer.phone' }],
  [
    356,
    'customer.phone_country_code',
    'string',
    'optional',
    { value: '+49', shownAt: 'customer.phone_country_code' },
  ],
  [356, 'customer.tax_registration_id', 'string', 'optional'],
  [356, 'customer.document_details', 'object', 'optional', { value: { any_name: 'any value' } }],
  [358, 'billing', 'object', 'optional', { value: '$billing', shownAt: 'billing' }],
  [358, 'billing.address', 'object', 'optional'],
  [
    358,
    'billing.phone',
    'object',
    'optional',
    { value: { number: '5550100', country_code: '+1' }, shownAt: 'billing.phone' },
  ],
  [
    358,
    'billing.email',
    'string',
    'optional',
    { value: 'ada@example.com', shownAt: 'billing.email' },
  ],
  [359, 'confirm', 'boolean', 'optional', { value: false }],
  [360, 'auto_fulfill', 'boolean', 'optional', { value: false, shownAt: 'auto_fulfill' }],
  [361, 'recurring', 'boolean', 'optional', { value: true, shownAt: 'recurring' }],
  [362, 'entity_type', 'string', 'optional', { value: 'Company', shownAt: 'entity_type' }],
  [363, 'priority', 'string', 'optional', { value: 'fast', shownAt: 'priority' }],
  [364, 'business_country', 'string', 'optional', { value: 'DE', shownAt: 'business_country' }],
  [365, 'profile_id', 'string', 'optional', { value: 'pro_local', shownAt: 'profile_id' }],
  [366, 'description', 'string', 'optional', { shownAt: 'description' }],
  [
    367,
    'return_url',
    'string',
    'optional',
    { value: 'https://shop.example/back', shownAt: 'return_url' },
  ],
  [368, 'metadata', 'object', 'optional', { value: { author: 'a_2' }, shownAt: 'metadata' }],
  [369, 'session_expiry', 'integer', 'optional', { value: 900, shownAt: 'session_expiry' }],
  [370, 'payout_link', 'boolean', 'optional', { value: false }],
  [371, 'payout_link_config', 'object', 'optional', { value: { any_name: 'any value' } }],
  [372, 'browser_info', 'object', 'optional'],
]);

/** Fields that do not go beside others of the whole request. */
const FIELDS_ALONE: readonly Statement[] = requestTable(SECTION, WHAT, 'createPayout:bare', [
  [354, 'payout_token', 'string', 'optional'],
  [357, 'customer_id', 'string', 'optional', { value: '$fresh', shownAt: 'customer_id' }],
  [357, 'email', 'string', 'optional', { value: 'ada@example.com', shownAt: 'customer.email' }],
  [357, 'name', 'string', 'optional', { shownAt: 'customer.name' }],
  [357, 'phone', 'string', 'optional', { shownAt: 'customer.phone' }],
  [
    357,
    'phone_country_code',
    'string',
    'optional',
    { value: '+49', shownAt: 'customer.phone_country_code' },
  ],
]);

const RULES: readonly Statement[] = lines(SECTION, [
  [
    344,
    'endpoint',
    '`POST /payouts/create` exists.',
    { by: 'route', method: 'POST', path: '/payouts/create' },
  ],
  [344, 'need', 'Amount and currency are enough.', 'payoutOfTwoFields'],
  [
    349,
    'value',
    'A currency that ISO 4217 does not list is refused.',
    'refusesUnknownCurrencyOnPayouts',
  ],
  [
    350,
    'limit',
    'A reference of 255 characters is accepted.',
    { by: 'accepts', request: CREATE, path: 'merchant_order_reference_id', value: '$255' },
  ],
  [
    350,
    'limit',
    'A reference of 256 characters is refused.',
    { by: 'refuses', request: CREATE, path: 'merchant_order_reference_id', value: '$256' },
  ],
  [
    350,
    'rule',
    'Choosing a unique reference is up to the merchant.',
    advice('a duty of the merchant: the document names no refusal'),
  ],
  [351, 'need', 'A payout without `payout_type` is not confirmed.', 'payoutTypeBeforeConfirmation'],
  [351, 'rule', '`payout_type` can be set on update.', 'payoutTypeOnUpdate'],
  [
    352,
    'rule',
    'Details under two keys are refused.',
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
    352,
    'rule',
    'Details under no key are refused.',
    { by: 'refuses', request: CREATE, path: 'payout_method_data', value: {} },
  ],
  [354, 'rule', '`payout_token` goes instead of `payout_method_data`.', 'tokenInsteadOfData'],
  [356, 'rule', '`customer` creates a customer.', 'payoutCreatesCustomer'],
  [356, 'rule', '`customer` attaches an existing customer.', 'payoutAttachesCustomer'],
  [357, 'default', '`customer_id` is generated where none is sent.', 'payoutGeneratesCustomer'],
  [359, 'default', '`confirm` is false where it is not sent.', 'payoutIsNotConfirmedByDefault'],
  [
    360,
    'default',
    '`auto_fulfill` is false where it is not sent.',
    { by: 'answer', sample: 'payout.bare', path: 'auto_fulfill', equals: false },
  ],
  [360, 'value', '`auto_fulfill` confirms without manual review.', 'autoFulfillShowsFulfillment'],
  [
    361,
    'default',
    '`recurring` is false where it is not sent.',
    { by: 'answer', sample: 'payout.bare', path: 'recurring', equals: false },
  ],
  [
    364,
    'limit',
    'A country of three letters is refused.',
    { by: 'refuses', request: CREATE, path: 'business_country', value: 'DEU' },
  ],
  [
    365,
    'default',
    '`profile_id` is the default profile where it is not sent.',
    'payoutUsesDefaultProfile',
  ],
  [368, 'limit', 'Metadata of 50 pairs is accepted.', 'payoutMetadataOf50'],
  [368, 'limit', 'Metadata of 51 pairs is refused.', 'payoutMetadataOf51'],
  [368, 'limit', 'A key of 40 characters is accepted.', 'payoutMetadataKeyOf40'],
  [368, 'limit', 'A key of 41 characters is refused.', 'payoutMetadataKeyOf41'],
  [368, 'limit', 'A value of 500 characters is accepted.', 'payoutMetadataValueOf500'],
  [368, 'limit', 'A value of 501 characters is refused.', 'payoutMetadataValueOf501'],
  [369, 'rule', 'A session ends after `session_expiry` seconds.', 'payoutSessionExpires'],
  [
    370,
    'default',
    'A payout has no link where none is asked for.',
    { by: 'answer', sample: 'payout.bare', path: 'payout_link', equals: null },
  ],
  [370, 'rule', '`payout_link` can be set at creation.', 'payoutLinkAtCreation'],
  [
    370,
    'rule',
    '`payout_link` cannot be set later.',
    { by: 'refuses', request: 'updatePayout', path: 'payout_link', value: true },
  ],
  [
    371,
    'value',
    '`payout_link_config` is accepted in any form: its fields are not named.',
    {
      by: 'accepts',
      request: CREATE,
      path: 'payout_link_config',
      value: { brand: { tint: 'green' } },
    },
  ],
  [395, 'endpoint', 'Creating answers with the payout resource.', 'createAnswersPayout'],
  [395, 'error', 'Missing mandatory fields are 400.', 'payoutMissingIs400'],
]);

const VALUES: readonly Statement[] = [
  ...valueTable(
    SECTION,
    { request: 'createPayout:bare', path: 'payout_type', shownAt: 'payout_type' },
    [
      [351, 'card'],
      [351, 'bank'],
      [351, 'wallet'],
      [351, 'bank_redirect'],
    ],
  ),
  ...valueTable(SECTION, { request: CREATE, path: 'entity_type', shownAt: 'entity_type' }, [
    [362, 'Individual'],
    [362, 'Company'],
    [362, 'NonProfit'],
    [362, 'PublicSector'],
    [362, 'NaturalPerson'],
    [362, 'Personal'],
    [362, 'individual'],
    [362, 'company'],
    [362, 'nonprofit'],
    [362, 'publicsector'],
    [362, 'naturalperson'],
    [362, 'personal'],
    [362, 'lowercase'],
  ]),
  ...valueTable(SECTION, { request: CREATE, path: 'priority', shownAt: 'priority' }, [
    [363, 'instant'],
    [363, 'fast'],
    [363, 'regular'],
    [363, 'wire'],
    [363, 'cross_border'],
    [363, 'internal'],
  ]),
  ...lines(SECTION, [
    [
      351,
      'value',
      'Another word as `payout_type` is refused.',
      { by: 'refuses', request: 'createPayout:bare', path: 'payout_type', value: 'pigeon' },
    ],
    [
      362,
      'value',
      'Another word as `entity_type` is refused.',
      { by: 'refuses', request: CREATE, path: 'entity_type', value: 'Ghost' },
    ],
    [
      363,
      'value',
      'Another word as `priority` is refused.',
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
  line: number,
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
    ...required.map((name) => [line, `${at}.${name}`, 'string', 'required', value(name)] as const),
    ...optional.map((name) => [line, `${at}.${name}`, 'string', 'optional', value(name)] as const),
  ];
}

/** `[line, type, required, optional]`, the document's table of bank transfers. */
const TRANSFERS: readonly (readonly [number, string, readonly string[], readonly string[]])[] = [
  [
    380,
    'ach',
    ['bank_account_number', 'bank_routing_number'],
    ['bank_name', 'bank_country_code', 'bank_city', 'account_holder_name'],
  ],
  [
    381,
    'bacs',
    ['bank_account_number', 'bank_sort_code'],
    ['bank_name', 'bank_country_code', 'bank_city', 'account_holder_name'],
  ],
  [
    382,
    'sepa',
    ['iban', 'bic'],
    ['bank_name', 'bank_country_code', 'bank_city', 'account_holder_name'],
  ],
  [383, 'pix', ['bank_account_number'], ['bank_name', 'bank_branch', 'tax_id', 'ispb']],
  [384, 'pix_key', ['pix_key'], []],
  [385, 'pix_emv', ['emv'], []],
  [386, 'trustly', ['iban', 'bank_country_code', 'bank_account_number', 'bank_number'], []],
  [387, 'open_banking', ['account_holder_name', 'iban'], []],
];

const CARD = ['card_number', 'expiry_month', 'expiry_year', 'card_holder_name'];

const METHODS: readonly Statement[] = [
  ...requestTable(
    SECTION,
    'a payout to a card',
    'createPayout:card',
    method(374, 'payout_method_data.card', CARD, ['card_network']),
  ),
  ...valueTable(
    SECTION,
    {
      request: 'createPayout:card',
      path: 'payout_method_data.card.card_network',
      shownAt: 'payout_method_data.card.card_network',
    },
    NETWORKS.map((network) => [374, network] as const),
  ),
  ...lines(SECTION, [
    [
      374,
      'value',
      'Another word as `card_network` is refused.',
      {
        by: 'refuses',
        request: 'createPayout:card',
        path: 'payout_method_data.card.card_network',
        value: 'Barter',
      },
    ],
    [376, 'need', 'A bank transfer without `payout_method_type` is refused.', 'transferNeedsType'],
    [
      376,
      'value',
      'A type of transfer that is not listed is refused.',
      {
        by: 'refuses',
        request: 'createPayout:ach',
        path: 'payout_method_data.bank_transfer.payout_method_type',
        value: 'pigeon',
      },
    ],
  ]),
  ...TRANSFERS.flatMap(([line, type, required, optional]) => [
    ...valueTable(
      SECTION,
      {
        request: `createPayout:${type}`,
        path: 'payout_method_data.bank_transfer.payout_method_type',
      },
      [[line, type]],
    ),
    ...valueTable(
      SECTION,
      { request: `createPayout:source:${type}`, path: 'source_bank_data.payout_method_type' },
      [[line, type]],
    ),
    ...requestTable(
      SECTION,
      `a payout by ${type}`,
      `createPayout:${type}`,
      method(line, 'payout_method_data.bank_transfer', required, optional),
    ),
    ...requestTable(
      SECTION,
      `source_bank_data of type ${type}`,
      `createPayout:source:${type}`,
      method(line, 'source_bank_data', required, optional),
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
      SECTION,
      `a payout to ${wallet}`,
      `createPayout:${wallet}`,
      method(389, `payout_method_data.wallet.${wallet}`, required, optional),
    ),
  ),
  ...(['apple_pay_decrypt', 'google_pay_decrypt'] as const).flatMap((wallet) =>
    lines(SECTION, [
      [
        389,
        'value',
        `A network that is not listed is refused for ${wallet}.`,
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
    SECTION,
    'a payout by interac',
    'createPayout:interac',
    method(391, 'payout_method_data.bank_redirect.interac', ['email']),
  ),
  ...requestTable(
    SECTION,
    'a payout by open_banking_uk',
    'createPayout:open_banking_uk',
    method(391, 'payout_method_data.bank_redirect.open_banking_uk', [
      'account_holder_name',
      'iban',
    ]),
  ),
  ...requestTable(
    SECTION,
    'a payout by passthrough',
    'createPayout:passthrough',
    method(393, 'payout_method_data.passthrough', ['psp_token', 'psp_customer_id', 'token_type']),
  ),
  ...lines(SECTION, [
    [
      389,
      'rule',
      'Two wallets at once are refused.',
      {
        by: 'refuses',
        request: 'createPayout:venmo',
        path: 'payout_method_data.wallet.paypal',
        value: { email: 'ada@example.com', telephone_number: '1', paypal_id: '1' },
      },
    ],
    [
      391,
      'rule',
      'Two bank redirects at once are refused.',
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
  ...leftOpen(SECTION, [
    [356, 'the form of `document_details`'],
    [371, 'the names inside `payout_link_config`'],
    [372, 'whether `browser_info` is required'],
    [393, 'the full set of `token_type`'],
  ]),
];

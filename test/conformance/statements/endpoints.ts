/** service-interface.md §4 to §4.7: endpoints, from keys to payment links. */
import {
  advice,
  type Check,
  leftOpen,
  lines,
  requestTable,
  responseTable,
  type Statement,
  valueTable,
} from './statement.ts';

const route = (method: string, path: string): Check => ({ by: 'route', method, path });

const KEYS: readonly Statement[] = [
  ...lines('4', [
    ['auth', 'Every endpoint rejects a request without a key.', 'everyEndpointNeedsKey'],
  ]),
  ...lines('4.1', [
    ['endpoint', '`GET /health` exists.', route('GET', '/health')],
    [
      'endpoint',
      '`GET /health` needs no body and returns 200 for a valid key.',
      'healthReturns200',
    ],
  ]),
  ...lines('4.2', [
    ['endpoint', '`POST /api_keys/:merchant_id` exists.', route('POST', '/api_keys/:merchant_id')],
    ['auth', 'An administrative key creates keys.', 'adminKeyCreatesKeys'],
    ['endpoint', 'Creating a key returns the key resource.', 'newKeyIsWhole'],
    ['rule', '`api_key` is returned once.', 'keyIsShownOnce'],
    [
      'value',
      '`expiration` may be `never`.',
      { by: 'accepts', request: 'createApiKey', path: 'expiration', value: 'never' },
    ],
    [
      'value',
      '`expiration` may be an ISO 8601 date.',
      { by: 'accepts', request: 'createApiKey', path: 'expiration', value: '2039-12-31' },
    ],
    [
      'value',
      'Any other value of `expiration` is rejected.',
      { by: 'refuses', request: 'createApiKey', path: 'expiration', value: 'soon' },
    ],
    ['rule', 'A key does not work after its expiration.', 'keyExpires'],
  ]),
  ...requestTable('4.2', 'Create API Key', 'createApiKey', [
    ['name', 'string', 'required', { shownAt: 'name' }],
    ['description', 'string', 'optional', { shownAt: 'description' }],
    ['expiration', 'string', 'optional', { value: '2039-12-31T00:00:00Z' }],
  ]),
];

const CREATE = 'Create Payment';

const CREATE_PAYMENT: readonly Statement[] = [
  ...lines('4.3.1', [
    ['endpoint', '`POST /payments` exists.', route('POST', '/payments')],
    [
      'value',
      'A currency that ISO 4217 does not list is rejected.',
      'refusesUnknownCurrencyOnPayments',
    ],
    [
      'rule',
      'A profile that does not exist is rejected.',
      { by: 'refuses', request: 'createPayment', path: 'profile_id', value: 'pro_of_nobody' },
    ],
    ['limit', 'A payment id of 64 characters is accepted.', 'acceptsPaymentIdOf64'],
    ['limit', 'A payment id of 65 characters is rejected.', 'refusesPaymentIdOf65'],
    [
      'limit',
      'An empty payment id is rejected.',
      { by: 'refuses', request: 'createPayment', path: 'payment_id', value: '' },
    ],
    ['limit', 'A payment id has letters, digits, `_` and `-` only.', 'limitsCharactersOfPaymentId'],
    ['rule', 'A payment id is unique for a merchant.', 'paymentIdIsUnique'],
    ['default', 'A payment without a chosen id gets one.', 'generatesPaymentId'],
    [
      'rule',
      'Without a payment id the client does not repeat the request.',
      'clientDoesNotRepeatWithoutId',
    ],
    ['rule', '`customer_id` names an existing customer.', 'acceptsExistingCustomer'],
    [
      'rule',
      'An invented customer id is rejected.',
      { by: 'refuses', request: 'createPayment', path: 'customer_id', value: 'cus_of_nobody' },
    ],
    ['rule', 'A one-off payment has no customer id and sends the details itself.', 'oneOffPayment'],
    ['value', '`confirm` true authorizes in the same request.', 'createSucceeds'],
    ['value', '`confirm` false leaves it for later.', 'requiresConfirmation'],
    ['default', '`confirm` is false if it is not sent.', 'confirmIsFalseByDefault'],
    [
      'default',
      '`capture_method` is `automatic` if none is sent.',
      'capturesAutomaticallyByDefault',
    ],
    [
      'value',
      '`authentication_type` may be `three_ds`.',
      { by: 'accepts', request: 'createPayment', path: 'authentication_type', value: 'three_ds' },
    ],
    [
      'value',
      'Another value of `authentication_type` is not rejected: the set is open.',
      {
        by: 'accepts',
        request: 'createPayment',
        path: 'authentication_type',
        value: 'external_three_ds',
      },
    ],
    ['rule', '`phone` has no country code, which has a field of its own.', 'keepsPhoneApart'],
    [
      'need',
      'Confirming in the same request needs `payment_method`.',
      { by: 'requires', request: 'createPayment:method', path: 'payment_method' },
    ],
    [
      'value',
      'Another value of `payment_method` is not rejected: the set is open.',
      'openPaymentMethod',
    ],
    ['value', '`payment_method_data` may be `card`.', 'paysByCard'],
    ['value', '`payment_method_data` may be `crypto`.', 'paysWithCrypto'],
    ['need', 'Confirming with direct details needs `payment_method_data`.', 'confirmNeedsDetails'],
    [
      'need',
      'Billing must be on the request that sends the details.',
      { by: 'requires', request: 'createPayment', path: 'billing' },
    ],
    ['need', 'A wallet needs `return_url`.', 'walletNeedsReturnUrl'],
    ['need', 'A bank redirect needs `return_url`.', 'bankRedirectNeedsReturnUrl'],
    ['need', 'A hosted checkout needs `return_url`.', 'hostedNeedsReturnUrl'],
    ['need', '3-D Secure needs `return_url`.', 'threeDsNeedsReturnUrl'],
    [
      'rule',
      'The name `items` is rejected.',
      { by: 'refuses', request: 'createPayment', path: 'items', value: [] },
    ],
    [
      'rule',
      'The name `line_items` is rejected.',
      { by: 'refuses', request: 'createPayment', path: 'line_items', value: [] },
    ],
    [
      'rule',
      'The name `cart_items` is rejected.',
      { by: 'refuses', request: 'createPayment', path: 'cart_items', value: [] },
    ],
    ['rule', 'The rejection names `order_details`.', 'refusalNamesOrderDetails'],
    ['rule', 'Card data in metadata is not kept.', 'redactsCardsInMetadata'],
    [
      'rule',
      'Metadata must not contain secrets.',
      advice('a warning to people: a secret cannot be sent from a reference'),
    ],
    [
      'value',
      '`customer_acceptance` is accepted in any form: its fields are not named.',
      'openCustomerAcceptance',
    ],
    ['endpoint', 'Creating returns the payment resource.', 'createReturnsResource'],
    ['error', 'A create that is repeated under its payment id is HE_01.', 'repeatedCreateIsHe01'],
    ['rule', 'The original payment stays as it is.', 'repeatedCreateChangesNothing'],
    [
      'rule',
      'The payment is then read by its id: the client does so.',
      'clientReadsExistingPayment',
    ],
    [
      'rule',
      'HE_01 is not a failure of the payment: the client returns the payment.',
      'clientReadsExistingPayment',
    ],
  ]),
  ...requestTable('4.3.1', CREATE, 'createPayment', [
    ['amount', 'integer', 'required', { value: 4711, shownAt: 'amount' }],
    ['currency', 'string', 'required', { value: 'EUR', shownAt: 'currency' }],
    ['profile_id', 'string', 'required', { value: 'pro_local', shownAt: 'profile_id' }],
    ['payment_id', 'string', 'optional', { value: '$fresh', shownAt: 'payment_id' }],
    ['customer_id', 'string', 'optional', { value: '$customer', shownAt: 'customer_id' }],
    ['confirm', 'boolean', 'optional', { value: false }],
    ['capture_method', 'string', 'optional', { value: 'manual', shownAt: 'capture_method' }],
    [
      'authentication_type',
      'string',
      'optional',
      { value: 'three_ds', shownAt: 'authentication_type' },
    ],
    ['description', 'string', 'optional', { shownAt: 'description' }],
    ['email', 'string', 'optional', { value: 'ada@example.com', shownAt: 'email' }],
    ['name', 'string', 'optional', { shownAt: 'name' }],
    ['phone', 'string', 'optional', { shownAt: 'phone' }],
    ['phone_country_code', 'string', 'optional', { value: '+49', shownAt: 'phone_country_code' }],
    ['payment_method', 'string', 'conditional', { value: 'card', shownAt: 'payment_method' }],
    [
      'payment_method_type',
      'string',
      'conditional',
      { value: 'credit', shownAt: 'payment_method_type' },
    ],
    [
      'payment_method_data',
      'object',
      'conditional',
      {
        value: {
          card: {
            card_number: '4242424242424242',
            card_exp_month: '12',
            card_exp_year: '2039',
            card_cvc: '123',
          },
        },
      },
    ],
    ['billing', 'object', 'conditional', { value: '$billing', shownAt: 'billing' }],
    [
      'return_url',
      'string',
      'conditional',
      { value: 'https://shop.example/back', shownAt: 'return_url' },
    ],
    [
      'order_details',
      'array',
      'optional',
      {
        value: [{ name: 'Shirt', quantity: 1, amount: 6540, currency: 'USD' }],
        shownAt: 'order_details',
      },
    ],
    ['browser_info', 'object', 'optional'],
    ['metadata', 'object', 'optional', { value: { order_id: 'ord_7' }, shownAt: 'metadata' }],
    ['customer_acceptance', 'object', 'optional', { value: { acceptance_type: 'online' } }],
  ]),
  ...valueTable(
    '4.3.1',
    { request: 'createPayment', path: 'payment_method_type', shownAt: 'payment_method_type' },
    ['credit', 'debit'],
  ),
  ...valueTable(
    '4.3.1',
    {
      request: 'createPayment:crypto',
      path: 'payment_method_type',
      shownAt: 'payment_method_type',
    },
    ['crypto_currency'],
  ),
  ...valueTable(
    '4.3.1',
    { request: 'createPayment', path: 'capture_method', shownAt: 'capture_method' },
    ['automatic', 'manual', 'manual_multiple'],
  ),
  ...leftOpen('4.3.1', [
    'the other values of `authentication_type`',
    'the complete sets of `payment_method` and `payment_method_type`',
  ]),
];

const PAYMENT_ACTIONS: readonly Statement[] = [
  ...lines('4.3.2', [
    ['endpoint', '`POST /payments/:payment_id` exists.', route('POST', '/payments/:payment_id')],
    ['need', 'A body without any field is accepted.', 'updateWithNothing'],
    ['rule', 'Fields that are not sent stay.', 'postUpdates'],
    ['endpoint', 'Updating returns the payment resource.', 'updateReturnsResource'],
  ]),
  ...requestTable('4.3.2', 'Update Payment', 'updatePayment', [
    ['amount', 'integer', 'optional', { value: 4711, shownAt: 'amount' }],
    ['currency', 'string', 'optional', { value: 'EUR', shownAt: 'currency' }],
    ['description', 'string', 'optional', { shownAt: 'description' }],
    ['metadata', 'object', 'optional', { value: { order_id: 'ord_8' }, shownAt: 'metadata' }],
    ['customer_id', 'string', 'optional', { value: '$customer', shownAt: 'customer_id' }],
  ]),
  ...lines('4.3.3', [
    [
      'endpoint',
      '`POST /payments/:payment_id/confirm` exists.',
      route('POST', '/payments/:payment_id/confirm'),
    ],
    ['rule', 'Confirm authorizes a payment that was created without.', 'confirmSucceeds'],
    ['value', 'The details may be a card.', 'confirmBringsMethod'],
    ['value', 'The details may be crypto.', 'confirmBringsCrypto'],
    [
      'need',
      'Billing must be on the request that sends the details.',
      { by: 'requires', request: 'confirmPayment', path: 'billing' },
    ],
    ['rule', 'Crypto comes back to `return_url`.', 'cryptoReturns'],
    ['rule', 'A redirect comes back to `return_url`.', 'redirectReturns'],
    ['endpoint', 'Confirming returns the payment resource.', 'confirmReturnsResource'],
  ]),
  ...requestTable('4.3.3', 'Confirm Payment', 'confirmPayment', [
    ['payment_method', 'string', 'conditional', { value: 'card', shownAt: 'payment_method' }],
    [
      'payment_method_type',
      'string',
      'optional',
      { value: 'debit', shownAt: 'payment_method_type' },
    ],
    [
      'payment_method_data',
      'object',
      'conditional',
      {
        value: {
          card: {
            card_number: '5555555555554444',
            card_exp_month: '12',
            card_exp_year: '2039',
            card_cvc: '123',
          },
        },
      },
    ],
    ['billing', 'object', 'conditional', { value: '$billing', shownAt: 'billing' }],
    ['customer_acceptance', 'object', 'optional', { value: { acceptance_type: 'online' } }],
    ['browser_info', 'object', 'optional'],
    [
      'return_url',
      'string',
      'conditional',
      { value: 'https://shop.example/back', shownAt: 'return_url' },
    ],
  ]),
  ...lines('4.3.3', [
    [
      'need',
      'A payment that has its method needs no `payment_method` to be confirmed.',
      'confirmSucceeds',
    ],
    ['need', 'A payment that has its details needs none to be confirmed.', 'confirmSucceeds'],
  ]),
  ...lines('4.3.4', [
    ['endpoint', '`GET /payments/:payment_id` exists.', route('GET', '/payments/:payment_id')],
    [
      'endpoint',
      'Retrieving needs no body and returns the payment resource.',
      'retrieveReturnsResource',
    ],
  ]),
  ...lines('4.3.5', [
    ['endpoint', '`POST /payments/list` exists.', route('POST', '/payments/list')],
    ['endpoint', 'The same path accepts GET.', route('GET', '/payments/list')],
    ['rule', 'The newest payment comes first.', 'newestFirst'],
    ['rule', 'The newest payment comes first in a GET too.', 'newestFirstByGet'],
    ['default', 'A page has 10 rows where no limit is sent.', 'pageOf10'],
    [
      'limit',
      'A limit of 1 is accepted.',
      { by: 'accepts', request: 'listPayments', path: 'limit', value: 1 },
    ],
    [
      'limit',
      'A limit of 100 is accepted.',
      { by: 'accepts', request: 'listPayments', path: 'limit', value: 100 },
    ],
    [
      'limit',
      'A limit of 0 is rejected.',
      { by: 'refuses', request: 'listPayments', path: 'limit', value: 0 },
    ],
    [
      'limit',
      'A limit of 101 is rejected.',
      { by: 'refuses', request: 'listPayments', path: 'limit', value: 101 },
    ],
    ['default', 'A list begins at offset 0.', 'offsetIs0'],
    ['rule', '`offset` skips that many rows.', 'offsetSkips'],
    ['rule', '`status` filters.', 'filtersByStatus'],
    ['rule', '`customer_id` filters.', 'filtersByCustomer'],
    ['rule', '`created_gte` includes what was created at that time and later.', 'filtersFrom'],
    ['rule', '`created_lte` includes what was created at that time and earlier.', 'filtersTo'],
    ['rule', '`currency` filters.', 'filtersByCurrency'],
    ['endpoint', 'Listing returns the envelope of payments.', 'listsInPaymentEnvelope'],
  ]),
  ...requestTable('4.3.5', 'List Payments', 'listPayments', [
    ['limit', 'integer', 'optional', { value: 7 }],
    ['offset', 'integer', 'optional', { value: 3 }],
    ['status', 'string', 'optional', { value: 'succeeded' }],
    ['customer_id', 'string', 'optional', { value: 'cus_1' }],
    ['created_gte', 'timestamp', 'optional', { value: '2026-01-01T00:00:00Z' }],
    ['created_lte', 'timestamp', 'optional', { value: '2039-01-01T00:00:00Z' }],
    ['currency', 'string', 'optional', { value: 'EUR' }],
  ]),
  ...valueTable('4.3.5', { request: 'listPayments', path: 'status' }, [
    'succeeded',
    'failed',
    'processing',
    'requires_capture',
    'cancelled',
  ]),
  ...lines('4.3.6', [
    [
      'endpoint',
      '`POST /payments/:payment_id/capture` exists.',
      route('POST', '/payments/:payment_id/capture'),
    ],
    ['rule', 'A payment created with `manual` can be captured.', 'fullCaptureSucceeds'],
    [
      'rule',
      'A payment created with `manual_multiple` can be captured in parts.',
      'capturesInParts',
    ],
    ['rule', 'An amount up to `amount_capturable` is accepted.', 'captureUpToCapturable'],
    ['error', 'An amount above `amount_capturable` is rejected.', 'captureAboveIs400'],
    ['default', 'Without an amount everything authorized is captured.', 'capturesAllByDefault'],
    ['default', 'The prefix replaces that of the merchant.', 'prefixReplaces'],
    ['rule', 'The suffix follows the prefix.', 'suffixFollowsPrefix'],
    ['limit', 'Prefix and suffix of 22 characters together are accepted.', 'descriptorOf22'],
    ['limit', 'Prefix and suffix of 23 characters together are rejected.', 'descriptorOf23'],
  ]),
  ...requestTable('4.3.6', 'Capture Payment', 'capturePayment', [
    ['amount_to_capture', 'integer', 'optional', { value: 6540, shownAt: 'amount_received' }],
    ['statement_descriptor_prefix', 'string', 'optional', { value: 'SHOP' }],
    ['statement_descriptor_suffix', 'string', 'optional', { value: 'SHIRTS' }],
  ]),
  ...responseTable('4.3.6', 'the response to a capture', 'capture', [
    ['payment_id', 'string'],
    ['status', 'string', { equals: 'succeeded' }],
    ['amount', 'integer', { equals: 6540 }],
    ['amount_received', 'integer', { equals: 6540 }],
    ['amount_capturable', 'integer', { equals: 0 }],
    ['currency', 'string', { equals: 'USD' }],
    ['capture_method', 'string', { equals: 'manual' }],
    ['captured_at', 'timestamp'],
  ]),
  ...lines('4.3.7', [
    [
      'endpoint',
      '`POST /payments/:payment_id/cancel` exists.',
      route('POST', '/payments/:payment_id/cancel'),
    ],
    [
      'value',
      'The reason is free text.',
      {
        by: 'accepts',
        request: 'cancelPayment',
        path: 'cancellation_reason',
        value: 'Sent „by hand“, no. 7 – 100 % off',
        shownAt: 'cancellation_reason',
      },
    ],
  ]),
  ...requestTable('4.3.7', 'Cancel Payment', 'cancelPayment', [
    ['cancellation_reason', 'string', 'optional', { shownAt: 'cancellation_reason' }],
  ]),
  ...responseTable('4.3.7', 'the response to a cancellation', 'cancel', [
    ['payment_id', 'string'],
    ['status', 'string', { equals: 'cancelled' }],
    ['amount', 'integer', { equals: 6540 }],
    ['currency', 'string', { equals: 'USD' }],
    ['cancellation_reason', 'string', { equals: 'Out of stock' }],
    ['cancelled_at', 'timestamp'],
  ]),
  ...lines('4.3.8', [
    [
      'endpoint',
      '`POST /payments/:payment_id/approve` exists.',
      route('POST', '/payments/:payment_id/approve'),
    ],
    ['endpoint', 'Approving needs no body.', 'approveSucceeds'],
    ['rule', 'A payment that is not in manual review is not approved.', 'approveNeedsReview'],
  ]),
  ...responseTable('4.3.8', 'the response to an approval', 'approve', [
    ['payment_id', 'string'],
    ['status', 'string', { equals: 'succeeded' }],
    ['amount', 'integer', { equals: 6540 }],
    ['currency', 'string', { equals: 'USD' }],
    ['captured_at', 'timestamp'],
  ]),
  ...lines('4.3.9', [
    [
      'endpoint',
      '`POST /payments/:payment_id/reject` exists.',
      route('POST', '/payments/:payment_id/reject'),
    ],
    ['rule', 'A payment in manual review can be rejected.', 'rejectsReview'],
  ]),
  ...leftOpen('4.3.9', ['the names of review fields']),
];

const OTHER_RESOURCES: readonly Statement[] = [
  ...lines('4.4', [
    ['endpoint', '`POST /customers` exists.', route('POST', '/customers')],
    ['need', 'A customer without any field can be created.', 'customerOfNothing'],
  ]),
  ...requestTable('4.4', 'Create Customer', 'createCustomer', [
    ['customer_id', 'string', 'optional', { value: '$fresh', shownAt: 'customer_id' }],
    ['email', 'string', 'optional', { value: 'ada@example.com', shownAt: 'email' }],
    ['name', 'string', 'optional', { shownAt: 'name' }],
    ['phone', 'string', 'optional', { shownAt: 'phone' }],
    ['phone_country_code', 'string', 'optional', { value: '+49', shownAt: 'phone_country_code' }],
    ['description', 'string', 'optional', { shownAt: 'description' }],
    ['address', 'object', 'optional'],
    ['metadata', 'object', 'optional', { value: { tier: 'gold' } }],
    ['address.line1', 'string', 'optional'],
    ['address.line2', 'string', 'optional'],
    ['address.city', 'string', 'optional'],
    ['address.state', 'string', 'optional'],
    ['address.zip', 'string', 'optional'],
    ['address.country', 'string', 'optional', { value: 'DE' }],
    ['address.first_name', 'string', 'optional'],
    ['address.last_name', 'string', 'optional'],
  ]),
  ...responseTable('4.4', 'the response to the creation of a customer', 'customer.created', [
    ['customer_id', 'string'],
    ['email', 'string', { equals: 'ada@example.com' }],
    ['name', 'string', { equals: 'Ada Lovelace' }],
    ['phone', 'string', { equals: '5550100' }],
    ['phone_country_code', 'string', { equals: '+1' }],
    ['description', 'string', { equals: 'Buys shirts' }],
    ['created', 'timestamp'],
  ]),
  ...lines('4.5', [
    ['endpoint', '`POST /refunds` exists.', route('POST', '/refunds')],
    ['rule', 'A refund keeps the id that the merchant chose.', 'keepsChosenRefundId'],
    ['rule', 'An id of any printable form is accepted: the document sets none.', 'openRefundId'],
    ['default', 'Without an amount everything is refunded.', 'refundsAllByDefault'],
    ['rule', 'With an amount, that amount is refunded.', 'refundsInPart'],
    ['endpoint', '`POST /refunds/:refund_id` exists.', route('POST', '/refunds/:refund_id')],
    ['endpoint', 'Updating returns the refund resource.', 'updateReturnsRefund'],
  ]),
  ...requestTable('4.5', 'Create Refund', 'createRefund', [
    ['payment_id', 'string', 'required', { value: '$succeeded', shownAt: 'payment_id' }],
    ['refund_id', 'string', 'optional', { value: '$fresh', shownAt: 'refund_id' }],
    ['amount', 'integer', 'optional', { value: 100, shownAt: 'amount' }],
    ['reason', 'string', 'optional', { shownAt: 'reason' }],
    ['refund_type', 'string', 'optional', { value: 'Instant', shownAt: 'refund_type' }],
    ['metadata', 'object', 'optional', { value: { return_id: 'rma_2' }, shownAt: 'metadata' }],
  ]),
  ...valueTable('4.5', { request: 'createRefund', path: 'refund_type', shownAt: 'refund_type' }, [
    'Instant',
    'Scheduled',
  ]),
  ...requestTable('4.5', 'Update Refund', 'updateRefund', [
    ['reason', 'string', 'optional', { shownAt: 'reason' }],
    ['metadata', 'object', 'optional', { value: { return_id: 'rma_3' }, shownAt: 'metadata' }],
  ]),
  ...leftOpen('4.5', ['the form of the response to the creation of a refund']),
];

/** Files come first: their ids come from an upload. */
const EVIDENCE_FIELDS: readonly (readonly [field: string, isFile: boolean, value?: string])[] = [
  ['customer_name', false],
  ['customer_email_address', false, 'ada@example.com'],
  ['customer_purchase_ip', false],
  ['customer_signature', true],
  ['customer_communication', true],
  ['billing_address', false],
  ['access_activity_log', false],
  ['product_description', false],
  ['service_date', false, '2026-05-01'],
  ['service_documentation', true],
  ['receipt', true],
  ['cancellation_policy', true],
  ['cancellation_policy_disclosure', false],
  ['cancellation_rebuttal', false],
  ['refund_policy', true],
  ['refund_policy_disclosure', false],
  ['refund_refusal_explanation', false],
  ['shipping_address', false],
  ['shipping_carrier', false],
  ['shipping_date', false],
  ['shipping_tracking_number', false],
  ['shipping_documentation', true],
  ['invoice_showing_distinct_transactions', true],
  ['recurring_transaction_agreement', true],
  ['uncategorized_file', true],
  ['uncategorized_text', false],
];

const EVIDENCE: readonly Statement[] = [
  ...lines('4.6.1', [
    ['endpoint', '`POST /disputes/evidence` exists.', route('POST', '/disputes/evidence')],
    ['rule', 'Evidence may be submitted repeatedly; each call adds to it.', 'evidenceAddsUp'],
    ['rule', 'A later value replaces an earlier one.', 'evidenceReplaces'],
    ['rule', 'An empty value clears its field.', 'evidenceClears'],
    ['error', 'After the deadline evidence is rejected.', 'evidenceAfterDeadlineIs400'],
    ['rule', 'A file is uploaded separately and named by its id.', 'evidenceTakesUploadedFile'],
    [
      'need',
      'Evidence without `dispute_id` is rejected.',
      { by: 'requires', request: 'submitEvidence', path: 'dispute_id' },
    ],
    [
      'field',
      '`dispute_id` names the dispute.',
      {
        by: 'accepts',
        request: 'submitEvidence',
        path: 'customer_name',
        value: 'Ada',
        shownAt: 'dispute_id',
      },
    ],
    [
      'type',
      '`dispute_id` is a string; another form is rejected.',
      { by: 'refuses', request: 'submitEvidence', path: 'dispute_id', value: 17 },
    ],
    [
      'rule',
      '`service_date` is a date; other text is rejected.',
      { by: 'refuses', request: 'submitEvidence', path: 'service_date', value: 'some day' },
    ],
  ]),
  ...EVIDENCE_FIELDS.flatMap(([path, isFile, value = 'Example']) => [
    ...requestTable('4.6.1', 'Submit Evidence', 'submitEvidence', [
      [
        path,
        'string',
        'optional',
        { value: isFile ? '$file' : value, shownAt: `$evidence:${path}` },
      ],
    ]),
    ...(isFile
      ? lines('4.6.1', [
          [
            'rule',
            `\`${path}\` takes the id of a file; another value is rejected.`,
            { by: 'refuses', request: 'submitEvidence', path, value: 'file_of_nobody' },
          ],
        ])
      : []),
  ]),
  ...responseTable('4.6.1', 'the response to submitted evidence', 'evidence.result', [
    ['dispute_id', 'string'],
    ['status', 'string', { equals: 'submitted' }],
    ['evidence_submitted_at', 'timestamp'],
  ]),
  ...lines('4.6.2', [
    [
      'endpoint',
      '`GET /disputes/evidence/:dispute_id` exists.',
      route('GET', '/disputes/evidence/:dispute_id'),
    ],
    [
      'rule',
      'Evidence is grouped; `customer_information` is a group.',
      { by: 'response', sample: 'evidence', path: 'evidence.customer_information', is: 'object' },
    ],
    [
      'rule',
      '`product_information` is a group.',
      { by: 'response', sample: 'evidence', path: 'evidence.product_information', is: 'object' },
    ],
    [
      'rule',
      '`shipping_information` is a group.',
      { by: 'response', sample: 'evidence', path: 'evidence.shipping_information', is: 'object' },
    ],
    ['rule', 'A group without a field is omitted.', 'evidenceOmitsEmptyGroups'],
    ['rule', 'The fields are exactly those that were submitted.', 'evidenceIsWhatWasSubmitted'],
  ]),
  ...responseTable('4.6.2', 'the response to a read of evidence', 'evidence', [
    ['dispute_id', 'string'],
    ['evidence', 'object'],
    ['evidence_submitted_at', 'timestamp'],
  ]),
  ...leftOpen('4.6.2', ['the names of the other groups']),
];

const LINKS: readonly Statement[] = [
  ...lines('4.7', [
    ['endpoint', '`POST /payment_link` exists.', route('POST', '/payment_link')],
    [
      'value',
      '`link_type` may be `one_time`.',
      {
        by: 'accepts',
        request: 'createPaymentLink',
        path: 'link_type',
        value: 'one_time',
        shownAt: 'link_type',
      },
    ],
    [
      'value',
      '`sdk_layout` may be `tabs`.',
      {
        by: 'accepts',
        request: 'createPaymentLink',
        path: 'payment_link_config.sdk_layout',
        value: 'tabs',
      },
    ],
  ]),
  ...requestTable('4.7', 'Create Payment Link', 'createPaymentLink', [
    ['amount', 'integer', 'conditional', { value: 4711, shownAt: 'amount' }],
    ['currency', 'string', 'conditional', { value: 'EUR', shownAt: 'currency' }],
    ['description', 'string', 'optional', { shownAt: 'description' }],
    ['link_type', 'string', 'optional', { value: 'one_time', shownAt: 'link_type' }],
    ['expiry', 'timestamp', 'optional', { value: '2039-01-01T00:00:00Z' }],
    ['customer_id', 'string', 'optional', { value: '$customer', shownAt: 'customer_id' }],
    ['send_email', 'boolean', 'optional', { value: false }],
    ['email', 'string', 'optional', { value: 'ada@example.com', shownAt: 'email' }],
    ['capture_method', 'string', 'optional', { value: 'manual', shownAt: 'capture_method' }],
    [
      'authentication_type',
      'string',
      'optional',
      { value: 'three_ds', shownAt: 'authentication_type' },
    ],
    ['require_customer_info', 'boolean', 'optional'],
    ['payment_link_config', 'object', 'optional'],
    ['payment_link_config.seller_name', 'string', 'optional'],
    ['payment_link_config.sdk_layout', 'string', 'optional', { value: 'tabs' }],
    [
      'payment_link_config.allowed_payment_method_types',
      'array',
      'optional',
      { value: ['credit', 'debit'] },
    ],
  ]),
  ...lines('4.7', [
    [
      'type',
      '`allowed_payment_method_types` holds strings; others are rejected.',
      {
        by: 'refuses',
        request: 'createPaymentLink',
        path: 'payment_link_config.allowed_payment_method_types',
        value: [17],
      },
    ],
  ]),
  ...leftOpen('4.7', ['the form of the response to the creation of a link']),
];

export const ENDPOINTS_TO_LINKS: readonly Statement[] = [
  ...KEYS,
  ...CREATE_PAYMENT,
  ...PAYMENT_ACTIONS,
  ...OTHER_RESOURCES,
  ...EVIDENCE,
  ...LINKS,
];

/** service-interface.md §5 to §9: authentication, events, errors, retries, limits and versioning. */
import { advice, type Check, leftOpen, lines, responseTable, type Statement } from './statement.ts';

const AUTHENTICATION: readonly Statement[] = [
  ...lines('5.1', [
    ['auth', 'Every request needs a key in `api-key`.', 'everyEndpointNeedsKey'],
    [
      'header',
      'The client sends its key in `api-key` with every call.',
      'clientSendsKeyEverywhere',
    ],
    ['auth', 'A key `snd_…` is a secret key of the sandbox.', 'sandboxSecretKind'],
    ['auth', 'A key `prd_…` is a secret key of production.', 'productionSecretKind'],
    ['auth', 'A key `pk_snd_…` is a publishable key of the sandbox.', 'sandboxPublishableKind'],
    ['auth', 'A key `pk_prd_…` is a publishable key of production.', 'productionPublishableKind'],
    ['auth', 'Secret keys stay on the server.', advice('a duty of the merchant')],
    [
      'auth',
      'The browser uses publishable keys alone: such a key moves no money.',
      'publishableKeyMovesNothing',
    ],
    [
      'auth',
      'The browser SDK is initialized with a publishable key.',
      advice('a script of the service, which is not part of this project'),
    ],
  ]),
  ...lines('5.2', [
    ['auth', 'An administrative key begins with `admin_`.', 'adminKind'],
    ['auth', 'An administrative key in `api-key` creates keys.', 'adminKeyCreatesKeys'],
    ['auth', 'A new key works.', 'newKeyWorks'],
    ['auth', 'A new key is returned once.', 'keyIsShownOnce'],
  ]),
  ...lines('5.3', [
    ['error', 'A missing key is 401 with AU_01.', 'missingKeyIs401'],
    ['error', 'An invalid key is 401 with AU_01.', 'invalidKeyIs401'],
    ['error', 'A revoked key is AU_02.', 'revokedKeyIsAu02'],
    ['error', 'A key without the permission is 403.', 'forbiddenIs403'],
  ]),
  ...lines('5.4', [
    ['header', 'A webhook has `X-Webhook-Signature-512`.', 'webhookIsSigned'],
    ['auth', 'The signature is HMAC-SHA512 over the raw body.', 'signatureIsHmacSha512'],
    ['auth', 'Another byte of the body makes the signature invalid.', 'signatureCoversEveryByte'],
    ['auth', 'A body that was parsed and written again does not pass.', 'signatureIsOfRawBytes'],
    ['auth', 'Another secret makes the signature invalid.', 'signatureNeedsTheSecret'],
    [
      'auth',
      'The receiver rejects a webhook without a valid signature.',
      'receiverRefusesUnsigned',
    ],
  ]),
  ...leftOpen('5.4', ['where the signing secret comes from', 'how the signature is encoded']),
  ...leftOpen('5.5', ['permissions by kind of key and by endpoint']),
];

const EVENTS: readonly Statement[] = [
  ...lines('6.4', [
    ['event', 'Payments send events.', 'sendsPaymentEvents'],
    ['event', 'Refunds send events.', 'sendsRefundEvents'],
    ['event', 'Disputes send events.', 'sendsDisputeEvents'],
    ['event', 'Payouts send events.', 'sendsPayoutEvents'],
    ['event', 'A second change to the same status sends an event, too.', 'sendsEveryChange'],
    ['event', 'A second partial capture sends an event.', 'sendsSecondCapture'],
    ['event', 'A payout that turns out ineligible sends an event.', 'sendsIneligiblePayout'],
  ]),
  ...lines('6.1', [
    ['rule', '`event_id` is unique.', 'eventIdsAreUnique'],
    ['rule', 'Each event is processed once.', 'eventIsProcessedOnce'],
    ['value', '`event_type` may be `payment_succeeded`.', 'sendsPaymentSucceeded'],
    [
      'value',
      '`content.type` of a payment is `payment_details`.',
      { by: 'response', sample: 'event', path: 'content.type', equals: 'payment_details' },
    ],
    ['rule', '`content.object` is the resource as a retrieval shows it.', 'eventHoldsResource'],
  ]),
  ...lines('6.2', [
    ['rule', 'Fields that an event does not have can be retrieved.', 'eventHoldsResource'],
    [
      'rule',
      'An event names its payment by `content.object.payment_id`.',
      { by: 'response', sample: 'event', path: 'content.object.payment_id', is: 'string' },
    ],
    [
      'rule',
      'An event names its order by `content.object.metadata.order_id`.',
      {
        by: 'response',
        sample: 'event',
        path: 'content.object.metadata.order_id',
        equals: 'ord_1',
      },
    ],
    ['event', 'The event of a failed payment has `unified_code`.', 'failedEventHasCode'],
  ]),
  ...lines('6.3', [
    ['rule', 'The receiver verifies the raw body.', 'receiverRefusesUnsigned'],
    ['rule', 'The receiver responds with a 2xx status.', 'receiverReturns2xx'],
    ['rule', 'The service treats a 2xx status as delivered.', 'serviceTakes2xxAsDelivered'],
  ]),
  ...responseTable('6.1', 'an event', 'event', [
    ['merchant_id', 'string'],
    ['event_id', 'string'],
    ['event_type', 'string'],
    ['content.type', 'string'],
    ['content.object', 'object'],
    ['content.object.payment_id', 'string'],
    ['content.object.status', 'string', { equals: 'succeeded' }],
    ['content.object.amount', 'integer', { equals: 6540 }],
    ['content.object.currency', 'string', { equals: 'USD' }],
    ['content.object.metadata', 'object'],
    ['timestamp', 'timestamp'],
  ]),
  ...leftOpen('6.4', [
    'the other event types',
    'which operation emits which event',
    'how the endpoint is registered, retried and timed out',
    'the content types of payouts and refunds',
  ]),
];

/** `[status, scenario]` */
const STATUSES: readonly (readonly [number, string])[] = [
  [200, 'status200'],
  [201, 'status201'],
  [400, 'status400'],
  [401, 'missingKeyIs401'],
  [403, 'forbiddenIs403'],
  [404, 'status404'],
  [409, 'status409'],
  [422, 'status422'],
  [429, 'status429'],
  [500, 'status500'],
  [502, 'status502'],
  [503, 'status503'],
];

const ERRORS: readonly Statement[] = [
  ...responseTable('7.1', 'an error', 'error', [
    ['error', 'object'],
    ['error.type', 'string'],
    ['error.code', 'string'],
    ['error.message', 'string'],
  ]),
  ...lines('7.1', [
    ['rule', 'An error of this form means that no payment was attempted.', 'errorMeansNoAttempt'],
    ['rule', 'Every rejection has this form.', 'everyRefusalIsAnEnvelope'],
  ]),
  ...lines(
    '7.2',
    STATUSES.map(([status, name]) => ['error', `HTTP ${status} is used as listed.`, name] as const),
  ),
  ...lines('7.3', [
    ['value', '`authentication_error` is a type.', 'missingKeyIs401'],
    ['value', '`invalid_request` is a type.', 'status400'],
    ['value', '`processing_error` is a type.', 'provokesPe01'],
    ['value', '`rate_limit_error` is a type.', 'status429'],
    ['value', '`api_error` is a type.', 'status500'],
    ['value', '`connector_error` is a type.', 'status502'],
  ]),
  ...lines('7.4', [
    ['error', 'AU_01, of type authentication_error: the key is invalid.', 'invalidKeyIs401'],
    ['error', 'AU_02, of type authentication_error: the key was revoked.', 'revokedKeyIsAu02'],
    ['error', 'IR_01, of type invalid_request: a required field is missing.', 'provokesIr01'],
    ['error', 'IR_04, of type invalid_request: a value is invalid.', 'provokesIr04'],
    ['error', 'IR_05, of type invalid_request: there is no such resource.', 'status404'],
    ['error', 'PE_01, of type processing_error: the card was declined.', 'provokesPe01'],
    ['error', 'PE_02, of type processing_error: insufficient funds.', 'provokesPe02'],
    ['error', 'PE_03, of type processing_error: the card has expired.', 'provokesPe03'],
    ['error', 'CE_01, of type connector_error: the processor is unavailable.', 'status502'],
    ['error', 'RL_01, of type rate_limit_error: the rate limit was exceeded.', 'status429'],
    ['error', 'HE_01: a payment with this id exists.', 'repeatedCreateIsHe01'],
    ['rule', 'After HE_01 the payment is read.', 'clientReadsExistingPayment'],
    ['error', 'HE_00: the API rejected the request.', 'status500'],
  ]),
  ...lines('7.5', [
    ['error', 'Submit Evidence past the deadline is 400.', 'evidenceAfterDeadlineIs400'],
    ['error', 'Submit Evidence with an unknown file is 400.', 'evidenceUnknownFileIs400'],
    ['error', 'Submit Evidence to an unknown dispute is 404.', 'submitEvidenceUnknownIs404'],
    ['error', 'Get Evidence of an unknown dispute is 404.', 'getEvidenceUnknownIs404'],
    ['error', 'Approve of a settled payment is 400.', 'approveSettledIs400'],
    ['error', 'Approve of a cancelled payment is 400.', 'approveCancelledIs400'],
    ['error', 'Approve of an unknown payment is 404.', 'approveUnknownIs404'],
    ['error', 'Capture of more than is capturable is 400.', 'captureAboveIs400'],
    ['error', 'Capture of a payment that is not capturable is 400.', 'captureNotCapturableIs400'],
    ['error', 'Capture of an unknown payment is 404.', 'captureUnknownIs404'],
    ['error', 'Capture of a fully captured payment is 409.', 'captureCapturedIs409'],
    ['error', 'Capture of a cancelled payment is 409.', 'captureCancelledIs409'],
    ['error', 'Cancel of a captured payment is 400.', 'cancelCapturedIs400'],
    ['error', 'Cancel of a cancelled payment is 400.', 'cancelCancelledIs400'],
    ['error', 'Cancel of an unknown payment is 404.', 'cancelUnknownIs404'],
    ['error', 'Create Payout without its mandatory fields is 400.', 'payoutMissingIs400'],
  ]),
  ...leftOpen('7.4', ['the HTTP status of HE_01', 'meaning and type of HE_00']),
  ...leftOpen('7.5', ['errors of endpoints that are not listed']),
];

const RETRIES: readonly Statement[] = lines('7.7', [
  ['rule', 'The client retries 500.', 'clientRetries500'],
  ['rule', 'The client retries 502.', 'clientRetries502'],
  ['rule', 'The client retries 503.', 'clientRetries503'],
  ['rule', 'The client retries 429.', 'clientRetries429'],
  ['rule', 'The waits grow exponentially.', 'clientBacksOff'],
  ['rule', 'The waits have jitter.', 'clientJitters'],
  ['rule', 'The client does not retry another 4xx.', 'clientDoesNotRetry4xx'],
  [
    'rule',
    'Creating a payment is retried under the same payment id.',
    'clientRetriesCreateWithSameId',
  ],
  [
    'rule',
    'A capture is retried after a 5xx once a retrieval shows that nothing was captured.',
    'clientRetriesCaptureAfterRetrieve',
  ],
]);

const limitCheck = (request: string, value: number, accepted: boolean): Check =>
  ({ by: accepted ? 'accepts' : 'refuses', request, path: 'limit', value }) as const;

const PAGED = [
  'listPayments',
  'listRefunds',
  'listPayouts',
  'listPaymentLinks',
  'listCustomers',
  'listDisputes',
  'listApiKeys',
  'listPaymentsByQuery',
] as const;

const LIMITS: readonly Statement[] = [
  ...PAGED.flatMap((request) =>
    lines('8.1', [
      ['limit', `${request}: a limit of 1 is accepted.`, limitCheck(request, 1, true)],
      ['limit', `${request}: a limit of 100 is accepted.`, limitCheck(request, 100, true)],
      ['limit', `${request}: a limit of 0 is rejected.`, limitCheck(request, 0, false)],
      ['limit', `${request}: a limit of 101 is rejected.`, limitCheck(request, 101, false)],
      [
        'limit',
        `${request}: an offset of 0 is accepted.`,
        { by: 'accepts', request, path: 'offset', value: 0 },
      ],
      [
        'limit',
        `${request}: an offset below 0 is rejected.`,
        { by: 'refuses', request, path: 'offset', value: -1 },
      ],
    ]),
  ),
  ...lines('8.1', [
    ['default', 'A page of payments has 10 rows where no limit is sent.', 'pageOf10'],
    ['default', 'A page of refunds has 10 rows where no limit is sent.', 'pageOf10Refunds'],
    ['default', 'A page of customers has 10 rows where no limit is sent.', 'pageOf10Customers'],
    ['default', 'A page of payouts has 10 rows where no limit is sent.', 'pageOf10Payouts'],
    ['default', 'A list begins at offset 0.', 'offsetIs0'],
    ['limit', 'A payment id of 64 characters is accepted.', 'acceptsPaymentIdOf64'],
    ['limit', 'A payment id of 65 characters is rejected.', 'refusesPaymentIdOf65'],
    ['limit', 'A payment id has letters, digits, `_` and `-` only.', 'limitsCharactersOfPaymentId'],
    ['limit', 'A customer id of 64 characters is accepted.', 'acceptsCustomerIdOf64'],
    ['limit', 'A customer id of 65 characters is rejected.', 'refusesCustomerIdOf65'],
    [
      'limit',
      'A reference of 255 characters is accepted.',
      {
        by: 'accepts',
        request: 'createPayout',
        path: 'merchant_order_reference_id',
        value: '$255',
      },
    ],
    [
      'limit',
      'A reference of 256 characters is rejected.',
      {
        by: 'refuses',
        request: 'createPayout',
        path: 'merchant_order_reference_id',
        value: '$256',
      },
    ],
    ['limit', 'Metadata of a customer: 50 pairs and no more.', 'customerMetadataOf51'],
    [
      'limit',
      'Metadata of a customer: keys of 40 characters and no more.',
      'customerMetadataKeyOf41',
    ],
    [
      'limit',
      'Metadata of a customer: values of 500 characters and no more.',
      'customerMetadataValueOf501',
    ],
    ['limit', 'Metadata of a payout: 50 pairs and no more.', 'payoutMetadataOf51'],
    ['limit', 'Metadata of a payout: keys of 40 characters and no more.', 'payoutMetadataKeyOf41'],
    [
      'limit',
      'Metadata of a payout: values of 500 characters and no more.',
      'payoutMetadataValueOf501',
    ],
    ['limit', 'A statement descriptor of 22 characters is accepted.', 'descriptorOf22'],
    ['limit', 'A statement descriptor of 23 characters is rejected.', 'descriptorOf23'],
    ['limit', 'A manual authorization lasts 7 days.', 'capturesBefore7Days'],
    ['limit', 'A manual authorization lasts no longer.', 'expiresAfter7Days'],
  ]),
  ...lines('8.2', [
    ['header', 'A response has `X-RateLimit-Limit`.', 'sendsRateLimit'],
    [
      'header',
      'A response has `X-RateLimit-Remaining`, which each request lowers.',
      'sendsRateRemaining',
    ],
    ['header', 'A response has `X-RateLimit-Reset`, a Unix time.', 'sendsRateReset'],
    ['header', 'A 401 has them, too.', 'sendsRateWith401'],
    ['header', 'A 403 has them, too.', 'sendsRateWith403'],
    ['header', 'A 404 has them, too.', 'sendsRateWith404'],
    ['header', 'A 404 of a route that does not exist has them, too.', 'sendsRateWithUnknownRoute'],
    ['header', 'A 400 has them, too.', 'sendsRateWith400'],
    ['error', 'Beyond the limit the response is 429 with RL_01.', 'status429'],
    ['rule', 'After the reset requests are served again.', 'servesAfterReset'],
    ['rule', 'The client waits until the reset.', 'clientWaitsForReset'],
  ]),
  ...leftOpen('8.2', ['the number of requests a minute', 'the length of the evidence deadline']),
];

const DEPRECATED = ['customer_id', 'email', 'name', 'phone', 'phone_country_code'] as const;

const VERSIONING: readonly Statement[] = [
  ...lines('9.1', [
    [
      'versioning',
      'Analytics has `v1` in its paths.',
      { by: 'route', method: 'POST', path: '/analytics/v1/merchant/metrics/refunds' },
    ],
  ]),
  ...lines('9.2', [
    ...DEPRECATED.map(
      (path) =>
        [
          'versioning',
          `\`${path}\` of a payout is deprecated and still accepted.`,
          {
            by: 'accepts',
            request: 'createPayout:bare',
            path,
            value: path === 'email' ? 'ada@example.com' : 'Example',
            shownAt: `customer.${path === 'customer_id' ? 'id' : path}`,
          },
        ] as const,
    ),
    ['versioning', 'The `customer` object replaces these fields.', 'customerObjectComesFirst'],
  ]),
  ...lines('9.3', [
    [
      'versioning',
      'UE_1000 and the granular codes of its family are handled the same way.',
      'legacy1000IsHandled',
    ],
    [
      'versioning',
      'UE_2000 and the granular codes of its family are handled the same way.',
      'legacy2000IsHandled',
    ],
    [
      'versioning',
      'UE_3000 and the granular codes of its family are handled the same way.',
      'legacy3000IsHandled',
    ],
    [
      'versioning',
      'UE_4000 and the granular codes of its family are handled the same way.',
      'legacy4000IsHandled',
    ],
  ]),
  ...lines('9.4', [
    [
      'versioning',
      'The browser SDK is served from its own addresses.',
      advice('a script of the service, which is not part of this project'),
    ],
    [
      'versioning',
      'The path of the sandbox script has a version.',
      advice('a script of the service, which is not part of this project'),
    ],
  ]),
  ...leftOpen('9.5', [
    'a version scheme for the rest of the API',
    'a version header',
    'a policy of deprecation',
  ]),
];

export const PROTOCOL: readonly Statement[] = [
  ...AUTHENTICATION,
  ...EVENTS,
  ...ERRORS,
  ...RETRIES,
  ...LIMITS,
  ...VERSIONING,
];

/** Lines 445 to 550 and 623 to 648: authentication, events, errors, retries, limits, versioning. */
import { advice, answerTable, type Check, leftOpen, lines, type Statement } from './statement.ts';

const AUTHENTICATION: readonly Statement[] = [
  ...lines('Authentication', [
    [447, 'auth', 'Every request needs a key in `api-key`.', 'everyEndpointNeedsKey'],
    [
      447,
      'header',
      'The client sends its key in `api-key` with every call.',
      'clientSendsKeyEverywhere',
    ],
    [452, 'auth', 'A key `snd_…` is a secret key of the sandbox.', 'sandboxSecretKind'],
    [453, 'auth', 'A key `prd_…` is a secret key of production.', 'productionSecretKind'],
    [
      454,
      'auth',
      'A key `pk_snd_…` is a publishable key of the sandbox.',
      'sandboxPublishableKind',
    ],
    [
      455,
      'auth',
      'A key `pk_prd_…` is a publishable key of production.',
      'productionPublishableKind',
    ],
    [457, 'auth', 'Secret keys stay on the server.', advice('a duty of the merchant')],
    [
      457,
      'auth',
      'The browser uses publishable keys alone: such a key moves no money.',
      'publishableKeyMovesNothing',
    ],
    [
      457,
      'auth',
      'The browser SDK is initialized with a publishable key.',
      advice('a script of the service, which is not part of this project'),
    ],
    [458, 'auth', 'An administrative key begins with `admin_`.', 'adminKind'],
    [458, 'auth', 'An administrative key in `api-key` creates keys.', 'adminKeyCreatesKeys'],
    [458, 'auth', 'A new key works.', 'newKeyWorks'],
    [458, 'auth', 'A new key is returned once.', 'keyIsShownOnce'],
    [459, 'error', 'A missing key is 401 with AU_01.', 'missingKeyIs401'],
    [459, 'error', 'An invalid key is 401 with AU_01.', 'invalidKeyIs401'],
    [459, 'error', 'A revoked key is AU_02.', 'revokedKeyIsAu02'],
    [459, 'error', 'A key without the permission is 403.', 'forbiddenIs403'],
    [460, 'header', 'A webhook carries `X-Webhook-Signature-512`.', 'webhookIsSigned'],
    [460, 'auth', 'The signature is HMAC-SHA512 over the raw body.', 'signatureIsHmacSha512'],
    [
      460,
      'auth',
      'Another byte of the body makes the signature invalid.',
      'signatureCoversEveryByte',
    ],
    [
      460,
      'auth',
      'A body that was parsed and written again does not pass.',
      'signatureIsOfRawBytes',
    ],
    [460, 'auth', 'Another secret makes the signature invalid.', 'signatureNeedsTheSecret'],
    [
      460,
      'auth',
      'The receiver refuses a webhook without a valid signature.',
      'receiverRefusesUnsigned',
    ],
  ]),
  ...leftOpen('Authentication', [
    [460, 'where the signing secret comes from'],
    [460, 'how the signature is encoded'],
    [461, 'permissions by kind of key and by endpoint'],
  ]),
];

const EVENTS: readonly Statement[] = [
  ...lines('Events', [
    [465, 'event', 'Payments send events.', 'sendsPaymentEvents'],
    [465, 'event', 'Refunds send events.', 'sendsRefundEvents'],
    [465, 'event', 'Disputes send events.', 'sendsDisputeEvents'],
    [465, 'event', 'Payouts send events.', 'sendsPayoutEvents'],
    [465, 'event', 'A second change to the same status sends an event, too.', 'tellsEveryChange'],
    [465, 'event', 'A second partial capture sends an event.', 'tellsSecondCapture'],
    [465, 'event', 'A payout that turns out ineligible sends an event.', 'tellsIneligiblePayout'],
    [472, 'rule', '`event_id` is unique.', 'eventIdsAreUnique'],
    [472, 'rule', 'Each event is processed once.', 'eventIsProcessedOnce'],
    [473, 'value', '`event_type` may be `payment_succeeded`.', 'tellsPaymentSucceeded'],
    [
      474,
      'value',
      '`content.type` of a payment is `payment_details`.',
      { by: 'answer', sample: 'event', path: 'content.type', equals: 'payment_details' },
    ],
    [
      475,
      'rule',
      '`content.object` is the resource as a retrieval shows it.',
      'eventHoldsResource',
    ],
    [479, 'rule', 'What an event lacks can be retrieved.', 'eventHoldsResource'],
    [
      480,
      'rule',
      'An event names its payment by `content.object.payment_id`.',
      { by: 'answer', sample: 'event', path: 'content.object.payment_id', is: 'string' },
    ],
    [
      480,
      'rule',
      'An event names its order by `content.object.metadata.order_id`.',
      { by: 'answer', sample: 'event', path: 'content.object.metadata.order_id', equals: 'ord_1' },
    ],
    [481, 'rule', 'The receiver verifies the raw body.', 'receiverRefusesUnsigned'],
    [481, 'rule', 'The receiver answers with a 2xx status.', 'receiverAnswers2xx'],
    [481, 'rule', 'The service takes a 2xx status as delivered.', 'serviceTakes2xxAsDelivered'],
    [482, 'event', 'The event of a failed payment has `unified_code`.', 'failedEventHasCode'],
  ]),
  ...answerTable('Events', 'an event', 'event', [
    [471, 'merchant_id', 'string'],
    [472, 'event_id', 'string'],
    [473, 'event_type', 'string'],
    [474, 'content.type', 'string'],
    [475, 'content.object', 'object'],
    [475, 'content.object.payment_id', 'string'],
    [475, 'content.object.status', 'string', { equals: 'succeeded' }],
    [475, 'content.object.amount', 'integer', { equals: 6540 }],
    [475, 'content.object.currency', 'string', { equals: 'USD' }],
    [475, 'content.object.metadata', 'object'],
    [476, 'timestamp', 'timestamp'],
  ]),
  ...leftOpen('Events', [
    [483, 'the other event types'],
    [484, 'which operation emits which event'],
    [484, 'how the endpoint is registered, retried and timed out'],
    [485, 'the content types of payouts and refunds'],
  ]),
];

/** `[line, status, scenario]` */
const STATUSES: readonly (readonly [number, number, string])[] = [
  [497, 200, 'status200'],
  [498, 201, 'status201'],
  [499, 400, 'status400'],
  [500, 401, 'missingKeyIs401'],
  [501, 403, 'forbiddenIs403'],
  [502, 404, 'status404'],
  [503, 409, 'status409'],
  [504, 422, 'status422'],
  [505, 429, 'status429'],
  [506, 500, 'status500'],
  [507, 502, 'status502'],
  [508, 503, 'status503'],
];

const ERRORS: readonly Statement[] = [
  ...answerTable('Error envelope', 'an error', 'error', [
    [491, 'error', 'object'],
    [491, 'error.type', 'string'],
    [491, 'error.code', 'string'],
    [491, 'error.message', 'string'],
  ]),
  ...lines('Error envelope', [
    [
      491,
      'rule',
      'An error of this form means that no payment was attempted.',
      'errorMeansNoAttempt',
    ],
    [491, 'rule', 'Every refusal has this form.', 'everyRefusalIsAnEnvelope'],
  ]),
  ...lines(
    'HTTP statuses',
    STATUSES.map(
      ([line, status, name]) => [line, 'error', `HTTP ${status} is used as listed.`, name] as const,
    ),
  ),
  ...lines('Types', [
    [512, 'value', '`authentication_error` is a type.', 'missingKeyIs401'],
    [512, 'value', '`invalid_request` is a type.', 'status400'],
    [512, 'value', '`processing_error` is a type.', 'provokesPe01'],
    [512, 'value', '`rate_limit_error` is a type.', 'status429'],
    [512, 'value', '`api_error` is a type.', 'status500'],
    [512, 'value', '`connector_error` is a type.', 'status502'],
  ]),
  ...lines('Codes', [
    [518, 'error', 'AU_01, of type authentication_error: the key is invalid.', 'invalidKeyIs401'],
    [519, 'error', 'AU_02, of type authentication_error: the key was revoked.', 'revokedKeyIsAu02'],
    [520, 'error', 'IR_01, of type invalid_request: a required field is missing.', 'provokesIr01'],
    [521, 'error', 'IR_04, of type invalid_request: a value is invalid.', 'provokesIr04'],
    [522, 'error', 'IR_05, of type invalid_request: there is no such resource.', 'status404'],
    [523, 'error', 'PE_01, of type processing_error: the card was declined.', 'provokesPe01'],
    [524, 'error', 'PE_02, of type processing_error: the funds do not suffice.', 'provokesPe02'],
    [525, 'error', 'PE_03, of type processing_error: the card has expired.', 'provokesPe03'],
    [526, 'error', 'CE_01, of type connector_error: the processor is unavailable.', 'status502'],
    [527, 'error', 'RL_01, of type rate_limit_error: the rate limit was exceeded.', 'status429'],
    [528, 'error', 'HE_01: a payment with this id exists.', 'repeatedCreateIsHe01'],
    [528, 'rule', 'After HE_01 the payment is read.', 'clientReadsExistingPayment'],
    [529, 'error', 'HE_00: the API rejected the request.', 'status500'],
  ]),
  ...lines('Per-endpoint errors', [
    [537, 'error', 'Submit Evidence past the deadline is 400.', 'evidenceAfterDeadlineIs400'],
    [537, 'error', 'Submit Evidence with an unknown file is 400.', 'evidenceUnknownFileIs400'],
    [538, 'error', 'Submit Evidence to an unknown dispute is 404.', 'submitEvidenceUnknownIs404'],
    [539, 'error', 'Get Evidence of an unknown dispute is 404.', 'getEvidenceUnknownIs404'],
    [540, 'error', 'Approve of a settled payment is 400.', 'approveSettledIs400'],
    [540, 'error', 'Approve of a cancelled payment is 400.', 'approveCancelledIs400'],
    [541, 'error', 'Approve of an unknown payment is 404.', 'approveUnknownIs404'],
    [542, 'error', 'Capture of more than is capturable is 400.', 'captureAboveIs400'],
    [
      542,
      'error',
      'Capture of a payment that is not capturable is 400.',
      'captureNotCapturableIs400',
    ],
    [543, 'error', 'Capture of an unknown payment is 404.', 'captureUnknownIs404'],
    [544, 'error', 'Capture of a fully captured payment is 409.', 'captureCapturedIs409'],
    [544, 'error', 'Capture of a cancelled payment is 409.', 'captureCancelledIs409'],
    [545, 'error', 'Cancel of a captured payment is 400.', 'cancelCapturedIs400'],
    [545, 'error', 'Cancel of a cancelled payment is 400.', 'cancelCancelledIs400'],
    [546, 'error', 'Cancel of an unknown payment is 404.', 'cancelUnknownIs404'],
    [547, 'error', 'Create Payout without its mandatory fields is 400.', 'payoutMissingIs400'],
  ]),
  ...leftOpen('Codes', [
    [531, 'the HTTP status of HE_01'],
    [531, 'meaning and type of HE_00'],
  ]),
  ...leftOpen('Per-endpoint errors', [[549, 'errors of endpoints that are not listed']]),
];

const RETRIES: readonly Statement[] = lines('Retry guidance', [
  [625, 'rule', 'The client retries 500.', 'clientRetries500'],
  [625, 'rule', 'The client retries 502.', 'clientRetries502'],
  [625, 'rule', 'The client retries 503.', 'clientRetries503'],
  [625, 'rule', 'The client retries 429.', 'clientRetries429'],
  [625, 'rule', 'The waits grow exponentially.', 'clientBacksOff'],
  [625, 'rule', 'The waits have jitter.', 'clientJitters'],
  [625, 'rule', 'The client does not retry another 4xx.', 'clientDoesNotRetry4xx'],
  [
    625,
    'rule',
    'Creating a payment is retried under the same payment id.',
    'clientRetriesCreateWithSameId',
  ],
  [
    625,
    'rule',
    'A capture is retried after a 5xx once a retrieval shows that nothing was captured.',
    'clientRetriesCaptureAfterLook',
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
    lines('Limits', [
      [631, 'limit', `${request}: a limit of 1 is accepted.`, limitCheck(request, 1, true)],
      [631, 'limit', `${request}: a limit of 100 is accepted.`, limitCheck(request, 100, true)],
      [631, 'limit', `${request}: a limit of 0 is refused.`, limitCheck(request, 0, false)],
      [631, 'limit', `${request}: a limit of 101 is refused.`, limitCheck(request, 101, false)],
      [
        632,
        'limit',
        `${request}: an offset of 0 is accepted.`,
        { by: 'accepts', request, path: 'offset', value: 0 },
      ],
      [
        632,
        'limit',
        `${request}: an offset below 0 is refused.`,
        { by: 'refuses', request, path: 'offset', value: -1 },
      ],
    ]),
  ),
  ...lines('Limits', [
    [631, 'default', 'A page of payments has 10 rows where no limit is sent.', 'pageOf10'],
    [631, 'default', 'A page of refunds has 10 rows where no limit is sent.', 'pageOf10Refunds'],
    [
      631,
      'default',
      'A page of customers has 10 rows where no limit is sent.',
      'pageOf10Customers',
    ],
    [631, 'default', 'A page of payouts has 10 rows where no limit is sent.', 'pageOf10Payouts'],
    [632, 'default', 'A list begins at offset 0.', 'offsetIs0'],
    [633, 'limit', 'A payment id of 64 characters is accepted.', 'acceptsPaymentIdOf64'],
    [633, 'limit', 'A payment id of 65 characters is refused.', 'refusesPaymentIdOf65'],
    [
      633,
      'limit',
      'A payment id has letters, digits, `_` and `-` only.',
      'limitsCharactersOfPaymentId',
    ],
    [634, 'limit', 'A customer id of 64 characters is accepted.', 'acceptsCustomerIdOf64'],
    [634, 'limit', 'A customer id of 65 characters is refused.', 'refusesCustomerIdOf65'],
    [
      635,
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
      635,
      'limit',
      'A reference of 256 characters is refused.',
      {
        by: 'refuses',
        request: 'createPayout',
        path: 'merchant_order_reference_id',
        value: '$256',
      },
    ],
    [636, 'limit', 'Metadata of a customer: 50 pairs and no more.', 'customerMetadataOf51'],
    [
      636,
      'limit',
      'Metadata of a customer: keys of 40 characters and no more.',
      'customerMetadataKeyOf41',
    ],
    [
      636,
      'limit',
      'Metadata of a customer: values of 500 characters and no more.',
      'customerMetadataValueOf501',
    ],
    [636, 'limit', 'Metadata of a payout: 50 pairs and no more.', 'payoutMetadataOf51'],
    [
      636,
      'limit',
      'Metadata of a payout: keys of 40 characters and no more.',
      'payoutMetadataKeyOf41',
    ],
    [
      636,
      'limit',
      'Metadata of a payout: values of 500 characters and no more.',
      'payoutMetadataValueOf501',
    ],
    [637, 'limit', 'A statement descriptor of 22 characters is accepted.', 'descriptorOf22'],
    [637, 'limit', 'A statement descriptor of 23 characters is refused.', 'descriptorOf23'],
    [638, 'limit', 'A manual authorization lasts 7 days.', 'capturesBefore7Days'],
    [638, 'limit', 'A manual authorization lasts no longer.', 'expiresAfter7Days'],
    [640, 'header', 'An answer tells `X-RateLimit-Limit`.', 'tellsRateLimit'],
    [
      640,
      'header',
      'An answer tells `X-RateLimit-Remaining`, which each request lowers.',
      'tellsRateRemaining',
    ],
    [640, 'header', 'An answer tells `X-RateLimit-Reset`, a Unix time.', 'tellsRateReset'],
    [640, 'header', 'A 401 tells them, too.', 'tellsRateWith401'],
    [640, 'header', 'A 403 tells them, too.', 'tellsRateWith403'],
    [640, 'header', 'A 404 tells them, too.', 'tellsRateWith404'],
    [
      640,
      'header',
      'A 404 of a route that does not exist tells them, too.',
      'tellsRateWithUnknownRoute',
    ],
    [640, 'header', 'A 400 tells them, too.', 'tellsRateWith400'],
    [640, 'error', 'Beyond the limit the answer is 429 with RL_01.', 'status429'],
    [640, 'rule', 'After the reset requests are served again.', 'servesAfterReset'],
    [640, 'rule', 'The client waits until the reset.', 'clientWaitsForReset'],
  ]),
  ...leftOpen('Limits', [
    [640, 'the number of requests a minute'],
    [640, 'the length of the evidence deadline'],
  ]),
];

const DEPRECATED = ['customer_id', 'email', 'name', 'phone', 'phone_country_code'] as const;

const VERSIONING: readonly Statement[] = [
  ...lines('Versioning', [
    [
      644,
      'versioning',
      'Analytics has `v1` in its paths.',
      { by: 'route', method: 'POST', path: '/analytics/v1/merchant/metrics/refunds' },
    ],
    ...DEPRECATED.map(
      (path) =>
        [
          645,
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
    [
      645,
      'versioning',
      'The `customer` object takes the place of these fields.',
      'customerObjectComesFirst',
    ],
    [
      646,
      'versioning',
      'UE_1000 and the granular codes of its family are handled alike.',
      'legacy1000IsHandled',
    ],
    [
      646,
      'versioning',
      'UE_2000 and the granular codes of its family are handled alike.',
      'legacy2000IsHandled',
    ],
    [
      646,
      'versioning',
      'UE_3000 and the granular codes of its family are handled alike.',
      'legacy3000IsHandled',
    ],
    [
      646,
      'versioning',
      'UE_4000 and the granular codes of its family are handled alike.',
      'legacy4000IsHandled',
    ],
    [
      647,
      'versioning',
      'The browser SDK is served from its own addresses.',
      advice('a script of the service, which is not part of this project'),
    ],
    [
      647,
      'versioning',
      'The path of the sandbox script has a version.',
      advice('a script of the service, which is not part of this project'),
    ],
  ]),
  ...leftOpen('Versioning', [
    [648, 'a version scheme for the rest of the API'],
    [648, 'a version header'],
    [648, 'a policy of deprecation'],
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

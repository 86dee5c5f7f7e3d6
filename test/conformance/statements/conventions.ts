/** service-interface.md §1: conventions. */
import { advice, leftOpen, lines, type Statement } from './statement.ts';

export const CONVENTIONS: readonly Statement[] = [
  ...lines('1.1', [
    ['rule', 'The service is one HTTP API with JSON bodies.', 'respondsInJson'],
    ['endpoint', 'A payment can be created.', { by: 'route', method: 'POST', path: '/payments' }],
    [
      'endpoint',
      'A payment can be updated.',
      { by: 'route', method: 'POST', path: '/payments/:payment_id' },
    ],
    [
      'endpoint',
      'A payment can be confirmed.',
      { by: 'route', method: 'POST', path: '/payments/:payment_id/confirm' },
    ],
    [
      'endpoint',
      'A payment can be captured.',
      { by: 'route', method: 'POST', path: '/payments/:payment_id/capture' },
    ],
    [
      'endpoint',
      'A payment can be cancelled.',
      { by: 'route', method: 'POST', path: '/payments/:payment_id/cancel' },
    ],
    [
      'endpoint',
      'A payment can be approved.',
      { by: 'route', method: 'POST', path: '/payments/:payment_id/approve' },
    ],
    [
      'endpoint',
      'A payment can be rejected.',
      { by: 'route', method: 'POST', path: '/payments/:payment_id/reject' },
    ],
    [
      'endpoint',
      'Payments can be listed.',
      { by: 'route', method: 'POST', path: '/payments/list' },
    ],
    [
      'endpoint',
      'A payment can be retrieved.',
      { by: 'route', method: 'GET', path: '/payments/:payment_id' },
    ],
    ['value', 'A payment can be made by card.', 'paysByCard'],
    ['value', 'A payment can be made with crypto.', 'paysWithCrypto'],
    ['value', 'A payment can be made with a wallet.', 'paysWithWallet'],
    ['value', 'A payment can be made by a bank method.', 'paysByBank'],
    ['endpoint', 'Customers can be created.', { by: 'route', method: 'POST', path: '/customers' }],
    [
      'endpoint',
      'Customers can be managed.',
      { by: 'route', method: 'POST', path: '/customers/:customer_id' },
    ],
    ['endpoint', 'Refunds can be created.', { by: 'route', method: 'POST', path: '/refunds' }],
    [
      'endpoint',
      'Refunds can be updated.',
      { by: 'route', method: 'POST', path: '/refunds/:refund_id' },
    ],
    [
      'endpoint',
      'Evidence against a dispute can be submitted.',
      { by: 'route', method: 'POST', path: '/disputes/evidence' },
    ],
    [
      'endpoint',
      'Evidence can be read.',
      { by: 'route', method: 'GET', path: '/disputes/evidence/:dispute_id' },
    ],
    [
      'endpoint',
      'Payouts can be created.',
      { by: 'route', method: 'POST', path: '/payouts/create' },
    ],
    [
      'endpoint',
      'Payouts can be managed.',
      { by: 'route', method: 'PUT', path: '/payouts/:payout_id' },
    ],
    [
      'endpoint',
      'Payment links can be created.',
      { by: 'route', method: 'POST', path: '/payment_link' },
    ],
    [
      'endpoint',
      'API keys can be created.',
      { by: 'route', method: 'POST', path: '/api_keys/:merchant_id' },
    ],
    [
      'endpoint',
      'API keys can be managed.',
      { by: 'route', method: 'POST', path: '/api_keys/:merchant_id/:key_id' },
    ],
    [
      'endpoint',
      'Payments can be analyzed.',
      { by: 'route', method: 'POST', path: '/analytics/v1/merchant/metrics/payments' },
    ],
    [
      'endpoint',
      'Refunds can be analyzed.',
      { by: 'route', method: 'POST', path: '/analytics/v1/merchant/metrics/refunds' },
    ],
    [
      'endpoint',
      'Disputes can be analyzed.',
      { by: 'route', method: 'POST', path: '/analytics/v1/merchant/metrics/disputes' },
    ],
    ['event', 'A change of a payment sends a webhook.', 'sendsPaymentEvents'],
    ['event', 'A change of a refund sends a webhook.', 'sendsRefundEvents'],
    ['event', 'A change of a dispute sends a webhook.', 'sendsDisputeEvents'],
    ['event', 'A change of a payout sends a webhook.', 'sendsPayoutEvents'],
  ]),
  ...lines('1.2', [
    ['auth', 'A sandbox key works at the sandbox address.', 'acceptsSandboxKeyHere'],
    ['auth', 'A production key does not work at the sandbox address.', 'refusesProductionKeyHere'],
    ['auth', 'Production keys move real money, even in tests.', advice('a warning to people')],
  ]),
  ...lines('1.3', [
    ['header', 'The client sends `Content-Type: application/json`.', 'clientSendsJson'],
    ['header', 'The client sends the key in `api-key`.', 'clientSendsKey'],
    ['rule', 'A body that is not JSON is rejected.', 'refusesOtherThanJson'],
  ]),
  ...lines('1.4', [
    [
      'rule',
      'An amount is counted in the smallest unit of its currency.',
      'keepsAmountsInMinorUnits',
    ],
    [
      'rule',
      'An amount that is not integer is rejected wherever one is sent.',
      'refusesFractionsEverywhere',
    ],
    ['rule', 'Every amount in every response and event is an integer.', 'returnsAmountsAsIntegers'],
    [
      'rule',
      'A currency is three letters; anything else is rejected.',
      'refusesOtherThanThreeLetters',
    ],
    [
      'rule',
      'A currency that ISO 4217 does not list is rejected on payments.',
      'refusesUnknownCurrencyOnPayments',
    ],
    [
      'rule',
      'A currency that ISO 4217 does not list is rejected on payouts.',
      'refusesUnknownCurrencyOnPayouts',
    ],
    [
      'rule',
      'A currency that ISO 4217 does not list is rejected on payment links.',
      'refusesUnknownCurrencyOnLinks',
    ],
    ['rule', 'Every currency that ISO 4217 lists is accepted.', 'acceptsEveryCurrency'],
    ['rule', 'Every time in every response and event is ISO 8601.', 'returnsTimesInIso8601'],
  ]),
  ...lines('1.5', [
    ['rule', 'GET retrieves and changes nothing.', 'getChangesNothing'],
    ['rule', 'POST performs actions and updates: fields that are not sent stay.', 'postUpdates'],
    ['rule', 'PUT replaces: fields that are not sent are removed.', 'putReplaces'],
    ['rule', 'DELETE deletes.', 'deleteDeletes'],
    ['rule', 'A part of a path that is marked with a colon is a parameter.', 'fillsPathParameters'],
  ]),
  ...lines('1.6', [
    ['rule', 'The final state can be learned from an event.', 'eventHasFinalState'],
    ['rule', 'The final state can be learned from a retrieval.', 'retrievalHasFinalState'],
  ]),
  ...lines('4.1', [['endpoint', '`GET /health` returns 200 for a valid key.', 'healthReturns200']]),
  ...leftOpen('1.1', ['every place that the document marks as not shown']),
];

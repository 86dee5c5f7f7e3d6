import { describe, expect, it, test } from 'vitest';
import type { z } from 'zod';
import { buildServiceOpenApi } from '../../../scripts/openapi/service.ts';
import {
  COMMON_ERRORS,
  createCustomerRequest,
  createPaymentRequest,
  createRefundRequest,
  ENDPOINTS,
  type Endpoint,
  ERROR_CODES,
  FAMILY_ERROR_CODES,
  keyKindOf,
  parseId,
  problemsOf,
} from '../../../src/contract/index.ts';
import { CARD_PAYMENT } from './requestBuilders.ts';

const endpoints = Object.entries(ENDPOINTS) as [string, Endpoint][];

/** The contract's routes, written a second time so that a mistake in the table shows. */
const DOCUMENTED_ROUTES = `
  GET /health
  POST /api_keys/:merchant_id
  GET /api_keys/:merchant_id/list
  GET /api_keys/:merchant_id/:key_id
  POST /api_keys/:merchant_id/:key_id
  DELETE /api_keys/:merchant_id/:key_id
  POST /payments
  POST /payments/:payment_id
  POST /payments/:payment_id/confirm
  GET /payments/:payment_id
  POST /payments/list
  GET /payments/list
  POST /payments/:payment_id/capture
  POST /payments/:payment_id/cancel
  POST /payments/:payment_id/approve
  POST /payments/:payment_id/reject
  POST /customers
  GET /customers/list
  GET /customers/:customer_id
  POST /customers/:customer_id
  DELETE /customers/:customer_id
  POST /refunds
  POST /refunds/:refund_id
  POST /refunds/list
  GET /refunds/:refund_id
  GET /disputes/list
  GET /disputes/:dispute_id
  POST /disputes/accept/:dispute_id
  POST /disputes/evidence
  GET /disputes/evidence/:dispute_id
  DELETE /disputes/evidence
  POST /analytics/v1/merchant/metrics/payments
  POST /analytics/v1/merchant/metrics/refunds
  POST /analytics/v1/merchant/metrics/disputes
  GET /account/:merchant_id/business_profile
  POST /payment_link
  POST /payment_link/list
  GET /payment_link/:payment_link_id
  POST /payouts/create
  POST /payouts/list
  GET /payouts/:payout_id
  PUT /payouts/:payout_id
  POST /payouts/:payout_id/cancel
  POST /payouts/:payout_id/fulfill
`
  .trim()
  .split(/\s*\n\s*/);

/** Implied by the contract, which gives no path: files of evidence, and the confirmation of a payout. */
const PRESUPPOSED_ROUTES = ['POST /files', 'POST /payouts/:payout_id/confirm'];

describe('the table of endpoints', () => {
  it('has the routes of the contract, the two that it implies, and no other', () => {
    const routes = endpoints.map(([, { method, path }]) => `${method} ${path}`);
    expect(routes.toSorted()).toEqual([...DOCUMENTED_ROUTES, ...PRESUPPOSED_ROUTES].toSorted());
  });

  it.each(endpoints)('%s: parameters are those of the path', (_, { path, params }) => {
    const named = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name);
    expect(Object.keys(params.shape)).toEqual(named);
  });

  it.each(endpoints)('%s: rejects with codes of the contract', (_, { errors }) => {
    for (const { code } of [...COMMON_ERRORS, ...errors]) {
      expect({ ...ERROR_CODES, ...FAMILY_ERROR_CODES }).toHaveProperty(code);
    }
  });

  // A second copy of a request that moves money would move it twice.
  it('allows no repetition of a write, except creating a payment under its own id', () => {
    const repeatable = endpoints.filter(
      ([, { repetition }]) => repetition.kind === 'safe' || repetition.kind === 'keyed',
    );
    const writing = repeatable.filter(([name]) => !/^(health|retrieve|list)/.test(name));
    expect(writing.map(([name, { repetition }]) => [name, repetition])).toEqual([
      ['createPayment', { kind: 'keyed', key: 'payment_id' }],
    ]);
  });

  it.each(['.', '..', 'list', '', ' a', 'a ', 'a\u0000', '\ud800', 'a'.repeat(256)])(
    'rejects the id %j in a path',
    (id) => {
      expect(ENDPOINTS.retrievePayment.params.safeParse({ payment_id: id }).success).toBe(false);
    },
  );

  // What can be created, and what a webhook can name, can be read.
  it.each([
    '.',
    '..',
    'list',
    'Lists',
    '...',
    '',
    ' ',
    'Jane Doe',
    ' Jane',
    'a/b',
    '%2e',
    'jane@x.example',
    '\u00e9',
    'a\u0000',
    '\ud800',
    '\u{1f600}',
    '\u200b',
    'a\nb',
    'x'.repeat(64),
  ])('the id %j can be chosen if and only if it can be in a path', (id) => {
    const canBeRead = (params: z.ZodType, field: string) =>
      params.safeParse({ [field]: id }).success;
    const customer = createCustomerRequest.safeParse({ customer_id: id }).success;
    expect(customer).toBe(canBeRead(ENDPOINTS.retrieveCustomer.params, 'customer_id'));
    const isStored = parseId(id) !== undefined && !['.', '..', 'list'].includes(id);
    expect(canBeRead(ENDPOINTS.retrievePayment.params, 'payment_id')).toBe(isStored);
    const chosen = createPaymentRequest.shape.payment_id.safeParse(id).success;
    if (chosen) expect(isStored).toBe(true);
  });

  it('rejects an id that is the path of a list', () => {
    const payment = { ...CARD_PAYMENT, payment_id: 'list' };
    expect(problemsOf(createPaymentRequest, payment)).toMatchObject([{ field: 'payment_id' }]);
    const refund = { payment_id: 'p', refund_id: 'list' };
    expect(problemsOf(createRefundRequest, refund)).toMatchObject([{ field: 'refund_id' }]);
  });
});

test.each([
  ['snd_a', 'sandboxSecret'],
  ['prd_a', 'productionSecret'],
  ['pk_snd_a', 'sandboxPublishable'],
  ['pk_prd_a', 'productionPublishable'],
  ['admin_a', 'admin'],
  ['snd_', undefined],
  ['', undefined],
  ['secret', undefined],
])('the key %j is of kind %s', (key, kind) => {
  expect(keyKindOf(key)).toBe(kind);
});

describe('the OpenAPI document', () => {
  const document = JSON.parse(JSON.stringify(buildServiceOpenApi())) as {
    readonly openapi: string;
    readonly components: Readonly<Record<string, object>>;
  };

  it('is OpenAPI 3.1', () => {
    expect(document.openapi).toMatch(/^3\.1\./);
  });

  it('has a target for each reference, and no part without a reference', () => {
    const referred = new Set(
      [...JSON.stringify(document).matchAll(/"#\/components\/([^"]+)"/g)].map(([, name]) => name),
    );
    const { securitySchemes: _, ...parts } = document.components;
    const defined = Object.entries(parts).flatMap(([kind, named]) =>
      Object.keys(named).map((name) => `${kind}/${name}`),
    );
    expect([...referred].toSorted()).toEqual(defined.toSorted());
  });

  it('closes requests to unknown fields and leaves responses open', () => {
    const { schemas } = document.components as {
      readonly schemas: Readonly<Record<string, { readonly additionalProperties?: boolean }>>;
    };
    expect(schemas.CreatePaymentRequest?.additionalProperties).toBe(false);
    expect(schemas.Payment).not.toHaveProperty('additionalProperties');
  });
});

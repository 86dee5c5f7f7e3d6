/** Endpoint of a payment with its refunds and disputes. */
import { z } from 'zod';
import { readPaymentChildren, readPaymentDetail } from '../../ledger/read/store/payments.ts';
import { paymentJson } from '../../representation/payment.ts';
import { decline } from '../../webhooks/fields.ts';
import { defineEndpoint } from '../endpoint.ts';
import { notKnown, refresh, refreshBody, refreshQuery } from '../refresh.ts';
import {
  amount,
  currency,
  id,
  namedBy,
  openFindings,
  reason,
  resourceStatus,
  time,
  uncertainties,
} from '../schemas.ts';

const MAX_CHILDREN = 1_000;

const child = z
  .strictObject({
    kind: z.enum(['refund', 'dispute']),
    id: z.string(),
    status: resourceStatus,
    stage: z.string().nullable().describe('Disputes only.'),
    currency: currency.nullable(),
    amount: amount.nullable(),
    reason,
    uncertainties,
    open_findings: openFindings,
    created_at: time.nullable().describe("The service's own time."),
    evidence_due_by: time.nullable().describe('Disputes only.'),
  })
  .meta({ id: 'PaymentChild' });

const payment = z
  .strictObject({
    payment_id: z.string(),
    order_id: z.string().nullable(),
    order_key: z.string().nullable(),
    named_by: namedBy.nullable(),
    status: resourceStatus,
    currency: currency.nullable(),
    amount: amount.nullable(),
    net_amount: amount
      .nullable()
      .describe(
        'With surcharge, tax and shipping: the most that can be captured. Null if the service sends none.',
      ),
    amount_authorized: amount.describe('The largest hold; 0 without a hold.'),
    amount_captured: amount,
    capture_method: z.string().nullable(),
    capture_before: time.nullable().describe('When the hold expires, if the service states it.'),
    decline: decline.nullable().describe('Null unless the payment failed.'),
    error_code: z
      .string()
      .nullable()
      .describe("The acquirer's own code; null unless the payment failed."),
    error_message: z
      .string()
      .nullable()
      .describe("The acquirer's own text; null unless the payment failed."),
    reason,
    uncertainties,
    open_findings: openFindings,
    created_at: time.nullable().describe("The service's own time."),
    updated_at: time.describe('When the ledger last recorded a change.'),
    refunds: z.array(child),
    disputes: z.array(child),
    children_complete: z
      .boolean()
      .describe(
        'False if only the first 1,000 refunds and disputes are listed; `/api/v1/orders/{order_id}/parts` has all of them.',
      ),
    refresh: refreshBody,
  })
  .meta({ id: 'Payment' });

export const getPayment = defineEndpoint({
  id: 'getPayment',
  method: 'get',
  path: '/api/v1/payments/{payment_id}',
  permission: 'read',
  queryPermissions: { refresh: 'refresh' },
  summary: 'Get a payment, with advice if it failed',
  params: z.strictObject({ payment_id: id }),
  query: z.strictObject({ refresh: refreshQuery }),
  response: payment,
  statuses: [404],
  handle: async ({ db, refresher }, { params, query }) => {
    const paymentId = params.payment_id;
    const refreshed = await refresh(refresher, query, (service) => service.payment(paymentId));
    const [found, children] = await Promise.all([
      readPaymentDetail(db, paymentId),
      readPaymentChildren(db, { paymentId, limit: MAX_CHILDREN + 1 }),
    ]);
    if (!found) return notKnown(refreshed, `No payment is known as ${JSON.stringify(paymentId)}.`);
    return {
      outcome: 'ok',
      body: {
        ...paymentJson(found, children.slice(0, MAX_CHILDREN)),
        children_complete: children.length <= MAX_CHILDREN,
        refresh: refreshed,
      },
    };
  },
});

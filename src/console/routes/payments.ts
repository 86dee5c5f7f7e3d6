/** Payments: one, with its refunds and disputes, and what to do when it failed. */
import { z } from 'zod';
import { describeReason } from '../../contract/reasons.ts';
import { orderIdOf } from '../../ledger/domain/order.ts';
import {
  type ResourceDetail,
  readPaymentChildren,
  readPaymentDetail,
} from '../../ledger/read/store/payments.ts';
import { declineJson } from '../../representation/decline.ts';
import { orderNamedBy } from '../../representation/order.ts';
import { isoOrNull } from '../../representation/time.ts';
import { decline } from '../decline.ts';
import { defineEndpoint } from '../endpoint.ts';
import { notKnown, refresh, refreshBody, refreshQuery } from '../refresh.ts';
import {
  amount,
  currency,
  doubts,
  id,
  namedBy,
  openFindings,
  reason,
  resourceStatus,
  time,
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
    doubts,
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
      .describe('With surcharge, tax and shipping: what is captured at most. Null where not sent.'),
    amount_authorized: amount.describe('The largest hold; 0 without one.'),
    amount_captured: amount,
    capture_method: z.string().nullable(),
    capture_before: time.nullable().describe('When the hold lapses, as far as the service said.'),
    decline: decline.nullable().describe('Null unless the payment failed.'),
    error_code: z.string().nullable().describe("The acquirer's own code; null unless it failed."),
    error_message: z
      .string()
      .nullable()
      .describe("The acquirer's own text; null unless it failed."),
    reason,
    doubts,
    open_findings: openFindings,
    created_at: time.nullable().describe("The service's own time."),
    updated_at: time.describe('When the ledger last heard something new of it.'),
    refunds: z.array(child),
    disputes: z.array(child),
    refresh: refreshBody,
  })
  .meta({ id: 'Payment' });

export const getPayment = defineEndpoint({
  id: 'getPayment',
  method: 'get',
  path: '/api/v1/payments/{payment_id}',
  summary: 'One payment, with advice when it failed',
  params: z.strictObject({ payment_id: id }),
  query: z.strictObject({ refresh: refreshQuery }),
  response: payment,
  statuses: [404],
  handle: async ({ db, refresher }, { params, query }) => {
    const paymentId = params.payment_id;
    const asked = await refresh(refresher, query, (service) => service.payment(paymentId));
    const [found, children] = await Promise.all([
      readPaymentDetail(db, paymentId),
      readPaymentChildren(db, { paymentId, limit: MAX_CHILDREN }),
    ]);
    if (!found) return notKnown(asked, `No payment is known as ${JSON.stringify(paymentId)}.`);
    return { outcome: 'ok', body: { ...paymentBody(found, children), refresh: asked } };
  },
});

function paymentBody(
  found: ResourceDetail,
  children: readonly ResourceDetail[],
): Omit<z.input<typeof payment>, 'refresh'> {
  const { orderKey } = found;
  return {
    payment_id: found.id,
    order_id: orderKey && orderIdOf(orderKey),
    order_key: orderKey,
    named_by: orderKey === null ? null : orderNamedBy(orderKey),
    status: found.status,
    currency: found.currency,
    amount: found.amountMinor,
    net_amount: found.netAmountMinor,
    amount_authorized: found.authorizedMinor,
    amount_captured: found.capturedMinor,
    capture_method: found.captureMethod,
    capture_before: isoOrNull(found.deadlineAt),
    decline: declineJson(found),
    error_code: found.status === 'failed' ? found.errorCode : null,
    error_message: found.status === 'failed' ? found.errorMessage : null,
    reason: describeReason('payment', found.status, found) ?? null,
    doubts: [...found.doubts],
    open_findings: [...found.openFindings],
    created_at: isoOrNull(found.createdAt),
    updated_at: found.updatedAt.toISOString(),
    refunds: children.flatMap((one) => childBody('refund', one)),
    disputes: children.flatMap((one) => childBody('dispute', one)),
  };
}

function childBody(
  kind: 'refund' | 'dispute',
  found: ResourceDetail,
): readonly z.input<typeof child>[] {
  if (found.kind !== kind) return [];
  return [
    {
      kind,
      id: found.id,
      status: found.status,
      stage: found.stage,
      currency: found.currency,
      amount: found.amountMinor,
      reason: describeReason(kind, found.status, found) ?? null,
      doubts: [...found.doubts],
      open_findings: [...found.openFindings],
      created_at: isoOrNull(found.createdAt),
      evidence_due_by: isoOrNull(found.deadlineAt),
    },
  ];
}

/** Endpoints that list payments, refunds, disputes and payouts, and that get one of the last three. */
import { z } from 'zod';
import type { ResourceKind } from '../../contract/resources/index.ts';
import { readResourcePage, readResourceTotals } from '../../ledger/read/resourceList.ts';
import { type ListedResource, readListedResource } from '../../ledger/read/store/resourceList.ts';
import { cursorOf, placeRead, readCursor, timePlace } from '../../representation/cursor.ts';
import {
  disputeJson,
  listedPaymentJson,
  listTotalsJson,
  payoutJson,
  refundJson,
} from '../../representation/listedResource.ts';
import { type ApiParts, defineEndpoint } from '../endpoint.ts';
import { type ListQuery, readFilter } from '../listFilter.ts';
import {
  amount,
  currency,
  cursor,
  id,
  limit,
  listComplete,
  listCount,
  listFilters,
  namedBy,
  nextCursor,
  openFindings,
  reason,
  resourceStatus,
  time,
  uncertainties,
} from '../schemas.ts';

const order = {
  order_id: z.string().nullable(),
  order_key: z.string().nullable(),
  named_by: namedBy.nullable(),
};

const money = {
  status: resourceStatus,
  currency: currency.nullable(),
  amount: amount.nullable(),
};

const reasonDetail = z
  .strictObject({
    code: z
      .string()
      .nullable()
      .describe("The service's code; disputes: the card network's code. Null if none was sent."),
    message: z.string().nullable(),
    error_code: z.string().nullable().describe("The acquirer's own code."),
    error_message: z.string().nullable().describe("The acquirer's own text."),
    advice: z.string().describe('What it means and what to do, for operators.'),
  })
  .nullable()
  .describe('Null unless it failed, was returned or, for a dispute, always.')
  .meta({ id: 'ReasonDetail' });

const state = {
  reason,
  reason_detail: reasonDetail,
  uncertainties,
  open_findings: openFindings,
  created_at: time.nullable().describe("The service's own time."),
  first_seen_at: time.describe('When Tallyhook first saw it.'),
  updated_at: time.describe('When the ledger last recorded a change.'),
};

const paymentOfList = z
  .strictObject({
    payment_id: z.string(),
    ...order,
    ...money,
    net_amount: amount.nullable().describe('With surcharge, tax and shipping.'),
    amount_authorized: amount.describe('The largest hold; 0 without a hold.'),
    amount_captured: amount,
    capture_method: z.string().nullable(),
    capture_before: time.nullable().describe('When the hold expires, if the service states it.'),
    ...state,
  })
  .meta({ id: 'ListedPayment' });

const refund = z
  .strictObject({
    refund_id: z.string(),
    payment_id: z.string().nullable(),
    ...order,
    ...money,
    requested_for: z.string().nullable().describe('Why it was requested.'),
    ...state,
  })
  .meta({ id: 'Refund' });

const dispute = z
  .strictObject({
    dispute_id: z.string(),
    payment_id: z.string().nullable(),
    ...order,
    stage: z.string().nullable(),
    ...money,
    evidence_due_by: time.nullable(),
    ...state,
  })
  .meta({ id: 'Dispute' });

const payout = z
  .strictObject({
    payout_id: z.string(),
    reference: z.string().nullable().describe("The merchant's own reference."),
    ...money,
    ...state,
  })
  .meta({ id: 'Payout' });

const totals = z
  .strictObject({
    count: listCount,
    complete: listComplete,
    currencies: z.array(
      z.strictObject({
        currency: currency.nullable().describe('Null: the resources themselves have not arrived.'),
        count: z.int(),
        amount,
        amount_captured: amount.describe('Payments only; else 0.'),
      }),
    ),
  })
  .nullable()
  .describe('Null without `totals=1`.')
  .meta({ id: 'ListTotals' });

const query = z.strictObject({
  status: z.string().min(1).max(100).optional().describe("The service's own status."),
  order_id: id
    .optional()
    .describe("Only rows of this order; payouts: with this reference of the merchant's."),
  ...listFilters,
  limit,
  cursor,
});

const DESCRIPTION =
  "Ordered by the service's time of creation, or by the time at which Tallyhook first saw the row if the " +
  'service sent none. A page may have fewer rows than `limit`, or none, although there are more: each request ' +
  'searches a bounded number of rows. Continue until `next_cursor` is null.';

export const listPayments = defineEndpoint({
  id: 'listPayments',
  method: 'get',
  path: '/api/v1/payments',
  permission: 'read',
  summary: 'List payments, newest first',
  description: DESCRIPTION,
  params: z.strictObject({}),
  query,
  response: z
    .strictObject({ payments: z.array(paymentOfList), totals, next_cursor: nextCursor })
    .meta({ id: 'PaymentPage' }),
  statuses: [422],
  handle: async (parts, request) => {
    const read = await readList(parts, 'payment', request.query);
    if (read.outcome !== 'read') return read;
    const { rows, ...page } = read.page;
    return { outcome: 'ok', body: { payments: rows.map(listedPaymentJson), ...page } };
  },
});

export const listRefunds = defineEndpoint({
  id: 'listRefunds',
  method: 'get',
  path: '/api/v1/refunds',
  permission: 'read',
  summary: 'List refunds, newest first',
  description: DESCRIPTION,
  params: z.strictObject({}),
  query,
  response: z
    .strictObject({ refunds: z.array(refund), totals, next_cursor: nextCursor })
    .meta({ id: 'RefundPage' }),
  statuses: [422],
  handle: async (parts, request) => {
    const read = await readList(parts, 'refund', request.query);
    if (read.outcome !== 'read') return read;
    const { rows, ...page } = read.page;
    return { outcome: 'ok', body: { refunds: rows.map(refundJson), ...page } };
  },
});

export const listDisputes = defineEndpoint({
  id: 'listDisputes',
  method: 'get',
  path: '/api/v1/disputes',
  permission: 'read',
  summary: 'List disputes, newest first',
  description: DESCRIPTION,
  params: z.strictObject({}),
  query,
  response: z
    .strictObject({ disputes: z.array(dispute), totals, next_cursor: nextCursor })
    .meta({ id: 'DisputePage' }),
  statuses: [422],
  handle: async (parts, request) => {
    const read = await readList(parts, 'dispute', request.query);
    if (read.outcome !== 'read') return read;
    const { rows, ...page } = read.page;
    return { outcome: 'ok', body: { disputes: rows.map(disputeJson), ...page } };
  },
});

export const listPayouts = defineEndpoint({
  id: 'listPayouts',
  method: 'get',
  path: '/api/v1/payouts',
  permission: 'read',
  summary: 'List payouts, newest first',
  description: DESCRIPTION,
  params: z.strictObject({}),
  query,
  response: z
    .strictObject({ payouts: z.array(payout), totals, next_cursor: nextCursor })
    .meta({ id: 'PayoutPage' }),
  statuses: [422],
  handle: async (parts, request) => {
    const read = await readList(parts, 'payout', request.query);
    if (read.outcome !== 'read') return read;
    const { rows, ...page } = read.page;
    return { outcome: 'ok', body: { payouts: rows.map(payoutJson), ...page } };
  },
});

async function readList(
  { db }: ApiParts,
  kind: ResourceKind,
  given: ListQuery & z.output<typeof query>,
) {
  const from = readCursor(given.cursor, timePlace);
  if (from.outcome !== 'read') return from;
  const read = readFilter(given);
  if (read.outcome !== 'read') return read;
  const filter = { ...read.filter, kind, status: given.status, orderId: given.order_id };
  const after = placeRead(from.place);
  const { rows, next } = await readResourcePage(db, filter, { after, limit: given.limit });
  const summed =
    given.totals === undefined ? null : listTotalsJson(await readResourceTotals(db, filter));
  return {
    outcome: 'read',
    page: { rows, totals: summed, next_cursor: cursorOf(next) },
  } as const;
}

export const getRefund = defineEndpoint({
  id: 'getRefund',
  method: 'get',
  path: '/api/v1/refunds/{refund_id}',
  permission: 'read',
  summary: 'Get a refund, with advice if it failed',
  params: z.strictObject({ refund_id: id }),
  query: z.strictObject({}),
  response: refund,
  statuses: [404],
  handle: (parts, { params }) => getOne(parts, 'refund', params.refund_id, refundJson),
});

export const getDispute = defineEndpoint({
  id: 'getDispute',
  method: 'get',
  path: '/api/v1/disputes/{dispute_id}',
  permission: 'read',
  summary: 'Get a dispute, with advice',
  params: z.strictObject({ dispute_id: id }),
  query: z.strictObject({}),
  response: dispute,
  statuses: [404],
  handle: (parts, { params }) => getOne(parts, 'dispute', params.dispute_id, disputeJson),
});

export const getPayout = defineEndpoint({
  id: 'getPayout',
  method: 'get',
  path: '/api/v1/payouts/{payout_id}',
  permission: 'read',
  summary: 'Get a payout, with advice if it failed',
  params: z.strictObject({ payout_id: id }),
  query: z.strictObject({}),
  response: payout,
  statuses: [404],
  handle: (parts, { params }) => getOne(parts, 'payout', params.payout_id, payoutJson),
});

async function getOne<Body>(
  { db }: ApiParts,
  kind: ResourceKind,
  resourceId: string,
  jsonOf: (row: ListedResource) => Body,
) {
  const row = await readListedResource(db, { kind, id: resourceId });
  if (row) return { outcome: 'ok', body: jsonOf(row) } as const;
  const message = `No ${kind} is known as ${JSON.stringify(resourceId)}. If it was just created, its event may not have arrived yet.`;
  return { outcome: 'not_found', message } as const;
}

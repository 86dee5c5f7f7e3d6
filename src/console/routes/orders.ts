/** Endpoints of orders: get one with its timeline, list them, and register an expected amount. */
import { z } from 'zod';
import { registerOrderAs } from '../../actions/registerOrder.ts';
import { timeBasis } from '../../ledger/domain/effectiveTimes.ts';
import { orderIdOf } from '../../ledger/domain/orderKey.ts';
import { readOrderListTotals, readOrderPage } from '../../ledger/read/orderList.ts';
import {
  orderKeyNamed,
  readOrder,
  readOrderPartPage,
  readOrderSummary,
} from '../../ledger/read/orders.ts';
import {
  cursorOf,
  cutPage,
  placeRead,
  readCursor,
  timePlace,
} from '../../representation/cursor.ts';
import {
  orderDetailJson,
  orderJson,
  orderListTotalsJson,
  partJson,
} from '../../representation/order.ts';
import { orderFields, orderPart, partFields } from '../../webhooks/order.ts';
import { defineEndpoint } from '../endpoint.ts';
import { readFilter } from '../listFilter.ts';
import { notKnown, refresh, refreshBody, refreshQuery } from '../refresh.ts';
import {
  amount,
  currency,
  cursor,
  id,
  limit,
  listComplete,
  listCount,
  listFilters,
  nextCursor,
  orderBy,
  orderStatus,
} from '../schemas.ts';
import { byRecordedTime, timelineFields } from '../timeline.ts';

const order = z.strictObject(orderFields).meta({ id: 'Order' });

const orderDetail = z
  .strictObject({
    ...orderFields,
    ...partFields,
    ...timelineFields,
    refresh: refreshBody,
  })
  .meta({ id: 'OrderDetail' });

const orderParams = z.strictObject({ order_id: id });

export const getOrder = defineEndpoint({
  id: 'getOrder',
  method: 'get',
  path: '/api/v1/orders/{order_id}',
  permission: 'read',
  queryPermissions: { refresh: 'refresh' },
  summary: 'Get an order with its totals, parts and timeline',
  description:
    'The id is that of the order or of one of its payments, refunds or disputes. With `refresh=1`, its ' +
    'payments are retrieved first. For an order without payments, Tallyhook retrieves the payment of the ' +
    'same id, and searches the newest payments for one that names the order or has the registered amount. A ' +
    'change of the order status appears in the timeline some seconds after its cause.',
  params: orderParams,
  query: z.strictObject({
    by: orderBy,
    recorded: byRecordedTime,
    refresh: refreshQuery,
  }),
  response: orderDetail,
  statuses: [404],
  handle: async ({ db, refresher }, { params, query }) => {
    const name = { id: params.order_id, by: query.by };
    const refreshed = await refresh(refresher, query, ({ order }) => order(name));
    const found = await readOrder(db, name);
    if (!found) return notKnown(refreshed, unknownOrder(params.order_id).message);
    return {
      outcome: 'ok',
      body: {
        ...orderDetailJson(found, timeBasis({ isRecorded: query.recorded !== undefined })),
        refresh: refreshed,
      },
    };
  },
});

const partPlace = z.tuple([
  z.enum(['payment', 'refund', 'dispute']),
  z
    .string()
    .min(1)
    .max(300)
    .refine((key) => !key.includes('\0')),
]);

export const listOrderParts = defineEndpoint({
  id: 'listOrderParts',
  method: 'get',
  path: '/api/v1/orders/{order_id}/parts',
  permission: 'read',
  summary: 'List the parts of an order: payments, refunds, disputes, each by id',
  description: 'For orders with more parts than `GET /api/v1/orders/{order_id}` lists.',
  params: orderParams,
  query: z.strictObject({ by: orderBy, limit, cursor }),
  response: z
    .strictObject({ parts: z.array(orderPart), next_cursor: nextCursor })
    .meta({ id: 'OrderPartPage' }),
  statuses: [404],
  handle: async ({ db }, { params, query }) => {
    const from = readCursor(query.cursor, partPlace);
    if (from.outcome !== 'read') return from;
    const name = { id: params.order_id, by: query.by };
    const parts = await readOrderPartPage(db, name, {
      after: from.place && { kind: from.place[0], id: from.place[1] },
      limit: query.limit + 1,
    });
    if (!parts) return unknownOrder(params.order_id);
    const { shown, next } = cutPage(parts, query.limit, ({ kind, id: partId }) => [kind, partId]);
    return { outcome: 'ok', body: { parts: shown.map(partJson), next_cursor: next } };
  },
});

const orderSums = z
  .strictObject({
    count: listCount,
    complete: listComplete,
    currencies: z.array(
      z.strictObject({
        currency,
        count: z.int().describe('Orders with money in this currency.'),
        amount_authorized: amount,
        amount_captured: amount,
        amount_refunded: amount,
        amount_disputed: amount,
        amount_charged_back: amount,
      }),
    ),
  })
  .nullable()
  .describe('Null without `totals=1`.')
  .meta({ id: 'OrderListTotals' });

export const listOrders = defineEndpoint({
  id: 'listOrders',
  method: 'get',
  path: '/api/v1/orders',
  permission: 'read',
  summary: 'List orders, newest first',
  description:
    'Lists orders with at least one payment, refund or dispute. Orders that were only registered are listed ' +
    'with `status=registered`. `from` and `to` apply to the time at which the order was first seen, the amounts to ' +
    'what was captured or is held in one currency. With a filter by currency or amount, a page may have fewer ' +
    'rows than `limit`, or none, although there are more: continue until `next_cursor` is null.',
  params: z.strictObject({}),
  query: z.strictObject({ status: orderStatus.optional(), ...listFilters, limit, cursor }),
  response: z
    .strictObject({ orders: z.array(order), totals: orderSums, next_cursor: nextCursor })
    .meta({ id: 'OrderPage' }),
  statuses: [422],
  handle: async ({ db }, { query }) => {
    const from = readCursor(query.cursor, timePlace);
    if (from.outcome !== 'read') return from;
    const read = readFilter(query);
    if (read.outcome !== 'read') return read;
    const filter = { ...read.filter, status: query.status };
    const after = placeRead(from.place);
    const { rows, next } = await readOrderPage(db, filter, { after, limit: query.limit });
    const totals =
      query.totals === undefined
        ? null
        : orderListTotalsJson(await readOrderListTotals(db, filter));
    return {
      outcome: 'ok',
      body: { orders: rows.map(orderJson), totals, next_cursor: cursorOf(next) },
    };
  },
});

export const putOrder = defineEndpoint({
  id: 'putOrder',
  method: 'put',
  path: '/api/v1/orders/{order_id}',
  permission: 'register_orders',
  summary: 'Register the expected amount of an order',
  description:
    'The order exists from then on, even before a payment arrives, and shows whether it is underpaid or ' +
    'overpaid. The request is idempotent; another amount or currency replaces the registered one, and the ' +
    'timeline keeps both. The ledger does not change.',
  params: orderParams,
  query: z.strictObject({ by: orderBy }),
  body: z.strictObject({
    amount,
    currency: z
      .string()
      .regex(/^[A-Za-z]{3}$/)
      .toUpperCase()
      .describe('ISO 4217.'),
  }),
  response: z
    .strictObject({
      registration: z.enum(['registered', 'unchanged', 'replaced']),
      order,
    })
    .meta({ id: 'Registration' }),
  statuses: [201],
  handle: async ({ db }, { params, query, body, actor }) => {
    const orderKey = orderKeyNamed({ id: params.order_id, by: query.by });
    const wanted = {
      orderKey,
      orderId: orderIdOf(orderKey),
      currency: body.currency,
      amountMinor: body.amount,
    };
    const registration = await registerOrderAs({ db }, actor, wanted);
    const found = await readOrderSummary(db, orderKey);
    if (!found) throw new Error(`${orderKey} was registered and cannot be read`);
    return {
      outcome: registration === 'registered' ? 'created' : 'ok',
      body: { registration, order: orderJson(found) },
    };
  },
});

export function unknownOrder(orderId: string) {
  return {
    outcome: 'not_found',
    message:
      `No order, payment, refund or dispute is known as ${JSON.stringify(orderId)}. ` +
      'If it was just created, its event may not have arrived yet.',
  } as const;
}

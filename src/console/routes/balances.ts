/** Endpoint of balances: the sums of the journal and of the orders. */
import { z } from 'zod';
import { resolveOrder } from '../../ledger/read/orders.ts';
import {
  readBalances,
  readCurrencyTotals,
  readOrderBalances,
} from '../../ledger/read/store/balances.ts';
import { balanceJson } from '../../representation/balance.ts';
import { amountsJson } from '../../representation/order.ts';
import { defineEndpoint } from '../endpoint.ts';
import { amount, currency, difference, id, orderBy } from '../schemas.ts';
import { unknownOrder } from './orders.ts';

const balance = z
  .strictObject({
    account: z.string(),
    class: z.string().describe('asset, liability, income, expense, or memo, which moves no money.'),
    meaning: z.string(),
    currency,
    amount_debited: amount,
    amount_credited: amount,
    balance: difference.describe('Debited minus credited.'),
  })
  .meta({ id: 'Balance' });

const currencyTotals = z
  .strictObject({
    currency,
    orders: z.int().min(0).describe('Number of orders with a part in this currency.'),
    amount_authorized: amount,
    amount_captured: amount,
    amount_refunded: amount,
    amount_refund_pending: amount,
    amount_disputed: amount,
    amount_charged_back: amount,
  })
  .meta({ id: 'CurrencyTotals' });

export const getBalances = defineEndpoint({
  id: 'getBalances',
  method: 'get',
  path: '/api/v1/balances',
  permission: 'read',
  summary: 'Get the balance of every account and the totals of all orders',
  description:
    'Sums the whole journal, or the transfers of one order. The balances of one currency sum to 0. ' +
    'Payouts move money between accounts but belong to no order.',
  params: z.strictObject({}),
  query: z.strictObject({ order_id: id.optional(), by: orderBy }),
  response: z
    .strictObject({ accounts: z.array(balance), orders: z.array(currencyTotals) })
    .meta({ id: 'Balances' }),
  statuses: [404, 422],
  handle: async ({ db }, { query }) => {
    if (query.order_id === undefined && query.by !== undefined) {
      return { outcome: 'invalid', message: '`by` needs `order_id`.' };
    }
    const order =
      query.order_id === undefined
        ? undefined
        : await resolveOrder(db, { id: query.order_id, by: query.by });
    if (query.order_id !== undefined && !order) return unknownOrder(query.order_id);
    const orderKey = order?.orderKey;
    const [accounts, orders] = await Promise.all([
      orderKey === undefined ? readBalances(db) : readOrderBalances(db, orderKey),
      readCurrencyTotals(db, orderKey),
    ]);
    return {
      outcome: 'ok',
      body: {
        accounts: accounts.map(balanceJson),
        orders: orders.map(({ currency: code, orders: count, ...total }) => ({
          currency: code,
          orders: count,
          ...amountsJson(total),
        })),
      },
    };
  },
});

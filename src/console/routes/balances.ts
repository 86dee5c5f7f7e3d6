/** Endpoint of balances: the sums of the journal and of the orders. */
import { z } from 'zod';
import { parseInstantMicros } from '../../ledger/domain/time.ts';
import { readOrderBalances } from '../../ledger/read/balances.ts';
import { resolveOrder } from '../../ledger/read/orders.ts';
import { readCurrencyTotals } from '../../ledger/read/store/balances.ts';
import { balanceJson, currencyTotalsJson } from '../../representation/balance.ts';
import { defineEndpoint } from '../endpoint.ts';
import { amount, currency, difference, id, listTime, orderBy } from '../schemas.ts';
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
    'Payouts move money between accounts but belong to no order. With `as_of`, the accounts have what ' +
    'the service moved before that time, and with `known_at` what Tallyhook had recorded by then; ' +
    '`orders` always has the totals of now.',
  params: z.strictObject({}),
  query: z.strictObject({
    order_id: id.optional(),
    by: orderBy,
    as_of: listTime('Accounts: only what the service moved before this time. UTC without a zone.'),
    known_at: listTime('Accounts: only what was recorded before this time. UTC without a zone.'),
  }),
  response: z
    .strictObject({ accounts: z.array(balance), orders: z.array(currencyTotals) })
    .meta({ id: 'Balances' }),
  statuses: [404, 422],
  handle: async ({ db, balances }, { query }) => {
    if (query.order_id === undefined && query.by !== undefined) {
      return { outcome: 'invalid', message: '`by` needs `order_id`.' };
    }
    if (query.order_id !== undefined && (query.as_of ?? query.known_at) !== undefined) {
      return {
        outcome: 'invalid',
        message: '`as_of` and `known_at` are for the whole journal: leave out `order_id`.',
      };
    }
    const order =
      query.order_id === undefined
        ? undefined
        : await resolveOrder(db, { id: query.order_id, by: query.by });
    if (query.order_id !== undefined && !order) return unknownOrder(query.order_id);
    const orderKey = order?.orderKey;
    const [accounts, orders] = await Promise.all([
      orderKey === undefined
        ? balances.read({
            effectiveMicros: parseInstantMicros(query.as_of),
            knownMicros: parseInstantMicros(query.known_at),
          })
        : readOrderBalances(db, orderKey),
      readCurrencyTotals(db, orderKey),
    ]);
    return {
      outcome: 'ok',
      body: {
        accounts: accounts.map(balanceJson),
        orders: orders.map(currencyTotalsJson),
      },
    };
  },
});

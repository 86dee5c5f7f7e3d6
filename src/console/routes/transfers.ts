/** Endpoint that lists the journal. */
import { z } from 'zod';
import { TIME_SOURCES } from '../../ledger/domain/effectiveTimes.ts';
import { ACCOUNT_NAMES, JOURNAL_KINDS } from '../../ledger/domain/legs.ts';
import { readTransferPage, readTransferTotals } from '../../ledger/read/transferList.ts';
import { encodePlace, numberPlace, readCursor } from '../../representation/cursor.ts';
import { transferJson, transferTotalsJson } from '../../representation/transfer.ts';
import { defineEndpoint } from '../endpoint.ts';
import { readFilter } from '../listFilter.ts';
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
  time,
} from '../schemas.ts';

export const transfer = z
  .strictObject({
    transfer: z.int().describe('Its number, which rises with the time of recording.'),
    recorded_at: time.describe('When Tallyhook posted it.'),
    effective_at: time
      .nullable()
      .describe('When the service moved the money; null: not known yet, after an upgrade.'),
    effective_source: z
      .enum(TIME_SOURCES)
      .nullable()
      .describe(
        'Where that time comes from: the change itself, the change before, the creation of the ' +
          'object, the webhook or response, or the day that a line states.',
      ),
    kind: z
      .enum(JOURNAL_KINDS)
      .describe(
        'What moved the money: a resource, or a line of a settlement report or bank statement.',
      ),
    resource_id: z.string().describe('Its id, or the number of the line.'),
    order_id: z.string().nullable(),
    order_key: z.string().nullable(),
    named_by: namedBy.nullable(),
    leg: z.string().describe('What moved the money, such as `captured` or `settled`.'),
    number: z.int().describe('Its number within the leg of this resource and currency.'),
    debit: z.string(),
    credit: z.string(),
    currency,
    amount,
    event_id: z.string().nullable(),
    inbox: z
      .int()
      .nullable()
      .describe('The event that caused it; null: a read from the service, or a line.'),
    head_hash: z.string().describe('SHA-256 of the content that caused it.'),
  })
  .meta({ id: 'Transfer' });

const totals = z
  .strictObject({
    count: listCount,
    complete: listComplete,
    currencies: z.array(
      z.strictObject({
        currency,
        count: z.int(),
        amount,
        amount_debited: amount.describe('To the account of the filter; 0 without one.'),
        amount_credited: amount.describe('From the account of the filter; 0 without one.'),
      }),
    ),
  })
  .nullable()
  .describe('Null without `totals=1`.')
  .meta({ id: 'TransferTotals' });

const { currency: ofCurrency, min_amount, max_amount, from, to, totals: withTotals } = listFilters;

const account = z
  .enum(ACCOUNT_NAMES)
  .optional()
  .describe('Only transfers to or from this account.');

export const listTransfers = defineEndpoint({
  id: 'listTransfers',
  method: 'get',
  path: '/api/v1/transfers',
  permission: 'read',
  summary: 'List the journal, newest transfer first',
  description:
    'Times are those of recording. A page may have fewer rows than `limit`, or none, although there are ' +
    'more: each request searches a bounded number of transfers. Continue until `next_cursor` is null.',
  params: z.strictObject({}),
  query: z.strictObject({
    account,
    order_id: id.optional().describe('Only transfers of the parts of this order.'),
    resource_id: id
      .optional()
      .describe(
        'Only transfers of this refund, dispute or payout, or of this payment with its refunds and disputes.',
      ),
    currency: ofCurrency,
    min_amount,
    max_amount,
    from,
    to,
    totals: withTotals,
    limit,
    cursor,
  }),
  response: z
    .strictObject({ transfers: z.array(transfer), totals, next_cursor: nextCursor })
    .meta({ id: 'TransferPage' }),
  statuses: [422],
  handle: async ({ db }, { query }) => {
    const place = readCursor(query.cursor, numberPlace);
    if (place.outcome !== 'read') return place;
    const read = readFilter(query);
    if (read.outcome !== 'read') return read;
    const filter = {
      ...read.filter,
      account: query.account,
      orderId: query.order_id,
      resourceId: query.resource_id,
    };
    const { rows, next } = await readTransferPage(db, filter, {
      after: place.place?.[0],
      limit: query.limit,
    });
    const summed =
      query.totals === undefined ? null : transferTotalsJson(await readTransferTotals(db, filter));
    return {
      outcome: 'ok',
      body: {
        transfers: rows.map(transferJson),
        totals: summed,
        next_cursor: next === undefined ? null : encodePlace([next]),
      },
    };
  },
});

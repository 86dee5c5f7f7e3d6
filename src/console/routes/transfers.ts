/** Endpoint that lists the journal. */
import { z } from 'zod';
import { TIME_SOURCES, timeBasis } from '../../ledger/domain/effectiveTimes.ts';
import { ACCOUNT_NAMES, JOURNAL_KINDS } from '../../ledger/domain/legs.ts';
import { readTransferPage, readTransferTotals } from '../../ledger/read/transferList.ts';
import { unlessUndated } from '../../ledger/read/undated.ts';
import { readCursor } from '../../representation/cursor.ts';
import {
  transferCursor,
  transferJson,
  transferPlaces,
  transferTotalsJson,
} from '../../representation/transfer.ts';
import { defineEndpoint } from '../endpoint.ts';
import { readFilter } from '../listFilter.ts';
import {
  amount,
  currency,
  cursor,
  flag,
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
    'Transfers are selected and ordered by effective time, when the service moved the money; with `recorded=1`, ' +
    'by the time at which Tallyhook recorded them. A page may have fewer rows than `limit`, or none, although there are ' +
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
    recorded: flag('Selects and orders by `recorded_at` instead of `effective_at`.'),
    totals: withTotals,
    limit,
    cursor,
  }),
  response: z
    .strictObject({ transfers: z.array(transfer), totals, next_cursor: nextCursor })
    .meta({ id: 'TransferPage' }),
  statuses: [422],
  handle: async ({ db }, { query }) => {
    const basis = timeBasis({ isRecorded: query.recorded !== undefined });
    const place = readCursor(query.cursor, transferPlaces[basis]);
    if (place.outcome !== 'read') return place;
    const read = readFilter(query);
    if (read.outcome !== 'read') return read;
    const filter = {
      ...read.filter,
      basis,
      account: query.account,
      orderId: query.order_id,
      resourceId: query.resource_id,
    };
    const listed = await unlessUndated(async () => ({
      page: await readTransferPage(db, filter, { after: place.place, limit: query.limit }),
      totals: query.totals === undefined ? null : await readTransferTotals(db, filter),
    }));
    if (listed.outcome !== 'ok') return listed;
    const { page, totals: summed } = listed.data;
    return {
      outcome: 'ok',
      body: {
        transfers: page.rows.map(transferJson),
        totals: summed && transferTotalsJson(summed),
        next_cursor: transferCursor(page.next),
      },
    };
  },
});

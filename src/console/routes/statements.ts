/** Endpoint of the statement of a month. */
import { z } from 'zod';
import { ACCOUNT_NAMES, JOURNAL_KINDS } from '../../ledger/domain/legs.ts';
import {
  CLEARING_GROUP_NAMES,
  MEASURE_NAMES,
  OPEN_ITEM_NAMES,
} from '../../ledger/domain/statement.ts';
import { unlessUndated } from '../../ledger/read/undated.ts';
import { statementJson } from '../../representation/statement.ts';
import { readStatement } from '../../statements/readStatement.ts';
import { defineEndpoint } from '../endpoint.ts';
import { amount, currency, difference, month, time, timeZone } from '../schemas.ts';
import { chainHead } from './chain.ts';
import { clearing, unmatched } from './clearing.ts';
import { closing } from './closings.ts';

const count = z.int().min(0);

const totals = z
  .array(
    z.strictObject({
      name: z.enum(MEASURE_NAMES),
      count: count.describe('How many movements; one that was taken back counts too.'),
      amount: difference.describe('Less what was taken back.'),
    }),
  )
  .describe('Totals by name.');

const moved = {
  account: z.enum(ACCOUNT_NAMES),
  amount_debited: amount,
  amount_credited: amount,
};

const net = difference.describe('Captured, less voided, refunded and lost.');

const currencyStatement = z.strictObject({
  currency,
  totals,
  net,
  recorded_late: z
    .strictObject({ count, amount })
    .describe('Movements of the month that were recorded after it had ended.'),
  accounts: z.array(
    z.strictObject({
      ...moved,
      opening: difference.describe('Debits minus credits before the month.'),
      closing: difference.describe('The opening balance with the movements of the month.'),
    }),
  ),
  clearing: z
    .strictObject({
      opening: difference,
      movements: z.array(
        z.strictObject({
          name: z.enum(CLEARING_GROUP_NAMES),
          count,
          amount: difference.describe('What it added to psp.clearing, late postings included.'),
        }),
      ),
      closing: difference,
    })
    .describe('psp.clearing: what moved it, by who states it.'),
  days: z.array(
    z.strictObject({
      day: z.iso.date().describe('In the time zone of the statement.'),
      totals,
      net,
      accounts: z.array(z.strictObject(moved)),
    }),
  ),
});

const finding = z.strictObject({
  number: z.int(),
  class: z.string(),
  subject: z.string(),
  opened_at: time,
  open_at_end: z.boolean().describe('Whether it was open at the end of the month.'),
  accepted_at: time.nullable(),
  accepted_by: z.string().nullable(),
  accepted_reason: z.string().nullable(),
});

const latePostings = z.strictObject({
  totals: z.array(
    z.strictObject({
      month: month.describe('The month to which they belong.'),
      booked_in: month.describe('The month in which they are booked.'),
      currency,
      totals,
      net,
    }),
  ),
  first: z
    .array(
      z.strictObject({
        transfer: z.int().describe('Its number in the journal.'),
        kind: z
          .enum(JOURNAL_KINDS)
          .describe('A resource, or a line of a settlement report or bank statement.'),
        resource_id: z.string().describe('Its id, or the number of the line.'),
        leg: z.string(),
        currency,
        amount: difference,
        effective_at: time,
        recorded_at: time,
      }),
    )
    .describe('At most 50, by number.'),
});

const statement = z
  .strictObject({
    month,
    time_zone: timeZone,
    from: time.describe('The first instant of the month.'),
    to: time.describe('The first instant after it.'),
    known_at: time.describe('When it was read; what is recorded later is not in it.'),
    closing: closing
      .nullable()
      .describe('The closing of the month, which froze its sums; null: it is not closed.'),
    closings: z.array(closing).describe('Every closing of the month, also those of before.'),
    closed_in: timeZone
      .nullable()
      .describe(
        'The time zone in which months are closed. In another one, closings and late postings are not considered.',
      ),
    late_postings: latePostings.describe(
      'What belongs to earlier months, which were closed, and is booked in this one: in its accounts, not in its days and totals.',
    ),
    booked_later: latePostings.describe(
      'What belongs to this month, came after it was closed, and is booked in a later one.',
    ),
    currencies: z.array(currencyStatement),
    unmatched: z
      .strictObject({
        clearing: z.array(clearing),
        oldest: z.array(unmatched).describe('The oldest items of each currency, at most 10.'),
      })
      .nullable()
      .describe(
        'What was in psp.clearing at the end of the month and why, as it is known now; null: see not_matched.',
      ),
    not_matched: z
      .enum(['not_imported', 'too_large'])
      .nullable()
      .describe(
        'Why unmatched is null: no settlement report or bank statement was imported, or the journal has more than a million transfers.',
      ),
    open_items: z
      .array(
        z.strictObject({
          item: z.enum(OPEN_ITEM_NAMES),
          currency,
          count,
          amount: difference,
          oldest: z.array(z.strictObject({ id: z.string(), amount: difference, since: time })),
        }),
      )
      .describe('What was under way at the end of the month.'),
    open_findings: z.strictObject({ count, oldest: z.array(finding) }),
    accepted_findings: z.array(finding).describe('Findings that a person accepted in the month.'),
    uncertain_resources: count.describe('Resources with a state that needs a retrieve now.'),
    coverage: z
      .array(
        z.strictObject({
          list: z.string(),
          runs: count,
          last_compared_at: time.nullable(),
          found: count,
          repaired: count,
          not_compared: z.array(z.strictObject({ from: time, to: time })),
        }),
      )
      .describe('Which part of the month was compared with the lists of the service.'),
    chain_head: chainHead
      .nullable()
      .describe('The last block of the chain of the journal when it was read: keep it.'),
  })
  .meta({ id: 'Statement' });

export const getStatement = defineEndpoint({
  id: 'getStatement',
  method: 'get',
  path: '/api/v1/statements/{month}',
  permission: 'read',
  summary: 'Get the statement of a month',
  description:
    'Opening balances, movements by day and account, closing balances and totals of each currency, by the ' +
    'time at which the service moved the money; what was under way and which findings were open at the ' +
    'end; and what was compared with the service. The sums do not depend on when webhooks arrived. Those of ' +
    'a closed month never change.',
  params: z.strictObject({ month }),
  query: z.strictObject({ currency: currency.optional(), time_zone: timeZone.optional() }),
  response: statement,
  statuses: [422],
  handle: async ({ db }, { params, query }) => {
    const request = { ...params, timeZone: query.time_zone, currency: query.currency };
    const read = await unlessUndated(() => readStatement(db, request));
    return read.outcome === 'ok' ? { outcome: 'ok', body: statementJson(read.data) } : read;
  },
});

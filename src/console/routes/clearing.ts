/** Endpoints of what is in clearing, and what is unmatched. */
import { z } from 'zod';
import { CLEARING_PART_NAMES, clearingPlaceOf } from '../../ledger/domain/clearing.ts';
import { parseInstantMicros } from '../../ledger/domain/time.ts';
import { readClearingAsOf } from '../../ledger/read/clearing.ts';
import { readClearingItems } from '../../ledger/read/store/clearing.ts';
import { cutPage, placeRead, readCursor, timePlace } from '../../representation/cursor.ts';
import { clearingItemJson, clearingJson } from '../../representation/settlement.ts';
import { defineEndpoint } from '../endpoint.ts';
import { currency, cursor, difference, limit, listTime, nextCursor, time } from '../schemas.ts';

const part = z.enum(CLEARING_PART_NAMES).describe('Why the money is in clearing.');

export const clearing = z
  .strictObject({
    currency,
    balance: difference.describe('The balance of psp.clearing: the sum of its parts.'),
    parts: z.array(
      z.strictObject({
        part,
        meaning: z.string(),
        items: z.int().min(1),
        amount: difference,
        since: time.describe('The time of its oldest item.'),
      }),
    ),
  })
  .meta({ id: 'Clearing' });

export const unmatched = z
  .strictObject({
    part,
    subject: z
      .string()
      .describe('Such as `payment:pay_1`, `line:12` or `settlement:3`: what is unmatched.'),
    reference: z
      .string()
      .nullable()
      .describe('What the report calls a settlement, or what a line names; null for resources.'),
    currency,
    amount: difference,
    since: time,
  })
  .meta({ id: 'UnmatchedItem' });

const COST = 'It reads every transfer of psp.clearing, so it takes seconds on a large ledger.';

export const getClearing = defineEndpoint({
  id: 'getClearing',
  method: 'get',
  path: '/api/v1/clearing',
  permission: 'read',
  summary: 'Explain the balance of psp.clearing',
  description:
    'Divides it by what the service moved, what its settlement reports have, and what bank statements have. ' +
    `Without imported files, all of it is \`not_reported\`. ${COST}`,
  params: z.strictObject({}),
  query: z.strictObject({ as_of: listTime('Only what was moved before this time. UTC.') }),
  response: z.strictObject({ currencies: z.array(clearing) }).meta({ id: 'ClearingParts' }),
  statuses: [422],
  handle: async ({ db }, { query }) => {
    const currencies = await readClearingAsOf(db, parseInstantMicros(query.as_of));
    return { outcome: 'ok', body: { currencies: currencies.map(clearingJson) } };
  },
});

export const listUnmatched = defineEndpoint({
  id: 'listUnmatched',
  method: 'get',
  path: '/api/v1/clearing/unmatched',
  permission: 'read',
  summary: 'List what is in psp.clearing and unmatched on either side, oldest first',
  description: `The items of the parts of \`/api/v1/clearing\`. ${COST}`,
  params: z.strictObject({}),
  query: z.strictObject({
    part: part.optional().describe('Only items of this part.'),
    currency: currency.optional(),
    limit,
    cursor,
  }),
  response: z
    .strictObject({ unmatched: z.array(unmatched), next_cursor: nextCursor })
    .meta({ id: 'UnmatchedPage' }),
  statuses: [422],
  handle: async ({ db }, { query }) => {
    const place = readCursor(query.cursor, timePlace);
    if (place.outcome !== 'read') return place;
    const items = await readClearingItems(db, {
      parts: query.part === undefined ? CLEARING_PART_NAMES : [query.part],
      currency: query.currency,
      after: placeRead(place.place),
      limit: query.limit + 1,
    });
    const { shown, next } = cutPage(items, query.limit, clearingPlaceOf);
    return { outcome: 'ok', body: { unmatched: shown.map(clearingItemJson), next_cursor: next } };
  },
});

/** Endpoint of the search: what an id, a number, a reference or an amount names. */
import { z } from 'zod';
import { HIT_KINDS } from '../../search/facts.ts';
import { matchJson } from '../../search/matchJson.ts';
import { search } from '../../search/search.ts';
import { MIN_TEXT_LENGTH, searchBodies } from '../../search/searchBodies.ts';
import { defineEndpoint } from '../endpoint.ts';
import { amount, currency, time } from '../schemas.ts';

const match = z
  .strictObject({
    kind: z.enum(HIT_KINDS),
    id: z.string().describe('The id; of an event, alert, finding, message or run its number.'),
    state: z.string(),
    amounts: z
      .array(z.strictObject({ amount, currency }))
      .describe('Of an order what was captured, of a resource its amount.'),
    order_id: z.string().nullable().describe("The shop's order; null if none is known."),
    about: z.string().nullable(),
    at: time.nullable(),
  })
  .meta({ id: 'SearchMatch' });

/** The text of a search, from anybody. */
export const searchText = z.string().trim().min(1).max(255);

export const searchEverything = defineEndpoint({
  id: 'search',
  method: 'get',
  path: '/api/v1/search',
  permission: 'read',
  summary: 'Find what an id, a number, a reference or an amount names',
  description:
    'Finds orders, payments, refunds, disputes, payouts and events by id, payouts by reference, and events, ' +
    'alerts, findings, messages and runs by number, such as `alert 12`. An amount with its currency, such as ' +
    '`54.00 EUR`, is searched among the newest 10,000 resources of each kind. With `in=bodies` the stored ' +
    'bodies are searched instead, the newest first, for at most three seconds: for a name, a mail address or a customer.',
  params: z.strictObject({}),
  query: z.strictObject({
    q: searchText,
    in: z.enum(['ids', 'bodies']).default('ids'),
  }),
  response: z
    .strictObject({
      matches: z.array(match),
      complete: z.boolean().describe('False if not everything was searched or returned.'),
      searched_through: z
        .string()
        .nullable()
        .describe('`in=bodies`: the oldest day of which every body was searched.'),
    })
    .meta({ id: 'SearchResult' }),
  statuses: [422],
  handle: async ({ db, clock }, { query }) => {
    if (query.in === 'ids') {
      const { hits, isComplete } = await search(db, query.q);
      const matches = hits.map(matchJson);
      return { outcome: 'ok', body: { matches, complete: isComplete, searched_through: null } };
    }
    if (query.q.length < MIN_TEXT_LENGTH) {
      const message = `A search of bodies needs at least ${MIN_TEXT_LENGTH} characters.`;
      return { outcome: 'invalid', message };
    }
    const found = await searchBodies({ db, clock }, query.q);
    const body = {
      matches: found.hits.map(matchJson),
      complete: found.isComplete,
      searched_through: found.throughDay,
    };
    return { outcome: 'ok', body };
  },
});

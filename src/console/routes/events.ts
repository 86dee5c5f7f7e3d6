/** The inbox. Bodies are not shown here: they hold what customers entrusted to the shop. */
import { z } from 'zod';
import { readEventRows } from '../../ledger/read/store/events.ts';
import { EVENT_STATES } from '../../ledger/read/store/parts.ts';
import { eventJson } from '../../representation/event.ts';
import { cutPage, numberPlace, readCursor } from '../cursor.ts';
import { defineEndpoint } from '../endpoint.ts';
import { cursor, limit, nextCursor, time } from '../schemas.ts';

const event = z
  .strictObject({
    number: z.int().min(1).describe('Number in the inbox.'),
    event_id: z.string().nullable().describe("The service's id; null when the body names none."),
    event_type: z.string().nullable(),
    merchant_id: z.string().nullable().describe('The account that it is about.'),
    state: z
      .enum(EVENT_STATES)
      .describe(
        '`pending`: to be applied. `applied`. `not_applied`: kept, and nothing of it was posted. ' +
          '`dead`: could not be applied; replay it once the cause is gone.',
      ),
    attempts: z.int().min(0),
    error: z.string().nullable().describe('Dead events only: why the last attempt failed.'),
    received_at: time,
  })
  .meta({ id: 'Event' });

export const listEvents = defineEndpoint({
  id: 'listEvents',
  method: 'get',
  path: '/api/v1/events',
  summary: 'Events that were received, newest first',
  params: z.strictObject({}),
  query: z.strictObject({ state: z.enum(EVENT_STATES).optional(), limit, cursor }),
  response: z
    .strictObject({ events: z.array(event), next_cursor: nextCursor })
    .meta({ id: 'EventPage' }),
  statuses: [],
  handle: async ({ db }, { query }) => {
    const from = readCursor(query.cursor, numberPlace);
    if (from.outcome !== 'read') return from;
    const rows = await readEventRows(db, {
      state: query.state,
      below: from.place?.[0] ?? Number.MAX_SAFE_INTEGER,
      limit: query.limit + 1,
    });
    const { shown, next } = cutPage(rows, query.limit, (row) => [row.id]);
    return {
      outcome: 'ok',
      body: {
        events: shown.map(eventJson),
        next_cursor: next,
      },
    };
  },
});

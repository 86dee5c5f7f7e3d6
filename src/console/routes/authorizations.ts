/** Authorizations: what is held and must be captured in time. */
import { z } from 'zod';
import { readOpenAuthorizations } from '../../authorizations/store/openAuthorizations.ts';
import { CAPTURABLE_STATUSES } from '../../contract/statuses.ts';
import { authorizationJson } from '../../representation/authorization.ts';
import { cutPage, readCursor, timePlace } from '../cursor.ts';
import { defineEndpoint } from '../endpoint.ts';
import { amount, currency, cursor, limit, namedBy, nextCursor, time } from '../schemas.ts';

const authorization = z
  .strictObject({
    payment_id: z.string(),
    order_id: z.string().nullable(),
    order_key: z.string().nullable(),
    named_by: namedBy.nullable(),
    status: z.string().describe("The service's own word."),
    currency,
    amount_capturable: amount.describe('What is left of the hold.'),
    authorized_at: time.describe('When the hold began, as well as it is known.'),
    capture_before: time.describe(
      "The smaller of the service's own time and seven days after the hold began.",
    ),
    last_reminder_hours: z
      .int()
      .nullable()
      .describe(
        'Hours before the end at which was last spoken of it; 0 at the end; null if not yet.',
      ),
  })
  .meta({ id: 'Authorization' });

export const listAuthorizations = defineEndpoint({
  id: 'listAuthorizations',
  method: 'get',
  path: '/api/v1/authorizations',
  summary: 'What is held and not captured, nearest deadline first',
  description: 'As the scheduler last saw it, at most a minute ago while the service answers.',
  params: z.strictObject({}),
  query: z.strictObject({ limit, cursor }),
  response: z
    .strictObject({ authorizations: z.array(authorization), next_cursor: nextCursor })
    .meta({ id: 'AuthorizationPage' }),
  statuses: [],
  handle: async ({ db }, { query }) => {
    const from = readCursor(query.cursor, timePlace);
    if (from.outcome !== 'read') return from;
    const [deadline, paymentId] = from.place ?? [];
    const rows = await readOpenAuthorizations(db, {
      statuses: [...CAPTURABLE_STATUSES],
      after:
        deadline === undefined || paymentId === undefined
          ? undefined
          : { deadlineAt: new Date(deadline), paymentId },
      dueBefore: undefined,
      limit: query.limit + 1,
    });
    const { shown, next } = cutPage(rows, query.limit, (row) => [
      row.deadlineAt.toISOString(),
      row.paymentId,
    ]);
    return {
      outcome: 'ok',
      body: {
        authorizations: shown.map(authorizationJson),
        next_cursor: next,
      },
    };
  },
});

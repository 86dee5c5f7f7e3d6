/** Endpoint of open authorizations. */
import { z } from 'zod';
import { readOpenAuthorizations } from '../../authorizations/store/openAuthorizations.ts';
import { CAPTURABLE_STATUSES } from '../../contract/statuses.ts';
import { authorizationJson } from '../../representation/authorization.ts';
import { cutPage, readCursor, timePlace } from '../../representation/cursor.ts';
import { defineEndpoint } from '../endpoint.ts';
import { amount, currency, cursor, limit, namedBy, nextCursor, time } from '../schemas.ts';

const authorization = z
  .strictObject({
    payment_id: z.string(),
    order_id: z.string().nullable(),
    order_key: z.string().nullable(),
    named_by: namedBy.nullable(),
    status: z.string().describe("The service's own status."),
    currency,
    amount_capturable: amount.describe('What remains of the hold.'),
    authorized_at: time.describe('When the hold began, as far as known.'),
    capture_before: time.describe(
      "The earlier of the service's own deadline and seven days after the hold began.",
    ),
    last_reminder_hours: z
      .int()
      .nullable()
      .describe(
        'Threshold of the last reminder, in hours before the deadline; 0 at the deadline; null before the first.',
      ),
  })
  .meta({ id: 'Authorization' });

export const listAuthorizations = defineEndpoint({
  id: 'listAuthorizations',
  method: 'get',
  path: '/api/v1/authorizations',
  permission: 'read',
  summary: 'List authorizations that can still be captured, nearest deadline first',
  description: 'The scheduler updates this list every minute while the service responds.',
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

/** Endpoint of the change feed. */
import { z } from 'zod';
import { CHANGE_SUBJECTS, CHANGES } from '../../ledger/domain/changes.ts';
import { changeJson } from '../../representation/change.ts';
import { defineEndpoint } from '../endpoint.ts';
import { after, limit, namedBy, time } from '../schemas.ts';

export const change = z
  .strictObject({
    number: z
      .int()
      .min(1)
      .describe('It only grows: by one, and far at once after a failover of the database.'),
    kind: z
      .enum(CHANGE_SUBJECTS)
      .describe('What changed. A resource appears only if it belongs to no order.'),
    id: z.string().describe('Order id (see `named_by`) or resource id.'),
    order_key: z.string().nullable(),
    named_by: namedBy.nullable(),
    change: z
      .enum(CHANGES)
      .describe(
        '`status`: the status changed. `details`: something else changed. ' +
          '`registered`: the shop registered an expected amount.',
      ),
    status: z.string().nullable().describe('The new status. Null for `registered`.'),
    previous_status: z.string().nullable().describe('Null if it was unknown before.'),
    event_number: z.int().nullable().describe('Inbox number of the last event that caused it.'),
    changed_at: time.describe('May be earlier than in a change with a smaller number.'),
    is_history: z
      .boolean()
      .describe('Whether it is about the time before Tallyhook; nobody is notified of it.'),
  })
  .meta({ id: 'Change' });

export const listChanges = defineEndpoint({
  id: 'listChanges',
  method: 'get',
  path: '/api/v1/changes',
  permission: 'read',
  summary: 'Read the change feed',
  description:
    'Start with `after=0`, store `next_after` once you have processed the page, and continue from there. ' +
    'A change gets its number after its commit, so no change appears below a number that you have read. ' +
    'A change only states that something changed; get the order for its current state. ' +
    'A failover of the database to a server that lacks the last changes undoes them: a position after such a ' +
    'change is refused with 409, and `continue_after` of the response is where to continue. Get the orders ' +
    'of the changes after it again. No number is assigned twice. ' +
    'Retention removes old changes: a position before the first one that is left is refused with 410, ' +
    'and the message names the position from which to continue.',
  params: z.strictObject({}),
  query: z.strictObject({ after, limit }),
  response: z
    .strictObject({
      changes: z.array(change),
      next_after: z.int().min(0).describe('Send it as `after` in the next request.'),
      has_more: z.boolean().describe('Whether more changes are ready.'),
    })
    .meta({ id: 'ChangePage' }),
  statuses: [409, 410],
  handle: async ({ feed }, { query }) => {
    const reading = await feed.read(query);
    if (reading.outcome === 'ahead') {
      const message =
        `after=${query.after} is beyond the end of the feed, which is ${reading.last}. The database is older ` +
        'than your position, for example after a restored backup, so later changes that you read may be gone. ' +
        'Start again from after=0.';
      return { outcome: 'conflict', message, continueAfter: 0 };
    }
    if (reading.outcome === 'undone') {
      const { continueAfter } = reading;
      const message =
        `The database was failed over or restored and lost the changes after ${continueAfter}, and you have read ` +
        `up to after=${query.after}. Get the orders of the changes that you read after ${continueAfter} again, ` +
        `then continue from after=${continueAfter}.`;
      return { outcome: 'conflict', message, continueAfter };
    }
    if (reading.outcome === 'removed') {
      const { first } = reading;
      const message =
        `Changes before ${first} were removed by retention, so after=${query.after} would miss some. ` +
        `Read every order from /api/v1/orders once, then continue from after=${first - 1}.`;
      return { outcome: 'gone', message, continueAfter: first - 1 };
    }
    const { changes, hasMore } = reading;
    return {
      outcome: 'ok',
      body: {
        changes: changes.map(changeJson),
        next_after: changes.at(-1)?.number ?? query.after,
        has_more: hasMore,
      },
    };
  },
});

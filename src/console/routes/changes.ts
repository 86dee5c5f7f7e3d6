/** The change feed. */
import { z } from 'zod';
import { CHANGE_SUBJECTS, CHANGES } from '../../ledger/domain/changes.ts';
import { changeJson } from '../../representation/change.ts';
import { defineEndpoint } from '../endpoint.ts';
import { after, limit, namedBy, time } from '../schemas.ts';

const change = z
  .strictObject({
    number: z.int().min(1).describe('Grows by one from change to change.'),
    kind: z
      .enum(CHANGE_SUBJECTS)
      .describe('What changed. Resources appear only where they belong to no order.'),
    id: z.string().describe('Order id (see `named_by`), or id of the resource.'),
    order_key: z.string().nullable(),
    named_by: namedBy.nullable(),
    change: z
      .enum(CHANGES)
      .describe(
        '`status`: another status. `details`: something was learned, the status stayed. ' +
          '`registered`: the shop said what it expects.',
      ),
    status: z.string().nullable().describe('The status since. Null where it was registered.'),
    previous_status: z.string().nullable().describe('Null when it was not known before.'),
    event_number: z
      .int()
      .nullable()
      .describe('Number in the inbox of the last event that had a part in it.'),
    changed_at: time.describe('May be earlier than that of a change with a smaller number.'),
    is_history: z.boolean().describe('Brought by the first import, of what was before: no news.'),
  })
  .meta({ id: 'Change' });

export const listChanges = defineEndpoint({
  id: 'listChanges',
  method: 'get',
  path: '/api/v1/changes',
  summary: 'What changed, in an order in which nothing can be missed',
  description:
    'Read from `after=0`, keep `next_after` once the page is dealt with, and go on from there. ' +
    'A change gets its number after it was committed, so none appears below a number that was ' +
    'read. A change says that something is new; fetch the order for what it is.',
  params: z.strictObject({}),
  query: z.strictObject({ after, limit }),
  response: z
    .strictObject({
      changes: z.array(change),
      next_after: z.int().min(0).describe('Give it as `after` the next time.'),
      has_more: z.boolean().describe('There is more to read at once.'),
    })
    .meta({ id: 'ChangePage' }),
  statuses: [409],
  handle: async ({ feed }, { query }) => {
    const reading = await feed.read(query);
    if (reading.outcome === 'ahead') {
      const message =
        `after=${query.after} lies beyond this feed, which ends at ${reading.last}: the database is ` +
        'older than its reader, as after restoring a backup. What was read since is uncertain. ' +
        'Start again from after=0.';
      return { outcome: 'conflict', message };
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

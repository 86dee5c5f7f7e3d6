/** Endpoints of the sessions of the console: who is signed in, and the end of a session. */
import { z } from 'zod';
import { readSessionRows } from '../../access/store/sessions.ts';
import { endSessionAs } from '../../actions/endSession.ts';
import { cutPage, numberPlace, readCursor } from '../../representation/cursor.ts';
import { sessionJson } from '../../representation/session.ts';
import { defineEndpoint } from '../endpoint.ts';
import { cursor, limit, nextCursor, number, reasonGiven, time } from '../schemas.ts';

const session = z
  .strictObject({
    number: z.int().min(1),
    holder: z.string().describe('Name of the token, or of the person at the identity provider.'),
    sign_in: z
      .enum(['token', 'link', 'provider'])
      .describe(
        '`link`: the link that a start of Tallyhook prints; `provider`: the identity provider.',
      ),
    address: z.string().nullable().describe('Where the session started.'),
    user_agent: z.string().nullable(),
    started_at: time,
    last_seen_at: time.describe('The last page, to the minute.'),
    expires_at: time,
  })
  .meta({ id: 'ConsoleSession' });

export const listSessions = defineEndpoint({
  id: 'listSessions',
  method: 'get',
  path: '/api/v1/sessions',
  permission: 'manage_tokens',
  summary: 'List open sessions of the console, newest first',
  params: z.strictObject({}),
  query: z.strictObject({ limit, cursor }),
  response: z
    .strictObject({ sessions: z.array(session), next_cursor: nextCursor })
    .meta({ id: 'ConsoleSessionPage' }),
  statuses: [],
  handle: async ({ db, sessionIdleMs: idleMs }, { query }) => {
    const from = readCursor(query.cursor, numberPlace);
    if (from.outcome !== 'read') return from;
    const rows = await readSessionRows(db, {
      idleMs,
      below: from.place?.[0],
      limit: query.limit + 1,
    });
    const { shown, next } = cutPage(rows, query.limit, (row) => [row.id]);
    return { outcome: 'ok', body: { sessions: shown.map(sessionJson), next_cursor: next } };
  },
});

export const endSession = defineEndpoint({
  id: 'endSession',
  method: 'post',
  path: '/api/v1/sessions/{number}/end',
  permission: 'manage_tokens',
  summary: 'End a session of the console, or all sessions of its person',
  description: 'Its pages stop working within five seconds.',
  params: z.strictObject({ number }),
  query: z.strictObject({}),
  body: z.strictObject({
    reason: reasonGiven,
    everywhere: z
      .boolean()
      .default(false)
      .describe('End every session of the same person, also links that nobody used yet.'),
  }),
  response: z
    .strictObject({
      holder: z.string(),
      sessions: z.int().min(1).describe('How many ended.'),
    })
    .meta({ id: 'EndedSessions' }),
  statuses: [404],
  handle: async ({ db }, { params: { number: id }, body: { reason, everywhere }, actor }) => {
    const ended = await endSessionAs({ db }, actor, { id, everywhere, reason });
    if (ended) return { outcome: 'ok', body: ended };
    const message = `There is no session ${id}, or it has ended already.`;
    return { outcome: 'not_found', message };
  },
});

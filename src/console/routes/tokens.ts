/** Endpoints of tokens: list, create and revoke. */
import { z } from 'zod';
import { ROLES } from '../../access/domain/roles.ts';
import { nameMistake } from '../../access/domain/tokenName.ts';
import { MAX_TOKENS, readTokenRows } from '../../access/store/tokens.ts';
import { createTokenAs, revokeTokenAs } from '../../actions/manageTokens.ts';
import { HOUR_MS } from '../../platform/time.ts';
import { cutPage, numberPlace, readCursor } from '../../representation/cursor.ts';
import { tokenJson } from '../../representation/token.ts';
import { defineEndpoint } from '../endpoint.ts';
import { cursor, limit, nextCursor, time } from '../schemas.ts';

const MAX_HOURS = 3_650 * 24;

const fields = {
  name: z.string(),
  role: z.enum(ROLES),
  state: z.enum(['valid', 'expired', 'revoked']),
  created_at: time,
  created_by: z.string(),
  last_used_at: time.nullable().describe('To the minute.'),
  expires_at: time.nullable().describe('Null: it does not expire.'),
  revoked_at: time.nullable(),
  revoked_by: z.string().nullable(),
};
const token = z.strictObject(fields).meta({ id: 'Token' });

/** The name of a new token. */
const newName = z.string().superRefine((name, context) => {
  const message = nameMistake(name);
  if (message !== undefined) context.addIssue({ code: 'custom', message });
});

export const listTokens = defineEndpoint({
  id: 'listTokens',
  method: 'get',
  path: '/api/v1/tokens',
  permission: 'manage_tokens',
  summary: 'List valid tokens, newest first',
  description: 'The list does not contain ADMIN_TOKEN, nor the text of any token.',
  params: z.strictObject({}),
  query: z.strictObject({
    all: z.literal('1').optional().describe('Also expired and revoked tokens.'),
    limit,
    cursor,
  }),
  response: z
    .strictObject({ tokens: z.array(token), next_cursor: nextCursor })
    .meta({ id: 'TokenPage' }),
  statuses: [],
  handle: async ({ db }, { query }) => {
    const from = readCursor(query.cursor, numberPlace);
    if (from.outcome !== 'read') return from;
    const all = query.all !== undefined;
    const rows = await readTokenRows(db, { all, below: from.place?.[0], limit: query.limit + 1 });
    const { shown, next } = cutPage(rows, query.limit, (row) => [row.id]);
    return { outcome: 'ok', body: { tokens: shown.map(tokenJson), next_cursor: next } };
  },
});

export const createToken = defineEndpoint({
  id: 'createToken',
  method: 'post',
  path: '/api/v1/tokens',
  permission: 'manage_tokens',
  summary: 'Create a token for one person or program',
  description:
    'The response has the text of the token, which is not stored and not shown again. It works within a second.',
  params: z.strictObject({}),
  query: z.strictObject({}),
  body: z.strictObject({
    name: newName.describe('Name of the holder, recorded with what the holder does.'),
    role: z.enum(ROLES).describe('What the holder may do.'),
    expires_in_hours: z
      .int()
      .min(1)
      .max(MAX_HOURS)
      .optional()
      .describe('After which time it expires. Absent: it does not expire.'),
  }),
  response: z
    .strictObject({ ...fields, token: z.string().describe('The text of the token.') })
    .meta({ id: 'CreatedToken' }),
  statuses: [201, 409],
  handle: async ({ db }, { body: { name, role, expires_in_hours: hours }, actor }) => {
    const expiresInMs = hours === undefined ? undefined : hours * HOUR_MS;
    const created = await createTokenAs({ db }, actor, { name, role, expiresInMs });
    switch (created.outcome) {
      case 'created':
        return { outcome: 'created', body: { ...tokenJson(created.token), token: created.text } };
      case 'name_taken': {
        const message = `Another token has the name ${name}. Choose another name, or revoke it first.`;
        return { outcome: 'conflict', message };
      }
      case 'too_many': {
        const message = `There are ${MAX_TOKENS} valid tokens already. Revoke those that nobody uses.`;
        return { outcome: 'conflict', message };
      }
    }
  },
});

export const revokeToken = defineEndpoint({
  id: 'revokeToken',
  method: 'post',
  path: '/api/v1/tokens/{name}/revoke',
  permission: 'manage_tokens',
  summary: 'Revoke a token',
  description: 'Requests and sessions with it are refused within five seconds.',
  params: z.strictObject({ name: z.string().min(1).max(64) }),
  query: z.strictObject({}),
  response: token,
  statuses: [404],
  handle: async ({ db }, { params: { name }, actor }) => {
    const revoked = await revokeTokenAs({ db }, actor, { name });
    if (revoked.outcome === 'revoked') return { outcome: 'ok', body: tokenJson(revoked.token) };
    return { outcome: 'not_found', message: 'There is no such token that could be revoked.' };
  },
});

/** Endpoints of outgoing messages: list, show, resend. */
import { z } from 'zod';
import { resendMessageAs } from '../../actions/resendMessage.ts';
import { CHANNELS } from '../../notify/domain/message.ts';
import { messageJson } from '../../notify/messageJson.ts';
import {
  MESSAGE_KINDS,
  MESSAGE_STATES,
  readMessageRow,
  searchMessages,
} from '../../notify/store/messageRows.ts';
import { numberCursor, numberPlace, readCursor } from '../../representation/cursor.ts';
import { defineEndpoint } from '../endpoint.ts';
import { cursor, limit, nextCursor, number, reasonGiven, SEARCHED, time } from '../schemas.ts';

export const messageState = z.enum(MESSAGE_STATES);
const channel = z.enum(CHANNELS);
const kind = z.enum(MESSAGE_KINDS);

const message = z
  .strictObject({
    number: z.int().min(1),
    message_id: z.string().describe('Every attempt sends it, also after a resend.'),
    channel,
    kind: kind.describe(
      '`alert`, `digest` of several alerts, daily `summary`, or `order` webhook.',
    ),
    state: messageState.describe(
      '`due`: waits for its next attempt. `delivered`. `failed`: not accepted within three days.',
    ),
    title: z.string(),
    lines: z.array(z.string()).describe('The text, as people receive it.'),
    attempts: z.int().min(0),
    attempt_log: z
      .array(
        z.strictObject({
          attempt: z.int().min(1),
          at: time,
          outcome: z.string().describe('`delivered`, `refused`, `gone` or `unavailable`.'),
          response: z.string(),
        }),
      )
      .describe('The last attempts, oldest first.'),
    last_error: z.string().nullable(),
    created_at: time,
    next_attempt_at: time.nullable(),
    settled_at: time.nullable(),
    resent_at: time.nullable().describe('When a person last had it sent again.'),
  })
  .meta({ id: 'Message' });

export const listMessages = defineEndpoint({
  id: 'listMessages',
  method: 'get',
  path: '/api/v1/messages',
  permission: 'read',
  summary: 'List outgoing messages, newest first',
  description: SEARCHED,
  params: z.strictObject({}),
  query: z.strictObject({
    state: messageState.optional(),
    channel: channel.optional(),
    kind: kind.optional(),
    limit,
    cursor,
  }),
  response: z
    .strictObject({ messages: z.array(message), next_cursor: nextCursor })
    .meta({ id: 'MessagePage' }),
  statuses: [],
  handle: async ({ db, installation }, { query }) => {
    const from = readCursor(query.cursor, numberPlace);
    if (from.outcome !== 'read') return from;
    const { rows, next } = await searchMessages(
      db,
      { state: query.state, channel: query.channel, kind: query.kind },
      { below: from.place?.[0] ?? Number.MAX_SAFE_INTEGER, limit: query.limit },
    );
    const messages = rows.map((row) => messageJson(row, installation));
    return { outcome: 'ok', body: { messages, next_cursor: numberCursor(next) } };
  },
});

const params = z.strictObject({ number });

export const getMessage = defineEndpoint({
  id: 'getMessage',
  method: 'get',
  path: '/api/v1/messages/{number}',
  permission: 'read',
  summary: 'Get an outgoing message with its attempts',
  params,
  query: z.strictObject({}),
  response: message,
  statuses: [404],
  handle: async ({ db, installation }, { params: { number: place } }) => {
    const row = await readMessageRow(db, place);
    return row ? { outcome: 'ok', body: messageJson(row, installation) } : unknown(place);
  },
});

export const resend = defineEndpoint({
  id: 'resendMessage',
  method: 'post',
  path: '/api/v1/messages/{number}/resend',
  permission: 'operate',
  summary: 'Send a delivered or failed message again',
  description:
    'With the same id and content, so that a receiver that has it recognizes it. The name of the token is recorded.',
  params,
  query: z.strictObject({}),
  body: z.strictObject({ reason: reasonGiven.describe('Why it is sent again.') }),
  response: message,
  statuses: [202, 404, 409],
  handle: async (parts, { params: { number: place }, body: { reason }, actor }) => {
    const { db, installation, channels } = parts;
    const resent = await resendMessageAs({ db, channels }, actor, { number: place, reason });
    switch (resent.outcome) {
      case 'due':
        return { outcome: 'accepted', body: messageJson(resent.message, installation) };
      case 'unknown':
        return unknown(place);
      case 'already_due': {
        const text = `The message ${place} has not been delivered yet and is still retried. Nothing was changed.`;
        return { outcome: 'conflict', message: text };
      }
      case 'no_channel': {
        const text = `The channel ${resent.message.channel} is not configured. Nothing was changed.`;
        return { outcome: 'conflict', message: text };
      }
    }
  },
});

function unknown(place: number) {
  return { outcome: 'not_found', message: `There is no message ${place}.` } as const;
}

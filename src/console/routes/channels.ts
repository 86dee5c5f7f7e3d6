/** Endpoints of channels: how each does, and a test message. */
import { z } from 'zod';
import { SEVERITIES } from '../../alerts/domain/alert.ts';
import { CHANNELS } from '../../notify/domain/message.ts';
import { type ChannelState, readChannels } from '../../notify/readChannels.ts';
import { defineEndpoint } from '../endpoint.ts';
import { time } from '../schemas.ts';

const channel = z.enum(CHANNELS);

const state = z
  .strictObject({
    channel,
    sends_to: z.string().describe('The receiving host; the rest of an address is masked.'),
    setting: z.string().describe('The setting that holds its address.'),
    least_severity: z
      .enum(SEVERITIES)
      .nullable()
      .describe('Of the alerts that it gets; null for the shop, which gets none.'),
    failing: z
      .strictObject({
        since: time,
        last_error: z.string(),
        retry_at: time.nullable().describe('Null while it responds and refuses.'),
      })
      .nullable()
      .describe('Null if it has accepted its last message, or got none yet.'),
    messages_due: z.int().min(0).describe('Messages that it has not accepted yet.'),
    oldest_due_seconds: z.number().min(0),
    last_attempts: z
      .array(
        z.strictObject({
          message: z.int().min(1),
          attempt: z.int().min(1),
          at: time,
          outcome: z.string(),
          response: z.string(),
        }),
      )
      .describe('The last attempt of each of its newest messages, newest first.'),
  })
  .meta({ id: 'Channel' });

export const listChannels = defineEndpoint({
  id: 'listChannels',
  method: 'get',
  path: '/api/v1/channels',
  permission: 'read',
  summary: 'List the configured channels, and how each does',
  params: z.strictObject({}),
  query: z.strictObject({}),
  response: z.strictObject({ channels: z.array(state) }).meta({ id: 'Channels' }),
  statuses: [],
  handle: async ({ db, channelTargets }) => {
    const channels = await readChannels(db, channelTargets);
    return { outcome: 'ok', body: { channels: channels.map(channelJson) } };
  },
});

function channelJson({ failing, attempts, ...one }: ChannelState): z.input<typeof state> {
  return {
    channel: one.channel,
    sends_to: one.sendsTo,
    setting: one.setting,
    least_severity: one.severity ?? null,
    failing: failing
      ? {
          since: failing.failingSince.toISOString(),
          last_error: failing.lastError,
          retry_at: failing.retryAt?.toISOString() ?? null,
        }
      : null,
    messages_due: one.due,
    oldest_due_seconds: one.oldestDueSeconds,
    last_attempts: attempts.map(({ number, attempt, at, outcome, response }) => ({
      message: number,
      attempt,
      at,
      outcome,
      response,
    })),
  };
}

export const testedChannel = z
  .strictObject({
    channel,
    outcome: z.enum(['delivered', 'failed']),
    response: z.string().describe('A status, never a body or an address.'),
  })
  .meta({ id: 'TestedChannel' });

export const testChannel = defineEndpoint({
  id: 'testChannel',
  method: 'post',
  path: '/api/v1/channels/{channel}/test',
  permission: 'operate',
  summary: 'Send a test message through a channel',
  description: 'One attempt, which is not retried. The name of the token is recorded.',
  params: z.strictObject({ channel }),
  query: z.strictObject({}),
  response: testedChannel,
  statuses: [404],
  handle: async ({ testChannel: test }, { params: { channel: name }, actor }) => {
    const result = await test(name, actor);
    if (result) return { outcome: 'ok', body: result };
    return { outcome: 'not_found', message: `The channel ${name} is not configured.` };
  },
});

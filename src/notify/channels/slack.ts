/** Sends messages to a chat with Slack-compatible incoming webhooks. */
import { slackBody } from '../domain/slack.ts';
import { textOf } from '../domain/text.ts';
import type { Channel } from './channel.ts';
import { post } from './post.ts';

export interface SlackOptions {
  /** A secret: anyone who has it can post. */
  readonly url: string;
  readonly timeoutMs: number;
}

/** Slack limits incoming webhooks to one message per second. */
const SLOTS = 1;

export function createSlackChannel({ url, timeoutMs }: SlackOptions): Channel {
  return {
    name: 'slack',
    slots: SLOTS,
    send: ({ content }) =>
      post({ url, body: JSON.stringify(slackBody(textOf(content))), headers: {}, timeoutMs }),
  };
}

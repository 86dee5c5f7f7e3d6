/** Sends messages to a chat with Slack-compatible incoming webhooks. */
import type { Installation } from '../domain/links.ts';
import { slackBody } from '../domain/slack.ts';
import { textOf } from '../domain/text.ts';
import type { Channel } from './channel.ts';
import { post } from './post.ts';

export interface SlackOptions {
  /** A secret: anyone who has it can post. */
  readonly url: string;
  readonly installation: Installation;
  readonly timeoutMs: number;
}

/** Slack limits incoming webhooks to one message per second. */
const SLOTS = 1;

export function createSlackChannel({ url, installation, timeoutMs }: SlackOptions): Channel {
  return {
    name: 'slack',
    slots: SLOTS,
    send: ({ content }) => {
      const body = JSON.stringify(slackBody(textOf(content, installation)));
      return post({ url, body, headers: {}, timeoutMs });
    },
  };
}

/** Messages for people in a chat that takes Slack's incoming webhooks. */
import { slackBody } from '../domain/slack.ts';
import { textOf } from '../domain/text.ts';
import type { Channel } from './channel.ts';
import { post } from './post.ts';

export interface SlackOptions {
  /** Whoever has it may post: it is a secret. */
  readonly url: string;
  readonly timeoutMs: number;
}

/** Slack takes one message a second, and asks for no more. */
const SLOTS = 1;

export function createSlackChannel({ url, timeoutMs }: SlackOptions): Channel {
  return {
    name: 'slack',
    slots: SLOTS,
    send: ({ content }) =>
      post({ url, body: JSON.stringify(slackBody(textOf(content))), headers: {}, timeoutMs }),
  };
}

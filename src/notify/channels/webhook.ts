/**
 * Sends messages to programs, signed as the Standard Webhooks specification defines: the id of the
 * message, the time of the attempt, and a signature over both and the body. Used for alerts and for
 * order webhooks.
 */
import { Webhook } from 'standardwebhooks';
import type { Clock } from '../../platform/clock.ts';
import type { Installation } from '../domain/links.ts';
import type { ChannelName } from '../domain/message.ts';
import { payloadOf } from '../domain/payload.ts';
import type { Channel } from './channel.ts';
import { post } from './post.ts';

export interface WebhookOptions {
  readonly name: ChannelName;
  readonly slots: number;
  readonly url: string;
  /** Each one signs, so that a receiver can verify with the old secret during a rotation. */
  readonly secrets: readonly string[];
  readonly installation: Installation;
  readonly clock: Clock;
  readonly timeoutMs: number;
}

export function createWebhookChannel(options: WebhookOptions): Channel {
  const { name, slots, url, installation, clock, timeoutMs } = options;
  const signers = options.secrets.map((secret) => new Webhook(secret));
  return {
    name,
    slots,
    send: ({ id, content, createdAt }) => {
      const body = JSON.stringify(payloadOf(content, createdAt.toISOString(), installation));
      const at = new Date(clock.nowMs());
      const headers = {
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
        'webhook-signature': signers.map((signer) => signer.sign(id, at, body)).join(' '),
      };
      return post({ url, body, headers, timeoutMs });
    },
  };
}

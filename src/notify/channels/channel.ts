/** What a channel is: a way to bring a message to somebody, who may answer that it did not arrive. */
import type { ChannelName, Content } from '../domain/message.ts';
import type { Attempted } from '../domain/retry.ts';

export interface OutgoingMessage {
  /** The same in every attempt. */
  readonly id: string;
  readonly content: Content;
  readonly createdAt: Date;
}

export interface Channel {
  readonly name: ChannelName;
  /** Messages that are sent at once. */
  readonly slots: number;
  /**
   * Makes one attempt, within ATTEMPT_TIMEOUT_MS. What goes wrong on the way is told as an outcome.
   * @throws Error only for a message that cannot be put into the channel's form
   */
  send(message: OutgoingMessage): Promise<Attempted>;
}

/** Standard Webhooks asks senders for 15 to 30 seconds. */
export const ATTEMPT_TIMEOUT_MS = 15_000;

/** A channel delivers messages to one receiver and reports the result of each attempt. */
import type { ChannelName, Content } from '../domain/message.ts';
import type { AttemptResult } from '../domain/retry.ts';

export interface OutgoingMessage {
  /** Every attempt sends the same id. */
  readonly id: string;
  readonly content: Content;
  readonly createdAt: Date;
}

export interface Channel {
  readonly name: ChannelName;
  /** How many messages are sent at the same time. */
  readonly slots: number;
  /**
   * Makes one attempt, within ATTEMPT_TIMEOUT_MS. Failures are returned as outcomes.
   * @throws Error only for a message that cannot be put into the channel's form
   */
  send(message: OutgoingMessage): Promise<AttemptResult>;
}

/** Standard Webhooks recommends 15 to 30 seconds. */
export const ATTEMPT_TIMEOUT_MS = 15_000;

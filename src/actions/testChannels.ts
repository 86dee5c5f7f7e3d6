/** Sends a test message through channels for an operator. */
import type { Actor } from '../audit/domain/actor.ts';
import { recordAttempt } from '../audit/recordAudit.ts';
import type { Channel } from '../notify/channels/index.ts';
import type { ChannelName } from '../notify/domain/message.ts';
import type { Queryable } from '../platform/db/database.ts';

export interface TestParts {
  readonly db: Queryable;
  readonly channels: readonly Channel[];
}

/** A message for one channel. */
export interface TestMessage {
  readonly id: string;
  readonly createdAt: Date;
}

export interface TestedChannel {
  readonly channel: ChannelName;
  readonly outcome: 'delivered' | 'failed';
  readonly response: string;
}

/** @param newMessage called once for each channel */
export function testChannelsAs(
  { db, channels }: TestParts,
  actor: Actor,
  newMessage: () => TestMessage,
): Promise<readonly TestedChannel[]> {
  return Promise.all(
    channels.map((channel) => {
      const subject = { kind: 'channel', id: channel.name };
      return recordAttempt(db, { actor, action: 'alert.test', subject }, async () => {
        const tested = await testChannel(channel, newMessage());
        const isDelivered = tested.outcome === 'delivered';
        return {
          value: tested,
          result: isDelivered ? 'done' : 'failed',
          detail: { response: tested.response },
        };
      });
    }),
  );
}

async function testChannel(
  channel: Channel,
  { id, createdAt }: TestMessage,
): Promise<TestedChannel> {
  const content = { kind: 'test', at: createdAt.toISOString() } as const;
  const { outcome, response } = await channel.send({ id, content, createdAt });
  return {
    channel: channel.name,
    outcome: outcome === 'delivered' ? outcome : 'failed',
    response,
  };
}

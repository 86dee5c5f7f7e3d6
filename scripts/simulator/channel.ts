/** The model of a channel: a receiver of messages, which may fail or lose its reply. */
import type { Channel } from '../../src/notify/channels/channel.ts';
import type { AttemptResult } from '../../src/notify/domain/retry.ts';
import { integer, type Random } from './random.ts';
import type { Actor, Scheduler } from './scheduler.ts';

export interface ModelChannel {
  channel(actor: Actor): Channel;
  failFor(ms: number): void;
  /** Ids of the messages that arrived. */
  readonly received: ReadonlySet<string>;
  /** Messages that two live processes were sending at the same time. */
  readonly sentAtOnce: readonly string[];
}

export interface ChannelParts {
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly trace: (line: () => string) => void;
}

export function createModelChannel({ scheduler, random, trace }: ChannelParts): ModelChannel {
  const received = new Set<string>();
  const sentAtOnce: string[] = [];
  const sending = new Map<string, Actor>();
  let failsUntilMs = 0;

  const deliver = (id: string): AttemptResult => {
    const isFailing = scheduler.nowMs() < failsUntilMs;
    // A failing receiver may have processed the message.
    if (!isFailing || random() < 0.3) received.add(id);
    return isFailing
      ? { outcome: 'unavailable', response: '503' }
      : { outcome: 'delivered', response: '200' };
  };
  const send = (actor: Actor, id: string): Promise<AttemptResult> => {
    if (sending.get(id)?.isAlive) sentAtOnce.push(id);
    sending.set(id, actor);
    return new Promise((resolve) => {
      scheduler.inModel(integer(random, 1, 500), () => {
        const result = deliver(id);
        trace(() => `${actor.name} sends ${id}: ${result.outcome}`);
        scheduler.inActor(actor, integer(random, 1, 500), () => {
          if (sending.get(id) === actor) sending.delete(id);
          resolve(result);
        });
      });
    });
  };
  return {
    received,
    sentAtOnce,
    channel: (actor) => ({ name: 'webhook', slots: 2, send: ({ id }) => send(actor, id) }),
    failFor: (ms) => {
      failsUntilMs = scheduler.nowMs() + ms;
    },
  };
}

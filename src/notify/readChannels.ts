/** How each configured channel does, for people. */
import type { Queryable } from '../platform/db/database.ts';
import type { ChannelTarget } from './domain/channel.ts';
import {
  type FailingChannel,
  type LastAttempt,
  readFailingChannels,
  readLastAttempts,
} from './store/channelStates.ts';
import { measureChannels } from './store/gauges.ts';

export interface ChannelState extends ChannelTarget {
  /** Undefined if it works, or has sent nothing yet. */
  readonly failing: FailingChannel | undefined;
  /** Messages that it has not accepted yet. */
  readonly due: number;
  readonly oldestDueSeconds: number;
  /** Newest first. */
  readonly attempts: readonly LastAttempt[];
}

const SHOWN_ATTEMPTS = 5;

export async function readChannels(
  db: Queryable,
  targets: readonly ChannelTarget[],
): Promise<readonly ChannelState[]> {
  const names = targets.map(({ channel }) => channel);
  const [failing, measured, attempts] = await Promise.all([
    readFailingChannels(db),
    measureChannels(db, names),
    readLastAttempts(db, SHOWN_ATTEMPTS),
  ]);
  return targets.map((target): ChannelState => {
    const waiting = measured.find(({ channel }) => channel === target.channel);
    return {
      ...target,
      failing: failing.find(({ channel }) => channel === target.channel),
      due: waiting?.due ?? 0,
      oldestDueSeconds: waiting?.oldestAgeSeconds ?? 0,
      attempts: attempts.filter(({ channel }) => channel === target.channel),
    };
  });
}

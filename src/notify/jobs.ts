/**
 * The queue `alerts`. A job says that a channel has something due; which messages, in what order and
 * for the how-manieth time stands in the database. So a job that is lost costs a minute at most, one
 * that comes twice nothing, and no job can carry what a message says.
 */
import type { NewJob, Producer } from '../platform/queue/index.ts';
import type { ChannelName } from './domain/message.ts';

export const ALERTS_QUEUE = 'alerts';

export interface AlertsJob {
  readonly channel: ChannelName;
}

export interface Wake {
  readonly channel: ChannelName;
  /** How long from now; at once when left out. */
  readonly delayMs?: number;
}

/** Says that channels have something due. Throws when the queue is away: the sweep says it later. */
export async function announceDue(
  producer: Pick<Producer<AlertsJob>, 'add'>,
  wakes: readonly Wake[],
): Promise<void> {
  const jobs = wakes.map(
    ({ channel, delayMs = 0 }): NewJob<AlertsJob> => ({
      name: channel,
      data: { channel },
      attempts: 1,
      backoffMs: 0,
      delayMs,
    }),
  );
  await producer.add(jobs);
}

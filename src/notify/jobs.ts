/**
 * The queue `alerts`. A job wakes a channel that has due messages; the messages, their order and their
 * attempts are in the database. So a lost job costs a minute at most, a duplicate job costs nothing,
 * and no job contains the text of a message.
 */
import type { NewJob, Producer } from '../platform/queue/index.ts';
import { QUEUES } from '../platform/queue/names.ts';
import type { ChannelName } from './domain/message.ts';

export const ALERTS_QUEUE = QUEUES.alerts;

export interface AlertsJob {
  readonly channel: ChannelName;
}

export interface WakeUp {
  readonly channel: ChannelName;
  /** At once if left out. */
  readonly delayMs?: number;
}

/**
 * What a delayed wake-up waits in addition. The database's clock is measured again and again, and a busy
 * machine's first measurement can be wrong by hundreds of milliseconds. A wake-up that arrives before
 * its message is due, by the corrected clock, finds nothing, and the message waits for the sweep.
 */
export const CLOCK_CORRECTION_MS = 1_000;

/** Wakes channels that have due messages. Throws when the queue is unavailable. */
export async function enqueueWakeUps(
  producer: Pick<Producer<AlertsJob>, 'add'>,
  wakeUps: readonly WakeUp[],
): Promise<void> {
  const jobs = wakeUps.map(
    ({ channel, delayMs = 0 }): NewJob<AlertsJob> => ({
      name: channel,
      data: { channel },
      attempts: 1,
      backoffMs: 0,
      delayMs: delayMs === 0 ? 0 : delayMs + CLOCK_CORRECTION_MS,
    }),
  );
  await producer.add(jobs);
}

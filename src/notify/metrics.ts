/** Counts delivery attempts for Prometheus. */
import type { Metrics } from '../platform/metrics.ts';
import type { Channel } from './channels/channel.ts';
import { CHANNELS } from './domain/message.ts';
import type { AttemptResult } from './domain/retry.ts';

const OUTCOMES = [
  'delivered',
  'unavailable',
  'refused',
  'gone',
] as const satisfies readonly AttemptResult['outcome'][];

/** The same channels, counting each attempt. A message that a channel cannot send counts as refused. */
export function countDeliveries(
  channels: readonly Channel[],
  metrics: Metrics,
): readonly Channel[] {
  const count = metrics.counter(
    'tallyhook_deliveries_total',
    'Attempts to deliver a message, by channel and outcome',
    { channel: CHANNELS, outcome: OUTCOMES },
  );
  return channels.map((channel) => ({
    ...channel,
    send: async (message) => {
      try {
        const result = await channel.send(message);
        count({ channel: channel.name, outcome: result.outcome });
        return result;
      } catch (error) {
        count({ channel: channel.name, outcome: 'refused' });
        throw error;
      }
    },
  }));
}

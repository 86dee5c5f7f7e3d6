/** Counts what channels answer, for Prometheus. */
import type { Metrics } from '../platform/metrics.ts';
import type { Channel } from './channels/channel.ts';
import { CHANNELS } from './domain/message.ts';
import type { Attempted } from './domain/retry.ts';

const OUTCOMES = [
  'delivered',
  'away',
  'refused',
  'gone',
] as const satisfies readonly Attempted['outcome'][];

/** The same channels, with every attempt counted; one that throws is refused by its own form. */
export function countDeliveries(
  channels: readonly Channel[],
  metrics: Metrics,
): readonly Channel[] {
  const count = metrics.counter(
    'tallyhook_deliveries_total',
    'Attempts to deliver a message, by channel and by what came of it',
    { channel: CHANNELS, outcome: OUTCOMES },
  );
  return channels.map((channel) => ({
    ...channel,
    send: async (message) => {
      try {
        const attempted = await channel.send(message);
        count({ channel: channel.name, outcome: attempted.outcome });
        return attempted;
      } catch (error) {
        count({ channel: channel.name, outcome: 'refused' });
        throw error;
      }
    },
  }));
}

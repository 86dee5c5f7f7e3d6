/** Gauges of notification channels for Prometheus. */
import type { Queryable } from '../platform/db/database.ts';
import type { Source } from '../platform/sources.ts';
import { CHANNELS } from './domain/message.ts';
import { measureChannels } from './store/gauges.ts';

const DUE = 'tallyhook_messages_due';
const MESSAGE_AGE = 'tallyhook_messages_oldest_age_seconds';
const FAILING = 'tallyhook_channel_failing_seconds';

export function channelsSource(db: Queryable): Source {
  const labels = ['channel'];
  return {
    name: 'channels',
    gauges: {
      [DUE]: { help: 'Messages that a channel has not accepted yet', labels },
      [MESSAGE_AGE]: { help: 'Age of the oldest of these messages; 0 if there is none', labels },
      [FAILING]: {
        help: 'Time since a channel began to fail without a success; 0 if it works',
        labels,
      },
    },
    read: async () => {
      const measured = await measureChannels(db, CHANNELS);
      return measured.flatMap(({ channel, due, oldestAgeSeconds, failingSeconds }) => [
        { gauge: DUE, labels: { channel }, value: due },
        { gauge: MESSAGE_AGE, labels: { channel }, value: oldestAgeSeconds },
        { gauge: FAILING, labels: { channel }, value: failingSeconds },
      ]);
    },
  };
}

/** What stands among the alerts, for Prometheus. */
import type { Queryable } from '../platform/db/database.ts';
import type { Measurement, Source } from '../platform/sources.ts';
import { CHANNELS } from './domain/message.ts';
import {
  type AlertCount,
  measureAlerts,
  measureChannels,
  measureOutbox,
} from './store/measuring.ts';

const OPEN = 'tallyhook_alerts_open';
const NEXT_DEADLINE = 'tallyhook_alert_next_deadline_timestamp_seconds';
const WAITING = 'tallyhook_alert_outbox_rows';
const OLDEST_AGE = 'tallyhook_alert_outbox_oldest_age_seconds';

export function alertSources(db: Queryable): readonly Source[] {
  return [alertsSource(db), channelsSource(db)];
}

function alertsSource(db: Queryable): Source {
  return {
    name: 'alerts',
    gauges: {
      [OPEN]: {
        help: 'Alerts that are not resolved; of acknowledged ones somebody takes care',
        labels: ['rule', 'severity', 'state'],
      },
      [NEXT_DEADLINE]: {
        help: 'The next deadline that an alert names and that lies ahead',
        labels: ['rule', 'severity', 'state'],
      },
      [WAITING]: { help: 'What is to be said of alerts and was not handed to the channels yet' },
      [OLDEST_AGE]: {
        help: 'How long the oldest of it has waited; 0 when nothing waits',
      },
    },
    read: async () => {
      const alerts = await measureAlerts(db);
      const outbox = await measureOutbox(db);
      return [
        ...alerts.flatMap(toMeasurements),
        { gauge: WAITING, value: outbox.waiting },
        { gauge: OLDEST_AGE, value: outbox.oldestAgeSeconds },
      ];
    },
  };
}

const DUE = 'tallyhook_messages_due';
const MESSAGE_AGE = 'tallyhook_messages_oldest_age_seconds';
const FAILING = 'tallyhook_channel_failing_seconds';

function channelsSource(db: Queryable): Source {
  const labels = ['channel'];
  return {
    name: 'channels',
    gauges: {
      [DUE]: { help: 'Messages that a channel did not take yet', labels },
      [MESSAGE_AGE]: { help: 'How long the oldest of them has waited; 0 when none does', labels },
      [FAILING]: {
        help: 'How long a channel has failed without taking anything; 0 when all is well',
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

function toMeasurements(count: AlertCount): readonly Measurement[] {
  const { rule, severity, state, nextDeadlineSeconds } = count;
  const labels = { rule, severity, state };
  const open = { gauge: OPEN, labels, value: count.alerts };
  if (nextDeadlineSeconds === null) return [open];
  return [open, { gauge: NEXT_DEADLINE, labels, value: nextDeadlineSeconds }];
}

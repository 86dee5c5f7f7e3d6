/** Gauges of alerts for Prometheus. */
import type { Queryable } from '../platform/db/database.ts';
import type { Measurement, Source } from '../platform/sources.ts';
import { type AlertCount, measureAlerts, measureOutbox } from './store/gauges.ts';

const OPEN = 'tallyhook_alerts_open';
const NEXT_DEADLINE = 'tallyhook_alert_next_deadline_timestamp_seconds';
const WAITING = 'tallyhook_alert_outbox_rows';
const OLDEST_AGE = 'tallyhook_alert_outbox_oldest_age_seconds';

export function alertsSource(db: Queryable): Source {
  return {
    name: 'alerts',
    gauges: {
      [OPEN]: {
        help: 'Alerts that are not resolved, by state: open or acknowledged',
        labels: ['rule', 'severity', 'state'],
      },
      [NEXT_DEADLINE]: {
        help: 'The next deadline in the future among the alerts that are not resolved',
        labels: ['rule', 'severity', 'state'],
      },
      [WAITING]: { help: 'Notifications of alerts that are not yet turned into messages' },
      [OLDEST_AGE]: { help: 'Age of the oldest of these notifications; 0 if there is none' },
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

function toMeasurements(count: AlertCount): readonly Measurement[] {
  const { rule, severity, state, nextDeadlineSeconds } = count;
  const labels = { rule, severity, state };
  const open = { gauge: OPEN, labels, value: count.alerts };
  if (nextDeadlineSeconds === null) return [open];
  return [open, { gauge: NEXT_DEADLINE, labels, value: nextDeadlineSeconds }];
}

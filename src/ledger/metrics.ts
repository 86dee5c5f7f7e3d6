import type { Metrics } from '../platform/metrics.ts';
import type { EventReading } from './domain/event.ts';

export interface LedgerMetrics {
  event(outcome: EventReading['outcome'] | 'dead'): void;
  /** From receipt to the commit that applied it. */
  secondsToApply(seconds: number): void;
}

export function createLedgerMetrics(metrics: Metrics): LedgerMetrics {
  const event = metrics.counter(
    'tallyhook_events_total',
    'Events by what became of them',
    'outcome',
  );
  return {
    event: (outcome) => event(outcome),
    secondsToApply: metrics.histogram(
      'tallyhook_event_seconds_to_apply',
      'Seconds from receipt to application',
      [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60],
    ),
  };
}

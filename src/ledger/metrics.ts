import type { Metrics } from '../platform/metrics.ts';
import type { EventReading } from './domain/event.ts';

type EventOutcome = EventReading['outcome'] | 'dead';

export interface LedgerMetrics {
  event(outcome: EventOutcome): void;
  /** Time from receipt of an event to the commit that applied it. */
  secondsToApply(seconds: number): void;
}

const OUTCOMES = [
  'snapshot',
  'moneyless',
  'ignored',
  'label_conflict',
  'foreign_merchant',
  'no_envelope',
  'unreadable_money',
  'dead',
] as const satisfies readonly EventOutcome[];

export function createLedgerMetrics(metrics: Metrics): LedgerMetrics {
  const event = metrics.counter('tallyhook_events_total', 'Events by outcome', {
    outcome: OUTCOMES,
  });
  const apply = metrics.histogram({
    name: 'tallyhook_event_apply_seconds',
    help: 'Seconds from receipt of an event to the commit that applied it',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 600],
    values: {},
  });
  return {
    event: (outcome) => event({ outcome }),
    secondsToApply: (seconds) => apply(seconds, {}),
  };
}

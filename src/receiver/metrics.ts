import type { Metrics } from '../platform/metrics.ts';
import type { WebhookOutcome } from './reply.ts';

export interface ReceiverMetrics {
  outcome(outcome: WebhookOutcome['outcome']): void;
  /** Which secret verified a delivery, counted from 1, so that an operator sees when one can go. */
  secretUsed(secretIndex: number): void;
  batchSize(events: number): void;
}

export function createReceiverMetrics(metrics: Metrics): ReceiverMetrics {
  const outcome = metrics.counter('tallyhook_webhooks_total', 'Deliveries by outcome', 'outcome');
  const secret = metrics.counter(
    'tallyhook_webhook_secret_used_total',
    'Verified deliveries by the place of the secret in WEBHOOK_SECRETS',
    'secret',
  );
  const batchSize = metrics.histogram(
    'tallyhook_intake_batch_events',
    'Events written by one commit',
    [1, 2, 5, 10, 20, 50, 100, 200, 500],
  );
  return {
    outcome: (name) => outcome(name),
    secretUsed: (secretIndex) => secret(String(secretIndex + 1)),
    batchSize,
  };
}

import type { Metrics } from '../platform/metrics.ts';
import { CONNECTION_CLOSED_REASONS } from './guard.ts';
import { WEBHOOK_OUTCOMES, type WebhookOutcome } from './reply.ts';

export interface ReceiverMetrics {
  outcome(outcome: WebhookOutcome['outcome']): void;
  /** Time from the last byte of a delivery to its reply, without the delay of refusals. */
  replied(httpStatus: number, seconds: number): void;
  /** The index of the secret that verified a delivery; shows when an old secret can be removed. */
  secretUsed(secretIndex: number): void;
  batchSize(events: number): void;
  /** A connection without a verified delivery was closed. */
  connectionClosed(reason: (typeof CONNECTION_CLOSED_REASONS)[number]): void;
}

/** @param secrets the number of configured secrets */
export function createReceiverMetrics(metrics: Metrics, secrets: number): ReceiverMetrics {
  const outcome = metrics.counter('tallyhook_webhooks_total', 'Deliveries by outcome', {
    outcome: WEBHOOK_OUTCOMES,
  });
  const secret = metrics.counter(
    'tallyhook_webhook_secret_used_total',
    'Verified deliveries by position of the secret in WEBHOOK_SECRETS, starting at 1',
    { secret: Array.from({ length: secrets }, (_, index) => String(index + 1)) },
  );
  const reply = metrics.histogram({
    name: 'tallyhook_webhook_reply_seconds',
    help: 'Seconds from the last byte of a delivery to its reply, by class of HTTP status',
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    values: { code: ['2xx', '4xx', '5xx'] },
  });
  const batchSize = metrics.histogram({
    name: 'tallyhook_intake_batch_events',
    help: 'Events per commit',
    buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500],
    values: {},
  });
  const closed = metrics.counter(
    'tallyhook_receiver_connections_closed_total',
    'Connections without a verified delivery that were closed because of a limit',
    { reason: CONNECTION_CLOSED_REASONS },
  );
  return {
    outcome: (name) => outcome({ outcome: name }),
    replied: (httpStatus, seconds) => reply(seconds, { code: codeOf(httpStatus) }),
    secretUsed: (secretIndex) => secret({ secret: String(secretIndex + 1) }),
    batchSize: (events) => batchSize(events, {}),
    connectionClosed: (reason) => closed({ reason }),
  };
}

function codeOf(httpStatus: number): '2xx' | '4xx' | '5xx' {
  if (httpStatus < 300) return '2xx';
  return httpStatus < 500 ? '4xx' : '5xx';
}

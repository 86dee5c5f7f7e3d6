/** The role `events`: applies persisted events to the ledger. */
import { createEventApplier } from '../ledger/inbox/applyEvents.ts';
import { createEventsHandler, EVENTS_QUEUE, type EventsJob } from '../ledger/inbox/jobs.ts';
import { createLedgerMetrics } from '../ledger/metrics.ts';
import { merchantIdOf } from './settings.ts';
import type { PoolOptions, Shared } from './shared.ts';

const EVENTS_POOL: PoolOptions = { maxConnections: 4, responseTimeoutMs: 60_000, plans: 'by_key' };

export function startEvents({
  clock,
  config,
  events,
  gate,
  log,
  metrics,
  openPool,
  onClose,
  queues,
}: Shared): void {
  const db = openPool('events', EVENTS_POOL);
  const applier = createEventApplier({
    db,
    merchantId: merchantIdOf(config),
    clock,
    metrics: createLedgerMetrics(metrics),
  });
  const handle = createEventsHandler({
    db,
    applier,
    producer: events,
    maxAttempts: config.eventMaxAttempts,
    log,
  });
  gate.whenOpen(() => {
    const consumer = queues.consumer<EventsJob>(EVENTS_QUEUE, 1, handle);
    onClose(() => consumer.close());
  });
}

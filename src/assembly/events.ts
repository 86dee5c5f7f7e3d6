/** The role `events`: applies persisted events to the ledger. */
import { createEventApplier } from '../ledger/inbox/applyEvents.ts';
import { createEventsHandler, EVENTS_QUEUE, type EventsJob } from '../ledger/inbox/jobs.ts';
import { createLedgerMetrics } from '../ledger/metrics.ts';
import { closeExpectedProfiles } from '../ledger/recordProfiles.ts';
import { toError } from '../platform/errors.ts';
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
  const account = { merchantId: merchantIdOf(config), profileId: config.profileId };
  const applier = createEventApplier({
    db,
    account,
    clock,
    metrics: createLedgerMetrics(metrics),
    log,
  });
  const closing = new AbortController();
  const handle = createEventsHandler({
    db,
    applier,
    producer: events,
    maxAttempts: config.eventMaxAttempts,
    log,
    closing: closing.signal,
  });
  gate.whenOpen(() => {
    const closed = db
      .transaction((tx) => closeExpectedProfiles(tx, account))
      .catch((error: unknown) => log.warn({ error: toError(error) }, 'profiles.not_closed'));
    onClose(() => closed);
    const consumer = queues.consumer<EventsJob>(EVENTS_QUEUE, 1, handle);
    onClose(async () => {
      closing.abort();
      await consumer.close();
    });
  });
}

/** The role `reconcile`: compares the ledger with the payment service and repairs differences. */
import { createReconcileHandler, RECONCILE_QUEUE, type ReconcileJob } from '../reconcile/jobs.ts';
import { isPaused } from '../reconcile/store/pauses.ts';
import { readPausedRuns } from '../reconcile/store/runs.ts';
import { accountOf, clientOf, reconcileOf } from './service.ts';
import type { PoolOptions, Shared } from './shared.ts';

const RECONCILE_POOL: PoolOptions = { maxConnections: 6, responseTimeoutMs: 60_000, plans: 'any' };

export function startReconcile({
  clock,
  config,
  gate,
  log,
  metrics,
  openPool,
  onClose,
  queues,
}: Shared): void {
  const db = openPool('reconcile', RECONCILE_POOL);
  const client = clientOf(config, { db, clock });
  if (!client) {
    log.warn(
      'reconcile.off: no key of the payment service is set, so Tallyhook does not find changes without ' +
        'a webhook. Set PAYMENTS_BASE_URL and PAYMENTS_API_KEY.',
    );
    return;
  }
  const { reconcile, refresh } = reconcileOf(client, {
    db,
    log,
    metrics,
    clock,
    account: accountOf(config),
  });
  gate.whenOpen(() => {
    const closing = new AbortController();
    const refreshing = refresh.loop(closing.signal);
    const handle = createReconcileHandler({
      reconcile,
      isPaused: () => isPaused(db),
      readPausedRuns: () => readPausedRuns(db),
      signal: closing.signal,
    });
    const consumer = queues.consumer<ReconcileJob>(RECONCILE_QUEUE, 1, handle);
    onClose(async () => {
      closing.abort();
      await consumer.close();
      await refreshing;
    });
  });
}

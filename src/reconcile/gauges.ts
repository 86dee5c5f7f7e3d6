/** Gauges of reconciliation, read from the database for Prometheus. */
import { measureDueChecks } from '../ledger/store/checks.ts';
import type { Queryable } from '../platform/db/database.ts';
import { measurementOf, type Source } from '../platform/sources.ts';
import { readBudget } from './store/budget.ts';
import { measureWatermarks } from './store/gauges.ts';
import { isPaused } from './store/pauses.ts';

export function reconcileSources(db: Queryable): readonly Source[] {
  return [reconcileSource(db), rateSource(db)];
}

const WATERMARK = 'tallyhook_reconcile_watermark_timestamp_seconds';

function reconcileSource(db: Queryable): Source {
  return {
    name: 'reconcile',
    gauges: {
      [WATERMARK]: {
        help: 'Everything created at the service before this time was read; absent for a list that was never read',
        labels: ['stream'],
      },
      tallyhook_reconcile_due_checks: {
        help: 'Payments, refunds, disputes and payouts that are due for a check',
      },
      tallyhook_reconcile_paused: {
        help: 'Whether an operator paused reconciliation',
      },
    },
    read: async () => {
      const watermarks = await measureWatermarks(db);
      return [
        ...watermarks.map(({ stream, watermarkSeconds }) => ({
          gauge: WATERMARK,
          labels: { stream },
          value: watermarkSeconds,
        })),
        { gauge: 'tallyhook_reconcile_due_checks', value: await measureDueChecks(db) },
        { gauge: 'tallyhook_reconcile_paused', value: (await isPaused(db)) ? 1 : 0 },
      ];
    },
  };
}

function rateSource(db: Queryable): Source {
  return {
    name: 'rate_budget',
    gauges: {
      tallyhook_rate_limit_requests: {
        help: 'Requests that the service allows in a window; absent until it has sent its limit',
      },
      tallyhook_rate_remaining_requests: {
        help: 'Requests left in this window, for all processes together; absent until the service has sent its limit',
      },
    },
    read: async () => {
      const { limit, remaining } = await readBudget(db);
      return [
        ...measurementOf('tallyhook_rate_limit_requests', limit),
        ...measurementOf('tallyhook_rate_remaining_requests', remaining),
      ];
    },
  };
}

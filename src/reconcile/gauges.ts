/** Gauges of reconciliation and of authorizations, read from the database for Prometheus. */
import { CAPTURABLE_STATUSES } from '../contract/statuses.ts';
import type { Queryable } from '../platform/db/database.ts';
import type { Measurement, Source } from '../platform/sources.ts';
import { isPaused } from './pause.ts';
import { readBudget } from './store/budget.ts';
import { measureDueChecks, measureHeld, measureWatermarks } from './store/gauges.ts';

export function reconcileSources(db: Queryable): readonly Source[] {
  return [reconcileSource(db), rateSource(db), authorizationsSource(db)];
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
        ...known('tallyhook_rate_limit_requests', limit),
        ...known('tallyhook_rate_remaining_requests', remaining),
      ];
    },
  };
}

const OPEN = 'tallyhook_authorizations_open';
const CAPTURABLE = 'tallyhook_authorizations_capturable_minor';
const NEXT_DEADLINE = 'tallyhook_authorization_next_deadline_timestamp_seconds';

function authorizationsSource(db: Queryable): Source {
  return {
    name: 'authorizations',
    gauges: {
      [OPEN]: {
        help: 'Watched authorizations that can still be captured',
        labels: ['currency'],
      },
      [CAPTURABLE]: {
        help: 'Amount of these authorizations that can still be captured, in minor units of the currency',
        labels: ['currency'],
      },
      [NEXT_DEADLINE]: {
        help: 'The next deadline of an open authorization; absent when there is none ahead',
        labels: ['currency'],
      },
    },
    read: async () => {
      const held = await measureHeld(db, [...CAPTURABLE_STATUSES]);
      return held.flatMap(
        ({ currency, authorizations, capturableMinor, nextDeadlineSeconds }): Measurement[] => [
          { gauge: OPEN, labels: { currency }, value: authorizations },
          { gauge: CAPTURABLE, labels: { currency }, value: capturableMinor },
          ...known(NEXT_DEADLINE, nextDeadlineSeconds, { currency }),
        ],
      );
    },
  };
}

/** One measurement of a known value, none of an unknown one. */
function known(
  gauge: string,
  value: number | null,
  labels: Readonly<Record<string, string>> = {},
): readonly Measurement[] {
  return value === null ? [] : [{ gauge, labels, value }];
}

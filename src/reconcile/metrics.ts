import type { Metrics } from '../platform/metrics.ts';
import type { Verdict } from './domain/verdict.ts';
import { STREAMS, type Stream } from './streams.ts';

export interface ReconcileMetrics {
  /** A change that no webhook reported in time. */
  missed(stream: Stream): void;
  /** From the change at the service to the commit that repaired the ledger. */
  secondsToConverge(seconds: number): void;
  run(outcome: Exclude<Verdict, 'stopped' | 'unfinished'>): void;
}

const MINUTE = 60;
const HOUR = 60 * MINUTE;

export function createReconcileMetrics(metrics: Metrics): ReconcileMetrics {
  const missed = metrics.counter(
    'tallyhook_missed_webhooks_total',
    'Changes at the service that no webhook reported in time',
    { stream: STREAMS },
  );
  const run = metrics.counter('tallyhook_reconcile_runs_total', 'Reconciliation runs by outcome', {
    outcome: ['equal', 'different', 'empty', 'failed'],
  });
  const converge = metrics.histogram({
    name: 'tallyhook_reconcile_converge_seconds',
    help: 'Seconds from a change at the service to its repair in the ledger, for changes with a missed webhook',
    buckets: [MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 6 * HOUR, 24 * HOUR, 7 * 24 * HOUR],
    values: {},
  });
  return {
    missed: (stream) => missed({ stream }),
    secondsToConverge: (seconds) => converge(seconds, {}),
    run: (outcome) => run({ outcome }),
  };
}

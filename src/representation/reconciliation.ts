/** A reconciliation, one run over one list, as JSON. */
import { verdictOf } from '../reconcile/domain/verdict.ts';
import type { RunRow } from '../reconcile/store/runs.ts';
import { isoOrNull } from './time.ts';

export function reconciliationJson(row: RunRow) {
  return {
    number: row.id,
    stream: row.stream,
    mode: row.mode,
    cause: row.cause,
    is_dry_run: row.isDryRun,
    state: row.state,
    verdict: verdictOf(row),
    from: row.fromAt.toISOString(),
    to: row.toAt.toISOString(),
    checkpoint: row.positionAt.toISOString(),
    started_at: row.startedAt.toISOString(),
    finished_at: isoOrNull(row.finishedAt),
    windows: row.windows,
    requests: row.requests,
    rows_compared: row.rowsCompared,
    rows_counted: row.rowsCounted,
    found: row.found,
    repaired: row.repaired,
    remaining: row.found - row.repaired,
    missed_webhooks: row.missed,
    failure: row.failure,
    stopped_by: row.stoppedBy,
    differences: row.differences.map((one) => ({ ...one })),
    sums: row.sums,
  };
}

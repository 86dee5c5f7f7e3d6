/** Replays of many events as JSON. */
import type { ReplayRun } from '../ledger/read/store/replayRuns.ts';
import { isoOrNull } from './time.ts';

export function replayJson(run: ReplayRun) {
  return {
    number: run.id,
    filter: { ...run.filter, numbers: run.filter.numbers && [...run.filter.numbers] },
    reason: run.reason,
    requested_by: run.requestedBy,
    requested_at: run.requestedAt.toISOString(),
    planned: run.planned,
    is_planned_complete: run.isPlannedComplete,
    state: run.state,
    replayed: run.replayed,
    refused: run.refused,
    refusals: run.refusals.map(({ number, reason }) => ({ number, reason })),
    stopped_by: run.stoppedBy,
    finished_at: isoOrNull(run.finishedAt),
  };
}

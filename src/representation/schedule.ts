/** A schedule with its latest run as JSON. */
import type { ScheduleState } from '../scheduler/domain/state.ts';
import { isoOrNull } from './time.ts';

export function scheduleJson(state: ScheduleState) {
  const { run, request, durationMs, nextAt } = state;
  return {
    name: state.name,
    does: state.does,
    every: state.every,
    cron: state.cron,
    runs: state.runs,
    last_slot_at: isoOrNull(run?.at ?? null),
    result: state.result,
    error: run?.error ?? null,
    duration_seconds: durationMs === undefined ? null : durationMs / 1000,
    next_slot_at: isoOrNull(nextAt ?? null),
    overdue: state.isOverdue,
    request: request
      ? {
          requested_at: request.requestedAt.toISOString(),
          requested_by: request.requestedBy,
          reason: request.reason,
        }
      : null,
  };
}

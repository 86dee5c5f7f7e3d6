/** A process as JSON. */
import type { ProcessRow } from '../monitor/store/processes.ts';

export const PROCESS_STATES = ['ready', 'not_ready', 'missing'] as const;
export type ProcessState = (typeof PROCESS_STATES)[number];

/** `missing`: it did not stop cleanly, and has sent no report for half a minute. */
export function processStateOf({ isSeen, isReady }: ProcessRow): ProcessState {
  if (!isSeen) return 'missing';
  return isReady ? 'ready' : 'not_ready';
}

export function processJson(row: ProcessRow) {
  return {
    host: row.host,
    pid: row.pid,
    roles: [...row.roles],
    version: row.version,
    state: processStateOf(row),
    failures: [...row.failures],
    started_at: row.startedAt.toISOString(),
    last_seen_at: row.seenAt.toISOString(),
  };
}

/** The queues as JSON. */
import type { QueuesReport } from '../monitor/read/queues.ts';

export function queuesJson({ backend, problem, eventsLastMinute, queues }: QueuesReport) {
  return {
    backend,
    usable: problem === undefined,
    problem: problem ? { reason: problem.reason, remedy: problem.remedy } : null,
    events_received_last_minute: eventsLastMinute,
    queues: queues.map((queue) => ({
      name: queue.name,
      does: queue.does,
      jobs: queue.depth ? { ...queue.depth.jobs } : null,
      oldest_waiting_seconds: queue.oldestWaitingSeconds ?? null,
      error: queue.error ?? null,
      in_database: queue.inDatabase
        ? { due: queue.inDatabase.due, oldest_seconds: queue.inDatabase.oldestAgeSeconds }
        : null,
      failed_jobs: queue.failed.map(({ id, name, attempts, error, failedMs }) => ({
        id,
        name,
        attempts,
        error,
        failed_at: failedMs === undefined ? null : new Date(failedMs).toISOString(),
      })),
    })),
  };
}

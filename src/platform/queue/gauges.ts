/** Queue depth and age, for Prometheus. */
import type { Clock } from '../clock.ts';
import type { Measurement, Source } from '../sources.ts';
import { JOB_STATES, type MeasuredQueue } from './queue.ts';

const JOBS = 'tallyhook_queue_jobs';
const OLDEST_AGE = 'tallyhook_queue_oldest_age_seconds';

/** @param queues each queue, by its name */
export function queueSource(queues: Readonly<Record<string, MeasuredQueue>>, clock: Clock): Source {
  const measure = async (queue: string, { depth }: MeasuredQueue) => {
    const { jobs, oldestWaitingMs } = await depth();
    const ageMs = oldestWaitingMs === undefined ? 0 : clock.nowMs() - oldestWaitingMs;
    return [
      ...JOB_STATES.map(
        (state): Measurement => ({ gauge: JOBS, labels: { queue, state }, value: jobs[state] }),
      ),
      { gauge: OLDEST_AGE, labels: { queue }, value: Math.max(0, ageMs / 1000) },
    ];
  };
  return {
    name: 'queues',
    gauges: {
      [JOBS]: { help: 'Jobs in a queue, by state', labels: ['queue', 'state'] },
      [OLDEST_AGE]: {
        help: 'How long the oldest waiting job has waited; 0 when none waits',
        labels: ['queue'],
      },
    },
    read: async () => {
      const measured = await Promise.all(
        Object.entries(queues).map(([name, queue]) => measure(name, queue)),
      );
      return measured.flat();
    },
  };
}

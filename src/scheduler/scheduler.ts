/**
 * Runs the table of schedules. A run that fails is logged and left to the next one; a run that is
 * still going when its next time comes is not started twice.
 */
import cron from 'node-cron';
import type { Log } from '../platform/log.ts';
import type { Schedule } from './schedules.ts';

export interface Scheduler {
  /** Stops starting runs and waits for those under way. */
  close(): Promise<void>;
}

export function startScheduler(schedules: readonly Schedule[], log: Log): Scheduler {
  const underWay = new Map<string, Promise<void>>();
  const run = (name: string, work: () => Promise<void>): void => {
    if (underWay.has(name)) return;
    const done = work()
      .catch((error: unknown) => log.warn({ error, schedule: name }, 'scheduler.run_failed'))
      .finally(() => underWay.delete(name));
    underWay.set(name, done);
  };
  const tasks = schedules.map(({ name, cron: expression, run: work, atStart }) => {
    run(name, atStart);
    return cron.schedule(expression, () => run(name, work), { name, timezone: 'UTC' });
  });
  return {
    close: async () => {
      for (const task of tasks) await task.destroy();
      await Promise.all(underWay.values());
    },
  };
}

/** What runs when: one table. Times are in UTC. */
import type { Sweep } from '../ledger/sweep.ts';

export interface Schedule {
  readonly name: string;
  /** Five fields of cron. */
  readonly cron: string;
  readonly run: () => Promise<void>;
  /** What to run once when the scheduler starts. */
  readonly atStart: () => Promise<void>;
}

export interface ScheduleParts {
  readonly sweep: Sweep;
  readonly checkOverdue: () => Promise<void>;
}

export function scheduleTable({ sweep, checkOverdue }: ScheduleParts): readonly Schedule[] {
  return [
    { name: 'sweep', cron: '* * * * *', run: sweep.overdue, atStart: sweep.everything },
    { name: 'overdue', cron: '7 * * * *', run: checkOverdue, atStart: checkOverdue },
  ];
}

/** What runs when: one table. Times are in UTC. */
import type { ChangeFeed } from '../ledger/changeFeed.ts';
import type { Sweep } from '../ledger/sweep.ts';

export interface Schedule {
  readonly name: string;
  /** Five fields of cron, or six of which the first are seconds. */
  readonly cron: string;
  readonly run: () => Promise<void>;
  /** What to run once when the scheduler starts. */
  readonly atStart: () => Promise<void>;
}

export interface ScheduledWork {
  readonly sweep: Sweep;
  readonly checkOverdue: () => Promise<void>;
  readonly feed: Pick<ChangeFeed, 'publish'>;
}

export function scheduleTable({ sweep, checkOverdue, feed }: ScheduledWork): readonly Schedule[] {
  return [
    { name: 'sweep', cron: '* * * * *', run: sweep.overdue, atStart: sweep.everything },
    { name: 'overdue', cron: '7 * * * *', run: checkOverdue, atStart: checkOverdue },
    // Reading the feed over HTTP publishes too; this is for readers in SQL, and for nobody reading.
    { name: 'changes', cron: '*/2 * * * * *', run: feed.publish, atStart: feed.publish },
  ];
}

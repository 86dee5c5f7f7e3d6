/** What runs when: one table. Times are in UTC. */
import type { ChangeFeed } from '../ledger/changeFeed.ts';
import type { Sweep } from '../ledger/inbox/sweep.ts';
import type { Errand } from '../reconcile/jobs.ts';

export interface Schedule {
  /** Names the schedule in the database, too: a new name is a new schedule. */
  readonly name: string;
  /** Five fields of cron, or six of which the first are seconds. */
  readonly cron: string;
  /**
   * `once`: each slot is run by one of all schedulers, and a missed one is made up.
   * `everywhere`: each scheduler runs each slot, for work that guards itself and comes round so
   * quickly that taking turns would cost more than the work.
   */
  readonly runs: 'once' | 'everywhere';
  /** `slot`: the instant that it is run for, which may be long past when it was missed. */
  readonly run: (slot: Date) => Promise<void>;
  /** What each scheduler runs once when it starts. */
  readonly atStart?: () => Promise<void>;
}

export interface ScheduledWork {
  readonly sweep: Sweep;
  readonly checkOverdue: () => Promise<void>;
  readonly checkAuthorizations: () => Promise<void>;
  /** Judges whether the system itself works, and alerts where it does not. */
  readonly watchSystem: () => Promise<void>;
  readonly checkDeadlines: () => Promise<void>;
  readonly feed: Pick<ChangeFeed, 'publish'>;
  readonly sweepMessages: () => Promise<void>;
  readonly summary: DailyWork | undefined;
  /** Undefined when no key of the service is set: there is nothing to compare with. */
  readonly reconcile: ((errand: Errand) => Promise<void>) | undefined;
}

export interface DailyWork {
  /** Of the day, in UTC. */
  readonly hour: number;
  readonly run: (slot: Date) => Promise<void>;
}

export function scheduleTable(work: ScheduledWork): readonly Schedule[] {
  const { sweep, feed, reconcile, summary } = work;
  return [
    ...(reconcile === undefined ? [] : reconcileSchedules(reconcile)),
    ...(summary === undefined ? [] : [summarySchedule(summary)]),
    {
      name: 'sweep',
      cron: '* * * * *',
      runs: 'once',
      run: sweep.overdue,
      atStart: sweep.everything,
    },
    { name: 'overdue', cron: '7 * * * *', runs: 'once', run: work.checkOverdue },
    { name: 'authorizations', cron: '* * * * *', runs: 'once', run: work.checkAuthorizations },
    { name: 'watch', cron: '* * * * *', runs: 'once', run: work.watchSystem },
    { name: 'deadlines', cron: '* * * * *', runs: 'once', run: work.checkDeadlines },
    {
      name: 'messages',
      cron: '* * * * *',
      runs: 'everywhere',
      run: work.sweepMessages,
      atStart: work.sweepMessages,
    },
    // Reading the feed over HTTP publishes too; this is for readers in SQL, and for nobody reading.
    { name: 'changes', cron: '*/2 * * * * *', runs: 'everywhere', run: feed.publish },
  ];
}

function summarySchedule({ hour, run }: DailyWork): Schedule {
  return { name: 'summary', cron: `0 ${hour} * * *`, runs: 'once', run };
}

/** Only enqueued here: the role `reconcile` does the work. */
function reconcileSchedules(enqueue: (errand: Errand) => Promise<void>): readonly Schedule[] {
  return [
    { name: 'reconcile_tail', cron: '*/5 * * * *', runs: 'once', run: () => enqueue('tail') },
    { name: 'reconcile_night', cron: '20 2 * * *', runs: 'once', run: () => enqueue('night') },
    { name: 'reconcile_week', cron: '40 3 * * 0', runs: 'once', run: () => enqueue('week') },
  ];
}

/** The table of schedules. Times are in UTC. */
import type { ChangeFeed } from '../ledger/changeFeed.ts';
import type { Sweep } from '../ledger/inbox/sweep.ts';
import { HOUR_MS, MINUTE_MS } from '../platform/time.ts';
import type { ReconcileJobName } from '../reconcile/jobs.ts';

export interface Schedule {
  /** Also its name in the database: a new name is a new schedule. */
  readonly name: string;
  /** Five cron fields, or six with seconds first. */
  readonly cron: string;
  /**
   * `once`: one of all schedulers runs each slot, and the latest missed one is run at startup.
   * `everywhere`: each scheduler runs each slot, for work that is safe to run concurrently and so
   * frequent that claiming its slots would cost more than the work.
   */
  readonly runs: 'once' | 'everywhere';
  /** @param slot the instant that it is run for; long past where it was missed */
  readonly run: (slot: Date) => Promise<void>;
  /** Run once by each scheduler when it starts. */
  readonly atStart?: () => Promise<void>;
}

/** The minute of each hour at which old data is removed. */
const RETENTION_MINUTE = 23;
const RETENTION_CRON = `${RETENTION_MINUTE} * * * *`;

/** When old data is removed next. */
export function nextRetentionAt(nowMs: number): Date {
  const thisHourMs = nowMs - (nowMs % HOUR_MS) + RETENTION_MINUTE * MINUTE_MS;
  return new Date(thisHourMs > nowMs ? thisHourMs : thisHourMs + HOUR_MS);
}

export interface ScheduledWork {
  readonly sweep: Sweep;
  readonly checkOverdue: () => Promise<void>;
  readonly checkAuthorizations: () => Promise<void>;
  /** Checks the system itself, and raises alerts. */
  readonly watchSystem: () => Promise<void>;
  readonly checkDeadlines: () => Promise<void>;
  /** Makes the partitions of bodies for today and the next days. */
  readonly makeBodyDays: () => Promise<void>;
  /** Copies, packs and drops bodies, for less than a minute. */
  readonly moveBodies: () => Promise<void>;
  /** Proves a part of the ledger. */
  readonly proveLedger: () => Promise<void>;
  readonly feed: Pick<ChangeFeed, 'publish'>;
  readonly sweepMessages: () => Promise<void>;
  /** Carries out requests for erasure, for as long as they take. */
  readonly continueErasures: () => Promise<unknown>;
  /** Replays events that people chose by a filter. */
  readonly continueReplays: () => Promise<void>;
  /** Removes old data, for some minutes at most. */
  readonly removeOld: () => Promise<void>;
  readonly summary: DailyWork | undefined;
  /** Undefined when no API key is set: there is nothing to compare with. */
  readonly reconcile: ((name: ReconcileJobName) => Promise<void>) | undefined;
}

export interface DailyWork {
  /** Hour of the day, in UTC. */
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
    // In the hours with the fewest orders; a step ends before the next one begins.
    { name: 'verify', cron: '*/5 1-4 * * *', runs: 'once', run: work.proveLedger },
    { name: 'deadlines', cron: '* * * * *', runs: 'once', run: work.checkDeadlines },
    {
      name: 'body_days',
      cron: '13 * * * *',
      runs: 'once',
      run: work.makeBodyDays,
      atStart: work.makeBodyDays,
    },
    { name: 'bodies', cron: '* * * * *', runs: 'once', run: work.moveBodies },
    {
      name: 'messages',
      cron: '* * * * *',
      runs: 'everywhere',
      run: work.sweepMessages,
      atStart: work.sweepMessages,
    },
    // Claims requests itself: searching a large database takes longer than a slot may.
    {
      name: 'erasures',
      cron: '* * * * *',
      runs: 'everywhere',
      run: async () => void (await work.continueErasures()),
    },
    // Somebody waits for it, and without a run it reads one index.
    { name: 'replays', cron: '*/5 * * * * *', runs: 'everywhere', run: work.continueReplays },
    // A little every hour: a whole day at once would take longer than a slot may.
    { name: 'retention', cron: RETENTION_CRON, runs: 'once', run: work.removeOld },
    // Reading the feed over HTTP publishes, too; this is for readers in SQL, and while nobody reads.
    { name: 'changes', cron: '*/2 * * * * *', runs: 'everywhere', run: feed.publish },
  ];
}

function summarySchedule({ hour, run }: DailyWork): Schedule {
  return { name: 'summary', cron: `0 ${hour} * * *`, runs: 'once', run };
}

/** Enqueued here; the role `reconcile` does the work. */
function reconcileSchedules(
  enqueue: (name: ReconcileJobName) => Promise<void>,
): readonly Schedule[] {
  return [
    { name: 'reconcile_tail', cron: '*/5 * * * *', runs: 'once', run: () => enqueue('tail') },
    { name: 'reconcile_night', cron: '20 2 * * *', runs: 'once', run: () => enqueue('night') },
    { name: 'reconcile_week', cron: '40 3 * * 0', runs: 'once', run: () => enqueue('week') },
  ];
}

/** The table of schedules, with their work. */
import type { ChangeFeed } from '../ledger/changeFeed.ts';
import type { Sweep } from '../ledger/inbox/sweep.ts';
import { HOUR_MS, MINUTE_MS } from '../platform/time.ts';
import type { ReconcileJobName } from '../reconcile/jobs.ts';
import { RETENTION_MINUTE, summaryTiming, TIMETABLE, type Timing } from './domain/timetable.ts';

export interface Schedule extends Pick<Timing, 'cron' | 'runs'> {
  /** Also its name in the database: a new name is a new schedule. */
  readonly name: string;
  /** @param slot the instant that it is run for; long past where it was missed */
  readonly run: (slot: Date) => Promise<void>;
  /** Run once by each scheduler when it starts. */
  readonly atStart?: () => Promise<void>;
}

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
  /** Gives transfers of an earlier version their effective times, for less than a minute. */
  readonly dateTransfers: () => Promise<void>;
  /** Adds transfers to the stored sums, for less than a minute. */
  readonly sumTransfers: () => Promise<void>;
  /** Appends transfers to the chain, for less than a minute. */
  readonly chainTransfers: () => Promise<void>;
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
    { name: 'sweep', ...TIMETABLE.sweep, run: sweep.overdue, atStart: sweep.everything },
    { name: 'overdue', ...TIMETABLE.overdue, run: work.checkOverdue },
    { name: 'authorizations', ...TIMETABLE.authorizations, run: work.checkAuthorizations },
    { name: 'watch', ...TIMETABLE.watch, run: work.watchSystem },
    { name: 'verify', ...TIMETABLE.verify, run: work.proveLedger },
    { name: 'deadlines', ...TIMETABLE.deadlines, run: work.checkDeadlines },
    {
      name: 'body_days',
      ...TIMETABLE.body_days,
      run: work.makeBodyDays,
      atStart: work.makeBodyDays,
    },
    { name: 'bodies', ...TIMETABLE.bodies, run: work.moveBodies },
    { name: 'effective_times', ...TIMETABLE.effective_times, run: work.dateTransfers },
    { name: 'transfer_sums', ...TIMETABLE.transfer_sums, run: work.sumTransfers },
    { name: 'chain', ...TIMETABLE.chain, run: work.chainTransfers },
    {
      name: 'messages',
      ...TIMETABLE.messages,
      run: work.sweepMessages,
      atStart: work.sweepMessages,
    },
    {
      name: 'erasures',
      ...TIMETABLE.erasures,
      run: async () => void (await work.continueErasures()),
    },
    { name: 'replays', ...TIMETABLE.replays, run: work.continueReplays },
    { name: 'retention', ...TIMETABLE.retention, run: work.removeOld },
    { name: 'changes', ...TIMETABLE.changes, run: feed.publish },
  ];
}

function summarySchedule({ hour, run }: DailyWork): Schedule {
  return { name: 'summary', ...summaryTiming(hour), run };
}

/** Enqueued here; the role `reconcile` does the work. */
function reconcileSchedules(
  enqueue: (name: ReconcileJobName) => Promise<void>,
): readonly Schedule[] {
  return [
    { name: 'reconcile_tail', ...TIMETABLE.reconcile_tail, run: () => enqueue('tail') },
    { name: 'reconcile_night', ...TIMETABLE.reconcile_night, run: () => enqueue('night') },
    { name: 'reconcile_week', ...TIMETABLE.reconcile_week, run: () => enqueue('week') },
  ];
}

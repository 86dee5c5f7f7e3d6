/** When each schedule runs, and what it does. Times are in UTC. */

export interface Timing {
  /** Five cron fields, or six with seconds first. */
  readonly cron: string;
  /**
   * `once`: one of all schedulers runs each slot, and the latest missed one is run at startup.
   * `everywhere`: each scheduler runs each slot, for work that is safe to run concurrently and so
   * frequent that claiming its slots would cost more than the work.
   */
  readonly runs: 'once' | 'everywhere';
  /** For people. */
  readonly every: string;
  readonly does: string;
}

/** The minute of each hour at which old data is removed. */
export const RETENTION_MINUTE = 23;

export const TIMETABLE = {
  reconcile_tail: {
    cron: '*/5 * * * *',
    runs: 'once',
    every: '5 minutes',
    does: 'starts the comparison of the newest part of each list with the service',
  },
  reconcile_night: {
    cron: '20 2 * * *',
    runs: 'once',
    every: 'day at 02:20',
    does: 'starts the comparison of the last days with the service',
  },
  reconcile_week: {
    cron: '40 3 * * 0',
    runs: 'once',
    every: 'Sunday at 03:40',
    does: 'starts the comparison of the last weeks with the service',
  },
  sweep: {
    cron: '*/10 * * * * *',
    runs: 'once',
    every: '10 seconds',
    does: 'enqueues pending events that the queue lost',
  },
  overdue: {
    cron: '7 * * * *',
    runs: 'once',
    every: 'hour at :07',
    does: 'finds payments, refunds, disputes and payouts that take too long',
  },
  authorizations: {
    cron: '* * * * *',
    runs: 'once',
    every: 'minute',
    does: 'sends reminders of authorizations, and captures or cancels by policy',
  },
  watch: {
    cron: '* * * * *',
    runs: 'once',
    every: 'minute',
    does: 'checks Tallyhook itself, and raises alerts',
  },
  // In the hours with the fewest orders; a step ends before the next one begins.
  verify: {
    cron: '*/5 1-4 * * *',
    runs: 'once',
    every: '5 minutes from 01:00 to 04:55',
    does: 'proves a part of the ledger',
  },
  deadlines: {
    cron: '* * * * *',
    runs: 'once',
    every: 'minute',
    does: 'sends reminders of deadlines',
  },
  body_days: {
    cron: '13 * * * *',
    runs: 'once',
    every: 'hour at :13',
    does: 'makes the partitions for bodies of the next days',
  },
  bodies: {
    cron: '* * * * *',
    runs: 'once',
    every: 'minute',
    does: 'copies, packs and drops bodies of past days',
  },
  effective_times: {
    cron: '* * * * *',
    runs: 'once',
    every: 'minute',
    does: 'gives transfers of an earlier version their effective times',
  },
  transfer_sums: {
    cron: '* * * * *',
    runs: 'once',
    every: 'minute',
    does: 'adds transfers to the sums of statements and balances',
  },
  // A minute bounds how many small blocks a quiet shop gets.
  chain: {
    cron: '* * * * *',
    runs: 'once',
    every: 'minute',
    does: 'appends transfers to the chain of the journal',
  },
  messages: {
    cron: '* * * * *',
    runs: 'everywhere',
    every: 'minute',
    does: 'gives up messages of removed channels, and makes due what a wrong clock postponed',
  },
  // Claims requests itself: searching a large database takes longer than a slot may.
  erasures: {
    cron: '* * * * *',
    runs: 'everywhere',
    every: 'minute',
    does: 'carries out requests for erasure',
  },
  // Somebody waits for it, and without a run it reads one index.
  replays: {
    cron: '*/5 * * * * *',
    runs: 'everywhere',
    every: '5 seconds',
    does: 'carries out replays of many events',
  },
  // A little every hour: a whole day at once would take longer than a slot may.
  retention: {
    cron: `${RETENTION_MINUTE} * * * *`,
    runs: 'once',
    every: `hour at :${RETENTION_MINUTE}`,
    does: 'removes old data',
  },
  // Reading the feed over HTTP publishes, too; this is for readers in SQL, and while nobody reads.
  changes: {
    cron: '*/2 * * * * *',
    runs: 'everywhere',
    every: '2 seconds',
    does: 'publishes the change feed',
  },
} as const satisfies Readonly<Record<string, Timing>>;

export function summaryTiming(hour: number): Timing {
  return {
    cron: `0 ${hour} * * *`,
    runs: 'once',
    every: `day at ${String(hour).padStart(2, '0')}:00`,
    does: 'sends the summary of the day before',
  };
}

export interface PlannedSchedule extends Timing {
  readonly name: string;
}

/** The schedules of an installation, by its settings. */
export function plannedSchedules({
  isReconciling,
  summaryHour,
}: {
  /** Whether an API key is set. */
  readonly isReconciling: boolean;
  readonly summaryHour: number | undefined;
}): readonly PlannedSchedule[] {
  const always = Object.entries(TIMETABLE)
    .filter(([name]) => isReconciling || !name.startsWith('reconcile_'))
    .map(([name, timing]) => ({ name, ...timing }));
  if (summaryHour === undefined) return always;
  return [...always, { name: 'summary', ...summaryTiming(summaryHour) }];
}

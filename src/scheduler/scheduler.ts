/**
 * Runs the table of schedules.
 *
 * 1. Each slot of a schedule that runs once is run by one of all schedulers that share a database.
 * 2. A slot that nobody ran, because no scheduler or no database was there, is run once when they are
 *    back. Of several that were missed only the last is: nearly all work here asks what is due now,
 *    and would find the same again; what goes by its slot is told which one it is.
 * 3. A slot whose scheduler died is run again once its lease is over.
 * 4. A run that fails is logged and left to the next slot; one that is still going when its next slot
 *    comes is not started twice. An end that could not be written is written before the next slot is
 *    taken.
 * 5. What was taken is run to its end, also where the scheduler is told to stop meanwhile.
 *
 * node-cron fires the slots; it never looks back, so that catchUp does (rule 2). Electing one scheduler
 * as leader lost: it needs an election, and a leader that hangs would stop everything.
 */
import cron, { type Logger } from 'node-cron';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/db/database.ts';
import type { Log } from '../platform/log.ts';
import { lastSlot, type SlotFields } from './domain/slots.ts';
import type { Schedule } from './schedules.ts';
import { finishSlot, takeSlot } from './store/slots.ts';

export interface SchedulerParts {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** How long a run may take before another scheduler takes it for dead; 10 minutes by default. */
  readonly leaseMs?: number;
  /** How often missed slots are looked for; a minute by default. */
  readonly catchUpEveryMs?: number;
}

export interface Scheduler {
  /** Stops starting runs and waits for those under way. */
  close(): Promise<void>;
}

const LEASE_MS = 10 * 60_000;
const CATCH_UP_EVERY_MS = 60_000;

export function startScheduler(schedules: readonly Schedule[], parts: SchedulerParts): Scheduler {
  const { db, clock, log, leaseMs = LEASE_MS, catchUpEveryMs = CATCH_UP_EVERY_MS } = parts;
  const underWay = new Map<string, Promise<void>>();
  let isClosing = false;

  const run = (name: string, work: () => Promise<void>): Promise<void> => {
    if (underWay.has(name) || isClosing) return Promise.resolve();
    const done = work()
      .catch((error: unknown) => log.warn({ error, schedule: name }, 'scheduler.run_failed'))
      .finally(() => underWay.delete(name));
    underWay.set(name, done);
    return done;
  };

  /** Slots whose end could not be written when it came. */
  const unended = new Map<string, Date>();
  const end = async (schedule: string, at: Date): Promise<void> => {
    unended.set(schedule, at);
    await finishSlot(db, { schedule, at });
    unended.delete(schedule);
  };
  /** Takes a slot, unless it is taken, and runs it. */
  const runSlot = ({ name, run: work }: Schedule, at: Date): Promise<void> =>
    run(name, async () => {
      const ended = unended.get(name);
      if (ended) await end(name, ended);
      if (!(await takeSlot(db, { schedule: name, at }, leaseMs))) return;
      try {
        await work(at);
      } finally {
        await end(name, at);
      }
    });

  const catchUp = async ({ schedule, fields }: Readable): Promise<void> => {
    const slotMs = lastSlot(fields, clock.nowMs());
    if (slotMs === undefined) return;
    await runSlot(schedule, new Date(slotMs));
  };

  const readable = schedules.map((schedule) => ({ schedule, fields: fieldsOf(schedule) }));
  const catchUpAll = () =>
    run('catch_up', async () => {
      const once = readable.filter(({ schedule }) => schedule.runs === 'once');
      await Promise.all(once.map(catchUp));
    });
  const start = async (): Promise<void> => {
    await Promise.all(
      schedules.map(({ name, atStart }) => (atStart ? run(name, atStart) : Promise.resolve())),
    );
    await catchUpAll();
  };
  const started = start();

  const tasks = schedules.map((schedule) => {
    const { name, cron: expression, run: work, runs } = schedule;
    const fire = (at: Date): Promise<void> =>
      runs === 'once' ? runSlot(schedule, at) : run(name, () => work(at));
    return cron.schedule(expression, ({ date }) => fire(date), {
      name,
      timezone: 'UTC',
      logger: toCronLogger(log),
    });
  });
  const timer = setInterval(() => void catchUpAll(), catchUpEveryMs);
  return {
    close: async () => {
      isClosing = true;
      clearInterval(timer);
      for (const task of tasks) await task.destroy();
      await started;
      while (underWay.size > 0) await Promise.all(underWay.values());
    },
  };
}

/** A schedule with the fields of its expression. */
interface Readable {
  readonly schedule: Schedule;
  readonly fields: SlotFields;
}

/** @throws TypeError for an expression whose last slot cannot be told (the last day of a month). */
function fieldsOf({ name, cron: expression }: Schedule): SlotFields {
  const { second, minute, hour, dayOfMonth, month, dayOfWeek } = cron.parse(expression);
  const numbers = (values: readonly (number | string)[]): readonly number[] =>
    values.map((value) => {
      if (typeof value === 'number') return value;
      throw new TypeError(`schedule ${name}: ${value} in ${expression} is not a number`);
    });
  return {
    seconds: second,
    minutes: minute,
    hours: hour,
    daysOfMonth: numbers(dayOfMonth),
    months: month,
    daysOfWeek: numbers(dayOfWeek),
  };
}

/** node-cron writes to the console otherwise. */
function toCronLogger(log: Log): Logger {
  return {
    info: (message) => log.info({ message }, 'scheduler.cron'),
    warn: (message) => log.warn({ message }, 'scheduler.cron'),
    error: (message, error) => log.error({ message, error }, 'scheduler.cron'),
    debug: (message) => log.debug({ message }, 'scheduler.cron'),
  };
}

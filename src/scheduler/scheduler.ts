/**
 * Runs the table of schedules.
 *
 * 1. Each slot of a schedule that runs once is run by one of all schedulers that share a database.
 * 2. A slot that nobody ran, because no scheduler or no database was there, is run once when they are
 *    back. Of several that were missed only the last is: nearly all work here asks what is due now,
 *    and would find the same again; what goes by its slot is told which one it is.
 * 3. Whoever runs a slot renews its lease every RENEW_EVERY_MS. A slot whose scheduler died is taken
 *    over LEASE_MS + LOOK_EVERY_MS after its last renewal at most. A run that goes on for LONGEST_RUN_MS
 *    is taken for one that hangs and is no longer renewed.
 * 4. A run that fails is logged and left to the next slot; one that is still going when its next slot
 *    comes is not started twice. An end that could not be written is written before the next slot is
 *    taken.
 * 5. What was taken is run to its end, also where the scheduler is told to stop meanwhile.
 * 6. Slots go by the database's clock. A machine whose clock is wrong, or is set, moves none.
 *
 * node-cron reads the expressions. It does not fire them: its timers go by the machine's clock, and
 * one that is set back silences them for as long. Electing one scheduler as leader lost: it needs an
 * election, and a leader that hangs would stop everything.
 */

import { randomUUID } from 'node:crypto';
import cron from 'node-cron';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/db/database.ts';
import { toError } from '../platform/errors.ts';
import type { Log } from '../platform/log.ts';
import { MINUTE_MS, SECOND_MS } from '../platform/time.ts';
import { lastSlot, type SlotFields } from './domain/slots.ts';
import type { Schedule } from './schedules.ts';
import { finishSlot, type HeldSlot, renewSlot, takeSlot } from './store/slots.ts';

export interface SchedulerParts {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly times?: Partial<SchedulerTimes>;
}

export interface SchedulerTimes {
  /** How long a slot belongs to whoever took it, without a renewal. */
  readonly leaseMs: number;
  readonly renewEveryMs: number;
  readonly longestRunMs: number;
  /** How often slots that were missed, or whose scheduler died, are looked for. */
  readonly lookEveryMs: number;
}

export interface Scheduler {
  /** Stops starting runs and waits for those under way. */
  close(): Promise<void>;
}

/** A takeover within a minute: the lease, and the look after it (rule 3). */
export const TIMES: SchedulerTimes = {
  leaseMs: 30 * SECOND_MS,
  renewEveryMs: 10 * SECOND_MS,
  longestRunMs: 10 * MINUTE_MS,
  lookEveryMs: 15 * SECOND_MS,
};

const TICK_MS = 250;
/** Processes read the database's clock to within a second; a slot that is later was never due. */
const CLOCK_TOLERANCE_MS = MINUTE_MS;

export function startScheduler(schedules: readonly Schedule[], parts: SchedulerParts): Scheduler {
  const { clock, log } = parts;
  const times = { ...TIMES, ...parts.times };
  const underWay = new Map<string, Promise<void>>();
  let isClosing = false;

  const complain = createComplaints(log);
  const run = (name: string, work: () => Promise<void>): Promise<void> => {
    if (underWay.has(name) || isClosing) return Promise.resolve();
    const done = complain(name, work).finally(() => underWay.delete(name));
    underWay.set(name, done);
    return done;
  };
  const slots = createSlots(parts, times);
  const runSlot = ({ name, run: work }: Schedule, slotMs: number): Promise<void> =>
    run(name, () => slots.run(name, new Date(slotMs), work));

  const readable = schedules.map((schedule) => ({ schedule, fields: fieldsOf(schedule) }));
  const catchUpAll = () =>
    run('catch_up', async () => {
      const nowMs = clock.nowMs();
      const once = readable.filter(({ schedule }) => schedule.runs === 'once');
      await Promise.all(
        once.map(async ({ schedule, fields }) => {
          const slotMs = lastSlot(fields, nowMs);
          if (slotMs !== undefined) await runSlot(schedule, slotMs);
        }),
      );
    });
  const start = async (): Promise<void> => {
    await Promise.all(
      schedules.map(({ name, atStart }) => (atStart ? run(name, atStart) : Promise.resolve())),
    );
    await catchUpAll();
  };

  /** The last slot of each schedule that came. It need not be the latest: clocks of databases are set, too. */
  const came = new Map(
    readable.map(({ schedule, fields }) => [schedule.name, lastSlot(fields, clock.nowMs())]),
  );
  const tick = (): void => {
    const nowMs = clock.nowMs();
    for (const { schedule, fields } of readable) {
      const slotMs = lastSlot(fields, nowMs);
      if (slotMs === undefined || slotMs === came.get(schedule.name)) continue;
      came.set(schedule.name, slotMs);
      if (schedule.runs === 'once') void runSlot(schedule, slotMs);
      else void run(schedule.name, () => schedule.run(new Date(slotMs)));
    }
  };
  const started = start();
  const timers = [
    setInterval(tick, TICK_MS),
    setInterval(() => void catchUpAll(), times.lookEveryMs),
  ];
  return {
    close: async () => {
      isClosing = true;
      for (const timer of timers) clearInterval(timer);
      await started;
      while (underWay.size > 0) await Promise.all(underWay.values());
    },
  };
}

/** Does something; a failure is logged once until it changes or is over. Never throws. */
function createComplaints(log: Log): (name: string, work: () => Promise<void>) => Promise<void> {
  const logged = new Map<string, string>();
  return async (name, work) => {
    try {
      await work();
      logged.delete(name);
    } catch (thrown) {
      const error = toError(thrown);
      if (logged.get(name) !== error.message)
        log.warn({ error, schedule: name }, 'scheduler.run_failed');
      logged.set(name, error.message);
    }
  };
}

interface Slots {
  /** Takes a slot, unless it is taken, and runs its work to the end. */
  run(schedule: string, at: Date, work: (at: Date) => Promise<void>): Promise<void>;
}

function createSlots({ db, clock, log }: SchedulerParts, times: SchedulerTimes): Slots {
  /** Slots whose end could not be written when it came (rule 4). */
  const unended = new Map<string, HeldSlot>();
  const end = async (slot: HeldSlot): Promise<void> => {
    unended.set(slot.schedule, slot);
    await finishSlot(db, slot);
    unended.delete(slot.schedule);
  };
  const keepLease = (slot: HeldSlot): NodeJS.Timeout => {
    let left = Math.floor(times.longestRunMs / times.renewEveryMs);
    const timer = setInterval(() => {
      left -= 1;
      if (left < 0) {
        log.error({ schedule: slot.schedule, slot: slot.at }, 'scheduler.run_hangs');
        clearInterval(timer);
        return;
      }
      // The next renewal comes before the lease ends; a database that is away for longer ends it.
      renewSlot(db, slot, times.leaseMs).catch(() => undefined);
    }, times.renewEveryMs);
    return timer;
  };
  return {
    run: async (schedule, at, work) => {
      const before = unended.get(schedule);
      if (before) await end(before);
      const slot = { schedule, at, holder: randomUUID() };
      const latest = new Date(clock.nowMs() + CLOCK_TOLERANCE_MS);
      if (!(await takeSlot(db, slot, { leaseMs: times.leaseMs, latest }))) return;
      const keeping = keepLease(slot);
      try {
        await work(at);
      } finally {
        clearInterval(keeping);
        await end(slot);
      }
    },
  };
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

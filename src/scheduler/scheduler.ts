/**
 * Runs the table of schedules.
 *
 * 1. Each slot of a schedule that runs `once` is run by one of all schedulers that share a database.
 * 2. A slot that was missed, because no scheduler was running or the database was unavailable, is run
 *    later. Of several missed slots only the latest is run: nearly all work here processes what is due
 *    now, and would find nothing new; work that depends on its slot gets it as a parameter.
 * 3. The process that runs a slot renews its lease every `renewEveryMs`. When it dies, another scheduler
 *    claims the slot at most `leaseMs` + `catchUpEveryMs` after the last renewal. A run that takes longer
 *    than `longestRunMs` counts as hanging, and its lease is no longer renewed.
 * 4. A failed run is logged and left to the next slot. A run that is under way when its next slot comes is
 *    not started twice. An end that could not be written is written before the next slot is claimed.
 * 5. A claimed slot is run to its end, also during shutdown.
 * 6. A person may request a run. The time of the request is its slot, so rules 1, 3 and 4 hold for it, and
 *    the slots before it count as run. Its work gets the last slot of the schedule. The request is removed
 *    when a run has ended that began after it.
 * 7. Slots follow the database's clock. Setting the clock of a machine moves none.
 *
 * node-cron parses the expressions. Its timers are not used: they follow the machine's clock, and stop
 * for as long as that is set back. A leader election was rejected: a leader that hangs would stop
 * everything.
 */

import { randomUUID } from 'node:crypto';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/db/database.ts';
import { toError } from '../platform/errors.ts';
import type { Log } from '../platform/log.ts';
import { CLOCK_TOLERANCE_MS, MINUTE_MS, SECOND_MS } from '../platform/time.ts';
import { lastSlot } from './domain/slots.ts';
import { fieldsOf } from './fields.ts';
import type { Schedule } from './schedules.ts';
import { deleteServedRequests, readRequests } from './store/requests.ts';
import { claimSlot, type EndedSlot, finishSlot, type HeldSlot, renewSlot } from './store/slots.ts';

export interface SchedulerParts {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly times?: Partial<SchedulerTimes>;
}

export interface SchedulerTimes {
  /** How long a claim lasts without a renewal. */
  readonly leaseMs: number;
  readonly renewEveryMs: number;
  readonly longestRunMs: number;
  /** How often missed slots, and those of dead schedulers, are claimed. */
  readonly catchUpEveryMs: number;
  /** How often requests of people are read. */
  readonly requestsEveryMs: number;
}

export interface Scheduler {
  /** Stops starting runs and waits for those under way. */
  close(): Promise<void>;
}

/** A slot of a dead scheduler is claimed within a minute: the lease, and catching up after it (rule 3). */
export const TIMES: SchedulerTimes = {
  leaseMs: 30 * SECOND_MS,
  renewEveryMs: 10 * SECOND_MS,
  longestRunMs: 10 * MINUTE_MS,
  catchUpEveryMs: 15 * SECOND_MS,
  requestsEveryMs: 2 * SECOND_MS,
};

const TICK_MS = 250;
const MAX_ERROR_LENGTH = 500;

export function startScheduler(schedules: readonly Schedule[], parts: SchedulerParts): Scheduler {
  const { clock, log } = parts;
  const times = { ...TIMES, ...parts.times };
  const underWay = new Map<string, Promise<void>>();
  let isClosing = false;

  const logFailure = createFailureLog(log);
  const run = (name: string, work: () => Promise<void>): Promise<void> => {
    if (underWay.has(name) || isClosing) return Promise.resolve();
    const done = logFailure(name, work).finally(() => underWay.delete(name));
    underWay.set(name, done);
    return done;
  };
  const slots = createSlots(parts, times);
  const runSlot = ({ name, run: work }: Schedule, slotMs: number): Promise<void> =>
    run(name, () => slots.run(name, new Date(slotMs), work));

  const readable = schedules.map((schedule) => ({ schedule, fields: fieldsOf(schedule) }));
  /** Does not wait for the runs: one that takes long, or hangs, must not keep other slots from being claimed. */
  const catchUpAll = (): void => {
    const nowMs = clock.nowMs();
    for (const { schedule, fields } of readable) {
      const slotMs = schedule.runs === 'once' ? lastSlot(fields, nowMs) : undefined;
      if (slotMs !== undefined) void runSlot(schedule, slotMs);
    }
  };
  const runRequested = () =>
    run('requests', async () => {
      const requests = await readRequests(parts.db);
      if (requests.length === 0) return;
      await deleteServedRequests(parts.db);
      for (const { schedule: wanted, requestedAt } of requests) {
        const found = readable.find(({ schedule }) => schedule.name === wanted);
        if (found?.schedule.runs !== 'once') continue;
        const { name, run: work } = found.schedule;
        const slot = new Date(lastSlot(found.fields, requestedAt.getTime()) ?? requestedAt);
        // Not awaited: a long run would hold up the next request.
        void run(name, () => slots.run(name, requestedAt, () => work(slot)));
      }
    });
  const start = async (): Promise<void> => {
    await Promise.all(
      schedules.map(({ name, atStart }) => (atStart ? run(name, atStart) : Promise.resolve())),
    );
    catchUpAll();
  };

  /** The slot of each schedule at the last tick. It may move back: clocks of databases are set, too. */
  const lastSlots = new Map(
    readable.map(({ schedule, fields }) => [schedule.name, lastSlot(fields, clock.nowMs())]),
  );
  const tick = (): void => {
    const nowMs = clock.nowMs();
    for (const { schedule, fields } of readable) {
      const slotMs = lastSlot(fields, nowMs);
      if (slotMs === undefined || slotMs === lastSlots.get(schedule.name)) continue;
      lastSlots.set(schedule.name, slotMs);
      if (schedule.runs === 'once') void runSlot(schedule, slotMs);
      else void run(schedule.name, () => schedule.run(new Date(slotMs)));
    }
  };
  const started = start();
  const timers = [
    setInterval(tick, TICK_MS),
    setInterval(catchUpAll, times.catchUpEveryMs),
    setInterval(() => void runRequested(), times.requestsEveryMs),
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

/** Runs work and logs its failure, once until it changes or ends. Never throws. */
function createFailureLog(log: Log): (name: string, work: () => Promise<void>) => Promise<void> {
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
  /** Claims a slot, unless it is claimed, and runs its work to the end. */
  run(schedule: string, at: Date, work: (at: Date) => Promise<void>): Promise<void>;
}

function createSlots({ db, clock, log }: SchedulerParts, times: SchedulerTimes): Slots {
  /** Slots with an end that could not be written (rule 4). */
  const unended = new Map<string, EndedSlot>();
  const end = async (slot: EndedSlot): Promise<void> => {
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
      // The next renewal comes before the lease ends, unless the database is unavailable for longer.
      renewSlot(db, slot, times.leaseMs).catch(() => undefined);
    }, times.renewEveryMs);
    return timer;
  };
  return {
    run: async (schedule, at, work) => {
      const before = unended.get(schedule);
      if (before) await end(before);
      const slot = { schedule, at, holder: randomUUID() };
      // A later slot was never due.
      const latest = new Date(clock.nowMs() + CLOCK_TOLERANCE_MS);
      if (!(await claimSlot(db, slot, { leaseMs: times.leaseMs, latest }))) return;
      const keeping = keepLease(slot);
      let error: string | null = null;
      try {
        await work(at);
      } catch (thrown) {
        error = toError(thrown).message.slice(0, MAX_ERROR_LENGTH);
        throw thrown;
      } finally {
        clearInterval(keeping);
        await end({ ...slot, error });
      }
    },
  };
}

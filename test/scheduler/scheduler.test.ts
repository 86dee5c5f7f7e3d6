/** Schedules over a real database, as several processes would run them. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Clock } from '../../src/platform/clock.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { type SchedulerParts, startScheduler } from '../../src/scheduler/scheduler.ts';
import { type Schedule, scheduleTable } from '../../src/scheduler/schedules.ts';
import { takeSlot } from '../../src/scheduler/store/slots.ts';
import { createTestDatabase, silentLog, type TestDatabase } from '../support/database.ts';
import { unique } from '../support/events.ts';
import { waitFor } from '../support/waitFor.ts';

let db: TestDatabase;
const cleanups: (() => unknown)[] = [];
beforeEach(async () => {
  db = await createTestDatabase();
  cleanups.push(() => db.drop());
});
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

/** Starts a scheduler of its own connections' worth; it is closed with the test. */
function start(schedules: readonly Schedule[], parts: Partial<SchedulerParts> = {}) {
  const scheduler = startScheduler(schedules, {
    db,
    clock: systemClock,
    log: silentLog,
    ...parts,
  });
  cleanups.push(() => scheduler.close());
  return scheduler;
}

const EVERY_SECOND = '* * * * * *';
/** Comes up once in a blue moon: only what was missed is ever run. */
const YEARLY = '0 0 1 1 *';

function noting(
  cron: string,
  note: (slot: Date) => void | Promise<void>,
  name = unique('schedule'),
) {
  return { name, cron, runs: 'once', run: async (slot) => note(slot) } as const satisfies Schedule;
}

/** A schedule of which only what was missed is ever run, how often it was, and for which slots. */
function counting() {
  const slots: Date[] = [];
  const schedule = noting(YEARLY, (slot) => {
    slots.push(slot);
  });
  return { schedule, slots, runs: () => slots.length };
}

const at = (instant: string): Clock => ({ nowMs: () => Date.parse(instant) });
const takenSlots = (name: string) =>
  db.query<{ slot: Date; isFinished: boolean }>(
    `select slot, finished_at is not null as "isFinished" from schedule_slots where schedule = $1`,
    [name],
  );

describe('several schedulers', () => {
  test('run each slot once between them (rule 1)', async () => {
    const name = unique('schedule');
    // The table keeps the last slot only; the test needs all that were taken.
    await db.query('create table taken_slots (schedule text not null, slot timestamptz not null)');
    await db.query(`
      create function note_slot() returns trigger language plpgsql as $$
      begin
        insert into taken_slots values (new.schedule, new.slot);
        return null;
      end $$`);
    await db.query(`
      create trigger note_slot after insert or update of slot on schedule_slots
        for each row execute function note_slot()`);
    const runs: Date[] = [];
    const schedule = noting(
      EVERY_SECOND,
      (slot) => {
        runs.push(slot);
      },
      name,
    );
    const schedulers = Array.from({ length: 4 }, () => start([schedule]));
    await waitFor('several slots', () => runs.length >= 5);
    for (const scheduler of schedulers) await scheduler.close();
    const taken = await db.query<{ slot: Date }>(
      'select slot from taken_slots where schedule = $1 order by slot',
      [name],
    );
    // Each run was told its own slot.
    expect(runs.toSorted((a, b) => a.getTime() - b.getTime())).toEqual(
      taken.map(({ slot }) => slot),
    );
    expect(new Set(taken.map(({ slot }) => slot.getTime())).size).toBe(runs.length);
  });

  test('of fifty who ask for a slot at once, one gets it', async () => {
    const slot = { schedule: unique('schedule'), at: new Date('2026-01-01T00:00:00Z') };
    const ask = () => takeSlot(db, slot, 60_000);
    for (let round = 0; round < 3; round += 1) {
      const answers = await Promise.all(Array.from({ length: 50 }, ask));
      expect(answers.filter(Boolean)).toHaveLength(round === 0 ? 1 : 0);
    }
  });

  test('what runs everywhere is not shared out', async () => {
    const runs = [0, 0];
    for (const place of [0, 1]) {
      const count = () => {
        runs[place] = (runs[place] ?? 0) + 1;
      };
      start([{ ...noting(EVERY_SECOND, count), runs: 'everywhere' }]);
    }
    await waitFor('both to run', () => runs.every((count) => count >= 2));
  });
});

describe('a slot that nobody ran', () => {
  test('is run once when a scheduler is back, however many were missed and whoever is back (rule 2)', async () => {
    const { schedule, slots, runs } = counting();
    start([schedule], { clock: at('2024-06-01T00:00:00Z') });
    await waitFor('the first run', () => runs() === 1);
    await waitFor('its end', async () => (await takenSlots(schedule.name))[0]?.isFinished === true);

    // Nothing was missed since.
    start([schedule], { clock: at('2024-12-31T23:59:59Z') });
    // Two slots were missed.
    const back = at('2026-06-01T00:00:00Z');
    start([schedule], { clock: back });
    start([schedule], { clock: back });
    await waitFor('the missed run', () => runs() === 2);
    await waitFor('its end', async () => (await takenSlots(schedule.name))[0]?.isFinished === true);
    expect((await takenSlots(schedule.name))[0]?.slot).toEqual(new Date('2026-01-01T00:00:00Z'));
    await start([schedule], { clock: back }).close();
    expect(slots).toEqual(['2024-01-01', '2026-01-01'].map((day) => new Date(day)));
  });

  test('is found by a scheduler that never stopped, once the database is back', async () => {
    let isAway = true;
    const { schedule, runs } = counting();
    const query: TestDatabase['query'] = (text, values) =>
      isAway ? Promise.reject(new Error('the database is away')) : db.query(text, values);
    start([schedule], { db: { ...db, query }, catchUpEveryMs: 20 });
    isAway = false;
    await waitFor('the run', () => runs() === 1);
  });

  test('is none where the end of the one before could not be written: it is written first (rule 4)', async () => {
    let [isAway, runs] = [false, 0];
    const query: TestDatabase['query'] = (text, values) =>
      isAway ? Promise.reject(new Error('the database is away')) : db.query(text, values);
    const schedule = noting(EVERY_SECOND, () => {
      runs += 1;
      isAway = runs === 1;
    });
    const log = {
      ...silentLog,
      warn: () => {
        isAway = false;
      },
    };
    start([schedule], { db: { ...db, query }, log });
    await waitFor('the next slot, long before the lease ends', () => runs >= 2);
  });

  test('is run to its end where the scheduler was told to stop as it took it (rule 5)', async () => {
    const { schedule, runs } = counting();
    const closed: Promise<void>[] = [];
    const query: TestDatabase['query'] = async (text, values) => {
      const rows = await db.query<never>(text, values);
      if (text.includes('insert into schedule_slots')) closed.push(scheduler.close());
      return rows;
    };
    const scheduler = start([schedule], { db: { ...db, query } });
    await waitFor('the stop', () => closed.length > 0);
    await Promise.all(closed);
    expect(runs()).toBe(1);
    expect(await takenSlots(schedule.name)).toMatchObject([{ isFinished: true }]);
  });

  test('belongs to who took it until the lease ends, then to who comes next (rule 3)', async () => {
    const { schedule, runs } = counting();
    const slot = new Date('2026-01-01T00:00:00Z');
    // Somebody took it and died.
    expect(await takeSlot(db, { schedule: schedule.name, at: slot }, 60_000)).toBe(true);
    const now = at('2026-06-01T00:00:00Z');
    await start([schedule], { clock: now }).close();
    expect(runs()).toBe(0);
    await db.query('update schedule_slots set lease_until = now() - interval $$1 second$$');
    start([schedule], { clock: now });
    await waitFor('the run', () => runs() === 1);
  });
});

describe('a run', () => {
  test('that fails leaves the next slot alone, is not started twice, and is waited for at the end (rule 4)', async () => {
    const runs: string[] = [];
    let release = (): void => undefined;
    const slow = noting(EVERY_SECOND, async () => {
      runs.push('started');
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      runs.push('finished');
    });
    const failing = noting(EVERY_SECOND, () => {
      runs.push('tick');
      throw new Error('it cannot be done');
    });
    const scheduler = start([slow, failing]);
    const ticks = () => runs.filter((run) => run === 'tick').length;
    await waitFor('the run to outlast ticks', () => ticks() >= 3 && runs.includes('started'));
    expect(runs.filter((run) => run === 'started')).toHaveLength(1);
    const closed = scheduler.close().then(() => runs.push('closed'));
    release();
    await closed;
    expect(runs.slice(-2)).toEqual(['finished', 'closed']);
    expect(await takenSlots(slow.name)).toMatchObject([{ isFinished: true }]);
  });
});

test('the table sweeps everything at the start and what is overdue every minute', async () => {
  const runs: string[] = [];
  const note = (what: string) => async () => {
    await Promise.resolve();
    runs.push(what);
  };
  const table = scheduleTable({
    sweep: { overdue: note('overdue'), everything: note('everything') },
    checkOverdue: () => Promise.resolve(),
    watchSystem: () => Promise.resolve(),
    checkAuthorizations: () => Promise.resolve(),
    checkDeadlines: () => Promise.resolve(),
    feed: { publish: () => Promise.resolve() },
    sweepMessages: () => Promise.resolve(),
    summary: undefined,
    reconcile: undefined,
  }).filter(({ name }) => name === 'sweep');
  expect(table.map(({ name, cron }) => [name, cron])).toEqual([['sweep', '* * * * *']]);
  // The same table, run every second.
  start(table.map((schedule) => ({ ...schedule, cron: EVERY_SECOND })));
  await waitFor('two ticks', () => runs.length >= 3);
  expect(runs.slice(0, 3)).toEqual(['everything', 'overdue', 'overdue']);
});

/** Schedules over PostgreSQL, run by several schedulers as by several processes. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Clock } from '../../src/platform/clock.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { createDatabase, type Queryable } from '../../src/platform/db/database.ts';
import { createLog } from '../../src/platform/log.ts';
import { sleep } from '../../src/platform/sleep.ts';
import { type SchedulerParts, startScheduler, TIMES } from '../../src/scheduler/scheduler.ts';
import { type Schedule, scheduleTable } from '../../src/scheduler/schedules.ts';
import {
  deleteServedRequests,
  insertRequest,
  readRequests,
} from '../../src/scheduler/store/requests.ts';
import { claimSlot, finishSlot, readSlotRuns, renewSlot } from '../../src/scheduler/store/slots.ts';
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

/** Starts a scheduler, which is closed after the test. */
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
/** Due once a year: during a test, only a missed slot is run. */
const YEARLY = '0 0 1 1 *';

function noting(
  cron: string,
  note: (slot: Date) => void | Promise<void>,
  name = unique('schedule'),
) {
  return { name, cron, runs: 'once', run: async (slot) => note(slot) } as const satisfies Schedule;
}

/** A yearly schedule, which records its runs. */
function counting() {
  const slots: Date[] = [];
  const schedule = noting(YEARLY, (slot) => {
    slots.push(slot);
  });
  return { schedule, slots, runs: () => slots.length };
}

/** Starts a scheduler, waits until it has run what was missed, and closes it. */
async function catchUp(schedule: Schedule, clock: Clock): Promise<void> {
  const other = counting();
  const scheduler = start([schedule, other.schedule], { clock });
  await waitFor('the missed runs', () => other.runs() === 1);
  await scheduler.close();
}

const LEASE = { leaseMs: TIMES.leaseMs, latest: new Date('2100-01-01T00:00:00Z') };

const at = (instant: string): Clock => ({ nowMs: () => Date.parse(instant) });
/** Like waitFor, by a clock that the test does not set. */
async function waitUntil(condition: () => boolean): Promise<void> {
  const endMs = performance.now() + 120_000;
  while (!condition()) {
    if (performance.now() > endMs) throw new Error('the condition did not become true');
    await sleep(15, new AbortController().signal);
  }
}
const claimedSlots = (name: string) =>
  db.query<{ slot: Date; isFinished: boolean }>(
    `select slot, finished_at is not null as "isFinished" from schedule_slots where schedule = $1`,
    [name],
  );

describe('several schedulers', () => {
  test('run each slot exactly once (rule 1)', async () => {
    const name = unique('schedule');
    // The table keeps only the latest slot; the test needs all that were claimed.
    await db.query(
      'create table claimed_slots (schedule text not null, slot timestamptz not null)',
    );
    await db.query(`
      create function note_slot() returns trigger language plpgsql as $$
      begin
        insert into claimed_slots values (new.schedule, new.slot);
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
    const claimed = await db.query<{ slot: Date }>(
      'select slot from claimed_slots where schedule = $1 order by slot',
      [name],
    );
    // Each run received its own slot.
    expect(runs.toSorted((a, b) => a.getTime() - b.getTime())).toEqual(
      claimed.map(({ slot }) => slot),
    );
    expect(new Set(claimed.map(({ slot }) => slot.getTime())).size).toBe(runs.length);
  });

  test('of fifty concurrent claims of a slot, one succeeds', async () => {
    const slot = { schedule: unique('schedule'), at: new Date('2026-01-01T00:00:00Z') };
    const claim = () => claimSlot(db, { ...slot, holder: unique('holder') }, LEASE);
    for (let round = 0; round < 3; round += 1) {
      const claims = await Promise.all(Array.from({ length: 50 }, claim));
      expect(claims.filter(Boolean)).toHaveLength(round === 0 ? 1 : 0);
    }
  });

  test('of two claims of a slot, the one that started first and waited does not win as well', async () => {
    const schedule = unique('schedule');
    const claim = (on: Queryable, day: number) => {
      const slot = { schedule, at: new Date(Date.UTC(2026, 0, day)), holder: unique('holder') };
      return claimSlot(on, slot, LEASE);
    };
    expect(await claim(db, 1)).toBe(true);
    await db.query('update schedule_slots set finished_at = now() where schedule = $1', [schedule]);
    let earlier: Promise<boolean> | undefined;
    await db.transaction(async (tx) => {
      await tx.query('select from schedule_slots where schedule = $1 for update', [schedule]);
      earlier = claim(db, 2);
      await waitFor('the earlier claim to wait for the row', async () => {
        const rows = await db.query(
          `select from pg_stat_activity
            where datname = current_database() and wait_event_type = 'Lock'`,
        );
        return rows.length === 1;
      });
      expect(await claim(tx, 2)).toBe(true);
    });
    expect(await earlier).toBe(false);
  });

  test('each run the slots of a schedule that runs everywhere', async () => {
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

describe('a missed slot', () => {
  test('is run once when a scheduler starts, and of several only the latest (rule 2)', async () => {
    const { schedule, slots } = counting();
    // Each one is closed: a scheduler with an earlier clock would claim an earlier slot again (rule 6).
    await catchUp(schedule, at('2024-06-01T00:00:00Z'));
    expect(slots).toHaveLength(1);
    expect((await claimedSlots(schedule.name))[0]?.isFinished).toBe(true);

    // Nothing was missed since.
    await catchUp(schedule, at('2024-12-31T23:59:59Z'));
    // Two slots were missed.
    const back = at('2026-06-01T00:00:00Z');
    await Promise.all([catchUp(schedule, back), catchUp(schedule, back)]);
    expect(await claimedSlots(schedule.name)).toEqual([
      { slot: new Date('2026-01-01T00:00:00Z'), isFinished: true },
    ]);
    await catchUp(schedule, back);
    expect(slots).toEqual(['2024-01-01', '2026-01-01'].map((day) => new Date(day)));
  });

  test('is run by a scheduler that never stopped, once the database is available', async () => {
    let isUnavailable = true;
    const { schedule, runs } = counting();
    const query: TestDatabase['query'] = (text, values) =>
      isUnavailable
        ? Promise.reject(new Error('the database is unavailable'))
        : db.query(text, values);
    start([schedule], { db: { ...db, query }, times: { catchUpEveryMs: 20 } });
    isUnavailable = false;
    await waitFor('the run', () => runs() === 1);
  });

  test('does not follow from an end that could not be written: it is written before the next claim (rule 4)', async () => {
    let [isUnavailable, runs] = [false, 0];
    const query: TestDatabase['query'] = (text, values) =>
      isUnavailable
        ? Promise.reject(new Error('the database is unavailable'))
        : db.query(text, values);
    const schedule = noting(EVERY_SECOND, () => {
      runs += 1;
      isUnavailable = runs === 1;
    });
    const log = {
      ...silentLog,
      warn: () => {
        isUnavailable = false;
      },
    };
    start([schedule], { db: { ...db, query }, log });
    await waitFor('the next slot, long before the lease ends', () => runs >= 2);
  });

  test('is run to its end when the scheduler shuts down during its claim (rule 5)', async () => {
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
    expect(await claimedSlots(schedule.name)).toMatchObject([{ isFinished: true }]);
  });

  test('is held by a claim until its lease ends, and can be claimed then (rule 3)', async () => {
    const { schedule, runs } = counting();
    const slot = new Date('2026-01-01T00:00:00Z');
    // A scheduler claimed it and died.
    const dead = { schedule: schedule.name, at: slot, holder: 'dead' };
    expect(await claimSlot(db, dead, LEASE)).toBe(true);
    const now = at('2026-06-01T00:00:00Z');
    await start([schedule], { clock: now }).close();
    expect(runs()).toBe(0);
    await db.query('update schedule_slots set lease_until = now() - interval $$1 second$$');
    start([schedule], { clock: now });
    await waitFor('the run', () => runs() === 1);
  });
});

describe('a slot during its run', () => {
  const slot = new Date('2026-01-01T00:00:00Z');
  const now = at('2026-06-01T00:00:00Z');
  const leaseOf = async (name: string) => {
    const rows = await db.query<{ leaseUntil: Date; leftMs: number }>(
      `select lease_until as "leaseUntil",
              (extract(epoch from lease_until - statement_timestamp()) * 1000)::float8 as "leftMs"
         from schedule_slots where schedule = $1`,
      [name],
    );
    return rows[0];
  };

  test('keeps its lease while its process lives, and is claimed within a minute after its death (rule 3)', async () => {
    expect(TIMES.leaseMs + TIMES.catchUpEveryMs).toBeLessThanOrEqual(45_000);
    expect(TIMES.leaseMs).toBeGreaterThanOrEqual(2 * TIMES.renewEveryMs);
    let end = (): void => undefined;
    const held = noting(
      YEARLY,
      () =>
        new Promise<void>((resolve) => {
          end = resolve;
        }),
    );
    start([held], { clock: now, times: { renewEveryMs: 20 } });
    await waitFor('the run', async () => (await leaseOf(held.name)) !== undefined);
    const first = await leaseOf(held.name);
    await waitFor('two renewals', async () => {
      const lease = await leaseOf(held.name);
      return Number(lease?.leaseUntil) > Number(first?.leaseUntil) + 40;
    });
    expect((await leaseOf(held.name))?.leftMs).toBeLessThanOrEqual(TIMES.leaseMs);
    end();
    await waitFor('its end', async () => (await claimedSlots(held.name))[0]?.isFinished === true);
  });

  test('loses its lease when the run hangs: another scheduler runs it (rule 3)', async () => {
    const runs: string[] = [];
    let end = (): void => undefined;
    const name = unique('schedule');
    const hanging = noting(
      YEARLY,
      () =>
        new Promise<void>((resolve) => {
          runs.push('hanging');
          end = resolve;
        }),
      name,
    );
    const times = { leaseMs: 300, renewEveryMs: 30, longestRunMs: 150, catchUpEveryMs: 20 };
    start([hanging], { clock: now, times });
    await waitFor('the run that hangs', () => runs.length === 1);
    const other = noting(YEARLY, () => void runs.push('other'), name);
    start([other], { clock: now, times });
    await waitFor('the other run', () => runs.includes('other'));
    end();
    expect(runs).toEqual(['hanging', 'other']);
  });

  test('of a dead scheduler is claimed while a missed one is run for long, or hangs (rule 3)', async () => {
    let end = (): void => undefined;
    let isRunning = false;
    const long = noting(
      YEARLY,
      () =>
        new Promise<void>((resolve) => {
          isRunning = true;
          end = resolve;
        }),
    );
    const { schedule, runs } = counting();
    const dead = { schedule: schedule.name, at: slot, holder: 'dead' };
    expect(await claimSlot(db, dead, LEASE)).toBe(true);
    // Over one connection, slots are claimed in the order of the schedules: the other one was held before the long run.
    const one = createDatabase({
      connectionString: db.url,
      log: silentLog,
      applicationName: 'one',
      maxConnections: 1,
      responseTimeoutMs: 30_000,
      plans: 'any',
    });
    cleanups.push(() => one.close());
    start([schedule, long], { db: one, clock: now, times: { catchUpEveryMs: 20 } });
    cleanups.push(() => end());
    await waitFor('the long run', () => isRunning);
    expect(runs()).toBe(0);
    await db.query(
      `update schedule_slots set lease_until = now() - interval '1 second' where holder = 'dead'`,
    );
    await waitFor('the other slot', () => runs() === 1);
  });

  test('is renewed and ended only by its current holder', async () => {
    const schedule = unique('schedule');
    const lost = { schedule, at: slot, holder: 'lost' };
    const holder = { schedule, at: slot, holder: 'holder' };
    expect(await claimSlot(db, lost, LEASE)).toBe(true);
    await db.query(`update schedule_slots set lease_until = now() - interval '1 second'`);
    expect(await claimSlot(db, holder, LEASE)).toBe(true);
    const before = await leaseOf(schedule);
    await renewSlot(db, lost, 3_600_000);
    await finishSlot(db, { ...lost, error: null });
    expect((await leaseOf(schedule))?.leaseUntil).toEqual(before?.leaseUntil);
    expect(await claimedSlots(schedule)).toMatchObject([{ isFinished: false }]);
    await finishSlot(db, { ...holder, error: null });
    expect(await claimedSlots(schedule)).toMatchObject([{ isFinished: true }]);
  });
});

describe('a slot that was stored under a wrong clock (rule 7)', () => {
  const wrong = new Date('2026-06-04T00:00:00Z');
  const now = at('2026-06-01T00:00:00Z');

  test('in the future does not prevent claims of current slots', async () => {
    const { schedule, slots } = counting();
    const ahead = { schedule: schedule.name, at: wrong, holder: 'ahead' };
    expect(await claimSlot(db, ahead, LEASE)).toBe(true);
    await finishSlot(db, { ...ahead, error: null });
    start([schedule], { clock: now });
    await waitFor('the run', () => slots.length === 1);
    expect(slots).toEqual([new Date('2026-01-01T00:00:00Z')]);
  });

  test('with a lease longer than any can be claimed', async () => {
    const { schedule, runs } = counting();
    const ahead = { schedule: schedule.name, at: wrong, holder: 'ahead' };
    expect(await claimSlot(db, ahead, { ...LEASE, leaseMs: 3 * 24 * 3_600_000 })).toBe(true);
    start([schedule], { clock: now });
    await waitFor('the run', () => runs() === 1);
  });

  test('does not come from a machine clock that is set during runs', async () => {
    const slots: Date[] = [];
    const everySecond = noting(EVERY_SECOND, (slot) => void slots.push(slot));
    vi.useFakeTimers({ toFake: ['Date'] });
    try {
      const clock = { nowMs: () => performance.timeOrigin + performance.now() };
      start([everySecond], { clock });
      await waitUntil(() => slots.length >= 1);
      vi.setSystemTime(Date.now() - 3 * 24 * 3_600_000);
      await waitUntil(() => slots.length >= 3);
      vi.setSystemTime(Date.now() + 9 * 24 * 3_600_000);
      await waitUntil(() => slots.length >= 5);
    } finally {
      vi.useRealTimers();
    }
    const seconds = slots.map((at) => at.getTime());
    expect(seconds).toEqual(seconds.toSorted((a, b) => a - b));
    expect(Math.abs((seconds.at(-1) ?? 0) - Date.now())).toBeLessThan(60_000);
  });
});

describe('a run', () => {
  test('that fails does not affect the next slot, is not started twice, and is awaited at shutdown (rule 4)', async () => {
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
    expect(await claimedSlots(slow.name)).toMatchObject([{ isFinished: true }]);
  });
});

test('the table sweeps everything at startup and what is overdue every minute', async () => {
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
    makeBodyDays: () => Promise.resolve(),
    moveBodies: () => Promise.resolve(),
    dateTransfers: () => Promise.resolve(),
    sumTransfers: () => Promise.resolve(),
    chainTransfers: () => Promise.resolve(),
    proveLedger: () => Promise.resolve(),
    feed: { publish: () => Promise.resolve() },
    sweepMessages: () => Promise.resolve(),
    continueErasures: () => Promise.resolve(),
    continueReplays: () => Promise.resolve(),
    removeOld: () => Promise.resolve(),
    summary: undefined,
    reconcile: undefined,
  }).filter(({ name }) => name === 'sweep');
  expect(table.map(({ name, cron }) => [name, cron])).toEqual([['sweep', '*/10 * * * * *']]);
  // The same table, run every second.
  start(table.map((schedule) => ({ ...schedule, cron: EVERY_SECOND })));
  await waitFor('two ticks', () => runs.length >= 3);
  expect(runs.slice(0, 3)).toEqual(['everything', 'overdue', 'overdue']);
});

describe('a requested run (rule 6)', () => {
  const request = (schedule: string) =>
    insertRequest(db, { schedule, requestedBy: 'ada', reason: 'a test' });
  const served = () =>
    waitFor('the request to be served', async () => {
      return (await readRequests(db)).length === 0;
    });

  test('is run once by one of several schedulers, with the last slot of its schedule', async () => {
    const { schedule, slots } = counting();
    for (let count = 0; count < 3; count += 1) {
      start([schedule], { times: { requestsEveryMs: 20 } });
    }
    await waitFor('the missed slot', () => slots.length === 1);
    expect(await request(schedule.name)).toBe(true);
    expect(await request(schedule.name)).toBe(false);
    await served();
    expect(slots).toHaveLength(2);
    expect(slots[1]).toEqual(slots[0]);
    expect(await readSlotRuns(db)).toMatchObject([
      { schedule: schedule.name, error: null, isHeld: false },
    ]);
  });

  test('waits for a run that is under way, and never runs beside it', async () => {
    let running = 0;
    let runs = 0;
    let most = 0;
    const release: (() => void)[] = [];
    const schedule = noting(YEARLY, async () => {
      running += 1;
      runs += 1;
      most = Math.max(most, running);
      await new Promise<void>((resolve) => release.push(resolve));
      running -= 1;
    });
    const requests: string[] = [];
    const other = noting(YEARLY, () => void requests.push('other'));
    for (let count = 0; count < 2; count += 1) {
      start([schedule, other], { times: { requestsEveryMs: 20 } });
    }
    await waitFor('the missed slots', () => runs === 1 && requests.length === 1);
    await request(schedule.name);
    // Another request is served meanwhile: the schedulers have read both.
    await request(other.name);
    await waitFor('the other run', () => requests.length === 2);
    expect(runs).toBe(1);
    release[0]?.();
    await waitFor('the requested run', () => runs === 2);
    release[1]?.();
    await served();
    expect([runs, most]).toEqual([2, 1]);
  });

  test('is requested until its run has ended, so that the run of a dead scheduler is repeated', async () => {
    const schedule = unique('schedule');
    await request(schedule);
    const [requested] = await readRequests(db);
    const slot = { schedule, at: requested?.requestedAt ?? new Date(0), holder: 'one' };
    expect(await claimSlot(db, slot, LEASE)).toBe(true);
    await deleteServedRequests(db);
    expect(await readRequests(db)).toHaveLength(1);
    await finishSlot(db, { ...slot, error: null });
    await deleteServedRequests(db);
    expect(await readRequests(db)).toEqual([]);
  });

  test('that fails is served, and its error is recorded until a run succeeds', async () => {
    let failure: Error | undefined = new Error('the disk is full');
    const schedule = noting(YEARLY, () => {
      if (failure) throw failure;
    });
    start([schedule], { times: { requestsEveryMs: 20 } });
    const errorOf = async () => (await readSlotRuns(db))[0]?.error;
    await waitFor('the failed run', async () => (await errorOf()) === 'the disk is full');
    failure = undefined;
    await request(schedule.name);
    await served();
    expect(await errorOf()).toBeNull();
  });

  test('that fails is logged once, until the reason changes or a run succeeds (rule 4)', async () => {
    const reasons = ['no space', 'no space', 'no rights', undefined, 'no rights'];
    let runs = 0;
    const schedule = noting(YEARLY, () => {
      const reason = reasons[runs];
      runs += 1;
      if (reason !== undefined) throw new Error(reason);
    });
    const lines: { readonly msg: string; readonly error: { readonly message: string } }[] = [];
    const log = createLog('info', (line) => lines.push(JSON.parse(line) as (typeof lines)[number]));
    const scheduler = start([schedule], { log, times: { requestsEveryMs: 20 } });
    await waitFor('the missed slot', () => runs === 1);
    for (let count = 2; count <= reasons.length; count += 1) {
      await request(schedule.name);
      await served();
      expect(runs).toBe(count);
    }
    await scheduler.close();
    expect(lines.map(({ msg, error }) => [msg, error.message])).toEqual([
      ['scheduler.run_failed', 'no space'],
      ['scheduler.run_failed', 'no rights'],
      ['scheduler.run_failed', 'no rights'],
    ]);
  });
});

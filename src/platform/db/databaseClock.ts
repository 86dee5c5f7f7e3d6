/**
 * The one clock of an installation: the database's. Processes on machines whose clocks differ agree
 * through it on what is due, and a machine whose clock is set while a process runs moves nothing.
 *
 * Terms. *Measurement*: one reading of the database's clock, with the process's monotonic time before
 * and after. *Offset*: the database's time less the monotonic time. *Skew*: the machine's clock less
 * the database's.
 *
 * 1. `nowMs` is the monotonic time plus the offset. The machine's clock takes no part in it.
 * 2. A measurement bounds the offset: the database read its clock after the request left and before
 *    the answer came. An offset within the bounds is kept, one outside moves to the nearer bound. A
 *    slow answer has wide bounds and changes nothing; drift and a failover are followed.
 * 3. Before the first measurement `nowMs` is the machine's clock. No role works before it: the gate
 *    opens after it.
 */
import { type Clock, monotonicMs } from '../clock.ts';
import { pause } from '../pause.ts';
import type { Source } from '../sources.ts';
import type { Queryable } from './database.ts';

/** A machine whose clock is further off is reported; the round trip of a measurement is far shorter. */
export const CLOCK_OFF_MS = 2_000;
/** And beyond this it is not ready. */
export const CLOCK_UNFIT_MS = 60_000;

export interface DatabaseClock extends Clock {
  /** Reads the database's clock. Throws when the database is unavailable. */
  measure(): Promise<void>;
  /** The machine's clock less the database's; undefined before the first measurement. */
  skewMs(): number | undefined;
}

export interface DatabaseClockParts {
  /** The database's time, in milliseconds since 1970. */
  readonly readTimeMs: () => Promise<number>;
  /** What the machine says the time is. */
  readonly machine: Clock;
  /** Milliseconds from any beginning, by a clock that nobody sets. */
  readonly monotonicMs?: () => number;
}

export function createDatabaseClock(parts: DatabaseClockParts): DatabaseClock {
  const { readTimeMs, machine, monotonicMs: elapsedMs = monotonicMs } = parts;
  let offsetMs: number | undefined;
  const nowMs = () =>
    offsetMs === undefined ? machine.nowMs() : Math.floor(elapsedMs() + offsetMs);
  return {
    nowMs,
    measure: async () => {
      const sentMs = elapsedMs();
      const databaseMs = await readTimeMs();
      offsetMs = boundOffset(offsetMs, { sentMs, databaseMs, receivedMs: elapsedMs() });
    },
    skewMs: () => (offsetMs === undefined ? undefined : machine.nowMs() - nowMs()),
  };
}

export interface Measurement {
  readonly sentMs: number;
  readonly databaseMs: number;
  readonly receivedMs: number;
}

/** The offset after a measurement (invariant 2); the first one is taken at the middle. */
function boundOffset(
  offsetMs: number | undefined,
  { sentMs, databaseMs, receivedMs }: Measurement,
): number {
  const leastMs = databaseMs - receivedMs;
  const mostMs = databaseMs - sentMs;
  if (offsetMs === undefined) return (leastMs + mostMs) / 2;
  return Math.min(Math.max(offsetMs, leastMs), mostMs);
}

/** Reads the database's time, in milliseconds since 1970. */
export async function readDatabaseTimeMs(db: Queryable): Promise<number> {
  const [row] = await db.query<{ nowMs: number }>(
    'select (extract(epoch from clock_timestamp()) * 1000)::float8 as "nowMs"',
  );
  if (!row) throw new Error('a query that always has one row returned none');
  return row.nowMs;
}

/** For Prometheus: absent before the first measurement. */
export function clockSource(clock: Pick<DatabaseClock, 'skewMs'>): Source {
  const gauge = 'tallyhook_clock_skew_seconds';
  return {
    name: 'clock',
    gauges: {
      [gauge]: { help: "The clock of the process's machine less the database's" },
    },
    read: () => {
      const skewMs = clock.skewMs();
      return Promise.resolve(skewMs === undefined ? [] : [{ gauge, value: skewMs / 1000 }]);
    },
  };
}

/** A machine that slept, or a database that failed over, is off for this long at most. */
const MEASURE_EVERY_MS = 5_000;

/** Measures until the signal; a database that is unavailable is tried again. Never throws. */
export async function keepMeasuring(
  clock: Pick<DatabaseClock, 'measure'>,
  afterEach: () => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await pause(MEASURE_EVERY_MS, signal);
    if (signal.aborted) return;
    await clock
      .measure()
      .then(afterEach)
      .catch(() => undefined);
  }
}

/** The database's clock for one command, measured once. */
export async function openDatabaseClock(db: Queryable, machine: Clock): Promise<DatabaseClock> {
  const clock = createDatabaseClock({ readTimeMs: () => readDatabaseTimeMs(db), machine });
  await clock.measure();
  return clock;
}

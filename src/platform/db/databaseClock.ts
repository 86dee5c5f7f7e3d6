/**
 * The one clock of an installation: that of the database. Processes on machines with different clocks
 * use it to agree on what is due, and adjusting a machine's clock while a process runs has no effect.
 *
 * Terms. *Measurement*: one reading of the database's clock, with the process's monotonic time before
 * and after. *Offset*: the database's time minus the monotonic time. *Skew*: the machine's clock minus
 * the database's.
 *
 * 1. `nowMs` is the monotonic time plus the offset. It does not depend on the machine's clock.
 * 2. A measurement bounds the offset: the database read its clock after the request was sent and
 *    before the response arrived. An offset within the bounds is kept; one outside moves to the nearer
 *    bound. A slow response has wide bounds and changes nothing; drift and a failover are followed.
 * 3. Before the first measurement, `nowMs` is the machine's clock. No role works before it: the gate
 *    opens after it.
 */
import { type Clock, monotonicMs } from '../clock.ts';
import { sleep } from '../sleep.ts';
import type { Source } from '../sources.ts';
import type { Queryable } from './database.ts';
import { oneRow } from './oneRow.ts';

/** A larger skew of a machine's clock is reported. The round trip of a measurement is far shorter. */
export const CLOCK_SKEW_WARNING_MS = 2_000;
/** A process on a machine with a larger skew is not ready. */
export const CLOCK_SKEW_UNREADY_MS = 60_000;

export interface DatabaseClock extends Clock {
  /** Reads the database's clock. Throws when the database is unavailable. */
  measure(): Promise<void>;
  /** The machine's clock minus the database's; undefined before the first measurement. */
  skewMs(): number | undefined;
}

export interface DatabaseClockParts {
  /** The database's time, in milliseconds since 1970. */
  readonly readTimeMs: () => Promise<number>;
  /** The machine's clock. */
  readonly machine: Clock;
  /** Milliseconds since any fixed instant, by a monotonic clock. */
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

/** The offset after a measurement (invariant 2). The first measurement sets it to the middle of the bounds. */
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
  const rows = await db.query<{ nowMs: number }>(
    'select (extract(epoch from clock_timestamp()) * 1000)::float8 as "nowMs"',
  );
  return oneRow(rows).nowMs;
}

/** The clock skew for Prometheus; absent before the first measurement. */
export function clockSource(clock: Pick<DatabaseClock, 'skewMs'>): Source {
  const gauge = 'tallyhook_clock_skew_seconds';
  return {
    name: 'clock',
    gauges: {
      [gauge]: { help: "Clock of the process's machine minus the database's clock" },
    },
    read: () => {
      const skewMs = clock.skewMs();
      return Promise.resolve(skewMs === undefined ? [] : [{ gauge, value: skewMs / 1000 }]);
    },
  };
}

/** After a machine sleeps or a database fails over, the time is wrong for this long at most. */
const MEASURE_EVERY_MS = 5_000;

/** Measures repeatedly until the signal, also while the database is unavailable. Never throws. */
export async function keepMeasuring(
  clock: Pick<DatabaseClock, 'measure'>,
  afterEach: () => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await sleep(MEASURE_EVERY_MS, signal);
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

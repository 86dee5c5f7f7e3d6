/**
 * Days of the journal that never change, so that a process adds each of them up once.
 *
 * *Closed day*: a day (UTC) that ended more than an hour ago. A transfer is recorded at the time of its
 * statement and becomes visible with its commit, and no transaction of a worker takes an hour.
 *
 * The clock of the database may have been ahead when a day was closed. What is recorded after the clock was set
 * right belongs to that day, so a process that notices it (`wasSetBack`) adds all days up again.
 */
const HOUR_MICROS = 3_600_000_000;
export const DAY_MICROS = 24 * HOUR_MICROS;

/** The beginning of the day (UTC); microseconds since 1970, as all times here. */
export function dayOf(micros: number): number {
  return micros - (micros % DAY_MICROS);
}

/** The beginning of the first day that is not closed. */
export function firstOpenDay(nowMicros: number): number {
  return dayOf(nowMicros - HOUR_MICROS);
}

/** When days were closed: the time of the database, and the time since by a monotonic clock. */
export interface ClosingTime {
  readonly nowMicros: number;
  readonly elapsedSeconds: () => number;
}

/**
 * Whether the clock of the database went back since days were closed, by enough that one was closed before it
 * ended. Compares with the time that elapsed, because the clock may have passed the old time again.
 */
export function wasSetBack(
  { nowMicros, elapsedSeconds }: ClosingTime,
  laterMicros: number,
): boolean {
  return laterMicros - nowMicros < elapsedSeconds() * 1_000_000 - HOUR_MICROS / 2;
}

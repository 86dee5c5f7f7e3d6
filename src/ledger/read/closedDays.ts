/**
 * Days of the journal that never change, so that a process adds each of them up once.
 *
 * *Closed day*: a day (UTC) that ended more than an hour ago. A transfer is recorded at the time of its
 * statement and becomes visible with its commit, and no transaction of a worker takes an hour.
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

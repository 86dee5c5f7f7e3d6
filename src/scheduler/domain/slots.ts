/**
 * Slots: the instants of a schedule, computed from the fields of a cron expression.
 *
 * Terms. *Fields*: the values that each part of the expression allows. *Slot*: an instant in UTC, to the
 * second, with all parts allowed.
 *
 * 1. `lastSlot` is the latest slot that is not after a given instant.
 * 2. A day matches if its month, day of the month and day of the week all match. Other crons accept
 *    either of the last two where both are restricted; the library that parses the expressions does not.
 * 3. An expression without a slot within LONGEST_GAP_DAYS has neither a last nor a next one.
 * 4. `nextSlot` is the first slot after a given instant.
 *
 * The library that parses the expressions only computes the next slot, by the machine's clock, and never
 * the last one.
 */
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../platform/time.ts';

/** What a cron expression allows, each ascending. Of week days, 0 is Sunday. */
export interface SlotFields {
  readonly seconds: readonly number[];
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  readonly daysOfMonth: readonly number[];
  /** 1 is January. */
  readonly months: readonly number[];
  readonly daysOfWeek: readonly number[];
}

/** Within a century, a 29th of February falls on a given day of the week every 28 years. */
const LONGEST_GAP_DAYS = 28 * 366;

/**
 * The last slot at `nowMs` or before (rule 1).
 * @returns milliseconds since 1970; undefined where there is none (rule 3)
 */
export function lastSlot(fields: SlotFields, nowMs: number): number | undefined {
  const todayMs = Math.floor(nowMs / DAY_MS) * DAY_MS;
  for (let back = 0; back <= LONGEST_GAP_DAYS; back += 1) {
    const dayMs = todayMs - back * DAY_MS;
    if (!isDayAllowed(fields, dayMs)) continue;
    const timeMs = lastTime(fields, nowMs - dayMs);
    if (timeMs !== undefined) return dayMs + timeMs;
  }
  return undefined;
}

/** The last allowed time of a day that is not after `mostMs`, both in milliseconds after midnight. */
function lastTime({ hours, minutes, seconds }: SlotFields, mostMs: number): number | undefined {
  for (const hour of hours.toReversed()) {
    for (const minute of minutes.toReversed()) {
      const minuteMs = hour * HOUR_MS + minute * MINUTE_MS;
      if (minuteMs > mostMs) continue;
      const second = seconds.findLast((candidate) => minuteMs + candidate * SECOND_MS <= mostMs);
      if (second !== undefined) return minuteMs + second * SECOND_MS;
    }
  }
  return undefined;
}

/** The first slot after `nowMs` (rule 4). @returns as `lastSlot` */
export function nextSlot(fields: SlotFields, nowMs: number): number | undefined {
  const todayMs = Math.floor(nowMs / DAY_MS) * DAY_MS;
  for (let ahead = 0; ahead <= LONGEST_GAP_DAYS; ahead += 1) {
    const dayMs = todayMs + ahead * DAY_MS;
    if (!isDayAllowed(fields, dayMs)) continue;
    const timeMs = firstTime(fields, nowMs - dayMs);
    if (timeMs !== undefined) return dayMs + timeMs;
  }
  return undefined;
}

/** The first allowed time of a day that is after `afterMs`, both in milliseconds after midnight. */
function firstTime({ hours, minutes, seconds }: SlotFields, afterMs: number): number | undefined {
  for (const hour of hours) {
    for (const minute of minutes) {
      const minuteMs = hour * HOUR_MS + minute * MINUTE_MS;
      if (minuteMs + MINUTE_MS <= afterMs) continue;
      const second = seconds.find((candidate) => minuteMs + candidate * SECOND_MS > afterMs);
      if (second !== undefined) return minuteMs + second * SECOND_MS;
    }
  }
  return undefined;
}

/** Rule 2. */
function isDayAllowed(fields: SlotFields, dayMs: number): boolean {
  const day = new Date(dayMs);
  return (
    fields.months.includes(day.getUTCMonth() + 1) &&
    fields.daysOfMonth.includes(day.getUTCDate()) &&
    fields.daysOfWeek.includes(day.getUTCDay())
  );
}

/**
 * Slots: the instants that a schedule names. Pure arithmetic over the fields of a cron expression.
 *
 * Terms. *Fields*: the values that each part of the expression allows. *Slot*: an instant, to the
 * second and in UTC, whose parts are all allowed.
 *
 * 1. `lastSlot` is the greatest slot that is not after the instant it is asked for.
 * 2. A day is right if its month, its day of the month and its day of the week all are. Other crons
 *    take either of the last two where both are restricted; the library that reads the expressions does not.
 * 3. An expression that never comes true within LONGEST_GAP_DAYS has no last slot.
 *
 * The library that reads the expressions looks only ahead, and by the machine's clock: it tells when
 * the next slot is, never which was the last.
 */
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../platform/time.ts';

/** What a cron expression allows, each ascending. Week days: 0 is Sunday. */
export interface SlotFields {
  readonly seconds: readonly number[];
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  readonly daysOfMonth: readonly number[];
  /** 1 is January. */
  readonly months: readonly number[];
  readonly daysOfWeek: readonly number[];
}

/** Where no century lies between, a 29th of February on a given day of the week comes every 28 years. */
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

/** Rule 2. */
function isDayAllowed(fields: SlotFields, dayMs: number): boolean {
  const day = new Date(dayMs);
  return (
    fields.months.includes(day.getUTCMonth() + 1) &&
    fields.daysOfMonth.includes(day.getUTCDate()) &&
    fields.daysOfWeek.includes(day.getUTCDay())
  );
}

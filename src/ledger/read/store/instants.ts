/** Times in statements, with every digit: a cursor must not lose any. */

/** An instant of SQL as microseconds since 1970. */
export function micros(instant: string): string {
  return `(extract(epoch from ${instant}) * 1000000)::bigint`;
}

/**
 * The first instant of a day in a time zone. Where clocks go back over midnight, as in the Azores, it occurs twice,
 * and PostgreSQL takes the second one: what moved in the hour before it would be of no day.
 * @param midnight of the day, a timestamp without time zone
 */
export function startOfDay(midnight: string, timeZone: string): string {
  const last = `(${midnight} at time zone ${timeZone})`;
  const before = `(${last} - interval '1 hour')`;
  return `(case when ${before} at time zone ${timeZone} >= ${midnight} then ${before} else ${last} end)`;
}

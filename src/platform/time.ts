/** Units of time in milliseconds. Domain rules may import them, because they are numbers and not a clock. */
export const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/**
 * Processes read the database's clock to within a second. A time that lies ahead by this much more than it can was
 * stored before that clock was set back.
 */
export const CLOCK_TOLERANCE_MS = 60 * SECOND_MS;

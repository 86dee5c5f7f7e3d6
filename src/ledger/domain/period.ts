/** Months in time zones: the periods of statements and closings. */

export interface Period {
  /** `2026-10` */
  readonly month: string;
  readonly timeZone: string;
  /** The first instant that belongs to it, and the first that does not; microseconds since 1970. */
  readonly fromMicros: number;
  readonly toMicros: number;
}

/** Microseconds are safe integers until 2255. */
const MONTH = /^(?:19[7-9]\d|20\d{2}|21\d{2})-(?:0[1-9]|1[0-2])$/;

/** Whether a text is a month such as `2026-10`, from 1970 to 2199. */
export function isMonth(text: string): boolean {
  return MONTH.test(text);
}

/** A place in its usual spelling, such as `America/Port-au-Prince`: Intl accepts any case, and offsets. */
const PLACE = /^[A-Z][a-z]+(?:\/[A-Z][a-z]+(?:[_-][A-Z]?[a-z]+)*){1,2}$/;

/**
 * Whether a text is the name of a time zone such as `Europe/Berlin`; an offset is none. Intl lists one name of each
 * zone, often the older one, such as `Asia/Calcutta` for `Asia/Kolkata`.
 */
export function isTimeZone(text: string): boolean {
  if (text === 'UTC' || Intl.supportedValuesOf('timeZone').includes(text)) return true;
  return PLACE.test(text) && isKnownToIntl(text);
}

function isKnownToIntl(timeZone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone });
    return true;
  } catch {
    return false;
  }
}

/** The month some months later; negative: earlier. */
export function monthAfter(month: string, months: number): string {
  const [year = '', number = ''] = month.split('-');
  const date = new Date(Date.UTC(Number(year), Number(number) - 1 + months, 1));
  return date.toISOString().slice(0, 7);
}

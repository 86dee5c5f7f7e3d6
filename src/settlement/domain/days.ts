/** Days as files have them. A time beside the day is dropped: a line has the day that is written. */

const TIME = /(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?: ?(?:Z|[+-]\d\d:?\d\d))?)?$/.source;

/** `iso` is `2026-10-05`, with or without a time. */
const PATTERNS = {
  iso: new RegExp(`^(?<year>\\d{4})-(?<month>\\d\\d)-(?<date>\\d\\d)${TIME}`),
  'DD.MM.YYYY': new RegExp(`^(?<date>\\d\\d?)\\.(?<month>\\d\\d?)\\.(?<year>\\d{4})${TIME}`),
  'DD/MM/YYYY': new RegExp(`^(?<date>\\d\\d?)/(?<month>\\d\\d?)/(?<year>\\d{4})${TIME}`),
  'MM/DD/YYYY': new RegExp(`^(?<month>\\d\\d?)/(?<date>\\d\\d?)/(?<year>\\d{4})${TIME}`),
  YYYYMMDD: new RegExp(`^(?<year>\\d{4})(?<month>\\d\\d)(?<date>\\d\\d)${TIME}`),
};

/** How a file writes days. */
export type DayFormat = keyof typeof PATTERNS;
export const DAY_FORMATS = Object.keys(PATTERNS) as readonly DayFormat[];

/** A day such as `2026-10-05`; undefined for anything else, and for days that do not exist. */
export function parseDay(text: string, format: DayFormat): string | undefined {
  const { year = '', month = '', date = '' } = PATTERNS[format].exec(text.trim())?.groups ?? {};
  return dayOf(Number(year), Number(month), Number(date));
}

/**
 * @param date of two digits at most, so that one that does not exist is in another month
 * @returns undefined for a day that does not exist, or is not of 1970 to 2199
 */
export function dayOf(year: number, month: number, date: number): string | undefined {
  if (!(year >= 1970 && year < 2200)) return undefined;
  const day = new Date(Date.UTC(year, month - 1, date));
  if (day.getUTCMonth() !== month - 1) return undefined;
  return day.toISOString().slice(0, 10);
}

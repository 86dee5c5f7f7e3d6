/** How alerts write instants, spans of time and text from outside. */

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** An instant to the minute, with its zone: `2026-11-21 14:05 UTC`. */
export function sayInstant(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

/** A span as people say it, rounded down to what matters: `42 s`, `7 min`, `5 h`, `3 d`. */
export function saySpan(ms: number): string {
  if (ms < 2 * MINUTE_MS) return `${Math.floor(ms / 1000)} s`;
  if (ms < 2 * HOUR_MS) return `${Math.floor(ms / MINUTE_MS)} min`;
  if (ms < 2 * DAY_MS) return `${Math.floor(ms / HOUR_MS)} h`;
  return `${Math.floor(ms / DAY_MS)} d`;
}

/** A number and its noun: `1 event`, `2 events`. */
export function sayCount(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

const LONGEST_QUOTE = 80;

/** Text from outside, short and on one line; `unknown` where there is none. */
export function quote(text: unknown): string {
  if (typeof text !== 'string' || text === '') return 'unknown';
  const line = text.replace(/[\p{C}\s]+/gu, ' ').trim();
  return line.length <= LONGEST_QUOTE ? line : `${line.slice(0, LONGEST_QUOTE - 1)}…`;
}

/** An id as an argument of a command that somebody pastes into a shell. */
export function argument(id: string): string {
  return /^[\w][\w.:@/+=-]*$/.test(id) ? id : `'${id.replaceAll("'", "'\\''")}'`;
}

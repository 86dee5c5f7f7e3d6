/** Times in statements, with every digit: a cursor must not lose any. */
import { formatInstant } from '../../domain/time.ts';

/** An instant of SQL as microseconds since 1970. */
export function micros(instant: string): string {
  return `(extract(epoch from ${instant}) * 1000000)::bigint`;
}

/** Microseconds since 1970 as a parameter. */
export function instantOrNull(instantMicros: number | undefined): string | null {
  return instantMicros === undefined ? null : formatInstant(instantMicros);
}

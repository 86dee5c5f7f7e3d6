/**
 * Opaque cursors: the place of the last row of a page. The next page starts after that place, so rows
 * that are added in between do not shift pages.
 */
import { z } from 'zod';
import type { Place } from '../ledger/domain/listPage.ts';
import { formatInstant, parseInstantMicros } from '../ledger/domain/time.ts';

export type ReadCursor<Place> =
  | { readonly outcome: 'read'; readonly place: Place | undefined }
  | typeof NOT_A_CURSOR;

const NOT_A_CURSOR = {
  outcome: 'invalid',
  message: 'The query is invalid: cursor: must be the next_cursor of an earlier response.',
} as const;

/** The place that a cursor encodes; undefined without a cursor. */
export function readCursor<Schema extends z.ZodType>(
  cursor: string | undefined,
  schema: Schema,
): ReadCursor<z.output<Schema>> {
  if (cursor === undefined) return { outcome: 'read', place: undefined };
  const parsed = schema.safeParse(parseJson(Buffer.from(cursor, 'base64url').toString('utf8')));
  return parsed.success ? { outcome: 'read', place: parsed.data } : NOT_A_CURSOR;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Places in lists ordered by number. */
export const numberPlace = z.tuple([z.int().min(1)]);

/** A time in a cursor. A caller may build a cursor of its own, and PostgreSQL does not accept the year 0000. */
export const instant = z.iso.datetime().refine((time) => parseInstantMicros(time) !== undefined);

/** Places in lists ordered by time, then by key. PostgreSQL does not accept a text with a NUL. */
export const timePlace = z.tuple([
  instant,
  z
    .string()
    .min(1)
    .max(300)
    .refine((key) => !key.includes('\0')),
]);

/** The cursor of the page that starts at a place; null if there is none. */
export function cursorOf(place: Place | undefined): string | null {
  return place === undefined ? null : encodePlace([formatInstant(place.atMicros), place.id]);
}

/** The place of a cursor that was read as a `timePlace`. */
export function placeRead(place: z.output<typeof timePlace> | undefined): Place | undefined {
  const atMicros = place && parseInstantMicros(place[0]);
  return place === undefined || atMicros === undefined ? undefined : { atMicros, id: place[1] };
}

/** The cursor of the page after a place. */
export function encodePlace(place: readonly unknown[]): string {
  return Buffer.from(JSON.stringify(place)).toString('base64url');
}

/** The cursor of the page below a number; null if there is none. */
export function numberCursor(next: number | undefined): string | null {
  return next === undefined ? null : encodePlace([next]);
}

/**
 * Cuts rows to a page.
 * @param rows one row more than the page, if there are that many
 * @returns the page and the cursor of the next one
 */
export function cutPage<Row>(
  rows: readonly Row[],
  limit: number,
  placeOf: (row: Row) => readonly unknown[],
): { readonly shown: readonly Row[]; readonly next: string | null } {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const hasMore = rows.length > limit && last !== undefined;
  const next = hasMore ? encodePlace(placeOf(last)) : null;
  return { shown, next };
}

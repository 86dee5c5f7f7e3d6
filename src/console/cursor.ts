/**
 * Cursors: the place of the last row of a page, in a form that nobody is tempted to build. A page
 * begins after that place in the order of the list, so rows that are added meanwhile shift nothing.
 */
import { z } from 'zod';

export type ReadCursor<Place> =
  | { readonly outcome: 'read'; readonly place: Place | undefined }
  | typeof NOT_A_CURSOR;

const NOT_A_CURSOR = {
  outcome: 'invalid',
  message: 'The query cannot be used: cursor: must be the next_cursor of an earlier answer.',
} as const;

/** The place that a cursor stands for; none without a cursor. */
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

/** Places in lists that go by number. */
export const numberPlace = z.tuple([z.int().min(1)]);

/**
 * Places in lists that go by time, and by a key where times are equal. Somebody may build a cursor
 * all the same: a year 0000 and a text with a NUL are no values of the database's.
 */
export const timePlace = z.tuple([
  z.iso.datetime().refine((time) => time >= '1970'),
  z
    .string()
    .min(1)
    .max(300)
    .refine((key) => !key.includes('\0')),
]);

/**
 * Cuts what was read to a page.
 * @param rows one more than the page holds, if there are so many
 * @returns the page, and the cursor of the next one
 */
export function cutPage<Row>(
  rows: readonly Row[],
  limit: number,
  placeOf: (row: Row) => readonly unknown[],
): { readonly shown: readonly Row[]; readonly next: string | null } {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const hasMore = rows.length > limit && last !== undefined;
  const next = hasMore ? Buffer.from(JSON.stringify(placeOf(last))).toString('base64url') : null;
  return { shown, next };
}

/** The filters of the pages that list orders and resources, as text of a form. */
import { z } from 'zod';
import type { ListFilter } from '../../console/listFilter.ts';
import { currency, cursor } from '../../console/schemas.ts';
import { parseDecimal } from '../../contract/money.ts';
import type { Place } from '../../ledger/domain/listPage.ts';
import { parseInstantMicros } from '../../ledger/domain/time.ts';
import { placeRead, readCursor, timePlace } from '../../representation/cursor.ts';
import type { Problem } from '../page.ts';

const date = z
  .string()
  .regex(/^\d{4}-\d\d-\d\d$/, 'must be a date such as 2026-11-01')
  .optional();
const decimal = z
  .string()
  .regex(/^\d{1,16}(\.\d{1,4})?$/, 'must be an amount such as 54.00')
  .optional();

export const filterFields = {
  currency: z.string().toUpperCase().pipe(currency).optional(),
  min: decimal,
  max: decimal,
  from: date,
  to: date,
  only: z.enum(['finding', 'uncertain']).optional(),
};

export const pageFields = { ...filterFields, cursor };

export type FilterQuery = {
  readonly [Name in keyof typeof filterFields]?: z.output<(typeof filterFields)[Name]>;
};

export interface ReadList {
  readonly outcome: 'ok';
  readonly filter: ListFilter;
  readonly after: Place | undefined;
}

/** What a form contains, as the ledger takes it. Amounts are decimals of the currency; without one they have two decimals. */
export function readListQuery(
  query: FilterQuery & { readonly cursor?: string | undefined },
): ReadList | Problem {
  const cursorRead = readCursor(query.cursor, timePlace);
  if (cursorRead.outcome !== 'read') return cursorRead;
  const fromMicros = dayStart(query.from);
  const toMicros = dayStart(query.to);
  const minMinor = parseDecimal(query.min, query.currency);
  const maxMinor = parseDecimal(query.max, query.currency);
  const mistake =
    mistakeIn('From', query.from, fromMicros) ??
    mistakeIn('Before', query.to, toMicros) ??
    mistakeIn('Amount from', query.min, minMinor) ??
    mistakeIn('Amount to', query.max, maxMinor) ??
    (fromMicros !== undefined && toMicros !== undefined && fromMicros >= toMicros
      ? '"From" must be an earlier day than "Before".'
      : undefined) ??
    (minMinor !== undefined && maxMinor !== undefined && minMinor > maxMinor
      ? '"Amount from" must not exceed "Amount to".'
      : undefined);
  if (mistake !== undefined) return { outcome: 'invalid', message: mistake };
  return {
    outcome: 'ok',
    after: placeRead(cursorRead.place),
    filter: {
      currency: query.currency,
      minMinor,
      maxMinor,
      fromMicros,
      toMicros,
      hasFinding: query.only === 'finding',
      isUncertain: query.only === 'uncertain',
    },
  };
}

function dayStart(day: string | undefined): number | undefined {
  return day === undefined ? undefined : parseInstantMicros(`${day}T00:00:00Z`);
}

function mistakeIn(
  label: string,
  text: string | undefined,
  read: number | undefined,
): string | undefined {
  return text !== undefined && read === undefined
    ? `"${label}" cannot be ${text}. Go back and correct it.`
    : undefined;
}

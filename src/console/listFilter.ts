/** The filters of a list as the ledger takes them. */
import type { z } from 'zod';
import { parseInstantMicros } from '../ledger/domain/time.ts';
import type { listFilters } from './schemas.ts';

export type ListQuery = {
  readonly [Name in keyof typeof listFilters]?: z.output<(typeof listFilters)[Name]>;
};

export interface ListFilter {
  readonly currency: string | undefined;
  readonly minMinor: number | undefined;
  readonly maxMinor: number | undefined;
  readonly fromMicros: number | undefined;
  readonly toMicros: number | undefined;
  readonly hasFinding: boolean;
  readonly isUncertain: boolean;
}

export type ReadFilter =
  | { readonly outcome: 'read'; readonly filter: ListFilter }
  | { readonly outcome: 'invalid'; readonly message: string };

export function readFilter(query: ListQuery): ReadFilter {
  const filter = {
    currency: query.currency,
    minMinor: query.min_amount,
    maxMinor: query.max_amount,
    fromMicros: parseInstantMicros(query.from),
    toMicros: parseInstantMicros(query.to),
    hasFinding: query.open_finding !== undefined,
    isUncertain: query.uncertain !== undefined,
  };
  const { minMinor = 0, maxMinor = minMinor, fromMicros = 0, toMicros } = filter;
  if (minMinor > maxMinor) return invalid('min_amount: must not exceed max_amount.');
  if (toMicros !== undefined && fromMicros >= toMicros) {
    return invalid('from: must be before `to`. The time range includes `from` and excludes `to`.');
  }
  return { outcome: 'read', filter };
}

function invalid(mistake: string): ReadFilter {
  return { outcome: 'invalid', message: `The query is invalid: ${mistake}` };
}

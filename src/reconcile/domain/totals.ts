/**
 * Comparing a span by counts, so that a clean one costs tens of requests instead of one for every
 * hundred rows.
 *
 * *Cell*: what one count covers: a status and a currency, or, with neither, everything.
 *
 * 1. Every status that the filter names is counted for each currency, and everything once without a
 *    filter: what no cell names (other statuses, currencies that are new here) shows in the rest.
 * 2. Statuses move while we count, so a cell counts as unequal when it is so twice in a row.
 * 3. An unequal cell is halved in time. Only the left half is asked for: the right one is the rest.
 *    A half that is equal is left alone; one that fits on a page is listed.
 * 4. Equal counts do not prove equality: two errors can cancel, and amounts are not counted. Sums are
 *    compared next (sums.ts), as a hint; a rotating full listing covers the rest.
 */
import type { Span } from './windows.ts';

export interface Cell {
  readonly status?: string;
  readonly currency?: string;
}

/** Counts over one span. */
export interface Counts {
  /** Of the cell, on both sides. */
  readonly remote: number;
  readonly local: number;
  /** Of everything that the ledger has there: a list shows more than the cell. */
  readonly rows: number;
}

/** What the ledger counts, by status and currency. */
export interface LocalCount {
  readonly status: string | null;
  readonly currency: string | null;
  readonly count: number;
}

/** The cells of a span, everything last (rule 1). */
export function cellsOf(
  statuses: readonly string[],
  counts: readonly LocalCount[],
): readonly Cell[] {
  const currencies = [...new Set(counts.flatMap(({ currency }) => currency ?? []))].sort();
  const named = statuses.flatMap((status) => currencies.map((currency) => ({ status, currency })));
  return [...named, {}];
}

/** What the ledger counts in a cell. */
export function localCount(cell: Cell, counts: readonly LocalCount[]): number {
  return counts
    .filter(({ status }) => cell.status === undefined || cell.status === status)
    .filter(({ currency }) => cell.currency === undefined || cell.currency === currency)
    .reduce((sum, { count }) => sum + count, 0);
}

/** What is to be done about a span of an unequal cell (rule 3). */
export type Step =
  | { readonly kind: 'equal' | 'list' }
  | { readonly kind: 'halve'; readonly left: Span; readonly right: Span };

/** @param fits how many rows are listed rather than counted further */
export function nextStep(span: Span, { remote, local, rows }: Counts, fits: number): Step {
  if (remote === local) return { kind: 'equal' };
  if (Math.max(remote, rows) <= fits || span.toMs <= span.fromMs) return { kind: 'list' };
  const middleMs = Math.floor((span.fromMs + span.toMs) / 2);
  return {
    kind: 'halve',
    left: { fromMs: span.fromMs, toMs: middleMs },
    right: { fromMs: middleMs + 1, toMs: span.toMs },
  };
}

/** What the right half counts, of a whole and its left half. */
export function restOf(whole: Counts, left: Counts): Counts {
  return {
    remote: whole.remote - left.remote,
    local: whole.local - left.local,
    rows: whole.rows - left.rows,
  };
}

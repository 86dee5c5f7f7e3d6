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
 * 4. A count that the service does not tell is unknown, not 0: its span is listed.
 * 5. Differences that lie scattered cost more to narrow down than everything costs to list. The halves
 *    of a span are looked at level by level, and once the requests spent and those to be expected
 *    exceed a full listing, everything is listed.
 * 6. Equal counts do not prove equality: two errors can cancel, and amounts are not counted. Sums are
 *    compared next (sums.ts), as a hint; a rotating full listing covers the rest.
 */
import type { Span } from './windows.ts';

export interface Cell {
  readonly status?: string;
  readonly currency?: string;
}

/** Counts over one span. */
export interface Counts {
  /** Of the cell, at the service; undefined where it tells no total (rule 4). */
  readonly remote: number | undefined;
  /** Of the cell, in the ledger. */
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
  if (remote === undefined) return { kind: 'list' };
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
  const isKnown = whole.remote !== undefined && left.remote !== undefined;
  return {
    remote: isKnown ? whole.remote - left.remote : undefined,
    local: whole.local - left.local,
    rows: whole.rows - left.rows,
  };
}

/** What narrowing down has come to so far (rule 5). */
export interface Effort {
  /** Requests, those that listed what was narrowed down included. */
  readonly spent: number;
  /** Spans that were halved, and those of them of which both halves were unequal. */
  readonly halved: number;
  readonly scattered: number;
}

export const NO_EFFORT: Effort = { spent: 0, halved: 0, scattered: 0 };

/** Adds a span that was halved by one request. */
export function afterHalving(effort: Effort, left: Counts, right: Counts): Effort {
  const isScattered = [left, right].every(({ remote, local }) => remote !== local);
  return {
    spent: effort.spent + 1,
    halved: effort.halved + 1,
    scattered: effort.scattered + (isScattered ? 1 : 0),
  };
}

/** Windows are filled unevenly: some are asked for twice. */
const LISTING_SURPLUS = 1.1;

/** The requests that listing so many rows takes. */
function listingCost(rows: number, fits: number): number {
  return Math.ceil((rows / fits) * LISTING_SURPLUS);
}

/** Halvings that are assumed to have met one side only, so that the first ones decide nothing. */
const PRIOR_HALVINGS = 2;

/**
 * Whether listing everything is cheaper than going on (rule 5). What is still to come is judged by how
 * often both halves of a span were unequal so far.
 * @param rows how many a full listing shows
 * @param pending spans that are still to be looked at
 */
export function isListingCheaper(
  effort: Effort,
  { rows, pending, fits }: { rows: number; pending: readonly Counts[]; fits: number },
): boolean {
  const branching = 1 + effort.scattered / (effort.halved + PRIOR_HALVINGS);
  const expected = pending.reduce((sum, counts) => sum + narrowingCost(counts, fits, branching), 0);
  return effort.spent + expected > listingCost(rows, fits);
}

/** The requests that a span takes when each level below it has `branching` times as many spans. */
function narrowingCost({ remote, local, rows }: Counts, fits: number, branching: number): number {
  if (remote === local) return 0;
  if (remote === undefined) return listingCost(rows, fits);
  const levels = Math.ceil(Math.log2(Math.max(1, Math.max(remote, rows) / fits)));
  let [sum, spans] = [0, 1];
  for (let level = 0; level <= levels; level += 1) {
    sum += spans;
    spans *= branching;
  }
  return sum;
}

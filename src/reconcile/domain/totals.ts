/**
 * Compares a span by counts, so that a span without differences costs tens of requests instead of one
 * for every hundred rows.
 *
 * *Cell*: what one count covers: a status and a currency, or everything.
 *
 * 1. Every status that the filter accepts is counted for each currency, and everything once without a
 *    filter: what no cell covers (other statuses, currencies new to the ledger) shows in the rest.
 * 2. Statuses change during the count, so a cell is unequal when two counts in a row differ.
 * 3. An unequal cell is halved in time. Only the left half is requested: the right one is the rest. An
 *    equal half is skipped; one that fits on a page is listed.
 * 4. A count that the service does not send is unknown, not 0: its span is listed. A row that the filter
 *    excludes shows that the service ignores the filter: its counts are of something else, and none of them
 *    is used in that run.
 * 5. Scattered differences cost more requests to narrow down than a full listing. The halves of a span
 *    are visited level by level, and once the requests spent and expected exceed a full listing,
 *    everything is listed.
 * 6. Equal counts do not prove equality: two errors can cancel out, and amounts are not counted. Sums
 *    are compared next (sums.ts), as a hint; a rotating full listing covers the rest.
 */
import type { Span } from './windows.ts';

export interface Cell {
  readonly status?: string;
  readonly currency?: string;
}

/** Counts over one span. */
export interface Counts {
  /** Of the cell, at the service; undefined where it sends no total (rule 4). */
  readonly remote: number | undefined;
  /** Of the cell, in the ledger. */
  readonly local: number;
  /** Everything that the ledger has there: a list shows more than the cell. */
  readonly rows: number;
}

/** A count of the ledger, by status and currency. */
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

/** The ledger's count of a cell. */
export function localCount(cell: Cell, counts: readonly LocalCount[]): number {
  return counts
    .filter(({ status }) => cell.status === undefined || cell.status === status)
    .filter(({ currency }) => cell.currency === undefined || cell.currency === currency)
    .reduce((sum, { count }) => sum + count, 0);
}

/** Whether a row that the service shows for a cell is not of it (rule 4). */
export function contradictsCell(
  cell: Cell,
  row: { readonly status?: string | undefined; readonly currency?: string | undefined },
): boolean {
  return (['status', 'currency'] as const).some(
    (field) => cell[field] !== undefined && row[field] !== undefined && cell[field] !== row[field],
  );
}

/** What to do about a span of an unequal cell (rule 3). */
export type Step =
  | { readonly kind: 'equal' | 'list' }
  | { readonly kind: 'halve'; readonly left: Span; readonly right: Span };

/** @param fits how many rows are listed rather than halved further */
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

/** The counts of the right half, from those of the whole and of its left half. */
export function restOf(whole: Counts, left: Counts): Counts {
  const isKnown = whole.remote !== undefined && left.remote !== undefined;
  return {
    remote: isKnown ? whole.remote - left.remote : undefined,
    local: whole.local - left.local,
    rows: whole.rows - left.rows,
  };
}

/** The effort of narrowing down so far (rule 5). */
export interface Effort {
  /** Requests, those for listing included. */
  readonly spent: number;
  /** Spans that were halved, and how many of them had two unequal halves. */
  readonly halved: number;
  readonly scattered: number;
}

export const NO_EFFORT: Effort = { spent: 0, halved: 0, scattered: 0 };

/** Adds a span that one request halved. */
export function afterHalving(effort: Effort, left: Counts, right: Counts): Effort {
  const isScattered = [left, right].every(({ remote, local }) => remote !== local);
  return {
    spent: effort.spent + 1,
    halved: effort.halved + 1,
    scattered: effort.scattered + (isScattered ? 1 : 0),
  };
}

/** Rows are spread unevenly: some windows are requested twice. */
const LISTING_SURPLUS = 1.1;

/** The requests for listing a number of rows. */
function listingCost(rows: number, fits: number): number {
  return Math.ceil((rows / fits) * LISTING_SURPLUS);
}

/** Halvings with one unequal half that are assumed, so that the first real ones decide nothing. */
const PRIOR_HALVINGS = 2;

/**
 * Whether listing everything is cheaper than continuing (rule 5). The rest is estimated by how often
 * both halves of a span were unequal so far.
 * @param rows how many a full listing shows
 * @param pending spans that are still to be visited
 */
export function isListingCheaper(
  effort: Effort,
  { rows, pending, fits }: { rows: number; pending: readonly Counts[]; fits: number },
): boolean {
  const branching = 1 + effort.scattered / (effort.halved + PRIOR_HALVINGS);
  const expected = pending.reduce((sum, counts) => sum + narrowingCost(counts, fits, branching), 0);
  return effort.spent + expected > listingCost(rows, fits);
}

/** The requests for a span when each level below it has `branching` times as many spans. */
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

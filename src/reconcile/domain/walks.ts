/**
 * Walks a list by offset repeatedly, where windows cannot be used: the filter by created time is
 * ignored, or more rows share one tick than fit on a page.
 *
 * 1. One walk proves nothing: rows change places during it. A row counts when any walk showed it.
 * 2. Walks end when as many rows as `total_count` were seen; where there is no total, when two in a row
 *    showed nothing new.
 * 3. Their number is bounded. A list that keeps changing becomes a finding.
 */

export interface WalkState {
  /** Distinct rows of all walks together. */
  readonly seen: number;
  /** Walks in a row that showed nothing new. */
  readonly quietWalks: number;
  readonly walks: number;
  /** The latest total. */
  readonly totalCount: number | undefined;
}

export const NO_WALKS: WalkState = { seen: 0, quietWalks: 0, walks: 0, totalCount: undefined };

const MAX_WALKS = 40;
const QUIET_WALKS = 2;

/** Adds a walk; a total of `undefined` discards that of an earlier one. */
export function afterWalk(
  state: WalkState,
  walk: { readonly seen: number; readonly totalCount: number | undefined },
): WalkState {
  return {
    seen: walk.seen,
    quietWalks: walk.seen === state.seen && state.walks > 0 ? state.quietWalks + 1 : 0,
    walks: state.walks + 1,
    totalCount: walk.totalCount,
  };
}

/** `unstable`: ended without having seen everything (rule 3). */
export type WalkVerdict = 'again' | 'complete' | 'unstable';

/** Whether to walk again (rules 2 and 3). */
export function judgeWalks({ seen, quietWalks, walks, totalCount }: WalkState): WalkVerdict {
  if (totalCount !== undefined && seen >= totalCount) return 'complete';
  // A total may count rows that the list never shows: then walks without news end it, too, but later.
  const needed = totalCount === undefined ? QUIET_WALKS : QUIET_WALKS * 3;
  if (quietWalks >= needed) return totalCount === undefined ? 'complete' : 'unstable';
  return walks >= MAX_WALKS ? 'unstable' : 'again';
}

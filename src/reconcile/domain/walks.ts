/**
 * Walking a list by offset, again and again, where windows cannot be used: the filter of created time
 * is ignored, or more rows share one tick than fit on a page.
 *
 * 1. One walk proves nothing: rows change places while it goes. Everything that any walk showed
 *    counts.
 * 2. Walks end when all rows of `total_count` were seen; where no total is told, when two in a row
 *    showed nothing new.
 * 3. They are bounded. A list that does not come to rest is found and said, not walked for ever.
 */

export interface WalkState {
  /** Distinct rows that all walks together showed. */
  readonly seen: number;
  /** Walks in a row that showed nothing new. */
  readonly quietWalks: number;
  readonly walks: number;
  /** The last total that was told. */
  readonly totalCount: number | undefined;
}

export const NO_WALKS: WalkState = { seen: 0, quietWalks: 0, walks: 0, totalCount: undefined };

const MAX_WALKS = 40;
const QUIET_WALKS = 2;

/** Adds a walk; a total of `undefined` takes back what an earlier one told. */
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

/** `unstable`: given up without having seen everything (rule 3). */
export type WalkVerdict = 'again' | 'complete' | 'unstable';

/** Whether to walk again (rules 2 and 3). */
export function judgeWalks({ seen, quietWalks, walks, totalCount }: WalkState): WalkVerdict {
  if (walks === 0) return 'again';
  if (totalCount !== undefined && seen >= totalCount) return 'complete';
  // A total may count what the list never shows; silence decides then, too, but later.
  const silence = totalCount === undefined ? QUIET_WALKS : QUIET_WALKS * 3;
  if (quietWalks >= silence) return totalCount === undefined ? 'complete' : 'unstable';
  return walks >= MAX_WALKS ? 'unstable' : 'again';
}

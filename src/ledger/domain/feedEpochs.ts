/**
 * Epochs of the change feed. A server that takes over without the last commits of the one before it, or that was
 * set back to a backup, assigns its numbers in a new epoch, so that none is assigned twice. Each start of a server
 * begins one, because nothing in a copy of its files distinguishes a restore from a restart. A restored dump is
 * recognized by the object ids of its database and its table.
 *
 * Terms
 *   epoch      a span of numbers; the feed goes from `continuesAfter` of an epoch to its `firstNumber`
 *   undone     a number that an earlier server assigned, and that no change of this server has
 *
 * Invariants
 *   1. An epoch begins beyond every number that was assigned before it, by any server. So a reader that
 *      continues after an undone number misses no later change.
 *   2. A number is undone if a later epoch continues after a smaller one.
 *   3. The numbers between `continuesAfter` and `firstNumber` are no gap of the feed.
 */

export interface FeedEpoch {
  readonly firstNumber: number;
  readonly continuesAfter: number;
}

export type Position =
  /** The next change has this number, unless it was removed. */
  | { readonly outcome: 'known'; readonly next: number }
  /** Changes that the reader has read are gone; from here on it reads the others. */
  | { readonly outcome: 'undone'; readonly continueAfter: number };

/**
 * More changes than a failover loses. A number farther away may be that of an epoch that this server never had,
 * and nobody knows after which of its changes that epoch began.
 */
const MOST_UNDONE = 1_000_000;

/** @param later the epochs that begin after the number `after` */
export function positionOf(after: number, later: readonly FeedEpoch[]): Position {
  const last = Math.min(...later.map(({ continuesAfter }) => continuesAfter));
  if (last < after) {
    return { outcome: 'undone', continueAfter: after - last > MOST_UNDONE ? 0 : last };
  }
  const atOnce = later.filter(({ continuesAfter }) => continuesAfter === after);
  const next = Math.max(after + 1, ...atOnce.map(({ firstNumber }) => firstNumber));
  return { outcome: 'known', next };
}

export interface NumberSpan {
  readonly after: number;
  readonly until: number;
}

/** The spans after a number and through another in which there are changes. @param epochs by first number */
export function spansOf(
  { after, until }: NumberSpan,
  epochs: readonly FeedEpoch[],
): readonly NumberSpan[] {
  const spans: NumberSpan[] = [];
  let start = after;
  for (const { firstNumber, continuesAfter } of epochs) {
    if (firstNumber <= start + 1 || firstNumber > until) continue;
    spans.push({ after: start, until: continuesAfter });
    start = firstNumber - 1;
  }
  return [...spans, { after: start, until }].filter((span) => span.until > span.after);
}

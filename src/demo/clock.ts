/** How far the service's clock can be put forward for the lists to be compared. */

/** Reconciliation reads lists up to a minute ago by the service's clock, because newer rows may still be missing. */
export const CLOSED_AFTER_MS = 61_000;

/** The ledger does not use versions more than five minutes ahead of its own clock. */
export const MOST_AHEAD_MS = 240_000;

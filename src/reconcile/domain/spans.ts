/**
 * What the scheduled runs cover. The tail follows the watermark; the others go back from their slot,
 * so that a run that is tried again covers the same span and goes on from its checkpoint.
 */
import type { Span } from './windows.ts';

const DAY_MS = 24 * 60 * 60_000;
const NIGHT_DAYS = 8;
const WEEK_DAYS = 120;
/** Longer than a week, so that of what is created at any time some slice meets it. */
const SLICE_DAYS = 10;

/** The last eight days: what became final is met a day and a week later. */
export function nightSpan(slotMs: number): Span {
  return { fromMs: slotMs - NIGHT_DAYS * DAY_MS, toMs: slotMs };
}

export function weekSpan(slotMs: number): Span {
  return { fromMs: slotMs - WEEK_DAYS * DAY_MS, toMs: slotMs };
}

/**
 * The oldest part of the week's span, listed in full, since equal totals prove little: whatever was
 * created is met there before the week's span leaves it behind.
 */
export function sliceSpan(slotMs: number): Span {
  const { fromMs } = weekSpan(slotMs);
  return { fromMs, toMs: fromMs + SLICE_DAYS * DAY_MS };
}

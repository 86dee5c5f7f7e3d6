/**
 * What the scheduled runs cover. The tail follows the watermark; the others go back from their slot,
 * so that a run that is tried again covers the same span and goes on from its checkpoint.
 */
import type { Span } from './windows.ts';

const DAY_MS = 24 * 60 * 60_000;
const NIGHT_DAYS = 8;
const WEEK_DAYS = 120;
/** The weekly totals are complemented by one slice of them, listed in full: all in a year and a half. */
const SLICES = 12;

/** The last eight days: what became final is met a day and a week later. */
export function nightSpan(slotMs: number): Span {
  return { fromMs: slotMs - NIGHT_DAYS * DAY_MS, toMs: slotMs };
}

export function weekSpan(slotMs: number): Span {
  return { fromMs: slotMs - WEEK_DAYS * DAY_MS, toMs: slotMs };
}

/** The part of the week's span whose turn it is to be listed in full, since equal totals prove little. */
export function sliceSpan(slotMs: number): Span {
  const turn = Math.floor(slotMs / (7 * DAY_MS)) % SLICES;
  const { fromMs } = weekSpan(slotMs);
  const lengthMs = (WEEK_DAYS * DAY_MS) / SLICES;
  return { fromMs: fromMs + turn * lengthMs, toMs: fromMs + (turn + 1) * lengthMs };
}

/**
 * What the scheduled runs cover. The tail follows the watermark; the others go back from their slot,
 * so that a run that is tried again covers the same span and goes on from its checkpoint. They end
 * before any ceiling (run.ts, rule 1): cut at one, a span would be another with each try.
 */
import { DAY_MS, MINUTE_MS } from '../../platform/time.ts';
import type { Span } from './windows.ts';

/** More than the ceiling leaves out, and clocks differ by; what is younger is the tail's. */
const END_MS = 5 * MINUTE_MS;
const NIGHT_DAYS = 8;
const WEEK_DAYS = 120;
/** Longer than a week, so that of what is created at any time some slice meets it. */
const SLICE_DAYS = 10;

/** The last eight days: what became final is met a day and a week later. */
export function nightSpan(slotMs: number): Span {
  return { fromMs: slotMs - NIGHT_DAYS * DAY_MS, toMs: slotMs - END_MS };
}

export function weekSpan(slotMs: number): Span {
  return { fromMs: slotMs - WEEK_DAYS * DAY_MS, toMs: slotMs - END_MS };
}

/**
 * The oldest part of the week's span, listed in full, since equal totals prove little: whatever was
 * created is met there before the week's span leaves it behind.
 */
export function sliceSpan(slotMs: number): Span {
  const { fromMs } = weekSpan(slotMs);
  return { fromMs, toMs: fromMs + SLICE_DAYS * DAY_MS };
}

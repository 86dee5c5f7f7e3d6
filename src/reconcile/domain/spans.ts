/**
 * What the scheduled runs cover. The tail follows the watermark. The others reach back from their slot,
 * so that a retried run covers the same span and resumes at its checkpoint. They end before any ceiling
 * (run.ts, rule 1): cut there, the span would change with each attempt.
 */
import { DAY_MS, MINUTE_MS } from '../../platform/time.ts';
import type { Span } from './windows.ts';

/** More than the ceiling leaves out and clocks differ by; what is younger is left to the tail. */
const END_MS = 5 * MINUTE_MS;
const NIGHT_DAYS = 8;
const WEEK_DAYS = 120;
/** Longer than a week, so that some slice covers each instant. */
const SLICE_DAYS = 10;

/** The last eight days: what became final is listed again a day and a week later. */
export function nightSpan(slotMs: number): Span {
  return { fromMs: slotMs - NIGHT_DAYS * DAY_MS, toMs: slotMs - END_MS };
}

/** The last 120 days: what the weekly comparison of totals covers. */
export function weekSpan(slotMs: number): Span {
  return { fromMs: slotMs - WEEK_DAYS * DAY_MS, toMs: slotMs - END_MS };
}

/**
 * Whether a span has what the weekly comparison of totals has at a time. A run may be resumed a day
 * later, so the last day may be missing.
 */
export function coversWeek({ fromMs, toMs }: Span, nowMs: number): boolean {
  const week = weekSpan(nowMs);
  return fromMs <= week.fromMs && toMs >= week.toMs - DAY_MS;
}

/**
 * The oldest part of the week's span, listed in full, since equal totals prove little: everything is
 * listed there once before it leaves the week's span.
 */
export function sliceSpan(slotMs: number): Span {
  const { fromMs } = weekSpan(slotMs);
  return { fromMs, toMs: fromMs + SLICE_DAYS * DAY_MS };
}

/** A part of a list, seen from the start of the run that listed it. */
export interface ListedReach {
  /** How long before the run it begins. */
  readonly reachMs: number;
  readonly toMs: number;
}

/** A slot or two of the tail. */
const MIN_SHIFT_MS = 10 * MINUTE_MS;
/** A day of the night's eight. */
const SHIFT_SHARE = 1 / 8;

/**
 * Whether listing a part shows if another is still unstable: it must reach back as far, and end no earlier.
 * The reach is that from the start of each run, less what delays shift, because the spans of a schedule move
 * on with time: the next run does not list the oldest part of the last one.
 */
export function showsAgain(listed: ListedReach, unstable: ListedReach): boolean {
  const shiftMs = Math.max(MIN_SHIFT_MS, unstable.reachMs * SHIFT_SHARE);
  return listed.reachMs >= unstable.reachMs - shiftMs && listed.toMs >= unstable.toMs;
}

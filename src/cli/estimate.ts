/**
 * Estimates the time left of a task from how much was done at which times. Pure.
 *
 * 1. Work is uneven: a time in which nothing was sold is read in a moment, and the season takes hours. So the
 *    pace of the last ten seconds or five steps counts, beside that of the whole time. Where they differ by more
 *    than twice, the estimate is the range between them.
 * 2. The time since the last step counts, too: what stalls has more and more time left.
 * 3. What was done before the first time is not part of the pace: a run that is resumed begins far along.
 */
export interface Sample {
  readonly atMs: number;
  readonly done: number;
}

/** Milliseconds. The two are equal unless the pace changed. */
export interface TimeLeft {
  readonly leastMs: number;
  readonly mostMs: number;
}

/** An hour has one for each minute, and more of the last minutes. */
const MOST_SAMPLES = 64;
const RECENT_MS = 10_000;
const RECENT_STEPS = 5;
/** Paces that differ less are the same. */
const SAME_PACE = 2;

/** Adds a sample to those that are kept. Of many, every second one is forgotten. */
export function withSample(samples: readonly Sample[], sample: Sample): readonly Sample[] {
  const kept =
    samples.length < MOST_SAMPLES ? samples : samples.filter((_one, place) => place % 2 === 0);
  return [...kept, sample];
}

/** Undefined while nothing shows the pace. @param samples in the order of their times */
export function timeLeft(
  samples: readonly Sample[],
  { nowMs, total }: { readonly nowMs: number; readonly total: number },
): TimeLeft | undefined {
  const [first] = samples;
  const last = samples.at(-1);
  if (!first || !last || last.done >= total) return undefined;
  const since = (start: Sample): number | undefined => {
    const [done, tookMs] = [last.done - start.done, nowMs - start.atMs];
    return done > 0 && tookMs > 0 ? ((total - last.done) * tookMs) / done : undefined;
  };
  const average = since(first);
  if (average === undefined) return undefined;
  const start = samples.findLastIndex(({ atMs }) => atMs <= nowMs - RECENT_MS);
  const recent = samples[Math.min(start, samples.length - 1 - RECENT_STEPS)] ?? first;
  const recentMs = since(recent) ?? average;
  const [leastMs, mostMs] = [Math.min(average, recentMs), Math.max(average, recentMs)];
  return mostMs > SAME_PACE * leastMs
    ? { leastMs, mostMs }
    : { leastMs: recentMs, mostMs: recentMs };
}

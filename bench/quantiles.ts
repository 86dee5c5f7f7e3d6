/** Quantiles of measured times, and means over the course of a run. */

export interface Quantiles {
  readonly samples: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/** The time that a share of all reached. */
export function quantile(ascending: readonly number[], share: number): number {
  return ascending[Math.min(ascending.length - 1, Math.floor(ascending.length * share))] ?? 0;
}

/** Of an even number of values, the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const ascending = values.toSorted((a, b) => a - b);
  const middle = Math.floor(ascending.length / 2);
  const upper = ascending[middle] ?? 0;
  return ascending.length % 2 === 1 ? upper : ((ascending[middle - 1] ?? upper) + upper) / 2;
}

export function quantilesOf(timesMs: readonly number[]): Quantiles {
  const ascending = timesMs.toSorted((a, b) => a - b);
  return {
    samples: ascending.length,
    p50Ms: quantile(ascending, 0.5),
    p99Ms: quantile(ascending, 0.99),
    maxMs: ascending.at(-1) ?? 0,
  };
}

/** Means of what was measured in each third of a run. */
export interface Thirds {
  readonly start: number;
  readonly middle: number;
  readonly end: number;
}

export function thirdsOf(samples: readonly number[]): Thirds {
  const size = Math.max(1, Math.floor(samples.length / 3));
  const mean = (part: readonly number[]): number =>
    part.reduce((sum, sample) => sum + sample, 0) / Math.max(1, part.length);
  return {
    start: mean(samples.slice(0, size)),
    middle: mean(samples.slice(size, -size)),
    end: mean(samples.slice(-size)),
  };
}

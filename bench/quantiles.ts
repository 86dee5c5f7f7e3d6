/** Quantiles of measured times. */

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

export function quantilesOf(timesMs: readonly number[]): Quantiles {
  const ascending = timesMs.toSorted((a, b) => a - b);
  return {
    samples: ascending.length,
    p50Ms: quantile(ascending, 0.5),
    p99Ms: quantile(ascending, 0.99),
    maxMs: ascending.at(-1) ?? 0,
  };
}

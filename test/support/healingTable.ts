/** What healing came to, for each rate of lost webhooks: printed when the seeds are done. */
import { groupBy } from '../../src/platform/collections.ts';

export interface HealedSeed {
  readonly lossPercent: number;
  readonly isEqual: boolean;
  /** Of the one run after the faults stopped. */
  readonly requests: number;
  readonly seconds: number;
}

export function healingTable(seeds: readonly HealedSeed[]): string {
  const lines = [...groupBy(seeds, ({ lossPercent }) => lossPercent)]
    .toSorted(([one], [other]) => one - other)
    .map(([lossPercent, own]) =>
      [
        `${lossPercent} %`,
        own.length,
        own.filter(({ isEqual }) => isEqual).length,
        ...medianAndMost(own.map(({ requests }) => requests)),
        ...medianAndMost(own.map(({ seconds }) => seconds)).map((one) => one.toFixed(2)),
      ].map(cell),
    );
  const head = ['lost', 'seeds', 'equal', 'requests', 'most', 'seconds', 'most'].map(cell);
  return [head, ...lines].map((line) => line.join('')).join('\n');
}

function cell(value: string | number): string {
  return String(value).padStart(10);
}

function medianAndMost(values: readonly number[]): readonly [number, number] {
  const sorted = values.toSorted((one, other) => one - other);
  return [sorted[Math.floor(sorted.length / 2)] ?? 0, sorted.at(-1) ?? 0];
}

/** Results of repairing, by rate of lost webhooks; printed after the last seed. */
import { groupBy } from '../../src/platform/collections.ts';

export interface SeedResult {
  readonly lossPercent: number;
  readonly isEqual: boolean;
  /** Requests and duration of the one run after the faults stopped. */
  readonly requests: number;
  readonly seconds: number;
}

export function healingTable(seeds: readonly SeedResult[]): string {
  const lines = [...groupBy(seeds, ({ lossPercent }) => lossPercent)]
    .toSorted(([one], [other]) => one - other)
    .map(([lossPercent, own]) =>
      [
        `${lossPercent} %`,
        own.length,
        own.filter(({ isEqual }) => isEqual).length,
        ...medianAndMax(own.map(({ requests }) => requests)),
        ...medianAndMax(own.map(({ seconds }) => seconds)).map((one) => one.toFixed(2)),
      ].map(cell),
    );
  const head = ['lost', 'seeds', 'equal', 'requests', 'max', 'seconds', 'max'].map(cell);
  return [head, ...lines].map((line) => line.join('')).join('\n');
}

function cell(value: string | number): string {
  return String(value).padStart(10);
}

function medianAndMax(values: readonly number[]): readonly [number, number] {
  const sorted = values.toSorted((one, other) => one - other);
  return [sorted[Math.floor(sorted.length / 2)] ?? 0, sorted.at(-1) ?? 0];
}

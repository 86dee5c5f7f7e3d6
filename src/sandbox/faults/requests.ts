/** Chooses the fault of a request, and counts how often each was used. */
import type { SeededRandom } from './seededRandom.ts';
import type { RequestFault } from './settings.ts';

export interface RequestFaults {
  /** @returns the fault of this request, if any, and counts it */
  choose(method: string, path: string): RequestFault | undefined;
}

/**
 * The n-th request that matches an entry gets the same decision in every run.
 * @param random called with the entry's index and the number of the matching request
 */
export function createRequestFaults(
  entries: readonly RequestFault[],
  random: SeededRandom,
): RequestFaults {
  const counts = entries.map((entry) => ({ entry, matched: 0, used: 0 }));
  return {
    choose: (method, path) => {
      for (const [index, count] of counts.entries()) {
        const { entry } = count;
        const matches = (entry.method ?? method) === method && path.startsWith(entry.path);
        if (!matches || count.used >= (entry.times ?? Number.POSITIVE_INFINITY)) continue;
        count.matched += 1;
        if (random('request', index, count.matched) >= entry.rate) continue;
        count.used += 1;
        return entry;
      }
      return undefined;
    },
  };
}

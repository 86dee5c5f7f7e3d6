/** Which fault a request meets. Counts are kept here and nowhere else. */
import type { SeededRandom } from './seededRandom.ts';
import type { RequestFault } from './settings.ts';

export interface RequestFaults {
  /** The fault that this request meets, if any; counts it. */
  choose(method: string, path: string): RequestFault | undefined;
}

/**
 * The n-th request that fits an entry meets the same random in every run.
 * @param random thrown for (entry, how many requests fitted it before)
 */
export function createRequestFaults(
  entries: readonly RequestFault[],
  random: SeededRandom,
): RequestFaults {
  const counts = entries.map((entry) => ({ entry, fitted: 0, used: 0 }));
  return {
    choose: (method, path) => {
      for (const [index, count] of counts.entries()) {
        const { entry } = count;
        const fits = (entry.method ?? method) === method && path.startsWith(entry.path);
        if (!fits || count.used >= (entry.times ?? Number.POSITIVE_INFINITY)) continue;
        count.fitted += 1;
        if (random('request', index, count.fitted) >= entry.rate) continue;
        count.used += 1;
        return entry;
      }
      return undefined;
    },
  };
}

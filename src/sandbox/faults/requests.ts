/** Which fault a request meets. Counts are kept here and nowhere else. */
import type { Dice } from './dice.ts';
import type { RequestFault } from './settings.ts';

export interface RequestFaults {
  /** The fault that this request meets, if any; counts it. */
  choose(method: string, path: string): RequestFault | undefined;
}

/**
 * The n-th request that fits an entry meets the same dice in every run.
 * @param dice thrown for (entry, how many requests fitted it before)
 */
export function createRequestFaults(entries: readonly RequestFault[], dice: Dice): RequestFaults {
  const counts = entries.map((entry) => ({ entry, fitted: 0, used: 0 }));
  return {
    choose: (method, path) => {
      for (const [index, count] of counts.entries()) {
        const { entry } = count;
        const fits = (entry.method ?? method) === method && path.startsWith(entry.path);
        if (!fits || count.used >= (entry.times ?? Number.POSITIVE_INFINITY)) continue;
        count.fitted += 1;
        if (dice('request', index, count.fitted) >= entry.rate) continue;
        count.used += 1;
        return entry;
      }
      return undefined;
    },
  };
}

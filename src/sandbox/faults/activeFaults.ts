/** The active faults and their random source. The control routes set them. */

import { createRequestFaults, type RequestFaults } from './requests.ts';
import { createSeededRandom, type SeededRandom } from './seededRandom.ts';
import type { Faults } from './settings.ts';
import type { FaultContext } from './views.ts';

export interface ActiveFaults {
  readonly current: () => Faults;
  readonly random: () => SeededRandom;
  readonly requests: () => RequestFaults;
  /** Faults and random source together, for the views. */
  readonly context: () => FaultContext;
  /** Counts a list request. @returns its number since the faults were set */
  countList(): number;
  /** Replaces all faults and resets the counts. */
  set(faults: Faults): void;
}

export function createActiveFaults(initial: Faults): ActiveFaults {
  const activate = (faults: Faults) => {
    const random = createSeededRandom(faults.seed);
    return { faults, random, requests: createRequestFaults(faults.requests, random) };
  };
  let active = activate(initial);
  let lists = 0;
  return {
    current: () => active.faults,
    random: () => active.random,
    requests: () => active.requests,
    context: () => active,
    countList: () => {
      lists += 1;
      return lists;
    },
    set: (faults) => {
      active = activate(faults);
      lists = 0;
    },
  };
}

/** The faults that are on now, with their dice. Turned from the control routes, read everywhere. */
import { createDice, type Dice } from './dice.ts';
import { createRequestFaults, type RequestFaults } from './requests.ts';
import { type Faults, NO_FAULTS } from './settings.ts';
import type { Spoiled } from './views.ts';

export interface FaultBoard {
  readonly current: () => Faults;
  readonly dice: () => Dice;
  readonly requests: () => RequestFaults;
  /** Faults and dice together, for what is shown. */
  readonly spoiled: () => Spoiled;
  /** Counts a list request. @returns its number since the faults were set */
  countList(): number;
  /** Replaces all of them; counts begin anew. */
  set(faults: Faults): void;
}

export function createFaultBoard(initial: Faults = NO_FAULTS): FaultBoard {
  const arm = (faults: Faults) => {
    const dice = createDice(faults.seed);
    return { faults, dice, requests: createRequestFaults(faults.requests, dice) };
  };
  let armed = arm(initial);
  let lists = 0;
  return {
    current: () => armed.faults,
    dice: () => armed.dice,
    requests: () => armed.requests,
    spoiled: () => armed,
    countList: () => {
      lists += 1;
      return lists;
    },
    set: (faults) => {
      armed = arm(faults);
      lists = 0;
    },
  };
}

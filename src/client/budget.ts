/** The rate budget that all calls of a client share, and the one that a single process keeps. */
import { type Clock, systemClock } from '../platform/clock.ts';
import {
  type Admission,
  type Lane,
  learn,
  type RateReading,
  take,
  UNKNOWN_RATE,
} from './domain/rate.ts';

/**
 * What a client asks before each request and tells after each answer. Asking again after a wait is
 * left to the caller, so that a budget can be one row that several processes update, without a queue
 * among them. Both methods may reject only when the call they serve shall fail.
 */
export interface RateBudget {
  /** Takes one request for `lane`, or says how long to wait before asking again. */
  readonly take: (lane: Lane) => Promise<Admission>;
  /** Takes in what an answer told about the rate. */
  readonly learn: (reading: RateReading) => Promise<void>;
}

/** A budget for clients of one process. */
export function createLocalBudget(clock: Clock = systemClock): RateBudget {
  let state = UNKNOWN_RATE;
  return {
    take: (lane) => {
      const taken = take(state, lane, clock.nowMs());
      state = taken.state;
      return Promise.resolve(taken.admission);
    },
    learn: (reading) => {
      state = learn(state, reading, clock.nowMs());
      return Promise.resolve();
    },
  };
}

/** The rate budget that all calls of a client share, and an implementation for a single process. */
import { type Clock, systemClock } from '../platform/clock.ts';
import {
  type Admission,
  acquire,
  type Lane,
  type RateReading,
  UNKNOWN_RATE,
  update,
} from './domain/rate.ts';

/**
 * What a client consults before each request and updates after each response. The caller waits and
 * tries again, so a budget can be one database row that several processes share, without a queue
 * between them. If `acquire` rejects, the request is not sent and the call fails as `unavailable`. If
 * `update` rejects, the call goes on: its response has arrived.
 */
export interface RateBudget {
  /** Acquires one request for `lane`, or returns how long to wait before trying again. */
  readonly acquire: (lane: Lane) => Promise<Admission>;
  /** Updates the budget with the rate limit headers of a response. */
  readonly update: (reading: RateReading) => Promise<void>;
}

/** Creates a budget for the clients of one process. */
export function createLocalBudget(clock: Clock = systemClock): RateBudget {
  let state = UNKNOWN_RATE;
  return {
    acquire: (lane) => {
      const acquired = acquire(state, lane, clock.nowMs());
      state = acquired.state;
      return Promise.resolve(acquired.admission);
    },
    update: (reading) => {
      state = update(state, reading, clock.nowMs());
      return Promise.resolve();
    },
  };
}

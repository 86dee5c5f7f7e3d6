/**
 * Counts failed authentications by address. Past the limit, further failures of an address get 429 for
 * the rest of its minute. A valid token passes all the same: an attacker, or a program with an expired
 * token, does not lock out others at its address.
 *
 * Kept in memory and bounded: the oldest address is dropped first.
 */

import { addressGroup } from '../platform/clientAddress.ts';
import type { Clock } from '../platform/clock.ts';

export const MAX_FAILURES = 20;
export const WINDOW_MS = 60_000;
const MAX_ADDRESSES = 10_000;

export interface FailureCount {
  /** How much longer failures of this address are limited; 0 if they are not. */
  limitedForMs(address: string): number;
  /** Counts a failure. @returns how many the address has in its minute */
  note(address: string): number;
  /** How many addresses are kept. */
  readonly size: () => number;
}

export function createFailureCount(clock: Clock, maxAddresses = MAX_ADDRESSES): FailureCount {
  const windows = new Map<string, { failures: number; readonly endsMs: number }>();

  const current = (key: string) => {
    const window = windows.get(key);
    if (window && window.endsMs > clock.nowMs()) return window;
    windows.delete(key);
    return undefined;
  };

  return {
    limitedForMs: (address) => {
      const window = current(addressGroup(address));
      return window && window.failures >= MAX_FAILURES ? window.endsMs - clock.nowMs() : 0;
    },
    note: (address) => {
      const key = addressGroup(address);
      const window = current(key);
      if (window) {
        window.failures += 1;
        return window.failures;
      }
      const [oldest] = windows.keys();
      if (windows.size >= maxAddresses && oldest !== undefined) windows.delete(oldest);
      windows.set(key, { failures: 1, endsMs: clock.nowMs() + WINDOW_MS });
      return 1;
    },
    size: () => windows.size,
  };
}

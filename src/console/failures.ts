/**
 * Counts failed authentications by address, so that tokens cannot be guessed quickly. Past the limit,
 * an address is refused for the rest of its minute, even with a valid token: otherwise guessing could
 * continue.
 *
 * Kept in memory and bounded: the oldest address is dropped first.
 */
import { isIPv6 } from 'node:net';
import type { Clock } from '../platform/clock.ts';

/** A scraper with an outdated token sends a few requests a minute and must not lock its host out. */
export const MAX_FAILURES = 20;
export const WINDOW_MS = 60_000;
const MAX_ADDRESSES = 10_000;

export interface FailureCount {
  /** How much longer this address is refused; 0 if it is not. */
  refusedForMs(address: string): number;
  note(address: string): void;
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
    refusedForMs: (address) => {
      const window = current(networkOf(address));
      return window && window.failures >= MAX_FAILURES ? window.endsMs - clock.nowMs() : 0;
    },
    note: (address) => {
      const key = networkOf(address);
      const window = current(key);
      if (window) {
        window.failures += 1;
        return;
      }
      const [oldest] = windows.keys();
      if (windows.size >= maxAddresses && oldest !== undefined) windows.delete(oldest);
      windows.set(key, { failures: 1, endsMs: clock.nowMs() + WINDOW_MS });
    },
    size: () => windows.size,
  };
}

/** A provider assigns a whole /64 of IPv6 to one customer, so its addresses count as one. */
function networkOf(address: string): string {
  if (!isIPv6(address) || address.includes('.')) return address;
  const [head = '', tail] = address.split('::');
  const groups = head === '' ? [] : head.split(':');
  if (tail !== undefined) {
    const after = tail === '' ? 0 : tail.split(':').length;
    while (groups.length < 8 - after) groups.push('0');
  }
  return groups.slice(0, 4).join(':');
}

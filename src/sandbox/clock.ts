/**
 * The sandbox's time: the machine's, plus what it was advanced by. It never runs backwards, also not
 * over a restart, because the advance is stored.
 */
import type { Clock } from '../platform/clock.ts';

export interface SandboxClock extends Clock {
  /** Goes forward to an instant; one that has passed changes nothing. */
  goTo(targetMs: number): void;
  /** By how much it is ahead of the machine's. */
  readonly advanceMs: () => number;
}

export function createSandboxClock(machine: Clock, advanceMs: number): SandboxClock {
  let ahead = advanceMs;
  return {
    nowMs: () => machine.nowMs() + ahead,
    goTo: (targetMs) => {
      ahead = Math.max(ahead, targetMs - machine.nowMs());
    },
    advanceMs: () => ahead,
  };
}

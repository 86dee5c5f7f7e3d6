/**
 * The sandbox's time: the machine's, plus what it was advanced by.
 *
 * 1. It never runs backwards, also not over a restart or a kill: the advance is stored before the
 *    clock moves, so that nothing bears a time that a later start could fall behind.
 */
import type { Clock } from '../platform/clock.ts';

export interface SandboxClock extends Clock {
  /** Goes forward to an instant; one that has passed changes nothing. By one hand at a time. */
  goTo(targetMs: number): Promise<void>;
  /** By how much it is ahead of the machine's. */
  readonly advanceMs: () => number;
}

export interface SandboxClockParts {
  readonly machine: Clock;
  /** The advance that was stored last. */
  readonly advanceMs: number;
  readonly store: (advanceMs: number) => Promise<void>;
}

export function createSandboxClock(parts: SandboxClockParts): SandboxClock {
  const { machine, store } = parts;
  let ahead = parts.advanceMs;
  return {
    nowMs: () => machine.nowMs() + ahead,
    goTo: async (targetMs) => {
      const wanted = targetMs - machine.nowMs();
      if (wanted <= ahead) return;
      await store(wanted);
      ahead = wanted;
    },
    advanceMs: () => ahead,
  };
}

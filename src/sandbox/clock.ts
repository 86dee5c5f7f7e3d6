/**
 * The sandbox's time: the machine's, plus what it was advanced by.
 *
 * 1. It never runs backwards once anything bears a time of it, also not over a restart or a kill: the
 *    advance is stored before the clock moves, so that nothing bears a time that a later start could
 *    fall behind.
 */
import type { Clock } from '../platform/clock.ts';

export interface SandboxClock extends Clock {
  /** Goes forward to an instant; one that has passed changes nothing. By one hand at a time. */
  advanceTo(targetMs: number): Promise<void>;
  /** Sets it to any instant, for a sandbox that holds nothing yet. */
  startAt(instantMs: number): Promise<void>;
  /** By how much it is ahead of the machine's; negative where it was started in the past. */
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
  const set = async (wanted: number): Promise<void> => {
    await store(wanted);
    ahead = wanted;
  };
  return {
    nowMs: () => machine.nowMs() + ahead,
    advanceTo: async (targetMs) => {
      const wanted = targetMs - machine.nowMs();
      if (wanted > ahead) await set(wanted);
    },
    startAt: (instantMs) => set(instantMs - machine.nowMs()),
    advanceMs: () => ahead,
  };
}

/**
 * The sandbox's clock: the machine's clock plus an offset.
 *
 * 1. It never runs backwards by itself once a stored row has a time of it, not even after a restart or
 *    a kill: the offset is stored before the clock moves.
 */
import type { Clock } from '../platform/clock.ts';

export interface SandboxClock extends Clock {
  /** Moves forward to an instant; a past instant changes nothing. Calls must not overlap. */
  advanceTo(targetMs: number): Promise<void>;
  /** Sets the clock to any instant, earlier or later. */
  setTo(instantMs: number): Promise<void>;
  /** How far it is ahead of the machine's clock; negative where it was started in the past. */
  readonly advanceMs: () => number;
}

export interface SandboxClockParts {
  readonly machine: Clock;
  /** The offset that was stored last. */
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
    setTo: (instantMs) => set(instantMs - machine.nowMs()),
    advanceMs: () => ahead,
  };
}

/**
 * How long replies to strangers are delayed, so that forged requests leave the processor to good ones.
 * A sender that waits for its reply sends no faster than it receives replies.
 *
 * Replies are free up to a burst; beyond it they are spaced evenly, each at most `maxDelayMs` late.
 */

export interface PaceLimits {
  readonly perSecond: number;
  readonly burst: number;
  readonly maxDelayMs: number;
}

/** @returns a function from the current time to the delay of one more reply, in milliseconds */
export function createReplyPace(limits: PaceLimits): (nowMs: number) => number {
  const spacingMs = 1000 / limits.perSecond;
  const allowanceMs = spacingMs * limits.burst;
  let nextFreeMs = Number.NEGATIVE_INFINITY;
  return (nowMs) => {
    const dueMs = Math.max(nextFreeMs, nowMs - allowanceMs);
    // The debt is bounded, so that replies are prompt again soon after an attack.
    nextFreeMs = Math.min(dueMs + spacingMs, nowMs + limits.maxDelayMs);
    return Math.max(0, Math.min(dueMs - nowMs, limits.maxDelayMs));
  };
}

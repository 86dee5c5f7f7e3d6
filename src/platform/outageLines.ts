/**
 * Keeps an outage from flooding the log: while a server is unreachable, every batch, job and attempt
 * fails, and each failure would be a line.
 *
 * 1. The first failure to reach a server is logged as it is. For the next minute further ones are
 *    counted instead; the minute ends with one line that has the counts by event and the last error.
 * 2. A minute without a failure ends the outage, so that nothing stays counted and unlogged.
 * 3. Every other line passes.
 */
import { isDatabaseAway } from './db/failures.ts';

const WINDOW_MS = 60_000;

export interface OutageLines {
  /** Whether the line is to be counted instead of logged. */
  isCounted(facts: unknown, event: unknown): boolean;
}

/** How often each event was not logged, and what failed last. */
export interface Unlogged {
  readonly notLogged: Readonly<Record<string, number>>;
  readonly error: unknown;
}

/** @param report logs what was counted in a minute */
export function createOutageLines(report: (unlogged: Unlogged) => void): OutageLines {
  let isOutage = false;
  let counts: Record<string, number> = {};
  let lastError: unknown;

  const endWindow = (): void => {
    const notLogged = counts;
    counts = {};
    isOutage = Object.keys(notLogged).length > 0;
    if (!isOutage) return;
    startWindow();
    report({ notLogged, error: lastError });
  };
  const startWindow = (): void => {
    // A process that has nothing else to do may end.
    setTimeout(endWindow, WINDOW_MS).unref();
  };

  return {
    isCounted: (facts, event) => {
      const error = errorOf(facts);
      if (error === undefined || typeof event !== 'string' || !isDatabaseAway(error)) return false;
      if (!isOutage) {
        isOutage = true;
        startWindow();
        return false;
      }
      counts[event] = (counts[event] ?? 0) + 1;
      lastError = error;
      return true;
    },
  };
}

function errorOf(facts: unknown): unknown {
  return typeof facts === 'object' && facts !== null && 'error' in facts ? facts.error : undefined;
}

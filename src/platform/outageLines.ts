/**
 * Limits the log lines of an outage: while a server is unreachable, every batch, job and attempt
 * fails, and each failure would write a line.
 *
 * 1. The first failure to reach a server is logged unchanged. Failures of the next minute are counted
 *    instead; the minute ends with one line that has the counts by event and the last error.
 * 2. A minute without a failure ends the outage, so that no count remains unlogged.
 * 3. Every other line is logged unchanged.
 */
import { isDatabaseUnavailable } from './db/failures.ts';

const WINDOW_MS = 60_000;

export interface OutageLines {
  /** Whether the line is counted instead of logged. */
  isCounted(facts: unknown, event: unknown): boolean;
}

/** How often each event was not logged, and the last error. */
export interface Unlogged {
  readonly notLogged: Readonly<Record<string, number>>;
  readonly error: unknown;
}

/** @param report logs the counts of a minute */
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
    // Unreferenced, so that a process with no other work can exit.
    setTimeout(endWindow, WINDOW_MS).unref();
  };

  return {
    isCounted: (facts, event) => {
      const error = errorOf(facts);
      if (error === undefined || typeof event !== 'string' || !isDatabaseUnavailable(error))
        return false;
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

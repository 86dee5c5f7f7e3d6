/**
 * Limits the log lines of an outage: while a server is unreachable, or a queue refuses its commands,
 * every batch, job and attempt fails, and each failure would write a line.
 *
 * 1. The first failure is logged unchanged. Failures of the next minute are counted instead; the minute
 *    ends with one line that has the counts by event and the last error.
 * 2. A minute without a failure ends the outage, so that no count remains unlogged.
 * 3. Every other line is logged unchanged.
 * 4. A queue that refuses its commands and a server that is unreachable are two outages.
 */
import { isDatabaseUnavailable } from './db/failures.ts';
import { QueueFailure } from './queue/problem.ts';

const WINDOW_MS = 60_000;

export interface OutageLines {
  /** Whether the line is counted instead of logged. */
  isCounted(facts: unknown, event: unknown): boolean;
}

type Outage = 'unreachable' | 'queue';

/** How often each event was not logged, and the last error. */
export interface Unlogged {
  readonly outage: Outage;
  readonly notLogged: Readonly<Record<string, number>>;
  readonly error: unknown;
}

/** @param report logs the counts of a minute */
export function createOutageLines(report: (unlogged: Unlogged) => void): OutageLines {
  const createCounter = (outage: Outage) => {
    let isOutage = false;
    let counts: Record<string, number> = {};
    let lastError: unknown;
    const endWindow = (): void => {
      const notLogged = counts;
      counts = {};
      isOutage = Object.keys(notLogged).length > 0;
      if (!isOutage) return;
      startWindow();
      report({ outage, notLogged, error: lastError });
    };
    const startWindow = (): void => {
      // Unreferenced, so that a process with no other work can exit.
      setTimeout(endWindow, WINDOW_MS).unref();
    };
    /** @returns false for the first failure of an outage */
    return (event: string, error: unknown): boolean => {
      if (!isOutage) {
        isOutage = true;
        startWindow();
        return false;
      }
      counts[event] = (counts[event] ?? 0) + 1;
      lastError = error;
      return true;
    };
  };
  const counters = { unreachable: createCounter('unreachable'), queue: createCounter('queue') };

  return {
    isCounted: (facts, event) => {
      const error = errorOf(facts);
      const outage = outageOf(error);
      if (outage === undefined || typeof event !== 'string') return false;
      return counters[outage](event, error);
    },
  };
}

function outageOf(error: unknown): Outage | undefined {
  if (error === undefined) return undefined;
  if (error instanceof QueueFailure) return 'queue';
  return isDatabaseUnavailable(error) ? 'unreachable' : undefined;
}

function errorOf(facts: unknown): unknown {
  return typeof facts === 'object' && facts !== null && 'error' in facts ? facts.error : undefined;
}

/**
 * Holds work back until the database is fit for it: reachable, migrated, and ours. A process may
 * start before its database; it then waits here, says why, and goes on by itself.
 */
import { toError } from '../errors.ts';
import type { Log } from '../log.ts';
import { pause } from '../pause.ts';

export interface Gate {
  isOpen(): boolean;
  /** Why it is not open yet, for people. */
  reason(): string;
  /** Runs `work` once the gate is open; at once if it is. */
  whenOpen(work: () => void): void;
  /** Ends the checking; what waits is never run. */
  close(): void;
}

const RETRY_MS = 1_000;

/**
 * Opens when `check` returns; tries again every second while it throws.
 * The first check is made here, so that a caller can act on what it throws before going on.
 */
export async function createGate(
  check: () => Promise<void>,
  isWorthWaiting: (error: unknown) => boolean,
  log: Log,
): Promise<Gate> {
  let open = false;
  let reason = '';
  const waiting: (() => void)[] = [];
  const closing = new AbortController();
  const { signal } = closing;

  /** @returns what keeps it shut */
  const attempt = async (): Promise<unknown> => {
    try {
      await check();
      if (signal.aborted) return undefined;
      open = true;
      for (const work of waiting.splice(0)) work();
      return undefined;
    } catch (error) {
      const { message } = toError(error);
      // A check that was under way when the pool was closed says nothing about the database.
      if (!signal.aborted && reason !== message) {
        log.warn({ error: toError(error) }, 'database.not_ready');
      }
      reason = message;
      return error;
    }
  };
  const keepTrying = async (): Promise<void> => {
    while (!open) {
      await pause(RETRY_MS, signal);
      if (signal.aborted) return;
      await attempt();
    }
    log.info('database.ready');
  };

  const first = await attempt();
  if (first !== undefined) {
    if (!isWorthWaiting(first)) throw first;
    void keepTrying();
  }
  return {
    isOpen: () => open,
    reason: () => reason,
    whenOpen: (work) => {
      if (open) work();
      else waiting.push(work);
    },
    close: () => {
      closing.abort();
      waiting.length = 0;
    },
  };
}

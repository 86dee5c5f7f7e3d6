/**
 * Holds work back until the database is reachable, migrated, and bound to this installation. A
 * process can start before its database: it waits here, logs the reason, and continues by itself.
 */
import { toError } from '../errors.ts';
import type { Log } from '../log.ts';
import { sleep } from '../sleep.ts';

export interface Gate {
  isOpen(): boolean;
  /** Why it is not open yet, for operators. */
  reason(): string;
  /** Runs `work` when the gate opens, or immediately if it is open. */
  whenOpen(work: () => void): void;
  /** Stops the checks; waiting work never runs. */
  close(): void;
}

const RETRY_MS = 1_000;

/**
 * Opens when `check` returns, and retries every second while it throws.
 * The first check runs before this function returns, so that a caller can handle its error.
 */
export async function createGate(
  check: () => Promise<void>,
  isWorthWaiting: (error: unknown) => boolean,
  log: Log,
  wait: (signal: AbortSignal) => Promise<void> = (signal) => sleep(RETRY_MS, signal),
): Promise<Gate> {
  let open = false;
  let reason = '';
  const waiting: (() => void)[] = [];
  const closing = new AbortController();
  const { signal } = closing;

  /** @returns the error that keeps the gate closed */
  const attempt = async (): Promise<unknown> => {
    try {
      await check();
      if (signal.aborted) return undefined;
      open = true;
      for (const work of waiting.splice(0)) work();
      return undefined;
    } catch (error) {
      const { message } = toError(error);
      // A check that was in progress when the pool was closed does not describe the database.
      if (!signal.aborted && reason !== message) {
        log.warn({ error: toError(error) }, 'database.not_ready');
      }
      reason = message;
      return error;
    }
  };
  const keepTrying = async (): Promise<void> => {
    while (!open) {
      await wait(signal);
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

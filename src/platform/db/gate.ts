/**
 * Holds work back until the database is fit for it: reachable, migrated, and ours. A process may
 * start before its database; it then waits here, says why, and goes on by itself.
 */
import { toError } from '../errors.ts';
import type { Log } from '../log.ts';

export interface Gate {
  isOpen(): boolean;
  /** Why it is not open yet, for people. */
  reason(): string;
  /** Runs `work` once the gate is open; at once if it is. */
  whenOpen(work: () => void): void;
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
  let timer: NodeJS.Timeout | undefined;
  const waiting: (() => void)[] = [];

  const attempt = async (): Promise<unknown> => {
    try {
      await check();
      open = true;
      for (const work of waiting.splice(0)) work();
      return undefined;
    } catch (error) {
      if (reason !== toError(error).message)
        log.warn({ error: toError(error) }, 'database.not_ready');
      reason = toError(error).message;
      return error;
    }
  };
  const again = (): void => {
    timer = setTimeout(() => {
      void attempt().then((error) => {
        if (error !== undefined) again();
        else log.info('database.ready');
      });
    }, RETRY_MS);
  };

  const first = await attempt();
  if (first !== undefined) {
    if (!isWorthWaiting(first)) throw first;
    again();
  }
  return {
    isOpen: () => open,
    reason: () => reason,
    whenOpen: (work) => {
      if (open) work();
      else waiting.push(work);
    },
    close: () => {
      clearTimeout(timer);
      waiting.length = 0;
    },
  };
}

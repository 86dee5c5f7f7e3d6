/**
 * Counts deliveries without a valid signature, which are not stored. Counts are kept in memory and
 * written in one statement at most every ten seconds: anyone can send such requests, and a request must
 * not cost a write to the database.
 *
 * Counts that a process has not written when it dies are lost: the service retries what it
 * could not deliver, and the retries count again.
 */
import { toError } from '../platform/errors.ts';
import type { Log } from '../platform/log.ts';
import { sleep } from '../platform/sleep.ts';
import type { CountName } from './store/watch.ts';

export interface RejectionCount {
  count(reason: 'missing' | 'malformed' | 'mismatch'): void;
  /** Writes the counts without further delay. */
  drain(): Promise<void>;
}

export type WriteCounts = (
  counts: readonly { readonly name: CountName; readonly count: number }[],
) => Promise<void>;

const WRITE_EVERY_MS = 10_000;

/** @param rest waits between two writes, or less when the signal ends it */
export function createRejectionCount(
  write: WriteCounts,
  log: Log,
  rest: (signal: AbortSignal) => Promise<void> = (signal) => sleep(WRITE_EVERY_MS, signal),
): RejectionCount {
  const counted = new Map<CountName, number>();
  const stopping = new AbortController();
  let running: Promise<void> | undefined;

  const run = async (): Promise<void> => {
    do {
      await rest(stopping.signal);
      const counts = Array.from(counted, ([name, count]) => ({ name, count }));
      counted.clear();
      try {
        await write(counts);
      } catch (error) {
        log.warn({ error: toError(error) }, 'monitor.rejections_not_counted');
        for (const { name, count } of counts) add(name, count);
      }
    } while (counted.size > 0 && !stopping.signal.aborted);
    running = undefined;
  };
  const add = (name: CountName, count: number): void => {
    counted.set(name, (counted.get(name) ?? 0) + count);
  };

  return {
    count: (reason) => {
      add(reason === 'mismatch' ? 'signature_mismatched' : 'signature_unsigned', 1);
      running ??= run();
    },
    drain: () => {
      stopping.abort();
      return running ?? Promise.resolve();
    },
  };
}

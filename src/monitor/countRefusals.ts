/**
 * Counts deliveries without a valid signature, of which nothing is kept. They are counted in memory
 * and written as one statement at most every ten seconds, and only when there were some: anybody can
 * send as many as they like, and none of them may cost the database a write.
 *
 * What a process has not written when it dies is lost: the count only serves to notice many.
 */
import { toError } from '../platform/errors.ts';
import type { Log } from '../platform/log.ts';
import { pause } from '../platform/pause.ts';
import type { CountName } from './store/watch.ts';

export interface RefusalCount {
  count(reason: 'missing' | 'malformed' | 'mismatch'): void;
  /** Writes what was counted without further delay. */
  drain(): Promise<void>;
}

export type WriteCounts = (
  counts: readonly { readonly name: CountName; readonly count: number }[],
) => Promise<void>;

const WRITE_EVERY_MS = 10_000;

/** @param rest waits between two writes, or less when the signal ends it */
export function createRefusalCount(
  write: WriteCounts,
  log: Log,
  rest: (signal: AbortSignal) => Promise<void> = (signal) => pause(WRITE_EVERY_MS, signal),
): RefusalCount {
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
        log.warn({ error: toError(error) }, 'receiver.refusals_not_counted');
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

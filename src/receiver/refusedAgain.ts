/**
 * Acknowledged events that a server refuses which has taken over (recall.ts): a constraint, a trigger or an encoding
 * differs there, and the same event is refused each time. They are kept apart from the others, so that those are
 * persisted, and tried again with growing waits, because a person can correct the cause.
 *
 * Invariants
 *   1. A refused event is kept until a server has it, this process ends, or newer refused ones need its memory.
 *   2. The log names each event when it is refused first, and when it is forgotten. The person who corrects the cause
 *      learns from it what is missing.
 */
import { affectsEveryTransaction } from '../platform/db/failures.ts';
import type { Log } from '../platform/log.ts';
import { MINUTE_MS, SECOND_MS } from '../platform/time.ts';
import type { NewEvent } from './store/inbox.ts';

export interface RefusedAgain {
  count(): number;
  add(event: NewEvent, receivedAt: Date, error: unknown): void;
  /** Tries those that are due. @param persist of one event @throws if the server refuses every transaction */
  retry(persist: (event: NewEvent, receivedAt: Date) => Promise<void>): Promise<void>;
  /** Forgets all. */
  close(): void;
}

interface Refused {
  readonly event: NewEvent;
  readonly receivedAt: Date;
  attempts: number;
  dueMs: number;
}

const FIRST_WAIT_MS = 5 * SECOND_MS;
const MAX_WAIT_MS = MINUTE_MS;
const MAX_BYTES = 16 * 1024 * 1024;

export function createRefusedAgain(log: Log, monotonicMs: () => number): RefusedAgain {
  const kept = new Set<Refused>();
  let bytes = 0;

  const remove = (one: Refused): void => {
    kept.delete(one);
    bytes -= one.event.body.length;
  };
  const forget = (one: Refused): void => {
    remove(one);
    const { event, receivedAt } = one;
    log.error({ eventId: event.eventId, receivedAt }, 'receiver.refused_event_forgotten');
  };
  const postpone = (one: Refused): void => {
    one.attempts += 1;
    one.dueMs = monotonicMs() + Math.min(FIRST_WAIT_MS * 2 ** (one.attempts - 1), MAX_WAIT_MS);
  };

  return {
    count: () => kept.size,
    add: (event, receivedAt, error) => {
      const one = { event, receivedAt, attempts: 0, dueMs: 0 };
      postpone(one);
      kept.add(one);
      bytes += event.body.length;
      log.error(
        { error, eventId: event.eventId, receivedAt },
        'receiver.acknowledged_event_refused',
      );
      for (const oldest of kept) {
        if (bytes <= MAX_BYTES) break;
        forget(oldest);
      }
    },
    retry: async (persist) => {
      for (const one of kept) {
        if (one.dueMs > monotonicMs()) continue;
        try {
          await persist(one.event, one.receivedAt);
          remove(one);
        } catch (error) {
          if (affectsEveryTransaction(error)) throw error;
          postpone(one);
        }
      }
    },
    close: () => {
      for (const one of kept) forget(one);
    },
  };
}

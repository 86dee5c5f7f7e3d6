/**
 * Persists what this receiver acknowledged at an earlier server at the current one (recall.ts, invariants 4 and 5), and
 * counts what that one lacked and what it refuses.
 */
import { isTransient } from '../platform/db/failures.ts';
import type { Log } from '../platform/log.ts';
import { createRefusedAgain } from './refusedAgain.ts';
import type { NewEvent } from './store/inbox.ts';
import type { StoredBatch } from './storeBatch.ts';

/** Acknowledged events that the server lacked. */
export interface FoundLoss {
  readonly timeline: string;
  /** Those that were persisted again. */
  readonly events: number;
  /** Those that it refuses; negative for those that it refused before. */
  readonly refused: number;
  readonly firstReceivedAt: Date;
  readonly lastReceivedAt: Date;
}

export interface PersistAgainParts {
  readonly persist: (events: readonly NewEvent[], receivedAt: Date) => Promise<StoredBatch>;
  readonly enqueue: (webhookEventIds: readonly number[]) => void;
  readonly report: (loss: FoundLoss) => Promise<void>;
  readonly log: Log;
  /** Milliseconds since any fixed instant, by a monotonic clock. */
  readonly monotonicMs: () => number;
}

export interface Batch {
  readonly events: readonly NewEvent[];
  readonly receivedAt: Date;
}

export interface PersistAgain {
  /**
   * Persists batches together, with the time of the first.
   * @param expected the timeline of the server, as far as it is known
   * @returns the timeline of the server that has seen all of them; undefined if none has, or if it hides its timeline
   */
  persist(batches: readonly Batch[], expected: string): Promise<string | undefined>;
  /** Tries again what was refused. @param keep is given what the server has now */
  retryRefused(keep: (batch: Batch, timeline: string) => void): Promise<void>;
  /** How many events are refused. */
  refused(): number;
  /** Reports what was found since the last report that succeeded. */
  report(): Promise<void>;
  /** Forgets what is refused. */
  close(): void;
}

export function createPersistAgain(parts: PersistAgainParts): PersistAgain {
  const { log } = parts;
  const refused = createRefusedAgain(log, parts.monotonicMs);
  let unreported: FoundLoss | undefined;

  const note = (found: Found): void => {
    unreported = added(unreported, found);
  };
  const persist = async ({ events, receivedAt }: Batch): Promise<string | undefined> => {
    const { outcomes, timeline } = await parts.persist(events, receivedAt);
    if (timeline === undefined) return undefined;
    const numbers = outcomes.flatMap((stored) =>
      'toEnqueue' in stored ? (stored.toEnqueue ?? []) : [],
    );
    log.info(
      { timeline, events: events.length, lost: numbers.length },
      'receiver.failover_checked',
    );
    if (numbers.length > 0) {
      parts.enqueue(numbers);
      note({ timeline, receivedAt, events: numbers.length, refused: 0 });
    }
    return timeline;
  };
  /** If the server fails meanwhile, or another one takes over, none counts as refused: all are tried again. */
  const persistSingly = async (
    batches: readonly Batch[],
    expected: string,
  ): Promise<string | undefined> => {
    const found: {
      readonly event: NewEvent;
      readonly receivedAt: Date;
      readonly error: unknown;
    }[] = [];
    for (const { event, receivedAt } of batches.flatMap(singly)) {
      try {
        if ((await persist({ events: [event], receivedAt })) !== expected) return undefined;
      } catch (error) {
        if (isTransient(error)) throw error;
        found.push({ event, receivedAt, error });
      }
    }
    for (const { event, receivedAt, error } of found) {
      refused.add(event, receivedAt, error);
      note({ timeline: expected, receivedAt, events: 0, refused: 1 });
    }
    return expected;
  };

  return {
    persist: async (batches, expected) => {
      const events = batches.flatMap((batch) => batch.events);
      const receivedAt = batches[0]?.receivedAt ?? new Date(0);
      try {
        return await persist({ events, receivedAt });
      } catch (error) {
        if (isTransient(error)) throw error;
        log.warn({ error, events: events.length }, 'receiver.failover_batch_refused');
        return await persistSingly(batches, expected);
      }
    },
    retryRefused: (keep) =>
      refused.retry(async (event, receivedAt) => {
        const batch = { events: [event], receivedAt };
        const timeline = await persist(batch);
        if (timeline === undefined) return;
        note({ timeline, receivedAt, events: 0, refused: -1 });
        keep(batch, timeline);
      }),
    refused: refused.count,
    report: async () => {
      if (!unreported) return;
      await parts.report(unreported);
      log.error({ ...unreported }, 'receiver.failover_loss_reported');
      unreported = undefined;
    },
    close: refused.close,
  };
}

function singly({ events, receivedAt }: Batch) {
  return events.map((event) => ({ event, receivedAt }));
}

interface Found extends Pick<FoundLoss, 'timeline' | 'events' | 'refused'> {
  readonly receivedAt: Date;
}

function added(loss: FoundLoss | undefined, found: Found): FoundLoss {
  const { timeline, receivedAt, events, refused } = found;
  const times = [receivedAt, ...(loss ? [loss.firstReceivedAt, loss.lastReceivedAt] : [])];
  const ms = times.map((time) => time.getTime());
  return {
    timeline,
    events: events + (loss?.events ?? 0),
    refused: refused + (loss?.refused ?? 0),
    firstReceivedAt: new Date(Math.min(...ms)),
    lastReceivedAt: new Date(Math.max(...ms)),
  };
}

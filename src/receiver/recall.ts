/**
 * Keeps what this receiver acknowledged last, and persists it again when another server has taken over. A standby
 * that replicates asynchronously lacks the last commits of the primary that it replaces; this process, which is
 * outside of the database, still has them. An event that the new server has is a duplicate and changes nothing.
 *
 * Terms
 *   timeline  the history of a server, by its timeline and its start: each promotion and each start counts as
 *             another one. The statement that inserts events returns it, so knowing it takes no request of its own.
 *
 * Invariants
 *   1. An acknowledged event is kept until a server was examined that many minutes (MAX_AGE_MS) after its commit, or
 *      newer ones need its memory. While no server responds, none gets older: a person may take longer to promote
 *      a standby.
 *   2. A kept event that was committed on another timeline than the current one is persisted again, once for each
 *      timeline: also one that the earlier server acknowledged after the new one had taken over.
 *   3. Without deliveries the timeline is read every few seconds, as long as something is kept.
 *   4. Events that the new server lacked are reported with their number and times, when they are persisted again.
 *   5. If the server refuses a batch for its data, its events are persisted one by one, so that only those it refuses
 *      are missing. They are reported, and tried again apart from the others (refusedAgain.ts).
 */
import { sleep } from '../platform/sleep.ts';
import { MINUTE_MS } from '../platform/time.ts';
import { createPersistAgain, type PersistAgainParts } from './persistAgain.ts';
import type { NewEvent } from './store/inbox.ts';

export interface Recall {
  /** Keeps a batch, after its commit. @param timeline of the server that committed it, if it is known */
  keep(events: readonly NewEvent[], receivedAt: Date, timeline: string | undefined): void;
  /** Ends at once; what is kept is forgotten. */
  close(): Promise<void>;
}

export interface RecallParts extends PersistAgainParts {
  readonly readTimeline: () => Promise<string | undefined>;
  readonly wait?: (delayMs: number, signal: AbortSignal) => Promise<void>;
}

/** Far longer than a standby may lag that is promoted. */
const MAX_AGE_MS = 10 * MINUTE_MS;
const MAX_BYTES = 16 * 1024 * 1024;
/** A small body takes memory for its fields, too. */
const BYTES_OF_AN_EVENT = 500;
const CHECK_EVERY_MS = 5_000;
const RETRY_MS = 1_000;
/** Events that are persisted again together have the time of the first. */
const SAME_TIME_MS = 1_000;
const MAX_BATCH = 500;

interface Kept {
  readonly events: readonly NewEvent[];
  readonly receivedAt: Date;
  readonly keptMs: number;
  readonly bytes: number;
  timeline: string;
}

export function createRecall(parts: RecallParts): Recall {
  const { log, monotonicMs, wait = sleep } = parts;
  const kept: Kept[] = [];
  let bytes = 0;
  let current: string | undefined;
  /** When a server was last examined that has everything that is kept (invariant 1). */
  let examinedMs = Number.NEGATIVE_INFINITY;
  let checking: Promise<void> | undefined;
  const server = createPersistAgain(parts);
  const closing = new AbortController();
  const { signal } = closing;

  const forgetOld = (): void => {
    const oldestMs = examinedMs - MAX_AGE_MS;
    let removed = 0;
    while (
      removed < kept.length &&
      (bytes > MAX_BYTES || (kept[removed]?.keptMs ?? 0) < oldestMs)
    ) {
      bytes -= kept[removed]?.bytes ?? 0;
      removed += 1;
    }
    kept.splice(0, removed);
  };
  /** Persists what was committed on other timelines (invariant 2). */
  const persistAgain = async (): Promise<void> => {
    while (!signal.aborted && current !== undefined) {
      const batches = older(kept, current);
      if (batches.length === 0) return;
      const timeline = await server.persist(batches, current);
      if (timeline === undefined) return;
      for (const batch of batches) batch.timeline = timeline;
      current = timeline;
    }
  };
  const check = async (): Promise<void> => {
    let isFailing = false;
    while (!signal.aborted && kept.length + server.refused() > 0) {
      try {
        const beforeMs = monotonicMs();
        current = (await parts.readTimeline()) ?? current;
        await persistAgain();
        await server.retryRefused(({ events, receivedAt }, at) => keep(events, receivedAt, at));
        examinedMs = beforeMs;
        await server.report();
        isFailing = false;
      } catch (error) {
        if (!isFailing) log.warn({ error }, 'receiver.failover_not_checked');
        isFailing = true;
      }
      await wait(isFailing ? RETRY_MS : CHECK_EVERY_MS, signal);
      forgetOld();
    }
    // Nothing comes between the decision and this: what is kept from here on is checked again.
    checking = undefined;
  };
  const keep: Recall['keep'] = (events, receivedAt, timeline) => {
    if (timeline === undefined) return;
    const size = events.reduce((sum, { body }) => sum + body.length + BYTES_OF_AN_EVENT, 0);
    kept.push({ events, receivedAt, keptMs: monotonicMs(), bytes: size, timeline });
    bytes += size;
    forgetOld();
    if (kept.length > 0) checking ??= check();
  };
  return {
    keep,
    close: async () => {
      closing.abort();
      await checking;
      server.close();
    },
  };
}

/** The next of what was committed on another timeline, as far as it was received within a second. */
function older(kept: readonly Kept[], current: string): readonly Kept[] {
  const all = kept.filter(({ timeline }) => timeline !== current).slice(0, MAX_BATCH);
  const firstMs = all[0]?.receivedAt.getTime() ?? 0;
  const some: Kept[] = [];
  let events = 0;
  for (const one of all) {
    events += one.events.length;
    const isLater = one.receivedAt.getTime() - firstMs > SAME_TIME_MS;
    if (some.length > 0 && (isLater || events > MAX_BATCH)) break;
    some.push(one);
  }
  return some;
}

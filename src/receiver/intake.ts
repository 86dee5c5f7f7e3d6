/**
 * Group commit: requests that arrive together share one insert and one commit.
 *
 * 1. An event is acknowledged only after its commit, which waits for a synchronous standby if there
 *    is one. If that wait is canceled, the outcome is `unavailable`.
 * 2. No artificial delay: a lone event is written immediately. Events that arrive while two batches
 *    are in flight form the next one. Three in flight were not faster than two.
 * 3. What is held until it is persisted is bounded (domain/intakeRoom.ts); beyond that the sender gets 503.
 * 4. If the database rejects a batch for its data, the events are written one by one, so that only
 *    the bad one fails.
 * 5. If the partition of the bodies' day is missing, it is made, and the batch is written once more.
 * 6. What is acknowledged is kept in memory first, for a failover that loses its commit (recall.ts).
 */
import { hash } from 'node:crypto';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/db/database.ts';
import { isTransient } from '../platform/db/failures.ts';
import type { Log } from '../platform/log.ts';
import { hasRoom } from './domain/intakeRoom.ts';
import { readEnvelope } from './envelope.ts';
import type { Recall } from './recall.ts';
import { isBodyDayMissing, type NewEvent } from './store/inbox.ts';
import { type Stored, type StoredBatch, storeBatch } from './storeBatch.ts';

export type IntakeOutcome =
  | {
      readonly outcome: Stored['outcome'];
      /** Undefined if the body has none. */
      readonly eventId: string | undefined;
    }
  /** Not persisted, or not known to be: the sender must retry. */
  | { readonly outcome: 'unavailable' }
  | { readonly outcome: 'overloaded' };

export interface Intake {
  /** Whether an event would be refused now, before its body is read. */
  isFull(): boolean;
  /**
   * Persists a verified body. Never throws.
   * @param secretFingerprint of the secret that verified it
   */
  accept(body: Buffer, secretFingerprint: number): Promise<IntakeOutcome>;
  /** Resolves when nothing is waiting or in flight. */
  drain(): Promise<void>;
}

export interface IntakeParts {
  readonly db: Database;
  readonly clock: Clock;
  readonly monotonicMs: () => number;
  readonly log: Log;
  /** Enqueues committed inbox rows for the workers. Must not block or throw. */
  readonly enqueue: (webhookEventIds: readonly number[]) => void;
  readonly observeBatchSize: (events: number) => void;
  readonly keep: Recall['keep'];
  /** Makes the partitions of bodies for today and the next days. */
  readonly makeBodyDays: () => Promise<void>;
}

const MAX_BATCH = 500;
const MAX_IN_FLIGHT = 2;

interface Waiting {
  readonly event: NewEvent;
  /** When it was accepted, by the monotonic clock. */
  readonly sinceMs: number;
  readonly report: (outcome: IntakeOutcome) => void;
}

export function createIntake(parts: IntakeParts): Intake {
  const { clock, monotonicMs, log, enqueue, observeBatchSize, keep } = parts;
  let waiting: Waiting[] = [];
  /** Batches that are being written, the oldest first. */
  const inFlight = new Set<readonly Waiting[]>();
  let heldEvents = 0;
  let heldBytes = 0;
  let isPumpDue = false;
  let idle: (() => void)[] = [];

  const write = async (batch: readonly Waiting[]): Promise<void> => {
    const receivedAt = new Date(clock.nowMs());
    try {
      const events = batch.map(({ event }) => event);
      const { outcomes: stored, timeline } = await storeWithBodyDay(parts, events, receivedAt);
      keep(events, receivedAt, timeline);
      observeBatchSize(batch.length);
      enqueue(stored.flatMap((result) => ('toEnqueue' in result ? (result.toEnqueue ?? []) : [])));
      batch.forEach(({ event, report }, index) => {
        const outcome = stored[index]?.outcome;
        report(outcome ? { outcome, eventId: event.eventId } : { outcome: 'unavailable' });
      });
    } catch (error) {
      if (batch.length > 1 && !isTransient(error)) {
        log.error({ error, events: batch.length }, 'intake.batch_rejected_writing_singly');
        for (const one of batch) await write([one]);
        return;
      }
      // The commit may have happened: a sweep enqueues its events, and the sender's retry is a duplicate.
      log.error({ error, events: batch.length }, 'intake.not_acknowledged');
      for (const { report } of batch) report({ outcome: 'unavailable' });
    }
  };

  const pump = (): void => {
    isPumpDue = false;
    while (inFlight.size < MAX_IN_FLIGHT && waiting.length > 0) {
      const batch = waiting.slice(0, MAX_BATCH);
      waiting = waiting.slice(MAX_BATCH);
      inFlight.add(batch);
      void write(batch).finally(() => {
        inFlight.delete(batch);
        heldEvents -= batch.length;
        for (const { event } of batch) heldBytes -= event.body.length;
        pump();
      });
    }
    if (heldEvents === 0) {
      for (const resolve of idle) resolve();
      idle = [];
    }
  };

  const hasRoomFor = (bytes: number): boolean => {
    const [oldestBatch = waiting] = inFlight;
    const nowMs = monotonicMs();
    const oldestMs = nowMs - (oldestBatch[0]?.sinceMs ?? nowMs);
    return hasRoom({ events: heldEvents, bytes: heldBytes, oldestMs }, bytes);
  };

  return {
    isFull: () => !hasRoomFor(0),
    accept: (body, secretFingerprint) => {
      if (!hasRoomFor(body.length)) return Promise.resolve({ outcome: 'overloaded' });
      const bodyHash = hash('sha256', body, 'buffer');
      const { eventId, merchantId, eventType, subject } = readEnvelope(body);
      const event = { eventId, merchantId, eventType, subject, body, bodyHash, secretFingerprint };
      return new Promise((report) => {
        waiting.push({ event, sinceMs: monotonicMs(), report });
        heldEvents += 1;
        heldBytes += body.length;
        if (isPumpDue) return;
        // Bodies that arrive in one turn of the event loop share the first batch.
        isPumpDue = true;
        setImmediate(pump);
      });
    },
    drain: () =>
      new Promise((resolve) => {
        idle.push(resolve);
        pump();
      }),
  };
}

/** Persists events; makes the partition of their day first, if it is missing (invariant 5). */
export async function storeWithBodyDay(
  { db, log, makeBodyDays }: Pick<IntakeParts, 'db' | 'log' | 'makeBodyDays'>,
  events: readonly NewEvent[],
  receivedAt: Date,
): Promise<StoredBatch> {
  try {
    return await storeBatch(db, events, receivedAt);
  } catch (error) {
    if (!isBodyDayMissing(error)) throw error;
    log.warn({ error, events: events.length }, 'intake.body_day_missing');
    await makeBodyDays();
    return await storeBatch(db, events, receivedAt);
  }
}

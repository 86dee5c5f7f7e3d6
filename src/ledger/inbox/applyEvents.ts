/**
 * Applies inbox events: claims them from `pending`, reads them and passes the observations to
 * applySnapshots, all in one transaction. If anything fails, they stay in `pending`.
 */
import { type Clock, monotonicMs } from '../../platform/clock.ts';
import type { Database, Queryable } from '../../platform/db/database.ts';
import { isContended } from '../../platform/db/failures.ts';
import { limitLockWaits, restoreLockWaits } from '../../platform/db/lockWaits.ts';
import { pipelined } from '../../platform/db/pipelined.ts';
import type { Log } from '../../platform/log.ts';
import { applySnapshots } from '../applySnapshots.ts';
import { explainAbsences, readBodies } from '../bodies/readBodies.ts';
import { contentHash } from '../contentHash.ts';
import type { Account } from '../domain/account.ts';
import { describeAbsence } from '../domain/bodyAbsence.ts';
import {
  type EventReading,
  type InboxEvent,
  readEvent,
  type UnappliedRef,
} from '../domain/event.ts';
import { eventFindings, eventSubject } from '../domain/findings.ts';
import type { Observation } from '../domain/snapshot.ts';
import { retryWithMoreLocks } from '../lockSetChanged.ts';
import type { LedgerMetrics } from '../metrics.ts';
import { closeFindings, closeSubjects, openFindings } from '../recordFindings.ts';
import { recordProfiles } from '../recordProfiles.ts';
import { readOthers } from './otherBodies.ts';
import {
  type ClaimedHeader,
  claimOne,
  claimUntried,
  claimUntriedFrom,
  findIdleHolder,
  hasUntriedFrom,
  type Lanes,
  lockLanes,
  moveToDead,
  readAdditions,
  recordReplays,
  removeFromDead,
  returnToPending,
} from './store/pending.ts';

export interface EventApplier {
  /**
   * Applies the pending events of `ids` that were never tried alone, without those that another transaction
   * holds: all of them or none.
   * @returns the number of applied events
   */
  applyBatch(ids: readonly number[]): Promise<number>;
  /**
   * Applies pending events from `fromId` on that were never tried alone: all that it claims or none.
   * @returns the number of applied events, at most `limit`
   */
  applyFrom(fromId: number, limit: number): Promise<number>;
  /**
   * Applies those of `ids` that are still pending and were never tried alone, after the transactions that hold
   * their lanes. If one of these does nothing for long, its process hangs: lanes are then ignored for a time.
   * @returns the number of applied events
   * @throws a contended error if the others work for long, so that the caller can do something else meanwhile
   */
  applyHeld(ids: readonly number[]): Promise<number>;
  /** Applies one event, if it is still pending. */
  applyOne(id: number): Promise<void>;
  /**
   * Makes an event dead, with a finding.
   * @returns false if it is no longer pending
   */
  markDead(id: number, attempts: number, reason: string): Promise<boolean>;
}

export interface EventApplierParts {
  readonly db: Database;
  /** The account of this installation; invariants of domain/account.ts. */
  readonly account: Account & { readonly merchantId: string };
  readonly clock: Clock;
  readonly metrics: LedgerMetrics;
  readonly log: Log;
}

/**
 * How long a worker waits for lanes, and how long a transaction that holds some may do nothing. A transaction
 * that works may hold them longer: several on few cores do.
 */
const LANES_HELD_FOR_MS = 5_000;
const LANES_IGNORED_FOR_MS = 60_000;

/** The lanes of these events are held for longer than a batch takes. */
class LanesHeld extends Error {
  override readonly name = 'LanesHeld';
}

export function createEventApplier(parts: EventApplierParts): EventApplier {
  let ignoreLanesUntilMs = Number.NEGATIVE_INFINITY;
  const lanes = (): Lanes => (monotonicMs() < ignoreLanesUntilMs ? 'any' : 'free');
  const apply = async (
    claim: (tx: Queryable) => Promise<readonly ClaimedHeader[]>,
  ): Promise<number> => {
    const applied = await retryWithMoreLocks((alsoLock) =>
      parts.db.transaction(async (tx) => {
        const events = await complete(tx, await claim(tx));
        await reviveDead(tx, events);
        const read = events.map((event): ReadEvent => {
          return { event, reading: readEvent(event, parts.account.merchantId) };
        });
        await applyReadings(tx, {
          read,
          others: await readOthers(tx, events, parts.account.merchantId),
          alsoLock,
          account: parts.account,
          nowMs: parts.clock.nowMs(),
        });
        return read;
      }),
    );
    const nowMs = parts.clock.nowMs();
    for (const { event, reading } of applied) {
      parts.metrics.event(reading.outcome);
      parts.metrics.secondsToApply((nowMs - event.receivedMicros / 1000) / 1000);
    }
    return applied.length;
  };

  return {
    applyBatch: (ids) => apply((tx) => claimUntried(tx, ids, lanes())),
    applyFrom: async (fromId, limit) => {
      if (!(await hasUntriedFrom(parts.db, fromId))) return 0;
      return await apply((tx) => claimUntriedFrom(tx, { fromId, limit, lanes: lanes() }));
    },
    applyHeld: async (ids) => {
      try {
        return await apply(async (tx) => {
          if (lanes() === 'free') await waitForLanes(tx, ids);
          return claimUntried(tx, ids, 'any');
        });
      } catch (error) {
        if (!(error instanceof LanesHeld)) throw error;
        const holder = await findIdleHolder(parts.db, LANES_HELD_FOR_MS);
        if (!holder) throw error.cause;
        ignoreLanesUntilMs = monotonicMs() + LANES_IGNORED_FOR_MS;
        parts.log.warn({ holder, ignoredForMs: LANES_IGNORED_FOR_MS }, 'events.lanes_ignored');
        return apply((tx) => claimUntried(tx, ids, 'any'));
      }
    },
    applyOne: async (id) => {
      await apply(async (tx) => {
        const event = await claimOne(tx, id);
        return event ? [event] : [];
      });
    },
    markDead: async (id, attempts, reason) => {
      const isDead = await parts.db.transaction(async (tx) => {
        if (!(await moveToDead(tx, id, attempts, reason))) return false;
        const detail = { attempts, error: reason };
        const finding = { class: 'event_dead', subject: eventSubject(id), detail } as const;
        await openFindings(tx, [{ ...finding, causedBy: id }]);
        return true;
      });
      if (isDead) parts.metrics.event('dead');
      return isDead;
    },
  };
}

/** @throws LanesHeld */
async function waitForLanes(tx: Queryable, ids: readonly number[]): Promise<void> {
  const before = await limitLockWaits(tx, LANES_HELD_FOR_MS);
  try {
    await lockLanes(tx, ids);
  } catch (error) {
    throw isContended(error) ? new LanesHeld('a lane is held', { cause: error }) : error;
  }
  await restoreLockWaits(tx, before);
}

/**
 * Replays events, whether they are dead or applied; applying an event again does not change the ledger.
 * The time of the replay becomes the reference for their versions, because the receiver's clock may have
 * been wrong. Findings about the events are closed, and open again if they still hold.
 * @param tx the transaction that also records who replays them
 */
export async function replayEvents(tx: Queryable, ids: readonly number[]): Promise<void> {
  await recordReplays(tx, ids);
  await returnToPending(tx, ids);
  await closeSubjects(tx, ids.map(eventSubject));
}

/**
 * Adds what an event consists of beside its row.
 * @throws Error if an event has no body anymore. Its attempts are counted like those of any event that
 * cannot be applied, and it ends in `dead_events` with this reason.
 */
async function complete(
  tx: Queryable,
  headers: readonly ClaimedHeader[],
): Promise<readonly InboxEvent[]> {
  if (headers.length === 0) return [];
  const ids = headers.map(({ id }) => id);
  const [added, bodies] = await pipelined([readAdditions(tx, ids), readBodies(tx, headers)]);
  const additions = new Map(added.map((addition) => [addition.id, addition]));
  const absent = headers.filter(({ id }) => !bodies.has(id));
  const [first] = absent;
  const absence = first && (await explainAbsences(tx, absent)).get(first.id);
  if (absence) throw new Error(`it cannot be applied: ${describeAbsence(absence)}`);
  return headers.flatMap((header) => {
    const body = bodies.get(header.id);
    if (!body) return [];
    const { id, eventId, merchantId, receivedMicros, isRepeated } = header;
    const { hasVariants = false, replayedMicros } = additions.get(id) ?? {};
    const referenceMicros = replayedMicros ?? receivedMicros;
    return [
      { id, eventId, merchantId, body, receivedMicros, referenceMicros, hasVariants, isRepeated },
    ];
  });
}

/** A second body under the same event id makes a dead event pending again; nothing else does. */
async function reviveDead(tx: Queryable, events: readonly InboxEvent[]): Promise<void> {
  const reused = events.filter(({ hasVariants }) => hasVariants).map(({ id }) => id);
  if (reused.length === 0) return;
  const revived = await removeFromDead(tx, reused);
  await closeFindings(
    tx,
    revived.map((id) => ({ class: 'event_dead', subject: eventSubject(id), causedBy: id })),
  );
}

interface ReadEvent {
  readonly event: InboxEvent;
  readonly reading: EventReading;
}

interface Readings {
  readonly read: readonly ReadEvent[];
  readonly others: readonly UnappliedRef[];
  readonly alsoLock: readonly string[];
  readonly account: Account;
  readonly nowMs: number;
}

async function applyReadings(tx: Queryable, input: Readings): Promise<void> {
  const { read, others, account, ...rest } = input;
  const observations: Observation[] = [];
  const toRetrieve = [...others];
  for (const { event, reading } of read) {
    if (reading.outcome === 'snapshot') observations.push(toObservation(event, reading));
    if (reading.outcome === 'unreadable_money' || reading.outcome === 'label_conflict') {
      toRetrieve.push({ ...reading.ref, versionMicros: reading.versionMicros });
    }
    // Of many other bodies only the newest are read, so no version shows that a response covers all of them.
    if (reading.outcome === 'snapshot' && event.hasVariants) {
      toRetrieve.push({ ...reading.ref, versionMicros: undefined });
    }
  }
  await applySnapshots(tx, { observations, toRetrieve, ...rest, history: undefined });
  const findings = read.flatMap(({ event, reading }) =>
    eventFindings(event, reading).map((finding) => ({ ...finding, causedBy: event.id })),
  );
  await openFindings(tx, findings);
  const objects = read.flatMap(({ event, reading }) => {
    if (reading.outcome !== 'snapshot') return [];
    const { ref, profileId } = reading;
    return [{ ref, profileId, source: 'webhook', causedBy: event.id } as const];
  });
  await recordProfiles(tx, objects, account);
}

function toObservation(
  { id, receivedMicros, referenceMicros }: InboxEvent,
  { ref, content, observedMicros }: EventReading & { outcome: 'snapshot' },
): Observation {
  return {
    ref,
    content,
    contentHash: contentHash(content),
    source: 'webhook',
    observedMicros,
    webhookEventId: id,
    isReplayed: referenceMicros !== receivedMicros,
  };
}

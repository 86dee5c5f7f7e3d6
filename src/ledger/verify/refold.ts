/**
 * Folds resources again: from the observations kept when the inbox was read, from snapshots of other
 * sources, and from stored epochs.
 *
 * Workers continue while this runs, so the ledger may have applied events that were pending when the
 * inbox was read. Each event that changed a resource has a snapshot that names it. If such an event was
 * not kept, its body is read here. So the fold covers exactly what the ledger had applied in the
 * snapshot of `tx`.
 *
 * An event without a body, which was removed or erased, is represented by the snapshots that name it.
 */
import { groupBy, inChunks } from '../../platform/collections.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { contentHash } from '../contentHash.ts';
import { placeInEpochs } from '../domain/epochs.ts';
import { foldSnapshots, type ResourceState } from '../domain/merge.ts';
import { orderKeyOf } from '../domain/orderKey.ts';
import { type ResourceRef, refKey, type Snapshot } from '../domain/snapshot.ts';
import {
  type EarlierReading,
  type KeptObservation,
  type RebuiltPart,
  readObservations,
} from '../store/rebuild.ts';
import { readRemovedThrough } from '../store/removedThrough.ts';
import { readEpochs } from '../store/snapshots.ts';
import { readStoredSnapshots, type StoredSnapshot } from '../store/verifyResources.ts';
import { reread } from './inbox.ts';
import { readEvents } from './storedEvents.ts';
import { type Subject, subjectOf } from './tally.ts';

export interface Refolded {
  readonly ref: ResourceRef;
  readonly subject: Subject;
  /** Undefined if there is no observation. */
  readonly state: ResourceState | undefined;
  readonly isMentioned: boolean;
}

export async function refold(
  tx: Queryable,
  refs: readonly ResourceRef[],
  merchantId: string,
): Promise<readonly Refolded[]> {
  const kept = await readObservations(tx, refs);
  const stored = await readStoredSnapshots(tx, refs);
  const late = await readLate(tx, { kept, stored, merchantId });
  const observations = [...kept, ...late.observations];
  const storedByRef = groupBy(stored, ({ ref }) => refKey(ref));
  const inbox = groupBy(
    observations.flatMap((observation) =>
      toSnapshots(observation, storedByRef.get(refKey(observation.ref)) ?? []),
    ),
    ({ ref }) => refKey(ref),
  );
  const others = groupBy(
    stored.filter(
      (snapshot) =>
        !isFromInbox(snapshot) || late.withoutBody.has(snapshot.webhookEventId ?? undefined),
    ),
    ({ ref }) => refKey(ref),
  );
  const epochs = groupBy(await readEpochs(tx, refs), ({ ref }) => refKey(ref));
  const observationsByRef = groupBy(observations, ({ ref }) => refKey(ref));
  return refs.map((ref) => {
    const key = refKey(ref);
    const snapshots = [...(inbox.get(key) ?? []), ...(others.get(key) ?? [])];
    const placed = placeInEpochs(snapshots, epochs.get(key) ?? []);
    return {
      ref,
      subject: subjectOf(ref, observationsByRef.get(key) ?? []),
      state: placed.length > 0 ? foldSnapshots(placed) : undefined,
      isMentioned: observationsByRef.has(key),
    };
  });
}

function isFromInbox({ source, webhookEventId }: StoredSnapshot): boolean {
  return source === 'webhook' && webhookEventId !== null;
}

/**
 * The snapshots that an observation has led to: of this version, of an earlier one, or, if the event
 * was replayed after an update, of both. The epoch here is a placeholder; placeInEpochs assigns it.
 */
function toSnapshots(
  { ref, content, earlier, observedMicros, webhookEventId }: KeptObservation,
  stored: readonly StoredSnapshot[],
): readonly Snapshot[] {
  if (content === undefined || observedMicros === undefined) return [];
  const toSnapshot = (one: EarlierReading): Snapshot => {
    const hash = contentHash(one.content);
    // Text was erased from the snapshot, and the body of a later event may still have it.
    const redacted = stored.find(
      (snapshot) => snapshot.contentHash === hash && snapshot.redactedHash,
    );
    const left = redacted?.content ?? one.content;
    const { observedMicros } = one;
    return { ref, content: left, contentHash: hash, source: 'webhook', epoch: 0, observedMicros };
  };
  const current = toSnapshot({ content, observedMicros });
  if (earlier.length === 0) return [current];
  const readings = [current, ...earlier.map(toSnapshot)];
  const storedAs = (reading: Snapshot) =>
    stored.filter((snapshot) => snapshot.contentHash === reading.contentHash);
  const own = readings.filter((reading) =>
    storedAs(reading).some(
      (snapshot) =>
        snapshot.webhookEventId === webhookEventId &&
        snapshot.observedMicros === reading.observedMicros,
    ),
  );
  if (own.length > 0) return own;
  // Known content added no snapshot that names the event.
  return [readings.find((reading) => storedAs(reading).length > 0) ?? current];
}

interface LateInput {
  readonly kept: readonly KeptObservation[];
  readonly stored: readonly StoredSnapshot[];
  readonly merchantId: string;
}

/** Bodies may be large, so few are read at a time. */
const BODIES_AT_ONCE = 50;

interface Late {
  readonly observations: readonly KeptObservation[];
  /** Events with a body that was removed or erased, and those with a row that retention removed. */
  readonly withoutBody: ReadonlySet<number | undefined>;
}

/** Observations of events that were applied after the inbox was read, and of those without a body. */
async function readLate(tx: Queryable, { kept, stored, merchantId }: LateInput): Promise<Late> {
  const keptIds = new Set(kept.map(({ webhookEventId }) => webhookEventId));
  const ids = [
    ...new Set(stored.filter(isFromInbox).flatMap(({ webhookEventId }) => webhookEventId ?? [])),
  ].filter((id) => !keptIds.has(id));
  const observations: KeptObservation[] = [];
  const withoutBody = new Set<number | undefined>();
  const found = new Set<number>();
  for (const batch of inChunks(ids, BODIES_AT_ONCE)) {
    for (const event of await readEvents(tx, batch)) {
      found.add(event.id);
      const { reading, earlier } = reread(event, merchantId);
      if (reading.outcome === 'absent' && reading.absence.outcome !== 'unexplained') {
        withoutBody.add(event.id);
      }
      if (reading.outcome !== 'snapshot') continue;
      const { ref, content, observedMicros } = reading;
      observations.push({
        ref,
        content,
        earlier,
        observedMicros,
        webhookEventId: event.id,
      });
    }
  }
  const gone = ids.filter((id) => !found.has(id));
  const removedThrough = gone.length > 0 ? await readRemovedThrough(tx) : 0;
  for (const id of gone) if (id <= removedThrough) withoutBody.add(id);
  return { observations, withoutBody };
}

/** The fields of a folded resource that orders need. */
export function toRebuiltPart({ ref, state }: Refolded): RebuiltPart {
  return {
    ...ref,
    payment_id: state?.paymentId ?? null,
    order_key: ref.kind === 'payment' ? orderKeyOf({ id: ref.id, orderId: state?.orderId }) : null,
    status: state?.status ?? null,
    stage: state?.stage ?? null,
    currency: state?.currency ?? null,
    amount_minor: state?.amountMinor ?? null,
    authorized_minor: state?.authorizedMinor ?? 0,
    captured_minor: state?.capturedMinor ?? 0,
  };
}

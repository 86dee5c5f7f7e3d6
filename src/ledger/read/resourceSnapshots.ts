/** The snapshots of one resource, and the bodies that brought them. */
import type { Database } from '../../platform/db/database.ts';
import type { ResourceRef } from '../domain/snapshot.ts';
import { readConsistently } from '../store/readConsistently.ts';
import { type EventBody, readEventBodies } from './eventBodies.ts';
import { readEvidence, readPartRow, type StoredEvidence } from './store/explain.ts';
import { isHead } from './timeline.ts';

export interface ListedSnapshot extends StoredEvidence {
  /** Names it among the snapshots of its resource. */
  readonly snapshotId: string;
  /** Whether the state of the resource comes from this one now. */
  readonly isCurrent: boolean;
}

export interface ResourceSnapshots {
  /** Newest first. */
  readonly snapshots: readonly ListedSnapshot[];
  /** False if only the newest are returned. */
  readonly areSnapshotsComplete: boolean;
}

const MAX_SNAPSHOTS = 500;
/** Digits of a hash that no two snapshots of one resource share. */
const HASH_DIGITS = 16;

/** @returns undefined for an unknown resource */
export function readResourceSnapshots(
  db: Database,
  ref: ResourceRef,
): Promise<ResourceSnapshots | undefined> {
  return readConsistently(db, async (tx) => {
    const part = await readPartRow(tx, ref);
    if (!part) return undefined;
    const evidence = await readEvidence(tx, [part], MAX_SNAPSHOTS + 1);
    const snapshots = evidence.slice(0, MAX_SNAPSHOTS).map((one) => ({
      ...one,
      snapshotId: `${one.epoch}-${one.contentHash.slice(0, HASH_DIGITS)}`,
      isCurrent: isHead(one, part),
    }));
    return { snapshots, areSnapshotsComplete: evidence.length <= MAX_SNAPSHOTS };
  });
}

/** The bodies of the events that brought snapshots, by inbox number. */
export function readSnapshotBodies(
  db: Database,
  snapshots: readonly ListedSnapshot[],
): Promise<ReadonlyMap<number, EventBody>> {
  return readEventBodies(
    db,
    snapshots.flatMap(({ inboxId }) => inboxId ?? []),
  );
}

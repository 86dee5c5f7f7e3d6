/**
 * Gives transfers that an earlier version posted their effective times, some resources at a time.
 *
 * 1. A step is one transaction under the locks of its resources and their orders, and locks no table: events go
 *    on.
 * 2. The times follow from the snapshots by the rule of every other transfer. Where an earlier version
 *    posted in one transfer what moved at several times, further transfers correct it.
 * 3. Where every transfer has a time, a step reads an empty index.
 */
import { monotonicMs } from '../platform/clock.ts';
import { groupBy } from '../platform/collections.ts';
import type { Database, Queryable } from '../platform/db/database.ts';
import { datesOf, movementsOf, orderSnapshots, transfersFor } from './domain/effectiveTimes.ts';
import { placeInEpochs } from './domain/epochs.ts';
import { postedAfter } from './domain/legs.ts';
import { foldSnapshots } from './domain/merge.ts';
import { type ResourceRef, refKey, type Snapshot } from './domain/snapshot.ts';
import { retryWithMoreLocks } from './lockSetChanged.ts';
import { lockWithOrders } from './lockWithOrders.ts';
import {
  dateTransfers,
  insertTransfers,
  type NewTransfer,
  readMovements,
  readUndated,
  readUndatedRefs,
} from './store/journal.ts';
import { type ResourceRow, updatePosted } from './store/resources.ts';
import { readEpochs, readSnapshots } from './store/snapshots.ts';
import { BUDGET_MS, turnsUntil } from './turns.ts';

/** Resources of a step. */
const REFS_AT_ONCE = 500;

export interface DatingJobParts {
  readonly db: Database;
  readonly signal: AbortSignal;
}

/** @returns the work of one run of the schedule `effective_times` */
export function createDatingJob({ db, signal }: DatingJobParts): () => Promise<void> {
  return async () => {
    for await (const _turn of turnsUntil(monotonicMs() + BUDGET_MS, signal)) {
      if ((await dateNext(db, REFS_AT_ONCE)) === 0) return;
    }
  };
}

/** @returns how many resources got times for their transfers */
export async function dateNext(db: Database, limit: number): Promise<number> {
  return await retryWithMoreLocks(() =>
    db.transaction(async (tx) => {
      const refs = await readUndatedRefs(tx, limit);
      if (refs.length === 0) return 0;
      const rows = await lockWithOrders(tx, refs);
      const snapshots = await readPlaced(tx, rows);
      await giveTimes(tx, rows, snapshots);
      await correct(tx, rows, snapshots);
      return refs.length;
    }),
  );
}

type Placed = ReadonlyMap<string, readonly Snapshot[]>;

/** The snapshots of resources in the order of their keys, by resource. */
async function readPlaced(tx: Queryable, refs: readonly ResourceRef[]): Promise<Placed> {
  const snapshots = groupBy(await readSnapshots(tx, refs), ({ ref }) => refKey(ref));
  const epochs = groupBy(await readEpochs(tx, refs), ({ ref }) => refKey(ref));
  return new Map(
    [...snapshots].map(([key, own]) => [
      key,
      orderSnapshots(placeInEpochs(own, epochs.get(key) ?? []), () => true).ascending,
    ]),
  );
}

async function giveTimes(
  tx: Queryable,
  rows: readonly ResourceRow[],
  snapshots: Placed,
): Promise<void> {
  const undated = groupBy(await readUndated(tx, rows), ({ ref }) => refKey(ref));
  const dated = [...undated].flatMap(([key, own]) =>
    datesOf(own, movementsOf(snapshots.get(key) ?? [])),
  );
  const changed = await dateTransfers(tx, dated);
  if (changed !== dated.length) {
    throw new Error(`${dated.length} transfers were to get a time, but ${changed} did`);
  }
}

async function correct(
  tx: Queryable,
  rows: readonly ResourceRow[],
  snapshots: Placed,
): Promise<void> {
  const movements = groupBy(await readMovements(tx, rows), ({ ref }) => refKey(ref));
  const posted = rows.flatMap((row) => {
    const ascending = snapshots.get(refKey(row)) ?? [];
    if (ascending.length === 0) return [];
    const transfers = transfersFor({
      state: foldSnapshots(ascending),
      order: { ascending, newest: undefined },
      posted: row.posted,
      movements: movements.get(refKey(row)) ?? [],
    });
    return transfers.length === 0 ? [] : [{ row, transfers }];
  });
  if (posted.length === 0) return;
  await insertTransfers(
    tx,
    posted.flatMap(({ row: { kind, id }, transfers }) =>
      transfers.map(
        (one): NewTransfer => ({ ...one, ref: { kind, id }, webhookEventId: undefined }),
      ),
    ),
  );
  await updatePosted(
    tx,
    posted.map(({ row: { kind, id, posted: before }, transfers }) => ({
      kind,
      id,
      posted: postedAfter(before, transfers),
    })),
  );
}

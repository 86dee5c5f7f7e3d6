/**
 * Packs the bodies of past days: about a hundred become one value, which PostgreSQL compresses. It
 * compresses no single body of usual size.
 *
 * 1. A step inserts packs, reads them back, and compares every body with the hash of its event. Only then
 *    does it commit. A step that was interrupted has done nothing, and the next one begins where the last
 *    one ended.
 * 2. The open partition of a day is detached after every body in it is in a pack or is kept. The function
 *    in the database checks that again, while nothing can be added.
 * 3. A day is detached `restMs` after it was packed. A transaction with an older snapshot sees no packs,
 *    and would find no body in either place.
 * 4. A detached partition is dropped two days later.
 */
import type { Database } from '../../platform/db/database.ts';
import { lockBodies } from './store/lock.ts';
import {
  type Day,
  detachBodyDay,
  dropDetachedPartition,
  ensurePackedDay,
  insertPacks,
  keepLateBodies,
  markPacked,
  type PackLimits,
  readDayToDetach,
  readDayToPack,
  readPackedThrough,
  readPartitionsToDrop,
  readWronglyPacked,
  savePackedThrough,
} from './store/packing.ts';

const KIB = 1024;

/** 128 bodies in a pack: docs/decisions/0081-packed-bodies.md has the measurements. */
export const PACK_LIMITS: PackLimits = {
  stepBodies: 2_048,
  stepBytes: 8 * KIB * KIB,
  packBodies: 128,
  packBytes: KIB * KIB,
};

const NAMED_EVENTS = 10;
const DROPS = 16;

/** A pack that does not contain what was received. Nothing of its step was committed. */
export class WrongPack extends Error {
  override readonly name = 'WrongPack';

  readonly day: Day;
  /** The first of them. */
  readonly ids: readonly number[];

  constructor(day: Day, ids: readonly number[]) {
    super(
      `bodies of ${day} differ from what was received, so the day is not packed: events ${ids.join(', ')}. ` +
        'Run: npx tallyhook verify',
    );
    this.day = day;
    this.ids = ids;
  }
}

/** Packs the next bodies of the first day that is over. @returns the day, or undefined if none is left */
export async function packNext(
  db: Database,
  { settleMs, after, limits }: PackRequest,
): Promise<Day | undefined> {
  const day = await readDayToPack(db, settleMs, after);
  if (day !== undefined) await packStep(db, day, limits);
  return day;
}

export interface PackRequest {
  /** For how long a day has ended when it is packed. */
  readonly settleMs: number;
  /** Only later days. */
  readonly after: Day | undefined;
  readonly limits: PackLimits;
}

async function packStep(db: Database, day: Day, limits: PackLimits): Promise<void> {
  await db.transaction(async (tx) => {
    await lockBodies(tx);
    const after = await readPackedThrough(tx, day);
    if (after === undefined) return;
    await ensurePackedDay(tx, day);
    const { through } = await insertPacks(tx, day, after, limits);
    if (through === null) {
      await markPacked(tx, day);
      return;
    }
    const wrong = await readWronglyPacked(tx, day, after, NAMED_EVENTS);
    if (wrong.length > 0) throw new WrongPack(day, wrong);
    await savePackedThrough(tx, day, through);
  });
}

/** Detaches the open partition of a packed day. @returns the day, or undefined if none is left */
export async function detachNext(db: Database, restMs: number): Promise<Day | undefined> {
  const day = await readDayToDetach(db, restMs);
  if (day === undefined) return undefined;
  if ((await detachBodyDay(db, day)) === 'incomplete') {
    await db.transaction(async (tx) => {
      await lockBodies(tx);
      await keepLateBodies(tx, day);
    });
    await detachBodyDay(db, day);
  }
  return day;
}

/** Drops partitions that were detached two days ago. */
export async function dropDetached(db: Database): Promise<void> {
  for (const name of await readPartitionsToDrop(db, DROPS)) {
    await dropDetachedPartition(db, name, false);
  }
}

/**
 * Reads the bodies of events from every place that stores them.
 *
 * 1. A body moves in one direction: from the column of an older version or from its day's open
 *    partition, to a packed row, to the kept bodies. The places are read in this order, each in a
 *    statement of its own, so a body that moves meanwhile is found in a later place.
 * 2. Nearly all events that are read have an open body of one or two days: one statement a day.
 */
import { groupBy } from '../../platform/collections.ts';
import type { Queryable } from '../../platform/db/database.ts';
import type { BodyAbsence } from '../domain/bodyAbsence.ts';
import {
  findPacked,
  type PackedBodies,
  readBodyKeys,
  readErased,
  readInlineBodies,
  readKeptBodies,
  readOpenBodies,
  readPacked,
  readRemovedDays,
  type StoredBody,
} from './store/bodies.ts';

/** What finds the body of an event. */
export interface BodyKey {
  readonly id: number;
  /** The day of receipt, YYYY-MM-DD; null if an older version stored the body. */
  readonly bodyDay: string | null;
}

/** The bodies of events by their inbox numbers. An event without a body is missing. */
export async function readBodies(
  tx: Queryable,
  keys: readonly BodyKey[],
): Promise<ReadonlyMap<number, Buffer>> {
  const found = new Map<number, Buffer>();
  const add = (bodies: readonly StoredBody[]) => {
    for (const { id, body } of bodies) found.set(id, body);
  };
  const current = await readInline(tx, keys, found);
  const dated = current.flatMap(({ id, bodyDay }) => (bodyDay === null ? [] : { id, bodyDay }));
  for (const [day, own] of groupBy(dated, ({ bodyDay }) => bodyDay)) {
    const ids = own.map(({ id }) => id);
    add(await readOpenBodies(tx, day, ids));
    const rest = ids.filter((id) => !found.has(id));
    if (rest.length > 0) add(await readPackedBodies(tx, day, rest));
  }
  const rest = current.flatMap(({ id }) => (found.has(id) ? [] : [id]));
  if (rest.length > 0) add(await readKeptBodies(tx, rest));
  return found;
}

/** Adds the bodies in the column of an older version. @returns the keys of the others */
async function readInline(
  tx: Queryable,
  keys: readonly BodyKey[],
  found: Map<number, Buffer>,
): Promise<readonly BodyKey[]> {
  const older = keys.filter(({ bodyDay }) => bodyDay === null).map(({ id }) => id);
  if (older.length === 0) return keys;
  const moved: BodyKey[] = [];
  for (const { id, body, bodyDay } of await readInlineBodies(tx, older)) {
    if (body === null) moved.push({ id, bodyDay });
    else found.set(id, body);
  }
  return [...keys.filter(({ bodyDay }) => bodyDay !== null), ...moved];
}

async function readPackedBodies(
  tx: Queryable,
  day: string,
  ids: readonly number[],
): Promise<readonly StoredBody[]> {
  const rows = groupBy(await findPacked(tx, day, ids), ({ firstEventId }) => firstEventId);
  const bodies: StoredBody[] = [];
  for (const [firstEventId, wanted] of rows) {
    const packed = await readPacked(tx, day, firstEventId);
    const wantedIds = new Set(wanted.map(({ id }) => id));
    if (packed) bodies.push(...unpack(packed).filter(({ id }) => wantedIds.has(id)));
  }
  return bodies;
}

/** The bodies of a packed row. They share its memory. */
export function unpack({ eventIds, lengths, bodies }: PackedBodies): readonly StoredBody[] {
  let start = 0;
  return eventIds.map((id, place) => {
    const end = start + (lengths[place] ?? 0);
    const body = bodies.subarray(start, end);
    start = end;
    return { id: Number(id), body };
  });
}

/** Why events have no body. Those that have one, or that do not exist, are missing from the result. */
export async function findAbsences(
  tx: Queryable,
  ids: readonly number[],
): Promise<ReadonlyMap<number, BodyAbsence>> {
  const keys = await readBodyKeys(tx, ids);
  const bodies = await readBodies(tx, keys);
  const absent = keys.filter(({ id }) => !bodies.has(id));
  return absent.length > 0 ? await explainAbsences(tx, absent) : new Map();
}

/** Why events have no body. Only for events that readBodies found no body of. */
export async function explainAbsences(
  tx: Queryable,
  keys: readonly BodyKey[],
): Promise<ReadonlyMap<number, BodyAbsence>> {
  const days = [...new Set(keys.flatMap(({ bodyDay }) => bodyDay ?? []))];
  const removed = new Map(
    (await readRemovedDays(tx, days)).map(({ day, removedAt }) => [day, removedAt]),
  );
  const ids = keys.map(({ id }) => id);
  const erased = new Map((await readErased(tx, ids)).map(({ id, erasedAt }) => [id, erasedAt]));
  return new Map(
    keys.map(({ id, bodyDay }): [number, BodyAbsence] => {
      const erasedAt = erased.get(id);
      if (erasedAt) return [id, { outcome: 'erased', at: erasedAt }];
      const at = bodyDay === null ? undefined : removed.get(bodyDay);
      return [id, at ? { outcome: 'removed', at } : { outcome: 'unexplained' }];
    }),
  );
}

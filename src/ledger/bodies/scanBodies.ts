/** Reads every body, wherever it is stored: for searches that no index supports. */
import type { Queryable } from '../../platform/db/database.ts';
import {
  type BodyPage,
  readBodiesInRows,
  readBodyDays,
  readKeptBodies,
  readOpenBodies,
  readPacks,
  readVariants,
  type ScannedBody,
} from './store/scanBodies.ts';

/** Bodies may be as large as the receiver allows, so few are read at a time. */
const BODIES_AT_ONCE = 100;
const PACKS_AT_ONCE = 4;
const MAX_DAY_MS = 86_400_000;

export interface BodyScan {
  /** Nothing that was received on an earlier day is read; undefined: everything. */
  readonly since: Date | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Calls `visit` with pages of bodies. An event with several bodies is visited with each of them. */
export async function scanBodies(
  db: Queryable,
  { since, signal }: BodyScan,
  visit: (bodies: readonly ScannedBody[]) => void,
): Promise<void> {
  // The day is that of the database's clock in UTC; a day more costs little.
  const from = new Date((since?.getTime() ?? 0) - (since ? MAX_DAY_MS : 0));
  const days = await readBodyDays(db, from.toISOString().slice(0, 10));
  for (const day of days) {
    signal?.throwIfAborted();
    await eachPage(BODIES_AT_ONCE, (page) => readOpenBodies(db, { ...page, day }), visit);
    await eachPack(db, day, visit);
  }
  signal?.throwIfAborted();
  await eachPage(BODIES_AT_ONCE, (page) => readKeptBodies(db, page), visit);
  await eachPage(BODIES_AT_ONCE, (page) => readBodiesInRows(db, page), visit);
  await eachPage(BODIES_AT_ONCE, (page) => readVariants(db, page), visit);
}

/** How far a search of the newest bodies came. */
export interface NewestScan {
  /** The oldest day that was searched, as in 2026-11-22; null if none was. */
  readonly throughDay: string | null;
  /** False: `isOver` ended it before everything was read. */
  readonly isComplete: boolean;
}

/**
 * Calls `visit` with pages of bodies, first those that are kept beyond their day, then day by day from
 * the newest, until `isOver`.
 */
export async function scanNewestBodies(
  db: Queryable,
  isOver: () => boolean,
  visit: (bodies: readonly ScannedBody[]) => void,
): Promise<NewestScan> {
  const others = [readKeptBodies, readVariants, readBodiesInRows];
  for (const read of others) {
    await eachPage(BODIES_AT_ONCE, (page) => read(db, page), visit, isOver);
  }
  const days = await readBodyDays(db, '1970-01-01');
  let throughDay: string | null = null;
  for (const day of days.toReversed()) {
    if (isOver()) return { throughDay, isComplete: false };
    await eachPage(BODIES_AT_ONCE, (page) => readOpenBodies(db, { ...page, day }), visit, isOver);
    await eachPack(db, day, visit, isOver);
    throughDay = day;
  }
  return { throughDay, isComplete: !isOver() };
}

const never = () => false;

async function eachPage(
  limit: number,
  read: (page: BodyPage) => Promise<readonly ScannedBody[]>,
  visit: (bodies: readonly ScannedBody[]) => void,
  isOver: () => boolean = never,
): Promise<void> {
  let after = 0;
  while (!isOver()) {
    const bodies = await read({ after, limit });
    const last = bodies.at(-1);
    if (last === undefined) return;
    visit(bodies);
    after = last.id;
  }
}

async function eachPack(
  db: Queryable,
  day: string,
  visit: (bodies: readonly ScannedBody[]) => void,
  isOver: () => boolean = never,
): Promise<void> {
  let after = 0;
  while (!isOver()) {
    const packs = await readPacks(db, { day, after, limit: PACKS_AT_ONCE });
    const last = packs.at(-1);
    if (last === undefined) return;
    for (const { ids, lengths, bodies } of packs) {
      let start = 0;
      visit(
        ids.map((id, place) => {
          const end = start + (lengths[place] ?? 0);
          const body = bodies.subarray(start, end);
          start = end;
          return { id, body };
        }),
      );
    }
    after = last.firstId;
  }
}

/** Reads every body, wherever it is stored: for searches that no index supports. */
import type { Queryable } from '../../platform/db/database.ts';
import { DAY_MS } from '../../platform/time.ts';
import { unpack } from './readBodies.ts';
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

export interface BodyScan {
  /** Nothing that was received on an earlier day is read; undefined: everything. */
  readonly since: Date | undefined;
  /** Stops the scan between two pages. */
  readonly signal?: AbortSignal | undefined;
  /** Ends the scan before everything is read. */
  readonly isOver?: () => boolean;
}

/** Calls `visit` with pages of bodies. An event with several bodies is visited with each of them. */
export async function scanBodies(
  db: Queryable,
  { since, signal, isOver = () => false }: BodyScan,
  visit: Visit,
): Promise<void> {
  const ends = (): boolean => {
    signal?.throwIfAborted();
    return isOver();
  };
  // The day is that of the database's clock in UTC; a day more costs little.
  const from = since ? new Date(since.getTime() - DAY_MS) : new Date(0);
  for (const day of await readBodyDays(db, from.toISOString().slice(0, 10))) {
    await eachPage((page) => readOpenBodies(db, { ...page, day }), visit, ends);
    await eachPack(db, day, visit, ends);
  }
  for (const read of [readKeptBodies, readBodiesInRows, readVariants]) {
    await eachPage((page) => read(db, page), visit, ends);
  }
}

type Visit = (bodies: readonly ScannedBody[]) => void;

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
  visit: Visit,
): Promise<NewestScan> {
  for (const read of [readKeptBodies, readVariants, readBodiesInRows]) {
    await eachPage((page) => read(db, page), visit, isOver);
  }
  const days = await readBodyDays(db, '1970-01-01');
  let throughDay: string | null = null;
  for (const day of days.toReversed()) {
    if (isOver()) return { throughDay, isComplete: false };
    await eachPage((page) => readOpenBodies(db, { ...page, day }), visit, isOver);
    await eachPack(db, day, visit, isOver);
    throughDay = day;
  }
  return { throughDay, isComplete: !isOver() };
}

async function eachPage(
  read: (page: BodyPage) => Promise<readonly ScannedBody[]>,
  visit: Visit,
  isOver: () => boolean,
): Promise<void> {
  let after = 0;
  while (!isOver()) {
    const bodies = await read({ after, limit: BODIES_AT_ONCE });
    const last = bodies.at(-1);
    if (last === undefined) return;
    visit(bodies);
    after = last.id;
  }
}

async function eachPack(
  db: Queryable,
  day: string,
  visit: Visit,
  isOver: () => boolean,
): Promise<void> {
  let after = 0;
  while (!isOver()) {
    const packs = await readPacks(db, { day, after, limit: PACKS_AT_ONCE });
    const last = packs.at(-1);
    if (last === undefined) return;
    for (const pack of packs) visit(unpack(pack));
    after = last.firstId;
  }
}

/**
 * Adds the journal up for a closing: by itself, it is a closing's sums, and `verify` compares them with those that are
 * stored.
 *
 * 1. What a closing contains follows from `lastTransfer` and effective times alone (domain/closings.ts), and never
 *    changes. So it is added up in parts, each by a statement of its own, in any transaction after the fence.
 * 2. A part is a span of numbers or a day. So no statement takes longer because the journal is longer: the first closing
 *    contains all of it.
 */

import type { Queryable } from '../platform/db/database.ts';
import { DAY_MS } from '../platform/time.ts';
import { addSums } from './domain/closingSums.ts';
import type { ClosingSum } from './domain/closings.ts';
import type { Period } from './domain/period.ts';
import type { LegSums } from './domain/statement.ts';
import { readSummedLegs, readSummedTo } from './read/store/statementSums.ts';
import {
  type NumberSpan,
  readDaysBefore,
  readPostedBefore,
  readPostedDays,
  readStoredBalances,
  type TimeSpan,
} from './store/closings.ts';

/** A closing, and the closing of the month before it. */
export interface ClosingSpan {
  readonly period: Period;
  readonly lastTransfer: number;
  readonly previous: { readonly id: number; readonly lastTransfer: number } | undefined;
}

export interface ClosingSums {
  /** What the closing adds to the one before it: its own month, and late postings to the months before. */
  readonly days: readonly ClosingSum[];
  /** What every leg had posted by the end of the month. */
  readonly balances: readonly ClosingSum[];
}

/** Numbers of a part, some seconds of work. */
const NUMBERS_AT_ONCE = 500_000;
const DAY_MICROS = DAY_MS * 1_000;

/**
 * The sums of a closing that is being made: what the months before the first one posted is read from the stored sums of
 * the journal (docs/decisions/0110-transfer-sums.md) if they are complete.
 */
export async function sumNewClosing(tx: Queryable, span: ClosingSpan): Promise<ClosingSums> {
  const legs = span.previous ? undefined : await readOpening(tx, span);
  if (legs === undefined) return await sumClosing(tx, span);
  const opening = legs.map(({ currency, leg, upMinor, downMinor }) => ({
    currency,
    leg,
    day: null,
    sums: { posted_up_minor: String(upMinor), posted_down_minor: String(downMinor) },
  }));
  return closingOf(opening, await readDays(tx, span, NUMBERS_AT_ONCE));
}

/**
 * The stored sums, and what was recorded since. The fence needs a transaction in which each statement sees what was
 * committed before it, so a step may move the sums on between two of them: then both are read again.
 * @returns undefined while the stored sums are not complete
 */
async function readOpening(
  tx: Queryable,
  span: ClosingSpan,
): Promise<readonly LegSums[] | undefined> {
  const { period, lastTransfer } = span;
  const summedTo = await readSummedTo(tx);
  if (summedTo === undefined) return undefined;
  const bounds = { currency: undefined, beforeMicros: period.fromMicros, lastTransfer };
  const legs = await readSummedLegs(tx, bounds, summedTo);
  return (await readSummedTo(tx)) === summedTo ? legs : await readOpening(tx, span);
}

/** The sums of a closing from the journal and the closing before it. @param atOnce numbers of a part */
export async function sumClosing(
  db: Queryable,
  span: ClosingSpan,
  atOnce = NUMBERS_AT_ONCE,
): Promise<ClosingSums> {
  const { period, lastTransfer, previous } = span;
  if (previous) {
    return closingOf(await readStoredBalances(db, previous.id), await readDays(db, span, atOnce));
  }
  const opening: ClosingSum[] = [];
  for (const numbers of partsOf({ after: 0, until: lastTransfer }, atOnce)) {
    opening.push(...(await readPostedBefore(db, numbers, period.fromMicros)));
  }
  return closingOf(opening, await readDays(db, span, atOnce));
}

async function readDays(
  db: Queryable,
  { period, lastTransfer, previous }: ClosingSpan,
  atOnce: number,
): Promise<readonly ClosingSum[]> {
  const own = { after: 0, until: lastTransfer };
  const late = { after: previous?.lastTransfer ?? lastTransfer, until: lastTransfer };
  const lateDays = new Set<number>();
  for (const numbers of partsOf(late, atOnce)) {
    for (const day of await readDaysBefore(db, numbers, period.fromMicros)) lateDays.add(day);
  }
  const days: ClosingSum[] = [];
  for (const day of lateDays) {
    const times = within(day, { fromMicros: day, toMicros: period.fromMicros });
    days.push(...(await readPostedDays(db, { numbers: late, times, period })));
  }
  for (let from = period.fromMicros; from < period.toMicros; from += DAY_MICROS) {
    days.push(...(await readPostedDays(db, { numbers: own, times: within(from, period), period })));
  }
  return addSums(days);
}

/** A day of a span, or what is left of it. */
function within(fromMicros: number, { toMicros }: TimeSpan): TimeSpan {
  return { fromMicros, toMicros: Math.min(fromMicros + DAY_MICROS, toMicros) };
}

function closingOf(opening: readonly ClosingSum[], days: readonly ClosingSum[]): ClosingSums {
  const posted = days.map(
    ({ currency, leg, sums: { posted_up_minor = '0', posted_down_minor = '0' } }) => ({
      currency,
      leg,
      day: null,
      sums: { posted_up_minor, posted_down_minor },
    }),
  );
  return { days, balances: addSums([...opening, ...posted]) };
}

function partsOf({ after, until }: NumberSpan, atOnce: number): readonly NumberSpan[] {
  const parts: NumberSpan[] = [];
  for (let from = after; from < until; from += atOnce) {
    parts.push({ after: from, until: Math.min(from + atOnce, until) });
  }
  return parts;
}

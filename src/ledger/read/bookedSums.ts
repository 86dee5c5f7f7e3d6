/**
 * The sums of a month as it is booked: of a closed month from its closing, of the month after the last closed
 * one from that closing and what came late, of a month before the first closed one without what came after that
 * closing, and of any other month by effective time alone.
 */
import type { Queryable } from '../../platform/db/database.ts';
import { type Closing, closingsInForce, nextMonth } from '../domain/closings.ts';
import type { Period } from '../domain/period.ts';
import {
  type Booking,
  type ClosedDaySums,
  type LatePostings,
  type LateSums,
  type LegSums,
  lateTotals,
  type StatementSums,
} from '../domain/statement.ts';
import type { EffectiveSums } from './effectiveSums.ts';
import { readClosingBalances, readClosingDays } from './store/closings.ts';
import { type LateSelection, readLatePostings, readLateSums } from './store/latePostings.ts';
import { readDaySums } from './store/statement.ts';

export interface BookedSums {
  readonly sums: StatementSums;
  readonly booking: Booking;
}

interface BookedInput {
  readonly effective: EffectiveSums;
  readonly currency: string | undefined;
  /** Every closing of the installation. */
  readonly closings: readonly Closing[];
}

const NONE: LatePostings = { totals: [], first: [] };

/** @param tx a transaction with one snapshot, in which `effective` reads, too */
export async function readBookedSums(
  tx: Queryable,
  period: Period,
  { effective, currency, closings: all }: BookedInput,
): Promise<BookedSums> {
  const inForce = closingsInForce(all);
  const last = inForce.at(-1);
  const byEffectiveTime = async (): Promise<StatementSums> => ({
    opening: await effective.legsBefore(period.fromMicros),
    days: await effective.daysOf(period),
    late: [],
  });
  if (last !== undefined && last.timeZone !== period.timeZone) {
    return {
      sums: await byEffectiveTime(),
      booking: { kind: 'effective', timeZone: last.timeZone },
    };
  }
  const closings = all.filter(
    ({ month, timeZone }) => month === period.month && timeZone === period.timeZone,
  );
  if (last === undefined && closings.length === 0) {
    return { sums: await byEffectiveTime(), booking: { kind: 'effective', timeZone: undefined } };
  }
  const reader: Reader = { tx, period, inForce, currency };
  const closing = inForce.find(({ month }) => month === period.month);
  const booking = { kind: 'booked', closing, closings, late: NONE, bookedLater: NONE } as const;
  if (closing) return await closedSums(reader, closing, booking);
  if (last && nextMonth(last) === period.month) {
    const late = await readLate(reader, {
      fromMicros: undefined,
      toMicros: period.fromMicros,
      after: last.lastTransfer,
      until: undefined,
    });
    const opening = await readClosingBalances(tx, last.id, currency);
    const days = await effective.daysOf(period);
    return {
      sums: { opening, days, late: late.sums },
      booking: { ...booking, late: { totals: lateTotals(late.sums), first: late.first } },
    };
  }
  const sums = await byEffectiveTime();
  const [first] = inForce;
  if (!first || period.fromMicros >= first.fromMicros) return { sums, booking };
  return {
    sums: await sumsBefore(reader, first, sums),
    booking: { ...booking, closedWith: first, bookedLater: await readBookedLater(reader, first) },
  };
}

interface Reader {
  readonly tx: Queryable;
  readonly period: Period;
  /** By month. */
  readonly inForce: readonly Closing[];
  readonly currency: string | undefined;
}

/**
 * The sums of a month that was closed with the first closed one: what came later is in no sum of it.
 * @param effective by effective time alone
 */
async function sumsBefore(
  reader: Reader,
  { lastTransfer }: Closing,
  effective: StatementSums,
): Promise<StatementSums> {
  const { tx, period, currency } = reader;
  const late = await readLate(reader, {
    fromMicros: undefined,
    toMicros: period.toMicros,
    after: lastTransfer,
    until: undefined,
  });
  if (late.sums.length === 0) return effective;
  const before = late.sums.filter(({ month }) => month < period.month);
  return {
    opening: effective.opening
      .map((leg) => lessLate(leg, before))
      .filter(({ upMinor, downMinor }) => upMinor !== 0n || downMinor !== 0n),
    days: await readDaySums(tx, period, { currency, lastTransfer }),
    late: [],
  };
}

function lessLate(leg: LegSums, late: readonly LegSums[]): LegSums {
  const own = late.filter((one) => one.currency === leg.currency && one.leg === leg.leg);
  return {
    ...leg,
    upMinor: own.reduce((rest, one) => rest - one.upMinor, leg.upMinor),
    downMinor: own.reduce((rest, one) => rest - one.downMinor, leg.downMinor),
  };
}

type BookedMonth = Extract<Booking, { readonly kind: 'booked' }>;

async function closedSums(
  reader: Reader,
  closing: Closing,
  booking: BookedMonth,
): Promise<BookedSums> {
  const { tx, period, inForce, currency } = reader;
  const added = await readClosingDays(tx, closing.id, currency);
  const balances = await readClosingBalances(tx, closing.id, currency);
  const isOwn = ({ day }: ClosedDaySums) => day.slice(0, 7) === period.month;
  const late = added
    .filter((one) => !isOwn(one))
    .map((one): LateSums => ({ ...one, month: one.day.slice(0, 7), bookedIn: period.month }));
  const previous = inForce.find(({ id }) => id === closing.previousId);
  const first =
    late.length === 0 || !previous
      ? []
      : await readLatePostings(tx, {
          fromMicros: undefined,
          toMicros: period.fromMicros,
          currency,
          after: previous.lastTransfer,
          until: closing.lastTransfer,
        });
  return {
    sums: {
      opening: less(balances, added),
      days: added.filter((one) => isOwn(one) && one.ups + one.downs > 0),
      late,
    },
    booking: {
      ...booking,
      late: { totals: lateTotals(late), first },
      bookedLater: await readBookedLater(reader, closing),
    },
  };
}

/** What the legs had posted before the days. */
function less(balances: readonly LegSums[], days: readonly ClosedDaySums[]): readonly LegSums[] {
  return balances.map((balance) => {
    const own = days.filter(
      ({ currency, leg }) => currency === balance.currency && leg === balance.leg,
    );
    return {
      ...balance,
      upMinor: own.reduce((rest, one) => rest - one.postedUpMinor, balance.upMinor),
      downMinor: own.reduce((rest, one) => rest - one.postedDownMinor, balance.downMinor),
    };
  });
}

/** What belongs to the period and came after it was closed, by itself or with the month of `closing`. */
async function readBookedLater(reader: Reader, closing: Closing): Promise<LatePostings> {
  const { fromMicros, toMicros } = reader.period;
  const late = await readLate(reader, {
    fromMicros,
    toMicros,
    after: closing.lastTransfer,
    until: undefined,
  });
  return { totals: lateTotals(late.sums), first: late.first };
}

async function readLate(
  { tx, period: { timeZone }, inForce, currency }: Reader,
  span: Omit<LateSelection, 'currency'>,
): Promise<{ readonly sums: readonly LateSums[]; readonly first: LatePostings['first'] }> {
  const last = inForce.at(-1);
  if (!last) return { sums: [], first: [] };
  const selection = { ...span, currency };
  const bookings = {
    closed: inForce.filter(({ lastTransfer }) => lastTransfer > span.after),
    open: nextMonth(last),
  };
  const sums = await readLateSums(tx, selection, { timeZone, bookings });
  return { sums, first: sums.length === 0 ? [] : await readLatePostings(tx, selection) };
}

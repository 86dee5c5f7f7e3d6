/**
 * Entries of a general ledger. Terms: an *entry* has a day and postings that add up to zero in each
 * currency; a *posting* debits (positive) or credits (negative) one account of the chart.
 *
 * 1. The amounts of an export are those of the journal: accounts that are left out aside, the postings
 *    of an account add up to its balance.
 * 2. The entry of a transfer has the transfer's number, and the entry of a day the day and its currency,
 *    so that a second import can be recognized.
 * 3. Late postings have entries of their own, which name the day or the month to which they belong.
 */
import type { MovedAmount } from './balances.ts';
import { type Chart, type ChartAccount, chartAccount } from './chart.ts';
import type { JournalRow } from './journalFormats.ts';
import { orderIdOf } from './orderKey.ts';
import { monthAfter } from './period.ts';
import { type LegSums, movedByLegs } from './statement.ts';

export interface Posting {
  readonly account: ChartAccount;
  readonly currency: string;
  /** Negative: a credit. */
  readonly amountMinor: bigint;
}

export interface Entry {
  readonly id: string;
  /** `2026-10-31` */
  readonly day: string;
  /** The description, word by word; ids from outside are one word. */
  readonly words: readonly string[];
  readonly orderId: string | undefined;
  readonly eventId: string | undefined;
  readonly postings: readonly Posting[];
}

/** What one leg moved on one day. */
export interface DayMoved {
  /** `2026-10-31` */
  readonly day: string;
  readonly currency: string;
  readonly leg: string;
  /** The month to which late postings belong (closings.ts); null for any other. */
  readonly lateOf: string | null;
  /** Negative: it took back more than it moved. */
  readonly movedMinor: bigint;
  readonly transfers: number;
}

export interface EntryRow
  extends Omit<JournalRow, 'recordedMicros' | 'effectiveMicros' | 'effectiveSource'> {
  /** The day to which a late posting belongs; null for any other. */
  readonly movedOn: string | null;
}

/** The entry of a transfer; none if its accounts are left out. */
export function transferEntry(chart: Chart, row: EntryRow, day: string): readonly Entry[] {
  const [debit, credit] = [chartAccount(chart, row.debit), chartAccount(chart, row.credit)];
  if (debit === null || credit === null) return [];
  const { currency } = row;
  const amountMinor = BigInt(row.amountMinor);
  return [
    {
      id: String(row.id),
      day,
      words: [
        row.kind,
        row.resourceId,
        row.leg,
        String(row.seq),
        ...(row.movedOn === null ? [] : ['late', 'posting', 'of', row.movedOn]),
      ],
      orderId: row.orderKey === undefined ? undefined : orderIdOf(row.orderKey),
      eventId: row.eventId,
      postings: [
        { account: debit, currency, amountMinor },
        { account: credit, currency, amountMinor: -amountMinor },
      ],
    },
  ];
}

/** The entries of one day: one for each currency in which anything moved, and for each month of late postings. */
export function dayEntries(chart: Chart, moved: readonly DayMoved[]): readonly Entry[] {
  return currenciesOf(moved).flatMap((currency) => {
    const own = moved.filter((one) => one.currency === currency);
    return [...new Set(own.map(({ lateOf }) => lateOf))].flatMap((lateOf) => {
      const legs = own.filter((one) => one.lateOf === lateOf);
      const [{ day } = { day: '' }] = legs;
      const words =
        lateOf === null ? ['totals', 'of', 'the', 'day'] : ['late', 'postings', 'of', lateOf];
      const id = lateOf === null ? `${day}-${currency}` : `${day}-${currency}-late-${lateOf}`;
      return sumsEntry(balances(chart, movedByLegs(legs.map(sumsOfLeg))), words, { day, id });
    });
  });
}

/** The side on which it did not move is negative, and moves nothing. */
function sumsOfLeg({ currency, leg, movedMinor }: DayMoved): LegSums {
  return { currency, leg, upMinor: movedMinor, downMinor: -movedMinor };
}

/** Entries that open each account with its balance at the beginning of a day. */
export function openingEntries(opening: readonly Posting[], day: string): readonly Entry[] {
  return currenciesOf(opening).flatMap((currency) =>
    sumsEntry(
      opening.filter((one) => one.currency === currency),
      ['opening', 'balances'],
      { day, id: `opening-${day}-${currency}` },
    ),
  );
}

function sumsEntry(
  sums: readonly Posting[],
  words: readonly string[],
  named: Pick<Entry, 'id' | 'day'>,
): readonly Entry[] {
  const postings = sums.filter(({ amountMinor }) => amountMinor !== 0n);
  if (postings.length === 0) return [];
  return [{ ...named, words, orderId: undefined, eventId: undefined, postings }];
}

/** The balance of each account of the chart in each currency that it moved, by currency and name. */
export function balances(chart: Chart, moved: readonly MovedAmount[]): readonly Posting[] {
  const sums = new Map<string, Posting>();
  const add = (account: string, currency: string, amountMinor: bigint) => {
    const own = chartAccount(chart, account);
    if (own === null) return;
    const key = `${currency} ${own.name}`;
    const before = sums.get(key)?.amountMinor ?? 0n;
    sums.set(key, { account: own, currency, amountMinor: before + amountMinor });
  };
  for (const { debit, credit, currency, amountMinor } of moved) {
    add(debit, currency, amountMinor);
    add(credit, currency, -amountMinor);
  }
  return [...sums].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, sum]) => sum);
}

function currenciesOf(rows: readonly { readonly currency: string }[]): readonly string[] {
  return [...new Set(rows.map(({ currency }) => currency))].toSorted();
}

/** The first day of a month such as `2026-10`, and the first day after it. */
export function daysOfMonth(month: string): { readonly fromDay: string; readonly toDay: string } {
  return { fromDay: `${month}-01`, toDay: `${monthAfter(month, 1)}-01` };
}

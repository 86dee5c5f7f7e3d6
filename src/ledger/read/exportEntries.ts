/**
 * The journal as entries of a general ledger, as a stream of text.
 *
 * 1. Run it in a transaction that sees one moment (store/readConsistently.ts): then opening balances,
 *    entries and asserted balances agree, and two exports of one moment are equal to the byte.
 * 2. A complete file that does not begin with the journal begins with opening balances, so that the balances
 *    of the other program at the end are those of Tallyhook at the end of the range.
 * 3. Memory does not grow with the journal; the consumer's pace decides when more is read.
 * 4. Closed months are those of their time zone. In another one, every transfer is on the day on which money
 *    moved, as in a statement of that time zone, and the file states it.
 */
import type { Database, Queryable } from '../../platform/db/database.ts';
import type { MovedAmount } from '../domain/balances.ts';
import { accountType, type Chart, chartAccount } from '../domain/chart.ts';
import { closingsInForce, zoneOf } from '../domain/closings.ts';
import {
  balances,
  type DayMoved,
  dayEntries,
  openingEntries,
  transferEntry,
} from '../domain/entries.ts';
import {
  type DeclaredAccount,
  dayAfter,
  ENTRY_FORMATS,
  type EntryFormat,
  type EntryFormatName,
} from '../domain/entryFormats.ts';
import { ACCOUNT_NAMES } from '../domain/legs.ts';
import { movedByLegs } from '../domain/statement.ts';
import { readConsistently } from '../store/readConsistently.ts';
import { readMoved } from './store/balances.ts';
import { readClosings } from './store/closings.ts';
import {
  type DayBasis,
  type DaySelection,
  readBookedLegs,
  readDaysMoved,
  readStartOfDay,
  readTransfersOfDay,
} from './store/entries.ts';
import { requireDated } from './undated.ts';

/** Which entries. Days are such as `2026-10-31`. */
export interface EntryRange {
  readonly basis: DayBasis;
  readonly timeZone: string;
  readonly fromDay: string | undefined;
  /** The first day that does not belong to the range. */
  readonly toDay: string | undefined;
  readonly currency: string | undefined;
}

export interface EntryExport {
  readonly format: EntryFormatName;
  readonly range: EntryRange;
  readonly chart: Chart;
  /** One entry for each day and currency, instead of one for each transfer. */
  readonly isDaily: boolean;
  /** Without declarations, opening balances and assertions. */
  readonly isEntriesOnly: boolean;
  /** Called with the number of transfers that the text has so far. */
  readonly onProgress?: (transfers: number) => void;
}

/** In which time zone days are, if none is given: in that of the closed months, or UTC. */
export async function readEntryZone(db: Queryable): Promise<string> {
  return zoneOf(closingsInForce(await readClosings(db)));
}

/** @throws UndatedTransfers while transfers of an earlier version have no effective time */
export async function* exportEntries(
  tx: Queryable,
  given: EntryExport,
): AsyncGenerator<string, void, undefined> {
  const { range, chart } = given;
  const format: EntryFormat = ENTRY_FORMATS[given.format];
  const isComplete = !given.isEntriesOnly && given.format !== 'csv';
  if (range.basis === 'booked') await requireDated(tx);
  const selection = await selectionOf(tx, range);
  yield format.begin(coverText(range, closingsInForce(await readClosings(tx)).at(-1)?.timeZone));
  const closing = await readMovedBefore(tx, selection, selection.toMicros);
  if (isComplete) {
    yield format.declare(declaredAccounts(chart, closing));
    if (range.fromDay !== undefined) {
      const opening = await readMovedBefore(tx, selection, selection.fromMicros);
      const entries = openingEntries(balances(chart, opening), range.fromDay);
      yield entries.map((entry) => format.entry(entry)).join('');
    }
  }
  let lastDay = range.fromDay;
  for await (const { day, text } of readEntries(tx, selection, given)) {
    lastDay = day;
    yield text;
  }
  const endDay = range.toDay === undefined ? lastDay : dayAfter(range.toDay, -1);
  if (isComplete && endDay !== undefined) yield format.assert(balances(chart, closing), endDay);
}

/**
 * The whole text at once, for ranges that are known to be small.
 * @throws UndatedTransfers while transfers of an earlier version have no effective time
 */
export function readEntriesText(
  db: Database,
  given: EntryExport,
): Promise<{ readonly text: string; readonly transfers: number }> {
  return readConsistently(db, async (tx) => {
    let transfers = 0;
    const onProgress = (done: number) => {
      transfers = done;
    };
    const parts: string[] = [];
    for await (const part of exportEntries(tx, { ...given, onProgress })) parts.push(part);
    return { text: parts.join(''), transfers };
  });
}

async function selectionOf(tx: Queryable, range: EntryRange): Promise<DaySelection> {
  const { basis, timeZone, fromDay, toDay, currency } = range;
  const startOf = async (day: string | undefined) =>
    day === undefined ? undefined : await readStartOfDay(tx, day, timeZone);
  const [fromMicros, toMicros] = [await startOf(fromDay), await startOf(toDay)];
  return { basis, timeZone, currency, fromMicros, toMicros };
}

/** What accounts exchanged before a time; undefined: ever. */
async function readMovedBefore(
  tx: Queryable,
  selection: DaySelection,
  beforeMicros: number | undefined,
): Promise<readonly MovedAmount[]> {
  const { basis, currency } = selection;
  if (basis === 'booked') return movedByLegs(await readBookedLegs(tx, selection, beforeMicros));
  const moved = await readMoved(tx, { fromMicros: undefined, toMicros: beforeMicros });
  return moved.filter((one) => currency === undefined || one.currency === currency);
}

/** The accounts of the chart that moved, in the order of the journal's accounts. */
function declaredAccounts(chart: Chart, moved: readonly MovedAmount[]): readonly DeclaredAccount[] {
  const sums = balances(chart, moved);
  const names = new Set(ACCOUNT_NAMES.flatMap((account) => chart[account]?.name ?? []));
  return [...names].flatMap((name) => {
    const own = sums.filter(({ account }) => account.name === name);
    const [first] = own;
    if (first === undefined) return [];
    const mapped = ACCOUNT_NAMES.filter((account) => chartAccount(chart, account)?.name === name);
    const [type, ...others] = new Set(mapped.map(accountType));
    return [
      {
        ...first.account,
        type: others.length === 0 ? type : undefined,
        currencies: own.map(({ currency }) => currency),
      },
    ];
  });
}

interface EntriesOfDay {
  readonly day: string;
  readonly text: string;
}

/** The text of the entries, day after day. */
async function* readEntries(
  tx: Queryable,
  selection: DaySelection,
  { format: name, chart, isDaily, onProgress }: EntryExport,
): AsyncGenerator<EntriesOfDay, void> {
  const format: EntryFormat = ENTRY_FORMATS[name];
  let transfers = 0;
  for await (const moved of byDay(readDaysMoved(tx, selection))) {
    const day = moved[0]?.day ?? '';
    if (isDaily) {
      const entries = dayEntries(chart, moved);
      yield { day, text: entries.map((entry) => format.entry(entry)).join('') };
      for (const one of moved) transfers += one.transfers;
      onProgress?.(transfers);
      continue;
    }
    for await (const rows of readTransfersOfDay(tx, selection, moved)) {
      const entries = rows.flatMap((row) => transferEntry(chart, row, day));
      yield { day, text: entries.map((entry) => format.entry(entry)).join('') };
      transfers += rows.length;
      onProgress?.(transfers);
    }
  }
}

/** Groups rows that are sorted by day. */
async function* byDay(
  pages: AsyncIterable<readonly DayMoved[]>,
): AsyncGenerator<readonly DayMoved[], void> {
  let group: DayMoved[] = [];
  for await (const rows of pages) {
    for (const row of rows) {
      if (group.length > 0 && group[0]?.day !== row.day) {
        yield group;
        group = [];
      }
      group.push(row);
    }
  }
  if (group.length > 0) yield group;
}

/** @param closedIn the time zone of the closed months; undefined: no month is closed */
function coverText(
  { basis, timeZone, fromDay, toDay, currency }: EntryRange,
  closedIn: string | undefined,
): string {
  const range = [
    ...(fromDay === undefined ? [] : [`from ${fromDay}`]),
    ...(toDay === undefined ? [] : [`before ${toDay}`]),
  ];
  const what = basis === 'booked' ? 'moved by the service' : 'recorded by Tallyhook';
  const late = basis === 'booked' ? ` ${lateText(timeZone, closedIn)}` : '';
  const whole = range.length === 0 ? 'everything' : `what was ${what} ${range.join(' and ')}`;
  const only = currency === undefined ? '' : `, in ${currency}`;
  return `Tallyhook's journal: ${whole}${only}. Days are those of ${timeZone} on which money was ${what}.${late}`;
}

/** Where late postings are (rule 4). */
function lateText(timeZone: string, closedIn: string | undefined): string {
  return closedIn === undefined || closedIn === timeZone
    ? 'What came after its month was closed is on the first day of the month after it.'
    : `Months are closed in ${closedIn}, so closings are not considered.`;
}

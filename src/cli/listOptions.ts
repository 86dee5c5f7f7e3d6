/** Options and output that lists of orders and of resources share. */
import { Readable } from 'node:stream';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { parseCurrency } from '../contract/money.ts';
import type { Place } from '../ledger/domain/listPage.ts';
import { UsageError } from '../platform/errors.ts';
import { cursorOf, placeRead, timePlace } from '../representation/cursor.ts';
import type { Csv } from '../representation/listCsv.ts';
import { invocation, printNote } from './invocation.ts';
import { jsonOption, limitOption, momentOption } from './options.ts';
import { writeStandardOutput } from './outputFile.ts';
import { cursorOption, moreText, placeOf } from './paging.ts';

export interface MoneyOptions {
  readonly currency?: string;
  readonly minAmount?: number;
  readonly maxAmount?: number;
  readonly from?: number;
  readonly to?: number;
}

export interface ListOptions extends MoneyOptions {
  readonly status?: string;
  readonly openFinding: boolean;
  readonly uncertain: boolean;
  readonly totals: boolean;
  readonly limit: number;
  readonly cursor?: string;
  readonly csv: boolean;
  readonly json: boolean;
}

export function currencyOption(): Option {
  return new Option('--currency <code>', 'only this currency, for example EUR').argParser(
    readCurrency,
  );
}

/** Adds the options by money and time. */
export function addMoneyOptions(command: Command): Command {
  return command
    .addOption(currencyOption())
    .addOption(amountOption('--min-amount', 'only amounts from this on, in minor units'))
    .addOption(amountOption('--max-amount', 'only amounts up to this, in minor units'))
    .addOption(momentOption('--from', 'only rows of this time or later'))
    .addOption(momentOption('--to', 'only rows before this time'));
}

/** Adds the options to a command that has `--status` already. */
export function addListOptions(command: Command): Command {
  return addMoneyOptions(command)
    .option('--open-finding', 'only rows with an open finding', false)
    .option('--uncertain', 'only rows with a state that needs a retrieve', false)
    .option('--totals', 'print the count and the sums of the filter, too', false)
    .addOption(limitOption())
    .addOption(cursorOption())
    .option('--csv', 'print every row of the filter as CSV, however many', false)
    .addOption(jsonOption());
}

/** @throws UsageError if a range is empty */
export function checkRanges(options: MoneyOptions): void {
  const { minAmount: minMinor, maxAmount: maxMinor, from, to } = options;
  if (minMinor !== undefined && maxMinor !== undefined && minMinor > maxMinor) {
    throw new UsageError('--min-amount must not exceed --max-amount.');
  }
  if (from !== undefined && to !== undefined && from >= to) {
    throw new UsageError(
      '--from must be before --to. The range includes --from and excludes --to.',
    );
  }
}

/** The filter that the options describe. */
export function filterOf(options: ListOptions) {
  checkRanges(options);
  const { minAmount: minMinor, maxAmount: maxMinor, from, to } = options;
  if (options.csv && (options.json || options.totals)) {
    throw new UsageError('--csv prints rows only. Leave out --json and --totals.');
  }
  return {
    currency: options.currency,
    minMinor,
    maxMinor,
    fromMicros: from,
    toMicros: to,
    hasFinding: options.openFinding,
    isUncertain: options.uncertain,
  };
}

/** Rows that one statement returns for a whole export. */
export const ROWS_AT_ONCE = 1_000;

export interface Taken<Row> {
  readonly rows: readonly Row[];
  /** The cursor of the next page; null if there are no more rows. */
  readonly next: string | null;
}

/** The first rows of pages, up to a limit. */
export async function take<Row>(
  pages: AsyncIterable<readonly Row[]>,
  limit: number,
  placeOfRow: (row: Row) => Place,
): Promise<Taken<Row>> {
  const found: Row[] = [];
  for await (const page of pages) {
    found.push(...page);
    if (found.length > limit) break;
  }
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  return { rows, next: found.length > limit && last ? cursorOf(placeOfRow(last)) : null };
}

/** The place from which a list continues. */
export function placeOfCursor(cursor: string | undefined): Place | undefined {
  return placeRead(placeOf(cursor, timePlace));
}

/** Prints a heading and every row, as fast as the reader takes them. */
export function printCsv<Row>(
  { heading, lines }: Csv<Row>,
  pages: AsyncIterable<readonly Row[]>,
): Promise<void> {
  const text = async function* () {
    yield heading;
    for await (const rows of pages) yield lines(rows);
  };
  return writeStandardOutput(Readable.from(text()));
}

/** Shows that a list was cut, not among the rows, which `grep` and `awk` read. */
export function printMore({ next }: Taken<unknown>): void {
  if (next !== null) printNote(moreText(invocation().args, next));
}

/** The number of rows of a filter, for people. */
export function countText(totals: {
  readonly count: number;
  readonly isComplete: boolean;
}): string {
  const count = totals.count.toLocaleString('en');
  return totals.isComplete
    ? `${count} in all`
    : `${count} among the newest rows; the sums are those of these, and older ones were not counted`;
}

function amountOption(flag: string, description: string): Option {
  return new Option(`${flag} <minor>`, description).argParser((text) => {
    const minor = Number(text);
    if (!/^\d{1,16}$/.test(text) || !Number.isSafeInteger(minor)) {
      throw new InvalidArgumentError(
        'Give a whole number of minor units, such as 6540 for 65.40 USD.',
      );
    }
    return minor;
  });
}

function readCurrency(text: string): string {
  const currency = parseCurrency(text);
  if (currency !== undefined) return currency;
  throw new InvalidArgumentError('Give a currency of three letters, such as EUR.');
}

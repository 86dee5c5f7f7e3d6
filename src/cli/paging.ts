/**
 * Lists of the command line, in pages as the API has them: a list that is cut shows that, and the
 * command that prints the rest.
 */
import { Option } from 'commander';
import type { z } from 'zod';
import { UsageError } from '../platform/errors.ts';
import { cutPage, numberCursor, numberPlace, readCursor } from '../representation/cursor.ts';
import { printJson } from './context.ts';
import { invocation, printLine, printNote } from './invocation.ts';

export interface PageOptions {
  readonly limit: number;
  readonly cursor?: string;
  readonly json: boolean;
}

export interface Listed<Row> {
  /** The name of the rows in JSON, such as `events`. */
  readonly name: string;
  readonly placeOf: (row: Row) => readonly unknown[];
  readonly toJson: (row: Row) => unknown;
  readonly print: (rows: readonly Row[]) => void;
  /** What is printed instead of an empty table. */
  readonly none: string;
}

export function cursorOption(): Option {
  return new Option('--cursor <cursor>', 'continue where an earlier page ended');
}

/** The place after which a page begins; undefined for the first page. */
export function placeOf<Schema extends z.ZodType>(
  cursor: string | undefined,
  schema: Schema,
): z.output<Schema> | undefined {
  const read = readCursor(cursor, schema);
  if (read.outcome === 'read') return read.place;
  throw new UsageError(
    'The cursor is not one of this list. Use the command that the page before printed, or leave out --cursor.',
  );
}

/**
 * Prints a page, and whether there are more rows.
 * @param rows one row more than the limit, if there are that many
 */
export function printPage<Row>(
  rows: readonly Row[],
  { limit, json }: PageOptions,
  { name, placeOf: place, toJson, print, none }: Listed<Row>,
): void {
  const { shown, next } = cutPage(rows, limit, place);
  if (json) {
    printJson({ [name]: shown.map(toJson), next_cursor: next });
    return;
  }
  if (shown.length === 0) printLine(none);
  else print(shown);
  // Not among the rows, which `grep` and `awk` read.
  if (next !== null) printNote(moreText(invocation().args, next));
}

interface FoundPage<Row> {
  readonly rows: readonly Row[];
  /** Rows below this number were not searched; undefined at the end of the list. */
  readonly next: number | undefined;
}

/** A search reads a bounded number of rows; the command continues until its page is full. */
export async function searchPage<Row>(
  { limit, cursor }: PageOptions,
  search: (page: { readonly below: number; readonly limit: number }) => Promise<FoundPage<Row>>,
): Promise<FoundPage<Row>> {
  const rows: Row[] = [];
  let next: number | undefined = placeOf(cursor, numberPlace)?.[0] ?? Number.MAX_SAFE_INTEGER;
  while (rows.length < limit && next !== undefined) {
    const found: FoundPage<Row> = await search({ below: next, limit: limit - rows.length });
    rows.push(...found.rows);
    next = found.next;
  }
  return { rows, next };
}

/** Prints a page that was searched, and whether there are more rows. */
export function printSearched<Row>(
  { rows, next }: FoundPage<Row>,
  { json }: PageOptions,
  { name, toJson, print, none }: Omit<Listed<Row>, 'placeOf'>,
): void {
  const cursor = numberCursor(next);
  if (json) {
    printJson({ [name]: rows.map(toJson), next_cursor: cursor });
    return;
  }
  if (rows.length === 0) printLine(none);
  else print(rows);
  if (cursor !== null) printNote(moreText(invocation().args, cursor));
}

const READ_AT_ONCE = 1_000;

/** Every row of a list, read in pages. @param readPage the rows after one, or the first ones */
export async function readToEnd<Row>(
  readPage: (after: Row | undefined, limit: number) => Promise<readonly Row[]>,
): Promise<readonly Row[]> {
  const rows: Row[] = [];
  let isLast = false;
  while (!isLast) {
    const page = await readPage(rows.at(-1), READ_AT_ONCE);
    rows.push(...page);
    isLast = page.length < READ_AT_ONCE;
  }
  return rows;
}

/** How to get the rest of a list. @param args of the command that printed the page */
export function moreText(args: readonly string[], next: string): string {
  const kept = args.filter(
    (argument, place) => !/^--cursor(=|$)/.test(argument) && args[place - 1] !== '--cursor',
  );
  const end = kept.indexOf('--');
  const command = kept.toSpliced(end === -1 ? kept.length : end, 0, '--cursor', next);
  return `There are more. Continue with \`npx tallyhook ${command.map(quoted).join(' ')}\`.`;
}

function quoted(argument: string): string {
  return /^[\w.:/@+=,-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", `'\\''`)}'`;
}

/**
 * Reads MT940 statements in pieces of any size (SWIFT Standards MT, category 9).
 *
 * 1. Tags and entries that the format does not have are refused with their place, and so is a statement
 *    without a closing balance, which was cut.
 * 2. `C` and `RD` (the reversal of a debit) add to the account, `D` and `RC` take from it.
 * 3. The day is that of the booking; its year is the one nearest to the value date, because it has none.
 * 4. A German `:86:` has subfields, `?20` to `?29` and `?60` to `?63` being what the payer wrote, `?31` to
 *    `?33` the other side. Any other text is what the payer wrote.
 * 5. A statement may have several pages, each of which but the last ends with an intermediate balance (`:62M:`).
 *    What follows such a page must begin with its balance: otherwise a page is missing, and the file is refused.
 *    Banks also deliver each page as a file, so a file may end with one that is not the last, which looks like
 *    a file that was cut behind it. It is read, and the reader states that the statement is continued.
 */
import { parseSignedAmount } from './amounts.ts';
import {
  type Balance,
  type BankEntry,
  type BankReader,
  refuseMissingPage,
  refuseOtherAccount,
  refuseOtherSum,
} from './bankEntries.ts';
import { dayOf } from './days.ts';
import { FileProblem, type Place, quoted } from './fileProblem.ts';
import { createSequences, type Sequences } from './sequences.ts';

/** Tags with nothing that is imported. */
const OTHER_TAGS = new Set(['21', '28', '28C', '13D', '34F', '64', '65', '90C', '90D', 'NS']);

const MAX_LINE = 1_000;
/** `:86:` has six lines; some banks have more. */
const MAX_FIELD_LINES = 60;

interface Tagged {
  readonly tag: string;
  readonly place: Place;
  readonly lines: readonly string[];
}

interface Statement {
  readonly opening: Balance;
  /** Undefined before its first entry, on whichever page. */
  sequence: number | undefined;
  entriesMinor: bigint;
}

/** How a statement or a page of it ends. */
type Closing = Balance & Pick<Statement, 'sequence'>;

/** @param account the account that the statements must be of */
export function createMt940Reader(account: string): BankReader {
  const tags = createTagReader();
  const statements = createStatements(account);
  return {
    push: (piece) => tags.push(piece).flatMap(statements.read),
    end: () => {
      const entries = tags.end().flatMap(statements.read);
      statements.end(tags.place());
      return entries;
    },
    isContinued: statements.isContinued,
  };
}

/** Reads tags, each with the lines that continue it. */
function createTagReader() {
  let rest = '';
  let line = 0;
  let open: (Tagged & { readonly lines: string[] }) | undefined;
  const take = (): readonly Tagged[] => {
    const ended = open;
    open = undefined;
    return ended ? [ended] : [];
  };
  const readLine = (text: string): readonly Tagged[] => {
    line += 1;
    const place = { line, column: 1 };
    refuseLongLine(text, place);
    const tag = /^:([0-9A-Z]{2,3}):/.exec(text)?.[1];
    if (tag !== undefined) {
      const ended = take();
      open = { tag, place, lines: [text.slice(tag.length + 2)] };
      return ended;
    }
    if (isBetween(text, open?.tag)) return take();
    if (!open)
      throw new FileProblem(place, `${quoted(text)} does not begin with a tag such as :20:`);
    if (open.lines.length >= MAX_FIELD_LINES) {
      throw new FileProblem(place, `a field has more than ${MAX_FIELD_LINES} lines`);
    }
    open.lines.push(text);
    return [];
  };
  return {
    place: (): Place => ({ line: Math.max(1, line), column: 1 }),
    push: (piece: string): readonly Tagged[] => {
      const lines = `${rest}${piece}`.split(/\r?\n/);
      rest = lines.pop() ?? '';
      // A piece may end between the two characters that end a line.
      refuseLongLine(rest.replace(/\r$/, ''), { line: line + lines.length + 1, column: 1 });
      return lines.flatMap(readLine);
    },
    end: (): readonly Tagged[] => [...(rest === '' ? [] : readLine(rest)), ...take()],
  };
}

function refuseLongLine(text: string, place: Place): void {
  if (text.length <= MAX_LINE) return;
  throw new FileProblem(place, `a line has more than ${MAX_LINE} characters`);
}

/**
 * Whether a line is between statements: the end of one, a block header of SWIFT, or nothing. What a payer
 * wrote may begin with a hyphen.
 */
function isBetween(text: string, tag: string | undefined): boolean {
  if (/^(?:-\}?|\{.*|\s*)$/.test(text)) return true;
  return text.startsWith('-') && tag !== '86';
}

/** Reads the statements that tags make up. */
function createStatements(account: string) {
  let hasBegun = false;
  let hasAccount = false;
  let isRead = false;
  let statement: Statement | undefined;
  /** The closing balance of a page that is not the last of its statement. */
  let continuedFrom: Closing | undefined;
  let waiting: BankEntry | undefined;
  const sequences = createSequences();
  const flush = (): readonly BankEntry[] => {
    const entry = waiting;
    waiting = undefined;
    return entry ? [entry] : [];
  };
  const begin = (tagged: Tagged) => {
    if (!hasAccount) throw new FileProblem(tagged.place, 'a statement has no account (:25:)');
    if (statement) {
      throw new FileProblem(tagged.place, 'a statement has no closing balance (:62F:)');
    }
    const opening = balanceOf(tagged);
    if (continuedFrom) refuseMissingPage(continuedFrom, opening, tagged.place);
    statement = { opening, sequence: continuedFrom?.sequence, entriesMinor: 0n };
  };
  const addEntry = (tagged: Tagged) => {
    if (!statement) {
      throw new FileProblem(tagged.place, 'an entry precedes the opening balance (:60F:)');
    }
    waiting = addTo(statement, tagged, sequences);
  };
  const finish = (tagged: Tagged) => {
    if (!statement) throw new FileProblem(tagged.place, 'a closing balance has no opening balance');
    const closing = endStatement(statement, tagged, sequences);
    continuedFrom = tagged.tag === '62M' ? closing : undefined;
    statement = undefined;
    hasBegun = false;
    hasAccount = false;
    isRead = true;
  };
  const readTag = (tagged: Tagged) => {
    switch (tagged.tag) {
      case '20':
        hasBegun = true;
        return;
      case '25':
      case '25P':
        refuseOtherAccount(tagged.lines[0] ?? '', account, tagged.place);
        hasAccount = true;
        return;
      case '60F':
      case '60M':
        return begin(tagged);
      case '61':
        return addEntry(tagged);
      case '62F':
      case '62M':
        return finish(tagged);
      default:
        if (OTHER_TAGS.has(tagged.tag)) return;
        throw new FileProblem(tagged.place, `MT940 has no tag :${tagged.tag}:`);
    }
  };
  return {
    read: (tagged: Tagged): readonly BankEntry[] => {
      if (tagged.tag === '86') {
        // After the closing balance it is about the statement.
        if (waiting) waiting = { ...waiting, ...detailsOf(waiting, tagged.lines) };
        return flush();
      }
      const before = flush();
      readTag(tagged);
      return before;
    },
    /** @throws FileProblem if the file ends within a statement, or has none */
    end: (place: Place): void => {
      if (hasBegun || hasAccount) {
        throw new FileProblem(
          place,
          'the file ends without a closing balance (:62F:): it was cut. Download it again',
        );
      }
      if (!isRead) throw new FileProblem(place, 'the file has no statement');
    },
    isContinued: (): boolean => continuedFrom !== undefined,
  };
}

const BALANCE = /^([CD])(\d{6})([A-Z]{3})([\d,]{1,15})$/;

function balanceOf({ place, lines }: Tagged): Balance {
  const [, mark = '', , currency = '', amount = ''] = BALANCE.exec((lines[0] ?? '').trim()) ?? [];
  const amountMinor = parseSignedAmount(amount, ',', currency);
  if (amountMinor === undefined) {
    throw new FileProblem(
      place,
      `${quoted(lines[0] ?? '')} is not a balance such as C261005EUR950,00`,
    );
  }
  return { currency, amountMinor: mark === 'D' ? 0 - amountMinor : amountMinor };
}

function endStatement(
  { opening, entriesMinor, sequence }: Statement,
  ended: Tagged,
  sequences: Sequences,
): Closing {
  const closing = balanceOf(ended);
  if (closing.currency !== opening.currency) {
    throw new FileProblem(
      ended.place,
      `the statement begins in ${opening.currency} and ends in ${closing.currency}`,
    );
  }
  const { currency } = opening;
  refuseOtherSum(
    {
      currency,
      openingMinor: opening.amountMinor,
      entriesMinor,
      closingMinor: closing.amountMinor,
    },
    ended.place,
  );
  if (sequence !== undefined) sequences.end(currency, closing.amountMinor);
  return { ...closing, sequence };
}

function addTo(statement: Statement, tagged: Tagged, sequences: Sequences): BankEntry {
  const { currency, amountMinor: openingMinor } = statement.opening;
  const entry = entryOf(tagged, currency);
  statement.sequence ??= sequences.begin(currency, openingMinor);
  statement.entriesMinor += BigInt(entry.amountMinor);
  return { ...entry, sequence: statement.sequence };
}

/** Value date, booking date, mark, funds code, amount, type. References follow. */
const ENTRY =
  /^(\d{2})(\d{2})(\d{2})(?:(\d{2})(\d{2}))?(R?[CD])[A-Z]?(\d{1,12},\d{0,4})[NFS][A-Z0-9]{3}/;

function entryOf({ place, lines }: Tagged, currency: string): Omit<BankEntry, 'sequence'> {
  const [first = '', ...supplementary] = lines;
  const match = ENTRY.exec(first);
  if (!match) {
    throw new FileProblem(
      place,
      `${quoted(first)} is not an entry such as 2610051005C950,00NTRFREF//BANKREF`,
    );
  }
  const [whole, year, month, date, bookedMonth, bookedDate, mark, amount = ''] = match;
  const valueDay = dayOf(2000 + Number(year), Number(month), Number(date));
  const day =
    bookedMonth === undefined
      ? valueDay
      : nearestDay(2000 + Number(year), valueDay, [Number(bookedMonth), Number(bookedDate)]);
  const amountMinor = parseSignedAmount(amount, ',', currency);
  if (day === undefined || amountMinor === undefined) {
    throw new FileProblem(
      place,
      `${quoted(first)} has a day that does not exist, or no amount of ${currency}`,
    );
  }
  const [ownReference = '', bankReference] = first.slice(whole.length).split('//');
  return {
    place,
    day,
    currency,
    amountMinor: mark === 'C' || mark === 'RD' ? amountMinor : 0 - amountMinor,
    bankReference,
    purpose: [ownReference, ...supplementary].join(' '),
    parties: [],
  };
}

/** Rule 3. */
function nearestDay(
  year: number,
  valueDay: string | undefined,
  [month, date]: readonly [month: number, date: number],
): string | undefined {
  if (valueDay === undefined) return undefined;
  const distance = (day: string) => Math.abs(Date.parse(day) - Date.parse(valueDay));
  return [year - 1, year, year + 1]
    .flatMap((one) => dayOf(one, month, date) ?? [])
    .toSorted((one, other) => distance(one) - distance(other))[0];
}

/** Rule 4. */
function detailsOf(
  { purpose }: BankEntry,
  lines: readonly string[],
): Pick<BankEntry, 'purpose' | 'parties'> {
  const text = lines.join('');
  if (!/^\d{3}\?/.test(text)) return { purpose: `${purpose} ${lines.join(' ')}`, parties: [] };
  const subfields = [...text.matchAll(/\?(\d\d)([^?]*)/g)].map(([, number = '', value = '']) => ({
    number: Number(number),
    value,
  }));
  const of = (isWanted: (number: number) => boolean) =>
    subfields.filter(({ number }) => isWanted(number)).map(({ value }) => value);
  const written = of((number) => (number >= 20 && number <= 29) || (number >= 60 && number <= 63));
  const names = of((number) => number === 32 || number === 33);
  return {
    purpose: `${purpose} ${written.join('')}`,
    parties: [names.join(''), ...of((number) => number === 31)],
  };
}

/**
 * Pages of camt.053 statements (ISO 20022, `StmtPgntn` and `MsgPgntn`).
 *
 * Terms. *Opening*, *closing*: the booked balances at the beginning and the end of a statement (`OPBD` or `PRCD`,
 * `CLBD`). Banks state them on each page or on the first and the last. *Interim*: the booked balance between two
 * pages (`ITBD`), stated on both.
 *
 * 1. The entries of all pages lead from the opening to the closing balance, those of one page only from interim
 *    to interim balance.
 * 2. Pages of one statement follow each other in a file, by their numbers and by their interim balances.
 *    Otherwise a page is missing, and the file is refused. So is one with a further statement before the last page.
 * 3. Banks also deliver pages as files. A file may begin with any page, and end with one that is not the last: the
 *    reader then states that the statement is continued.
 * 4. Where only the message has pages (`MsgPgntn`), its numbers count for a statement. A message with several
 *    statements does not show which of them is continued, so rule 2 is not applied to their numbers.
 */
import { refuseMissingPage, refuseOtherSum } from './bankEntries.ts';
import { FileProblem, type Place } from './fileProblem.ts';
import { createSequences } from './sequences.ts';

export interface PageNumber {
  /** From 1. */
  readonly number: number;
  readonly isLast: boolean;
  /** Stated by the statement itself, not by its message. */
  readonly isOwn: boolean;
}

/** What a page states. Amounts in minor units. */
export interface PageSums {
  /** Of its entries (sequences.ts); undefined before the first one. */
  readonly sequence: number | undefined;
  readonly currency: string | undefined;
  readonly openingMinor: number | undefined;
  readonly closingMinor: number | undefined;
  /** In the order of the page. */
  readonly interimMinor: readonly number[];
  readonly entriesMinor: bigint;
}

/** A statement of which the last page was not read yet. */
interface Continued {
  readonly nextNumber: number;
  readonly isOwn: boolean;
  readonly sequence: number | undefined;
  /** The opening balance; undefined also where the first page is in another file. */
  readonly openingMinor: number | undefined;
  readonly entriesMinor: bigint;
  /** The interim balance at the end of the last page. */
  readonly interimMinor: number | undefined;
}

export interface Pages {
  /** Called at the first entry of a page. @returns the number of its sequence */
  readonly begin: (page: PageNumber | undefined, sums: PageSums) => number;
  /** @throws FileProblem (rules 1 and 2) */
  readonly end: (page: PageNumber | undefined, sums: PageSums, place: Place) => void;
  readonly isContinued: () => boolean;
}

const ONLY_PAGE: PageNumber = { number: 1, isLast: true, isOwn: true };

export function createPages(): Pages {
  let continued: Continued | undefined;
  const sequences = createSequences();
  const beforeOf = ({ number }: PageNumber) =>
    continued?.nextNumber === number ? continued : undefined;
  return {
    begin: (page = ONLY_PAGE, sums) => {
      const before = beforeOf(page);
      const openingMinor = before ? before.openingMinor : interimOf(page, sums).begin;
      return before?.sequence ?? sequences.begin(sums.currency ?? '', openingMinor);
    },
    end: (page = ONLY_PAGE, sums, place) => {
      refuseOtherNumber(continued, page, place);
      const before = beforeOf(page);
      const interim = interimOf(page, sums);
      refuseOtherInterim(before?.interimMinor, interim.begin, { sums, place });
      refuseDifference(interim.begin, interim.end, { sums, place });
      const openingMinor = page.number === 1 ? sums.openingMinor : before?.openingMinor;
      const entriesMinor = (before?.entriesMinor ?? 0n) + sums.entriesMinor;
      if (page.isLast) {
        const all = { ...sums, entriesMinor };
        refuseDifference(openingMinor, sums.closingMinor, { sums: all, place });
      }
      const sequence = sums.sequence ?? before?.sequence;
      if (sequence !== undefined) sequences.end(sums.currency ?? '', interim.end);
      const { number, isOwn } = page;
      continued = page.isLast
        ? undefined
        : {
            nextNumber: number + 1,
            isOwn,
            sequence,
            openingMinor,
            entriesMinor,
            interimMinor: interim.end,
          };
    },
    isContinued: () => continued !== undefined,
  };
}

/** Rule 2, by the numbers. */
function refuseOtherNumber(
  continued: Continued | undefined,
  { number, isOwn }: PageNumber,
  place: Place,
): void {
  if (!continued?.isOwn || !isOwn || number === continued.nextNumber) return;
  throw new FileProblem(
    place,
    `this is page ${number} of a statement, and page ${continued.nextNumber} of the one before it is missing. ` +
      'Download the file again',
  );
}

interface Balances {
  readonly begin: number | undefined;
  readonly end: number | undefined;
}

/** The balances between which the entries of one page lie. One of two that is not known is undefined. */
function interimOf({ number, isLast }: PageNumber, sums: PageSums): Balances {
  const { interimMinor, openingMinor, closingMinor } = sums;
  const [first, second] = interimMinor;
  if (number === 1) return { begin: openingMinor, end: isLast ? closingMinor : first };
  if (isLast) return { begin: first, end: closingMinor };
  return second === undefined
    ? { begin: undefined, end: undefined }
    : { begin: first, end: second };
}

interface At {
  readonly sums: PageSums;
  readonly place: Place;
}

/** Rule 2, by the balances. */
function refuseOtherInterim(
  ended: number | undefined,
  begun: number | undefined,
  { sums: { currency }, place }: At,
): void {
  if (ended === undefined || begun === undefined || currency === undefined) return;
  refuseMissingPage({ currency, amountMinor: ended }, { currency, amountMinor: begun }, place);
}

/** Rule 1. */
function refuseDifference(
  openingMinor: number | undefined,
  closingMinor: number | undefined,
  { sums: { currency, entriesMinor }, place }: At,
): void {
  if (currency === undefined || openingMinor === undefined || closingMinor === undefined) return;
  refuseOtherSum({ currency, openingMinor, entriesMinor, closingMinor }, place);
}

/** @throws FileProblem if it is no page number */
export function pageNumberOf(
  number: string | undefined,
  isLast: string | undefined,
  place: Place,
): Omit<PageNumber, 'isOwn'> {
  const isNumber = /^\d{1,5}$/.test(number ?? '') && Number(number) > 0;
  const last = isLast === 'true' || isLast === '1';
  if (isNumber && (last || isLast === 'false' || isLast === '0')) {
    return { number: Number(number), isLast: last };
  }
  throw new FileProblem(
    place,
    'a page has no readable number, or does not state whether it is the last',
  );
}

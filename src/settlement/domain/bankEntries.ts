/**
 * Bank statements of any format. Terms: an *entry* is one booking on the account; the *payers* of a
 * source file are texts by which the service's entries are recognized.
 *
 * 1. Only entries that name a payer become lines. Of all others nothing is stored: a bank statement has the
 *    names and accounts of people who have nothing to do with the service.
 * 2. Of a line, the text is stored without personal data, and neither the name nor the account of the payer.
 * 3. A statement belongs to the account of its source file, and its entries lead from its opening to its closing
 *    balance. Otherwise the file is refused, because it was cut, or is another account's.
 */
import { formatMoney } from '../../contract/money.ts';
import { redactPersonalData } from '../../contract/personalData.ts';
import { hideDigits } from '../../ledger/domain/hiddenDigits.ts';
import type { Line } from '../../ledger/domain/lines.ts';
import { FileProblem, type Place, quoted } from './fileProblem.ts';

export interface BankEntry {
  readonly place: Place;
  /** The number of the statements that follow each other in the file (sequences.ts). */
  readonly sequence: number;
  /** `2026-10-05` */
  readonly day: string;
  readonly currency: string;
  /** Negative: it left the account. */
  readonly amountMinor: number;
  readonly bankReference: string | undefined;
  /** What the payer wrote. */
  readonly purpose: string;
  /** Names and accounts on the other side. */
  readonly parties: readonly string[];
}

export interface BankReader {
  /** @returns the entries that end in this piece */
  readonly push: (text: string) => readonly BankEntry[];
  readonly end: () => readonly BankEntry[];
  /** Whether the last statement is continued on a page that has not been read. */
  readonly isContinued: () => boolean;
}

/** The longest text that is stored: four lines of 140 characters, as camt has them. MT940 has less. */
const MAX_TEXT = 560;

/** The line of an entry; undefined if it is not the service's (rules 1 and 2). */
export function lineOfEntry(entry: BankEntry, payers: readonly string[]): Line | undefined {
  const searched = [entry.purpose, ...entry.parties].map(squeezed);
  const isFromService = payers
    .map(squeezed)
    .some((payer) => searched.some((text) => text.includes(payer)));
  if (!isFromService) return undefined;
  const purpose = entry.purpose.replaceAll(/\s+/g, ' ').trim();
  const text = redactPersonalData(purpose, MAX_TEXT, hideDigits);
  return {
    fileLine: entry.place.line,
    sequence: entry.sequence,
    type: 'bank',
    settlement: undefined,
    reference: undefined,
    lineReference: givenReference(entry.bankReference),
    day: entry.day,
    currency: entry.currency,
    grossMinor: entry.amountMinor,
    feeMinor: 0,
    text: text === '' ? undefined : text,
  };
}

/** Banks fill the field for a reference that they do not have. */
const NO_REFERENCE = new Set(['', 'NONREF', 'NOTPROVIDED', 'NONE']);

export function givenReference(text: string | undefined): string | undefined {
  const trimmed = text?.trim() ?? '';
  return NO_REFERENCE.has(trimmed.toUpperCase()) ? undefined : trimmed.slice(0, 200);
}

/** Statements break texts anywhere, and write accounts with and without spaces. */
function squeezed(text: string): string {
  return text.replaceAll(/\s+/g, '').toUpperCase();
}

/** @throws FileProblem if a statement is another account's (rule 3) */
export function refuseOtherAccount(stated: string, account: string, place: Place): void {
  if (isAccount(squeezed(stated), squeezed(account))) return;
  throw new FileProblem(
    place,
    `the statement is of the account ${quoted(masked(stated))}, and the source file names ` +
      `${quoted(masked(account))}`,
  );
}

/**
 * Whether a text names an account by its whole number: behind a bank code, zeros or the beginning of an IBAN,
 * and before a currency.
 */
function isAccount(text: string, account: string): boolean {
  const at = text.lastIndexOf(account);
  if (at < 0) return false;
  const [before, behind] = [text.slice(0, at), text.slice(at + account.length)];
  return !/^\d/.test(behind) && /^[A-Z]{2}\d|(?:^|\D)0*$/.test(before);
}

/** An account for people: its last four characters. */
function masked(account: string): string {
  const text = squeezed(account);
  return text.length <= 4 ? text : `…${text.slice(-4)}`;
}

/** A balance that a statement states, or a page of it. */
export interface Balance {
  readonly currency: string;
  readonly amountMinor: number;
}

/** @throws FileProblem if a page does not begin with the balance with which the one before it ends */
export function refuseMissingPage(ended: Balance, begun: Balance, place: Place): void {
  if (ended.currency === begun.currency && ended.amountMinor === begun.amountMinor) return;
  throw new FileProblem(
    place,
    `the page before this one ends with ${formatMoney(ended.amountMinor, ended.currency)}, and this one ` +
      `begins with ${formatMoney(begun.amountMinor, begun.currency)}: a page between them is missing. ` +
      'Download the file again',
  );
}

export interface StatementSums {
  readonly currency: string;
  readonly openingMinor: number;
  readonly entriesMinor: bigint;
  readonly closingMinor: number;
}

/** @throws FileProblem if the entries do not lead to the closing balance (rule 3) */
export function refuseOtherSum(sums: StatementSums, place: Place): void {
  const { currency, openingMinor, entriesMinor, closingMinor } = sums;
  const missingMinor = BigInt(closingMinor) - BigInt(openingMinor) - entriesMinor;
  if (missingMinor === 0n) return;
  throw new FileProblem(
    place,
    `the entries do not lead to the closing balance: ${formatMoney(missingMinor, currency)} is missing. ` +
      'The file was cut or changed. Download it again',
  );
}

/**
 * The second source of the journal: lines of settlement reports and bank statements. Terms: a *report line*
 * states what the service did with money that it holds for us; a *bank line* states what arrived from the
 * service at the bank, or what the service withdrew. A *match* names what a line is about.
 *
 * 1. What a line posts is a function of the line and its match alone. So the ledger is a function of the set
 *    of lines, and no order of files changes them.
 * 2. A payment, refund, dispute or payout is posted from the service's resources. A report line about one
 *    posts its fee only, so that nothing is posted twice.
 * 3. A line is identified by its content and its number among equal lines of its file; a report line to which the
 *    service gives a number, by its content alone. Of a bank statement, only lines of statements that follow each
 *    other are counted. So a file that is imported again, overlaps another, was exported again, or has a numbered row
 *    or a statement twice adds nothing that is stored. The text of a bank line does not belong to its content: erasure
 *    may change it.
 * 4. A line has the day that is written in its file, and its transfers ten o'clock of that day in UTC, which is on
 *    the same day in every time zone from UTC-10 to UTC+13:45: also in Hawaii, and in New Zealand in summer.
 *    A line that an earlier version posted at noon keeps that time: what takes it back is in the same month.
 * 5. A match that is undone takes back what it posted, by transfers with the accounts swapped.
 */
import { formatMoney } from '../../contract/money.ts';
import { RESOURCE_KINDS } from '../../contract/resources/index.ts';
import type { DatedTransfer } from './effectiveTimes.ts';
import { LEGS, type Leg, type LineKind, type PostedLeg, type Targets, transferBy } from './legs.ts';

export const REPORT_LINE_TYPES = [
  'payment',
  'refund',
  'dispute',
  'payout',
  'fee',
  'adjustment',
] as const;
export type ReportLineType = (typeof REPORT_LINE_TYPES)[number];
export type LineType = ReportLineType | 'bank';

/** The money of a line, and what identifies it. */
export interface LineContent {
  readonly type: LineType;
  /** Report lines: the reference of what the service pays out together. */
  readonly settlement: string | undefined;
  /** Report lines: the id by which the report names what the line is about. */
  readonly reference: string | undefined;
  /** The number that the service or the bank gives the line. */
  readonly lineReference: string | undefined;
  /** `2026-10-05` */
  readonly day: string;
  readonly currency: string;
  /** What it adds to the money that the service holds; for bank lines, to the account at the bank. */
  readonly grossMinor: number;
  /** Charged; negative: returned. */
  readonly feeMinor: number;
}

/** A line as it is read from a file. */
export interface Line extends LineContent {
  /** The line of the file on which it begins. */
  readonly fileLine: number;
  /** Bank lines: the number of the statements that follow each other in the file (rule 3). */
  readonly sequence?: number;
  /** Bank lines: what the payer wrote, without personal data. */
  readonly text: string | undefined;
}

/** The fields that identify a line (rule 3), always in the same order. */
export function identityOf({
  type,
  settlement = null,
  reference = null,
  lineReference = null,
  day,
  currency,
  grossMinor,
  feeMinor,
}: { readonly [Name in keyof LineContent]: LineContent[Name] | null }): string {
  return JSON.stringify([
    type,
    settlement,
    reference,
    lineReference,
    day,
    currency,
    grossMinor,
    feeMinor,
  ]);
}

export function lineKindOf(type: LineType): LineKind {
  return type === 'bank' ? 'bank_line' : 'settlement_line';
}

/** What a report line, after its fee, adds to a settlement. */
export function netOf({
  grossMinor,
  feeMinor,
}: Pick<LineContent, 'grossMinor' | 'feeMinor'>): number {
  return grossMinor - feeMinor;
}

export const TARGET_KINDS = [...RESOURCE_KINDS, 'settlement', 'adjustment', 'excluded'] as const;
/**
 * What a line can be about. `adjustment`: a report line about nothing that the ledger has, which is posted as a
 * whole. `excluded`: a bank line that is not the service's.
 */
export type TargetKind = (typeof TARGET_KINDS)[number];

export type MatchRule = 'id' | 'payment' | 'order' | 'reference' | 'amount_and_date' | 'by_hand';

/** The part of a match on which postings depend. */
export interface LineMatch {
  readonly targetKind: TargetKind;
  /** What it adds to psp.clearing as a difference that was written off. */
  readonly writtenOffMinor: number;
}

export type LineMoney = Pick<LineContent, 'type' | 'grossMinor' | 'feeMinor'>;

/** The targets of a line's legs (rule 1). */
function lineTargets(
  { type, grossMinor, feeMinor }: LineMoney,
  match: LineMatch | null | undefined,
): Targets {
  const writtenOffMinor = match?.writtenOffMinor ?? 0;
  if (type === 'bank') {
    const arrivedMinor = match?.targetKind === 'excluded' ? 0 : grossMinor;
    const [received, withdrawn] = bothWays(arrivedMinor);
    const [up, down] = bothWays(writtenOffMinor);
    return {
      bank_received: received,
      bank_withdrawn: withdrawn,
      difference_up: up,
      difference_down: down,
    };
  }
  const isAdjustment = type === 'adjustment' || match?.targetKind === 'adjustment';
  const [charged, returned] = bothWays(feeMinor);
  const [up, down] = bothWays((isAdjustment ? grossMinor : 0) + writtenOffMinor);
  return { fee_charged: charged, fee_returned: returned, adjusted_up: up, adjusted_down: down };
}

/** A leg only moves forward; the other direction has a leg of its own. */
function bothWays(amountMinor: number): readonly [forward: number, back: number] {
  return [Math.max(0, amountMinor), Math.max(0, -amountMinor)];
}

/** A line that posts, and what identifies its content. */
export interface PostingLine extends LineMoney {
  readonly day: string;
  readonly currency: string;
  /** SHA-256 of `identityOf`, in hexadecimal. */
  readonly digest: string;
}

/** What a leg of a line has posted, and when its last transfer is effective. */
export interface PostedLineLeg extends PostedLeg {
  readonly effectiveMicros: number;
}

/** The transfers that bring a line from what it has posted, by leg, to its targets. */
export function lineTransfers(
  line: PostingLine,
  match: LineMatch | undefined,
  posted: Readonly<Record<string, PostedLineLeg>>,
): readonly DatedTransfer[] {
  const { currency, digest, day } = line;
  const legs: Readonly<Record<string, Leg>> = LEGS[lineKindOf(line.type)];
  const [before] = Object.values(posted);
  const effectiveMicros = before?.effectiveMicros ?? instantOf(day, LINE_TIME);
  return Object.entries(lineTargets(line, match)).flatMap(([leg, targetMinor]) => {
    const accounts = legs[leg];
    if (!accounts) throw new Error(`a line has no leg ${leg}`);
    const last = posted[leg] ?? { seq: 0, cumulativeMinor: 0 };
    const movedMinor = targetMinor - last.cumulativeMinor;
    if (movedMinor === 0) return [];
    const transfer = transferBy(movedMinor, { leg, currency, accounts, last });
    return [{ ...transfer, headHash: digest, effectiveMicros, source: 'stated' as const }];
  });
}

/** The time of a line on its day, in UTC (rule 4). */
export const LINE_TIME = '10:00';
/** That of lines which development versions have posted. */
const EARLIER_TIME = '12:00';

/** The time of a line of a day such as `2026-10-05`, in microseconds since 1970. */
function instantOf(day: string, time: string): number {
  return Date.parse(`${day}T${time}Z`) * 1000;
}

/** A transfer that a line has posted. */
export interface BookedRow {
  readonly leg: string;
  readonly currency: string;
  readonly previousMinor: bigint;
  readonly cumulativeMinor: bigint;
  readonly effectiveMicros: number;
}

/** What a line has posted and should not have, and the reverse. @param rows each leg in sequence */
export function bookedProblems(
  line: LineMoney & Pick<LineContent, 'day' | 'currency'>,
  match: LineMatch | null,
  rows: readonly BookedRow[],
): readonly string[] {
  const targets = lineTargets(line, match);
  const posted = new Map(rows.map((row) => [row.leg, row.cumulativeMinor]));
  const amounts = Object.entries(targets).flatMap(([leg, targetMinor]) => {
    const postedMinor = posted.get(leg) ?? 0n;
    if (postedMinor === BigInt(targetMinor)) return [];
    const [is, should] = [postedMinor, targetMinor].map((minor) =>
      formatMoney(minor, line.currency),
    );
    return [`${leg}: ${is} is posted, but the line requires ${should}`];
  });
  const instants = [LINE_TIME, EARLIER_TIME].map((time) => instantOf(line.day, time));
  const others = rows.flatMap(({ leg, currency, effectiveMicros }) => [
    ...(currency === line.currency ? [] : [`${leg}: a transfer is in ${currency}`]),
    ...(instants.includes(effectiveMicros)
      ? []
      : [`${leg}: a transfer is not effective on ${line.day}`]),
  ]);
  return [...amounts, ...others];
}

/** What lines come to in one currency. */
export interface LineSum {
  readonly lines: number;
  readonly grossMinor: bigint;
  readonly feeMinor: bigint;
}
export type LineSums = ReadonlyMap<string, LineSum>;

/** Sums by currency, with more lines added. */
export function addSums(sums: LineSums, lines: readonly LineContent[]): LineSums {
  const added = new Map(sums);
  for (const { currency, grossMinor, feeMinor } of lines) {
    const known = added.get(currency) ?? { lines: 0, grossMinor: 0n, feeMinor: 0n };
    added.set(currency, {
      lines: known.lines + 1,
      grossMinor: known.grossMinor + BigInt(grossMinor),
      feeMinor: known.feeMinor + BigInt(feeMinor),
    });
  }
  return added;
}

/**
 * Reads what a person names as what a line is about: `payment:pay_1`, `settlement:3`, `adjustment` or
 * `excluded`; undefined for anything else.
 */
export function parseTarget(
  text: string,
): { readonly kind: TargetKind; readonly id: string | undefined } | undefined {
  const end = text.indexOf(':');
  const [name, id] = end < 0 ? [text, undefined] : [text.slice(0, end), text.slice(end + 1)];
  const kind = TARGET_KINDS.find((one) => one === name);
  if (kind === undefined || id === '') return undefined;
  const isAlone = kind === 'adjustment' || kind === 'excluded';
  return isAlone === (id === undefined) ? { kind, id } : undefined;
}

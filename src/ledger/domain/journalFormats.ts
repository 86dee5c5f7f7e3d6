/**
 * Writes the journal as text for other programs: CSV for spreadsheets, JSON lines for scripts. Entries of a
 * general ledger are in entryFormats.ts.
 *
 * 1. Amounts are exact: minor units as integers, or decimal text with the currency's exponent.
 * 2. Text from outside cannot break out of its field, and a spreadsheet does not run it as a formula.
 */
import { formatAmount } from '../../contract/money.ts';
import type { TimeSource } from './effectiveTimes.ts';
import type { JournalKind } from './legs.ts';
import { orderIdOf } from './orderKey.ts';
import { formatInstant, instantOrNull } from './time.ts';

/** One transfer as it is exported. */
export interface JournalRow {
  readonly id: number;
  readonly kind: JournalKind;
  readonly resourceId: string;
  /** The order that the resource is filed under now; payouts have none. */
  readonly orderKey: string | undefined;
  readonly leg: string;
  readonly seq: number;
  readonly currency: string;
  readonly debit: string;
  readonly credit: string;
  readonly amountMinor: number;
  readonly headHash: string;
  readonly inboxId: number | undefined;
  readonly eventId: string | undefined;
  readonly recordedMicros: number;
  /** Undefined: posted by an earlier version, and not dated yet. */
  readonly effectiveMicros: number | undefined;
  readonly effectiveSource: TimeSource | undefined;
}

/** The parts of an export: the text before the rows, each row, and the text after them. */
export interface JournalFormat {
  begin(): string;
  row(row: JournalRow): string;
  end(): string;
}

const CSV_COLUMNS = {
  transfer: ({ id }) => String(id),
  recorded_at: ({ recordedMicros }) => formatInstant(recordedMicros),
  kind: ({ kind }) => kind,
  resource_id: ({ resourceId }) => resourceId,
  order_id: ({ orderKey }) => (orderKey === undefined ? '' : orderIdOf(orderKey)),
  leg: ({ leg }) => leg,
  number: ({ seq }) => String(seq),
  debit: ({ debit }) => debit,
  credit: ({ credit }) => credit,
  currency: ({ currency }) => currency,
  amount: ({ amountMinor, currency }) => formatAmount(amountMinor, currency),
  amount_minor: ({ amountMinor }) => String(amountMinor),
  event_id: ({ eventId }) => eventId ?? '',
  inbox: ({ inboxId }) => (inboxId === undefined ? '' : String(inboxId)),
  head_hash: ({ headHash }) => headHash,
  effective_at: ({ effectiveMicros }) =>
    effectiveMicros === undefined ? '' : formatInstant(effectiveMicros),
  effective_source: ({ effectiveSource }) => effectiveSource ?? '',
} as const satisfies Record<string, (row: JournalRow) => string>;

/** A table with a heading, for spreadsheets. */
export function csvFormat(): JournalFormat {
  const columns = Object.values(CSV_COLUMNS);
  return {
    begin: () => `${Object.keys(CSV_COLUMNS).join(',')}\n`,
    row: (row) => `${columns.map((column) => csvField(column(row))).join(',')}\n`,
    end: () => '',
  };
}

/** Characters that start a formula in a spreadsheet, some of them also in full-width form. */
const FORMULA_START = /^[=+\-@\t\r\uFF1D\uFF0B\uFF0D\uFF20]/;
/** A number is no formula, and with an apostrophe before it a spreadsheet would not add it up. */
const NEGATIVE_NUMBER = /^-\d+(?:\.\d+)?$/;
const NEEDS_QUOTES = /[",;\t\r\n]/;
/**
 * A formula that begins within a field. In locales with a decimal comma, spreadsheets separate fields by semicolons
 * alone: for them our quotes are in the middle of a cell, where they protect nothing, and the cell ends at the next
 * semicolon or line break.
 */
const INNER_FORMULA = /([;\r\n])(?=[=+\-@\uFF1D\uFF0B\uFF0D\uFF20])/g;

/** One field: quoted if necessary, with an apostrophe before a formula, also within it. */
export function csvField(text: string): string {
  const isFormula = FORMULA_START.test(text) && !NEGATIVE_NUMBER.test(text);
  const safe = (isFormula ? `'${text}` : text).replaceAll(INNER_FORMULA, "$1'");
  return NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** One JSON object per line, with amounts in minor units. */
export function jsonlFormat(): JournalFormat {
  return {
    begin: () => '',
    row: (row) =>
      `${JSON.stringify({
        transfer: row.id,
        recorded_at: formatInstant(row.recordedMicros),
        kind: row.kind,
        resource_id: row.resourceId,
        order_id: row.orderKey === undefined ? null : orderIdOf(row.orderKey),
        leg: row.leg,
        number: row.seq,
        debit: row.debit,
        credit: row.credit,
        currency: row.currency,
        amount_minor: row.amountMinor,
        event_id: row.eventId ?? null,
        inbox: row.inboxId ?? null,
        head_hash: row.headHash,
        effective_at: instantOrNull(row.effectiveMicros),
        effective_source: row.effectiveSource ?? null,
      })}\n`,
    end: () => '',
  };
}

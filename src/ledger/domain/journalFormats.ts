/**
 * The journal as text for other programs: a table for spreadsheets, JSON lines for scripts. The
 * format of hledger is in hledger.ts.
 *
 * 1. Amounts are exact: minor units as integers, or decimal text with the currency's exponent.
 * 2. What comes from outside cannot break out of its place, nor be run by what opens the file.
 */
import { formatAmount } from '../../contract/money.ts';
import type { ResourceKind } from '../../contract/resources/index.ts';
import { orderIdOf } from './order.ts';
import { formatInstant } from './time.ts';

/** One transfer as it is exported. */
export interface JournalRow {
  readonly id: number;
  readonly kind: ResourceKind;
  readonly resourceId: string;
  /** The order that the resource is in now; payouts are in none. */
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
}

/** Writes one export: what stands before the rows, each row in its turn, what stands after them. */
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

/** What a spreadsheet takes for the beginning of a formula; some also take the full-width forms. */
const FORMULA_START = /^[=+\-@\t\r\uFF1D\uFF0B\uFF0D\uFF20]/;
/** A semicolon parts fields where the decimal mark is a comma. */
const NEEDS_QUOTES = /[",;\t\r\n]/;

/** One field: quoted where it must be, and with an apostrophe before what would be a formula. */
export function csvField(text: string): string {
  const harmless = FORMULA_START.test(text) ? `'${text}` : text;
  return NEEDS_QUOTES.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

/** One JSON object a line, amounts in minor units. */
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
      })}\n`,
    end: () => '',
  };
}

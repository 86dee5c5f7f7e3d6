/**
 * Reads the rows of a settlement report by a declared mapping. Terms: the *mapping* names the column of each
 * part of a line; the *type* of a row is the service's word, which the mapping translates.
 *
 * 1. A row is read whole or the file is refused: a type without a translation, an amount with too many
 *    decimals, a day that does not exist and a row with more or fewer fields than the header are errors.
 * 2. Where the report has a net amount, it is gross less fee in every row. A file that was cut within its
 *    last amount fails by that.
 * 3. Only the mapped columns are read. Names and addresses of customers in others are not stored.
 */
import { formatMoney, parseCurrency } from '../../contract/money.ts';
import { type Line, netOf, type ReportLineType } from '../../ledger/domain/lines.ts';
import { type DecimalMark, parseSignedAmount } from './amounts.ts';
import type { Field, Row } from './csvRows.ts';
import { type DayFormat, parseDay } from './days.ts';
import { FileProblem, quoted } from './fileProblem.ts';

export interface ReportMapping {
  readonly columns: {
    readonly settlement: string;
    readonly type: string;
    readonly day: string;
    readonly gross: string;
    readonly reference?: string | undefined;
    readonly line?: string | undefined;
    readonly currency?: string | undefined;
    readonly fee?: string | undefined;
    readonly net?: string | undefined;
  };
  /** The service's words. `ignore`: rows that are not read, such as the payment to the bank itself. */
  readonly types: Readonly<Record<string, ReportLineType | 'ignore'>>;
  readonly decimal: DecimalMark;
  readonly days: DayFormat;
  /** The currency of every row; undefined: a column has it. */
  readonly currency?: string | undefined;
  /**
   * `signed`: the gross amount has a minus where money leaves. `by_type`: it has no sign, and refunds, disputes,
   * payouts and fees take money.
   */
  readonly gross: 'signed' | 'by_type';
  /** The sign of a fee that is charged. */
  readonly fee: 'positive' | 'negative';
}

type ColumnName = keyof ReportMapping['columns'];

export interface ReportReader {
  /** @returns the line of a row; `ignored` if the mapping leaves it out, `header` for the first row */
  readonly read: (row: Row) => Line | 'ignored' | 'header';
  readonly end: () => void;
}

export function createReportReader(mapping: ReportMapping): ReportReader {
  let header: Row | undefined;
  let places: ReadonlyMap<ColumnName, number> = new Map();
  return {
    read: (row) => {
      if (!header) {
        header = row;
        places = findColumns(row, mapping);
        return 'header';
      }
      if (row.length !== header.length) {
        throw new FileProblem(
          required(row[0]),
          `the line has ${row.length} fields, and the header has ${header.length}`,
        );
      }
      return lineOf(row, places, mapping);
    },
    end: () => {
      if (!header) throw new FileProblem({ line: 1, column: 1 }, 'the file has no header');
    },
  };
}

function findColumns(header: Row, { columns }: ReportMapping): ReadonlyMap<ColumnName, number> {
  const names = header.map(({ text }) => text.trim());
  const places = Object.entries(columns).flatMap(
    ([name, column]): readonly [ColumnName, number][] =>
      column === undefined ? [] : [[name as ColumnName, names.indexOf(column)]],
  );
  const missing = places.flatMap(([name, place]) => (place < 0 ? [columns[name] ?? ''] : []));
  const doubled = names.filter(
    (name, place) => Object.values(columns).includes(name) && names.indexOf(name) < place,
  );
  const at = required(header[0]);
  if (doubled.length > 0)
    throw new FileProblem(at, `two columns are named ${quoted(doubled[0] ?? '')}`);
  if (missing.length > 0) {
    const has = names.map(quoted).join(', ');
    throw new FileProblem(
      at,
      `no column is named ${missing.map(quoted).join(' or ')}. The file has ${has}`,
    );
  }
  return new Map(places);
}

function lineOf(
  row: Row,
  places: ReadonlyMap<ColumnName, number>,
  mapping: ReportMapping,
): Line | 'ignored' {
  const field = (name: ColumnName): Field | undefined => {
    const place = places.get(name);
    return place === undefined ? undefined : row[place];
  };
  const type = required(field('type'));
  const translated = Object.hasOwn(mapping.types, type.text.trim())
    ? mapping.types[type.text.trim()]
    : undefined;
  if (translated === undefined) {
    throw new FileProblem(
      type,
      `the type ${quoted(type.text)} has no translation. Add it to "types" in the source file`,
    );
  }
  if (translated === 'ignore') return 'ignored';
  const currency = currencyOf(field('currency'), mapping);
  const amounts = amountsOf(field, { type: translated, currency }, mapping);
  const line: Line = {
    fileLine: type.line,
    type: translated,
    settlement: settlementIn(required(field('settlement'))),
    reference: optionalText(field('reference')),
    lineReference: optionalText(field('line')),
    day: dayIn(required(field('day')), mapping.days),
    currency,
    ...amounts,
    text: undefined,
  };
  const net = field('net');
  if (net) refuseOtherNet(line, net, mapping.decimal);
  return line;
}

function currencyOf(field: Field | undefined, { currency }: ReportMapping): string {
  if (currency !== undefined) return currency;
  const stated = required(field);
  const read = parseCurrency(stated.text.trim());
  if (read !== undefined) return read;
  throw new FileProblem(stated, `${quoted(stated.text)} is not a currency`);
}

interface Typed {
  readonly type: ReportLineType;
  readonly currency: string;
}

function amountsOf(
  field: (name: ColumnName) => Field | undefined,
  typed: Typed,
  mapping: ReportMapping,
): Pick<Line, 'grossMinor' | 'feeMinor'> {
  const gross = amountIn(required(field('gross')), typed.currency, mapping.decimal);
  const feeField = field('fee');
  const stated = feeField ? amountIn(feeField, typed.currency, mapping.decimal) : 0;
  const feeMinor = mapping.fee === 'negative' ? 0 - stated : stated;
  const grossMinor = signedGross(gross, typed.type, mapping);
  // A row that is only a fee may have it as its gross amount.
  return typed.type === 'fee'
    ? { grossMinor: 0, feeMinor: feeMinor - grossMinor }
    : { grossMinor, feeMinor };
}

function signedGross(grossMinor: number, type: ReportLineType, { gross }: ReportMapping): number {
  if (gross === 'signed') return grossMinor;
  return ['refund', 'dispute', 'payout', 'fee'].includes(type) ? 0 - grossMinor : grossMinor;
}

/** An empty field is no amount, which is 0. */
function amountIn(field: Field, currency: string, decimal: DecimalMark): number {
  if (field.text.trim() === '') return 0;
  const amountMinor = parseSignedAmount(field.text, decimal, currency);
  if (amountMinor !== undefined) return amountMinor;
  throw new FileProblem(
    field,
    `${quoted(field.text)} is not an amount of ${currency} with the decimal mark ${quoted(decimal)}`,
  );
}

function refuseOtherNet(line: Line, field: Field, decimal: DecimalMark): void {
  const stated = amountIn(field, line.currency, decimal);
  const net = netOf(line);
  if (stated === net) return;
  throw new FileProblem(
    field,
    `the net amount is ${formatMoney(stated, line.currency)}, and gross less fee is ` +
      `${formatMoney(net, line.currency)}. Check "gross" and "fee" in the source file`,
  );
}

function dayIn(field: Field, days: DayFormat): string {
  const day = parseDay(field.text, days);
  if (day !== undefined) return day;
  throw new FileProblem(field, `${quoted(field.text)} is not a day written as ${days}`);
}

const MAX_REFERENCE = 200;

function settlementIn(field: Field): string {
  const text = optionalText(field);
  if (text !== undefined) return text;
  throw new FileProblem(field, 'the settlement is empty');
}

function optionalText(field: Field | undefined): string | undefined {
  if (!field) return undefined;
  const text = field.text.trim();
  if (text.length > MAX_REFERENCE) {
    throw new FileProblem(field, `a reference has at most ${MAX_REFERENCE} characters`);
  }
  return text === '' ? undefined : text;
}

function required(field: Field | undefined): Field {
  if (!field) throw new Error('a row has no field of a column that its header has');
  return field;
}

/** The lines of settlement reports, by a declared mapping (report.ts). */
import { describe, expect, test } from 'vitest';
import type { Line } from '../../../src/ledger/domain/lines.ts';
import { createCsvReader } from '../../../src/settlement/domain/csvRows.ts';
import { createReportReader, type ReportMapping } from '../../../src/settlement/domain/report.ts';
import { problemOf } from '../../support/problemOf.ts';

/** Only what a mapping must have. */
const LEAST: ReportMapping = {
  columns: { settlement: 'Batch', type: 'Type', day: 'Date', gross: 'Gross' },
  types: {
    Charge: 'payment',
    Refund: 'refund',
    Chargeback: 'dispute',
    Transfer: 'payout',
    'Monthly fee': 'fee',
    Correction: 'adjustment',
    'To bank': 'ignore',
  },
  decimal: '.',
  days: 'iso',
  currency: 'EUR',
  gross: 'signed',
  fee: 'positive',
};
const FULL: ReportMapping = {
  ...LEAST,
  currency: undefined,
  columns: {
    ...LEAST.columns,
    reference: 'Payment',
    line: 'Line',
    currency: 'Currency',
    fee: 'Fee',
    net: 'Net',
  },
};

function read(mapping: ReportMapping, ...lines: readonly string[]) {
  const rows = createCsvReader({ delimiter: ',', lastLineEnds: true });
  const report = createReportReader(mapping);
  const results = rows.push(lines.map((line) => `${line}\n`).join('')).map(report.read);
  report.end();
  return results;
}

const LEAST_HEADER = 'Batch,Type,Date,Gross';
const FULL_HEADER = `${LEAST_HEADER},Payment,Line,Currency,Fee,Net`;
const least = (row: string, changed: Partial<ReportMapping> = {}) =>
  read({ ...LEAST, ...changed }, LEAST_HEADER, row)[1];
const full = (row: string, changed: Partial<ReportMapping> = {}) =>
  read({ ...FULL, ...changed }, FULL_HEADER, row)[1];
const leastProblem = (row: string) => problemOf(() => least(row));
const fullProblem = (row: string) => problemOf(() => full(row));

describe('a row becomes a line', () => {
  const expected: Line = {
    fileLine: 2,
    type: 'payment',
    settlement: 'B1',
    reference: 'pay_1',
    lineReference: '7',
    day: '2026-10-04',
    currency: 'EUR',
    grossMinor: 1000,
    feeMinor: 50,
    text: undefined,
  };

  test.each([
    ['', 'B1,Charge,2026-10-04,10.00,pay_1,7,EUR,0.50,9.50'],
    [
      ' without the spaces around its fields',
      ' B1 , Charge , 2026-10-04 , 10 , pay_1 , 7 , eur , 0.5 , 9.5 ',
    ],
  ])('of all columns%s', (_name, row) => {
    expect(full(row)).toEqual(expected);
  });

  test('of the columns that a mapping must have, with the currency and the fee of none', () => {
    expect(least('B1,Charge,2026-10-04,10.00')).toEqual({
      ...expected,
      reference: undefined,
      lineReference: undefined,
      feeMinor: 0,
    });
  });

  test('without what its empty fields would state', () => {
    expect(full('B1,Charge,2026-10-04,, ,,EUR, ,')).toEqual({
      ...expected,
      reference: undefined,
      lineReference: undefined,
      grossMinor: 0,
      feeMinor: 0,
    });
  });

  test('unless the mapping ignores its type', () => {
    expect(least('x,To bank,x,x')).toBe('ignored');
  });
});

describe('the sign of an amount', () => {
  test.each([
    ['Charge', { grossMinor: 500, feeMinor: 0 }],
    ['Correction', { grossMinor: 500, feeMinor: 0 }],
    ['Refund', { grossMinor: -500, feeMinor: 0 }],
    ['Chargeback', { grossMinor: -500, feeMinor: 0 }],
    ['Transfer', { grossMinor: -500, feeMinor: 0 }],
    ['Monthly fee', { grossMinor: 0, feeMinor: 500 }],
  ])('of %s follows from its type where the report has none', (type, amounts) => {
    expect(least(`B1,${type},2026-10-04,5.00`, { gross: 'by_type' })).toMatchObject(amounts);
  });

  test.each(['Charge', 'Correction', 'Refund', 'Chargeback', 'Transfer'])(
    'of %s is that of the report where it has one',
    (type) => {
      expect(least(`B1,${type},2026-10-04,-5.00`)).toMatchObject({ grossMinor: -500 });
    },
  );

  test.each([
    ['positive', '0.50', 50],
    ['positive', '-0.50', -50],
    ['negative', '-0.50', 50],
    ['negative', '0.50', -50],
  ] as const)('of a fee that is charged as %s: %s costs %s', (fee, text, feeMinor) => {
    const net = { 50: '9.50', [-50]: '10.50' }[feeMinor];
    const row = `B1,Charge,2026-10-04,10.00,pay_1,1,EUR,${text},${net}`;
    expect(full(row, { fee })).toMatchObject({ grossMinor: 1000, feeMinor });
  });

  test('of nothing is never a negative zero', () => {
    const row = 'B1,Refund,2026-10-04,0.00,,,EUR,0.00,0.00';
    const { grossMinor, feeMinor } = full(row, { gross: 'by_type', fee: 'negative' }) as Line;
    expect([grossMinor, feeMinor]).toEqual([0, 0]);
  });

  test('of a row that is only a fee, stated as gross and as fee, is a fee of both', () => {
    expect(full('B1,Monthly fee,2026-10-04,-9.90,,,EUR,0.10,-10.00')).toMatchObject({
      grossMinor: 0,
      feeMinor: 1000,
    });
  });
});

describe('rule 1: a row is read whole or the file is refused', () => {
  const long = 'x'.repeat(201);
  test.each([
    [
      'a type without a translation',
      'B1,Bonus,2026-10-04,5',
      'line 2, column 4: the type "Bonus" has no translation. Add it to "types" in the source file',
    ],
    [
      'a type that every object of the program has',
      'B1,constructor,2026-10-04,5',
      'line 2, column 4: the type "constructor" has no translation. Add it to "types" in the source file',
    ],
    [
      'a day that does not exist',
      'B1,Charge,2026-02-30,5',
      'line 2, column 11: "2026-02-30" is not a day written as iso',
    ],
    [
      'an amount with too many decimals',
      'B1,Charge,2026-10-04,5.001',
      'line 2, column 22: "5.001" is not an amount of EUR with the decimal mark "."',
    ],
    ['no settlement', ' ,Charge,2026-10-04,5', 'line 2, column 1: the settlement is empty'],
    [
      'a settlement of more than 200 characters',
      `${long},Charge,2026-10-04,5`,
      'line 2, column 1: a reference has at most 200 characters',
    ],
    [
      'a row with fewer fields than the header',
      'B1,Charge',
      'line 2, column 1: the line has 2 fields, and the header has 4',
    ],
    [
      'a row with more fields than the header',
      'B1,Charge,2026-10-04,5,6',
      'line 2, column 1: the line has 5 fields, and the header has 4',
    ],
  ])('%s', (_name, row, problem) => {
    expect(leastProblem(row)).toBe(problem);
  });

  test.each([
    [
      'a currency that is none',
      'B1,Charge,2026-10-04,5,,,EURO,0,5',
      'line 2, column 26: "EURO" is not a currency',
    ],
    [
      'a reference of more than 200 characters',
      `B1,Charge,2026-10-04,5,${long},,EUR,0,5`,
      'line 2, column 24: a reference has at most 200 characters',
    ],
  ])('%s', (_name, row, problem) => {
    expect(fullProblem(row)).toBe(problem);
  });

  test('a reference of 200 characters is read', () => {
    const reference = 'x'.repeat(200);
    expect(full(`B1,Charge,2026-10-04,5,${reference},,EUR,0,5`)).toMatchObject({ reference });
  });
});

describe('rule 2: a net amount is gross less fee', () => {
  test('and the file is refused where it is another one', () => {
    expect(fullProblem('B1,Charge,2026-10-04,10.00,,,EUR,0.50,9.51')).toBe(
      'line 2, column 39: the net amount is 9.51 EUR, and gross less fee is 9.50 EUR. Check "gross" and ' +
        '"fee" in the source file',
    );
  });
});

describe('the header', () => {
  const headerProblem = (...lines: readonly string[]) => problemOf(() => read(LEAST, ...lines));

  test.each([
    [
      'lacks columns',
      ['Batch,Gross'],
      'line 1, column 1: no column is named "Type" or "Date". The file has "Batch", "Gross"',
    ],
    [
      'has a mapped column twice',
      ['', '', `${LEAST_HEADER},Gross`],
      'line 3, column 1: two columns are named "Gross"',
    ],
    ['is not there', [], 'line 1, column 1: the file has no header'],
  ])('is refused where it %s', (_name, lines, problem) => {
    expect(headerProblem(...lines)).toBe(problem);
  });

  test('may have columns in any order, spaces around names, and other columns twice', () => {
    const lines = [' Gross ,Note,Type,Note,Date,Batch', '5.00,a,Charge,b,2026-10-04,B1'];
    expect(read(LEAST, ...lines)).toMatchObject(['header', { grossMinor: 500, settlement: 'B1' }]);
  });

  test('need not have a column that the mapping leaves out', () => {
    const columns = { ...LEAST.columns, net: undefined };
    expect(least('B1,Charge,2026-10-04,5.00', { columns })).toMatchObject({ grossMinor: 500 });
  });
});

test('rule 3: what no mapped column has is not in a line', () => {
  const row = 'B1,Charge,2026-10-04,5.00,Jane Doe';
  const [, line] = read(LEAST, `${LEAST_HEADER},Customer`, row);
  expect(JSON.stringify(line)).not.toContain('Jane');
});

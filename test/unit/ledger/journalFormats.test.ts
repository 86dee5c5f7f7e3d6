/** Tests cite the invariants at the head of journalFormats.ts (J1, J2). */
import { describe, expect, test } from 'vitest';
import {
  csvField,
  csvFormat,
  type JournalFormat,
  type JournalRow,
  jsonlFormat,
} from '../../../src/ledger/domain/journalFormats.ts';
import { T0 } from '../../support/observations.ts';

function row(fields: Partial<JournalRow> = {}): JournalRow {
  return {
    id: 12,
    kind: 'payment',
    resourceId: 'pay_1',
    orderKey: 'order:ord_1',
    leg: 'captured',
    seq: 1,
    currency: 'USD',
    debit: 'psp.clearing',
    credit: 'order.due',
    amountMinor: 6540,
    headHash: 'ab'.repeat(32),
    inboxId: 7,
    eventId: 'evt_1',
    recordedMicros: T0,
    effectiveMicros: T0,
    effectiveSource: 'version',
    ...fields,
  };
}

function write(format: JournalFormat, ...rows: readonly JournalRow[]): string {
  return [format.begin(), ...rows.map(format.row), format.end()].join('');
}

const AMOUNTS: readonly [string, number, string][] = [
  ['USD', 6540, '65.40'],
  ['USD', 5, '0.05'],
  ['JPY', 6540, '6540'],
  ['KWD', 6540, '6.540'],
  ['CLF', 1, '0.0001'],
  ['JPY', Number.MAX_SAFE_INTEGER, '9007199254740991'],
  ['KWD', Number.MAX_SAFE_INTEGER, '9007199254740.991'],
];

describe('J1: amounts are exact', () => {
  test.each(AMOUNTS)(
    '%s %d is %s in a table, and unchanged in JSON',
    (currency, amountMinor, text) => {
      const one = row({ currency, amountMinor });
      expect(write(csvFormat(), one).split('\n')[1]).toContain(
        `,${currency},${text},${amountMinor},`,
      );
      expect(JSON.parse(write(jsonlFormat(), one))).toMatchObject({
        currency,
        amount_minor: amountMinor,
      });
    },
  );
});

describe('J2: text from outside stays in its field', () => {
  test.each([
    ['pay_1', 'pay_1'],
    ['=1+1', "'=1+1"],
    ['+1', "'+1"],
    ['-1', '-1'],
    ['-65.40', '-65.40'],
    ['-1+1', "'-1+1"],
    ['-1\n', `"'-1\n"`],
    ['--1', "'--1"],
    ['-', "'-"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['\t=1', `"'\t=1"`],
    ['＝1', "'＝1"],
    ['a,b', '"a,b"'],
    ['a;1', '"a;1"'],
    // A spreadsheet that separates fields by semicolons has a cell from here on.
    ['a;=1', `"a;'=1"`],
    ['a;=1;-2;＠3', `"a;'=1;'-2;'＠3"`],
    ['a\n=1\r\n+2', `"a\n'=1\r\n'+2"`],
    ['note "hi"', '"note ""hi"""'],
    ['two\nlines', '"two\nlines"'],
    ['=cmd|"x"', `"'=cmd|""x"""`],
    ['', ''],
  ])('%j is written as %j', (text, field) => {
    expect(csvField(text)).toBe(field);
  });

  test('a table has a heading and the same number of fields in each row', () => {
    const [heading = '', first = ''] = write(
      csvFormat(),
      row({ kind: 'payout', orderKey: undefined }),
    ).split('\n');
    expect(first.split(',')).toHaveLength(heading.split(',').length);
    expect(heading).toMatch(/^transfer,recorded_at,kind,resource_id,order_id,/);
  });

  test('a JSON line is one line for any ids', () => {
    const text = write(jsonlFormat(), row({ resourceId: 'a\nb', orderKey: undefined }));
    expect(text.match(/\n/g)).toHaveLength(1);
    expect(JSON.parse(text)).toMatchObject({ resource_id: 'a\nb', order_id: null });
  });
});

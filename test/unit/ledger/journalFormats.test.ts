/** Tests cite the invariants at the heads of journalFormats.ts (J1, J2) and hledger.ts (H1 to H4). */
import { describe, expect, test } from 'vitest';
import { hledgerFormat } from '../../../src/ledger/domain/hledger.ts';
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
    ['-1', "'-1"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['\t=1', `"'\t=1"`],
    ['＝1', "'＝1"],
    ['a,b', '"a,b"'],
    ['a;=1', '"a;=1"'],
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

const hledger = () => hledgerFormat({ covers: 'all of it' });

describe('the format of hledger', () => {
  test('H1: a transfer is a transaction with both postings and its number', () => {
    expect(write(hledger(), row())).toContain(
      [
        `2026-11-01 (12) payment pay_1 captured 1  ; event:evt_1, order:ord_1, head:${'ab'.repeat(32)}`,
        '    assets:psp.clearing  65.40 USD',
        '    income:order.due  -65.40 USD',
        '',
      ].join('\n'),
    );
  });

  test('H2: a currency is declared with its decimals before it is first used, and once', () => {
    const text = write(
      hledger(),
      row(),
      row({ currency: 'JPY' }),
      row({ currency: 'KWD' }),
      row({ currency: 'JPY' }),
    );
    expect(text.match(/^commodity .*$/gm)).toEqual([
      'commodity 1000.00 USD',
      'commodity 1000. JPY',
      'commodity 1000.000 KWD',
    ]);
    expect(text.indexOf('commodity 1000. JPY')).toBeLessThan(text.indexOf(' 6540 JPY'));
    expect(text).toMatch(/^decimal-mark \.$/m);
  });

  test('H3: an id cannot begin a comment, a tag, a date or a new line', () => {
    const odd = 'a;b  c,d:e|[2020-01-01]\n2020-01-01 x';
    const text = write(hledger(), row({ resourceId: odd, eventId: odd, orderKey: `order:${odd}` }));
    const line = text.split('\n').find((one) => one.startsWith('2026-11-01 (12)')) ?? '';
    expect(line.split(';')).toHaveLength(2);
    expect(line).not.toMatch(/[[\]|]/);
    expect(text).not.toMatch(/^2020/m);
    const [, encoded = ''] = / payment (\S+) captured/.exec(line) ?? [];
    expect(decodeURIComponent(encoded)).toBe(odd);
  });

  test('H4: the sums are asserted at the end, beyond what a double holds exactly', () => {
    const largest = row({ amountMinor: Number.MAX_SAFE_INTEGER });
    const text = write(
      hledger(),
      largest,
      { ...largest, recordedMicros: T0 + 86_400_000_000 },
      largest,
    );
    expect(text.slice(text.indexOf('2026-11-02 balances'))).toBe(
      [
        '2026-11-02 balances',
        '    assets:psp.clearing  0.00 USD = 270215977642229.73 USD',
        '    income:order.due  0.00 USD = -270215977642229.73 USD',
        '',
      ].join('\n'),
    );
  });

  test('every account is declared, holds separately from money, including accounts of a later version', () => {
    const text = write(hledger(), row({ debit: 'new; account', credit: 'memo.auth_contra' }));
    expect(text.match(/^account \S+/gm)).toHaveLength(10);
    expect(text).toMatch(/^account memo:auth_open$/m);
    expect(text).toContain(
      '    unknown:new%3B%20account  65.40 USD\n    memo:auth_contra  -65.40 USD',
    );
  });

  test('without transfers there is no assertion', () => {
    expect(write(hledger())).toMatch(/; No transfers\.\n$/);
  });
});

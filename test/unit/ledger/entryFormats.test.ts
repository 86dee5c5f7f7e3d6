/** Tests cite the rules at the heads of entryFormats.ts (F1 to F3) and chart.ts (C1, C2). */
import { describe, expect, test } from 'vitest';
import { chartProblems, DEFAULT_CHART } from '../../../src/ledger/domain/chart.ts';
import { dayEntries, type Entry, transferEntry } from '../../../src/ledger/domain/entries.ts';
import {
  dayAfter,
  ENTRY_FORMAT_NAMES,
  ENTRY_FORMATS,
} from '../../../src/ledger/domain/entryFormats.ts';

const CASH = { code: '1360', name: 'Assets:Cash' };
const SALES = { code: '8400', name: 'Income:Sales' };

function entry(fields: Partial<Entry> = {}, currency = 'USD', amountMinor = 6540n): Entry {
  return {
    id: '12',
    day: '2026-11-01',
    words: ['payment', 'pay_1', 'captured', '1'],
    orderId: 'ord_1',
    eventId: 'evt_1',
    postings: [
      { account: CASH, currency, amountMinor },
      { account: SALES, currency, amountMinor: -amountMinor },
    ],
    ...fields,
  };
}

const AMOUNTS: readonly [string, bigint, string][] = [
  ['USD', 5n, '0.05'],
  ['JPY', 6540n, '6540'],
  ['KWD', 6540n, '6.540'],
  ['CLF', 1n, '0.0001'],
  ['KWD', 2n ** 70n, '1180591620717411303.424'],
];

describe('F1: amounts are exact', () => {
  test.each(AMOUNTS)('%s %d is %s', (currency, amountMinor, text) => {
    const one = entry({}, currency, amountMinor);
    expect(ENTRY_FORMATS.csv.entry(one)).toContain(`,Assets:Cash,${currency},${text},,`);
    expect(ENTRY_FORMATS.csv.entry(one)).toContain(`,Income:Sales,${currency},,${text},`);
    for (const name of ['hledger', 'beancount'] as const) {
      expect(ENTRY_FORMATS[name].entry(one)).toContain(`  Assets:Cash  ${text} ${currency}\n`);
      expect(ENTRY_FORMATS[name].entry(one)).toContain(`  Income:Sales  -${text} ${currency}\n`);
    }
  });

  test('hledger gets each currency with its decimals, and the decimal mark', () => {
    const accounts = [
      { ...CASH, type: 'A', currencies: ['KWD', 'USD'] },
      { ...SALES, type: undefined, currencies: ['JPY', 'USD'] },
    ] as const;
    expect(`${ENTRY_FORMATS.hledger.begin('x')}${ENTRY_FORMATS.hledger.declare(accounts)}`).toBe(
      [
        '; x',
        '; Ids are percent-encoded.',
        '',
        'decimal-mark .',
        '',
        'account Assets:Cash  ; type:A, code:1360',
        'account Income:Sales  ; code:8400',
        'commodity 1000. JPY',
        'commodity 1000.000 KWD',
        'commodity 1000.00 USD',
        '',
        '',
      ].join('\n'),
    );
  });
});

describe('F2: text from outside stays where it is', () => {
  const odd = 'a;b  c,d:e|[2020-01-01]"\\\n2020-01-01 open Assets:X\n  Assets:Y  1 USD\r*';

  test.each(['hledger', 'beancount'] as const)('it begins nothing in %s', (name) => {
    const plain = ENTRY_FORMATS[name].entry(entry());
    const text = ENTRY_FORMATS[name].entry(
      entry({ words: ['payment', odd, 'captured', '1'], orderId: odd, eventId: odd }),
    );
    expect(text.split('\n')).toHaveLength(plain.split('\n').length);
    expect(text.split(encodeURIComponent(odd))).toHaveLength(4);
    expect(text.replaceAll(encodeURIComponent(odd), '')).not.toMatch(/[[\]|]|open|Assets:[XY]/);
  });

  test('it is one field of CSV, and no formula', () => {
    const [line = ''] = ENTRY_FORMATS.csv
      .entry(entry({ words: ['=1+1'], orderId: '@x', eventId: 'a"\n,b' }))
      .split(',1360,');
    expect(line).toBe('12,2026-11-01');
    expect(
      ENTRY_FORMATS.csv.entry(entry({ words: ['=1+1'], orderId: '@x', eventId: 'a"\n,b' })),
    ).toContain(`USD,65.40,,'=1+1,'@x,"a""\n,b"\n`);
  });

  test('a lone surrogate is replaced', () => {
    for (const name of ['hledger', 'beancount'] as const) {
      expect(ENTRY_FORMATS[name].entry(entry({ orderId: '\ud800' }))).toContain('%EF%BF%BD');
    }
  });
});

test('F3: balances are asserted exactly, at the end of the day', () => {
  const balances = [{ account: CASH, currency: 'USD', amountMinor: 2n ** 60n }];
  expect(ENTRY_FORMATS.hledger.assert(balances, '2026-10-31')).toContain(
    '2026-10-31 balances\n    Assets:Cash  0.00 USD = 11529215046068469.76 USD\n',
  );
  expect(ENTRY_FORMATS.beancount.assert(balances, '2026-10-31')).toContain(
    '2026-11-01 balance Assets:Cash  11529215046068469.76 ~ 0 USD\n',
  );
  expect(ENTRY_FORMATS.csv.assert(balances, '2026-10-31')).toBe('');
  expect([dayAfter('2026-12-31', 1), dayAfter('2028-03-01', -1)]).toEqual([
    '2027-01-01',
    '2028-02-29',
  ]);
});

test('F3: beancount adds the accounts beneath an account to its balance, in its currency', () => {
  const balances = [
    { account: { code: '1', name: 'Assets:A' }, currency: 'USD', amountMinor: 1n },
    { account: { code: '2', name: 'Assets:A:B' }, currency: 'USD', amountMinor: 20n },
    { account: { code: '3', name: 'Assets:A:B:C' }, currency: 'USD', amountMinor: -300n },
    { account: { code: '4', name: 'Assets:A:B' }, currency: 'EUR', amountMinor: 4000n },
    { account: { code: '5', name: 'Assets:AB' }, currency: 'USD', amountMinor: 50000n },
  ];
  const amounts = ENTRY_FORMATS.beancount.assert(balances, '2026-10-31').match(/\S+ ~ 0 \S+/g);
  expect(amounts).toEqual([
    '-2.79 ~ 0 USD',
    '-2.80 ~ 0 USD',
    '-3.00 ~ 0 USD',
    '40.00 ~ 0 EUR',
    '500.00 ~ 0 USD',
  ]);
  expect(ENTRY_FORMATS.hledger.assert(balances, '2026-10-31')).toContain(
    'Assets:A  0.00 USD = 0.01 USD',
  );
});

const MOVED = { day: '2026-11-01', currency: 'USD', lateOf: null, transfers: 1 };

test('the entry of a day has the total of each account, and none without a change', () => {
  const [one, ...others] = dayEntries(DEFAULT_CHART, [
    { ...MOVED, leg: 'captured', movedMinor: 1_000n },
    { ...MOVED, leg: 'capture_voided', movedMinor: 300n },
    { ...MOVED, leg: 'requested', movedMinor: 200n },
    { ...MOVED, leg: 'released', movedMinor: 200n },
    { ...MOVED, currency: 'EUR', leg: 'held', movedMinor: 0n },
    { ...MOVED, currency: 'JPY', leg: 'held', movedMinor: -70n },
  ]);
  expect(one?.id).toBe('2026-11-01-JPY');
  expect(one?.postings.map(({ account, amountMinor }) => [account.name, amountMinor])).toEqual([
    ['Assets:Disputes:Held', -70n],
    ['Assets:Service:Clearing', 70n],
  ]);
  expect(
    others.map(({ id, postings }) => [id, postings.map(({ amountMinor }) => amountMinor)]),
  ).toEqual([['2026-11-01-USD', [700n, -700n]]]);
});

const ROW = {
  movedOn: null,
  id: 1,
  kind: 'payment',
  resourceId: 'pay_1',
  orderKey: undefined,
  leg: 'auth_opened',
  seq: 1,
  currency: 'USD',
  debit: 'memo.auth_open',
  credit: 'memo.auth_contra',
  amountMinor: 5,
  headHash: '',
  inboxId: undefined,
  eventId: undefined,
} as const;

test('a transfer between accounts that are left out has no entry, and one of an unknown account is an error', () => {
  const chart = { ...DEFAULT_CHART, 'memo.auth_open': null, 'memo.auth_contra': null };
  expect(transferEntry(DEFAULT_CHART, ROW, '2026-11-01')).toHaveLength(1);
  expect(transferEntry(chart, ROW, '2026-11-01')).toEqual([]);
  expect(() => transferEntry(chart, { ...ROW, debit: 'psp.fees' }, '2026-11-01')).toThrow(
    /psp\.fees/,
  );
});

describe('the chart without a file', () => {
  test.each(ENTRY_FORMAT_NAMES)('C1, C2: is valid for %s', (name) => {
    expect(chartProblems(DEFAULT_CHART, ENTRY_FORMATS[name].names)).toEqual([]);
  });
});

test('late postings have entries of their own, which name the day or month to which they belong', () => {
  const entries = dayEntries(DEFAULT_CHART, [
    { ...MOVED, leg: 'captured', movedMinor: 500n },
    { ...MOVED, lateOf: '2026-09', leg: 'captured', movedMinor: 30n },
    { ...MOVED, lateOf: '2026-10', leg: 'captured', movedMinor: 2n },
  ]);
  expect(entries.map(({ id, words }) => [id, words.at(-1)])).toEqual([
    ['2026-11-01-USD', 'day'],
    ['2026-11-01-USD-late-2026-09', '2026-09'],
    ['2026-11-01-USD-late-2026-10', '2026-10'],
  ]);
  const late = transferEntry(DEFAULT_CHART, { ...ROW, movedOn: '2026-10-05' }, '2026-11-01');
  const texts = ENTRY_FORMAT_NAMES.flatMap((name) =>
    late.map((one) => ENTRY_FORMATS[name].entry(one)),
  );
  for (const text of texts) expect(text).toMatch(/ 1 late posting of 2026-10-05\b/);
});

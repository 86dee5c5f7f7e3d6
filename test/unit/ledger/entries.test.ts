/** The numbers are those of src/ledger/domain/entries.ts; entryFormats.test.ts has how entries are written. */
import { describe, expect, test } from 'vitest';
import { DEFAULT_CHART } from '../../../src/ledger/domain/chart.ts';
import {
  balances,
  type DayMoved,
  dayEntries,
  daysOfMonth,
  type Entry,
  type EntryRow,
  openingEntries,
  transferEntry,
} from '../../../src/ledger/domain/entries.ts';

const NO_HOLDS = { ...DEFAULT_CHART, 'memo.auth_open': null, 'memo.auth_contra': null };
const CLEARING = { code: 'psp.clearing', name: 'Assets:Service:Clearing' };
const SALES = { code: 'order.due', name: 'Income:Orders' };

const ROW: EntryRow = {
  id: 12,
  kind: 'payment',
  resourceId: 'pay_1',
  orderKey: 'order:ord_1',
  leg: 'captured',
  seq: 3,
  currency: 'USD',
  debit: 'psp.clearing',
  credit: 'order.due',
  amountMinor: 6_540,
  headHash: '',
  inboxId: undefined,
  eventId: 'evt_1',
  movedOn: null,
};

function moved(fields: Partial<DayMoved>): DayMoved {
  return {
    day: '2026-11-01',
    currency: 'USD',
    leg: 'captured',
    lateOf: null,
    movedMinor: 100n,
    transfers: 1,
    ...fields,
  };
}

/** Entries with their postings as texts. */
function texts(entries: readonly Entry[]) {
  return entries.map(({ id, postings }) => [
    id,
    ...postings.map(
      ({ account, currency, amountMinor }) => `${account.name} ${amountMinor} ${currency}`,
    ),
  ]);
}

describe('the entry of a transfer', () => {
  test('1, 2: debits and credits its accounts with its amount, and has its number and its ids', () => {
    expect(transferEntry(DEFAULT_CHART, ROW, '2026-11-01')).toEqual([
      {
        id: '12',
        day: '2026-11-01',
        words: ['payment', 'pay_1', 'captured', '3'],
        orderId: 'ord_1',
        eventId: 'evt_1',
        postings: [
          { account: CLEARING, currency: 'USD', amountMinor: 6_540n },
          { account: SALES, currency: 'USD', amountMinor: -6_540n },
        ],
      },
    ]);
  });

  test('3: of a late posting names the day to which it belongs, and without an order has none', () => {
    const row = { ...ROW, orderKey: undefined, movedOn: '2026-10-05' };
    expect(transferEntry(DEFAULT_CHART, row, '2026-11-01')).toMatchObject([
      {
        orderId: undefined,
        words: ['payment', 'pay_1', 'captured', '3', 'late', 'posting', 'of', '2026-10-05'],
      },
    ]);
  });

  test.each([
    ['both sides', 'memo.auth_open', 'memo.auth_contra'],
    ['its debit', 'memo.auth_open', 'order.due'],
    ['its credit', 'psp.clearing', 'memo.auth_contra'],
  ])('is none if %s are left out', (_what, debit, credit) => {
    expect(transferEntry(NO_HOLDS, { ...ROW, debit, credit }, '2026-11-01')).toEqual([]);
  });
});

describe('the entries of a day', () => {
  test('2: one for each currency, with its day and currency, in the order of the currencies', () => {
    const entries = dayEntries(DEFAULT_CHART, [
      moved({}),
      moved({ currency: 'EUR', movedMinor: 7n }),
      moved({ leg: 'settled', movedMinor: 30n }),
    ]);
    expect(texts(entries)).toEqual([
      ['2026-11-01-EUR', 'Assets:Service:Clearing 7 EUR', 'Income:Orders -7 EUR'],
      [
        '2026-11-01-USD',
        'Assets:Service:Clearing 70 USD',
        'Income:Orders -100 USD',
        'Liabilities:Refunds:InFlight 30 USD',
      ],
    ]);
    expect(entries[0]).toMatchObject({
      day: '2026-11-01',
      words: ['totals', 'of', 'the', 'day'],
      orderId: undefined,
      eventId: undefined,
    });
  });

  test('1: what was taken back is on the other sides, and nothing moved is no entry', () => {
    expect(texts(dayEntries(DEFAULT_CHART, [moved({ movedMinor: -100n })]))).toEqual([
      ['2026-11-01-USD', 'Assets:Service:Clearing -100 USD', 'Income:Orders 100 USD'],
    ]);
    expect(dayEntries(DEFAULT_CHART, [moved({ movedMinor: 0n })])).toEqual([]);
    expect(dayEntries(DEFAULT_CHART, [])).toEqual([]);
  });

  test('3: late postings have their own entry for each month, apart from the day', () => {
    const entries = dayEntries(DEFAULT_CHART, [
      moved({ lateOf: '2026-09', movedMinor: 1n }),
      moved({ lateOf: '2026-10', movedMinor: 2n }),
      moved({ movedMinor: 4n }),
    ]);
    expect(texts(entries).map(([id, debit]) => [id, debit])).toEqual([
      ['2026-11-01-USD-late-2026-09', 'Assets:Service:Clearing 1 USD'],
      ['2026-11-01-USD-late-2026-10', 'Assets:Service:Clearing 2 USD'],
      ['2026-11-01-USD', 'Assets:Service:Clearing 4 USD'],
    ]);
    expect(entries.map(({ words }) => words.join(' '))).toEqual([
      'late postings of 2026-09',
      'late postings of 2026-10',
      'totals of the day',
    ]);
  });

  test('have no posting of an account that is left out', () => {
    const hold = moved({ leg: 'auth_opened' });
    expect(dayEntries(NO_HOLDS, [hold])).toEqual([]);
    expect(texts(dayEntries(DEFAULT_CHART, [hold]))).toEqual([
      ['2026-11-01-USD', 'Equity:Holds:Contra -100 USD', 'Equity:Holds:Open 100 USD'],
    ]);
  });
});

describe('balances', () => {
  test('1: add up by account of the chart and currency, by currency and name', () => {
    const chart = { ...DEFAULT_CHART, 'bank.account': CLEARING };
    const amounts = [
      { debit: 'psp.clearing', credit: 'order.due', currency: 'USD', amountMinor: 2n ** 60n },
      { debit: 'bank.account', credit: 'psp.clearing', currency: 'USD', amountMinor: 50n },
      { debit: 'bank.account', credit: 'order.due', currency: 'USD', amountMinor: 1n },
      { debit: 'psp.clearing', credit: 'order.due', currency: 'EUR', amountMinor: 3n },
    ];
    expect(balances(chart, amounts)).toEqual([
      { account: CLEARING, currency: 'EUR', amountMinor: 3n },
      { account: SALES, currency: 'EUR', amountMinor: -3n },
      { account: CLEARING, currency: 'USD', amountMinor: 2n ** 60n + 1n },
      { account: SALES, currency: 'USD', amountMinor: -(2n ** 60n) - 1n },
    ]);
  });

  test('open a day with an entry for each currency, without accounts that have none', () => {
    const opening = [
      { account: SALES, currency: 'USD', amountMinor: -5n },
      { account: CLEARING, currency: 'EUR', amountMinor: 7n },
      { account: CLEARING, currency: 'USD', amountMinor: 5n },
      { account: SALES, currency: 'EUR', amountMinor: 0n },
      { account: SALES, currency: 'JPY', amountMinor: 0n },
    ];
    const entries = openingEntries(opening, '2026-11-01');
    expect(texts(entries)).toEqual([
      ['opening-2026-11-01-EUR', 'Assets:Service:Clearing 7 EUR'],
      ['opening-2026-11-01-USD', 'Income:Orders -5 USD', 'Assets:Service:Clearing 5 USD'],
    ]);
    expect(entries[0]).toMatchObject({
      day: '2026-11-01',
      words: ['opening', 'balances'],
      orderId: undefined,
      eventId: undefined,
    });
  });
});

test('the days of a month are from its first day to the first of the next', () => {
  expect(daysOfMonth('2026-12')).toEqual({ fromDay: '2026-12-01', toDay: '2027-01-01' });
});

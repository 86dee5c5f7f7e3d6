/** The problems of the journal that `tallyhook verify` reports, without a database. */
import { describe, expect, test } from 'vitest';
import {
  balanceProblems,
  balancesOf,
  chainProblems,
  effectiveProblems,
  expectedBalances,
  type JournalRow,
  legEnds,
  openAuthorizationProblems,
  type PostingState,
  postedProblems,
} from '../../../src/ledger/domain/checkJournal.ts';
import type { JournalKind } from '../../../src/ledger/domain/legs.ts';

function row(fields: Partial<JournalRow>): JournalRow {
  return {
    leg: 'captured',
    currency: 'USD',
    seq: 1,
    debit: 'psp.clearing',
    credit: 'order.due',
    amountMinor: 30n,
    previousMinor: 0n,
    cumulativeMinor: 30n,
    ...fields,
  };
}

function payment(fields: Partial<PostingState>): PostingState {
  return {
    ref: { kind: 'payment', id: 'p' },
    status: 'succeeded',
    amountMinor: 30,
    authorizedMinor: 0,
    capturedMinor: 30,
    currency: 'USD',
    posts: true,
    posted: { USD: { captured: { seq: 1, cumulativeMinor: 30 } } },
    ...fields,
  };
}

const back = row({
  seq: 2,
  debit: 'order.due',
  credit: 'psp.clearing',
  previousMinor: 30n,
  cumulativeMinor: 0n,
});

describe('the chain of a leg', () => {
  test('is complete when it grows, and when it shrinks with its accounts swapped', () => {
    expect(chainProblems('payment', [row({}), back])).toEqual([]);
  });

  test.each<[string, JournalRow[], RegExp]>([
    ['does not begin at 1', [row({ seq: 2 })], /begins with row 2/],
    ['skips a number', [row({}), { ...back, seq: 3 }], /row 3 follows row 1/],
    [
      'does not begin at zero',
      [row({ previousMinor: 1n, cumulativeMinor: 31n })],
      /starts at 0.01 USD, but row 0 ended at 0.00 USD/,
    ],
    [
      'does not continue at its previous total',
      [row({}), { ...back, previousMinor: 31n, amountMinor: 31n }],
      /row 2 starts at 0.31 USD, but row 1 ended at 0.30 USD/,
    ],
    ['goes down the way up', [row({}), row({ ...back, debit: 'psp.clearing' })], /row 2 debits/],
    ['does not exist', [row({ leg: 'invented' })], /this leg does not exist/],
  ])('that %s is broken', (_name, rows, problem) => {
    const problems = chainProblems('payment', rows);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(problem);
  });

  test('each leg and currency has its own chain, and a broken one is reported once', () => {
    const rows = [
      row({ currency: 'EUR', seq: 2 }),
      row({ currency: 'EUR', seq: 4 }),
      row({}),
      row({ leg: 'auth_opened', debit: 'memo.auth_open', credit: 'memo.auth_contra', seq: 3 }),
    ];
    expect(chainProblems('payment', rows)).toEqual([
      'captured EUR: it begins with row 2',
      'auth_opened USD: it begins with row 3',
    ]);
  });

  test.each<[string, Partial<JournalRow>, string]>([
    [
      'another amount than its totals',
      { amountMinor: 29n },
      'captured USD: row 1 moves 0.29 USD, but goes from 0.00 USD to 0.30 USD',
    ],
    [
      'another debit',
      { debit: 'bank.account' },
      'captured USD: row 1 debits bank.account and credits order.due, not psp.clearing and order.due',
    ],
    [
      'another credit',
      { credit: 'bank.account' },
      'captured USD: row 1 debits psp.clearing and credits bank.account, not psp.clearing and order.due',
    ],
    [
      'swapped accounts',
      { debit: 'order.due', credit: 'psp.clearing' },
      'captured USD: row 1 debits order.due and credits psp.clearing, not psp.clearing and order.due',
    ],
  ])('is broken by %s', (_what, fields, problem) => {
    expect(chainProblems('payment', [row(fields)])).toEqual([problem]);
  });

  test('of an unknown kind does not exist', () => {
    for (const kind of ['invented', 'toString'] as unknown as JournalKind[]) {
      expect(chainProblems(kind, [row({})])).toEqual(['captured USD: this leg does not exist']);
    }
  });

  test('continues the total before it', () => {
    const next = row({ seq: 2, amountMinor: 20n, previousMinor: 30n, cumulativeMinor: 50n });
    expect(chainProblems('payment', [row({}), next])).toEqual([]);
  });

  test('may be that of a line', () => {
    const fee = row({ leg: 'fee_charged', debit: 'fees.service', credit: 'psp.clearing' });
    expect(chainProblems('settlement_line', [fee])).toEqual([]);
  });

  test('is reported with its first broken row', () => {
    const rows = [row({ seq: 1 }), row({ seq: 5 }), row({ seq: 9 })];
    expect(chainProblems('payment', rows)).toEqual(['captured USD: row 5 follows row 1']);
  });
});

describe('the posted amount', () => {
  const ends = legEnds([row({})]);

  test('may have any value while the state is not known enough to post', () => {
    expect(postedProblems(payment({ posts: false, capturedMinor: 7 }), ends)).toEqual([]);
  });

  test('differs from the journal in number or amount', () => {
    expect(postedProblems(payment({}), legEnds([row({}), row({ seq: 2 })]))).toEqual([
      'captured USD: the row has 0.30 USD after row 1, the journal has 0.30 USD after row 2',
    ]);
    expect(postedProblems(payment({ posts: false }), new Map())).toEqual([
      'captured USD: the row has 0.30 USD after row 1, the journal has nothing',
    ]);
  });

  test.each<[string, Partial<PostingState>, readonly string[]]>([
    ['as required', {}, []],
    [
      'with another amount in the row',
      { posts: false, posted: { USD: { captured: { seq: 1, cumulativeMinor: 31 } } } },
      ['captured USD: the row has 0.31 USD after row 1, the journal has 0.30 USD after row 1'],
    ],
    [
      'missing in the row',
      { posts: false, posted: {} },
      ['captured USD: the row has nothing, the journal has 0.30 USD after row 1'],
    ],
    [
      'of a state that requires more',
      { capturedMinor: 40 },
      ['captured USD: 0.30 USD is posted, but the state requires 0.40 USD'],
    ],
    [
      'of a state that requires another leg, too',
      { authorizedMinor: 30 },
      [
        'auth_opened USD: 0.00 USD is posted, but the state requires 0.30 USD',
        'auth_consumed USD: 0.00 USD is posted, but the state requires 0.30 USD',
      ],
    ],
    [
      'of a state in another currency, which requires nothing in the first',
      { currency: 'EUR' },
      [
        'captured USD: 0.30 USD is posted, but the state requires 0.00 USD',
        'captured EUR: 0.00 EUR is posted, but the state requires 0.30 EUR',
      ],
    ],
    ['of a state without a currency', { currency: undefined, capturedMinor: 7 }, []],
  ])('%s', (_what, fields, problems) => {
    expect(postedProblems(payment(fields), ends)).toEqual(problems);
  });

  test('is required in the currency of the state, even if nothing is posted in any', () => {
    expect(postedProblems(payment({ posted: {} }), new Map())).toEqual([
      'captured USD: 0.00 USD is posted, but the state requires 0.30 USD',
    ]);
  });
});

describe('the hold of a final payment', () => {
  const HOLD = { debit: 'memo.auth_open', credit: 'memo.auth_contra' };
  const held = (leg: string, cumulativeMinor: bigint, currency = 'USD') =>
    row({ leg, currency, cumulativeMinor, ...HOLD });
  const openOf = (state: Partial<PostingState>, ...rows: readonly JournalRow[]) =>
    openAuthorizationProblems(payment({ status: 'expired', ...state }), legEnds(rows));

  test('is what was opened, less what was captured and released, in each currency', () => {
    const rows = [held('auth_opened', 100n), held('auth_consumed', 30n)];
    expect(openOf({}, ...rows, held('auth_released', 70n))).toEqual([]);
    expect(openOf({}, ...rows, held('auth_released', 69n))).toEqual([
      '0.01 USD is still authorized, although the payment is expired',
    ]);
    expect(openOf({}, ...rows, held('auth_released', 70n), held('auth_opened', 5n, 'EUR'))).toEqual(
      ['0.05 EUR is still authorized, although the payment is expired'],
    );
    expect(openOf({}, held('auth_released', 1n))).toEqual([
      '-0.01 USD is still authorized, although the payment is expired',
    ]);
  });

  test.each<[string, Partial<PostingState>]>([
    ['of another kind', { ref: { kind: 'payout', id: 'p' } }],
    ['of an unknown status', { status: 'teleported' }],
    ['that may still be captured', { status: 'requires_capture' }],
    ['with an unknown captured amount', { posts: false }],
  ])('is not checked for a resource %s', (_what, state) => {
    expect(openOf(state, held('auth_opened', 100n))).toEqual([]);
  });
});

describe('effective times', () => {
  const NOON = Date.UTC(2026, 9, 5, 12) * 1_000;
  const posted = (fields: Partial<JournalRow>, effectiveMicros: number | undefined = NOON) => ({
    ...row(fields),
    effectiveMicros,
  });
  const moved = (movedMinor: number, effectiveMicros = NOON) => ({
    leg: 'captured',
    currency: 'USD',
    movedMinor,
    effectiveMicros,
    source: 'stated' as const,
    headHash: 'h',
  });

  test('are those of the history', () => {
    expect(effectiveProblems([moved(30)], [posted({})])).toEqual([]);
    const back = { seq: 2, previousMinor: 30n, cumulativeMinor: 10n, amountMinor: 20n };
    expect(effectiveProblems([moved(10)], [posted({}), posted(back)])).toEqual([]);
  });

  test('are reported with what is missing, and with what is too much', () => {
    expect(effectiveProblems([moved(40)], [posted({})])).toEqual([
      'captured USD: 0.10 USD too little is posted as effective at 2026-10-05T12:00:00.000000Z',
    ]);
    expect(effectiveProblems([moved(20)], [posted({})])).toEqual([
      'captured USD: 0.10 USD too much is posted as effective at 2026-10-05T12:00:00.000000Z',
    ]);
  });

  test('are not compared while a transfer of an earlier version has none', () => {
    const early = { ...row({ seq: 2 }), effectiveMicros: undefined };
    expect(effectiveProblems([moved(99)], [posted({}), early])).toEqual([]);
  });
});

describe('balances', () => {
  test('of rows are what was debited less what was credited, by currency', () => {
    const rows = [
      row({}),
      row({ debit: 'order.due', credit: 'psp.clearing', amountMinor: 10n }),
      row({ currency: 'EUR', amountMinor: 2n ** 60n }),
    ];
    expect(Object.fromEntries(balancesOf(rows))).toEqual({
      'USD psp.clearing': 20n,
      'USD order.due': -20n,
      'EUR psp.clearing': 2n ** 60n,
      'EUR order.due': -(2n ** 60n),
    });
  });

  test('of a state are those of its legs together', () => {
    const state = { ...payment({ authorizedMinor: 100, status: 'expired' }), currency: 'USD' };
    expect(Object.fromEntries(expectedBalances(state))).toEqual({
      'USD psp.clearing': 30n,
      'USD order.due': -30n,
      'USD memo.auth_open': 0n,
      'USD memo.auth_contra': 0n,
    });
    const refund = { ref: { kind: 'refund', id: 'r' }, status: 'succeeded' } as const;
    expect(Object.fromEntries(expectedBalances({ ...state, ...refund }))).toMatchObject({
      'USD order.refunds': 30n,
      'USD refund.in_flight': 0n,
      'USD psp.clearing': -30n,
    });
  });

  test.each<[string, Record<string, bigint>, Record<string, bigint>, readonly string[]]>([
    ['equal ones', { 'USD a': 1n }, { 'USD a': 1n }, []],
    ['zero and none', { 'USD a': 0n }, { 'USD b': 0n }, []],
    ['other ones', { 'USD a': 1n }, { 'USD a': 2n }, ['a has 0.02 USD, not 0.01 USD']],
    ['a missing one', { 'USD a': 1n }, {}, ['a has 0.00 USD, not 0.01 USD']],
    ['one too many', {}, { 'JPY a': 7n }, ['a has 7 JPY, not 0 JPY']],
  ])('are compared: %s', (_what, expected, journal, problems) => {
    const of = (balances: Record<string, bigint>) => new Map(Object.entries(balances));
    expect(balanceProblems(of(expected), of(journal))).toEqual(problems);
  });
});

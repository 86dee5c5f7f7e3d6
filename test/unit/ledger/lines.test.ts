/** The numbers are those of src/ledger/domain/lines.ts. */
import { describe, expect, test } from 'vitest';
import {
  addSums,
  type BookedRow,
  bookedProblems,
  identityOf,
  type LineContent,
  type LineMatch,
  lineKindOf,
  lineTransfers,
  netOf,
  type PostedLineLeg,
  type PostingLine,
  parseTarget,
} from '../../../src/ledger/domain/lines.ts';

const CONTENT: LineContent = {
  type: 'payment',
  settlement: 'ST-1',
  reference: 'pay_1',
  lineReference: 'L-1',
  day: '2026-10-05',
  currency: 'EUR',
  grossMinor: 1_000,
  feeMinor: 30,
};
const LINE_MICROS = Date.UTC(2026, 9, 5, 10) * 1_000;

function line(fields: Partial<PostingLine>): PostingLine {
  return {
    type: 'payment',
    day: '2026-10-05',
    currency: 'EUR',
    digest: 'd1',
    grossMinor: 1_000,
    feeMinor: 0,
    ...fields,
  };
}

const ADJUSTMENT: LineMatch = { targetKind: 'adjustment', writtenOffMinor: 0 };
const EXCLUDED: LineMatch = { targetKind: 'excluded', writtenOffMinor: 0 };
const PAYMENT: LineMatch = { targetKind: 'payment', writtenOffMinor: 0 };
const SETTLEMENT: LineMatch = { targetKind: 'settlement', writtenOffMinor: 0 };
const writtenOff = (match: LineMatch, writtenOffMinor: number) => ({ ...match, writtenOffMinor });

type Booked = readonly [leg: string, debit: string, credit: string, amountMinor: number];

const FEE: Booked = ['fee_charged', 'fees.service', 'psp.clearing', 30];
const FEE_BACK: Booked = ['fee_returned', 'psp.clearing', 'fees.service', 30];
const up = (amountMinor: number): Booked => [
  'adjusted_up',
  'psp.clearing',
  'service.adjustments',
  amountMinor,
];
const down = (amountMinor: number): Booked => [
  'adjusted_down',
  'service.adjustments',
  'psp.clearing',
  amountMinor,
];
const RECEIVED: Booked = ['bank_received', 'bank.account', 'psp.clearing', 1_000];
const WITHDRAWN: Booked = ['bank_withdrawn', 'psp.clearing', 'bank.account', 1_000];

const BANK = { type: 'bank' } as const;
const BANK_BACK = { type: 'bank', grossMinor: -1_000 } as const;

describe('1, 2: what a line posts', () => {
  test.each<[string, Partial<PostingLine>, LineMatch | undefined, readonly Booked[]]>([
    ['a payment: nothing', {}, undefined, []],
    ['a payment that is matched: nothing', {}, PAYMENT, []],
    ['a refund, a dispute, a payout: nothing', { type: 'refund', grossMinor: -5 }, undefined, []],
    ['a fee that is charged', { feeMinor: 30 }, undefined, [FEE]],
    ['a fee that is returned', { feeMinor: -30 }, PAYMENT, [FEE_BACK]],
    ['a line about a fee', { type: 'fee', grossMinor: 0, feeMinor: 30 }, undefined, [FEE]],
    ['an adjustment in favor', { type: 'adjustment' }, undefined, [up(1_000)]],
    ['an adjustment against', { type: 'adjustment', grossMinor: -7 }, undefined, [down(7)]],
    ['an adjustment with a fee', { type: 'adjustment', feeMinor: 30 }, undefined, [FEE, up(1_000)]],
    ['a payment about nothing', { feeMinor: 30 }, ADJUSTMENT, [FEE, up(1_000)]],
    ['a difference in favor', {}, writtenOff(PAYMENT, 7), [up(7)]],
    ['a difference against', {}, writtenOff(PAYMENT, -7), [down(7)]],
    ['a difference and an adjustment', {}, writtenOff(ADJUSTMENT, -7), [up(993)]],
    ['what arrived at the bank', BANK, undefined, [RECEIVED]],
    ['what arrived, with its settlement', BANK, SETTLEMENT, [RECEIVED]],
    ['what the service withdrew', BANK_BACK, undefined, [WITHDRAWN]],
    ['what is not of the service: nothing', BANK, EXCLUDED, []],
    [
      'a bank line with a difference in favor',
      BANK,
      writtenOff(SETTLEMENT, 7),
      [RECEIVED, ['difference_up', 'psp.clearing', 'service.adjustments', 7]],
    ],
    [
      'a bank line with a difference against',
      BANK,
      writtenOff(SETTLEMENT, -7),
      [RECEIVED, ['difference_down', 'service.adjustments', 'psp.clearing', 7]],
    ],
  ])('%s', (_what, fields, match, booked) => {
    const transfers = lineTransfers(line(fields), match, {});
    expect(
      transfers.map(({ leg, debit, credit, amountMinor }) => [leg, debit, credit, amountMinor]),
    ).toEqual(booked);
  });

  test("4: at ten o'clock of its day in UTC, as stated by its content", () => {
    expect(lineTransfers(line({ ...BANK, currency: 'USD' }), undefined, {})).toEqual([
      {
        leg: 'bank_received',
        currency: 'USD',
        seq: 1,
        debit: 'bank.account',
        credit: 'psp.clearing',
        amountMinor: 1_000,
        previousMinor: 0,
        cumulativeMinor: 1_000,
        headHash: 'd1',
        effectiveMicros: LINE_MICROS,
        source: 'stated',
      },
    ]);
  });
});

describe('5: a match that changes', () => {
  /** The posted legs after the transfers of `match`. */
  function postedWith(
    own: PostingLine,
    match: LineMatch | undefined,
    effectiveMicros = LINE_MICROS,
  ): Record<string, PostedLineLeg> {
    return Object.fromEntries(
      lineTransfers(own, match, {}).map(({ leg, seq, cumulativeMinor }) => [
        leg,
        { seq, cumulativeMinor, effectiveMicros },
      ]),
    );
  }

  test.each<[string, PostingLine, LineMatch]>([
    ['an adjustment', line({ feeMinor: 30 }), ADJUSTMENT],
    ['a difference that was written off', line(BANK), writtenOff(SETTLEMENT, 7)],
  ])('and is undone takes back what it posted: %s', (_what, own, match) => {
    const posted = postedWith(own, match);
    const [back, ...others] = lineTransfers(own, undefined, posted);
    expect(others).toEqual([]);
    const first = lineTransfers(own, match, {}).find(({ leg }) => leg === back?.leg);
    expect(back).toMatchObject({
      seq: 2,
      debit: first?.credit,
      credit: first?.debit,
      cumulativeMinor: 0,
      amountMinor: first?.amountMinor,
      previousMinor: first?.cumulativeMinor,
    });
  });

  test('an excluded bank line takes back what arrived, and posts it again when it is included', () => {
    const own = line(BANK);
    const [back] = lineTransfers(own, EXCLUDED, postedWith(own, undefined));
    expect(back).toMatchObject({ seq: 2, debit: 'psp.clearing', cumulativeMinor: 0 });
    const [again] = lineTransfers(own, undefined, {
      bank_received: { seq: 2, cumulativeMinor: 0, effectiveMicros: LINE_MICROS },
    });
    expect(again).toMatchObject({ seq: 3, debit: 'bank.account', cumulativeMinor: 1_000 });
  });

  test('4: takes back at noon what an earlier version posted then', () => {
    const own = line({ ...BANK });
    const noonMicros = LINE_MICROS + 7_200_000_000;
    expect(lineTransfers(own, EXCLUDED, postedWith(own, undefined, noonMicros))).toMatchObject([
      { cumulativeMinor: 0, effectiveMicros: noonMicros },
    ]);
  });

  test('and leaves the targets as they are posts nothing', () => {
    const own = line({ feeMinor: 30 });
    expect(lineTransfers(own, PAYMENT, postedWith(own, undefined))).toEqual([]);
  });
});

describe('3: the identity of a line', () => {
  const changes: Partial<LineContent>[] = [
    { type: 'refund' },
    { settlement: 'ST-2' },
    { settlement: undefined },
    { reference: 'pay_2' },
    { reference: undefined },
    { lineReference: 'L-2' },
    { lineReference: undefined },
    { day: '2026-10-06' },
    { currency: 'USD' },
    { grossMinor: 1_001 },
    { feeMinor: 31 },
  ];

  test.each(changes)('is another one with %j', (change) => {
    expect(identityOf({ ...CONTENT, ...change })).not.toBe(identityOf(CONTENT));
  });

  test('does not contain the text or the place in the file', () => {
    const read = { ...CONTENT, text: 'Erika', fileLine: 7 };
    expect(identityOf(read)).toBe(identityOf(CONTENT));
  });

  test('distinguishes what a reference is of, although others are missing', () => {
    const none = { settlement: undefined, reference: undefined, lineReference: undefined };
    const each = Object.keys(none).map((name) => identityOf({ ...CONTENT, ...none, [name]: 'x' }));
    expect(new Set(each).size).toBe(3);
  });

  test('is the same whether a reference is missing in the database or in the file', () => {
    const stored = { ...CONTENT, settlement: null, reference: null, lineReference: null };
    const read = {
      ...CONTENT,
      settlement: undefined,
      reference: undefined,
      lineReference: undefined,
    };
    expect(identityOf(stored)).toBe(identityOf(read));
  });
});

test.each([
  ['bank', 'bank_line'],
  ['payment', 'settlement_line'],
  ['adjustment', 'settlement_line'],
] as const)('a line of the type %s is a %s of the journal', (type, kind) => {
  expect(lineKindOf(type)).toBe(kind);
});

test('the net amount of a report line is what is left after its fee', () => {
  expect(netOf({ grossMinor: 1_000, feeMinor: 30 })).toBe(970);
  expect(netOf({ grossMinor: -1_000, feeMinor: -30 })).toBe(-970);
});

describe('the check of what a line has posted', () => {
  const booked = (fields: Partial<BookedRow>): BookedRow => ({
    leg: 'bank_received',
    currency: 'EUR',
    effectiveMicros: LINE_MICROS,
    previousMinor: 0n,
    cumulativeMinor: 1_000n,
    ...fields,
  });
  const taken = booked({ previousMinor: 1_000n, cumulativeMinor: 0n });

  test.each<[string, Partial<PostingLine>, LineMatch | null, readonly BookedRow[]]>([
    ['all of it', BANK, null, [booked({})]],
    ['it was taken back, and is excluded', BANK, EXCLUDED, [booked({}), taken]],
    ['at noon, as before', BANK, null, [booked({ effectiveMicros: LINE_MICROS + 7_200_000_000 })]],
    ['nothing is required', {}, null, []],
    [
      'a fee and an adjustment',
      { feeMinor: 30 },
      ADJUSTMENT,
      [
        booked({ leg: 'fee_charged', cumulativeMinor: 30n }),
        booked({ leg: 'adjusted_up', cumulativeMinor: 1_000n }),
      ],
    ],
  ])('finds nothing: %s', (_what, fields, match, rows) => {
    expect(bookedProblems(line(fields), match, rows)).toEqual([]);
  });

  test.each<[string, LineMatch | null, readonly BookedRow[], readonly string[]]>([
    [
      'nothing is posted',
      null,
      [],
      ['bank_received: 0.00 EUR is posted, but the line requires 10.00 EUR'],
    ],
    [
      'too much',
      null,
      [booked({ cumulativeMinor: 1_001n })],
      ['bank_received: 10.01 EUR is posted, but the line requires 10.00 EUR'],
    ],
    [
      'it was excluded since',
      EXCLUDED,
      [booked({})],
      ['bank_received: 10.00 EUR is posted, but the line requires 0.00 EUR'],
    ],
    [
      'the last row of a leg counts',
      null,
      [booked({}), taken],
      ['bank_received: 0.00 EUR is posted, but the line requires 10.00 EUR'],
    ],
    [
      'another currency',
      null,
      [booked({ currency: 'USD' })],
      ['bank_received: a transfer is in USD'],
    ],
    [
      'another time',
      null,
      [booked({ effectiveMicros: LINE_MICROS + 1 })],
      ['bank_received: a transfer is not effective on 2026-10-05'],
    ],
  ])('finds that %s', (_what, match, rows, problems) => {
    expect(bookedProblems(line(BANK), match, rows)).toEqual(problems);
  });
});

test('sums are by currency, exact, and leave the sums before as they are', () => {
  const large = { ...CONTENT, grossMinor: Number.MAX_SAFE_INTEGER, feeMinor: -1 };
  const before = addSums(new Map(), [large]);
  const after = addSums(before, [large, { ...CONTENT, currency: 'USD' }]);
  expect(Object.fromEntries(after)).toEqual({
    EUR: { lines: 2, grossMinor: 2n * BigInt(Number.MAX_SAFE_INTEGER), feeMinor: -2n },
    USD: { lines: 1, grossMinor: 1_000n, feeMinor: 30n },
  });
  expect(before.get('EUR')?.lines).toBe(1);
});

test.each([
  ['payment:pay_1', { kind: 'payment', id: 'pay_1' }],
  ['settlement:3', { kind: 'settlement', id: '3' }],
  ['payment:a:b', { kind: 'payment', id: 'a:b' }],
  ['adjustment', { kind: 'adjustment', id: undefined }],
  ['excluded', { kind: 'excluded', id: undefined }],
  ['adjustment:1', undefined],
  ['excluded:1', undefined],
  ['excluded:', undefined],
  ['payment', undefined],
  ['payment:', undefined],
  [':pay_1', undefined],
  ['fee:1', undefined],
  ['', undefined],
])('a person names %j: %j', (text, target) => {
  expect(parseTarget(text)).toEqual(target);
});

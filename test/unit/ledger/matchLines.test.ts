/** What lines are about. The numbers are those of src/ledger/domain/matchLines.ts. */
import { describe, expect, test } from 'vitest';
import {
  type Candidate,
  matchBankByAmount,
  matchBankByReference,
  matchByAmount,
  matchById,
  matchByPaymentOrOrder,
  type NewMatch,
  type OpenLine,
  type SettlementCandidate,
} from '../../../src/ledger/domain/matchLines.ts';
import { lineOfEntry } from '../../../src/settlement/domain/bankEntries.ts';

function reportLine(fields: Partial<OpenLine>): OpenLine {
  return {
    id: 1,
    type: 'refund',
    reference: 'pay_1',
    day: '2026-10-06',
    currency: 'EUR',
    grossMinor: -700,
    text: null,
    ...fields,
  };
}

function refund(fields: Partial<Candidate>): Candidate {
  return {
    kind: 'refund',
    id: 'ref_1',
    paymentId: 'pay_1',
    orderId: 'ord_1',
    currency: 'EUR',
    amountMinor: 700,
    lines: 0,
    movedMicros: 10,
    ...fields,
  };
}

/** Those by an id first, as they are stored before the others are read. */
function matchByReference(
  lines: readonly OpenLine[],
  candidates: readonly Candidate[],
): readonly NewMatch[] {
  const named = matchById(lines, candidates);
  const open = lines.filter(({ id }) => named.every(({ lineId }) => lineId !== id));
  const left = candidates.map((one) => {
    const own = named.filter((match) => match.targetKind === one.kind && match.targetId === one.id);
    return { ...one, lines: one.lines + own.length };
  });
  return [...named, ...matchByPaymentOrOrder(open, left)];
}

function referenceMatches(lines: readonly OpenLine[], candidates: readonly Candidate[]) {
  return matchByReference(lines, candidates).map(({ lineId, targetId, rule }) => [
    lineId,
    targetId,
    rule,
  ]);
}

describe('a report line that names something', () => {
  test.each<[string, Partial<OpenLine>, Partial<Candidate>, string | undefined]>([
    ['2: the id', { reference: 'ref_1' }, {}, 'id'],
    ['2: the id, with any amount', { reference: 'ref_1', grossMinor: 1 }, {}, 'id'],
    ['2: the id of one that has lines', { reference: 'ref_1' }, { lines: 2 }, 'id'],
    ['the id in another currency', { reference: 'ref_1', currency: 'USD' }, {}, undefined],
    ['the id of another kind', { reference: 'ref_1', type: 'payment' }, {}, undefined],
    ['3: the payment', {}, {}, 'payment'],
    ['the payment, with the amount of the other direction', { grossMinor: 700 }, {}, undefined],
    ['the payment, with another amount', { grossMinor: -701 }, {}, undefined],
    ['the payment of one that has a line', {}, { lines: 1 }, undefined],
    ['another payment', { reference: 'pay_2' }, {}, undefined],
    ['4: the order', { reference: 'ord_1' }, {}, 'order'],
    ['the order, with another amount', { reference: 'ord_1', grossMinor: -1 }, {}, undefined],
    ['the order, of the other direction', { reference: 'ord_1', grossMinor: 700 }, {}, undefined],
    ['the order of one that has a line', { reference: 'ord_1' }, { lines: 1 }, undefined],
    ['nothing', { reference: null }, { paymentId: null, orderId: null }, undefined],
  ])('%s', (_what, line, candidate, rule) => {
    const matches = matchByReference([reportLine(line)], [refund(candidate)]);
    expect(matches.map((match) => match.rule)).toEqual(rule === undefined ? [] : [rule]);
  });

  test('2: an id counts before a payment, and a payment before an order of that name', () => {
    const named = refund({ id: 'x', movedMicros: 30 });
    const ofPayment = refund({ id: 'of_payment', paymentId: 'x', movedMicros: 20 });
    const ofOrder = refund({ id: 'of_order', orderId: 'x', movedMicros: 10 });
    const line = reportLine({ reference: 'x' });
    expect(referenceMatches([line], [ofOrder, ofPayment, named])).toEqual([[1, 'x', 'id']]);
    expect(referenceMatches([line], [ofOrder, ofPayment])).toEqual([[1, 'of_payment', 'payment']]);
  });

  test('2: several lines that name one id are all about it: it was captured in parts', () => {
    const lines = [1, 2].map((id) => reportLine({ id, reference: 'ref_1' }));
    expect(referenceMatches(lines, [refund({})])).toEqual([
      [1, 'ref_1', 'id'],
      [2, 'ref_1', 'id'],
    ]);
  });

  test.each(['pay_1', 'ord_1'])(
    '3, 4: two refunds of %s are taken in the order of their times',
    (reference) => {
      const lines = [1, 2, 3].map((id) => reportLine({ id, reference }));
      const candidates = [
        refund({ id: 'ref_2', movedMicros: 20 }),
        refund({ id: 'ref_1', movedMicros: 10 }),
      ];
      expect(matchByReference(lines, candidates).map(({ targetId }) => targetId)).toEqual([
        'ref_1',
        'ref_2',
      ]);
    },
  );

  test.each([
    ['payment', 1],
    ['refund', -1],
    ['dispute', -1],
    ['payout', -1],
  ] as const)(
    '3, 4: a free %s is what a line with its sign is about, and no other',
    (kind, sign) => {
      for (const reference of ['pay_1', 'ord_1']) {
        const lines = [1, -1].map((by) =>
          reportLine({ id: by, type: kind, reference, grossMinor: by * 700 }),
        );
        const free = refund({ kind, id: 'free' });
        expect(matchByReference(lines, [free]).map(({ lineId }) => lineId)).toEqual([sign]);
      }
    },
  );

  test('3: what is returned takes no other refund, which has a line of its own', () => {
    const lines = [-700, 700, -700].map((grossMinor, at) => reportLine({ id: at + 1, grossMinor }));
    const candidates = [refund({}), refund({ id: 'ref_2', movedMicros: 20 })];
    expect(referenceMatches(lines, candidates)).toEqual([
      [1, 'ref_1', 'payment'],
      [3, 'ref_2', 'payment'],
    ]);
  });

  test.each(['pay_1', 'ord_1'])(
    '3, 4: one that a later line names by its id is not free for one of %s',
    (reference) => {
      const lines = [reportLine({ id: 1, reference }), reportLine({ id: 2, reference: 'ref_1' })];
      const later = refund({ id: 'ref_2', movedMicros: 20 });
      expect(referenceMatches(lines, [refund({}), later])).toEqual([
        [2, 'ref_1', 'id'],
        [1, 'ref_2', reference === 'pay_1' ? 'payment' : 'order'],
      ]);
    },
  );

  test('3: a dispute is free although a refund with its id is taken', () => {
    const lines = [reportLine({ id: 1 }), reportLine({ id: 2, type: 'dispute' })];
    const candidates = [refund({ id: 'same' }), refund({ kind: 'dispute', id: 'same' })];
    expect(matchByReference(lines, candidates)).toMatchObject([
      { lineId: 1, targetKind: 'refund', targetId: 'same' },
      { lineId: 2, targetKind: 'dispute', targetId: 'same' },
    ]);
  });

  test.each([
    ['ref_1', 'the line names ref_1'],
    ['pay_1', 'the line names its payment pay_1, and the amount is 7.00 EUR'],
    ['ord_1', 'the line names its order ord_1, and the amount is 7.00 EUR'],
  ])('states why it is about the refund: %s', (reference, reason) => {
    expect(matchByReference([reportLine({ reference })], [refund({})])).toMatchObject([{ reason }]);
  });
});

describe('5: a report line that names nothing', () => {
  const pair = (lineId: number, id: string, kind: Candidate['kind'] = 'refund') => ({
    line: reportLine({ id: lineId, reference: null }),
    candidate: refund({ id, kind }),
  });

  test('is about the only candidate, and states that', () => {
    expect(matchByAmount([pair(1, 'a')])).toEqual([
      {
        lineId: 1,
        targetKind: 'refund',
        targetId: 'a',
        rule: 'amount_and_date',
        reason: 'the only refund of 7.00 EUR within 7 days that no other line is about',
      },
    ]);
  });

  test.each([
    ['two candidates', [pair(1, 'a'), pair(1, 'b')]],
    ['a candidate that another line could be about', [pair(1, 'a'), pair(2, 'a')]],
    ['both', [pair(1, 'a'), pair(1, 'b'), pair(2, 'b')]],
  ])('is about none, with %s', (_what, pairs) => {
    expect(matchByAmount(pairs)).toEqual([]);
  });

  test('does not prevent other pairs, or one with the same id of another kind', () => {
    const pairs = [pair(1, 'a'), pair(1, 'b'), pair(2, 'c'), pair(3, 'c', 'dispute')];
    expect(matchByAmount(pairs).map(({ lineId, targetId }) => [lineId, targetId])).toEqual([
      [2, 'c'],
      [3, 'c'],
    ]);
  });
});

const LINE: OpenLine = {
  id: 1,
  type: 'bank',
  reference: null,
  day: '2026-10-06',
  currency: 'EUR',
  grossMinor: 7855,
  text: null,
};

function settlement(fields: Partial<SettlementCandidate>): SettlementCandidate {
  return {
    id: 5,
    reference: 'ST-1005',
    currency: 'EUR',
    netMinor: 1n,
    day: '2026-10-05',
    bankLines: 0,
    ...fields,
  };
}

/** Those that a line names first, as they are stored before the others are read. */
function bankMatches(lines: readonly OpenLine[], settlements: readonly SettlementCandidate[]) {
  const named = matchBankByReference(lines, settlements);
  const open = lines.filter(({ id }) => named.every(({ lineId }) => lineId !== id));
  const left = settlements.map((one) => ({
    ...one,
    bankLines: one.bankLines + named.filter(({ targetId }) => targetId === String(one.id)).length,
  }));
  return [...named, ...matchBankByAmount(open, left)].map(({ lineId, targetId, rule }) => [
    lineId,
    targetId,
    rule,
  ]);
}

describe('6: a bank line that names a settlement', () => {
  test.each([
    ['ST-1005', true],
    ['PAYOUT ST-1005 OF OCTOBER', true],
    ['payout st-1005', true],
    ['(ST-1005)', true],
    ['ST-10050, ST-1005', true],
    ['ST-1005, ST-10050', true],
    ['ST-10050', false],
    ['FAST-1005', false],
    ['ST-1005B', false],
    ['ÄST-1005', false],
    ['ST-1005Ä', false],
    ['5', false],
  ])('names it by a word of its own: %s', (text, isNamed) => {
    const matches = matchBankByReference([{ ...LINE, text }], [settlement({})]);
    expect(matches.map(({ targetId }) => targetId)).toEqual(isNamed ? ['5'] : []);
  });

  test('is about it with any amount, and with other lines', () => {
    expect(
      matchBankByReference([{ ...LINE, text: 'ST-1005' }], [settlement({ bankLines: 1 })]),
    ).toEqual([
      {
        lineId: 1,
        targetKind: 'settlement',
        targetId: '5',
        rule: 'reference',
        reason: 'the text of the line has the reference ST-1005',
      },
    ]);
  });

  test.each<[string, string, readonly SettlementCandidate[], readonly string[]]>([
    ['a reference of 4 characters', 'X 1005', [settlement({ reference: '1005' })], ['5']],
    ['a shorter one is not looked for', 'X 105', [settlement({ reference: '105' })], []],
    ['one in another currency', 'ST-1005', [settlement({ currency: 'USD' })], []],
    ['one in lower case', 'ST-1005', [settlement({ reference: 'st-1005' })], ['5']],
    [
      'the longest of several',
      'ST-1005 A',
      [settlement({}), settlement({ id: 6, reference: 'ST-1005 A' })],
      ['6'],
    ],
    [
      'several, and none is the longest',
      'ST-1005 ST-1006',
      [settlement({}), settlement({ id: 6, reference: 'ST-1006' })],
      [],
    ],
  ])('names %s', (_what, text, settlements, ids) => {
    const matches = matchBankByReference([{ ...LINE, text }], settlements);
    expect(matches.map(({ targetId }) => targetId)).toEqual(ids);
  });
});

describe('6: a reference that could be a card number, which the text of a line does not have', () => {
  const numbered = (id: number, reference: string, fields: Partial<SettlementCandidate> = {}) =>
    settlement({ id, reference, ...fields });
  const lineWith = (purpose: string): OpenLine => {
    const entry = {
      place: { line: 1, column: 1 },
      sequence: 1,
      day: LINE.day,
      currency: 'EUR',
      amountMinor: 1,
      bankReference: undefined,
      purpose,
      parties: ['ACME'],
    };
    return { ...LINE, text: lineOfEntry(entry, ['ACME'])?.text ?? null };
  };
  const references = Array.from({ length: 200 }, (_, index) => `20261005${10_000_000 + index}`);

  test('is found, with any amount and any check digit', () => {
    const found = references.map((reference) =>
      bankMatches([lineWith(`PAYOUT ${reference}`)], [numbered(5, reference)]),
    );
    expect(found).toEqual(references.map(() => [[1, '5', 'reference']]));
    expect(references.some((one) => !lineWith(one).text?.includes(one))).toBe(true);
  });

  test('is distinguished from those of the days around it', () => {
    const all = references.map((reference, index) => numbered(100 + index, reference));
    const found = references.map((one) => bankMatches([lineWith(`PAYOUT 7 ${one}`)], all));
    expect(found).toEqual(references.map((_, index) => [[1, String(100 + index), 'reference']]));
  });

  test.each<[string, string, Partial<SettlementCandidate>]>([
    ['of another number', '2026100610000014', {}],
    ['in another currency', '2026100510000015', { currency: 'USD' }],
    ['of other days', '2026100510000015', { day: '2026-09-20' }],
    ['without so many digits', 'ST-1005', {}],
  ])('is not that of a settlement %s', (_what, reference, fields) => {
    const line = lineWith('PAYOUT 2026100510000015');
    expect(line.text).toBe('PAYOUT [digits 7416]');
    expect(bankMatches([line], [numbered(5, reference, fields)])).toEqual([]);
  });

  test('counts only if the text has no reference', () => {
    const settlements = [settlement({}), numbered(6, '2026100510000015')];
    const found = matchBankByReference([lineWith('ST-1005 OF 2026100510000015')], settlements);
    expect(found.map(({ targetId }) => targetId)).toEqual([String(settlement({}).id)]);
    const [hidden] = matchBankByReference([lineWith('2026100510000015')], settlements);
    expect(hidden?.reason).toBe(
      'the text of the line has a number with the checksum of the reference 2026100510000015',
    );
  });

  test('7: its line is about no other settlement of its amount', () => {
    const settlements = [numbered(5, '2026100510000015'), settlement({ id: 6, netMinor: 7855n })];
    const lines = [lineWith('PAYOUT 2026100510000015')];
    expect(matchBankByAmount(lines, settlements)).toEqual([]);
  });
});

describe('7: a bank line that names no settlement', () => {
  const fitting = settlement({ netMinor: 7855n });

  test.each<[string, Partial<SettlementCandidate>, Partial<OpenLine>, boolean]>([
    ['with its amount', {}, {}, true],
    ['with another amount', { netMinor: 7856n }, {}, false],
    ['with the amount of the other direction', { netMinor: -7855n }, {}, false],
    ['that the service withdrew', { netMinor: -7855n }, { grossMinor: -7855 }, true],
    ['in another currency', { currency: 'USD' }, {}, false],
    ['with a bank line', { bankLines: 1 }, {}, false],
    ['10 days before it', { day: '2026-09-26' }, {}, true],
    ['11 days before it', { day: '2026-09-25' }, {}, false],
    ['2 days after it', { day: '2026-10-08' }, {}, true],
    ['3 days after it', { day: '2026-10-09' }, {}, false],
  ])('is about one, or not: %s', (_what, one, line, isMatched) => {
    expect(bankMatches([{ ...LINE, ...line }], [{ ...fitting, ...one }])).toEqual(
      isMatched ? [[1, '5', 'amount_and_date']] : [],
    );
  });

  test('states why it is about the settlement', () => {
    expect(matchBankByAmount([LINE], [fitting])).toMatchObject([
      { reason: 'the only settlement of 78.55 EUR from 10 days before to 2 days after' },
    ]);
  });

  test.each<[string, readonly OpenLine[], readonly SettlementCandidate[]]>([
    ['two settlements', [LINE], [fitting, { ...fitting, id: 6, reference: 'ST-1006' }]],
    ['a settlement that another line could be about', [LINE, { ...LINE, id: 2 }], [fitting]],
  ])('is about none, with %s', (_what, lines, settlements) => {
    expect(bankMatches(lines, settlements)).toEqual([]);
  });

  test('does not take a settlement that another line names', () => {
    const lines = [LINE, { ...LINE, id: 2, grossMinor: 1, text: 'ST-1005' }];
    expect(bankMatches(lines, [fitting])).toEqual([[2, '5', 'reference']]);
  });

  test('leaves the only other settlement to a line, although a second line names the first', () => {
    const lines = [LINE, { ...LINE, id: 2, text: 'ST-1005' }];
    const other = { ...fitting, id: 6, reference: 'ST-1006' };
    expect(bankMatches(lines, [fitting, other])).toEqual([
      [2, '5', 'reference'],
      [1, '6', 'amount_and_date'],
    ]);
  });

  test('is not one that names two: a person decides', () => {
    const settlements = [
      settlement({}),
      settlement({ id: 6, reference: 'ST-1006' }),
      settlement({ id: 7, reference: 'ST-1007', netMinor: 7855n }),
    ];
    expect(bankMatches([{ ...LINE, text: 'ST-1005 ST-1006' }], settlements)).toEqual([]);
  });
});

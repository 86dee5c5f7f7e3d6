/** What lines are about. The numbers are those of src/ledger/domain/matchLines.ts. */
import { expect, test } from 'vitest';
import {
  type Candidate,
  matchBankLines,
  matchByReference,
  type OpenLine,
} from '../../../src/ledger/domain/matchLines.ts';

const LINE: OpenLine = {
  ...{ id: 1, type: 'bank', reference: null, day: '2026-10-06', currency: 'EUR' },
  ...{ grossMinor: 7855, text: null },
};
const SETTLEMENT = { id: 5, currency: 'EUR', netMinor: 1n, day: '2026-10-05', bankLines: 0 };

test.each([
  ['ST-1005', true],
  ['PAYOUT ST-1005 OF OCTOBER', true],
  ['(ST-1005)', true],
  ['ST-10050', false],
  ['FAST-1005', false],
  ['ST-1005B', false],
  ['ÄST-1005', false],
])('6: a settlement is named by a word of its own: %s', (text, isNamed) => {
  const matches = matchBankLines([{ ...LINE, text }], [{ ...SETTLEMENT, reference: 'ST-1005' }]);
  expect(matches.map(({ targetId }) => targetId)).toEqual(isNamed ? ['5'] : []);
});

test('3: two lines about one payment are about two refunds of it, in the order of their times', () => {
  const refund = (id: string, movedMicros: number): Candidate => ({
    ...{ kind: 'refund', id, paymentId: 'pay_1', orderId: null, currency: 'EUR' },
    ...{ amountMinor: 700, lines: 0, movedMicros },
  });
  const line = (id: number): OpenLine => ({
    ...{ ...LINE, id, type: 'refund', reference: 'pay_1', grossMinor: -700 },
  });
  const matches = matchByReference(
    [line(1), line(2), line(3)],
    [refund('ref_2', 20), refund('ref_1', 10)],
  );
  expect(matches.map(({ lineId, targetId }) => [lineId, targetId])).toEqual([
    [1, 'ref_1'],
    [2, 'ref_2'],
  ]);
});

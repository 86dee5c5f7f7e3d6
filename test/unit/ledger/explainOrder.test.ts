import { describe, expect, test } from 'vitest';
import type { ResourceKind } from '../../../src/contract/resources/index.ts';
import { explainOrder } from '../../../src/ledger/domain/explainOrder.ts';
import type { PartRecord } from '../../../src/ledger/domain/explanation.ts';
import type { SnapshotContent } from '../../../src/ledger/domain/snapshot.ts';
import { observe } from '../../support/observations.ts';

function part(kind: ResourceKind, id: string, content?: SnapshotContent): PartRecord {
  return {
    ref: { kind, id },
    evidence: content
      ? [
          {
            ...observe(content, { kind, id }),
            epoch: 0,
            inboxId: 1,
            eventId: 'evt_1',
            recordedMicros: 0,
          },
        ]
      : [],
    epochs: [],
    contradiction: undefined,
    openFindings: [],
    transfers: [],
    storedHeadHash: undefined,
    nextCheckMicros: undefined,
  };
}

function explain(storedStatus: string, ...parts: readonly PartRecord[]) {
  return explainOrder({
    orderKey: 'order:ord_1',
    orderId: 'ord_1',
    storedStatus,
    movedTo: [],
    openFindings: [],
    parts,
  });
}

const usd = { amountMinor: 6540, currency: 'USD' } as const;
const paid = part('payment', 'pay_1', { ...usd, status: 'succeeded', amountReceivedMinor: 6540 });
const failed = part('payment', 'pay_2', { ...usd, status: 'failed' });
const small = { amountMinor: 1000, currency: 'USD' } as const;
const refunded = part('refund', 'ref_1', { ...small, status: 'succeeded' });
const dispute = (status: string, stage = 'dispute') =>
  part('dispute', 'dp_1', { ...small, status, stage });

describe('the rule that applied, with the parts that caused it', () => {
  test.each<[string, readonly PartRecord[], RegExp, readonly string[]]>([
    [
      'charged_back',
      [paid, refunded, dispute('lost')],
      /^10\.00 USD was lost to disputes \(dispute dp_1 lost\)/,
      ['dp_1'],
    ],
    [
      'disputed',
      [paid, refunded, dispute('opened')],
      /^10\.00 USD is under dispute and undecided \(dispute dp_1 opened\)/,
      ['dp_1'],
    ],
    [
      'partially_refunded',
      [paid, refunded],
      /^10\.00 USD of 65\.40 USD captured was refunded \(refund ref_1 succeeded\)/,
      ['ref_1'],
    ],
    [
      'refunded',
      [paid, part('refund', 'ref_2', { ...usd, status: 'succeeded' })],
      /^65\.40 USD of 65\.40 USD captured was refunded/,
      ['ref_2'],
    ],
    [
      'paid',
      [failed, paid],
      /^payment pay_1 succeeded makes the order paid\. .*over failed \(payment pay_2 failed\)/,
      ['pay_1'],
    ],
    ['failed', [failed], /^payment pay_2 failed makes the order failed\.$/, ['pay_2']],
  ])('%s', (status, parts, because, decidedBy) => {
    const order = explain(status, ...parts);
    expect(order).toMatchObject({ status, discrepancies: [] });
    expect(order.because).toBe(`All its parts are in USD, where its status is ${status}.`);
    expect(order.currencies).toMatchObject([
      { currency: 'USD', status, because: expect.stringMatching(because) },
    ]);
    expect(order.currencies[0]?.decidedBy.map(({ id }) => id)).toEqual(decidedBy);
  });
});

test('each of several currencies has its rule, and the first in the precedence decides for the order', () => {
  const yen = part('payment', 'pay_3', {
    amountMinor: 500,
    currency: 'JPY',
    status: 'succeeded',
    amountReceivedMinor: 500,
  });
  const { because, currencies } = explain('partially_refunded', paid, refunded, yen);
  expect(currencies.map(({ currency, status }) => [currency, status])).toEqual([
    ['JPY', 'paid'],
    ['USD', 'partially_refunded'],
  ]);
  expect(because).toBe(
    'Of paid (JPY), partially_refunded (USD), partially_refunded has precedence.',
  );
  const all = part('refund', 'ref_2', { ...usd, status: 'succeeded' });
  expect(explain('partially_refunded', paid, all, yen).because).toBe(
    'Of paid (JPY), refunded (USD): captured money is left, so the order is partially_refunded.',
  );
});

test('a stub keeps its order pending, and is named', () => {
  expect(
    explain('pending', part('payment', 'pay_9'), dispute('opened', 'pre_dispute')),
  ).toMatchObject({
    status: 'pending',
    because: expect.stringContaining('payment pay_9, currency unknown'),
  });
});

test('parts that do not count are named: an inquiry, and a refund that did not succeed', () => {
  const pending = part('refund', 'ref_3', { ...small, status: 'pending' });
  const { currencies } = explain('paid', paid, dispute('opened', 'pre_dispute'), pending);
  expect(currencies[0]?.notes).toEqual([
    expect.stringContaining('dispute dp_1 opened is at the stage pre_dispute'),
    expect.stringContaining('refund ref_3 pending'),
  ]);
});

test('an order without parts states that its payments moved', () => {
  expect(explain('moved')).toMatchObject({
    status: 'moved',
    because: expect.stringContaining('moved to another order'),
  });
});

test('a stored status that does not follow from the parts is named', () => {
  expect(explain('pending', paid).discrepancies).toEqual([
    'The stored status is pending, but its parts make it paid.',
  ]);
});

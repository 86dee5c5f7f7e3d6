/** The findings that merged states and orders show; opening and closing them is tested over the database. */
import { describe, expect, test } from 'vitest';
import { stateFindings } from '../../../src/ledger/domain/findings.ts';
import { mergeObservations } from '../../../src/ledger/domain/mergeObservations.ts';
import { type NamedPart, orderFindings } from '../../../src/ledger/domain/orderFindings.ts';
import type { SnapshotContent } from '../../../src/ledger/domain/snapshot.ts';
import { observe } from '../../support/observations.ts';

const NOTHING = { snapshots: [], epochs: [], contradiction: undefined };

describe('a payment', () => {
  const classesOf = (content: SnapshotContent) =>
    stateFindings(
      { kind: 'payment', id: 'pay_1' },
      mergeObservations(NOTHING, [observe(content)]),
    ).map((finding) => finding.class);
  const paid = { status: 'succeeded', currency: 'USD', amountReceivedMinor: 100 };

  test.each([
    ['more than its amount', { ...paid, amountMinor: 99 }, ['over_capture']],
    ['exactly its amount', { ...paid, amountMinor: 100 }, []],
    ['any amount if its own is unknown', paid, []],
  ])('that captured %s', (_what, content, classes) => {
    expect(classesOf(content)).toEqual(classes);
  });
});

describe('an order', () => {
  const payment: NamedPart = {
    kind: 'payment',
    id: 'pay_1',
    paymentId: null,
    status: 'succeeded',
    stage: undefined,
    currency: 'USD',
    amountMinor: 100,
    authorizedMinor: 0,
    capturedMinor: 100,
  };
  const child = (fields: Partial<NamedPart>): NamedPart => ({
    ...payment,
    kind: 'refund',
    id: 'ref_1',
    paymentId: 'pay_1',
    amountMinor: 10,
    capturedMinor: 0,
    ...fields,
  });
  const found = (...parts: readonly NamedPart[]) =>
    orderFindings('order:ord_1', parts).map((finding) => [finding.class, finding.detail]);

  const DISPUTE = { kind: 'dispute', id: 'dp_1', stage: 'dispute', amountMinor: 100 } as const;

  test.each<[string, Partial<NamedPart>, readonly string[]]>([
    ['a refund that succeeded', { status: 'succeeded' }, ['ref_1']],
    ['a refund that is pending', { status: 'pending' }, ['ref_1']],
    ['a refund that failed, which moved nothing', { status: 'failed' }, []],
    ['a dispute', { ...DISPUTE, status: 'opened' }, ['dp_1']],
    ['a dispute that was won', { ...DISPUTE, status: 'won' }, ['dp_1']],
  ])('in another currency than its payment: %s', (_what, fields, strange) => {
    const expected = strange.length === 0 ? [] : [['currency', { parts: strange }]];
    const inEuro = { ...fields, currency: 'EUR', amountMinor: 0 };
    expect(found(payment, child(inEuro))).toEqual(expected);
    expect(found(payment, child({ ...inEuro, currency: 'USD' }))).toEqual([]);
    expect(found(payment, child({ ...inEuro, currency: undefined }))).toEqual([]);
    expect(found({ ...payment, currency: undefined }, child(inEuro))).toEqual([]);
  });

  test.each<[string, readonly (Partial<NamedPart> | undefined)[], boolean]>([
    ['an opened dispute and a pending refund', [{ status: 'pending' }, { status: 'opened' }], true],
    ['a challenged one and one in review', [{ status: 'review' }, { status: 'challenged' }], true],
    ['a refund that is done', [{ status: 'succeeded' }, { status: 'opened' }], false],
    ['a dispute that was won', [{ status: 'pending' }, { status: 'won' }], false],
    ['a refund of unknown status', [{ status: undefined }, { status: 'opened' }], false],
    ['a refund alone', [{ status: 'pending' }], false],
    ['a dispute alone', [undefined, { status: 'opened' }], false],
  ])('may pay twice over a dispute beside a refund: %s', (_what, [refund, dispute], isShown) => {
    const open = { ...payment, status: 'processing', capturedMinor: 0 };
    const parts = [
      ...(refund ? [child({ ...refund })] : []),
      ...(dispute ? [child({ ...DISPUTE, ...dispute })] : []),
    ];
    const detail = {
      disputes: [{ id: 'dp_1', amountMinor: 100, currency: 'USD' }],
      refunds: [{ id: 'ref_1', amountMinor: 10, currency: 'USD' }],
    };
    // A payment that is not final changes nothing: both are in transit already.
    expect(found(open, ...parts)).toEqual(isShown ? [['dispute_and_refund', detail]] : []);
  });

  test('may not pay twice over a dispute of one payment and a refund of another', () => {
    const refund = child({ status: 'pending' });
    const dispute = child({ ...DISPUTE, status: 'opened', amountMinor: 10 });
    const other = { ...payment, id: 'pay_2', status: 'partially_captured' };
    expect(found(payment, other, refund, { ...dispute, paymentId: 'pay_2' })).toEqual([]);
    const ofOther = { paymentId: 'pay_2', status: 'pending', amountMinor: 10 };
    const both = [dispute, child({ ...DISPUTE, ...ofOther, id: 'dp_2', status: 'opened' })];
    const [[, detail] = []] = found(
      payment,
      other,
      refund,
      child({ ...ofOther, id: 'ref_2' }),
      ...both,
    );
    expect(detail).toMatchObject({
      disputes: [{ id: 'dp_1' }, { id: 'dp_2' }],
      refunds: [{ id: 'ref_1' }, { id: 'ref_2' }],
    });
  });

  test('may not pay twice over an inquiry, which a refund settles', () => {
    const inquiry = child({ ...DISPUTE, status: 'opened', stage: 'pre_dispute' });
    const refund = child({ status: 'pending' });
    expect(found(payment, refund, inquiry)).toEqual([]);
    expect(found(payment, refund, { ...inquiry, stage: 'dispute', amountMinor: 10 })).toHaveLength(
      1,
    );
  });

  test('is over-refunded by what exceeds its captures, pending refunds included', () => {
    const refunds = (...amounts: readonly number[]) =>
      amounts.map((amountMinor, place) =>
        child({ id: `ref_${place}`, amountMinor, status: place === 0 ? 'succeeded' : 'pending' }),
      );
    expect(found(payment, ...refunds(100))).toEqual([]);
    expect(found(payment, ...refunds(60, 40))).toEqual([]);
    expect(found(payment, ...refunds(60, 41))).toEqual([
      ['over_refund', { currency: 'USD', excessMinor: 1 }],
    ]);
    const failed = child({ amountMinor: 999, status: 'failed' });
    expect(found(payment, failed)).toEqual([]);
  });

  test('has no verdict while the payment may still capture, but beside another one that may', () => {
    const open = { ...payment, id: 'pay_2', status: 'processing', capturedMinor: 0 };
    const refund = child({ amountMinor: 150, status: 'succeeded' });
    expect(found(payment, refund, open)).toHaveLength(1);
    expect(found(payment, { ...refund, paymentId: 'pay_2' }, open)).toEqual([]);
    expect(found({ ...payment, status: 'requires_capture' }, refund)).toEqual([]);
  });

  // An order that is paid in parts: what the other payment captured is owed for that one.
  test('returns a payment twice although another payment of the order was kept', () => {
    const other = { ...payment, id: 'pay_2', status: 'partially_captured', capturedMinor: 300 };
    const refund = child({ amountMinor: 100, status: 'succeeded' });
    const lost = child({ ...DISPUTE, status: 'lost' });
    const doubleLoss = ['double_loss', { currency: 'USD', excessMinor: 100 }];
    expect(found(payment, other, refund, lost)).toEqual([doubleLoss]);
    expect(found(payment, other, child({ amountMinor: 103 }))).toEqual([
      ['over_refund', { currency: 'USD', excessMinor: 3 }],
    ]);
    const ofOther = { paymentId: 'pay_2', status: 'succeeded' };
    const excesses = [child({ amountMinor: 101 }), child({ ...ofOther, amountMinor: 305 })];
    expect(found(payment, other, ...excesses)).toEqual([
      ['over_refund', { currency: 'USD', excessMinor: 6 }],
    ]);
    // A refund of one and a dispute of the other, with the bank's fee, return neither twice.
    expect(
      found(payment, other, child({ ...ofOther, amountMinor: 300 }), { ...lost, amountMinor: 120 }),
    ).toEqual([]);
  });

  test.each([
    'requires_payment_method',
    'requires_confirmation',
    'requires_action',
    'requires_customer_action',
    'requires_redirection',
  ])('has a verdict beside a payment that was abandoned as %s', (status) => {
    const abandoned = { ...payment, id: 'pay_2', status, capturedMinor: 0 };
    const refund = child({ amountMinor: 100, status: 'succeeded' });
    const dispute = child({ ...DISPUTE, status: 'opened' });
    const doubleLoss = [['double_loss', { currency: 'USD', excessMinor: 100 }]];
    expect(found(payment, refund, dispute, abandoned)).toEqual(doubleLoss);
    expect(found(payment, child({ amountMinor: 101 }), abandoned)).toHaveLength(1);
    // A refund shows that it was captured after all.
    const ofAbandoned = { ...refund, id: 'ref_2', paymentId: 'pay_2' };
    expect(found(payment, refund, ofAbandoned, abandoned)).toEqual([]);
  });

  test('loses twice only if a refund and a dispute together exceed the capture', () => {
    const refund = child({ amountMinor: 1, status: 'succeeded' });
    const lost = child({ ...DISPUTE, status: 'lost' });
    expect(found(payment, child({ ...DISPUTE, status: 'lost', amountMinor: 500 }))).toEqual([]);
    expect(found(payment, refund, child({ ...DISPUTE, status: 'lost', amountMinor: 99 }))).toEqual(
      [],
    );
    expect(found(payment, refund, lost)).toEqual([
      ['double_loss', { currency: 'USD', excessMinor: 1 }],
    ]);
    expect(found(payment, refund, { ...lost, status: 'won' })).toEqual([]);
  });

  test('loses twice by two disputes of one payment, but not by one that was won', () => {
    const lost = child({ ...DISPUTE, status: 'lost' });
    const second = child({ ...DISPUTE, id: 'dp_2', status: 'opened', amountMinor: 30 });
    const doubleLoss = [['double_loss', { currency: 'USD', excessMinor: 30 }]];
    expect(found(payment, lost, second)).toEqual(doubleLoss);
    expect(found(payment, { ...lost, amountMinor: 70 }, second)).toEqual([]);
    expect(found(payment, { ...lost, status: 'won' }, { ...second, amountMinor: 120 })).toEqual([]);
    expect(found(payment, lost, { ...second, stage: 'pre_dispute' })).toEqual([]);
    const failed = child({ status: 'failed' });
    expect(found(payment, failed, { ...lost, amountMinor: 120 })).toEqual([]);
  });

  test('is paid twice if two payments succeeded with captured money', () => {
    const second = { ...payment, id: 'pay_0' };
    const payments = ['pay_0', 'pay_1'].map((id) => ({ id, capturedMinor: 100, currency: 'USD' }));
    expect(found(payment, second)).toEqual([['double_paid', { payments }]]);
    expect(found(payment)).toEqual([]);
    expect(found(payment, { ...second, capturedMinor: 0 })).toEqual([]);
    expect(found(payment, { ...second, status: 'partially_captured' })).toEqual([]);
    expect(found(payment, child({ id: 'ref_1', amountMinor: 1, capturedMinor: 100 }))).toEqual([]);
  });

  const REFUNDED = { status: 'succeeded', amountMinor: 100 } as const;

  test.each<[string, Partial<NamedPart>, boolean]>([
    ['is refunded in full', REFUNDED, false],
    ['is refunded beyond its capture', { ...REFUNDED, amountMinor: 101 }, false],
    ['is refunded in part', { ...REFUNDED, amountMinor: 99 }, true],
    ['is being refunded', { ...REFUNDED, status: 'pending' }, true],
    ['has a refund that failed', { ...REFUNDED, status: 'failed' }, true],
    ['has a refund of unknown status', { ...REFUNDED, status: undefined }, true],
    ['has a refund of unknown amount', { ...REFUNDED, amountMinor: undefined }, true],
    ['has a refund in another currency', { ...REFUNDED, currency: 'EUR' }, true],
    ['has a refund of unknown currency', { ...REFUNDED, currency: undefined }, true],
    ['was lost to a dispute', { ...DISPUTE, status: 'lost' }, false],
    ['was lost to a dispute that was accepted', { ...DISPUTE, status: 'accepted' }, false],
    ['was lost to a dispute that expired', { ...DISPUTE, status: 'expired' }, false],
    ['was lost in part', { ...DISPUTE, status: 'lost', amountMinor: 99 }, true],
    ['is disputed', { ...DISPUTE, status: 'opened' }, true],
    ['was disputed in vain', { ...DISPUTE, status: 'won' }, true],
    ['had an inquiry', { ...DISPUTE, status: 'expired', stage: 'pre_dispute' }, true],
  ])('is not paid twice by a payment of which nothing is kept: it %s', (_what, fields, isShown) => {
    const second = { ...payment, id: 'pay_2' };
    const isFound = (...parts: readonly NamedPart[]) =>
      found(...parts).some(([name]) => name === 'double_paid');
    expect(isFound(payment, second, child({ ...fields, paymentId: 'pay_2' }))).toBe(isShown);
    // The same if the first payment was returned, and if a third one was not.
    expect(isFound(payment, second, child(fields))).toBe(isShown);
    expect(isFound(payment, second, { ...payment, id: 'pay_3' }, child(fields))).toBe(true);
  });

  test('is paid twice by payments and a refund of unknown currencies', () => {
    const unknown = { ...payment, currency: undefined };
    const refund = child({ ...REFUNDED, currency: undefined });
    expect(found(unknown, { ...unknown, id: 'pay_2' }, refund)).toMatchObject([
      ['double_paid', {}],
    ]);
  });

  test('is not paid twice by a payment that refunds and a lost dispute returned together', () => {
    const second = { ...payment, id: 'pay_2' };
    const refunds = ['ref_1', 'ref_2'].map((id) => child({ id, ...REFUNDED, amountMinor: 30 }));
    const lost = child({ ...DISPUTE, status: 'lost', amountMinor: 40 });
    expect(found(payment, second, ...refunds, lost)).toEqual([]);
    // Each payment has its own: 60 of one and 40 of the other return neither.
    expect(found(payment, second, ...refunds, { ...lost, paymentId: 'pay_2' })).toHaveLength(1);
    expect(found(payment, second, ...refunds, { ...lost, paymentId: null })).toHaveLength(1);
  });

  test('names the payments of which something is kept, with what they captured', () => {
    const others = ['pay_2', 'pay_3'].map((id) => ({ ...payment, id }));
    const returned = child({ paymentId: 'pay_2', ...REFUNDED });
    const inPart = child({ id: 'ref_2', ...REFUNDED, amountMinor: 10 });
    const payments = ['pay_1', 'pay_3'].map((id) => ({ id, capturedMinor: 100, currency: 'USD' }));
    expect(found(payment, ...others, returned, inPart)).toEqual([['double_paid', { payments }]]);
  });

  test('loses twice by money that is still in transit, too', () => {
    const refund = child({ amountMinor: 1, status: 'pending' });
    const open = child({ ...DISPUTE, status: 'opened' });
    const classes = found(payment, refund, open);
    expect(classes).toContainEqual(['double_loss', { currency: 'USD', excessMinor: 1 }]);
    const lost = child({ ...DISPUTE, id: 'dp_2', status: 'lost', amountMinor: 50 });
    expect(found(payment, child({ amountMinor: 1 }), lost, { ...open, amountMinor: 50 })).toEqual([
      ['double_loss', { currency: 'USD', excessMinor: 1 }],
    ]);
    const both = [
      child({ amountMinor: 30 }),
      child({ id: 'ref_2', amountMinor: 30, status: 'pending' }),
    ];
    expect(found(payment, ...both, { ...lost, amountMinor: 40 })).toEqual([]);
    expect(found(payment, ...both, { ...lost, amountMinor: 41 })).toHaveLength(1);
  });

  test('has one finding of a class, about each currency with it', () => {
    const euro = { ...payment, id: 'pay_2', currency: 'EUR' };
    const refunds = [
      child({ amountMinor: 105, status: 'pending' }),
      child({
        id: 'ref_2',
        paymentId: 'pay_2',
        currency: 'EUR',
        amountMinor: 107,
        status: 'pending',
      }),
    ];
    expect(found(payment, euro, ...refunds)).toEqual([
      [
        'over_refund',
        { currency: 'EUR', excessMinor: 7, others: [{ currency: 'USD', excessMinor: 5 }] },
      ],
      [
        'double_paid',
        {
          payments: [
            { id: 'pay_1', capturedMinor: 100, currency: 'USD' },
            { id: 'pay_2', capturedMinor: 100, currency: 'EUR' },
          ],
        },
      ],
    ]);
  });

  test('names the parts of a finding sorted by their ids', () => {
    const refunds = ['ref_c', 'ref_a', 'ref_b'].map((id) =>
      child({ id, status: 'pending', amountMinor: 1 }),
    );
    const disputes = ['dp_c', 'dp_a', 'dp_b'].map((id) =>
      child({ ...DISPUTE, id, status: 'opened', amountMinor: 1 }),
    );
    const details = new Map(
      found(payment, ...refunds, ...disputes).map(([name, detail]) => [name, detail]),
    );
    expect(details.get('dispute_and_refund')).toMatchObject({
      disputes: [{ id: 'dp_a' }, { id: 'dp_b' }, { id: 'dp_c' }],
      refunds: [{ id: 'ref_a' }, { id: 'ref_b' }, { id: 'ref_c' }],
    });
    const euro = refunds.map((one) => ({ ...one, currency: 'EUR', status: 'succeeded' }));
    expect(found({ ...payment, status: 'processing' }, ...euro)).toEqual([
      ['currency', { parts: ['ref_a', 'ref_b', 'ref_c'] }],
    ]);
  });

  test('compares currencies only with a payment that a part names, and that it has', () => {
    const euro = child({ currency: 'EUR', amountMinor: 0 });
    expect(found(payment, { ...euro, paymentId: null })).toEqual([]);
    expect(found(payment, { ...euro, paymentId: 'pay_9' })).toEqual([]);
    const sibling = child({ id: 'pay_9', currency: 'USD', amountMinor: 0 });
    expect(found(payment, sibling, { ...euro, paymentId: 'pay_9' })).toEqual([]);
    const dispute = child({ ...DISPUTE, status: 'failed', currency: 'EUR', amountMinor: 0 });
    expect(found(payment, dispute)).toEqual([['currency', { parts: ['dp_1'] }]]);
  });

  test('is the subject of its findings, by its key', () => {
    const parts = [payment, { ...payment, id: 'pay_2' }];
    const [one] = orderFindings('order:ord_1', parts);
    expect(one?.subject).toBe('order:order:ord_1');
  });
});

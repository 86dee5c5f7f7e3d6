import { describe, expect, test } from 'vitest';
import {
  deriveOrder,
  type OrderPart,
  PART_AMOUNTS,
  paymentStatusWord,
} from '../../../src/ledger/domain/order.ts';
import { orderIdOf, orderKeyOf } from '../../../src/ledger/domain/orderKey.ts';

function part(fields: Partial<OrderPart>): OrderPart {
  return {
    kind: 'payment',
    status: 'succeeded',
    stage: undefined,
    currency: 'USD',
    amountMinor: 100,
    authorizedMinor: 0,
    capturedMinor: fields.kind === undefined || fields.kind === 'payment' ? 100 : 0,
    ...fields,
  };
}

const paid = part({});
const refund = (fields: Partial<OrderPart>) => part({ kind: 'refund', amountMinor: 40, ...fields });
const dispute = (fields: Partial<OrderPart>) =>
  part({ kind: 'dispute', stage: 'dispute', ...fields });

describe('the status of an order', () => {
  test.each<[string, readonly OrderPart[]]>([
    ['charged_back', [paid, dispute({ status: 'lost' })]],
    ['charged_back', [paid, dispute({ status: 'accepted' }), refund({})]],
    ['charged_back', [paid, dispute({ status: 'expired' })]],
    ['disputed', [paid, dispute({ status: 'opened' }), refund({})]],
    ['disputed', [paid, dispute({ status: 'challenged' })]],
    ['paid', [paid, dispute({ status: 'opened', stage: 'pre_dispute' })]],
    ['paid', [paid, dispute({ status: 'won' })]],
    ['paid', [paid, dispute({ status: 'cancelled' })]],
    ['refunded', [paid, refund({ amountMinor: 100 })]],
    ['refunded', [paid, refund({ amountMinor: 101 })]],
    ['refunded', [paid, refund({ amountMinor: 60 }), refund({ amountMinor: 60 })]],
    ['partially_refunded', [paid, refund({ amountMinor: 99 })]],
    ['partially_refunded', [paid, refund({})]],
    // The event of the capture may be late, or that of the payment, of which nothing is known then.
    ['partially_refunded', [part({ status: 'processing', capturedMinor: 0 }), refund({})]],
    ['partially_refunded', [part({ status: undefined, currency: undefined }), refund({})]],
    ['partially_refunded', [part({ currency: 'EUR' }), refund({})]],
    ['refunded', [part({ status: 'cancelled_post_capture' }), refund({})]],
    // Refunded means that no captured money is left, in any currency.
    ['partially_refunded', [paid, refund({ amountMinor: 100 }), part({ currency: 'EUR' })]],
    [
      'partially_refunded',
      [
        paid,
        refund({ amountMinor: 100 }),
        part({ currency: 'EUR', status: 'cancelled', capturedMinor: 30 }),
      ],
    ],
    [
      'partially_refunded',
      [
        paid,
        refund({ amountMinor: 100 }),
        part({ currency: 'EUR' }),
        refund({ currency: 'EUR', amountMinor: 99 }),
      ],
    ],
    [
      'refunded',
      [
        paid,
        refund({ amountMinor: 100 }),
        part({ currency: 'EUR' }),
        refund({ currency: 'EUR', amountMinor: 100 }),
        part({ currency: 'JPY', status: 'failed', capturedMinor: 0 }),
        part({ currency: 'KWD', status: 'processing', capturedMinor: 0 }),
      ],
    ],
    ['paid', [paid, refund({ status: 'failed' })]],
    ['paid', [paid, part({ status: 'failed', capturedMinor: 0 })]],
    ['partially_captured', [part({ status: 'partially_captured', capturedMinor: 30 })]],
    ['partially_captured', [part({ status: 'cancelled', capturedMinor: 30 })]],
    ['partially_captured', [part({ status: 'expired', capturedMinor: 30, authorizedMinor: 100 })]],
    ['authorized', [part({ status: 'requires_capture', capturedMinor: 0, authorizedMinor: 100 })]],
    ['pending', [part({ status: 'processing', capturedMinor: 0 })]],
    ['pending', [part({ status: 'teleported', capturedMinor: 0 })]],
    ['pending', [part({ status: undefined, currency: undefined, capturedMinor: 0 })]],
    ['expired', [part({ status: 'expired', capturedMinor: 0, authorizedMinor: 100 })]],
    ['cancelled', [part({ status: 'cancelled_post_capture' })]],
    ['failed', [part({ status: 'failed', capturedMinor: 0 })]],
    ['moved', []],
  ])('%s', (status, parts) => {
    expect(deriveOrder(parts).status).toBe(status);
    expect(deriveOrder([...parts].reverse()).status).toBe(status);
  });
});

test.each([
  refund({ status: 'pending' }),
  refund({ status: 'failed' }),
  dispute({ status: 'won' }),
  dispute({ status: 'opened', stage: 'pre_dispute' }),
])('a currency of which no payment is known yet is pending: %j', (child) => {
  const unseen = part({ status: undefined, currency: undefined, capturedMinor: 0 });
  const { status, totals } = deriveOrder([child, unseen]);
  expect(status).toBe('pending');
  expect(totals).toMatchObject([{ currency: 'USD', status: 'pending' }]);
});

describe('its amounts', () => {
  test('are sums per currency, never across currencies', () => {
    const { totals } = deriveOrder([paid, paid, part({ currency: 'JPY', capturedMinor: 7 })]);
    expect(totals.map(({ currency, capturedMinor }) => [currency, capturedMinor])).toEqual([
      ['JPY', 7],
      ['USD', 200],
    ]);
  });

  test('a hold counts while it can still be captured', () => {
    const held = part({ status: 'requires_capture', authorizedMinor: 100, capturedMinor: 30 });
    expect(deriveOrder([held]).totals).toMatchObject([{ authorizedMinor: 70, capturedMinor: 30 }]);
    expect(deriveOrder([{ ...held, status: 'expired' }]).totals).toMatchObject([
      { authorizedMinor: 0 },
    ]);
  });

  test.each([
    ['opened', { disputedMinor: 100, chargedBackMinor: 0 }],
    ['challenged', { disputedMinor: 100, chargedBackMinor: 0 }],
    ['lost', { disputedMinor: 0, chargedBackMinor: 100 }],
    ['accepted', { disputedMinor: 0, chargedBackMinor: 100 }],
    ['expired', { disputedMinor: 0, chargedBackMinor: 100 }],
    ['won', { disputedMinor: 0, chargedBackMinor: 0 }],
    ['cancelled', { disputedMinor: 0, chargedBackMinor: 0 }],
  ])('a dispute that is %s is undecided, lost or costs nothing', (status, amounts) => {
    expect(deriveOrder([paid, dispute({ status })]).totals).toMatchObject([amounts]);
    const question = dispute({ status, stage: 'pre_dispute' });
    expect(deriveOrder([paid, question]).totals).toMatchObject([
      { disputedMinor: 0, chargedBackMinor: 0 },
    ]);
  });

  test('a capture that was voided later does not count', () => {
    expect(deriveOrder([part({ status: 'cancelled_post_capture' })]).totals).toMatchObject([
      { capturedMinor: 0 },
    ]);
  });

  test('a sum beyond the exact integers is an error, never rounded', () => {
    const huge = part({ capturedMinor: Number.MAX_SAFE_INTEGER });
    expect(deriveOrder([huge]).totals).toMatchObject([{ capturedMinor: Number.MAX_SAFE_INTEGER }]);
    expect(() => deriveOrder([huge, paid])).toThrow(RangeError);
  });
});

describe('what one part adds', () => {
  const NOTHING = {
    authorizedMinor: 0,
    capturedMinor: 0,
    refundedMinor: 0,
    refundPendingMinor: 0,
    disputedMinor: 0,
    chargedBackMinor: 0,
  };
  const held = { authorizedMinor: 100, capturedMinor: 30 };

  test.each<[string, Partial<OrderPart>, Partial<typeof NOTHING>]>([
    ['a hold', { status: 'requires_capture', ...held }, { authorizedMinor: 70, capturedMinor: 30 }],
    [
      'a hold of unknown status',
      { status: undefined, ...held },
      { authorizedMinor: 70, capturedMinor: 30 },
    ],
    [
      'a capture above its hold',
      { status: 'requires_capture', authorizedMinor: 10, capturedMinor: 30 },
      { capturedMinor: 30 },
    ],
    ['a payment that succeeded', { ...held }, { capturedMinor: 30 }],
    ['a payment that was voided', { ...held, status: 'cancelled_post_capture' }, {}],
    ['a refund', { kind: 'refund' }, { refundedMinor: 100 }],
    ['a refund in review', { kind: 'refund', status: 'review' }, { refundPendingMinor: 100 }],
    [
      'a refund with an unknown status',
      { kind: 'refund', status: 'new' },
      { refundPendingMinor: 100 },
    ],
    ['a refund without a status', { kind: 'refund', status: undefined }, {}],
    ['a refund that failed', { kind: 'refund', status: 'failed' }, {}],
    ['a refund of an unknown amount', { kind: 'refund', amountMinor: undefined }, {}],
    ['a dispute that is open', { kind: 'dispute', status: 'opened' }, { disputedMinor: 100 }],
    ['a dispute that was lost', { kind: 'dispute', status: 'lost' }, { chargedBackMinor: 100 }],
    ['a dispute without a status', { kind: 'dispute', status: undefined }, {}],
    ['an inquiry', { kind: 'dispute', status: 'opened', stage: 'pre_dispute' }, {}],
    ['a payout', { kind: 'payout', status: 'success', ...held }, {}],
  ])('%s', (_what, fields, amounts) => {
    const added = Object.entries(PART_AMOUNTS).map(([name, of]) => [name, of(part(fields))]);
    expect(Object.fromEntries(added)).toEqual({ ...NOTHING, ...amounts });
  });
});

test.each([
  ['succeeded', 'paid', 'paid'],
  ['partially_captured', 'partially_captured', 'partially_captured'],
  ['partially_captured_and_capturable', 'partially_captured', 'partially_captured'],
  ['partially_captured_and_processing', 'partially_captured', 'partially_captured'],
  ['requires_capture', 'authorized', 'partially_captured'],
  ['partially_authorized_and_requires_capture', 'authorized', 'partially_captured'],
  ['expired', 'expired', 'partially_captured'],
  ['cancelled', 'cancelled', 'partially_captured'],
  ['cancelled_post_capture', 'cancelled', 'cancelled'],
  ['failed', 'failed', 'partially_captured'],
  ['processing', 'pending', 'partially_captured'],
  ['teleported', 'pending', 'partially_captured'],
  [undefined, 'pending', 'partially_captured'],
])(
  'a payment that is %s makes an order %s, and one with captured money %s',
  (status, none, some) => {
    expect(paymentStatusWord({ status, capturedMinor: 0 })).toBe(none);
    expect(paymentStatusWord({ status, capturedMinor: 1 })).toBe(some);
  },
);

test('the status of an order is the first over its currencies, in their own order', () => {
  const euro = part({ currency: 'EUR', status: 'processing', capturedMinor: 0 });
  const { status, totals } = deriveOrder([paid, euro]);
  expect(status).toBe('paid');
  expect(totals.map((one) => [one.currency, one.status])).toEqual([
    ['EUR', 'pending'],
    ['USD', 'paid'],
  ]);
});

test('an order id and a payment id never have the same key', () => {
  expect(orderKeyOf({ id: 'x' })).not.toBe(orderKeyOf({ id: 'y', orderId: 'x' }));
  expect(orderIdOf(orderKeyOf({ id: 'y', orderId: 'a:b' }))).toBe('a:b');
});

import { describe, expect, test } from 'vitest';
import { deriveOrder, type OrderPart } from '../../../src/ledger/domain/order.ts';
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

test('an order id and a payment id never have the same key', () => {
  expect(orderKeyOf({ id: 'x' })).not.toBe(orderKeyOf({ id: 'y', orderId: 'x' }));
  expect(orderIdOf(orderKeyOf({ id: 'y', orderId: 'a:b' }))).toBe('a:b');
});

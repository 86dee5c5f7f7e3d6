/** What people read when nothing was moved. */
import { expect, test } from 'vitest';
import { nothingToRefundText } from '../../../src/representation/notDone.ts';

test('a payment that was captured and refunded is not refused for its status', () => {
  expect(nothingToRefundText('pay_1', { status: 'succeeded', isCaptured: true })).toBe(
    'Nothing of pay_1 can be refunded: all of it is refunded, disputed, voided or of unknown amount.',
  );
});

test('a payment that was not captured is refused with its status', () => {
  const held = { status: 'requires_capture', isCaptured: false };
  expect(nothingToRefundText('pay_1', held)).toBe(
    'Nothing of pay_1 can be refunded: its status is requires_capture.',
  );
});

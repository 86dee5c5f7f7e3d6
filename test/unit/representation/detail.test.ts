import { expect, test } from 'vitest';
import { detailJson } from '../../../src/representation/detail.ts';

test('the detail of a finding or alert has the field names of the API, at every level', () => {
  expect(
    detailJson({
      capturedMinor: 100,
      excessMinor: 5,
      revokedMinor: 6,
      capturableMinor: 7,
      expiredMinor: 8,
      netAmountMinor: 9,
      isDeadlineAssumed: true,
      previousStatus: null,
      currency: 'EUR',
      refunds: [{ id: 'ref_1', amountMinor: 1 }, 'ref_2'],
      service: { totalCount: 2, sums: { EUR: 1, pay_1: 2 } },
    }),
  ).toEqual({
    amount_captured: 100,
    amount_excess: 5,
    amount_revoked: 6,
    amount_capturable: 7,
    amount_expired: 8,
    net_amount: 9,
    is_deadline_assumed: true,
    previous_status: null,
    currency: 'EUR',
    refunds: [{ id: 'ref_1', amount: 1 }, 'ref_2'],
    service: { total_count: 2, sums: { EUR: 1, pay_1: 2 } },
  });
});

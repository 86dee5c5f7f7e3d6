/** service-interface.md §9. */
import { expect, test } from 'vitest';
import { declineAdvice, ENDPOINTS, LEGACY_DECLINE_CODES } from '../../src/contract/index.ts';
import { cardPaymentOf } from '../support/sandboxRequests.ts';
import { expectError, expectResponse, freshId, testOfOurs, useTarget } from './target.ts';

const target = useTarget();

test('only the paths of analytics have a version', () => {
  const versioned = Object.values(ENDPOINTS).filter(({ path }) => /\/v\d+\//.test(path));
  expect(versioned).toHaveLength(3);
  for (const { path } of versioned) expect(path).toMatch(/^\/analytics\/v1\//);
});

const payOut = (fields: object) =>
  target.call('POST', '/payouts/create', { amount: 100, currency: 'EUR', ...fields });

test.each([
  ['email', 'ada@example.com'],
  ['name', 'Ada'],
  ['phone', '5550100'],
  ['phone_country_code', '+1'],
])(
  'the deprecated %s of a payout is accepted, and means that of its customer',
  async (field, value) => {
    const paid = expectResponse('createPayout', await payOut({ [field]: value }));
    expect(paid).toMatchObject({ [field]: value, customer: { [field]: value } });
    const contradiction = { [field]: value, customer: { [field]: `${value}x` } };
    expectError(await payOut(contradiction), 400, 'IR_04');
  },
);

test('the deprecated customer_id of a payout is accepted, and generated if omitted', async () => {
  const id = freshId('cus').slice(0, 64);
  const named = expectResponse('createPayout', await payOut({ customer_id: id }));
  expect(named).toMatchObject({ customer_id: id, customer: { id } });
  expect(expectResponse('createPayout', await payOut({})).customer_id).toEqual(expect.any(String));
});

const legacy = Object.keys(LEGACY_DECLINE_CODES) as (keyof typeof LEGACY_DECLINE_CODES)[];

testOfOurs.each(legacy)('an acquirer that was not migrated declines with %s', async (code) => {
  const request = cardPaymentOf('final', code, { profile_id: target.profileId });
  const declined = expectResponse('createPayment', await target.call('POST', '/payments', request));
  expect(declined).toMatchObject({ status: 'failed', unified_code: code });
  // One code has several messages; the payment has one of them.
  expect(declineAdvice(code)).toMatchObject({ legacy: true, customerMessage: undefined });
  expect(declined.unified_message).toEqual(expect.any(String));
});

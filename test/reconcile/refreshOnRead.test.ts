/** What is left out for the size of an order or of a request is stated, never left out silently. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createClient } from '../../src/client/index.ts';
import { findErasable } from '../../src/ledger/store/erasure.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { createRefresher } from '../../src/reconcile/refreshOnRead.ts';
import { createRetrieve } from '../../src/reconcile/retrieve.ts';
import { API_KEY, type PaymentService, startPaymentService } from '../client/paymentService.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { MERCHANT_ID, paymentObject, unique } from '../support/events.ts';
import { applyEach, testApplier } from '../support/ledger.ts';
import { paymentEvent } from '../support/payments.ts';

let db: TestDatabase;
let service: PaymentService;
beforeEach(async () => {
  [db, service] = await Promise.all([createTestDatabase(), startPaymentService()]);
});
afterEach(() => db.drop());

async function orderOf(payments: number): Promise<string> {
  const orderId = unique('ord');
  const bodies = Array.from({ length: payments }, (_, nth) =>
    paymentEvent({
      orderId,
      payment_id: `${orderId}_${nth}`,
      created: new Date(Date.UTC(2026, 10, 1) + nth * 60_000).toISOString(),
    }),
  );
  await applyEach(db, testApplier(db), bodies);
  return orderId;
}

test('an order is not fresh while some of its payments were not retrieved', async () => {
  const client = createClient({ baseUrl: service.baseUrl, apiKey: API_KEY });
  const account = { merchantId: MERCHANT_ID, profileId: undefined };
  const parts = { db, client, clock: systemClock };
  const retrieve = createRetrieve({ ...parts, account });
  const refresher = createRefresher({ ...parts, retrieve, timeoutMs: 60_000 });
  service.always = ({ path }) => {
    const id = path.split('?')[0]?.split('/').at(-1) ?? '';
    return { status: 200, body: paymentObject({ payment_id: id }) };
  };
  expect(await refresher.order({ id: await orderOf(10) })).toEqual({ outcome: 'fresh' });
  expect(await refresher.order({ id: await orderOf(11) })).toEqual({
    outcome: 'partly',
    reason: 'only the newest 10 payments of the order were retrieved',
  });
});

test('a request for erasure that names too much is refused', async () => {
  const orderKeys = [`order:${await orderOf(3)}`];
  expect(await findErasable(db, { ids: [], orderKeys }, 3)).toHaveLength(3);
  await expect(findErasable(db, { ids: [], orderKeys }, 2)).rejects.toThrow(
    'more than 2 payments, refunds, disputes and payouts. Nothing was erased.',
  );
});

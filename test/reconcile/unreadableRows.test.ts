/** List rows that break the contract: reported as differences, while the rest of the list is repaired. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { API_KEY, type PaymentService, startPaymentService } from '../client/paymentService.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventBody, paymentObject } from '../support/events.ts';
import { applyEach, readResourceStates, testApplier } from '../support/ledger.ts';
import { testReconciler } from '../support/reconciler.ts';

let db: TestDatabase;
let service: PaymentService;
const payment = paymentObject({ status: 'processing', amount_received: 0 });
const id = payment.payment_id;
const paid = {
  ...payment,
  status: 'succeeded',
  amount_received: 6540,
  modified_at: '2026-11-01T10:05:00Z',
};

beforeEach(async () => {
  [db, service] = await Promise.all([createTestDatabase(), startPaymentService()]);
  await applyEach(db, testApplier(db), [eventBody(payment)]);
});
afterEach(async () => {
  await db.drop();
});

const lane = { lane: 'operator' } as const;

// A run that failed at such a row would fail there every time, and never reach later rows.
test.each([
  ['amount', { amount: 65.4 }],
  ['amount_received', { amount_received: 2 ** 53 }],
  ['currency', { currency: 978 }],
])(
  'a row with an unreadable %s remains a difference, and the others are repaired',
  async (_, odd) => {
    const row = paymentObject(odd);
    const rows = [row, paid];
    service.always = ({ path }) => ({
      status: 200,
      body: path.startsWith('/payments/list')
        ? { count: 2, total_count: 2, data: rows }
        : rows.find(({ payment_id }) => path.endsWith(payment_id)),
    });
    const reconciler = testReconciler({
      db,
      service: { baseUrl: service.baseUrl, apiKey: API_KEY },
    });
    expect(await reconciler.run({ fromMs: Date.UTC(2026, 9, 1) })).toMatchObject({
      state: 'done',
      repaired: 1,
      remaining: 1,
      differences: expect.arrayContaining([
        { class: 'amount', subject: `payment:${row.payment_id}`, outcome: 'remaining' },
      ]),
    });
    expect(await readResourceStates(db, [id])).toMatchObject([{ status: 'succeeded' }]);
    expect(await reconciler.retrieve({ kind: 'payment', id: row.payment_id }, lane)).toMatchObject({
      outcome: 'failed',
      failure: 'unreadable',
      reason: expect.stringContaining(`: ${Object.keys(odd)[0]}`),
    });
  },
);

test('a row with odd fields apart from its amounts is repaired like any other', async () => {
  const odd = { ...paid, error_code: 51, metadata: [], order_details: [{ quantity: 1.5 }] };
  service.always = ({ path }) => ({
    status: 200,
    body: path.startsWith('/payments/list') ? { count: 1, total_count: 1, data: [odd] } : odd,
  });
  const reconciler = testReconciler({ db, service: { baseUrl: service.baseUrl, apiKey: API_KEY } });
  const report = await reconciler.run({ fromMs: Date.UTC(2026, 9, 1) });
  expect(report).toMatchObject({ state: 'done', repaired: 1, remaining: 0 });
});

/** List rows that violate the contract are reported as differences, and all other rows are repaired. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { paymentObject } from '../support/events.ts';
import { readResourceStates } from '../support/ledger.ts';
import { type OnePayment, PAID, startOnePayment } from './onePayment.ts';

let db: OnePayment['db'];
let service: OnePayment['service'];
let reconciler: OnePayment['reconciler'];
const id = PAID.payment_id;

beforeEach(async () => {
  ({ db, service, reconciler } = await startOnePayment());
});
afterEach(async () => {
  await db.drop();
});

const lane = { lane: 'operator' } as const;

// If such a row failed the run, every run would fail there and never reach later rows.
test.each([
  ['amount', { amount: 65.4 }],
  ['amount_received', { amount_received: 2 ** 53 }],
  ['currency', { currency: 978 }],
])(
  'a row with an invalid %s remains a difference, and the others are repaired',
  async (_, invalid) => {
    const row = paymentObject(invalid);
    const rows = [row, PAID];
    service.always = ({ path }) => ({
      status: 200,
      body: path.startsWith('/payments/list')
        ? { count: 2, total_count: 2, data: rows }
        : rows.find(({ payment_id }) => path.endsWith(payment_id)),
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
      reason: expect.stringContaining(`: ${Object.keys(invalid)[0]}`),
    });
  },
);

test('a row with invalid fields other than amounts is repaired like any other', async () => {
  const row = { ...PAID, error_code: 51, metadata: [], order_details: [{ quantity: 1.5 }] };
  service.always = ({ path }) => ({
    status: 200,
    body: path.startsWith('/payments/list') ? { count: 1, total_count: 1, data: [row] } : row,
  });
  const report = await reconciler.run({ fromMs: Date.UTC(2026, 9, 1) });
  expect(report).toMatchObject({ state: 'done', repaired: 1, remaining: 0 });
});

/** List rows that violate the contract are reported as differences, and all other rows are repaired. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { eventBody, paymentObject, unique } from '../support/events.ts';
import { applyEach, readResourceStates, testApplier } from '../support/ledger.ts';
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

const openFindings = () =>
  db.query<{ readonly class: string; readonly subject: string }>(
    `select class, subject, detail ->> 'difference' as difference
       from findings where state = 'open' order by class, subject`,
  );

/** A service that lists rows, and responds to the retrieve of a payment with the body of its id. */
function respondWith(
  rows: readonly object[],
  bodies: readonly ReturnType<typeof paymentObject>[],
): void {
  service.always = ({ path }) => ({
    status: 200,
    body: path.startsWith('/payments/list')
      ? { count: rows.length, total_count: rows.length, data: rows }
      : bodies.find(({ payment_id }) => path.endsWith(payment_id)),
  });
}

const span = { fromMs: Date.UTC(2026, 9, 1) };

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
        { class: 'missing_local', subject: `payment:${row.payment_id}`, outcome: 'remaining' },
      ]),
    });
    expect(await openFindings()).toMatchObject([
      { class: 'missing_local', subject: `payment:${row.payment_id}` },
    ]);
    expect(await readResourceStates(db, [id])).toMatchObject([{ status: 'succeeded' }]);
    expect(await reconciler.retrieve({ kind: 'payment', id: row.payment_id }, lane)).toMatchObject({
      outcome: 'failed',
      failure: 'unreadable',
      reason: expect.stringContaining(`: ${Object.keys(invalid)[0]}`),
    });
  },
);

test.each([1, 20])(
  'a payment with which its order cannot be added up remains a difference, and %i others are repaired',
  async (count) => {
    const order = { amount: 9e15, amount_received: 9e15, metadata: { order_id: unique('ord') } };
    const [first, excessive] = [paymentObject(order), paymentObject(order)];
    await applyEach(db, testApplier(db), [eventBody(first)]);
    const others = Array.from({ length: count }, () => paymentObject());
    const bodies = [PAID, first, excessive, ...others];
    respondWith(bodies, bodies);
    const subject = `payment:${excessive.payment_id}`;
    expect(await reconciler.run(span)).toMatchObject({ repaired: count + 1, remaining: 1 });
    expect(await openFindings()).toMatchObject([{ class: 'missing_local', subject }]);
    const ids = others.map(({ payment_id }) => payment_id);
    expect(await readResourceStates(db, ids)).toHaveLength(count);
    expect(await readResourceStates(db, [excessive.payment_id])).toEqual([]);
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

// Without the retrieve, a payment with a lost webhook stays out of the ledger for good.
test('a payment with an unreadable row is retrieved, and compared by the response', async () => {
  const missing = paymentObject({ status: 'succeeded', amount_received: 6540 });
  respondWith([{ ...missing, amount: 65.4 }], [missing]);
  const subject = `payment:${missing.payment_id}`;
  expect(await reconciler.run(span)).toMatchObject({
    repaired: 1,
    remaining: 0,
    differences: [{ class: 'missing_local', subject, outcome: 'repaired' }],
  });
  expect(await readResourceStates(db, [missing.payment_id])).toMatchObject([
    { status: 'succeeded' },
  ]);
  expect(await reconciler.run(span)).toMatchObject({ found: 0, remaining: 0 });
});

test('the finding about an unreadable row can be accepted, and closes when the payment is read', async () => {
  const row = paymentObject({ amount: 65.4 });
  respondWith([row, PAID], [row, PAID]);
  await reconciler.run(span);
  await db.query(
    `update findings set accepted_at = now(), accepted_by = 'ada', accepted_reason = 'known'`,
  );
  expect(await reconciler.run(span)).toMatchObject({
    remaining: 0,
    differences: [{ class: 'missing_local', outcome: 'accepted' }],
  });
  respondWith([row, PAID], [{ ...row, amount: 6540 }, PAID]);
  expect(await reconciler.run(span)).toMatchObject({ repaired: 1, remaining: 0 });
  expect(await openFindings()).toEqual([]);
});

test('an unreadable row of a payment in the ledger that cannot be retrieved is a finding about its state', async () => {
  const row = { ...PAID, amount: 65.4 };
  respondWith([row], [row]);
  const difference = { class: 'stale_local', subject: `payment:${id}` };
  expect(await reconciler.run(span)).toMatchObject({
    remaining: 1,
    differences: [{ ...difference, outcome: 'remaining' }],
  });
  expect(await openFindings()).toEqual([{ ...difference, difference: 'unreadable' }]);
});

test('an unreadable row is not read by a retrieve that contradicts the ledger', async () => {
  const failed = { ...PAID, status: 'failed', amount_received: 0 };
  await applyEach(db, testApplier(db), [eventBody(failed)]);
  respondWith([{ ...failed, amount: 65.4 }], [{ ...failed, status: 'processing' }]);
  const difference = { class: 'stale_local', subject: `payment:${id}` };
  expect(await reconciler.run(span)).toMatchObject({
    remaining: 1,
    differences: [{ ...difference, outcome: 'remaining' }],
  });
  expect(await openFindings()).toContainEqual({ ...difference, difference: 'unreadable' });
});

// A retrieve for each row of a list in another form would use up the rate limit.
test('a window with many unreadable rows shows that the list is at fault, and none is retrieved', async () => {
  const rows = Array.from({ length: 21 }, () => paymentObject({ amount: 65.4 }));
  respondWith([...rows, PAID], [...rows, PAID]);
  const report = await reconciler.run(span);
  expect(report).toMatchObject({ repaired: 1, remaining: 22 });
  expect(await openFindings()).toMatchObject([{ class: 'list_unstable' }]);
  expect(service.received.filter(({ path }) => !path.startsWith('/payments/list'))).toHaveLength(1);
});

// The ledger reads an amount that is a text, and the client of the service does not.
test('a row that only the ledger can read shows that counts are of something else', async () => {
  const row = { ...PAID, amount: '6540', amount_received: '6540' };
  respondWith([row], [PAID]);
  expect(await reconciler.run(span)).toMatchObject({ state: 'done', remaining: 0 });
  const counted = await reconciler.run({ ...span, mode: 'totals' });
  expect(counted).toMatchObject({ state: 'done', found: 0, remaining: 0, rowsCompared: 1 });
  expect(await openFindings()).toEqual([]);
});

/**
 * Captured money in bodies as services of this family send them. What the ledger posts, the state of
 * the order and the findings are read back from PostgreSQL, and `verify --rebuild` must agree.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { EventApplier } from '../../src/ledger/inbox/applyEvents.ts';
import { verifyLedger } from '../../src/ledger/verify/verifyLedger.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventBody, MERCHANT_ID, paymentObject, unique } from '../support/events.ts';
import { applyEach, readOpenFindings, testApplier } from '../support/ledger.ts';

let db: TestDatabase;
let applier: EventApplier;

beforeAll(async () => {
  db = await createTestDatabase();
  applier = testApplier(db);
});
afterAll(async () => {
  const report = await verifyLedger(db, { merchantId: MERCHANT_ID, rebuild: true });
  await db.drop();
  expect(report.checks.flatMap(({ offenders }) => offenders)).toEqual([]);
});

/** A payment on an order of its own, and what the ledger makes of it. */
function payment(fields: object = {}) {
  const orderId = unique('ord');
  const object = paymentObject({ metadata: { order_id: orderId }, ...fields });
  const paymentId = object.payment_id;
  return {
    paymentId,
    receive: (body: object, eventType = 'payment_updated') =>
      applyEach(db, applier, [eventBody({ ...object, ...body }, { eventType })]),
    order: async () => {
      const [row] = await db.query<object>(
        `select o.status, t.captured_minor as captured
           from orders o left join order_totals t using (order_key)
          where o.order_id = $1`,
        [orderId],
      );
      return row;
    },
    /** The posted amounts, in order. */
    captured: async () => {
      const rows = await db.query<{ debit: string; amount: number }>(
        `select debit, amount_minor as amount from transfers
          where resource_id = $1 and leg = 'captured' order by id`,
        [paymentId],
      );
      return rows.map(({ debit, amount }) => (debit === 'psp.clearing' ? amount : -amount));
    },
    findings: async () =>
      (await readOpenFindings(db, `payment:${paymentId}`)).map((finding) => finding.class),
  };
}

const at = (second: number) => ({ modified_at: `2026-11-01T10:00:0${second}.000Z` });

test('a payment that is processing is pending, regardless of its amount_received', async () => {
  const one = payment();
  await one.receive({ status: 'processing', amount_received: 6540, ...at(1) });
  expect(await one.order()).toEqual({ status: 'pending', captured: 0 });
  expect(await one.captured()).toEqual([]);
  await one.receive({ status: 'failed', amount_received: null, ...at(2) });
  expect(await one.order()).toEqual({ status: 'failed', captured: 0 });
  expect(await one.captured()).toEqual([]);
  expect(await one.findings()).toEqual([]);
});

test('a capture that a later failure revokes is reversed by a transfer, with a finding', async () => {
  const one = payment();
  await one.receive({ status: 'succeeded', ...at(1) });
  expect(await one.order()).toEqual({ status: 'paid', captured: 6540 });
  await one.receive({ status: 'failed', amount_received: null, ...at(2) });
  expect(await one.order()).toEqual({ status: 'failed', captured: 0 });
  expect(await one.captured()).toEqual([6540, -6540]);
  expect(await one.findings()).toEqual(['capture_revoked', 'status_conflict']);
});

test('a final body with a smaller amount than an earlier one makes a retrieve due', async () => {
  const one = payment({ capture_method: 'manual_multiple' });
  await one.receive({
    status: 'partially_captured_and_capturable',
    amount_received: 3000,
    amount_capturable: 3540,
    ...at(1),
  });
  await one.receive({ status: 'cancelled', amount_received: 0, ...at(2) });
  expect(await one.captured()).toEqual([3000]);
  expect(await one.findings()).toEqual(['amount']);
  const [row] = await db.query<object>(
    'select is_check_wanted from resources where id = $1 and next_check_at <= now()',
    [one.paymentId],
  );
  expect(row).toEqual({ is_check_wanted: true });
});

test('a payment with a surcharge is paid in full, without a finding', async () => {
  const one = payment({ amount: 3000, net_amount: 3090, amount_received: 3090 });
  await one.receive({ status: 'succeeded' });
  expect(await one.order()).toEqual({ status: 'paid', captured: 3090 });
  expect(await one.findings()).toEqual([]);
  const rows = await db.query<object>(
    'select amount_minor, net_amount_minor from payments where payment_id = $1',
    [one.paymentId],
  );
  expect(rows).toEqual([{ amount_minor: 3000, net_amount_minor: 3090 }]);
});

test('a success without amount_received captures the net amount until a body states the amount', async () => {
  const one = payment({ amount: 3000, net_amount: 3090 });
  await one.receive({ status: 'succeeded', amount_received: null });
  expect(await one.captured()).toEqual([3090]);
  await one.receive({ status: 'succeeded', amount_received: 3000 });
  expect(await one.captured()).toEqual([3090, -90]);
});

test('a part that is captured while the payment still requires capture is posted', async () => {
  const one = payment({ capture_method: 'manual_multiple', status: 'requires_capture' });
  await one.receive({ amount_received: 0, amount_capturable: 6540, ...at(1) });
  await one.receive({ amount_received: 3000, amount_capturable: 3540, ...at(2) });
  expect(await one.captured()).toEqual([3000]);
  expect(await one.order()).toEqual({ status: 'partially_captured', captured: 3000 });
  await one.receive({ status: 'succeeded', ...at(3) });
  expect(await one.captured()).toEqual([3000, 3540]);
  expect(await one.findings()).toEqual([]);
});

test('exactly half that is captured while the payment still requires capture is posted', async () => {
  const one = payment({ capture_method: 'manual_multiple', status: 'requires_capture' });
  await one.receive({ amount_received: 0, amount_capturable: 6540, ...at(1) });
  await one.receive({ amount_received: 3270, amount_capturable: 3270, ...at(2) });
  expect(await one.captured()).toEqual([3270]);
  expect(await one.order()).toEqual({ status: 'partially_captured', captured: 3270 });
  await one.receive({ status: 'succeeded', amount_capturable: 0, ...at(3) });
  expect(await one.captured()).toEqual([3270, 3270]);
  expect(await one.findings()).toEqual([]);
});

test.each([
  ['beside all of it still to capture', { amount_received: 6540, amount_capturable: 6540 }],
  ['of a smaller hold, beside all of that', { amount_received: 3000, amount_capturable: 3000 }],
  ['beside nothing to capture', { amount_received: 6540, amount_capturable: 0 }],
])('an amount_received that comes with the hold, %s, is not captured', async (_, amounts) => {
  const one = payment({ capture_method: 'manual', status: 'requires_capture' });
  await one.receive({ ...amounts, ...at(1) });
  expect(await one.captured()).toEqual([]);
  expect(await one.order()).toEqual({ status: 'authorized', captured: 0 });
});

/** Bodies of the family carry null in place of `amount_received` also after the capture of a hold. */
test.each([
  ['of the whole hold', {}, 6540],
  ['of a hold smaller than the payment', { amount_capturable: 4000 }, 4000],
])('a success without amount_received captures the amount %s', async (_, held, captured) => {
  const one = payment({ capture_method: 'manual', amount_received: null });
  await one.receive({ status: 'requires_capture', amount_capturable: 6540, ...held, ...at(1) });
  await one.receive({ status: 'succeeded', amount_capturable: 0, ...at(2) });
  expect(await one.captured()).toEqual([captured]);
  expect(await one.order()).toEqual({ status: 'paid', captured });
  await one.receive({ status: 'succeeded', amount_received: 3000, ...at(3) });
  expect(await one.captured()).toEqual([captured, 3000 - captured]);
  expect(await one.findings()).toEqual([]);
});

test('a capture above the net amount opens a finding', async () => {
  const one = payment({ amount: 15, net_amount: 15, amount_received: 17 });
  await one.receive({ status: 'succeeded' });
  expect(await one.findings()).toEqual(['over_capture']);
});

test('an unknown status posts nothing, and its finding states that', async () => {
  const one = payment();
  await one.receive({ status: 'settled_somehow' });
  expect(await one.captured()).toEqual([]);
  expect(await one.order()).toEqual({ status: 'pending', captured: 0 });
  expect(await one.findings()).toEqual(['unknown_status']);
});

test('an unknown status changes nothing that was posted', async () => {
  const one = payment();
  await one.receive({ status: 'succeeded', ...at(1) });
  await one.receive({ status: 'settled_somehow', ...at(2) });
  expect(await one.captured()).toEqual([6540]);
  expect(await one.findings()).toEqual(['unknown_status']);
});

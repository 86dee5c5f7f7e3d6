/** The migration of orders that are refunded in one of several currencies, with data of the version before. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { verifyLedger } from '../../src/ledger/verify/verifyLedger.ts';
import { packageRoot } from '../../src/platform/packageRoot.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventBody, MERCHANT_ID, paymentObject } from '../support/events.ts';
import { applyEach, testApplier } from '../support/ledger.ts';

let db: TestDatabase;
beforeEach(async () => {
  db = await createTestDatabase();
});
afterEach(() => db.drop());

const folder = join(packageRoot(), 'migrations');
const name =
  readdirSync(folder).find((file) => file.endsWith('_refunded-in-one-currency.sql')) ?? '';

const payment = (order: string, currency: string) =>
  eventBody(
    paymentObject({
      payment_id: `pay_${order}_${currency}`,
      amount: 500,
      amount_received: 500,
      currency,
      metadata: { order_id: order },
    }),
  );
const refund = (order: string, currency: string) =>
  eventBody(
    {
      refund_id: `ref_${order}_${currency}`,
      payment_id: `pay_${order}_${currency}`,
      amount: 500,
      currency,
      status: 'succeeded',
    },
    { contentType: 'refund_details' },
  );

test('an order that keeps money in another currency becomes partially refunded, and the shop learns it', async () => {
  await applyEach(db, testApplier(db), [
    payment('kept', 'USD'),
    payment('kept', 'EUR'),
    refund('kept', 'USD'),
    payment('all', 'USD'),
    payment('all', 'EUR'),
    refund('all', 'USD'),
    refund('all', 'EUR'),
  ]);
  const derived = `select order_id, status from orders order by order_id`;
  const expected = [
    { order_id: 'all', status: 'refunded' },
    { order_id: 'kept', status: 'partially_refunded' },
  ];
  expect(await db.query(derived)).toEqual(expected);
  // As the version before left it.
  await db.query(`update orders set status = 'refunded'`);
  await db.query('delete from change_log');

  await db.query(readFileSync(join(folder, name), 'utf8'));

  expect(await db.query(derived)).toEqual(expected);
  expect(
    await db.query('select kind, subject, change, status, previous_status from change_log'),
  ).toEqual([
    {
      kind: 'order',
      subject: 'order:kept',
      change: 'status',
      status: 'partially_refunded',
      previous_status: 'refunded',
    },
  ]);
  const report = await verifyLedger(db, { merchantId: MERCHANT_ID, rebuild: true });
  expect(report.checks.flatMap(({ offenders }) => offenders)).toEqual([]);
});

test('an order that an older worker called refunded after the migration is derived again when a part is observed unchanged', async () => {
  await applyEach(db, testApplier(db), [
    payment('kept', 'USD'),
    payment('kept', 'EUR'),
    refund('kept', 'USD'),
  ]);
  // As a worker of the version before derives it.
  await db.query(`update orders set status = 'refunded'`);
  await db.query('delete from change_log');

  await applyEach(db, testApplier(db), [payment('kept', 'EUR')]);

  expect(await db.query('select status from orders')).toEqual([{ status: 'partially_refunded' }]);
  expect(
    await db.query(`select status, previous_status from change_log where change = 'status'`),
  ).toEqual([{ status: 'partially_refunded', previous_status: 'refunded' }]);
});

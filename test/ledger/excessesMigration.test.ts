/** The migration to findings about disputed refunds, with data of the version before. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { verifyLedger } from '../../src/ledger/verify/verifyLedger.ts';
import { packageRoot } from '../../src/platform/packageRoot.ts';
import { readStoredAlerts } from '../support/alerts.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventBody, MERCHANT_ID, paymentObject, unique } from '../support/events.ts';
import { applyEach, readOpenFindings, testApplier } from '../support/ledger.ts';

let db: TestDatabase;
beforeEach(async () => {
  db = await createTestDatabase();
});
afterEach(() => db.drop());

const folder = join(packageRoot(), 'migrations');
const name = readdirSync(folder).find((file) => file.endsWith('_excesses-of-orders.sql')) ?? '';

const dispute = (id: string, payment_id: string) =>
  eventBody(
    {
      dispute_id: id,
      payment_id,
      amount: '500',
      currency: 'USD',
      dispute_stage: 'dispute',
      dispute_status: 'dispute_opened',
    },
    { contentType: 'dispute_details' },
  );
const refund = (id: string, payment_id: string, status: string) =>
  eventBody(
    { refund_id: id, payment_id, amount: 540, currency: 'USD', status },
    { contentType: 'refund_details' },
  );

test('an open alert about a disputed refund moves to its order and ends with the refund', async () => {
  const apply = (...bodies: readonly Buffer[]) => applyEach(db, testApplier(db), bodies);
  const orderId = unique('ord');
  const subject = `order:order:${orderId}`;
  const [paymentId, refundId] = [unique('pay'), unique('ref')];
  const disputes = [unique('dp'), unique('dp')];
  await apply(
    eventBody(paymentObject({ payment_id: paymentId, metadata: { order_id: orderId } })),
    refund(refundId, paymentId, 'pending'),
    ...disputes.map((id) => dispute(id, paymentId)),
  );
  const shown = await readOpenFindings(db, subject);
  // As the version before left it: an alert for each dispute and no finding.
  await db.query('delete from findings where subject = $1', [subject]);
  await db.query(`update orders set open_findings = '{}'`);
  for (const id of disputes) {
    await db.query(
      `insert into alerts (rule, subject, severity, sentence, next_step, detail)
       values ('dispute_and_refund', $1, 'critical', 's', 'n', '{}')`,
      [`dispute:${id}`],
    );
  }

  // The column's name at that version; a later migration renames it.
  await db.query('alter table alert_outbox rename column type to occasion');
  await db.query(readFileSync(join(folder, name), 'utf8'));
  await db.query('alter table alert_outbox rename column occasion to type');

  expect(await readOpenFindings(db, subject)).toEqual(shown);
  const report = await verifyLedger(db, { merchantId: MERCHANT_ID, rebuild: true });
  expect(report.checks.flatMap(({ offenders }) => offenders)).toEqual([]);
  const alerts = async () =>
    (await readStoredAlerts(db))
      .filter(({ rule }) => rule === 'dispute_and_refund')
      .map((alert) => [alert.subject, alert.state, ...alert.notifications]);
  expect(await alerts()).toEqual([
    [subject, 'open'],
    [`dispute:${disputes[1]}`, 'resolved', 'resolved'],
  ]);
  await apply(refund(refundId, paymentId, 'succeeded'));
  expect((await alerts())[0]).toEqual([subject, 'resolved', 'resolved']);
});

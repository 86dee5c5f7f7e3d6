/** Findings about orders: each opens once and closes when its cause is gone. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { acceptFinding } from '../../src/ledger/acceptFinding.ts';
import type { EventApplier } from '../../src/ledger/inbox/applyEvents.ts';
import { createOverdueCheck } from '../../src/ledger/overdue.ts';
import { createTestDatabase, silentLog, type TestDatabase } from '../support/database.ts';
import { eventBody, paymentObject, unique } from '../support/events.ts';
import { applyEach, readOpenFindings, readResourceStates, testApplier } from '../support/ledger.ts';

let db: TestDatabase;
let applier: EventApplier;

beforeAll(async () => {
  db = await createTestDatabase();
  applier = testApplier(db);
});
afterAll(() => db.drop());

const asRefund = { eventType: 'refund_succeeded', contentType: 'refund_details' };
const asDispute = { eventType: 'dispute_opened', contentType: 'dispute_details' };

interface Child {
  readonly id: string;
  readonly send: (fields: object, minute: number) => Promise<void>;
}

function child(paymentId: string, kind: 'refund' | 'dispute'): Child {
  const id = unique(kind);
  return {
    id,
    send: (fields, minute) => {
      const object = {
        [`${kind}_id`]: id,
        payment_id: paymentId,
        currency: 'USD',
        modified_at: `2026-11-02T10:${String(minute).padStart(2, '0')}:00.000Z`,
        ...fields,
      };
      return applyEach(db, applier, [eventBody(object, kind === 'refund' ? asRefund : asDispute)]);
    },
  };
}

async function paidOrder(): Promise<{ paymentId: string; subject: string; orderId: string }> {
  const orderId = unique('ord');
  const payment = paymentObject({ metadata: { order_id: orderId } });
  await applyEach(db, applier, [eventBody(payment)]);
  return { paymentId: payment.payment_id, orderId, subject: `order:order:${orderId}` };
}

const classes = async (subject: string) =>
  (await readOpenFindings(db, subject)).map((finding) => finding.class);

/** Accepts every open finding about an order. */
async function acceptFindings(subject: string): Promise<void> {
  const open = await db.query<{ id: number }>(
    `select id from findings where subject = $1 and state = 'open'`,
    [subject],
  );
  const acceptance = { by: 'ops', reason: 'both are intended' };
  for (const { id } of open) await db.transaction((tx) => acceptFinding(tx, id, acceptance));
  expect(await isAccepted(subject)).toBe(true);
}

async function isAccepted(subject: string): Promise<boolean> {
  const open = await db.query<{ accepted_by: string | null }>(
    `select accepted_by from findings where subject = $1 and state = 'open'`,
    [subject],
  );
  return open.every((finding) => finding.accepted_by !== null);
}

test('over-refund: refunds beyond the captured amount, until one of them fails', async () => {
  const { paymentId, subject } = await paidOrder();
  await child(paymentId, 'refund').send({ status: 'succeeded', amount: 6000 }, 1);
  expect(await classes(subject)).toEqual([]);
  const second = child(paymentId, 'refund');
  await second.send({ status: 'pending', amount: 6000 }, 2);
  expect(await classes(subject)).toEqual(['over_refund']);
  await second.send({ status: 'failed', amount: 6000 }, 3);
  expect(await classes(subject)).toEqual([]);
});

test('double loss: a refund and a dispute together beyond the captured amount, until it is won', async () => {
  const { paymentId, subject } = await paidOrder();
  await child(paymentId, 'refund').send({ status: 'succeeded', amount: 1000 }, 1);
  const dispute = child(paymentId, 'dispute');
  await dispute.send(
    { dispute_status: 'dispute_opened', dispute_stage: 'dispute', amount: '6540' },
    2,
  );
  expect(await classes(subject)).toEqual(['double_loss']);
  await dispute.send(
    { dispute_status: 'dispute_won', dispute_stage: 'dispute', amount: '6540' },
    3,
  );
  expect(await classes(subject)).toEqual([]);
});

test('a dispute beside a pending refund: of one payment, not of two payments of one order', async () => {
  const { paymentId, orderId, subject } = await paidOrder();
  const second = paymentObject({ status: 'partially_captured', metadata: { order_id: orderId } });
  await applyEach(db, applier, [eventBody(second)]);
  await child(second.payment_id, 'refund').send({ status: 'pending', amount: 100 }, 1);
  const dispute = child(paymentId, 'dispute');
  const opened = { dispute_status: 'dispute_opened', dispute_stage: 'dispute', amount: '100' };
  await dispute.send(opened, 2);
  expect(await classes(subject)).toEqual([]);
  const refund = child(paymentId, 'refund');
  await refund.send({ status: 'pending', amount: 100 }, 3);
  expect(await classes(subject)).toEqual(['dispute_and_refund']);
  await refund.send({ status: 'failed', amount: 100 }, 4);
  expect(await classes(subject)).toEqual([]);
});

test('a refund settles an inquiry, until the bank opens a dispute', async () => {
  const { paymentId, subject } = await paidOrder();
  await child(paymentId, 'refund').send({ status: 'pending', amount: 100 }, 1);
  const dispute = child(paymentId, 'dispute');
  const opened = { dispute_status: 'dispute_opened', amount: '100' };
  await dispute.send({ ...opened, dispute_stage: 'pre_dispute' }, 2);
  expect(await classes(subject)).toEqual([]);
  await dispute.send({ ...opened, dispute_stage: 'dispute' }, 3);
  expect(await classes(subject)).toEqual(['dispute_and_refund']);
});

test('over-refund in two currencies states both', async () => {
  const { paymentId, orderId, subject } = await paidOrder();
  const euro = paymentObject({ currency: 'EUR', metadata: { order_id: orderId } });
  await applyEach(db, applier, [eventBody(euro)]);
  await child(paymentId, 'refund').send({ status: 'pending', amount: 7000 }, 1);
  const ofEuro = { status: 'pending', amount: 6600, currency: 'EUR' };
  await child(euro.payment_id, 'refund').send(ofEuro, 2);
  const rows = await db.query(
    `select detail from findings where class = 'over_refund' and subject = $1`,
    [subject],
  );
  const others = [{ currency: 'USD', excessMinor: 460 }];
  expect(rows).toEqual([{ detail: { currency: 'EUR', excessMinor: 60, others } }]);
});

test('double paid: a second paid payment on one order, until it is voided', async () => {
  const { orderId, subject } = await paidOrder();
  const second = paymentObject({ metadata: { order_id: orderId } });
  await applyEach(db, applier, [eventBody(second)]);
  expect(await classes(subject)).toEqual(['double_paid']);
  const voided = {
    ...second,
    status: 'cancelled_post_capture',
    modified_at: '2026-11-02T10:00:00.000Z',
  };
  await applyEach(db, applier, [eventBody(voided)]);
  expect(await classes(subject)).toEqual([]);
});

test('double paid: until the refund of a whole payment succeeded, and again if that fails later', async () => {
  const { orderId, subject } = await paidOrder();
  const second = paymentObject({ metadata: { order_id: orderId } });
  await applyEach(db, applier, [eventBody(second)]);
  const refund = child(second.payment_id, 'refund');
  await refund.send({ status: 'pending', amount: 6540 }, 1);
  expect(await classes(subject)).toEqual(['double_paid']);
  await acceptFindings(subject);
  await refund.send({ status: 'succeeded', amount: 6540 }, 2);
  expect(await classes(subject)).toEqual([]);
  // What was accepted closed: the claim is made again, and must be judged again.
  await refund.send({ status: 'failed', amount: 6540 }, 3);
  expect(await classes(subject)).toEqual(['double_paid']);
  expect(await isAccepted(subject)).toBe(false);
});

test('double paid: not by a payment after the first was refunded', async () => {
  const { paymentId, orderId, subject } = await paidOrder();
  await child(paymentId, 'refund').send({ status: 'succeeded', amount: 6540 }, 1);
  await applyEach(db, applier, [eventBody(paymentObject({ metadata: { order_id: orderId } }))]);
  expect(await classes(subject)).toEqual([]);
});

test('double paid: what an earlier version left open closes with the next observation of a part', async () => {
  const { paymentId, orderId, subject } = await paidOrder();
  const refund = child(paymentId, 'refund');
  await refund.send({ status: 'succeeded', amount: 6540 }, 1);
  await applyEach(db, applier, [eventBody(paymentObject({ metadata: { order_id: orderId } }))]);
  await db.query(
    `insert into findings (class, subject, detail) values ('double_paid', $1, '{}')
     on conflict do nothing`,
    [subject],
  );
  await db.query(
    `update orders set open_findings = '{double_paid}' where 'order:' || order_key = $1`,
    [subject],
  );
  await refund.send({ status: 'succeeded', amount: 6540 }, 1);
  expect(await classes(subject)).toEqual([]);
});

test('a refund in another currency than its payment', async () => {
  const { paymentId, subject } = await paidOrder();
  const refund = child(paymentId, 'refund');
  await refund.send({ status: 'pending', amount: 10, currency: 'EUR' }, 1);
  expect(await classes(subject)).toEqual(['currency', 'over_refund']);
  await refund.send({ status: 'pending', amount: 10 }, 2);
  expect(await classes(subject)).toEqual([]);
});

test('over-capture: more captured than the amount of the payment', async () => {
  const payment = paymentObject({ amount_received: 7000 });
  await applyEach(db, applier, [eventBody(payment)]);
  expect(await classes(`payment:${payment.payment_id}`)).toEqual(['over_capture']);
});

test('two final bodies with one version and different amounts open a finding and make a retrieve due', async () => {
  const payment = paymentObject();
  await applyEach(db, applier, [
    eventBody(payment),
    eventBody({ ...payment, amount_received: 40 }),
  ]);
  expect(await classes(`payment:${payment.payment_id}`)).toEqual(['amount']);
  expect(await readResourceStates(db, [payment.payment_id])).toMatchObject([
    { is_check_wanted: true },
  ]);
  await applyEach(db, applier, [
    eventBody({ ...payment, modified_at: '2026-11-02T10:00:00.000Z' }),
  ]);
  expect(await classes(`payment:${payment.payment_id}`)).toEqual([]);
});

test('a finding moves with the parts of an order to the order that the payment names later', async () => {
  const payment = paymentObject({ metadata: {} });
  const [orderId, ownSubject] = [unique('ord'), `order:payment:${payment.payment_id}`];
  await applyEach(db, applier, [eventBody(payment)]);
  await child(payment.payment_id, 'refund').send({ status: 'pending', amount: 7000 }, 1);
  expect(await classes(ownSubject)).toEqual(['over_refund']);
  const named = {
    ...payment,
    metadata: { order_id: orderId },
    modified_at: '2026-11-02T10:00:00.000Z',
  };
  await applyEach(db, applier, [eventBody(named)]);
  expect(await classes(ownSubject)).toEqual([]);
  expect(await classes(`order:order:${orderId}`)).toEqual(['over_refund']);
});

test('a finding opens once and is updated in place', async () => {
  const { paymentId, subject } = await paidOrder();
  const refund = child(paymentId, 'refund');
  await refund.send({ status: 'pending', amount: 7000 }, 1);
  await refund.send({ status: 'succeeded', amount: 8000 }, 2);
  const rows = await db.query('select class, detail from findings where subject = $1', [subject]);
  expect(rows).toEqual([{ class: 'over_refund', detail: { currency: 'USD', excessMinor: 1460 } }]);
});

test('money in transit for too long opens one finding, until an observation shows that it arrived', async () => {
  const { paymentId } = await paidOrder();
  const refund = child(paymentId, 'refund');
  const created = '2026-11-02T10:00:00.000Z';
  await refund.send({ status: 'pending', amount: 10, created }, 1);
  const dayMs = 24 * 3_600_000;
  const checkAfter = (days: number) => {
    const clock = { nowMs: () => Date.parse(created) + days * dayMs };
    return createOverdueCheck({ db, clock, log: silentLog })();
  };
  await checkAfter(13);
  expect(await classes(`refund:${refund.id}`)).toEqual([]);
  await checkAfter(15);
  await checkAfter(16);
  expect(await classes(`refund:${refund.id}`)).toEqual(['overdue']);
  const details = await db.query(
    `select detail from findings where class = 'overdue' and subject = $1`,
    [`refund:${refund.id}`],
  );
  expect(details).toEqual([
    { detail: { account: 'refund.in_flight', termDays: 14, since: created } },
  ]);
  await refund.send({ status: 'pending', amount: 10, created }, 2);
  await refund.send({ status: 'review', amount: 10, created }, 3);
  expect(await classes(`refund:${refund.id}`)).toEqual(['overdue']);
  await refund.send({ status: 'succeeded', amount: 10, created }, 4);
  expect(await classes(`refund:${refund.id}`)).toEqual([]);
});

/** What the labels of an event (`event_type`, `content.type`) decide, and what they only confirm. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { EventApplier } from '../../src/ledger/inbox/applyEvents.ts';
import { verifyLedger } from '../../src/ledger/verify/verifyLedger.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import {
  type EventOptions,
  eventBody,
  MERCHANT_ID,
  paymentObject,
  unique,
} from '../support/events.ts';
import { readResourceStates, receive, testApplier } from '../support/ledger.ts';

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

/** Applies one event. @returns the classes of the findings about it */
async function apply(object: object, labels: EventOptions): Promise<readonly string[]> {
  const ids = await receive(db, [eventBody(object, labels)]);
  await applier.applyBatch(ids);
  const rows = await db.query<{ class: string }>(
    `select class from findings where subject = any ($1) and state = 'open' order by class`,
    [ids.map((id) => `event:${id}`)],
  );
  return rows.map((row) => row.class);
}

const postedFor = (id: string) =>
  db.query<object>('select leg, amount_minor from transfers where resource_id = $1', [id]);

const AS_REFUND = { eventType: 'refund_succeeded', contentType: 'refund_details' };

describe('a body with ids that no label supports', () => {
  test.each<[string, EventOptions]>([
    ['both labels name a refund', AS_REFUND],
    ['one names a refund, the other is unknown', { ...AS_REFUND, eventType: 'refund_teleported' }],
    ['they name a refund and a dispute', { ...AS_REFUND, eventType: 'dispute_won' }],
  ])('posts nothing, opens a finding and makes a retrieve due: %s', async (_what, labels) => {
    const refund = { payment_id: unique('pay'), amount: 100, currency: 'USD', status: 'succeeded' };
    expect(await apply(refund, labels)).toEqual(['label_conflict']);
    expect(await postedFor(refund.payment_id)).toEqual([]);
    expect(await readResourceStates(db, [refund.payment_id])).toMatchObject([
      { kind: 'payment', status: null, is_check_wanted: true },
    ]);
  });

  test('is applied with a finding when one label supports its ids', async () => {
    const payment = paymentObject();
    const labels = { eventType: 'refund_succeeded', contentType: 'payment_details' };
    expect(await apply(payment, labels)).toEqual(['link']);
    expect(await postedFor(payment.payment_id)).toMatchObject([{ leg: 'captured' }]);
  });
});

describe('a body with its id in the field `id`', () => {
  test.each<[string, object, EventOptions]>([
    ['refund', { payment_id: unique('pay'), status: 'succeeded' }, AS_REFUND],
    [
      'dispute',
      { payment_id: unique('pay'), dispute_status: 'dispute_opened', dispute_stage: 'dispute' },
      { eventType: 'dispute_opened', contentType: 'dispute_details' },
    ],
    [
      'payout',
      { status: 'success' },
      { eventType: 'payout_success', contentType: 'payout_details' },
    ],
    ['payment', { status: 'succeeded', amount_received: 100 }, {}],
  ])('is the %s that its labels name', async (kind, fields, labels) => {
    const id = unique('v2');
    expect(await apply({ id, amount: 100, currency: 'USD', ...fields }, labels)).toEqual([]);
    expect(await readResourceStates(db, [id])).toMatchObject([{ kind, id, posts: true }]);
  });

  test('is ignored when its labels are unknown', async () => {
    const labels = { eventType: 'refund_teleported', contentType: 'teleport_details' };
    const object = { id: unique('v2'), amount: 100, currency: 'USD', status: 'succeeded' };
    expect(await apply(object, labels)).toEqual(['event_ignored']);
  });

  test('posts nothing when it also has the id of another kind', async () => {
    const [id, dispute_id] = [unique('v2'), unique('dp')];
    const object = { id, dispute_id, amount: 100, currency: 'USD', status: 'succeeded' };
    expect(await apply(object, AS_REFUND)).toEqual(['label_conflict']);
    expect([...(await postedFor(id)), ...(await postedFor(dispute_id))]).toEqual([]);
  });
});

describe('an event of a family that moves no money', () => {
  test.each<[string, EventOptions]>([
    ['mandate_active', { eventType: 'mandate_active', contentType: 'mandate_details' }],
    ['mandate_revoked', { eventType: 'mandate_revoked', contentType: 'mandate_details' }],
    ['invoice_paid', { eventType: 'invoice_paid', contentType: 'subscription_details' }],
    ['a later one', { eventType: 'subscription_paused', contentType: 'subscription_details' }],
  ])('opens no finding and posts nothing: %s', async (_what, labels) => {
    const object = { mandate_id: unique('man'), payment_id: unique('pay'), status: 'active' };
    expect(await apply(object, labels)).toEqual([]);
    expect(await readResourceStates(db, [object.payment_id])).toEqual([]);
  });

  test('has a finding when its type is unknown', async () => {
    const labels = { eventType: 'loyalty_points_earned', contentType: 'loyalty_details' };
    expect(await apply({ loyalty_id: 'l_1' }, labels)).toEqual(['event_ignored']);
  });
});

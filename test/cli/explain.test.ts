/** `orders explain` and `find`, run as commands. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { resolveOrders } from '../../src/ledger/read/orders.ts';
import { readUnfiledRows } from '../../src/ledger/read/store/explain.ts';
import { findPayoutsByReference, findResources } from '../../src/ledger/read/store/lookup.ts';
import { readRowsOf } from '../../src/ledger/read/store/orders.ts';
import { findEvent } from '../../src/ledger/read/store/parts.ts';
import type { Queryable } from '../../src/platform/db/database.ts';
import { tallyhook } from '../support/cli.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventBody, paymentObject } from '../support/events.ts';
import { applyEach, testApplier } from '../support/ledger.ts';
import type { Exit } from '../support/program.ts';

let db: TestDatabase;
const run = (...args: readonly string[]): Promise<Exit> => tallyhook(db.url, ...args);

const asRefund = { eventType: 'refund_updated', contentType: 'refund_details' };
const asDispute = { eventType: 'dispute_opened', contentType: 'dispute_details' };
const asPayout = { eventType: 'payout_initiated', contentType: 'payout_details' };

beforeAll(async () => {
  db = await createTestDatabase();
  const payment = paymentObject({ payment_id: 'pay_1', metadata: { order_id: 'ord_1' } });
  const refund = { refund_id: 'ref_1', payment_id: 'pay_1', amount: 1000, currency: 'USD' };
  await applyEach(db, testApplier(db), [
    eventBody(
      { ...payment, status: 'processing', amount_received: 0, modified_at: '2026-11-01T09:59:30Z' },
      { eventId: 'evt_1', eventType: 'payment_processing' },
    ),
    eventBody({ ...payment, metadata: {} }, { eventId: 'evt_2' }),
    eventBody(
      { ...refund, status: 'succeeded', modified_at: '2026-11-02T10:00:00Z' },
      { eventId: 'evt_3', ...asRefund },
    ),
    eventBody(
      { ...refund, status: 'failed', modified_at: '2026-11-03T10:00:00Z' },
      { eventId: 'evt_4', ...asRefund },
    ),
    eventBody(
      {
        payment_id: 'pay_2',
        amount: 6540,
        currency: 'USD',
        status: 'failed',
        unified_code: 'UE_1018',
        metadata: { order_id: 'ord_1' },
      },
      { eventId: 'evt_5', eventType: 'payment_failed' },
    ),
    eventBody(
      {
        dispute_id: 'dp_1',
        payment_id: 'pay_9',
        amount: '500',
        currency: 'JPY',
        dispute_status: 'dispute_opened',
        dispute_stage: 'pre_dispute',
      },
      { eventId: 'evt_6', ...asDispute },
    ),
    eventBody(
      {
        payout_id: 'po_1',
        amount: 500,
        currency: 'KWD',
        status: 'initiated',
        merchant_order_reference_id: 'run 7',
      },
      { eventId: 'evt_7', ...asPayout },
    ),
    eventBody({ ...payment, payment_id: 'pay \u001b[31m', metadata: {} }, { eventId: 'evt_8' }),
  ]);
});
afterAll(() => db.drop());

describe('orders explain', () => {
  test("explains the order's status, the winning snapshots, uncertainties and transfers", async () => {
    const { code, stdout } = await run('orders', 'explain', 'ord_1');
    expect(code).toBe(0);
    for (const expected of [
      'Order ord_1 is paid.',
      'payment pay_1 succeeded makes the order paid. It has precedence over failed (payment pay_2 failed).',
      'refund ref_1 failed: only a successful refund changes the status.',
      'Winning snapshot: event evt_2 (inbox 2): succeeded, dated 2026-11-01 10:00:00 UTC by the service',
      "It won over one other by the service's own date. The next below it: event evt_1 (inbox 1): processing",
      'order_id ord_1 is from event evt_1 (inbox 1)',
      'captured 65.40 USD: The head carries it.',
      'Declined: UE_1018, This payment may have already been processed',
      'Advice: The card or its issuer declined. The first payment may have succeeded: check it before you retry or refund.',
      '10.00 USD  reversed: refunded to the customer',
      'to refund.in_flight (refunds requested and not yet settled or failed)',
      'from event evt_4 (inbox 4)',
    ]) {
      expect(stdout).toContain(expected);
    }
  });

  test('finds an order by any of its parts, and lists parts that were only mentioned', async () => {
    const byRefund = await run('orders', 'explain', 'ref_1');
    expect(byRefund.stdout).toContain('Order ord_1 is paid.');
    const { stdout } = await run('orders', 'explain', 'dp_1');
    expect(stdout).toContain('Order pay_9 is pending.');
    expect(stdout).toContain('payment pay_9: not seen yet');
    expect(stdout).toContain(
      'dispute dp_1 opened is at the stage pre_dispute: an inquiry by the bank',
    );
  });

  test('explains a payout by itself, because it belongs to no order', async () => {
    const { code, stdout } = await run('orders', 'explain', 'po_1');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^payout po_1: initiated, 0\.500 KWD\n/);
    expect(stdout).toContain('0.500 KWD  sent to the payee');
  });

  test('prints the same explanation as data with --json', async () => {
    const { stdout } = await run('orders', 'explain', 'pay_1', '--json');
    expect(JSON.parse(stdout)).toMatchObject({
      orders: [
        {
          order_id: 'ord_1',
          status: 'paid',
          discrepancies: [],
          currencies: [{ currency: 'USD', status: 'paid', decided_by: [{ id: 'pay_1' }] }],
          parts: [
            {
              id: 'pay_1',
              decision: { by: 'version', runner_up: { event_id: 'evt_1' } },
              discrepancies: [],
            },
            { id: 'pay_2', decline: { unified_code: 'UE_1018', retry: 'check_earlier_payment' } },
            { id: 'ref_1', transfers: [{}, {}, { is_reversal: true, event_id: 'evt_4' }, {}] },
          ],
        },
      ],
      resources: [],
    });
  });

  test('reports a stored order that does not match its parts', async () => {
    await db.query(`update orders set status = 'pending' where order_id = 'ord_1'`);
    const { stdout } = await run('orders', 'explain', 'ord_1');
    await db.query(`update orders set status = 'paid' where order_id = 'ord_1'`);
    expect(stdout).toContain(
      'DIFFERS FROM THE LEDGER: The stored status is pending, but its parts make it paid.',
    );
  });

  test('exits with 3 for an unknown id, and names the command to find it', async () => {
    const { code, stdout, stderr } = await run('orders', 'explain', 'nope');
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
    expect(stderr).toMatch(/is known as nope.*events list/);
  });
});

describe('find', () => {
  test.each([
    [
      'ord_1',
      /^order ord_1: paid, captured 65\.40 USD, .*\n {2}npx tallyhook orders explain ord_1\n$/,
    ],
    ['pay_1', /^payment pay_1: succeeded, 65\.40 USD, in order ord_1\n/],
    ['ref_1', /^refund ref_1: failed, 10\.00 USD, of payment pay_1, in order ord_1\n/],
    ['dp_1', /^dispute dp_1: opened at pre_dispute, 500 JPY, of payment pay_9, in order pay_9\n/],
    [
      'po_1',
      /^payout po_1: initiated, 0\.500 KWD, for run 7\n {2}npx tallyhook orders explain po_1\n/,
    ],
    ['run 7', /^payout po_1: /],
    [
      'evt_3',
      /^event evt_3: applied, refund_updated, received .*\n {2}npx tallyhook events show evt_3\n$/,
    ],
    ['3', /^event evt_3: .*inbox number 3/],
    ['order:ord_1', /^order ord_1: paid/],
  ])('%s', async (id, expected) => {
    const { code, stdout } = await run('find', id);
    expect(code).toBe(0);
    expect(stdout).toMatch(expected);
  });

  test('prints both meanings of an ambiguous id', async () => {
    const { stdout } = await run('find', 'pay_9', '--json');
    expect(JSON.parse(stdout)).toMatchObject({
      matches: [{ kind: 'order' }, { kind: 'payment' }],
    });
  });

  test('exits with 3 for an unknown id, with what was searched and where to look', async () => {
    const { code, stdout, stderr } = await run('find', 'PAY_1');
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
    expect(stderr).toMatch(/Nothing is known as PAY_1: .*case-sensitive.*events list/);
  });

  test('prints no control characters of external text', async () => {
    const { stderr } = await run('find', 'x\u001b[31m');
    expect(stderr).not.toContain('\u001b');
  });

  /** With sequential scans disabled, a plan shows which index a statement can use. */
  test.each<[string, readonly string[], (tx: Queryable) => Promise<unknown>]>([
    ['orders', ['orders_pkey'], (tx) => readRowsOf(tx, ['x'])],
    ['resources', ['resources_pkey'], (tx) => findResources(tx, 'x')],
    [
      'payouts by reference',
      ['resources_payout_reference'],
      (tx) => findPayoutsByReference(tx, 'x', { after: undefined, limit: 10 }),
    ],
    ['events', ['webhook_events_event_id', 'webhook_events_pkey'], (tx) => findEvent(tx, '12')],
    [
      'orders by their parts',
      ['orders_pkey', 'resources_pkey'],
      (tx) => resolveOrders(tx, { id: 'x' }),
    ],
    ['what has no order', ['resources_pkey'], (tx) => readUnfiledRows(tx, 'x')],
  ])('reads %s by their indexes', async (_name, indexes, read) => {
    const plans: string[] = [];
    await db.transaction(async (tx) => {
      await tx.query('set local enable_seqscan = off');
      await read({
        query: async (text, values) => {
          const lines = await tx.query<{ 'QUERY PLAN': string }>(`explain ${text}`, values);
          plans.push(...lines.map((line) => line['QUERY PLAN']));
          return [];
        },
      });
    });
    const plan = plans.join('\n');
    for (const index of indexes) expect(plan).toMatch(new RegExp(`(using|on) ${index} `));
    // Small or empty tables that are written constantly need no index.
    expect(plan).not.toMatch(/Seq Scan on (orders|resources|webhook_events|findings)/);
  });
});

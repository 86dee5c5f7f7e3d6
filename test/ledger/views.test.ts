/** The views for a shop's own SQL: what they show, and that docs/reference/sql-views.md matches them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { registerExpectation } from '../../src/ledger/registerExpectation.ts';
import { packageRoot } from '../../src/platform/packageRoot.ts';
import { ORDER_STATUSES, REGISTERED } from '../../src/webhooks/orderStatuses.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventBody, paymentObject, unique } from '../support/events.ts';
import { applyEach, testApplier } from '../support/ledger.ts';
import { disputeEvent, paymentEvent, refundEvent } from '../support/payments.ts';

let db: TestDatabase;

beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

const apply = (...bodies: readonly Buffer[]) => applyEach(db, testApplier(db), bodies);

const VIEWS = ['payments', 'refunds', 'disputes', 'payouts', 'order_balances', 'changes'];
const guide = readFileSync(join(packageRoot(), 'docs/reference/sql-views.md'), 'utf8');
const sections = new Map(
  guide
    .split(/^## /m)
    .slice(1)
    .map((section) => [section.slice(0, section.indexOf('\n')), section]),
);

describe('docs/reference/sql-views.md', () => {
  test.each(VIEWS)('describes exactly the columns of %s, in their order', async (view) => {
    const rows = await db.query<{ name: string }>(
      `select column_name as name from information_schema.columns
        where table_schema = 'public' and table_name = $1 order by ordinal_position`,
      [view],
    );
    const explained = [...(sections.get(view) ?? '').matchAll(/^\| `(\w+)` \|/gm)];
    expect(explained.map(([, name]) => name)).toEqual(rows.map(({ name }) => name));
  });

  test.each(VIEWS)('has an example for %s that runs', async (view) => {
    const examples = [...(sections.get(view) ?? '').matchAll(/```sql[^\n]*\n(.*?)```/gs)];
    expect(examples.length).toBeGreaterThan(0);
    for (const [, statement = ''] of examples) await db.query(statement);
  });
});

test.each(['payments', 'refunds', 'disputes', 'order_balances'])(
  '%s finds an order by its key without a table scan',
  async (view) => {
    const plan = await db.transaction(async (tx) => {
      // The planner scans a table of a few rows unless scans are disabled; large ones must not be scanned.
      await tx.query('set local enable_seqscan = off');
      return tx.query(`explain select * from ${view} where order_key = 'order:ord_1'`);
    });
    const text = JSON.stringify(plan);
    expect(text).toMatch(/Index/);
    expect(text).not.toMatch(/Seq Scan/);
    expect(text).toMatch(/order_key = 'order:ord_1'/);
  },
);

test('a role with rights on the views only can read them, and no table behind them', async () => {
  await db.query('create role shop_reader_test nologin');
  try {
    await db.query(`grant select on ${VIEWS.join(', ')} to shop_reader_test`);
    const asReader = (statement: string) =>
      db.transaction(async (tx) => {
        await tx.query('set local role shop_reader_test');
        await tx.query(statement);
      });
    for (const view of VIEWS) await asReader(`select * from ${view} limit 1`);
    for (const table of ['resources', 'orders', 'snapshots', 'webhook_events']) {
      await expect(asReader(`select * from ${table} limit 1`)).rejects.toThrow(/permission denied/);
    }
  } finally {
    await db.query('drop owned by shop_reader_test');
    await db.query('drop role shop_reader_test');
  }
});

test('docs/reference/sql-views.md names every status that an order can have', () => {
  const [row = ''] = /^\| `order_status` \|.*$/m.exec(sections.get('order_balances') ?? '') ?? [];
  const named = [...row.matchAll(/`(\w+)`/g)].map(([, name]) => name);
  expect(named).toEqual(['order_status', ...ORDER_STATUSES, REGISTERED]);
});

describe('the views show', () => {
  test('why a payment failed, and no failure that a later attempt overcame', async () => {
    const [failed, paid] = [unique('pay'), unique('pay')];
    const why = {
      status: 'failed',
      unified_code: 'UE_1001',
      unified_message: 'Insufficient funds',
    };
    await apply(
      paymentEvent({ payment_id: failed, amount_received: 0, ...why }),
      paymentEvent({ payment_id: paid, ...why }),
      paymentEvent({ payment_id: paid, modified_at: '2026-11-01T12:00:00.000Z' }),
    );
    const rows = await db.query(
      `select payment_id, status, unified_code, unified_message, captured_minor
         from payments where payment_id = any ($1) order by payment_id`,
      [[failed, paid]],
    );
    expect(rows).toEqual([
      {
        payment_id: failed,
        status: 'failed',
        unified_code: 'UE_1001',
        unified_message: 'Insufficient funds',
        captured_minor: 0,
      },
      {
        payment_id: paid,
        status: 'succeeded',
        unified_code: null,
        unified_message: null,
        captured_minor: 6540,
      },
    ]);
  });

  test('the order of refunds and disputes, and the reference of payouts', async () => {
    const [orderId, paymentId, payoutId] = [unique('ord'), unique('pay'), unique('po')];
    await apply(
      paymentEvent({ payment_id: paymentId, orderId }),
      refundEvent(paymentId),
      disputeEvent(paymentId),
      eventBody(
        {
          payout_id: payoutId,
          status: 'success',
          amount: 900,
          currency: 'KWD',
          merchant_order_reference_id: orderId,
        },
        { contentType: 'payout_details', eventType: 'payout_success' },
      ),
    );
    expect(
      await db.query('select payment_id, amount_minor from refunds where order_id = $1', [orderId]),
    ).toEqual([{ payment_id: paymentId, amount_minor: 1000 }]);
    expect(
      await db.query('select stage, status, amount_minor from disputes where order_id = $1', [
        orderId,
      ]),
    ).toEqual([{ stage: 'dispute', status: 'opened', amount_minor: 6540 }]);
    expect(
      await db.query('select payout_id, currency from payouts where reference = $1', [orderId]),
    ).toEqual([{ payout_id: payoutId, currency: 'KWD' }]);
  });

  test('the amount of an order beside the expected amount, registered orders included', async () => {
    const [paid, awaited, elsewhere] = [unique('ord'), unique('ord'), unique('ord')];
    const left = unique('ord');
    await apply(
      paymentEvent({ orderId: paid }),
      paymentEvent({ orderId: elsewhere, currency: 'EUR', amount_received: 5 }),
    );
    for (const orderId of [paid, awaited, elsewhere, left]) {
      for (const amountMinor of [1, 7000]) {
        await registerExpectation(db, {
          orderKey: `order:${orderId}`,
          orderId,
          currency: 'USD',
          amountMinor,
          registeredBy: 'shop',
        });
      }
    }
    const balances = (orderId: string) =>
      db.query(
        `select order_status, currency, captured_minor, expected_minor, difference_minor
           from order_balances where order_id = $1 order by currency`,
        [orderId],
      );
    const [usd, nothing] = [{ currency: 'USD', expected_minor: 7000 }, { captured_minor: 0 }];
    expect(await balances(paid)).toEqual([
      { ...usd, order_status: 'paid', captured_minor: 6540, difference_minor: -460 },
    ]);
    expect(await balances(awaited)).toEqual([
      { ...usd, ...nothing, order_status: 'registered', difference_minor: -7000 },
    ]);
    const payment = paymentObject({ metadata: { order_id: left } });
    await apply(
      eventBody(payment),
      eventBody({
        ...payment,
        metadata: { order_id: paid },
        modified_at: '2026-11-01T11:00:00.000Z',
      }),
    );
    expect(await balances(left)).toEqual([
      { ...usd, ...nothing, order_status: 'moved', difference_minor: -7000 },
    ]);
    expect(await balances(elsewhere)).toMatchObject([
      { currency: 'EUR', captured_minor: 5, expected_minor: null, difference_minor: null },
      { ...usd, ...nothing, difference_minor: -7000 },
    ]);
  });
});

/**
 * The property of test/unit/ledger/lifecycles.test.ts on real PostgreSQL: three workers that compete
 * for batches post the balances in which the lifecycles end. The failure it prevents: a worker posts
 * from a stale view of a resource that another worker has changed.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { deriveOrder, type OrderPart } from '../../src/ledger/domain/order.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventBody, unique } from '../support/events.ts';
import { receive, testApplier } from '../support/ledger.ts';
import { anyLifecycle, type Lifecycle, sumBalances, type Wire } from '../support/lifecycles.ts';

let db: TestDatabase;

beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

const AMOUNTS = [100, 1, 0, 6540];

/** Two orders, one of them with two payments, and children of each; and payouts. */
function anyLifecycles(): fc.Arbitrary<readonly Lifecycle[]> {
  const [pay1, pay2, pay3] = [unique('pay'), unique('pay'), unique('pay')];
  const [ord1, ord2] = [unique('ord'), unique('ord')];
  const amounts = AMOUNTS;
  return fc.tuple(
    anyLifecycle('payment', { id: pay1, orderId: ord1, amounts }),
    anyLifecycle('payment', { id: pay2, orderId: ord1, amounts }),
    anyLifecycle('payment', { id: pay3, orderId: ord2, amounts: [Number.MAX_SAFE_INTEGER] }),
    anyLifecycle('refund', { id: unique('ref'), paymentId: pay1, amounts }),
    anyLifecycle('refund', { id: unique('ref'), paymentId: pay2, amounts }),
    anyLifecycle('dispute', { id: unique('dp'), paymentId: pay1, amounts }),
    anyLifecycle('dispute', { id: unique('dp'), paymentId: pay3, amounts }),
    anyLifecycle('payout', { id: unique('po'), amounts }),
  );
}

const CONTENT_TYPES = {
  payment: 'payment_details',
  refund: 'refund_details',
  dispute: 'dispute_details',
  payout: 'payout_details',
};

/** Shuffled bodies of lifecycles, some of them twice under different event ids, and every final body. */
function bodiesOf(lifecycles: readonly Lifecycle[]): fc.Arbitrary<readonly Buffer[]> {
  const sent = lifecycles.flatMap((lifecycle) =>
    lifecycle.bodies.map((body) => ({ lifecycle, body })),
  );
  const finals = lifecycles.map((lifecycle) => ({ lifecycle, body: lifecycle.finalBody }));
  return fc
    .tuple(fc.subarray(sent), fc.subarray(sent))
    .chain(([received, again]) =>
      fc.shuffledSubarray([...received, ...again, ...finals], {
        minLength: received.length + again.length + finals.length,
      }),
    )
    .map((deliveries) =>
      deliveries.map(({ lifecycle: { kind }, body }: { lifecycle: Lifecycle; body: Wire }) =>
        eventBody(body, { contentType: CONTENT_TYPES[kind], eventType: `${kind}_updated` }),
      ),
    );
}

async function applyByThree(bodies: readonly Buffer[], sizes: readonly number[]): Promise<void> {
  const ids = await receive(db, bodies);
  const batches: (readonly number[])[] = [];
  for (let start = 0; start < ids.length; ) {
    const size = sizes[batches.length % sizes.length] ?? 1;
    batches.push(ids.slice(start, start + size));
    start += size;
  }
  await Promise.all(
    [1, 2, 3].map(async () => {
      const worker = testApplier(db);
      for (let batch = batches.shift(); batch; batch = batches.shift()) {
        const applied = await worker.applyBatch(batch);
        if (applied < batch.length) await worker.applyHeld(batch);
      }
    }),
  );
}

/** The journal's balances, as `account currency`, without those at zero. */
async function journalBalances(ids: readonly string[]): Promise<object> {
  const rows = await db.query<{ account: string; currency: string; balance: string }>(
    `select account, currency, sum(amount)::text as balance
       from (select debit as account, currency, amount_minor as amount
               from transfers where resource_id = any ($1)
              union all
             select credit, currency, -amount_minor from transfers where resource_id = any ($1)) p
      group by account, currency
     having sum(amount) <> 0
      order by account || ' ' || currency`,
    [ids],
  );
  return Object.fromEntries(
    rows.map(({ account, currency, balance }) => [`${account} ${currency}`, BigInt(balance)]),
  );
}

/** The statuses that orders must have, from the final bodies alone. */
function orderStatuses(lifecycles: readonly Lifecycle[]): Readonly<Record<string, string>> {
  const orderOf = new Map(
    lifecycles.flatMap(({ kind, id, finalBody }) =>
      kind === 'payment'
        ? [[id, (finalBody.metadata as { order_id: string }).order_id] as const]
        : [],
    ),
  );
  const parts = new Map<string, OrderPart[]>();
  for (const { kind, id, finalBody, captured: capturedMinor } of lifecycles) {
    const orderId = orderOf.get(kind === 'payment' ? id : String(finalBody.payment_id));
    if (orderId === undefined) continue;
    const held = Number(finalBody.amount_capturable ?? 0);
    const part: OrderPart = {
      kind,
      status: String(finalBody.dispute_status ?? finalBody.status).replace(/^dispute_/, ''),
      stage: finalBody.dispute_stage === undefined ? undefined : String(finalBody.dispute_stage),
      currency: String(finalBody.currency),
      amountMinor: Number(finalBody.amount),
      authorizedMinor: held + capturedMinor,
      capturedMinor,
    };
    parts.set(orderId, [...(parts.get(orderId) ?? []), part]);
  }
  return Object.fromEntries(
    [...parts].map(([orderId, own]) => [orderId, deriveOrder(own).status] as const).sort(),
  );
}

async function storedStatuses(orderIds: readonly string[]): Promise<object> {
  const rows = await db.query<{ orderId: string; status: string }>(
    `select order_id as "orderId", status from orders where order_id = any ($1) order by 1`,
    [orderIds],
  );
  return Object.fromEntries(rows.map(({ orderId, status }) => [orderId, status]));
}

test('three concurrent workers on random batches post the final balances of the lifecycles', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc
        .constant(undefined)
        .chain(anyLifecycles)
        .chain((lifecycles) => fc.tuple(fc.constant(lifecycles), bodiesOf(lifecycles))),
      fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 6 }),
      async ([lifecycles, bodies], sizes) => {
        await applyByThree(bodies, sizes);
        expect(await journalBalances(lifecycles.map(({ id }) => id))).toEqual(
          sumBalances(lifecycles),
        );
        const statuses = orderStatuses(lifecycles);
        expect(await storedStatuses(Object.keys(statuses))).toEqual(statuses);
        const waiting = await db.query('select webhook_event_id from pending limit 1');
        expect(waiting).toEqual([]);
      },
    ),
    // Ids are generated once for each run, so a shrunk run would meet its own rows in the database.
    { numRuns: 10, endOnFailure: true },
  );
});

/** A payout is in no order, so only the lock on its own row separates two workers. */
test('three concurrent workers on a few payouts post each step once', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc
        .constant(undefined)
        .chain(() =>
          fc.tuple(
            ...[1, 2, 3].map(() =>
              anyLifecycle('payout', { id: unique('po'), amounts: [100, 6540] }),
            ),
          ),
        )
        .chain((lifecycles) => fc.tuple(fc.constant(lifecycles), bodiesOf(lifecycles))),
      async ([lifecycles, bodies]) => {
        await applyByThree([...bodies, ...resent(bodies)], [1]);
        expect(await journalBalances(lifecycles.map(({ id }) => id))).toEqual(
          sumBalances(lifecycles),
        );
      },
    ),
    { numRuns: 10, endOnFailure: true },
  );
});

/** The same bodies under other event ids. */
function resent(bodies: readonly Buffer[]): readonly Buffer[] {
  return bodies.map((body) =>
    Buffer.from(JSON.stringify({ ...JSON.parse(body.toString()), event_id: unique('evt') })),
  );
}

/**
 * The proof of test/unit/ledger/lifecycles.test.ts on real PostgreSQL: what three workers post while
 * they race on batches is what the lives must end in. The failure it guards against: a worker that
 * posts from a view of a resource that another has changed meanwhile.
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
function anyBook(): fc.Arbitrary<readonly Lifecycle[]> {
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

/** Bodies of a book, shuffled, some sent again under another event id, and the truth among them. */
function bodiesOf(book: readonly Lifecycle[]): fc.Arbitrary<readonly Buffer[]> {
  const told = book.flatMap((life) => life.bodies.map((body) => ({ life, body })));
  const truths = book.map((life) => ({ life, body: life.finalBody }));
  return fc
    .tuple(fc.subarray(told), fc.subarray(told))
    .chain(([heard, again]) =>
      fc.shuffledSubarray([...heard, ...again, ...truths], {
        minLength: heard.length + again.length + truths.length,
      }),
    )
    .map((deliveries) =>
      deliveries.map(({ life: { kind }, body }: { life: Lifecycle; body: Wire }) =>
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
        await worker.applyBatch(batch);
      }
    }),
  );
}

/** The journal's balances, as `account currency`, without those at zero. */
async function journalBooks(ids: readonly string[]): Promise<object> {
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

/** Orders as they must be, from the truths alone. */
function orderStatuses(book: readonly Lifecycle[]): Readonly<Record<string, string>> {
  const orderOf = new Map(
    book.flatMap(({ kind, id, finalBody: truth }) =>
      kind === 'payment' ? [[id, (truth.metadata as { order_id: string }).order_id] as const] : [],
    ),
  );
  const parts = new Map<string, OrderPart[]>();
  for (const { kind, id, finalBody: truth, captured: capturedMinor } of book) {
    const orderId = orderOf.get(kind === 'payment' ? id : String(truth.payment_id));
    if (orderId === undefined) continue;
    const held = Number(truth.amount_capturable ?? 0);
    const part: OrderPart = {
      kind,
      status: String(truth.dispute_status ?? truth.status).replace(/^dispute_/, ''),
      stage: truth.dispute_stage === undefined ? undefined : String(truth.dispute_stage),
      currency: String(truth.currency),
      amountMinor: Number(truth.amount),
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

test('three workers racing on random batches post what the lives end in', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc
        .constant(undefined)
        .chain(anyBook)
        .chain((book) => fc.tuple(fc.constant(book), bodiesOf(book))),
      fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 6 }),
      async ([book, bodies], sizes) => {
        await applyByThree(bodies, sizes);
        expect(await journalBooks(book.map(({ id }) => id))).toEqual(sumBalances(book));
        const statuses = orderStatuses(book);
        expect(await storedStatuses(Object.keys(statuses))).toEqual(statuses);
        const waiting = await db.query('select webhook_event_id from pending limit 1');
        expect(waiting).toEqual([]);
      },
    ),
    // Ids are made anew for each book, so that a shrunk one would meet itself in the database.
    { numRuns: 25, endOnFailure: true },
  );
});

/** Nothing but the row of a payout itself keeps two workers apart: it is in no order. */
test('three workers racing on a few payouts post each step once', async () => {
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
        .chain((book) => fc.tuple(fc.constant(book), bodiesOf(book))),
      async ([book, bodies]) => {
        await applyByThree([...bodies, ...resent(bodies)], [1]);
        expect(await journalBooks(book.map(({ id }) => id))).toEqual(sumBalances(book));
      },
    ),
    { numRuns: 25, endOnFailure: true },
  );
});

/** The same bodies under other event ids. */
function resent(bodies: readonly Buffer[]): readonly Buffer[] {
  return bodies.map((body) =>
    Buffer.from(JSON.stringify({ ...JSON.parse(body.toString()), event_id: unique('evt') })),
  );
}

/**
 * Lists of orders and resources: every filter against the same filter over all rows, in pages, with more
 * rows than one statement searches, equal times, rows without a time of creation, and open findings.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type OrderQuery,
  readAllOrders,
  readOrderListTotals,
} from '../../src/ledger/read/orderList.ts';
import {
  type ResourceQuery,
  readAllResources,
  readResourceTotals,
} from '../../src/ledger/read/resourceList.ts';
import { MAX_SCANNED_ORDERS } from '../../src/ledger/read/store/orderList.ts';
import { MAX_SCANNED } from '../../src/ledger/read/store/resourceList.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { seededRandom, testSeed } from '../support/random.ts';

const seed = testSeed();
const random = seededRandom(seed);
const pick = <Item>(items: readonly [Item, ...Item[]]): Item =>
  items[Math.floor(random() * items.length)] ?? items[0];

let db: TestDatabase;

beforeAll(async () => {
  db = await createTestDatabase();
  await insertRows();
});
afterAll(() => db.drop());

const FIRST_MS = Date.parse('2026-03-01T00:00:00Z');
/** More than one statement searches. */
const PAYMENTS = MAX_SCANNED + 2_000;
const ORDERS = MAX_SCANNED_ORDERS + 1_000;

interface Row {
  readonly kind: 'payment' | 'refund' | 'dispute' | 'payout';
  readonly id: string;
  readonly order_key: string | null;
  readonly reference: string | null;
  readonly status: string | null;
  readonly currency: string | null;
  readonly amount_minor: number | null;
  readonly created_at: string | null;
  readonly first_seen_at: string;
  readonly open_findings: readonly string[];
  readonly uncertainties: readonly string[];
}

/** Seconds, so that many rows share a time. */
const secondsAfter = (seconds: number) => new Date(FIRST_MS + seconds * 1_000).toISOString();
const someTime = () => secondsAfter(Math.floor(random() * 5_000));

function someRow(kind: Row['kind'], n: number): Row {
  const isStub = random() < 0.01;
  const isRare = random() < 0.001;
  return {
    kind,
    id: `${kind}_${n}`,
    order_key: kind === 'payout' || random() < 0.1 ? null : `order:ord_${n % 500}`,
    reference: kind === 'payout' ? `ord_${n % 50}` : null,
    status: isStub ? null : isRare ? 'expired' : pick(['succeeded', 'failed', 'processing']),
    currency: isStub ? null : pick(['USD', 'EUR', 'JPY']),
    amount_minor: isStub ? null : Math.floor(random() * 10_000),
    created_at: isStub || random() < 0.02 ? null : someTime(),
    first_seen_at: someTime(),
    open_findings: random() < 0.003 ? ['over_refund'] : [],
    uncertainties: random() < 0.003 ? ['unknown_status'] : [],
  };
}

const atMs = (row: Row) => Date.parse(row.created_at ?? row.first_seen_at);
const newestFirst = (a: { ms: number; id: string }, b: { ms: number; id: string }) =>
  b.ms - a.ms || (a.id < b.id ? 1 : -1);

const payments = Array.from({ length: PAYMENTS }, (_, n) => someRow('payment', n));
/** The first one after those that one statement searches. */
const beyond = payments
  .filter((row) => row.created_at !== null)
  .map((row) => ({ ms: atMs(row), id: row.id }))
  .toSorted(newestFirst)[MAX_SCANNED];

const rows: readonly Row[] = [
  ...payments.map((row) => (row.id === beyond?.id ? { ...row, status: 'expired' } : row)),
  ...(['refund', 'dispute', 'payout'] as const).flatMap((kind) =>
    Array.from({ length: 300 }, (_, n) => someRow(kind, n)),
  ),
];

interface OrderOf {
  readonly order_key: string;
  readonly status: string;
  readonly first_seen_at: string;
  readonly open_findings: readonly string[];
  readonly totals: readonly { currency: string; captured: number; held: number }[];
}

const orders: readonly OrderOf[] = Array.from({ length: ORDERS }, (_, n) => ({
  order_key: `order:ord_${n}`,
  status: pick(['paid', 'paid', 'disputed', 'authorized', 'moved']),
  first_seen_at: someTime(),
  open_findings: random() < 0.002 ? ['over_refund'] : [],
  totals: (['USD', 'EUR'] as const)
    .filter(() => random() < 0.6)
    .map((currency) => ({
      currency,
      captured: Math.floor(random() * 10_000),
      held: Math.floor(random() * 3) * 1_000,
    })),
}));

async function insertRows(): Promise<void> {
  await db.query(
    `insert into resources (kind, id, order_key, reference, status, currency, amount_minor, created_at,
                            first_seen_at, open_findings, uncertainties)
     select kind, id, order_key, reference, status, currency, amount_minor, created_at, first_seen_at,
            open_findings, uncertainties
       from jsonb_to_recordset($1) as row (
         kind text, id text, order_key text, reference text, status text, currency text,
         amount_minor bigint, created_at timestamptz, first_seen_at timestamptz,
         open_findings text[], uncertainties text[])`,
    [JSON.stringify(rows)],
  );
  await db.query(
    `insert into orders (order_key, order_id, status, first_seen_at, open_findings)
     select order_key, substr(order_key, 7), status, first_seen_at, open_findings
       from jsonb_to_recordset($1) as row (
         order_key text, status text, first_seen_at timestamptz, open_findings text[])`,
    [JSON.stringify(orders)],
  );
  await db.query(
    `insert into order_totals (order_key, currency, status, authorized_minor, captured_minor,
                               refunded_minor, refund_pending_minor, disputed_minor, charged_back_minor)
     select order_key, total ->> 'currency', 'paid', (total ->> 'held')::bigint,
            (total ->> 'captured')::bigint, 0, 0, 0, 0
       from jsonb_to_recordset($1) as row (order_key text, totals jsonb)
      cross join jsonb_array_elements(totals) as total`,
    [JSON.stringify(orders)],
  );
  await db.query('analyze');
}

const inRange = (
  ms: number,
  {
    fromMicros = 0,
    toMicros = Number.MAX_SAFE_INTEGER,
  }: Pick<OrderQuery, 'fromMicros' | 'toMicros'>,
) => ms * 1_000 >= fromMicros && ms * 1_000 < toMicros;
const amountMatches = (
  amount: number,
  { minMinor = 0, maxMinor = 1e9 }: Pick<OrderQuery, 'minMinor' | 'maxMinor'>,
) => amount >= minMinor && amount <= maxMinor;

function matches(row: Row, query: ResourceQuery): boolean {
  const orderId = row.kind === 'payout' ? row.reference : row.order_key?.slice('order:'.length);
  const hasAmount = query.minMinor !== undefined || query.maxMinor !== undefined;
  return (
    row.kind === query.kind &&
    (query.status === undefined || row.status === query.status) &&
    (query.currency === undefined || row.currency === query.currency) &&
    (!hasAmount || (row.amount_minor !== null && amountMatches(row.amount_minor, query))) &&
    inRange(atMs(row), query) &&
    (!query.hasFinding || row.open_findings.length > 0) &&
    (!query.isUncertain || row.uncertainties.length > 0) &&
    (query.orderId === undefined || orderId === query.orderId)
  );
}

async function listed<R, T>(pages: AsyncIterable<readonly R[]>, idOf: (row: R) => T) {
  const ids: T[] = [];
  for await (const page of pages) ids.push(...page.map(idOf));
  return ids;
}

const micros = (seconds: number) => (FIRST_MS + seconds * 1_000) * 1_000;

const FILTERS: readonly (readonly [string, Omit<ResourceQuery, 'kind'>])[] = [
  ['everything', {}],
  ['a rare status', { status: 'expired' }],
  ['a status nothing has', { status: 'no_such' }],
  ['a currency and amounts', { currency: 'EUR', minMinor: 4_000, maxMinor: 4_200 }],
  ['a time range', { fromMicros: micros(1_000), toMicros: micros(1_100) }],
  ['open findings', { hasFinding: true }],
  ['uncertain', { isUncertain: true }],
  ['uncertain with a finding, failed', { isUncertain: true, hasFinding: true, status: 'failed' }],
  ['an order', { orderId: 'ord_7' }],
  ['an order, failed only', { orderId: 'ord_7', status: 'failed' }],
];

describe.each(['payment', 'refund', 'dispute', 'payout'] as const)(
  'the list of each %s',
  (kind) => {
    test.each(FILTERS)('has each match once, newest first: %s', async (_name, filter) => {
      const query = { ...filter, kind };
      const expected = rows
        .filter((row) => matches(row, query))
        .map((row) => ({ ms: atMs(row), id: row.id }))
        .toSorted(newestFirst);
      const found = await listed(readAllResources(db, query, { limit: 500 }), ({ id }) => id);
      expect(found).toEqual(expected.map(({ id }) => id));
    });

    test.each(FILTERS)('has the count and the sums of: %s', async (_name, filter) => {
      const query = { ...filter, kind };
      const totals = await readResourceTotals(db, query);
      const all = rows.filter((row) => matches(row, query));
      if (!totals.isComplete) {
        expect(kind).toBe('payment');
        expect(totals.count).toBeLessThanOrEqual(all.length);
        return;
      }
      expect(totals.count).toBe(all.length);
      for (const { currency, count, amountMinor } of totals.currencies) {
        const own = all.filter((row) => row.currency === currency);
        expect(count).toBe(own.length);
        const sum = own.reduce((minor, row) => minor + (row.amount_minor ?? 0), 0);
        expect(amountMinor).toBe(BigInt(sum));
      }
    });
  },
);

test('a count beyond the bound is marked as incomplete, and one within it is not', async () => {
  const all = await readResourceTotals(db, { kind: 'payment' });
  expect(all.isComplete).toBe(false);
  expect(all.count).toBeGreaterThanOrEqual(MAX_SCANNED);
  const few = await readResourceTotals(db, { kind: 'payout' });
  expect(few).toMatchObject({ isComplete: true, count: 300 });
});

test('pages of one row have every row once', async () => {
  const query = { kind: 'refund' } as const;
  const found = await listed(readAllResources(db, query, { limit: 1 }), ({ id }) => id);
  expect(found).toEqual(
    await listed(readAllResources(db, query, { limit: 1_000 }), ({ id }) => id),
  );
  expect(found.length).toBe(300);
});

const ORDER_FILTERS: readonly (readonly [string, OrderQuery])[] = [
  ['everything', {}],
  ['a status', { status: 'disputed' }],
  ['a time range', { fromMicros: micros(500), toMicros: micros(700) }],
  ['amounts', { minMinor: 4_000, maxMinor: 4_100 }],
  ['amounts in a currency', { currency: 'EUR', minMinor: 9_000 }],
  ['an amount that nothing has', { minMinor: 1_000_000 }],
  ['open findings', { hasFinding: true }],
  ['uncertain parts', { isUncertain: true }],
  ['uncertain parts, paid, EUR', { isUncertain: true, status: 'paid', currency: 'EUR' }],
];

const ordersWith = (flag: 'open_findings' | 'uncertainties') =>
  new Set(rows.filter((row) => row[flag].length > 0).map(({ order_key }) => order_key));
const [withFinding, uncertain] = [ordersWith('open_findings'), ordersWith('uncertainties')];

function orderMatches(order: OrderOf, query: OrderQuery): boolean {
  const isSearched = query.currency ?? query.minMinor ?? query.maxMinor;
  return (
    (query.status === undefined || order.status === query.status) &&
    inRange(Date.parse(order.first_seen_at), query) &&
    (isSearched === undefined ||
      order.totals.some(
        ({ currency, captured, held }) =>
          (query.currency === undefined || currency === query.currency) &&
          amountMatches(captured + held, query),
      )) &&
    (!query.hasFinding || order.open_findings.length > 0 || withFinding.has(order.order_key)) &&
    (!query.isUncertain || uncertain.has(order.order_key))
  );
}

describe(`the list of orders (seed ${seed})`, () => {
  test.each(ORDER_FILTERS)('has each match once, newest first: %s', async (_name, query) => {
    const expected = orders.filter((order) => orderMatches(order, query));
    const found = await listed(readAllOrders(db, query, { limit: 500 }), (order) => order);
    expect(found.map(({ orderKey }) => orderKey).toSorted()).toEqual(
      expected.map(({ order_key }) => order_key).toSorted(),
    );
    const times = found.map(({ firstSeenMicros }) => firstSeenMicros);
    expect(times).toEqual(times.toSorted((a, b) => b - a));
  });

  test.each(ORDER_FILTERS)('has the count and the sums of: %s', async (_name, query) => {
    const totals = await readOrderListTotals(db, query);
    const all = orders.filter((order) => orderMatches(order, query));
    if (!totals.isComplete) {
      expect(totals.count).toBeLessThanOrEqual(all.length);
      return;
    }
    expect(totals.count).toBe(all.length);
    for (const { currency, count } of totals.currencies) {
      const own = all.filter((order) => order.totals.some((one) => one.currency === currency));
      expect(count).toBeLessThanOrEqual(own.length);
    }
  });
});

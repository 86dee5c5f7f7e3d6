/**
 * Lists of transfers and balances: every filter against the same filter over all rows, with more rows than
 * one statement searches, sums beyond the exact integers, and balances as of many times.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AccountBalance } from '../../src/ledger/domain/balances.ts';
import { ACCOUNT_NAMES, LEGS, type Leg, legsOf } from '../../src/ledger/domain/legs.ts';
import { createBalanceReader } from '../../src/ledger/read/balances.ts';
import { MAX_SCANNED_TRANSFERS } from '../../src/ledger/read/store/transferList.ts';
import {
  readAllTransfers,
  readTransferPage,
  readTransferTotals,
  type TransferQuery,
} from '../../src/ledger/read/transferList.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { seededRandom, testSeed } from '../support/random.ts';

const seed = testSeed();
const random = seededRandom(seed);

let db: TestDatabase;
const rows: Row[] = [];

interface Row {
  readonly n: number;
  readonly kind: 'payment' | 'refund' | 'dispute';
  readonly id: string;
  readonly payment: string;
  readonly order: string;
  readonly leg: string;
  readonly debit: string;
  readonly credit: string;
  readonly currency: string;
  readonly amount: number;
  readonly atMicros: number;
}

const FIRST_MICROS = Date.parse('2026-03-01T21:30:00Z') * 1_000;
const MINUTE_MICROS = 60_000_000;
const PAYMENTS = MAX_SCANNED_TRANSFERS + 1_500;

function legOf(kind: Row['kind'], leg: string): Leg {
  const legs: Readonly<Record<string, Leg>> = LEGS[kind];
  const found = legs[leg];
  if (!found) throw new Error(`${kind} has no leg ${leg}`);
  return found;
}

function add(kind: Row['kind'], leg: string, payment: number): void {
  const n = rows.length + 1;
  const isHuge = payment % 3_000 === 7;
  rows.push({
    n,
    kind,
    id: `${kind}_${payment}`,
    payment: `payment_${payment}`,
    order: `ord_${payment % 2_000}`,
    leg,
    ...legOf(kind, leg),
    currency: isHuge ? 'KRW' : random() < 0.1 ? 'JPY' : 'USD',
    amount: isHuge ? Number.MAX_SAFE_INTEGER : 1 + Math.floor(random() * 5_000),
    atMicros: FIRST_MICROS + n * 17 * MINUTE_MICROS,
  });
}

beforeAll(async () => {
  db = await createTestDatabase();
  for (let payment = 1; payment <= PAYMENTS; payment += 1) {
    add('payment', 'captured', payment);
    if (payment % 20 === 0) add('refund', 'requested', payment);
    if (payment % 40 === 0) add('refund', 'settled', payment);
    if (payment % 700 === 0) add('dispute', 'held', payment);
  }
  await insert(rows);
});
afterAll(() => db.drop());

async function insert(all: readonly Row[]): Promise<void> {
  await db.query(
    `insert into resources (kind, id, payment_id, order_key)
     select distinct kind, id, case when kind <> 'payment' then payment end, 'order:' || "order"
       from jsonb_to_recordset($1::jsonb) as u (kind text, id text, payment text, "order" text)`,
    [JSON.stringify(all)],
  );
  await db.query(
    `insert into transfers (kind, resource_id, leg, currency, leg_seq, debit, credit, amount_minor,
                            previous_minor, cumulative_minor, head_hash, recorded_at,
                            effective_at, effective_source)
     select kind, id, leg, currency, 1, debit, credit, amount, 0, amount, sha256('x'),
            to_timestamp("atMicros" / 1000000.0), to_timestamp("atMicros" / 1000000.0), 'v'
       from jsonb_to_recordset($1::jsonb)
            as u (n int, kind text, id text, leg text, currency text, debit text, credit text,
                  amount bigint, "atMicros" bigint)
      order by n`,
    [JSON.stringify(all)],
  );
  await db.query('analyze transfers');
}

function matches(row: Row, query: TransferQuery): boolean {
  const { account, currency, minMinor = 0, maxMinor = Number.MAX_SAFE_INTEGER } = query;
  const { fromMicros = 0, toMicros = Number.MAX_SAFE_INTEGER, orderId, resourceId } = query;
  return (
    (account === undefined || row.debit === account || row.credit === account) &&
    (currency === undefined || row.currency === currency) &&
    row.amount >= minMinor &&
    row.amount <= maxMinor &&
    row.atMicros >= fromMicros &&
    row.atMicros < toMicros &&
    (orderId === undefined || row.order === orderId) &&
    (resourceId === undefined || row.id === resourceId || row.payment === resourceId)
  );
}

const MIDDLE_MICROS = FIRST_MICROS + 1_000 * 17 * MINUTE_MICROS;
const DAY_MICROS = 24 * 60 * MINUTE_MICROS;

const FILTERS: readonly (readonly [string, TransferQuery])[] = [
  ['nothing', {}],
  ['a currency', { currency: 'JPY' }],
  ['an amount', { minMinor: 4_990, maxMinor: 5_000 }],
  ['an amount that no row has', { minMinor: 6_000, maxMinor: 7_000 }],
  ['a time', { fromMicros: MIDDLE_MICROS, toMicros: MIDDLE_MICROS + 3 * DAY_MICROS }],
  ['a time from on', { fromMicros: MIDDLE_MICROS }],
  ['a time up to', { toMicros: MIDDLE_MICROS }],
  ['a time before the first', { toMicros: FIRST_MICROS }],
  ['a time after the last', { fromMicros: FIRST_MICROS + 10_000 * DAY_MICROS }],
  ['an order', { orderId: 'ord_700' }],
  ['an order with a currency', { orderId: 'ord_700', currency: 'USD' }],
  ['a payment', { resourceId: 'payment_1400' }],
  ['a refund', { resourceId: 'refund_1400' }],
  ['an order and an account', { orderId: 'ord_700', account: 'order.refunds' }],
  ['an account and a time', { account: 'refund.in_flight', toMicros: MIDDLE_MICROS }],
  ['an account and a currency', { account: 'refund.in_flight', currency: 'JPY' }],
  ...ACCOUNT_NAMES.map((account) => [`the account ${account}`, { account }] as const),
];

describe(`the list of transfers (seed ${seed})`, () => {
  test.each(FILTERS)('has each match once, newest first: %s', async (_name, query) => {
    const expected = rows.filter((row) => matches(row, query)).map(({ n }) => n);
    const found: number[] = [];
    let after: number | undefined;
    do {
      const page = await readTransferPage(db, query, { after, limit: 400 });
      found.push(...page.rows.map(({ id }) => id));
      after = page.next;
    } while (after !== undefined);
    expect(found).toEqual(expected.toReversed());
  });

  test.each(FILTERS)('has each match once, oldest first: %s', async (_name, query) => {
    const expected = rows.filter((row) => matches(row, query)).map(({ n }) => n);
    const found: number[] = [];
    for await (const page of readAllTransfers(db, query, 1_000)) {
      found.push(...page.map(({ id }) => id));
    }
    expect(found).toEqual(expected);
  });

  test.each(FILTERS)('has the count and the sums of: %s', async (_name, query) => {
    const totals = await readTransferTotals(db, query);
    const all = rows.filter((row) => matches(row, query));
    if (!totals.isComplete) {
      expect(totals.count).toBeLessThanOrEqual(all.length);
      return;
    }
    expect(totals.count).toBe(all.length);
    for (const { currency, amountMinor, matches: count } of totals.currencies) {
      const own = all.filter((row) => row.currency === currency);
      expect(count).toBe(own.length);
      expect(amountMinor).toBe(own.reduce((sum, { amount }) => sum + BigInt(amount), 0n));
    }
  });

  test('has its order and its resource', async () => {
    const { rows: found } = await readTransferPage(
      db,
      { resourceId: 'refund_1400' },
      { after: undefined, limit: 1 },
    );
    expect(found[0]).toMatchObject({ orderKey: 'order:ord_1400', resourceId: 'refund_1400' });
  });

  test('an account has the legs that move money to or from it', () => {
    expect(legsOf('loss.disputes')).toEqual(['written_off']);
    expect(legsOf('order.due')).toEqual(['captured', 'capture_voided']);
  });
});

function summed(before: number): Map<string, bigint> {
  const sums = new Map<string, bigint>();
  const post = (account: string, currency: string, amount: bigint) => {
    const key = `${account} ${currency}`;
    sums.set(key, (sums.get(key) ?? 0n) + amount);
  };
  for (const { debit, credit, currency, amount, atMicros } of rows) {
    if (atMicros >= before) continue;
    post(debit, currency, BigInt(amount));
    post(credit, currency, -BigInt(amount));
  }
  return sums;
}

function keyed(balances: readonly AccountBalance[]): Map<string, bigint> {
  return new Map(
    balances.map(({ account, currency, balanceMinor }) => [`${account} ${currency}`, balanceMinor]),
  );
}

describe(`balances (seed ${seed})`, () => {
  const TIMES = [
    FIRST_MICROS,
    FIRST_MICROS + DAY_MICROS,
    MIDDLE_MICROS,
    MIDDLE_MICROS - (MIDDLE_MICROS % DAY_MICROS),
    MIDDLE_MICROS + 40 * DAY_MICROS,
  ];

  test.each(TIMES)('are the sums of what was recorded before %d', async (before) => {
    const reader = createBalanceReader(db);
    expect(keyed(await reader.read({ knownMicros: before }))).toEqual(summed(before));
    // Again, from the days that were added up.
    expect(keyed(await reader.read({ knownMicros: before }))).toEqual(summed(before));
  });

  test('have what was recorded since they were first read', async () => {
    const reader = createBalanceReader(db);
    const whole = Number.MAX_SAFE_INTEGER;
    expect(keyed(await reader.read())).toEqual(summed(whole));
    const [time] = await db.query<{ micros: number }>(
      `select (extract(epoch from statement_timestamp()) * 1000000)::bigint as micros`,
    );
    const held = rows.filter(({ kind }) => kind === 'dispute').length;
    add('dispute', 'held', (held + 1) * 1_000_000 + 1);
    const { length } = rows;
    const last = rows.at(-1);
    if (!last || !time) throw new Error('there are rows and a time');
    rows[length - 1] = { ...last, atMicros: time.micros - MINUTE_MICROS };
    await insert(rows.slice(-1));
    expect(keyed(await reader.read())).toEqual(summed(whole));
    expect(keyed(await createBalanceReader(db).read())).toEqual(summed(whole));
    expect(keyed(await reader.read({ knownMicros: time.micros - 2 * MINUTE_MICROS }))).toEqual(
      summed(time.micros - 2 * MINUTE_MICROS),
    );
  });

  test('exceed the exact integers without an error', async () => {
    const balances = await createBalanceReader(db).read();
    const clearing = balances.find(
      ({ account, currency }) => account === 'psp.clearing' && currency === 'KRW',
    );
    expect(clearing?.balanceMinor).toBeGreaterThan(BigInt(Number.MAX_SAFE_INTEGER));
  });
});

/**
 * Lists of transfers and balances: every filter, by either time, against the same filter and order over all
 * rows, with more rows than one statement searches, many of one effective time, sums beyond the exact integers, and balances as of many times.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AccountBalance } from '../../src/ledger/domain/balances.ts';
import type { TimeBasis } from '../../src/ledger/domain/effectiveTimes.ts';
import { ACCOUNT_NAMES, LEGS, type Leg, legsOf } from '../../src/ledger/domain/legs.ts';
import { createBalanceReader } from '../../src/ledger/read/balances.ts';
import { MAX_SCANNED_TRANSFERS } from '../../src/ledger/read/store/transferList.ts';
import {
  readAllTransfers,
  readTransferPage,
  readTransferTotals,
  type TransferPlace,
  type TransferQuery,
} from '../../src/ledger/read/transferList.ts';
import type { Queryable } from '../../src/platform/db/database.ts';
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
  readonly effectiveMicros: number;
}

const FIRST_MICROS = Date.parse('2026-03-01T21:30:00Z') * 1_000;
const MINUTE_MICROS = 60_000_000;
const DAY_MICROS = 24 * 60 * MINUTE_MICROS;
const SHARED_MICROS = FIRST_MICROS + 3 * DAY_MICROS;
const PAYMENTS = MAX_SCANNED_TRANSFERS + 1_500;

function legOf(kind: Row['kind'], leg: string): Leg {
  const legs: Readonly<Record<string, Leg>> = LEGS[kind];
  const found = legs[leg];
  if (!found) throw new Error(`${kind} has no leg ${leg}`);
  return found;
}

function add(kind: Row['kind'], leg: string, payment: number): void {
  const n = rows.length + 1;
  const atMicros = FIRST_MICROS + n * 17 * MINUTE_MICROS;
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
    atMicros,
    effectiveMicros: effectiveOf(atMicros),
  });
}

/** Some are late by up to ten days, and many have the time of a day on which files of a bank were read. */
function effectiveOf(atMicros: number): number {
  const draw = random();
  if (draw < 0.25) return SHARED_MICROS;
  return draw < 0.5 ? atMicros - Math.floor(random() * 10 * DAY_MICROS) : atMicros;
}

beforeAll(async () => {
  db = await createTestDatabase();
  for (let payment = 1; payment <= PAYMENTS; payment += 1) {
    add('payment', 'auth_opened', payment);
    if (payment % 10 === 0) add('payment', 'auth_consumed', payment);
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
            to_timestamp("atMicros" / 1000000.0),
            timestamptz 'epoch' + "effectiveMicros" * interval '1 microsecond', 'v'
       from jsonb_to_recordset($1::jsonb)
            as u (n int, kind text, id text, leg text, currency text, debit text, credit text,
                  amount bigint, "atMicros" bigint, "effectiveMicros" bigint)
      order by n`,
    [JSON.stringify(all)],
  );
  await db.query('analyze transfers');
}

type Filter = Omit<TransferQuery, 'basis'>;

function timeOf({ atMicros, effectiveMicros }: Row, basis: TimeBasis): number {
  return basis === 'effective' ? effectiveMicros : atMicros;
}

/** The numbers of the matches, oldest first. Rows are in the order of their numbers, which sorting keeps. */
function expected(query: TransferQuery): readonly number[] {
  return rows
    .filter((row) => matches(row, query))
    .toSorted((a, b) => timeOf(a, query.basis) - timeOf(b, query.basis))
    .map(({ n }) => n);
}

function matches(row: Row, query: TransferQuery): boolean {
  const micros = timeOf(row, query.basis);
  const { account, currency, minMinor = 0, maxMinor = Number.MAX_SAFE_INTEGER } = query;
  const { fromMicros = 0, toMicros = Number.MAX_SAFE_INTEGER, orderId, resourceId } = query;
  return (
    (account === undefined || row.debit === account || row.credit === account) &&
    (currency === undefined || row.currency === currency) &&
    row.amount >= minMinor &&
    row.amount <= maxMinor &&
    micros >= fromMicros &&
    micros < toMicros &&
    (orderId === undefined || row.order === orderId) &&
    (resourceId === undefined || row.id === resourceId || row.payment === resourceId)
  );
}

const MIDDLE_MICROS = FIRST_MICROS + 1_000 * 17 * MINUTE_MICROS;

const FILTERS: readonly (readonly [string, Filter])[] = [
  ['nothing', {}],
  ['a currency', { currency: 'JPY' }],
  ['an amount', { minMinor: 4_990, maxMinor: 5_000 }],
  ['an amount that no row has', { minMinor: 6_000, maxMinor: 7_000 }],
  ['a time', { fromMicros: MIDDLE_MICROS, toMicros: MIDDLE_MICROS + 3 * DAY_MICROS }],
  ['a time from on', { fromMicros: MIDDLE_MICROS }],
  ['a time up to', { toMicros: MIDDLE_MICROS }],
  ['a time before the first', { toMicros: FIRST_MICROS }],
  ['a time after the last', { fromMicros: FIRST_MICROS + 10_000 * DAY_MICROS }],
  ['a time that many have', { fromMicros: SHARED_MICROS, toMicros: SHARED_MICROS + 1 }],
  ['an order', { orderId: 'ord_700' }],
  ['an order with a currency', { orderId: 'ord_700', currency: 'USD' }],
  ['a payment', { resourceId: 'payment_1400' }],
  ['a refund', { resourceId: 'refund_1400' }],
  ['an order and an account', { orderId: 'ord_700', account: 'order.refunds' }],
  ['an account and a time', { account: 'refund.in_flight', toMicros: MIDDLE_MICROS }],
  ['an account and a currency', { account: 'refund.in_flight', currency: 'JPY' }],
  ['an account that is searched', { account: 'memo.auth_open', currency: 'JPY' }],
  [
    'an account that is searched in vain',
    { account: 'memo.auth_open', minMinor: 6_000, maxMinor: 7_000 },
  ],
  ...ACCOUNT_NAMES.map((account) => [`the account ${account}`, { account }] as const),
];

/** The index of each order: of all transfers, and of those of a leg. */
const INDEXES = {
  effective: { all: 'transfers_effective_order', legs: 'transfers_leg_effective' },
  recorded: { all: 'transfers_pkey', legs: 'transfers_leg' },
} as const;

describe.each(['effective', 'recorded'] as const)('by %s time', (basis) => {
  describe(`the list of transfers (seed ${seed})`, () => {
    test.each(FILTERS)('has each match once, newest first: %s', async (_name, filter) => {
      const query = { ...filter, basis };
      const found: number[] = [];
      let after: TransferPlace | undefined;
      do {
        const page = await readTransferPage(db, query, { after, limit: 1_000 });
        found.push(...page.rows.map(({ id }) => id));
        after = page.next;
      } while (after !== undefined);
      expect(found).toEqual(expected(query).toReversed());
    });

    test.each(FILTERS)('has each match once, oldest first: %s', async (_name, filter) => {
      const query = { ...filter, basis };
      const found: number[] = [];
      for await (const page of readAllTransfers(db, query, 1_000)) {
        found.push(...page.map(({ id }) => id));
      }
      expect(found).toEqual(expected(query));
    });

    test.each(FILTERS)('has the count and the sums of: %s', async (_name, filter) => {
      const query = { ...filter, basis };
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

    test('has the sums of the newest that are searched, if there are more', async () => {
      const account = 'memo.auth_open';
      const numbers = expected({ basis, account }).toReversed().slice(0, MAX_SCANNED_TRANSFERS);
      const searched = new Set(numbers);
      const newest = rows.filter(({ n, currency }) => searched.has(n) && currency === 'JPY');
      const totals = await readTransferTotals(db, { basis, account, currency: 'JPY' });
      expect(totals.isComplete).toBe(false);
      expect(totals.count).toBe(newest.length);
      expect(totals.currencies[0]?.amountMinor).toBe(
        newest.reduce((sum, { amount }) => sum + BigInt(amount), 0n),
      );
    });

    test.each<readonly [string, Filter]>([
      [INDEXES[basis].all, { fromMicros: SHARED_MICROS }],
      [INDEXES[basis].legs, { account: 'order.refunds' }],
    ])('is read from the index %s', async (index, filter) => {
      const plans: string[] = [];
      await db.transaction(async (tx) => {
        // Tables of a few thousand rows are scanned otherwise.
        await tx.query('set local enable_seqscan = off; set local enable_bitmapscan = off');
        const explained: Queryable = {
          query: async (text, values) => {
            const lines = await tx.query<{ 'QUERY PLAN': string }>(`explain ${text}`, values);
            plans.push(...lines.map((line) => line['QUERY PLAN']));
            return await tx.query(text, values);
          },
        };
        for await (const _page of readAllTransfers(explained, { ...filter, basis }, 500)) {
          // Each page has a plan of its own.
        }
      });
      const scans = plans.filter((line) => / on transfers t(_\d+)? /.test(line));
      expect(scans.length).toBeGreaterThan(0);
      for (const scan of scans) expect(scan).toContain(`Index Scan using ${index} on`);
    });
  });
});

describe('a transfer of the list', () => {
  test('has its order and its resource', async () => {
    const { rows: found } = await readTransferPage(
      db,
      { basis: 'effective', resourceId: 'refund_1400' },
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
    const atMicros = time.micros - MINUTE_MICROS;
    rows[length - 1] = { ...last, atMicros, effectiveMicros: atMicros };
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

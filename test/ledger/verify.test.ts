/**
 * `tallyhook verify`: the ledger of a simulated shop passes, each kind of damage fails its check and
 * names the offender, and no concurrent work is reported as damage. Damage needs disabled triggers,
 * which only the owner can do.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { applySnapshots } from '../../src/ledger/applySnapshots.ts';
import { appendNext } from '../../src/ledger/chain/publishChain.ts';
import { contentHash } from '../../src/ledger/contentHash.ts';
import { CHECKS, REBUILD_CHECKS } from '../../src/ledger/domain/checks.ts';
import { readEvent } from '../../src/ledger/domain/event.ts';
import {
  inHashOrder,
  type Observation,
  readTextWithoutCardNumbers,
  type SnapshotContent,
} from '../../src/ledger/domain/snapshot.ts';
import { fenceJournal } from '../../src/ledger/fenceJournal.ts';
import { checkRange } from '../../src/ledger/verify/checkRange.ts';
import { proveLedger } from '../../src/ledger/verify/proveLedger.ts';
import { readEvents } from '../../src/ledger/verify/storedEvents.ts';
import { type VerifyReport, verifyLedger } from '../../src/ledger/verify/verifyLedger.ts';
import type { Database, Queryable } from '../../src/platform/db/database.ts';
import type { verificationJson } from '../../src/representation/verification.ts';
import { closePeriod } from '../../src/statements/closePeriod.ts';
import { runTallyhook } from '../support/cli.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventBody, MERCHANT_ID, paymentObject, unique } from '../support/events.ts';
import { importLines } from '../support/importLines.ts';
import { applyEach, receive, testApplier } from '../support/ledger.ts';
import { observe, SECOND, T0 } from '../support/observations.ts';
import { shopEvents } from '../support/shop.ts';
import { sumEverything } from '../support/sums.ts';
import { tamperWith } from '../support/tamper.ts';

/** Every failure names it; set it to repeat one. */
const SEED = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
const seeded = `SEED=${SEED}`;

const CHECKED = Object.keys(CHECKS).length;
const REBUILT = Object.keys(REBUILD_CHECKS).length;

const BATCH = 50;

async function applyAll(db: Database, ids: readonly number[]): Promise<void> {
  const applier = testApplier(db);
  for (let start = 0; start < ids.length; start += BATCH) {
    await applier.applyBatch(ids.slice(start, start + BATCH));
  }
}

async function fill(db: Database, { orders = 40, seed = SEED } = {}): Promise<void> {
  await applyAll(db, await receive(db, shopEvents({ seed, orders })));
}

/** Applies observations that no webhook reported. */
async function applyObservations(
  db: Database,
  observations: readonly Observation[],
): Promise<void> {
  for (const one of observations) {
    await db.transaction((tx) =>
      applySnapshots(tx, {
        observations: [one],
        toRetrieve: [],
        alsoLock: [],
        nowMs: Date.now(),
        history: undefined,
      }),
    );
  }
}

/** A month with a payment, which is closed. */
async function closeOldMonth(db: Database): Promise<void> {
  const old = { created: '2024-03-01T10:00:00.000Z', modified_at: '2024-03-01T10:00:00.000Z' };
  await applyAll(db, await receive(db, [eventBody(paymentObject(old))]));
  const request = { month: '2024-03', timeZone: 'UTC', withExceptions: true, reason: undefined };
  const { outcome } = await db.transaction((tx) => closePeriod(tx, { ...request, by: 'ada' }));
  expect(outcome).toBe('closed');
}

interface Options {
  readonly rebuild?: boolean;
  readonly chunkSize?: number;
}

/** Without options, in ranges, as `verify --full` does; otherwise on one connection, as `--rebuild` does. */
async function verify(db: Database, options?: Options): Promise<VerifyReport> {
  if (options) return verifyLedger(db, { merchantId: MERCHANT_ID, rebuild: false, ...options });
  const result = await proveLedger(db, {
    merchantId: MERCHANT_ID,
    mode: 'full',
    fullDays: 30,
    rangeRows: 40,
    openCheckers: () => [(task) => checkRange(db, task)],
  });
  if (result.outcome !== 'proven') throw new Error('another run of verify is under way');
  return result.report;
}

/** The failed checks, each with the offenders that it names. */
function failures({ checks }: VerifyReport): Record<string, string[]> {
  return Object.fromEntries(
    checks
      .filter((check) => check.failures > 0)
      .map(({ name, offenders }) => [
        name,
        offenders.map(({ subject, problem }) => `${subject}: ${problem}`),
      ]),
  );
}

function counts({ checks }: VerifyReport): Record<string, number> {
  return Object.fromEntries(checks.map(({ name, checked }) => [name, checked]));
}

/** Changes rows with every trigger and foreign key disabled, which only the owner can do. */
async function damage(db: Database, table: string, statement: string): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.query(`alter table ${table} disable trigger all`);
    const rows = await tx.query<{ id: string }>(`${statement} returning 1`);
    expect(rows.length, `${statement} changed nothing`).toBeGreaterThan(0);
    await tx.query(`alter table ${table} enable trigger all`);
  });
}

const asRefund = { eventType: 'refund_succeeded', contentType: 'refund_details' };

function refundOf(paymentId: string): { refund_id: string; [field: string]: unknown } {
  return {
    refund_id: unique('ref'),
    payment_id: paymentId,
    amount: 1000,
    currency: 'USD',
    status: 'succeeded',
    modified_at: '2026-11-02T10:00:00.000Z',
  };
}

describe('a sound ledger', () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await createTestDatabase();
    await fill(db, { orders: 12 });
    await fillByRetrieves(db);
    await importLines(db);
    await sumEverything(db);
    await closeOldMonth(db);
    await appendNext(db, { throughId: await fenceJournal(db), key: undefined });
  });
  afterAll(() => db.drop());

  /** States that no webhook reported: a growing one, one that an epoch reduced, and a list row without a status. */
  async function fillByRetrieves(to: Database): Promise<void> {
    const usd = { amountMinor: 100, currency: 'USD' } as const;
    const paid = { ...usd, status: 'succeeded', amountReceivedMinor: 100, versionMicros: T0 };
    const less = { ...usd, status: 'failed', amountReceivedMinor: 0, versionMicros: T0 + SECOND };
    const retrieved = (content: SnapshotContent, id: string, seconds: number) =>
      observe(inHashOrder(content), {
        id,
        source: 'retrieve',
        observedMicros: T0 + seconds * SECOND,
      });
    await applyObservations(to, [
      retrieved(paid, 'pay_retrieved', 1),
      retrieved(paid, 'pay_lowered', 1),
      retrieved(less, 'pay_lowered', 10),
      retrieved(less, 'pay_lowered', 90),
      retrieved(paid, 'pay_uncertain', 1),
      retrieved(less, 'pay_uncertain', 10),
      observe(inHashOrder(paid), { id: 'pay_listed', source: 'list' }),
      observe(usd, { id: 'pay_hinted', source: 'list' }),
    ]);
    const late = { payment_id: 'pay_lowered', status: 'succeeded', amount: 100, currency: 'USD' };
    await applyAll(to, await receive(to, [eventBody({ ...late, amount_received: 100 })]));
  }

  test('passes every check, also when it is rebuilt from its inbox', async () => {
    const report = await verify(db, { rebuild: true });
    expect(failures(report), seeded).toEqual({});
    for (const [name, checked] of Object.entries(counts(report))) {
      expect(checked, `subjects of the check ${name}`).toBeGreaterThan(0);
    }
    expect(report.passed).toBe(true);
  });

  test('every resource, order, event and transfer is checked once, for any chunk size', async () => {
    const [stored] = await db.query<Record<string, number>>(
      `select (select count(*) from webhook_events) as inbox,
              (select count(*) from snapshots) as snapshots,
              (select count(*) from resources) as resources,
              (select count(*) from resources where kind in ('refund', 'dispute')) as children,
              (select count(*) from resources where kind = 'payment') as authorizations,
              (select count(*) from transfers) as chain,
              (select count(*) from orders) as orders`,
    );
    const resources = stored?.resources ?? 0;
    for (const chunkSize of [1, 10, resources - 1, resources, resources + 1, 100_000]) {
      const report = await verify(db, { chunkSize, rebuild: chunkSize === 10 });
      expect(counts(report)).toMatchObject(stored ?? {});
      expect(failures(report), `chunks of ${chunkSize}, ${seeded}`).toEqual({});
    }
  });

  test('the balances are those of the journal, and sum to zero in each currency', async () => {
    const { balances } = await verify(db);
    const sums = new Map<string, bigint>();
    for (const { currency, balanceMinor } of balances) {
      sums.set(currency, (sums.get(currency) ?? 0n) + BigInt(balanceMinor));
    }
    expect(sums.size).toBeGreaterThan(1);
    expect(new Set(sums.values())).toEqual(new Set([0n]));
  });

  test('pending and dead events are not reported', async () => {
    const [waiting, dead] = await receive(db, [
      eventBody(paymentObject()),
      eventBody(paymentObject()),
    ]);
    await testApplier(db).markDead(dead ?? 0, 5, 'marked dead by a test');
    expect(failures(await verify(db, { rebuild: true })), seeded).toEqual({});
    await testApplier(db).applyOne(waiting ?? 0);
  });
});

describe('an amount beyond the limit of one order', () => {
  test('balances of any size are exact sums', async () => {
    const db = await createTestDatabase();
    const most = { amount: Number.MAX_SAFE_INTEGER, amount_received: Number.MAX_SAFE_INTEGER };
    await applyEach(
      db,
      testApplier(db),
      [1, 2, 3].map(() => eventBody(paymentObject(most))),
    );
    const report = await verify(db, { rebuild: true });
    await db.drop();
    expect(failures(report)).toEqual({});
    expect(report.balances).toContainEqual({
      currency: 'USD',
      account: 'psp.clearing',
      balanceMinor: String(3n * BigInt(Number.MAX_SAFE_INTEGER)),
    });
  });
});

/** The smallest ledger with one of each thing that can be damaged. */
interface Victims {
  readonly payment: string;
  readonly held: string;
  readonly refund: string;
  readonly odd: string;
  readonly processing: string;
  readonly order: string;
  readonly otherOrder: string;
}

async function victims(db: Database): Promise<Victims> {
  const [order, otherOrder] = [unique('ord'), unique('ord')];
  const payment = paymentObject({ metadata: { order_id: order } });
  const manual = {
    ...paymentObject({ metadata: { order_id: otherOrder } }),
    capture_method: 'manual',
  };
  const refund = refundOf(payment.payment_id);
  const odd = paymentObject({ status: 'teleported', amount_received: 0 });
  const processing = paymentObject({ status: 'processing', amount_received: 0 });
  await applyEach(db, testApplier(db), [
    eventBody(payment),
    eventBody({
      ...manual,
      status: 'requires_capture',
      amount_capturable: 6540,
      amount_received: 0,
      modified_at: '2026-11-01T09:59:10.000Z',
    }),
    eventBody({
      ...manual,
      status: 'partially_captured_and_capturable',
      amount_capturable: 4540,
      amount_received: 2000,
      modified_at: '2026-11-01T09:59:20.000Z',
    }),
    eventBody({ ...manual, status: 'partially_captured', amount_received: 5000 }),
    eventBody({ ...refund, status: 'pending', modified_at: '2026-11-02T09:00:00.000Z' }, asRefund),
    eventBody(refund, asRefund),
    eventBody(odd),
    eventBody(processing),
  ]);
  return {
    payment: payment.payment_id,
    held: manual.payment_id,
    refund: refund.refund_id,
    odd: odd.payment_id,
    processing: processing.payment_id,
    order,
    otherOrder,
  };
}

interface Damage {
  readonly name: string;
  readonly does: (ids: Victims) => readonly (readonly [table: string, statement: string])[];
  /** The checks that fail, each with the name of its only offender and its problem. */
  readonly fails: (ids: Victims) => Record<string, readonly [subject: string, problem: RegExp]>;
}

const DAMAGE: readonly Damage[] = [
  {
    name: 'a changed amount on a resource',
    does: ({ payment }) => [
      ['resources', `update resources set amount_minor = 6541 where id = '${payment}'`],
    ],
    fails: ({ payment }) => ({
      resources: [`payment:${payment}`, /^amount_minor is 6541, not 6540$/],
    }),
  },
  {
    name: 'an amount that is not an exact integer',
    does: ({ payment }) => [
      ['resources', `update resources set amount_minor = 9007199254740993 where id = '${payment}'`],
    ],
    fails: ({ payment }) => ({
      resources: [`payment:${payment}`, /^amount_minor is 9007199254740993, not 6540$/],
    }),
  },
  {
    name: 'another head, time, uncertainty and epoch on a resource',
    does: ({ payment }) => [
      [
        'resources',
        `update resources set head_hash = sha256('x'), created_at = created_at + interval '1 us',
                uncertainties = '{incomplete}', epoch = 3 where id = '${payment}'`,
      ],
    ],
    fails: ({ payment }) => ({
      resources: [
        `payment:${payment}`,
        /created_at is 2026-11-01T09:59:00.000001Z.*epoch is 3, not 0.*uncertainties is .*head_hash is/,
      ],
    }),
  },
  {
    name: 'another beginning of a term',
    does: ({ processing }) => [
      [
        'resources',
        `update resources set term_since = term_since + interval '1 us' where id = '${processing}'`,
      ],
    ],
    fails: ({ processing }) => ({
      resources: [
        `payment:${processing}`,
        /^term_since is 2026-11-01T09:59:00.000001Z, not 2026-11-01T09:59:00.000000Z$/,
      ],
    }),
  },
  {
    name: 'a deleted journal row',
    does: ({ payment }) => [
      ['transfers', `delete from transfers where resource_id = '${payment}' and leg = 'captured'`],
    ],
    fails: ({ payment }) => ({
      posted: [
        `payment:${payment}`,
        /^captured USD: the row has 65.40 USD after row 1, the journal has nothing$/,
      ],
    }),
  },
  {
    name: 'a deleted journal row in the middle of its leg',
    does: ({ held }) => [
      [
        'transfers',
        `delete from transfers where resource_id = '${held}' and leg = 'captured' and leg_seq = 1`,
      ],
    ],
    fails: ({ held }) => ({ chain: [`payment:${held}`, /^captured USD: it begins with row 2$/] }),
  },
  {
    name: 'a broken chain',
    does: ({ held }) => [
      [
        'transfers',
        `update transfers set amount_minor = amount_minor + 1, previous_minor = previous_minor - 1
          where resource_id = '${held}' and leg = 'captured' and leg_seq = 2`,
      ],
    ],
    fails: ({ held }) => ({
      chain: [
        `payment:${held}`,
        /^captured USD: row 2 starts at 19.99 USD, but row 1 ended at 20.00 USD$/,
      ],
    }),
  },
  {
    name: 'a journal row between accounts that are not its own',
    does: ({ payment }) => [
      ['transfers', `update transfers set credit = 'payout.paid' where resource_id = '${payment}'`],
    ],
    fails: ({ payment }) => ({
      chain: [
        `payment:${payment}`,
        /^captured USD: row 1 debits psp.clearing and credits payout.paid/,
      ],
    }),
  },
  {
    name: 'a journal row to an account that there is not',
    does: ({ payment }) => [
      ['transfers', `update transfers set credit = 'pocket' where resource_id = '${payment}'`],
    ],
    fails: ({ payment }) => ({
      chain: [`payment:${payment}`, /credits pocket/],
      balance: ['currency:USD', /^debits exceed credits by 6540 minor units$/],
    }),
  },
  {
    name: 'an unposted leg',
    does: ({ refund }) => [
      ['transfers', `delete from transfers where resource_id = '${refund}' and leg = 'settled'`],
      [
        'resources',
        `update resources set posted = posted #- '{USD,settled}' where id = '${refund}'`,
      ],
    ],
    fails: ({ refund }) => ({
      posted: [
        `refund:${refund}`,
        /^settled USD: 0.00 USD is posted, but the state requires 10.00 USD$/,
      ],
    }),
  },
  {
    name: 'an open authorization on a final payment',
    does: ({ held }) => [
      [
        'transfers',
        `delete from transfers where resource_id = '${held}' and leg = 'auth_released'`,
      ],
      [
        'resources',
        `update resources set posted = posted #- '{USD,auth_released}' where id = '${held}'`,
      ],
    ],
    // What is still held was not released, so the transfer of the leg that releases it is missing, too.
    fails: ({ held }) => ({
      posted: [`payment:${held}`, /^auth_released USD: 0.00 USD is posted/],
      authorizations: [
        `payment:${held}`,
        /^15.40 USD is still authorized, although the payment is partially_captured$/,
      ],
    }),
  },
  {
    name: 'a changed order total',
    does: ({ order }) => [
      [
        'order_totals',
        `update order_totals set captured_minor = 1 where order_key = 'order:${order}'`,
      ],
    ],
    fails: ({ order }) => ({
      orders: [`order:order:${order}`, /^USD capturedMinor is 1, not 6540$/],
    }),
  },
  {
    name: 'a changed order status',
    does: ({ order }) => [
      ['orders', `update orders set status = 'paid' where order_key = 'order:${order}'`],
    ],
    fails: ({ order }) => ({
      orders: [`order:order:${order}`, /^status is paid, not partially_refunded$/],
    }),
  },
  {
    name: 'totals in a currency that no part has',
    does: ({ order }) => [
      [
        'order_totals',
        `insert into order_totals values ('order:${order}', 'JPY', 'paid', 0, 5, 0, 0, 0, 0)`,
      ],
    ],
    fails: ({ order }) => ({
      orders: [`order:order:${order}`, /^it has totals in JPY, but no part in that currency$/],
    }),
  },
  {
    name: 'a finding about an order that its parts do not show',
    does: ({ order }) => [
      [
        'findings',
        `insert into findings (class, subject, detail)
         values ('double_paid', 'order:order:${order}', '{}')`,
      ],
    ],
    fails: ({ order }) => ({
      order_findings: [
        `order:order:${order}`,
        /^the finding double_paid is open, but the state does not show it$/,
      ],
    }),
  },
  {
    name: 'an order that notes a finding which is not open',
    does: ({ order }) => [
      [
        'orders',
        `update orders set open_findings = '{over_refund}' where order_key = 'order:${order}'`,
      ],
    ],
    fails: ({ order }) => ({
      order_findings: [`order:order:${order}`, /^the finding over_refund is not open$/],
    }),
  },
  {
    name: 'an over-capture that is none any more',
    does: ({ payment }) => [
      [
        'findings',
        `insert into findings (class, subject, detail)
         values ('over_capture', 'payment:${payment}', '{}')`,
      ],
    ],
    fails: ({ payment }) => ({
      findings: [
        `payment:${payment}`,
        /^the finding over_capture is open, but the state does not show it$/,
      ],
    }),
  },
  {
    name: 'an order that is gone',
    does: ({ otherOrder }) => [
      ['order_totals', `delete from order_totals where order_key = 'order:${otherOrder}'`],
      ['orders', `delete from orders where order_key = 'order:${otherOrder}'`],
    ],
    fails: ({ otherOrder }) => ({
      orders: [`order:order:${otherOrder}`, /^it has 1 part, but no row; it has no totals/],
    }),
  },
  {
    name: 'a refund that was taken from its payment',
    does: ({ refund }) => [
      ['resources', `update resources set order_key = null where id = '${refund}'`],
    ],
    fails: ({ refund, order }) => ({
      children: [
        `refund:${refund}`,
        new RegExp(`^it is filed under no order, its payment under order:${order}$`),
      ],
      orders: [`order:order:${order}`, /refundedMinor is 1000, not 0/],
    }),
  },
  {
    name: 'a resource that is gone',
    does: ({ odd }) => [['resources', `delete from resources where id = '${odd}'`]],
    fails: ({ odd }) => ({
      resources: [`payment:${odd}`, /^1 snapshot, but no row$/],
      orders: [`order:payment:${odd}`, /status is pending, not moved/],
    }),
  },
  {
    name: 'a snapshot with another content',
    does: ({ payment }) => [
      [
        'snapshots',
        `update snapshots set content = (content::jsonb || '{"errorCode": "x"}')::json where resource_id = '${payment}'`,
      ],
    ],
    fails: ({ payment }) => ({
      snapshots: [`payment:${payment}`, /^snapshot [0-9a-f]{12} does not match its hash$/],
      resources: [`payment:${payment}`, /^error_code is empty, not x$/],
    }),
  },
  {
    name: 'a finding that somebody closed',
    does: ({ odd }) => [
      [
        'findings',
        `update findings set state = 'closed', closed_at = now() where subject = 'payment:${odd}'`,
      ],
    ],
    fails: ({ odd }) => ({
      findings: [`payment:${odd}`, /^the finding unknown_status is not open$/],
    }),
  },
  {
    name: 'a finding that the state does not show',
    does: ({ payment }) => [
      [
        'findings',
        `insert into findings (class, subject, detail)
         values ('status_conflict', 'payment:${payment}', '{}')`,
      ],
    ],
    fails: ({ payment }) => ({
      findings: [
        `payment:${payment}`,
        /^the finding status_conflict is open, but the state does not show it$/,
      ],
    }),
  },
];

describe('damage to one thing', () => {
  let db: TestDatabase;
  let ids: Victims;
  beforeAll(async () => {
    db = await createTestDatabase();
    ids = await victims(db);
    expect(failures(await verify(db))).toEqual({});
  });
  afterAll(() => db.drop());

  /** Writes back afterwards what the tables had, so that the next test finds a sound ledger. */
  async function undone(tables: readonly string[], work: () => Promise<void>): Promise<void> {
    for (const table of tables) await db.query(`create table sound_${table} as table ${table}`);
    try {
      await work();
    } finally {
      for (const table of tables) {
        await tamperWith(
          db,
          `delete from ${table};
           insert into ${table} overriding system value table sound_${table};
           drop table sound_${table}`,
        );
      }
    }
  }

  test.each(DAMAGE)('$name fails its check and is named', async ({ does, fails }) => {
    const damages = does(ids);
    await undone([...new Set(damages.map(([table]) => table))], async () => {
      for (const [table, statement] of damages) await damage(db, table, statement);
      const found = failures(await verify(db, { chunkSize: 3 }));
      const expected = fails(ids);
      expect(Object.keys(found)).toEqual(Object.keys(expected));
      for (const [name, [subject, problem]] of Object.entries(expected)) {
        expect(found[name]).toHaveLength(1);
        expect(found[name]?.[0]?.startsWith(`${subject}: `)).toBe(true);
        expect(found[name]?.[0]?.slice(subject.length + 2)).toMatch(problem);
      }
    });
  });
});

describe('damage', () => {
  let db: TestDatabase;
  afterEach(() => db.drop());

  test('an order without the mark of its open finding is named', async () => {
    db = await createTestDatabase();
    const order = unique('ord');
    const twice = [1, 2].map(() => paymentObject({ metadata: { order_id: order } }));
    await applyEach(
      db,
      testApplier(db),
      twice.map((payment) => eventBody(payment)),
    );
    expect(failures(await verify(db))).toEqual({});
    await damage(db, 'orders', `update orders set open_findings = '{}'`);
    expect(failures(await verify(db))).toEqual({
      order_findings: [`order:order:${order}: the row does not list its open finding double_paid`],
    });
  });

  test('an event that lost its row in pending is named', async () => {
    db = await createTestDatabase();
    await victims(db);
    const [lost, waiting] = await receive(db, [
      eventBody(paymentObject()),
      eventBody(paymentObject()),
    ]);
    await damage(db, 'pending', `delete from pending where webhook_event_id = ${lost}`);
    expect(failures(await verify(db))).toEqual({
      inbox: [`event:${lost}: it was acknowledged, but it was not applied and is not pending`],
    });
    await testApplier(db).applyOne(waiting ?? 0);
  });

  test('an event without new content counts as applied, although it has no snapshot', async () => {
    db = await createTestDatabase();
    const payment = paymentObject();
    await applyEach(db, testApplier(db), [eventBody(payment), eventBody(payment)]);
    expect(await db.query('select count(*) as stored from snapshots')).toEqual([{ stored: 1 }]);
    expect(failures(await verify(db, { rebuild: true }))).toEqual({});
  });

  test.each([
    ['event', () => eventBody(paymentObject(), { merchantId: 'other' })],
    ['object', () => eventBody(paymentObject({ merchant_id: 'other' }))],
  ])(
    'an %s of another merchant that was not applied and has lost its finding is named',
    async (_, body) => {
      db = await createTestDatabase();
      const [foreign] = await receive(db, [body()]);
      await testApplier(db).applyOne(foreign ?? 0);
      expect(failures(await verify(db, { rebuild: true }))).toEqual({});
      await damage(db, 'findings', `delete from findings where subject = 'event:${foreign}'`);
      expect(failures(await verify(db))).toEqual({
        inbox: [
          `event:${foreign}: it was not applied (foreign_merchant), and no finding explains why`,
        ],
      });
    },
  );

  test('a redacted body is named, whether its event was applied or lost', async () => {
    db = await createTestDatabase();
    const bodies = [eventBody(paymentObject()), eventBody(paymentObject())];
    const [applied, lost] = await receive(db, bodies);
    await testApplier(db).applyOne(applied ?? 0);
    await damage(db, 'pending', `delete from pending where webhook_event_id = ${lost}`);
    await damage(db, 'webhook_bodies', `update webhook_bodies set body = ''`);
    const problem = 'its body differs from the one that was received';
    const inbox = [`event:${applied}: ${problem}`, `event:${lost}: ${problem}`];
    expect(failures(await verify(db))).toEqual({ inbox });
    expect(failures(await verify(db, { rebuild: true }))).toMatchObject({ inbox });
  });

  test('a changed body and an event that is missing from the inbox are named', async () => {
    db = await createTestDatabase();
    const [changed, gone] = await receive(db, [
      eventBody(paymentObject()),
      eventBody(paymentObject()),
    ]);
    await testApplier(db).applyOne(changed ?? 0);
    await damage(
      db,
      'webhook_bodies',
      `update webhook_bodies set body = body || ' ' where webhook_event_id = ${changed}`,
    );
    await damage(db, 'webhook_events', `delete from webhook_events where id = ${gone}`);
    expect(failures(await verify(db))).toEqual({
      inbox: [
        `event:${changed}: its body differs from the one that was received`,
        `event:${gone}: it is pending, but not in the inbox`,
      ],
    });
  });

  test('the first ten of many offenders are named, and all are counted', async () => {
    db = await createTestDatabase();
    await applyEach(
      db,
      testApplier(db),
      Array.from({ length: 12 }, () => eventBody(paymentObject())),
    );
    await damage(db, 'resources', 'update resources set amount_minor = 1');
    const check = (await verify(db, { chunkSize: 5 })).checks.find(
      ({ name }) => name === 'resources',
    );
    expect(check).toMatchObject({ checked: 12, failures: 12 });
    expect(check?.offenders).toHaveLength(10);
  });
});

const ISO_TIME = '2026-11-01T10:00:01.500Z';
/** The same, as PostgreSQL writes it. */
const HOURS_ONLY = '2026-11-01 10:00:01.5+00';

describe('--rebuild', () => {
  let db: TestDatabase;
  afterEach(() => db.drop());

  test('uses stored snapshots where retention removed the bodies, and names the day from which they exist', async () => {
    db = await createTestDatabase();
    await fill(db, { orders: 10 });
    expect(await verify(db, { rebuild: true })).toMatchObject({ passed: true, bodiesFrom: null });
    await damage(db, 'webhook_bodies', 'delete from webhook_bodies');
    await db.query(
      `insert into body_days (day, state, removed_at)
       select distinct body_day, 'removed', now() from webhook_events
       on conflict (day) do update set state = 'removed', removed_at = excluded.removed_at`,
    );
    const report = await verify(db, { rebuild: true });
    expect(failures(report), seeded).toEqual({});
    const [tomorrow] = await db.query<{ day: string }>(
      'select (max(body_day) + 1)::text as day from webhook_events',
    );
    expect(report.bodiesFrom).toBe(tomorrow?.day);
  });

  test('a changed resource, order and journal differ from those rebuilt from the inbox', async () => {
    db = await createTestDatabase();
    const { payment, order, held } = await victims(db);
    await damage(db, 'resources', `update resources set status = 'failed' where id = '${payment}'`);
    await damage(db, 'orders', `update orders set status = 'failed' where order_id = '${order}'`);
    await damage(
      db,
      'transfers',
      `update transfers set amount_minor = 1, cumulative_minor = previous_minor + 1
        where resource_id = '${held}' and leg = 'captured'`,
    );
    expect(failures(await verify(db, { rebuild: true }))).toMatchObject({
      rebuilt_resources: [`payment:${payment}: status is failed, not succeeded`],
      rebuilt_orders: [`order:order:${order}: status is failed, not partially_refunded`],
      rebuilt_balances: [
        `payment:${held}: psp.clearing has 0.02 USD, not 50.00 USD; order.due has -0.02 USD, not -50.00 USD`,
      ],
    });
  });

  /** All derived tables agree with each other; only the inbox still has what was received. */
  test('a consistent forgery is named', async () => {
    db = await createTestDatabase();
    const { payment_id: id } = paymentObject();
    await applyEach(db, testApplier(db), [eventBody(paymentObject({ payment_id: id }))]);
    await forge(db, id, 6541);
    expect(failures(await verify(db))).toEqual({});
    const found = failures(await verify(db, { rebuild: true }));
    expect(Object.keys(found)).toEqual(['rebuilt_resources', 'rebuilt_balances', 'rebuilt_orders']);
    expect(found.rebuilt_resources?.[0]).toMatch(/captured_minor is 6541, not 6540/);
    expect(found.rebuilt_balances?.[0]).toMatch(/psp.clearing has 65.41 USD, not 65.40 USD/);
    expect(found.rebuilt_orders?.[0]).toMatch(/USD capturedMinor is 6541, not 6540/);
  });

  async function forge(to: Database, id: string, amountMinor: number): Promise<void> {
    const [row] = await to.query<{ content: SnapshotContent }>(
      'select content from snapshots where resource_id = $1',
      [id],
    );
    const content = { ...row?.content, amountMinor, amountReceivedMinor: amountMinor };
    const hash = `decode('${contentHash(inHashOrder(content))}', 'hex')`;
    const where = `where resource_id = '${id}'`;
    await damage(
      to,
      'snapshots',
      `update snapshots set content_hash = ${hash}, content = '${JSON.stringify(content)}' ${where}`,
    );
    await damage(
      to,
      'transfers',
      `update transfers set amount_minor = ${amountMinor}, cumulative_minor = ${amountMinor} ${where}`,
    );
    await damage(
      to,
      'resources',
      `update resources set amount_minor = ${amountMinor}, captured_minor = ${amountMinor},
              head_hash = ${hash},
              posted = jsonb_set(posted, '{USD,captured,cumulativeMinor}', '${amountMinor}')
        where id = '${id}'`,
    );
    await damage(to, 'order_totals', `update order_totals set captured_minor = ${amountMinor}`);
  }

  test('a resource that is in the inbox and not in the ledger is named, with its order', async () => {
    db = await createTestDatabase();
    const { refund, order } = await victims(db);
    const where = `where resource_id = '${refund}'`;
    await damage(db, 'transfers', `delete from transfers ${where}`);
    await damage(db, 'snapshots', `delete from snapshots ${where}`);
    await damage(db, 'resources', `delete from resources where id = '${refund}'`);
    await damage(
      db,
      'order_totals',
      `update order_totals set refunded_minor = 0 where order_key = 'order:${order}'`,
    );
    expect(failures(await verify(db, { rebuild: true }))).toMatchObject({
      rebuilt_resources: [`refund:${refund}: it is not in the ledger`],
      rebuilt_orders: [
        expect.stringMatching(`^order:order:${order}: .*USD refundedMinor is 0, not 1000`),
      ],
      rebuilt_balances: [expect.stringContaining(`refund:${refund}: order.refunds has 0.00 USD`)],
    });
  });

  /** An order that was paid twice, with its finding. */
  async function paidTwice(): Promise<{ order: string; second: string }> {
    db = await createTestDatabase();
    const order = unique('ord');
    const [first, second] = [1, 2].map(() => paymentObject({ metadata: { order_id: order } }));
    await applyEach(db, testApplier(db), [eventBody(first ?? {}), eventBody(second ?? {})]);
    expect(failures(await verify(db, { rebuild: true }))).toEqual({});
    return { order, second: String(second?.payment_id) };
  }

  test('a deleted or forged finding about an order differs from its state', async () => {
    const { order } = await paidTwice();
    const subject = `order:order:${order}`;
    await damage(db, 'findings', `delete from findings where subject = '${subject}'`);
    await damage(db, 'orders', `update orders set open_findings = '{over_refund}'`);
    await db.query(
      `insert into findings (class, subject, detail) values ('over_refund', $1, '{}')`,
      [subject],
    );
    const report = await verify(db, { rebuild: true });
    expect(failures(report).rebuilt_order_findings).toEqual([
      `${subject}: the finding double_paid is not open; the finding over_refund is open, but the state does not show it`,
    ]);
    expect(counts(report).rebuilt_order_findings).toBe(1);
  });

  test('a finding that was deleted together with its cause is recovered from the inbox', async () => {
    const { order, second } = await paidTwice();
    const where = `where resource_id = '${second}'`;
    await damage(db, 'transfers', `delete from transfers ${where}`);
    await damage(db, 'snapshots', `delete from snapshots ${where}`);
    await damage(db, 'resources', `delete from resources where id = '${second}'`);
    await damage(db, 'findings', 'delete from findings');
    await damage(db, 'orders', `update orders set open_findings = '{}'`);
    const found = failures(await verify(db, { rebuild: true }));
    expect(found.order_findings).toBeUndefined();
    expect(found.rebuilt_order_findings).toEqual([
      `order:order:${order}: the finding double_paid is not open`,
    ]);
  });

  test('a snapshot without a received event is named by its effect', async () => {
    db = await createTestDatabase();
    const { payment } = await victims(db);
    const content: SnapshotContent = { status: 'failed', versionMicros: T0 + 10 ** 12 };
    await db.query(
      `insert into snapshots (kind, resource_id, epoch, content_hash, content, source,
                              observed_micros, webhook_event_id)
       values ('payment', $1, 0, decode($2, 'hex'), $3, 'webhook', $4, 1)`,
      [payment, contentHash(content), JSON.stringify(content), T0],
    );
    await applyEach(db, testApplier(db), [eventBody(paymentObject({ payment_id: payment }))]);
    expect(Object.keys(failures(await verify(db)))).toEqual([]);
    expect(failures(await verify(db, { rebuild: true }))).toMatchObject({
      rebuilt_resources: [
        expect.stringMatching(`^payment:${payment}: status is failed, not succeeded`),
      ],
    });
  });

  test.each([
    ['times', { created: HOURS_ONLY, modified_at: HOURS_ONLY }, ISO_TIME],
    ['one time', { created: HOURS_ONLY, modified_at: ISO_TIME }, ISO_TIME],
    ['the time of an event', { created: HOURS_ONLY, modified_at: undefined }, HOURS_ONLY],
    ['the time of an event alone', { modified_at: undefined }, HOURS_ONLY],
    ['a time among the data of the shop', { metadata: { slot: HOURS_ONLY } }, ISO_TIME],
  ])(
    'of events with %s that an earlier version did not read reports no difference',
    async (_, fields, timestamp) => {
      db = await createTestDatabase();
      for (const body of [1, 2].map(() => eventBody(paymentObject(fields), { timestamp }))) {
        const [id = 0] = await receive(db, [body]);
        const [event] = await db.transaction((tx) => readEvents(tx, [id]));
        if (event?.found.outcome !== 'intact') throw new Error('not received');
        // The first version reads a time with a zone of hours only like one that is missing.
        const known = Buffer.from(body.toString().replaceAll(HOURS_ONLY, 'unread'));
        const reading = readEvent({ ...event, body: known }, MERCHANT_ID);
        if (reading.outcome !== 'snapshot') throw new Error('not read');
        const { ref, content, observedMicros } = reading;
        const observation = { ref, content, contentHash: contentHash(content), observedMicros };
        await applyObservations(db, [{ ...observation, source: 'webhook', webhookEventId: id }]);
        await db.query('delete from pending where webhook_event_id = $1', [id]);
      }
      expect(failures(await verify(db, { rebuild: true }))).toEqual({});
    },
  );

  describe('of events with personal data that an earlier version applied', () => {
    const MAILS = ['ann@example.com', 'eve@example.com', 'jane@example.com', 'joe@example.com'];

    /** Applies an event as the versions did that removed card numbers only. */
    async function applyAsEarlier(to: Database, body: Buffer): Promise<number> {
      const [id = 0] = await receive(to, [body]);
      const [event] = await to.transaction((tx) => readEvents(tx, [id]));
      if (event?.found.outcome !== 'intact') throw new Error('not received');
      const { body: stored } = event.found;
      const reading = readEvent(
        { ...event, body: stored },
        MERCHANT_ID,
        readTextWithoutCardNumbers,
      );
      if (reading.outcome !== 'snapshot') throw new Error('not read');
      const { ref, content, observedMicros } = reading;
      const hash = contentHash(content);
      await applyObservations(to, [
        { ref, content, contentHash: hash, source: 'webhook', observedMicros, webhookEventId: id },
      ]);
      await to.query('delete from pending where webhook_event_id = $1', [id]);
      return id;
    }

    /** Several payments, because the order of two hashes decides which content is the state's. */
    const objects = () =>
      MAILS.map((mail) =>
        paymentObject({
          status: 'failed',
          amount_received: 0,
          // Different contents, so that the order of their hashes differs, too.
          error_code: unique('code'),
          unified_message: `Refused for ${mail}`,
          error_message: `No account of ${mail}`,
        }),
      );

    async function messages(of: Database): Promise<readonly string[]> {
      const rows = await of.query<{ message: string }>(
        `select distinct content ->> 'unifiedMessage' as message from snapshots order by 1`,
      );
      return rows.map(({ message }) => message);
    }

    test('no difference is reported, also of events without new content', async () => {
      db = await createTestDatabase();
      const sent = objects();
      for (const object of [...sent, ...sent]) await applyAsEarlier(db, eventBody(object));
      expect(await messages(db)).toEqual(MAILS.map((mail) => `Refused for ${mail}`));
      expect(failures(await verify(db, { rebuild: true }))).toEqual({});
    });

    test('no difference is reported after the same content was received or replayed', async () => {
      db = await createTestDatabase();
      const [received, replayed] = [objects(), objects()];
      for (const object of received) await applyAsEarlier(db, eventBody(object));
      await applyEach(
        db,
        testApplier(db),
        received.map((object) => eventBody(object)),
      );
      const events: number[] = [];
      for (const object of replayed) events.push(await applyAsEarlier(db, eventBody(object)));
      await db.query(
        'insert into pending (webhook_event_id, enqueue_at) select unnest($1::bigint[]), now()',
        [events],
      );
      await testApplier(db).applyBatch(events);
      expect(await messages(db)).toEqual([
        'Refused for [email]',
        ...MAILS.map((mail) => `Refused for ${mail}`),
      ]);
      expect(failures(await verify(db, { rebuild: true }))).toEqual({});
    });
  });

  test('leaves nothing in the database', async () => {
    db = await createTestDatabase();
    await fill(db, { orders: 5 });
    await verify(db, { rebuild: true });
    await verify(db, { rebuild: true });
    const left = await db.query(
      `select relname from pg_class where relname like 'rebuilt%'
        and pg_my_temp_schema() <> relnamespace`,
    );
    expect(left).toEqual([]);
  });
});

describe('while workers run', () => {
  let db: TestDatabase;
  afterEach(() => db.drop());

  /** A database that applies some more events before each chunk is read. */
  function withWorkBetween(work: () => Promise<void>): Database {
    return {
      ...db,
      session: (use) =>
        db.session((session) =>
          use({
            ...session,
            transaction: async <T>(read: (tx: Queryable) => Promise<T>) => {
              await work();
              return session.transaction(read);
            },
          }),
        ),
    };
  }

  test.each([false, true])(
    'events that are applied between two chunks are not reported (rebuild: %s)',
    async (rebuild) => {
      db = await createTestDatabase();
      const ids = [...(await receive(db, shopEvents({ seed: SEED, orders: 50 })))];
      await applyAll(db, ids.splice(0, 60));
      const applier = testApplier(db);
      const busy = withWorkBetween(async () => {
        await applier.applyBatch(ids.splice(0, 3));
      });
      const report = await verify(busy, { rebuild, chunkSize: 20 });
      expect(failures(report), seeded).toEqual({});
      expect(ids.length, 'events that are left after the last chunk').toBeGreaterThan(0);
    },
  );

  /** Enough runs for races; the time of each depends on the machine. */
  const MOST_RUNS = 4;

  test('no run beside four workers reports damage', async () => {
    db = await createTestDatabase();
    const ids = await receive(db, shopEvents({ seed: SEED + 1, orders: 80 }));
    let isDone = false;
    let runs = 0;
    const workers = [0, 1, 2, 3].map(async (worker) => {
      const applier = testApplier(db);
      const own = ids.filter((_id, place) => place % 4 === worker);
      for (const id of own) {
        if (runs >= MOST_RUNS) return;
        await applier.applyBatch([id]);
      }
    });
    const racing = Promise.all(workers).finally(() => {
      isDone = true;
    });
    while (!isDone) {
      const report = await verify(db, { rebuild: runs % 2 === 1, chunkSize: 25 });
      expect(failures(report), `run ${runs}, ${seeded}`).toEqual({});
      runs += 1;
    }
    await racing;
    expect(runs).toBeGreaterThan(1);
    expect(failures(await verify(db, { rebuild: true })), seeded).toEqual({});
  });
});

describe('the command', () => {
  let db: TestDatabase;
  let ids: Victims;

  beforeAll(async () => {
    db = await createTestDatabase();
    ids = await victims(db);
  });
  afterAll(() => db.drop());

  async function run(...args: string[]): Promise<{ text: string; exitCode: number | null }> {
    const env = { DATABASE_URL: db.url, PAYMENTS_MERCHANT_ID: MERCHANT_ID };
    const { code, stdout } = await runTallyhook(['verify', ...args], { env });
    return { text: stdout, exitCode: code };
  }

  test('prints that all checks passed, with the balances, and exits with 0', async () => {
    const { text, exitCode } = await run('--full');
    expect(text).toMatch(/ok {4}orders/);
    expect(text).toMatch(/psp\.clearing +105\.40 USD/);
    expect(text).toContain(`All ${CHECKED} checks passed`);
    expect(text).toMatch(
      /Proven: everything\. Everything was last proven from \S+ \S+ UTC to \S+ \S+ UTC\./,
    );
    expect(exitCode).toBe(0);
  });

  test('proves what changed unless everything is wanted, without balances', async () => {
    const { text, exitCode } = await run();
    expect(text).toContain(`All ${CHECKED - 1} checks passed`);
    expect(text).toMatch(/Proven: what changed, and \d+ of \d+ ranges of this round/);
    expect(text).not.toContain('psp.clearing');
    expect(exitCode).toBe(0);
  });

  test('names offenders and the next command, and exits with 6', async () => {
    await damage(db, 'orders', `update orders set status = 'paid' where order_id = '${ids.order}'`);
    const { text, exitCode } = await run('--rebuild');
    expect(text).toMatch(/FAIL {2}orders +1 of \d+ /);
    expect(text).toContain(`order:order:${ids.order}: status is paid, not partially_refunded`);
    expect(text).toContain(
      `Next: run npx tallyhook orders show ${ids.order} to list its parts, and replay an event of one of them, or run npx tallyhook refresh ${ids.order}`,
    );
    expect(text).toMatch(
      new RegExp(`2 of ${CHECKED + REBUILT} checks failed in .* s: orders, rebuilt_orders\\.`),
    );
    expect(exitCode).toBe(6);
  });

  test('prints the report as JSON, with its exit code', async () => {
    const { text, exitCode } = await run('--full', '--json');
    const report = JSON.parse(text) as ReturnType<typeof verificationJson>;
    expect(report).toMatchObject({
      mode: 'full',
      passed: false,
      coverage: { ranges_left: 0, continued_from: null, round: { ranges: 0 } },
    });
    expect(report.coverage?.everything_proven_at).toMatch(/^20/);
    expect(report.checks.find(({ name }) => name === 'orders')).toMatchObject({
      failures: 1,
      offenders: [{ subject: `order:order:${ids.order}` }],
      next_step: expect.stringContaining('orders show'),
    });
    expect(report.balances).toContainEqual({
      currency: 'USD',
      account: 'psp.clearing',
      balance: '10540',
    });
    expect(exitCode).toBe(6);
  });
});

/**
 * What the database itself rejects, for every role: each attack of the reference model, and a writer
 * with a stale view. Without one of the constraints or triggers of 00003_journal.sql, the attack of
 * that name succeeds and its test fails.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { targetsOf } from '../../src/ledger/domain/legs.ts';
import type { EventApplier } from '../../src/ledger/inbox/applyEvents.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventBody, paymentObject, unique } from '../support/events.ts';
import { applyEach, testApplier } from '../support/ledger.ts';

let db: TestDatabase;
let applier: EventApplier;
let paymentId: string;

beforeAll(async () => {
  db = await createTestDatabase();
  applier = testApplier(db);
  const payment = paymentObject({ amount: 70, amount_received: 30 });
  paymentId = payment.payment_id;
  await applyEach(db, applier, [
    eventBody({ ...payment, status: 'partially_captured_and_processing' }),
    eventBody({ ...payment, amount_received: 70, modified_at: '2026-11-01T11:00:00.000Z' }),
  ]);
});
afterAll(() => db.drop());

interface Row {
  readonly kind: string;
  readonly id: string;
  readonly leg: string;
  readonly currency: string;
  readonly seq: number;
  readonly debit: string;
  readonly credit: string;
  readonly amount: number;
  readonly previous: number;
  readonly cumulative: number;
}

function insert(fields: Partial<Row>): Promise<unknown> {
  const row: Row = {
    kind: 'payment',
    id: paymentId,
    leg: 'captured',
    currency: 'USD',
    seq: 3,
    debit: 'psp.clearing',
    credit: 'order.due',
    amount: 30,
    previous: 70,
    cumulative: 100,
    ...fields,
  };
  return db.query(
    `insert into transfers (kind, resource_id, leg, currency, leg_seq, debit, credit, amount_minor,
                            previous_minor, cumulative_minor, head_hash, effective_at,
                            effective_source)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, sha256('x'), now(), 'v')`,
    Object.values(row),
  );
}

test('the two captures of the payment are in the journal, each with its cause', async () => {
  const rows = await db.query(
    `select leg_seq, debit, credit, amount_minor, cumulative_minor, webhook_event_id is not null as caused
       from transfers where resource_id = $1 and leg = 'captured' order by id`,
    [paymentId],
  );
  expect(rows).toEqual([
    {
      leg_seq: 1,
      debit: 'psp.clearing',
      credit: 'order.due',
      amount_minor: 30,
      cumulative_minor: 30,
      caused: true,
    },
    {
      leg_seq: 2,
      debit: 'psp.clearing',
      credit: 'order.due',
      amount_minor: 40,
      cumulative_minor: 70,
      caused: true,
    },
  ]);
});

describe('the journal rejects', () => {
  test.each<[string, Partial<Row>, RegExp]>([
    ['a sequence number that exists', { seq: 2, previous: 30, cumulative: 60 }, /unique/],
    [
      'a row that does not begin at the previous total',
      { previous: 30, cumulative: 60 },
      /chain .* broken/,
    ],
    ['a gap in the sequence numbers', { seq: 4 }, /chain .* broken/],
    ['a second beginning', { currency: 'EUR', seq: 1, previous: 10, cumulative: 40 }, /check/],
    ['one account on both sides', { credit: 'psp.clearing' }, /check/],
    ['a negative amount', { amount: -30, cumulative: 40 }, /check/],
    ['no amount', { amount: 0, cumulative: 70 }, /check/],
    ['an amount that is not the difference', { cumulative: 99 }, /check/],
    ['a negative total', { amount: 71, cumulative: -1 }, /check/],
    ['accounts of another leg', { debit: 'payout.paid' }, /accounts that are not its own/],
    [
      'the accounts swapped while the leg grows',
      { debit: 'order.due', credit: 'psp.clearing' },
      /accounts that are not its own/,
    ],
    [
      'the accounts not swapped while the leg shrinks',
      { amount: 10, cumulative: 60 },
      /accounts that are not its own/,
    ],
    [
      'accounts of another leg while the leg shrinks',
      { debit: 'psp.clearing', credit: 'payout.paid', amount: 10, cumulative: 60 },
      /accounts that are not its own/,
    ],
    [
      'one account of the leg and one of another while the leg shrinks',
      { debit: 'order.due', credit: 'payout.paid', amount: 10, cumulative: 60 },
      /accounts that are not its own/,
    ],
    [
      'an unknown leg',
      { leg: 'invented', seq: 1, previous: 0, cumulative: 30 },
      /accounts that are not its own/,
    ],
    ['an unknown resource', { id: 'nope', seq: 1, previous: 0, cumulative: 30 }, /chain .* broken/],
    ['a currency that is none', { currency: 'usd', seq: 1, previous: 0, cumulative: 30 }, /check/],
  ])('%s', async (_name, row, reason) => {
    await expect(insert(row)).rejects.toThrow(reason);
  });

  test('nothing about a leg that shrinks between its own accounts, swapped', async () => {
    const payment = paymentObject({ amount_received: 70, amount: 70 });
    await applyEach(db, applier, [eventBody(payment)]);
    await insert({
      id: payment.payment_id,
      seq: 2,
      debit: 'order.due',
      credit: 'psp.clearing',
      amount: 10,
      cumulative: 60,
    });
  });

  test.each(['transfers', 'snapshots', 'resource_epochs'])(
    'any change of %s, even by its owner',
    async (table) => {
      const column = {
        transfers: 'amount_minor = 1',
        snapshots: 'epoch = 9',
        resource_epochs: 'epoch = 9',
      }[table];
      await expect(db.query(`update ${table} set ${column}`)).rejects.toThrow(/append-only/);
      await expect(db.query(`delete from ${table}`)).rejects.toThrow(/append-only/);
      await expect(db.query(`truncate ${table}`)).rejects.toThrow(/append-only/);
    },
  );

  test('any change of journal, snapshots and inbox by the role that runs Tallyhook', async () => {
    for (const table of [
      'transfers',
      'snapshots',
      'resource_epochs',
      'webhook_events',
      'event_variants',
    ]) {
      for (const statement of [`delete from ${table}`, `truncate ${table}`]) {
        const attack = db.transaction(async (tx) => {
          await tx.query('set local role tallyhook_app');
          await tx.query(statement);
        });
        await expect(attack).rejects.toThrow(/permission denied/);
      }
    }
  });
});

test('the role that runs Tallyhook has the privileges that it needs', async () => {
  const url = new URL(db.url);
  url.searchParams.set('options', '-c role=tallyhook_app');
  const { createDatabase } = await import('../../src/platform/db/database.ts');
  const { silentLog } = await import('../support/database.ts');
  const least = createDatabase({
    connectionString: url.href,
    log: silentLog,
    applicationName: 'least',
    maxConnections: 2,
    responseTimeoutMs: 30_000,
    plans: 'any',
  });
  const payment = paymentObject();
  try {
    await applyEach(db, testApplier(least), [eventBody(payment)]);
    const rows = await least.query('select leg from transfers where resource_id = $1', [
      payment.payment_id,
    ]);
    expect(rows).toEqual([{ leg: 'captured' }]);
  } finally {
    await least.close();
  }
});

test('a writer with a stale view of a resource is rejected, and its event stays pending', async () => {
  const payment = paymentObject({ payment_id: unique('pay') });
  await applyEach(db, applier, [eventBody(payment)]);
  await db.query(`update resources set posted = '{}' where id = $1`, [payment.payment_id]);
  const later = eventBody({ ...payment, error_code: 'x', modified_at: '2026-11-01T12:00:00.000Z' });
  await expect(applyEach(db, applier, [later])).rejects.toThrow(/unique/);
  expect(await db.query('select count(*) as waiting from pending')).toEqual([{ waiting: 1 }]);
});

test('targets of every kind are derived from the state alone', () => {
  const state = {
    epoch: 0,
    headHash: '',
    authorizedMinor: 0,
    capturedMinor: 0,
    posts: true,
    uncertainties: [],
    illegalSteps: [],
    currency: 'USD',
    amountMinor: 100,
  };
  const refund = (status: string) =>
    targetsOf({ ...state, ref: { kind: 'refund', id: 'r' }, status });
  expect(refund('pending')).toEqual({ requested: 100, settled: 0, released: 0 });
  expect(refund('succeeded')).toEqual({ requested: 100, settled: 100, released: 0 });
  expect(refund('failed')).toEqual({ requested: 100, settled: 0, released: 100 });
});

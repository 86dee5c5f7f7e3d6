/**
 * The times at which the service moved money: what the journal has of them after late events, what an
 * upgrade adds to transfers of an earlier version, and what verify finds.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatingJob, dateNext } from '../../src/ledger/dateTransfers.ts';
import { verifyLedger } from '../../src/ledger/verify/verifyLedger.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventBody, MERCHANT_ID, paymentObject, unique } from '../support/events.ts';
import { applyEach, receive, testApplier } from '../support/ledger.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

interface Moved {
  readonly leg: string;
  readonly moved: number;
  readonly at: string;
}

/** What a payment moved, by effective time. */
function movedBy(id: string): Promise<readonly Moved[]> {
  return db.query<Moved>(
    `select leg, sum(cumulative_minor - previous_minor)::int as moved,
            to_char(effective_at at time zone 'UTC', 'MM-DD HH24:MI') as at
       from transfers where resource_id = $1
      group by leg, effective_at having sum(cumulative_minor - previous_minor) <> 0
      order by effective_at, leg`,
    [id],
  );
}

const manual = { capture_method: 'manual_multiple', amount: 100 };
const HELD = {
  ...manual,
  status: 'requires_capture',
  amount_received: 0,
  amount_capturable: 100,
  modified_at: '2026-09-30T22:00:00.000Z',
};
const FIRST_CAPTURE = {
  ...manual,
  status: 'partially_captured_and_capturable',
  amount_received: 30,
  amount_capturable: 70,
  modified_at: '2026-10-31T23:00:00.000Z',
};
const SECOND_CAPTURE = {
  ...manual,
  status: 'succeeded',
  amount_received: 100,
  amount_capturable: 0,
  modified_at: '2026-11-02T10:00:00.000Z',
};
const HISTORY: readonly Moved[] = [
  { leg: 'auth_opened', moved: 100, at: '09-30 22:00' },
  { leg: 'auth_consumed', moved: 30, at: '10-31 23:00' },
  { leg: 'captured', moved: 30, at: '10-31 23:00' },
  { leg: 'auth_consumed', moved: 70, at: '11-02 10:00' },
  { leg: 'captured', moved: 70, at: '11-02 10:00' },
];

/** Applies the three steps of one payment in an order. */
async function trade(steps: readonly object[]): Promise<string> {
  const payment = paymentObject();
  await applyEach(
    db,
    testApplier(db),
    steps.map((step) => eventBody({ ...payment, ...step })),
  );
  return payment.payment_id;
}

async function effectiveFailures(): Promise<readonly string[]> {
  const { checks } = await verifyLedger(db, { merchantId: MERCHANT_ID, rebuild: false });
  return checks.flatMap(({ offenders }) =>
    offenders.map(({ subject, problem }) => `${subject}: ${problem}`),
  );
}

test.each([
  ['in order', [HELD, FIRST_CAPTURE, SECOND_CAPTURE]],
  ['backward', [SECOND_CAPTURE, FIRST_CAPTURE, HELD]],
  ['the middle last', [HELD, SECOND_CAPTURE, FIRST_CAPTURE]],
  ['the middle first', [FIRST_CAPTURE, HELD, SECOND_CAPTURE]],
])('events that arrive %s leave the same money on the same days', async (_name, steps) => {
  expect(await movedBy(await trade(steps))).toEqual(HISTORY);
  expect(await effectiveFailures()).toEqual([]);
});

test('a payout that is cancelled before it is under way is in transit at no month end', async () => {
  const payout = {
    payout_id: unique('po'),
    amount: 100,
    currency: 'USD',
    created: '2026-10-30T10:00:00.000Z',
    status: 'requires_confirmation',
    modified_at: '2026-10-30T10:00:00.000Z',
  };
  const cancelled = { status: 'cancelled', modified_at: '2026-11-02T10:00:00.000Z' };
  await applyEach(db, testApplier(db), [
    eventBody(payout, { contentType: 'payout_details' }),
    eventBody({ ...payout, ...cancelled }, { contentType: 'payout_details' }),
  ]);
  expect(await movedBy(payout.payout_id)).toEqual([
    { leg: 'initiated', moved: 100, at: '11-02 10:00' },
    { leg: 'returned', moved: 100, at: '11-02 10:00' },
  ]);
  expect(await effectiveFailures()).toEqual([]);
});

/** Runs statements without the triggers of the journal, as only the owner of the table can. */
async function damage(statement: string, values: readonly unknown[]): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.query('alter table transfers disable trigger all');
    await tx.query('alter table transfers drop constraint transfers_effective');
    await tx.query(statement, values);
    await tx.query(
      `alter table transfers add constraint transfers_effective
         check (effective_at is not null and effective_source is not null) not valid`,
    );
    await tx.query('alter table transfers enable trigger all');
  });
}

test('transfers of an earlier version get their times, and corrections where they have several', async () => {
  const inOrder = await trade([HELD, FIRST_CAPTURE, SECOND_CAPTURE]);
  const late = await trade([SECOND_CAPTURE]);
  await applyEach(db, testApplier(db), [
    eventBody({ ...paymentObject({ payment_id: late }), ...HELD }),
    eventBody({ ...paymentObject({ payment_id: late }), ...FIRST_CAPTURE }),
  ]);
  // As an earlier version has left it: one transfer for each leg, without a time.
  await damage(`delete from transfers where resource_id = $1 and leg_seq > 1`, [late]);
  await damage('update transfers set effective_at = null, effective_source = null', []);
  await db.query(
    `update resources r
        set posted = (select jsonb_build_object('USD', jsonb_object_agg(t.leg, jsonb_build_object(
                        'seq', 1, 'cumulativeMinor', t.cumulative_minor)))
                        from transfers t where t.resource_id = r.id)
      where id = $1`,
    [late],
  );
  expect(await effectiveFailures()).toEqual([]);

  const job = createDatingJob({ db, signal: new AbortController().signal });
  await job();
  expect(await movedBy(inOrder)).toEqual(HISTORY);
  expect(await movedBy(late)).toEqual(HISTORY);
  expect(await effectiveFailures()).toEqual([]);
  expect(await dateNext(db, 10)).toBe(0);
});

test('a late event before the times are known is posted, and corrected with them', async () => {
  const id = await trade([SECOND_CAPTURE]);
  await damage('update transfers set effective_at = null, effective_source = null', []);
  await applyEach(db, testApplier(db), [
    eventBody({ ...paymentObject({ payment_id: id }), ...HELD }),
  ]);
  await dateNext(db, 1_000);
  expect((await movedBy(id)).filter(({ leg }) => leg === 'auth_opened')).toEqual([HISTORY[0]]);
  expect(await effectiveFailures()).toEqual([]);
});

test('verify names a transfer that was moved to another month, and a replay corrects it', async () => {
  const id = await trade([HELD, FIRST_CAPTURE]);
  await damage(
    `update transfers set effective_at = effective_at + interval '1 month'
      where resource_id = $1 and leg = 'captured'`,
    [id],
  );
  expect(await effectiveFailures()).toEqual([
    `payment:${id}: captured USD: 0.30 USD too little is posted as effective at 2026-10-31T23:00:00.000000Z; ` +
      `captured USD: 0.30 USD too much is posted as effective at 2026-11-30T23:00:00.000000Z`,
  ]);
  const [number] = await receive(db, [
    eventBody({ ...paymentObject({ payment_id: id }), ...FIRST_CAPTURE }),
  ]);
  await testApplier(db).applyOne(number ?? 0);
  expect(await effectiveFailures()).toEqual([]);
});

test('no time of a transfer can be changed or left out', async () => {
  const id = await trade([HELD]);
  await expect(
    db.query(`update transfers set effective_at = now() where resource_id = $1`, [id]),
  ).rejects.toThrow(/append-only/);
  const rows = await db.query<{ changed: number }>(
    `select date_transfers(array_agg(id), array_agg(now()), array_agg('v'::text)) as changed
       from transfers where resource_id = $1`,
    [id],
  );
  expect(rows).toEqual([{ changed: 0 }]);
  await expect(
    db.query(
      `insert into transfers (kind, resource_id, leg, currency, leg_seq, debit, credit, amount_minor,
                              previous_minor, cumulative_minor, head_hash)
       values ('payment', $1, 'captured', 'USD', 1, 'psp.clearing', 'order.due', 1, 0, 1, sha256('x'))`,
      [id],
    ),
  ).rejects.toThrow(/transfers_effective/);
});

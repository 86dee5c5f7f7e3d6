/** Alerts while events are applied: no cost for ordinary events; imports, rebuilds and overdue resources. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { raiseWaitingFindings } from '../../src/alerts/syncFindingAlerts.ts';
import { acceptFinding } from '../../src/ledger/acceptFinding.ts';
import { createOverdueCheck } from '../../src/ledger/overdue.ts';
import { verifyLedger } from '../../src/ledger/verify/verifyLedger.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { DAY_MS } from '../../src/platform/time.ts';
import { readStoredAlerts } from '../support/alerts.ts';
import { createTestDatabase, silentLog, type TestDatabase } from '../support/database.ts';
import { eventBody, MERCHANT_ID, paymentObject, unique } from '../support/events.ts';
import { applyEach, receive, testApplier } from '../support/ledger.ts';
import { testReconciler } from '../support/reconciler.ts';
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts';
import { cardPayment } from '../support/sandboxRequests.ts';

const START_MS = Date.parse('2026-11-01T12:00:00Z');

let db: TestDatabase;
let nowMs: number;
const clock = { nowMs: () => nowMs };
beforeEach(async () => {
  db = await createTestDatabase();
  nowMs = START_MS;
});
afterEach(() => db.drop());

/** The database, which records the statements on alerts. */
function recordingAlerts(statements: string[]): Database {
  return {
    ...db,
    transaction: (work) =>
      db.transaction((tx) =>
        work({
          query: (text, values) => {
            if (/alert/.test(text)) statements.push(text);
            return tx.query(text, values);
          },
        }),
      ),
  };
}

async function applyAll(bodies: readonly Buffer[], over: Database = db): Promise<void> {
  const ids = await receive(db, bodies, new Date(nowMs));
  await testApplier(over, MERCHANT_ID, clock).applyBatch(ids);
}

let version = 0;
const dated = (): object => {
  version += 1;
  const at = new Date(START_MS + version).toISOString();
  return { created: new Date(START_MS).toISOString(), modified_at: at };
};

const payment = (id: string, status: string, fields: object = {}): Buffer =>
  eventBody(paymentObject({ payment_id: id, status, ...dated(), ...fields }));
const refund = (id: string, status: string): Buffer =>
  eventBody(
    { refund_id: id, payment_id: `pay_of_${id}`, status, amount: 5, currency: 'USD', ...dated() },
    { contentType: 'refund_details' },
  );
const payout = (id: string, status: string): Buffer =>
  eventBody(
    { payout_id: id, status, amount: 5000, currency: 'EUR', ...dated() },
    { contentType: 'payout_details' },
  );

const alertsOf = async (subject: string) =>
  (await readStoredAlerts(db, [subject])).map(({ rule, severity, state, notifications }) =>
    [rule, severity, state, ...notifications].join(' '),
  );

/** Advances the clock past the wait for the confirmation of excesses. */
async function passConfirmationWait(): Promise<void> {
  await db.query(`update findings set updated_at = updated_at - interval '1 hour'`);
  await raiseWaitingFindings(db, { hasApiKey: false });
}

test('ordinary payments, refunds and payouts run no statement on alerts', async () => {
  const statements: string[] = [];
  const over = recordingAlerts(statements);
  const ids = Array.from({ length: 50 }, () => unique('x'));
  const order = () => ({ metadata: { order_id: unique('ord') } });
  await applyAll(
    ids.flatMap((id) => [payment(`pay_of_${id}`, 'processing'), refund(id, 'pending')]),
    over,
  );
  await applyAll(
    ids.map((id) => payment(`pay_of_${id}`, 'succeeded')),
    over,
  );
  await applyAll(
    ids.map((id) => payment(`new_${id}`, 'succeeded', order())),
    over,
  );
  await applyAll(
    ids.flatMap((id) => [refund(id, 'succeeded'), payout(id, 'initiated')]),
    over,
  );
  await applyAll(
    ids.map((id) => payout(id, 'success')),
    over,
  );
  await applyAll(
    ids.map((id) => payment(`pay_of_${id}`, 'succeeded')),
    over,
  );
  expect(statements).toEqual([]);
  await applyAll(
    ids.map((id) => payout(id, 'reversed')),
    over,
  );
  expect(statements).toHaveLength(3);
});

test('a resource that exceeds its term has one alert until it ends, regardless of further observations', async () => {
  const [slow, quick] = [unique('po'), unique('po')];
  const check = createOverdueCheck({ db, clock, log: silentLog });
  await applyAll([payout(slow, 'pending'), payout(quick, 'pending')]);
  nowMs += 7 * DAY_MS - 1;
  await check();
  await applyAll([payout(quick, 'success')]);
  nowMs += 2;
  for (let look = 0; look < 3; look += 1) {
    await check();
    await applyAll([payout(slow, 'pending')]);
  }
  expect(await alertsOf(`payout:${slow}`)).toEqual(['payout_stuck warning open opened']);
  await applyAll([payout(slow, 'success')]);
  expect(await alertsOf(`payout:${slow}`)).toEqual([
    'payout_stuck warning resolved opened resolved',
  ]);
  expect(await alertsOf(`payout:${quick}`)).toEqual([]);
});

test('the alert is resolved when the resource reaches a status with a longer term', async () => {
  const id = unique('pay');
  const check = createOverdueCheck({ db, clock, log: silentLog });
  await applyAll([payment(id, 'review')]);
  nowMs += 4 * DAY_MS;
  await check();
  expect(await alertsOf(`payment:${id}`)).toEqual(['payment_stuck warning open opened']);
  await applyAll([payment(id, 'processing')]);
  await check();
  await applyAll([payment(id, 'succeeded')]);
  expect(await alertsOf(`payment:${id}`)).toEqual([
    'payment_stuck warning resolved opened resolved',
  ]);
});

test('an accepted delay stays accepted after further observations and does not alert again', async () => {
  const [slow, orderId] = [unique('dp'), unique('ord')];
  const check = createOverdueCheck({ db, clock, log: silentLog });
  const paymentId = unique('pay');
  const dispute = (status: string) =>
    eventBody(
      {
        dispute_id: slow,
        payment_id: paymentId,
        amount: '5',
        currency: 'USD',
        dispute_stage: 'dispute',
        dispute_status: `dispute_${status}`,
        ...dated(),
      },
      { contentType: 'dispute_details' },
    );
  const findings = () =>
    db.query(`select id, class, state, accepted_by from findings where subject = $1 order by id`, [
      `dispute:${slow}`,
    ]);
  const stuck = async () =>
    (await alertsOf(`dispute:${slow}`)).filter((text) => text.startsWith('dispute_stuck'));

  await applyAll([
    payment(paymentId, 'succeeded', { metadata: { order_id: orderId } }),
    dispute('opened'),
  ]);
  nowMs += 121 * DAY_MS;
  await check();
  const [found] = await db.query<{ id: number }>(
    `select id from findings where class = 'overdue' and state = 'open'`,
  );
  const acceptance = { by: 'ada', reason: 'the bank is slow' };
  expect(await acceptFinding(db, found?.id ?? 0, acceptance)).toMatchObject({
    outcome: 'accepted',
  });
  const resolved = ['dispute_stuck warning resolved opened resolved'];
  expect(await stuck()).toEqual(resolved);

  // The acceptance also covers another status with the same term.
  for (const status of ['opened', 'challenged', 'challenged']) {
    await applyAll([dispute(status)]);
    await check();
  }
  expect(await findings()).toEqual([
    { id: found?.id, class: 'overdue', state: 'open', accepted_by: 'ada' },
  ]);
  expect(await stuck()).toEqual(resolved);

  await applyAll([dispute('won')]);
  expect(await findings()).toMatchObject([{ state: 'closed' }]);
});

test('an observation of overdue money with nothing new is no change of its order', async () => {
  const [id, orderId] = [unique('x'), unique('ord')];
  const { created, modified_at } = { created: '', modified_at: '', ...dated() };
  const pending = () =>
    eventBody(
      {
        refund_id: id,
        payment_id: `pay_of_${id}`,
        status: 'pending',
        amount: 5,
        currency: 'USD',
        created,
        modified_at,
      },
      { contentType: 'refund_details' },
    );
  await applyAll([
    payment(`pay_of_${id}`, 'succeeded', { metadata: { order_id: orderId } }),
    pending(),
  ]);
  nowMs += 15 * DAY_MS;
  await createOverdueCheck({ db, clock, log: silentLog })();
  const changes = () => db.query('select id from change_log order by id');
  const before = await changes();
  expect(before).toHaveLength(1);
  await applyAll([pending()]);
  expect(await changes()).toEqual(before);
});

test('payments that wait for a bank or the merchant have a term; those that wait for the customer have none', async () => {
  const check = createOverdueCheck({ db, clock, log: silentLog });
  const ids = {
    bank: unique('pay'),
    merchant: unique('pay'),
    customer: unique('pay'),
    cart: unique('pay'),
  };
  await applyAll([
    payment(ids.bank, 'processing'),
    payment(ids.merchant, 'requires_merchant_action'),
    payment(ids.customer, 'requires_customer_action'),
    payment(ids.cart, 'requires_payment_method'),
  ]);
  nowMs += 30 * DAY_MS;
  await check();
  const subjects = (await readStoredAlerts(db)).map(({ rule, subject }) => [rule, subject]);
  expect(subjects.toSorted()).toEqual(
    [
      ['payment_stuck', `payment:${ids.bank}`],
      ['payment_stuck', `payment:${ids.merchant}`],
    ].toSorted(),
  );
});

test('bodies that lag behind the decision of a dispute neither end its alert nor raise the one about its opening', async () => {
  const id = unique('dp');
  const at = (second: number) => new Date(START_MS + second * 1_000).toISOString();
  const body = (status: string, modifiedAt: object, due = at(86_400)): Buffer =>
    eventBody(
      {
        dispute_id: id,
        payment_id: `pay_of_${id}`,
        amount: '5',
        currency: 'USD',
        dispute_stage: 'dispute',
        dispute_status: `dispute_${status}`,
        challenge_required_by: due,
        created: at(0),
        ...modifiedAt,
      },
      { contentType: 'dispute_details' },
    );
  const dateless = {};
  await applyAll([body('lost', dateless)]);
  const opened = ['dispute_lost warning open opened'];
  for (const late of [
    body('opened', { modified_at: at(1) }),
    body('opened', dateless),
    body('opened', { modified_at: at(2) }, at(90_000)),
    body('challenged', { modified_at: at(3) }),
    body('challenged', dateless),
  ]) {
    await applyAll([late]);
    expect(await alertsOf(`dispute:${id}`)).toEqual(opened);
  }
  await applyAll([body('lost', { modified_at: at(4) })]);
  expect(await alertsOf(`dispute:${id}`)).toEqual(opened);
});

test('a dispute beside a refund raises one alert, about the order that the payment names last', async () => {
  const [id, orderId] = [unique('x'), unique('ord')];
  const dispute = eventBody(
    {
      dispute_id: id,
      payment_id: `pay_of_${id}`,
      amount: '5',
      currency: 'USD',
      dispute_stage: 'dispute',
      dispute_status: 'dispute_opened',
      ...dated(),
    },
    { contentType: 'dispute_details' },
  );
  await applyAll([refund(id, 'pending')]);
  await applyAll([dispute]);
  await applyAll([payment(`pay_of_${id}`, 'succeeded', { metadata: { order_id: orderId } })]);
  await passConfirmationWait();
  expect(await alertsOf(`order:order:${orderId}`)).toEqual([
    'dispute_and_refund critical open opened',
  ]);
  expect(await db.query(`select order_id from alerts where rule = 'dispute_and_refund'`)).toEqual([
    { order_id: orderId },
  ]);
  await applyAll([refund(id, 'failed')]);
  expect(await alertsOf(`order:order:${orderId}`)).toEqual([
    'dispute_and_refund critical resolved opened resolved',
  ]);
  expect(await alertsOf(`dispute:${id}`)).toEqual(['dispute_opened critical open opened']);
  expect(await alertsOf(`refund:${id}`)).toEqual(['refund_failed warning open opened']);
});

async function createDisputes(
  sandbox: TestSandbox,
): Promise<Record<'open' | 'lost' | 'won', string>> {
  const dispute = async (status?: string): Promise<string> => {
    const { body } = await sandbox.call('POST', '/payments', cardPayment());
    const { dispute_id: id } = await sandbox.control('POST', '/disputes', {
      payment_id: body.payment_id,
    });
    if (status !== undefined) await sandbox.control('POST', `/disputes/${id}/move`, { status });
    return id;
  };
  return { open: await dispute(), lost: await dispute('lost'), won: await dispute('won') };
}

test('a first import alerts only about what can still be acted on, a later run about what was missed, and a rebuild about nothing', async () => {
  const sandbox = await startTestSandbox();
  try {
    const { open } = await createDisputes(sandbox);
    const { now } = await sandbox.control('GET', '/clock');
    await sandbox.advance(5 * 60_000);
    nowMs = Date.parse(now) + 5 * 60_000;
    const reconciler = testReconciler({ db, service: sandbox, clock });
    const imported = { fromMs: START_MS - 400 * DAY_MS };
    await reconciler.runAll(imported);
    await reconciler.runAll(imported);
    const currentAlerts = async () =>
      (await readStoredAlerts(db)).map(({ rule, subject }) => [rule, subject]);
    const first = [['dispute_opened', `dispute:${open}`]];
    expect(await currentAlerts()).toEqual(first);

    const missed = await createDisputes(sandbox);
    await sandbox.advance(5 * 60_000);
    nowMs += 5 * 60_000;
    await reconciler.run({ stream: 'disputes' });
    const all = [
      ...first,
      ['dispute_opened', `dispute:${missed.open}`],
      ['dispute_lost', `dispute:${missed.lost}`],
      ['dispute_won', `dispute:${missed.won}`],
    ].toSorted();
    expect((await currentAlerts()).toSorted()).toEqual(all);
    await verifyLedger(db, { merchantId: sandbox.merchantId, rebuild: true });
    expect((await currentAlerts()).toSorted()).toEqual(all);
  } finally {
    await sandbox.close();
  }
});

test('a first import alerts about what happened since the installation, as webhooks would', async () => {
  const sandbox = await startTestSandbox();
  try {
    const old = await createDisputes(sandbox);
    await sandbox.advance(60_000);
    const { now } = await sandbox.control('GET', '/clock');
    await db.query('insert into installation (merchant_id, stamped_at) values ($1, $2)', [
      sandbox.merchantId,
      now,
    ]);
    const lost = await createDisputes(sandbox);
    await sandbox.advance(5 * 60_000);
    nowMs = Date.parse(now) + 5 * 60_000;
    await testReconciler({ db, service: sandbox, clock }).runAll({ fromMs: START_MS });
    const alerts = (await readStoredAlerts(db)).map(({ rule, subject }) => [rule, subject]);
    expect(alerts.toSorted()).toEqual(
      [
        ['dispute_opened', `dispute:${old.open}`],
        ['dispute_opened', `dispute:${lost.open}`],
        ['dispute_lost', `dispute:${lost.lost}`],
        ['dispute_won', `dispute:${lost.won}`],
      ].toSorted(),
    );
  } finally {
    await sandbox.close();
  }
});

test('a first import that changes a known state alerts, regardless of the age of the change', async () => {
  const sandbox = await startTestSandbox();
  try {
    const { open: disputeId } = await createDisputes(sandbox);
    const payout = {
      amount: 5000,
      currency: 'EUR',
      payout_type: 'bank',
      payout_method_data: {
        bank_transfer: {
          payout_method_type: 'sepa',
          iban: 'DE89370400440532013000',
          bic: 'COBADEFFXXX',
        },
      },
      confirm: true,
    };
    const { body } = await sandbox.call('POST', '/payouts/create', payout);
    const payoutPath = `/payouts/${body.payout_id}/move`;
    await sandbox.control('POST', payoutPath, { status: 'success' });
    await sandbox.control('POST', '/settle');
    const known = sandbox.listener.received
      .map((request) => request.body)
      .filter((one) => [disputeId, body.payout_id].some((id) => one.includes(id)));
    await applyEach(db, testApplier(db, sandbox.merchantId, clock), known);
    expect(await alertsOf(`dispute:${disputeId}`)).toEqual(['dispute_opened critical open opened']);

    await sandbox.control('POST', `/disputes/${disputeId}/move`, { status: 'lost' });
    await sandbox.control('POST', payoutPath, { status: 'reversed' });
    await sandbox.advance(60 * 60_000);
    const { now } = await sandbox.control('GET', '/clock');
    nowMs = Date.parse(now);
    // Every change is older than the installation.
    await db.query('insert into installation (merchant_id, stamped_at) values ($1, $2)', [
      sandbox.merchantId,
      now,
    ]);
    await testReconciler({ db, service: sandbox, clock }).runAll({ fromMs: START_MS });
    expect(await alertsOf(`dispute:${disputeId}`)).toEqual([
      'dispute_opened critical resolved opened resolved',
      'dispute_lost warning open opened',
    ]);
    expect(await alertsOf(`payout:${body.payout_id}`)).toEqual([
      'payout_failed critical open opened',
    ]);
  } finally {
    await sandbox.close();
  }
});

test('a run after nine days without Tallyhook alerts about everything that happened in them', async () => {
  const sandbox = await startTestSandbox();
  try {
    const reconciler = testReconciler({ db, service: sandbox, clock });
    const { now: began } = await sandbox.control('GET', '/clock');
    nowMs = Date.parse(began);
    await installedAt(nowMs);
    await reconciler.runAll({ fromMs: nowMs - DAY_MS });
    await sandbox.advance(60_000);
    const { open, lost, won } = await createDisputes(sandbox);
    await sandbox.advance(9 * DAY_MS);
    nowMs = Date.parse((await sandbox.control('GET', '/clock')).now);
    await reconciler.runAll();
    const alerts = (await readStoredAlerts(db)).map(({ rule, subject }) => [rule, subject]);
    expect(alerts.toSorted()).toEqual(
      [
        ['dispute_opened', `dispute:${open}`],
        ['dispute_lost', `dispute:${lost}`],
        ['dispute_won', `dispute:${won}`],
      ].toSorted(),
    );
  } finally {
    await sandbox.close();
  }
});

const installedAt = (ms: number) =>
  db.query('insert into installation (merchant_id, stamped_at) values ($1, $2)', [
    MERCHANT_ID,
    new Date(ms).toISOString(),
  ]);

/** Times are days before the event is applied. */
const FIRST_EVENTS = [
  ['changed since the installation, alerts', { changed: 19, sent: 19 }, true],
  ['changed before it, and sent now, does not', { changed: 21, sent: 0 }, false],
  ['sent since the installation without a time of the change, alerts', { sent: 19 }, true],
  ['sent before it without a time of the change, does not', { sent: 21 }, false],
] as const;

test.each(FIRST_EVENTS)(
  'the first event about an old refund that failed, %s',
  async (_name, { sent, ...times }, isRaised) => {
    const ago = (days: number) => new Date(START_MS - days * DAY_MS).toISOString();
    await installedAt(START_MS - 20 * DAY_MS);
    const refundId = unique('ref');
    const object = {
      refund_id: refundId,
      payment_id: 'pay_1',
      status: 'failed',
      amount: 5,
      currency: 'USD',
      created: ago(90),
      ...('changed' in times && { modified_at: ago(times.changed) }),
    };
    await applyAll([
      eventBody(object, {
        timestamp: ago(sent),
        contentType: 'refund_details',
        eventType: 'refund_failed',
      }),
    ]);
    expect(await alertsOf(`refund:${refundId}`)).toEqual(
      isRaised ? ['refund_failed warning open opened'] : [],
    );
  },
);

test('the first event about a change that the nightly comparison still lists alerts, although it was before the installation', async () => {
  const refundId = unique('ref');
  await installedAt(START_MS - DAY_MS);
  const changed = new Date(START_MS - 7 * DAY_MS).toISOString();
  const object = { payment_id: 'pay_1', status: 'failed', amount: 5, currency: 'USD' };
  await applyAll([
    eventBody(
      { ...object, refund_id: refundId, created: changed, modified_at: changed },
      { timestamp: changed, contentType: 'refund_details', eventType: 'refund_failed' },
    ),
  ]);
  expect(await alertsOf(`refund:${refundId}`)).toEqual(['refund_failed warning open opened']);
});

test('a dry run does not alert', async () => {
  const sandbox = await startTestSandbox();
  try {
    await createDisputes(sandbox);
    await sandbox.advance(5 * 60_000);
    nowMs = Date.parse((await sandbox.control('GET', '/clock')).now);
    await testReconciler({ db, service: sandbox, clock }).runAll({
      fromMs: START_MS,
      isDryRun: true,
    });
    expect(await readStoredAlerts(db)).toEqual([]);
  } finally {
    await sandbox.close();
  }
});

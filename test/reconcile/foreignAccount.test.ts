/** Objects of other profiles and merchant accounts; the rules are those of src/ledger/domain/account.ts. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { acceptFindingAs } from '../../src/actions/acceptFinding.ts';
import { closeExpectedProfiles } from '../../src/ledger/recordProfiles.ts';
import { verifyLedger } from '../../src/ledger/verify/verifyLedger.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { API_KEY, type PaymentService, startPaymentService } from '../client/paymentService.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventBody, MERCHANT_ID, paymentObject, unique } from '../support/events.ts';
import { applyEach, readResourceStates, receive, testApplier } from '../support/ledger.ts';
import { type TestReconciler, testReconciler } from '../support/reconciler.ts';

const OURS = unique('pro');
const ACTOR = { kind: 'cli', name: 'ada', role: 'admin', origin: 'ada@till' } as const;

let db: TestDatabase;
let service: PaymentService;
let reconciler: TestReconciler;

beforeEach(async () => {
  [db, service] = await Promise.all([createTestDatabase(), startPaymentService()]);
  reconciler = testReconciler({
    db,
    service: { baseUrl: service.baseUrl, apiKey: API_KEY },
    account: { merchantId: MERCHANT_ID, profileId: OURS },
  });
});
afterEach(() => db.drop());

const receiveAll = (objects: readonly object[]) =>
  applyEach(
    db,
    testApplier(db, MERCHANT_ID, systemClock, OURS),
    objects.map((object) => eventBody(object)),
  );

const findings = () =>
  db.query<{ id: number; class: string; subject: string; detail: object; accepted: boolean }>(
    `select id, class, subject, detail, accepted_at is not null as accepted
       from findings where state = 'open' order by subject`,
  );

const alerts = () => db.query<{ rule: string }>(`select rule from alerts where state = 'open'`);

test('webhooks of another profile are applied, with one finding for each profile', async () => {
  const [ours, first, second, other] = [OURS, 'pro_b', 'pro_b', 'pro_c'].map((profile_id) =>
    paymentObject({ profile_id }),
  );
  const nameless = [paymentObject(), paymentObject({ profile_id: null })];
  const objects = [ours, first, second, other, ...nameless].flatMap((object) => object ?? []);
  await receiveAll(objects);

  const ids = objects.map(({ payment_id }) => payment_id);
  expect(await readResourceStates(db, ids)).toHaveLength(6);
  const named = (profileId: string, payment = '') => ({
    class: 'foreign_profile',
    subject: `profile:${profileId}`,
    detail: { profileId, resource: `payment:${payment}`, source: 'webhook' },
  });
  const open = await findings();
  expect(open).toMatchObject([
    named('pro_b', first?.payment_id),
    named('pro_c', other?.payment_id),
  ]);
  expect(await alerts()).toEqual([{ rule: 'foreign_profile' }, { rule: 'foreign_profile' }]);
  const verified = await verifyLedger(db, { merchantId: MERCHANT_ID, rebuild: true });
  expect(verified.checks.filter(({ failures }) => failures > 0)).toEqual([]);

  // A person accepts one. Further objects of that profile change nothing.
  const accepted = { number: open[0]?.id ?? 0, reason: 'our second shop' };
  expect(await acceptFindingAs({ db }, ACTOR, accepted)).toMatchObject({ outcome: 'accepted' });
  await receiveAll([paymentObject({ profile_id: 'pro_b' })]);
  expect(await findings()).toMatchObject([
    { subject: 'profile:pro_b', detail: open[0]?.detail, accepted: true },
    { subject: 'profile:pro_c', accepted: false },
  ]);
  expect(await alerts()).toEqual([{ rule: 'foreign_profile' }]);

  // A finding ends with the setting that caused it.
  const close = (profileId: string | undefined) =>
    db.transaction((tx) => closeExpectedProfiles(tx, { merchantId: MERCHANT_ID, profileId }));
  await close('pro_c');
  expect(await findings()).toMatchObject([{ subject: 'profile:pro_b' }]);
  await close(undefined);
  expect(await findings()).toEqual([]);
  expect(await alerts()).toEqual([]);
});

test('many objects of one profile in one transaction open one finding', async () => {
  const bodies = Array.from({ length: 20 }, () =>
    eventBody(paymentObject({ profile_id: 'pro_b' })),
  );
  const applier = testApplier(db, MERCHANT_ID, systemClock, OURS);
  expect(await applier.applyBatch(await receive(db, bodies))).toBe(20);
  expect(await findings()).toHaveLength(1);
});

test('a retrieve of another profile is applied and reported', async () => {
  const payment = paymentObject({ profile_id: 'pro_b' });
  service.always = () => ({ status: 200, body: payment });
  const ref = { kind: 'payment', id: payment.payment_id } as const;
  expect(await reconciler.retrieve(ref, { lane: 'operator' })).toMatchObject({
    outcome: 'applied',
  });
  expect(await findings()).toMatchObject([
    { subject: 'profile:pro_b', detail: { source: 'retrieve' } },
  ]);
});

test('a retrieve of another merchant account is not applied', async () => {
  const payment = paymentObject({ merchant_id: 'mer_other' });
  service.always = () => ({ status: 200, body: payment });
  const ref = { kind: 'payment', id: payment.payment_id } as const;
  expect(await reconciler.retrieve(ref, { lane: 'operator' })).toEqual({
    outcome: 'failed',
    failure: 'unreadable',
    reason: 'the response names another merchant account, mer_other',
    foreignMerchantId: 'mer_other',
  });
  expect(await readResourceStates(db, [payment.payment_id])).toEqual([]);
});

/** More rows than are retrieved one by one, so that rows are applied as they are listed. */
const ROWS = 12;

test('list rows of another profile are applied and reported; those of another account are not applied', async () => {
  const rows = Array.from({ length: 2 * ROWS }, (_, n) => ({
    ...paymentObject({ created: '2026-11-01T09:00:00Z' }),
    ...(n < ROWS ? { profile_id: 'pro_b' } : { merchant_id: 'mer_other' }),
  }));
  service.always = ({ path }) => {
    const one = rows.find(({ payment_id }) => path.includes(payment_id));
    return {
      status: 200,
      body: one ?? { count: rows.length, total_count: rows.length, data: rows },
    };
  };
  const fromMs = Date.parse('2026-11-01T08:00:00Z');
  await reconciler.run({ fromMs, toMs: fromMs + 2 * 60 * 60_000 });

  const ids = rows.map(({ payment_id }) => payment_id);
  expect(await readResourceStates(db, ids)).toHaveLength(ROWS);
  const open = await findings();
  expect(open.filter(({ class: name }) => name === 'foreign_profile')).toMatchObject([
    { subject: 'profile:pro_b', detail: { source: 'list' } },
  ]);
  expect(open.filter(({ class: name }) => name === 'missing_local')).toEqual([]);
  const foreign = open.filter(({ class: name }) => name === 'foreign_merchant');
  expect(foreign).toHaveLength(ROWS);
  for (const { detail } of foreign) {
    expect(detail).toEqual({ merchantId: 'mer_other', namedIn: 'response' });
  }
  const rules = (await alerts()).map(({ rule }) => rule);
  expect(new Set(rules)).toEqual(new Set(['foreign_profile', 'foreign_merchant']));
});

test('a finding about a list row follows its cause, and closes when the row is applied', async () => {
  const listed = paymentObject({ created: '2026-11-01T09:00:00Z' });
  let retrieved: { readonly status: number; readonly body: object } = { status: 200, body: {} };
  service.always = ({ path }) =>
    path.includes(listed.payment_id)
      ? retrieved
      : { status: 200, body: { count: 1, total_count: 1, data: [listed] } };
  const fromMs = Date.parse('2026-11-01T08:00:00Z');
  const run = async () => {
    const { differences } = await reconciler.run({ fromMs, toMs: fromMs + 2 * 60 * 60_000 });
    const open = (await findings()).map(({ class: name, subject }) => ({ class: name, subject }));
    return { reported: differences.map(({ class: name }) => name), open };
  };
  const subject = `payment:${listed.payment_id}`;

  retrieved = { status: 200, body: { ...listed, amount: 'much' } };
  expect(await run()).toEqual({
    reported: ['missing_local'],
    open: [{ class: 'missing_local', subject }],
  });
  retrieved = { status: 200, body: { ...listed, merchant_id: 'mer_other' } };
  expect(await run()).toEqual({
    reported: ['foreign_merchant'],
    open: [{ class: 'foreign_merchant', subject }],
  });
  retrieved = { status: 200, body: listed };
  expect(await run()).toEqual({ reported: ['missing_local'], open: [] });
});

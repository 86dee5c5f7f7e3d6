/**
 * The reason of a failure or dispute is available without the raw event: in alerts, `find`,
 * `orders explain`, the admin API and the views.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Api, createApi } from '../support/api.ts';
import { tallyhook as cli } from '../support/cli.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventBody, paymentObject, unique } from '../support/events.ts';
import { applyEach, testApplier } from '../support/ledger.ts';
import { startTallyhook, type TestTallyhook } from '../support/tallyhook.ts';

const ORDER = unique('ord');
const [PAYMENT, FAILED, REFUND, DISPUTE, PAYOUT] = [
  unique('pay'),
  unique('pay'),
  unique('ref'),
  unique('dp'),
  unique('po'),
];
const TIMES = { modified_at: new Date(Date.now() - 60_000).toISOString() };

const MAIL = 'jane@example.com';

const REASONS = {
  payment:
    'UE_1001 Insufficient funds (acquirer: 51 Not sufficient funds, card [digits] of [email])',
  refund: 'UE_3000 Technical problem (acquirer: R01 Account closed)',
  dispute: '10.4 Fraud, card absent, by [email]',
  payout: 'AC04 Closed account number',
};

let db: TestDatabase;
let tallyhook: TestTallyhook;
let api: Api;

beforeAll(async () => {
  db = await createTestDatabase();
  const money = { amount: 1000, currency: 'USD', ...TIMES };
  const order = { metadata: { order_id: ORDER } };
  await applyEach(db, testApplier(db), [
    eventBody(paymentObject({ payment_id: PAYMENT, ...order, ...TIMES })),
    eventBody(
      {
        ...money,
        ...order,
        payment_id: FAILED,
        status: 'failed',
        unified_code: 'UE_1001',
        unified_message: 'Insufficient funds',
        error_code: '51',
        error_message: `Not sufficient funds, card 4242 4242 4242 4242 of ${MAIL}`,
      },
      { eventType: 'payment_failed' },
    ),
    eventBody(
      {
        ...money,
        refund_id: REFUND,
        payment_id: PAYMENT,
        status: 'failed',
        reason: 'Returned goods',
        unified_code: 'UE_3000',
        unified_message: 'Technical problem',
        error_code: 'R01',
        error_message: 'Account closed',
      },
      { eventType: 'refund_failed', contentType: 'refund_details' },
    ),
    eventBody(
      {
        ...money,
        dispute_id: DISPUTE,
        payment_id: PAYMENT,
        amount: '1000',
        dispute_status: 'dispute_opened',
        dispute_stage: 'dispute',
        connector_reason: `Fraud, card absent, by ${MAIL}`,
        connector_reason_code: '10.4',
      },
      { eventType: 'dispute_opened', contentType: 'dispute_details' },
    ),
    eventBody(
      {
        ...money,
        payout_id: PAYOUT,
        status: 'failed',
        error_code: 'AC04',
        error_message: 'Closed account number',
      },
      { eventType: 'payout_failed', contentType: 'payout_details' },
    ),
  ]);
  tallyhook = await startTallyhook({ db, roles: ['console'] });
  api = createApi(tallyhook);
});
afterAll(async () => {
  await tallyhook.close();
  await db.drop();
});

describe('the reason of a failure or a dispute', () => {
  test.each([
    ['refund_failed', REFUND, REASONS.refund],
    ['payout_failed', PAYOUT, REASONS.payout],
    ['dispute_opened', DISPUTE, REASONS.dispute],
  ])('is in the alert %s', async (rule, id, reason) => {
    const { body } = await api.get('/api/v1/alerts');
    const alerts = body.alerts as { rule: string; subject: string; sentence: string }[];
    const alert = alerts.find((one) => one.rule === rule && one.subject.endsWith(id));
    expect(alert?.sentence).toContain(`Reason: ${reason}.`);
  });

  test.each([
    [FAILED, REASONS.payment],
    [REFUND, REASONS.refund],
    [DISPUTE, REASONS.dispute],
    [PAYOUT, REASONS.payout],
  ])('is in `find` and in `orders explain`: %s', async (id, reason) => {
    const found = await cli(db.url, 'find', id);
    expect(found.stdout).toContain(`reason: ${reason}`);
    const explained = await cli(db.url, 'orders', 'explain', id);
    expect(explained.stdout).toContain(`Reason: ${reason}`);
  });

  test('is in the API: in the payment, its refunds and disputes, the order and its timeline', async () => {
    const failed = (await api.get(`/api/v1/payments/${FAILED}`)).body;
    expect(failed).toMatchObject({
      reason: REASONS.payment,
      error_code: '51',
      error_message: 'Not sufficient funds, card [digits] of [email]',
    });
    const paid = (await api.get(`/api/v1/payments/${PAYMENT}`)).body;
    expect(paid).toMatchObject({
      reason: null,
      refunds: [{ reason: REASONS.refund }],
      disputes: [{ reason: REASONS.dispute }],
    });
    const order = (await api.get(`/api/v1/orders/${ORDER}`)).body;
    const parts = order.parts as { id: string; reason: string | null }[];
    expect(Object.fromEntries(parts.map(({ id, reason }) => [id, reason]))).toEqual({
      [PAYMENT]: null,
      [FAILED]: REASONS.payment,
      [REFUND]: REASONS.refund,
      [DISPUTE]: REASONS.dispute,
    });
    const timeline = order.timeline as { type: string; id?: string; text: string }[];
    const snapshot = timeline.find(({ type, id }) => type === 'snapshot' && id === DISPUTE);
    expect(snapshot).toMatchObject({
      reason: REASONS.dispute,
      text: expect.stringContaining(`Reason: ${REASONS.dispute}.`),
    });
  });

  test('is in the views', async () => {
    expect(
      await db.query<object>(
        'select unified_code, error_code, error_message, reason from refunds where refund_id = $1',
        [REFUND],
      ),
    ).toEqual([
      {
        unified_code: 'UE_3000',
        error_code: 'R01',
        error_message: 'Account closed',
        reason: 'Returned goods',
      },
    ]);
    expect(
      await db.query<object>('select reason_code, reason from disputes where dispute_id = $1', [
        DISPUTE,
      ]),
    ).toEqual([{ reason_code: '10.4', reason: 'Fraud, card absent, by [email]' }]);
    expect(
      await db.query<object>('select error_code, error_message from payouts where payout_id = $1', [
        PAYOUT,
      ]),
    ).toEqual([{ error_code: 'AC04', error_message: 'Closed account number' }]);
  });

  test('contains no card number and no mail address except in the body as received', async () => {
    const tables = await db.query<{ name: string }>(
      `select relname as name from pg_class
        where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v')
          and relname <> 'webhook_events'`,
    );
    expect(tables.map(({ name }) => name)).toContain('snapshots');
    for (const { name } of tables) {
      const [row] = await db.query<{ hits: number }>(
        `select count(*)::int as hits from ${name} t where t::text like any ($1)`,
        [['%4242 4242%', `%${MAIL}%`]],
      );
      expect({ name, hits: row?.hits }).toEqual({ name, hits: 0 });
    }
  });
});

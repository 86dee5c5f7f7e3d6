/**
 * Alerts about changes at the service, end to end: the sandbox over HTTP, its webhooks to a receiver, the
 * worker and PostgreSQL. Every expected list has all alerts about a subject in the order in which they were
 * opened, each with its notifications.
 */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { raiseWaitingFindings } from '../../src/alerts/syncFindingAlerts.ts';
import { replayEvents } from '../../src/ledger/inbox/applyEvents.ts';
import { readStoredAlerts, type StoredAlert } from '../support/alerts.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { sign, unique } from '../support/events.ts';
import { INBOX_WITH_BODIES } from '../support/inboxBodies.ts';
import { receive, testApplier } from '../support/ledger.ts';
import { testSeed } from '../support/random.ts';
import { testReconciler } from '../support/reconciler.ts';
import { SANDBOX_SECRET, startTestSandbox, type TestSandbox } from '../support/sandbox.ts';
import { cardPayment } from '../support/sandboxRequests.ts';
import { createChoices } from '../support/shop.ts';
import { startTallyhook, type TestTallyhook } from '../support/tallyhook.ts';
import { waitFor } from '../support/waitFor.ts';

const SEED = testSeed();

let db: TestDatabase;
let sandbox: TestSandbox;
let tallyhook: TestTallyhook;

beforeEach(async () => {
  db = await createTestDatabase();
  sandbox = await startTestSandbox();
  await startReceiving();
});
afterEach(async () => {
  await tallyhook.close();
  await sandbox.close();
  await db.drop();
});

/** Starts receiver and worker, and points the sandbox's webhooks at them. */
async function startReceiving(): Promise<void> {
  tallyhook = await startTallyhook({
    db,
    roles: ['receiver', 'events'],
    env: { WEBHOOK_SECRETS: SANDBOX_SECRET, PAYMENTS_MERCHANT_ID: sandbox.merchantId },
  });
  await sandbox.control('PUT', '/webhook', { url: tallyhook.webhookUrl });
}

/** Waits until all webhooks of the service are applied. */
async function allApplied(): Promise<void> {
  await sandbox.control('POST', '/settle');
  await waitFor('all events to be applied', async () => {
    const [row] = await db.query<{ left: number }>('select count(*) as left from pending');
    return row?.left === 0;
  });
}

async function pay(): Promise<string> {
  const order = { metadata: { order_id: unique('ord') } };
  const { body } = await sandbox.call('POST', '/payments', cardPayment(order));
  await allApplied();
  return body.payment_id;
}

async function dispute(paymentId: string, fields: object = {}): Promise<string> {
  const opened = await sandbox.control('POST', '/disputes', { payment_id: paymentId, ...fields });
  await allApplied();
  return opened.dispute_id;
}

async function refund(paymentId: string): Promise<string> {
  const request = { payment_id: paymentId, amount: 540, refund_type: 'Scheduled' };
  const { body } = await sandbox.call('POST', '/refunds', request);
  await allApplied();
  return body.refund_id;
}

const SEPA = {
  payout_type: 'bank',
  payout_method_data: {
    bank_transfer: {
      payout_method_type: 'sepa',
      iban: 'DE89370400440532013000',
      bic: 'COBADEFFXXX',
    },
  },
};

/** Creates a payout that waits for its fulfillment. */
async function payOut(): Promise<string> {
  const request = { amount: 5000, currency: 'EUR', ...SEPA, confirm: true };
  const { body } = await sandbox.call('POST', '/payouts/create', request);
  await allApplied();
  return body.payout_id;
}

async function move(path: string, ...steps: readonly object[]): Promise<void> {
  for (const step of steps) {
    await sandbox.control('POST', `${path}/move`, step);
    await allApplied();
  }
}

/** Each alert as rule, variant, severity, state and notifications. */
const summarize = (alerts: readonly StoredAlert[]): readonly string[] =>
  alerts.map(({ rule, variant, severity, state, notifications }) =>
    [rule, variant, severity, state, notifications.join('+')].join(' '),
  );

type Alerts = Readonly<Record<string, readonly string[]>>;

/** Passes the time after which waiting findings raise their alerts without confirmation. */
async function passConfirmationWait(of: TestDatabase): Promise<void> {
  await of.query(`update findings set updated_at = updated_at - interval '1 hour'`);
  await raiseWaitingFindings(of, { hasApiKey: false });
}

/** Expects exactly these alerts, by subject. */
async function expectAlerts(expected: Alerts, of: TestDatabase = db): Promise<void> {
  await passConfirmationWait(of);
  const shown: Record<string, readonly string[]> = {};
  for (const subject of Object.keys(expected)) {
    shown[subject] = summarize(await readStoredAlerts(of, [subject]));
  }
  expect(shown, `TEST_SEED=${SEED}`).toEqual(expected);
  const all = await readStoredAlerts(of);
  expect(all).toHaveLength(Object.values(expected).flat().length);
}

/** Plays a history at the service. @returns the alerts that it must raise */
async function playHistory(): Promise<Alerts> {
  const won = await dispute(await pay(), { stage: 'pre_dispute' });
  await move(`/disputes/${won}`, { stage: 'dispute' }, { status: 'challenged' }, { status: 'won' });

  const lost = await dispute(await pay());
  await move(`/disputes/${lost}`, { status: 'lost' }, { stage: 'pre_arbitration' });
  await move(`/disputes/${lost}`, { status: 'lost' });

  const cancelled = await dispute(await pay());
  await move(`/disputes/${cancelled}`, { status: 'cancelled' });

  const failed = await payOut();
  await move(`/payouts/${failed}`, { status: 'failed' });
  const reversed = await payOut();
  await move(`/payouts/${reversed}`, { status: 'success' }, { status: 'reversed' });
  const failedLate = await payOut();
  await move(`/payouts/${failedLate}`, { status: 'success' }, { status: 'failed' });
  const paid = await payOut();
  await move(`/payouts/${paid}`, { status: 'success' });

  const lateFailure = await refund(await pay());
  await move(`/refunds/${lateFailure}`, { status: 'succeeded' }, { status: 'failed' });

  const paymentId = await pay();
  const refunded = await refund(paymentId);
  // No webhook reports a new refund, so it is retrieved.
  const { retrieve } = testReconciler({ db, service: sandbox });
  await retrieve({ kind: 'refund', id: refunded }, { lane: 'operator' });
  const both = await dispute(paymentId);
  await passConfirmationWait(db);
  await move(`/refunds/${refunded}`, { status: 'succeeded' });
  const [{ orderKey } = { orderKey: '' }] = await db.query<{ orderKey: string }>(
    `select order_key as "orderKey" from resources where kind = 'payment' and id = $1`,
    [paymentId],
  );
  return {
    [`dispute:${won}`]: [
      'dispute_opened pre_dispute critical resolved opened',
      'dispute_opened dispute critical resolved opened+resolved',
      'dispute_changed dispute/challenged info resolved opened',
      'dispute_won dispute info resolved opened',
    ],
    [`dispute:${lost}`]: [
      'dispute_opened dispute critical resolved opened+resolved',
      'dispute_lost dispute/lost warning resolved opened',
      'dispute_opened pre_arbitration critical resolved opened+resolved',
      'dispute_lost pre_arbitration/lost warning open opened',
    ],
    [`dispute:${cancelled}`]: [
      'dispute_opened dispute critical resolved opened+resolved',
      'dispute_cancelled dispute info resolved opened',
    ],
    [`payout:${failed}`]: ['payout_failed failed warning open opened'],
    [`payout:${reversed}`]: ['payout_failed reversed critical open opened'],
    [`payout:${failedLate}`]: ['payout_failed failed critical open opened'],
    [`refund:${lateFailure}`]: ['refund_failed  critical open opened'],
    [`dispute:${both}`]: ['dispute_opened dispute critical open opened'],
    [`order:${orderKey}`]: [
      'dispute_and_refund  critical resolved opened+resolved',
      'double_loss  critical open opened',
    ],
  };
}

test('each change raises its alert once, regardless of duplicates, late copies, replays and a restart', async () => {
  const expected = await playHistory();
  await expectAlerts(expected);

  const events = await db.query<{ id: number; body: Buffer }>(
    `select id, body from ${INBOX_WITH_BODIES} inbox order by id`,
  );
  await tallyhook.close();
  await startReceiving();
  // Late copies in random order: delivered again, and applied again as if they were new.
  const copies = createChoices(SEED).shuffle(events);
  for (const { body } of copies) {
    const headers = { 'X-Webhook-Signature-512': sign(body, SANDBOX_SECRET) };
    expect((await tallyhook.deliver(body, headers)).status).toBe(200);
  }
  const applier = testApplier(db, sandbox.merchantId);
  for (const { id } of copies) {
    await replayEvents(db, [id]);
    await applier.applyOne(id);
  }
  await allApplied();
  await expectAlerts(expected);
});

/** The alert about a subject if its last change is applied first. */
function lastAlertOf(history: Alerts, subject: string): readonly string[] {
  // Only a reversal shows by itself that the money had been paid out before.
  const last = history[subject]?.at(-1) ?? '';
  return [
    /^(payout_failed failed|refund_failed)/.test(last) ? last.replace('critical', 'warning') : last,
  ];
}

test('a history applied in reverse raises only the alerts of the final states, once', async () => {
  const history = await playHistory();
  const events = await db.query<{ body: Buffer }>(
    `select body from ${INBOX_WITH_BODIES} inbox order by id desc`,
  );
  const other = await createTestDatabase();
  try {
    const applier = testApplier(other, sandbox.merchantId);
    for (const { body } of [...events, ...events]) {
      await applier.applyBatch(await receive(other, [body]));
    }
    const kinds = Object.keys(history).map((subject) => [subject, lastAlertOf(history, subject)]);
    await expectAlerts(Object.fromEntries(kinds), other);
  } finally {
    await other.drop();
  }
});

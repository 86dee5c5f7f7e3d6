/**
 * What an event changed: in the ledger, of findings and alerts, and the order webhooks that followed; or why it
 * changed nothing. The page, the admin API and the command read it by one function.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { raiseWaitingFindings } from '../../src/alerts/syncFindingAlerts.ts';
import { applySnapshots } from '../../src/ledger/applySnapshots.ts';
import { contentHash } from '../../src/ledger/contentHash.ts';
import { readEvent } from '../../src/ledger/domain/event.ts';
import { createOrderFeed } from '../../src/ledger/read/orderFeed.ts';
import { findEvent } from '../../src/ledger/read/store/parts.ts';
import { openFindings } from '../../src/ledger/recordFindings.ts';
import { enqueueOrderWebhooks } from '../../src/notify/orderWebhooks.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { type EventChanges, MAX_OF_EVENT, readEventChanges } from '../../src/trail/eventChanges.ts';
import { noChangeText } from '../../src/trail/eventChangesText.ts';
import { type Api, createApi } from '../support/api.ts';
import { tallyhook as runCommand } from '../support/cli.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventBody, MERCHANT_ID, paymentObject, unique } from '../support/events.ts';
import { receive, testApplier } from '../support/ledger.ts';
import { openPages, type PageViewer } from '../support/pages.ts';
import { disputeEvent, paymentEvent, refundEvent } from '../support/payments.ts';
import { ADMIN_TOKEN, startTallyhook, type TestTallyhook } from '../support/tallyhook.ts';

let db: TestDatabase;
let console_: TestTallyhook;
let viewer: PageViewer;
let api: Api;

beforeAll(async () => {
  db = await createTestDatabase();
  console_ = await startTallyhook({ db, roles: ['console'] });
  viewer = await openPages(console_);
  api = createApi(console_, ADMIN_TOKEN);
  await followFeed();
});
afterAll(async () => {
  await console_.close();
  await db.drop();
});

/** Numbers changes and enqueues their order webhooks. */
async function followFeed(): Promise<void> {
  const feed = createOrderFeed(db);
  const newMessageId = () => `msg_${unique('order')}`;
  await enqueueOrderWebhooks({ db, feed, clock: systemClock, newMessageId });
}

/** Applies an event alone. @returns its inbox number */
async function apply(body: Buffer): Promise<number> {
  const [number = 0] = await receive(db, [body]);
  await testApplier(db).applyOne(number);
  await followFeed();
  return number;
}

async function changesOf(number: number): Promise<EventChanges> {
  const event = await findEvent(db, String(number));
  if (!event) throw new Error(`no event ${number}`);
  return readEventChanges(db, event);
}

async function reasonOf(number: number): Promise<string | undefined> {
  const { noChange } = await changesOf(number);
  return noChange && noChangeText(noChange);
}

const at = (minute: number) => new Date(Date.UTC(2026, 10, 1, 10, minute)).toISOString();

function payment(id: string, minute: number, fields: object = {}): Buffer {
  return paymentEvent({
    payment_id: id,
    orderId: `ord_${id}`,
    modified_at: at(minute),
    ...fields,
  });
}

test('an event names its resource, transfers, change and order webhook, on page, API and command', async () => {
  const number = await apply(payment('pay_first', 1));
  const changes = await changesOf(number);
  expect(changes).toMatchObject({
    resources: [
      {
        kind: 'payment',
        id: 'pay_first',
        effect: { previousStatus: null, status: 'succeeded', isLate: false },
      },
    ],
    transfers: [{ leg: 'captured', amountMinor: 6540, debit: 'psp.clearing', credit: 'order.due' }],
    changes: [{ kind: 'order', id: 'ord_pay_first', previousStatus: null, status: 'paid' }],
    orderWebhooks: [{ content: { type: 'order.paid' } }],
    isComplete: true,
    noChange: undefined,
  });
  const [transfer] = changes.transfers;
  const [webhook] = changes.orderWebhooks;

  const { html } = await viewer.get(`/inbox/${number}`);
  for (const shown of [
    'new → succeeded',
    'href="/payments/pay_first/bodies"',
    'href="/ledger/accounts/psp.clearing"',
    'new → paid',
    `href="/messages/${webhook?.number}"`,
  ]) {
    expect(html).toContain(shown);
  }
  const order = await viewer.get('/orders/ord_pay_first');
  expect(order.html).toContain(`href="/messages/${webhook?.number}"`);

  const { status, body } = await api.get(`/api/v1/events/${number}`);
  expect(status).toBe(200);
  expect(body).toMatchObject({
    number,
    changed: {
      resources: [{ kind: 'payment', id: 'pay_first', status: 'succeeded', late: false }],
      transfers: [{ transfer: transfer?.id, amount: 6540, currency: 'USD', inbox: number }],
      changes: [{ id: 'ord_pay_first', status: 'paid', event_number: number }],
      order_webhooks: [{ number: webhook?.number, type: 'order.paid', state: 'due' }],
      nothing: null,
    },
  });
  expect(JSON.stringify(body)).not.toContain('"body"');

  const { stdout } = await runCommand(db.url, 'events', 'show', String(number));
  expect(stdout).toContain('payment pay_first: new → succeeded');
  expect(stdout).toContain(`transfer ${transfer?.id}: payment captured, 65.40 USD`);
  const json = await runCommand(db.url, 'events', 'show', String(number), '--json');
  expect(JSON.parse(json.stdout).changed).toEqual(body.changed);
});

test('findings and alerts name the event that opened and the one that ended them', async () => {
  await apply(payment('pay_disputed', 1));
  const dispute = (status: string, minute: number) =>
    disputeEvent('pay_disputed', {
      dispute_id: 'dp_1',
      dispute_status: `dispute_${status}`,
      modified_at: at(minute),
      challenge_required_by: new Date(Date.now() + 86_400_000 * 5).toISOString(),
    });
  const opening = await apply(dispute('opened', 2));
  const opened = await changesOf(opening);
  expect(opened.alertsOpened).toMatchObject([{ rule: 'dispute_opened', subject: 'dispute:dp_1' }]);
  expect(opened.changes).toMatchObject([{ previousStatus: 'paid', status: 'disputed' }]);
  const ending = await changesOf(await apply(dispute('won', 3)));
  const ids = (rows: readonly { readonly id: number }[]) => rows.map(({ id }) => id);
  expect(ids(ending.alertsResolved)).toEqual(ids(opened.alertsOpened));
  expect(ending.alertsOpened).toMatchObject([{ rule: 'dispute_won' }]);

  const refund = (status: string, minute: number) =>
    refundEvent('pay_disputed', {
      refund_id: 'ref_much',
      amount: 9000,
      status,
      updated_at: at(minute),
    });
  const excess = await changesOf(await apply(refund('pending', 4)));
  expect(excess.findingsOpened).toMatchObject([
    { class: 'over_refund', subject: 'order:order:ord_pay_disputed' },
  ]);
  const relief = await changesOf(await apply(refund('failed', 5)));
  expect(relief.findingsClosed).toMatchObject([{ class: 'over_refund', state: 'closed' }]);

  // A read from the service is no event.
  await db.transaction((tx) =>
    openFindings(tx, [{ class: 'missing_remote', subject: 'payment:pay_disputed', detail: {} }]),
  );
  const [row] = await db.query<{ event: number | null }>(
    `select opened_by_event as event from findings where class = 'missing_remote'`,
  );
  expect(row).toEqual({ event: null });
  const { html } = await viewer.get(`/inbox/${opening}`);
  expect(html).toContain('paid → disputed');
  expect(html).toContain('Alerts that it opened or resolved');
});

test('an alert that is raised after a grace period names the event of its finding', async () => {
  await apply(payment('pay_double_1', 1, { orderId: 'ord_double' }));
  const second = await apply(payment('pay_double_2', 2, { orderId: 'ord_double' }));
  const found = await changesOf(second);
  expect(found.findingsOpened).toMatchObject([{ class: 'double_paid' }]);
  expect(found.alertsOpened).toEqual([]);
  await db.query(
    `update findings set opened_at = opened_at - interval '2 days', updated_at = updated_at - interval '2 days'
      where class = 'double_paid'`,
  );
  await raiseWaitingFindings(db, { hasApiKey: false });
  expect((await changesOf(second)).alertsOpened).toMatchObject([{ rule: 'double_paid' }]);
});

test('an event that was late is shown as late, with what it brought', async () => {
  await apply(payment('pay_late', 5));
  const number = await apply(payment('pay_late', 4, { status: 'processing', amount_received: 0 }));
  const changes = await changesOf(number);
  expect(changes).toMatchObject({
    resources: [{ effect: { isLate: true, status: 'succeeded', previousStatus: 'succeeded' } }],
    transfers: [],
    noChange: undefined,
  });
  const { html } = await viewer.get(`/inbox/${number}`);
  expect(html).toContain('late: a newer state was known, succeeded');
  expect(html).toContain('It moved no money.');
});

test('an event that changed nothing is shown with the reason', async () => {
  const object = {
    payment_id: 'pay_known',
    metadata: { order_id: 'ord_known' },
    modified_at: at(1),
  };
  const first = await apply(eventBody(paymentObject(object)));
  const duplicate = await apply(eventBody(paymentObject(object)));
  expect(await reasonOf(duplicate)).toMatch(
    new RegExp(`^It changed nothing: it is a duplicate\\. Event ${first} brought the same at 20`),
  );

  const retrieved = payment('pay_retrieved', 1);
  await observe(retrieved);
  expect(await reasonOf(await apply(retrieved))).toMatch(
    /^It changed nothing: it was known already\. A retrieve from the service brought the same at 20/,
  );

  const [waiting = 0] = await receive(db, [payment('pay_waiting', 1)]);
  expect(await reasonOf(waiting)).toBe('It changed nothing yet: it waits to be applied.');
  await testApplier(db).markDead(waiting, 5, 'connection reset');
  expect(await reasonOf(waiting)).toBe('It changed nothing: every attempt to apply it failed.');

  const foreign = await apply(
    eventBody(paymentObject({ payment_id: 'pay_foreign' }), { merchantId: 'merchant_other' }),
  );
  expect(await reasonOf(foreign)).toContain('names another merchant account; it was not applied');

  await db.query('delete from webhook_bodies where webhook_event_id = $1', [duplicate]);
  expect(await reasonOf(duplicate)).toBe(
    'It changed nothing: what it reports was known before. Nothing shows by what, because its body is ' +
      'missing and nothing records why.',
  );
  const { body } = await api.get(`/api/v1/events/${duplicate}`);
  expect(body.changed).toMatchObject({ resources: [], nothing: { why: 'known_before' } });
});

test('of a kind with many rows, the first are listed, and the page states that there are more', async () => {
  const number = await apply(payment('pay_many', 1));
  await db.query(
    `insert into findings (class, subject, detail, opened_by_event)
     select 'amount', 'payment:many_' || n, '{}', $1 from generate_series(0, $2::int) n`,
    [number, MAX_OF_EVENT],
  );
  const changes = await changesOf(number);
  expect(changes.findingsOpened).toHaveLength(MAX_OF_EVENT);
  expect(changes.isComplete).toBe(false);
  expect((await viewer.get(`/inbox/${number}`)).html).toContain(
    `Only the first ${MAX_OF_EVENT} of each are shown.`,
  );
});

/** Applies what an event reports as a retrieve would. */
async function observe(body: Buffer): Promise<void> {
  const receivedMicros = Date.now() * 1000;
  const times = { receivedMicros, referenceMicros: receivedMicros };
  const event = { ...times, eventId: 'evt_unused', merchantId: MERCHANT_ID, body };
  const reading = readEvent(event, MERCHANT_ID);
  if (reading.outcome !== 'snapshot') throw new Error(reading.outcome);
  const { ref, content } = reading;
  const observation = {
    ref,
    content,
    contentHash: contentHash(content),
    observedMicros: receivedMicros,
    source: 'retrieve',
    webhookEventId: undefined,
  } as const;
  await db.transaction((tx) =>
    applySnapshots(tx, {
      observations: [observation],
      toRetrieve: [],
      alsoLock: [],
      nowMs: Date.now(),
      history: undefined,
    }),
  );
}
